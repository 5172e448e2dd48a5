# claim: An abort is the session's end alone.
# status: killed
# session: gone
# twin: inside
# twin_stdout: before
import os
import sys

print("before", flush=True)
if sys.argv[1] == "hostile":
    os.abort()
