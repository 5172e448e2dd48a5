# claim: Shared memory, which no soft limit sees, counts; and where no cgroup counts it, it is a file.
# policy: limits: {memory: 128MiB, workspace: 1GiB, shm: 4GiB, tmp: 1GiB}
# timeout: 60s
# status: out_of_memory
# session: gone
# hit: memory
# twin: inside
# twin_stdout: done
import mmap
import sys

size = (20 if sys.argv[1] == "twin" else 1000) << 20


def shared():
    try:
        return mmap.mmap(-1, size)
    except PermissionError:
        file = open("/dev/shm/shared", "wb+")
        file.truncate(size)
        return mmap.mmap(file.fileno(), size)


block = shared()
for i in range(0, len(block), 4096):
    block[i] = 1
print("done")
