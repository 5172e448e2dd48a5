# claim: A worker that puts its output in place of every descriptor is ended, and nothing that it wrote there is taken for an answer.
# timeout: 5s
# status: killed|exited
# session: gone
# stdout: before.*
# twin: inside
# twin_stdout: before
import os
import sys

print("before", flush=True)
first, last = (0, 64) if sys.argv[1] == "hostile" else (100, 164)
for fd in range(first, last):
    if fd != 1:
        os.dup2(1, fd)
