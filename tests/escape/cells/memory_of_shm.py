# claim: Files in /dev/shm count as memory.
# policy: limits: {memory: 128MiB, workspace: 1GiB, shm: 1GiB, tmp: 1GiB}
# timeout: 60s
# status: out_of_memory|ok|error
# session: gone|kept
# hit: memory
# twin: inside
# twin_stdout: done
import sys

megabytes = 20 if sys.argv[1] == "twin" else 1500

with open("/dev/shm/block", "wb") as file:
    for i in range(megabytes):
        file.write(bytes(1 << 20))
print("done")
