# claim: A crash of the worker is the session's end alone.
# status: killed
# session: gone
# stdout: before
# twin: inside
# twin_stdout: before
import ctypes
import sys

print("before", flush=True)
if sys.argv[1] == "hostile":
    ctypes.string_at(1)
