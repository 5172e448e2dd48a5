# claim: /tmp and /dev/shm end at a number of files too.
# stdout: tmp shm
# timeout: 60s
# twin: within
import errno
import os

full = []
for name, folder in (("tmp", "/tmp/many"), ("shm", "/dev/shm/many")):
    os.mkdir(folder)
    try:
        for i in range(100_000):
            os.close(os.open(f"{folder}/{i}", os.O_CREAT))
    except OSError as error:
        if error.errno == errno.ENOSPC and i > 1000:
            full.append(name)
print(*full)
import shutil
shutil.rmtree("/dev/shm/many")
