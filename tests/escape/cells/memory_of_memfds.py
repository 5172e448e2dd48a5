# claim: Memory files without a name count.
# needs: cgroup
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

descriptors = []
for i in range(megabytes // 10):
    descriptors.append(os.memfd_create("m"))
    os.write(descriptors[-1], bytes(10 << 20))
print("done")
