# claim: A worker that closes every descriptor is the session's end alone.
# status: killed|exited
# session: gone
# twin: inside
# twin_stdout: closed
import os
import sys

if sys.argv[1] == "hostile":
    os.closerange(0, 65536)
else:
    os.closerange(100, 65536)
    print("closed")
