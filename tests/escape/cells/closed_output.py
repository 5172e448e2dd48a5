# claim: A cell that closes its standard streams keeps its session, and the next call has them again.
# status: ok|error
# stdout: before
# twin: within
import os

print("before", flush=True)
for fd in (0, 1, 2):
    os.close(fd)
