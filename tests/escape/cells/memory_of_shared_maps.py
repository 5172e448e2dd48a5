# claim: Shared memory, which no soft limit sees, counts.
# policy: limits: {memory: 128MiB, workspace: 1GiB, shm: 1GiB, tmp: 1GiB}
# timeout: 60s
# status: out_of_memory|ok|error
# session: gone|kept
# hit: memory
# twin: inside
# twin_stdout: done
import sys

megabytes = 20 if sys.argv[1] == "twin" else 1500
import mmap

block = mmap.mmap(-1, megabytes << 20)
for i in range(0, len(block), 4096):
    block[i] = 1
print("done")
