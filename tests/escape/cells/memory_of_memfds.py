# claim: Memory files without a name count; where no cgroup sees them, only those of /dev/shm exist.
# policy: limits: {memory: 128MiB, workspace: 1GiB, shm: 1GiB, tmp: 1GiB}
# timeout: 60s
# status: out_of_memory|ok|error
# session: gone|kept
# hit: memory
# twin: inside
# twin_stdout: done
import errno
import os
import sys


def nameless():
    try:
        return os.memfd_create("m")
    except OSError as refused:
        if refused.errno != errno.ENOSYS:
            raise
        return os.open("/dev/shm", os.O_TMPFILE | os.O_RDWR, 0o600)


megabytes = 20 if sys.argv[1] == "twin" else 1500
descriptors = []
for i in range(megabytes // 10):
    descriptors.append(nameless())
    os.write(descriptors[-1], bytes(10 << 20))
print("done")
