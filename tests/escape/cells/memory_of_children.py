# claim: Memory spread over child processes counts together.
# policy: limits: {memory: 128MiB, workspace: 1GiB, shm: 1GiB, tmp: 1GiB}
# timeout: 60s
# status: out_of_memory|ok|error
# session: gone|kept
# hit: memory
# twin: inside
# twin_stdout: done
import sys

megabytes = 20 if sys.argv[1] == "twin" else 1500
import os

children = []
for i in range(10):
    pid = os.fork()
    if pid == 0:
        block = bytearray(megabytes * 40_000)
        block[::4096] = b"x" * len(block[::4096])
        import time

        time.sleep(3 if sys.argv[1] == "hostile" else 0)
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
print("done")
