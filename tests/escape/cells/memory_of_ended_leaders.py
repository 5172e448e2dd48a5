# claim: Memory of processes whose first thread has ended counts as well.
# policy: limits: {memory: 128MiB, workspace: 1GiB, shm: 1GiB, tmp: 1GiB}
# timeout: 60s
# status: out_of_memory|ok|error
# session: gone|kept
# hit: memory
# twin: inside
# twin_stdout: done
import ctypes
import os
import sys
import threading
import time

megabytes = 1 if sys.argv[1] == "twin" else 60
EXIT_OF_ONE_THREAD = 60


def hold():
    block = bytearray(b"x") * (megabytes << 20)
    time.sleep(3 if sys.argv[1] == "hostile" else 0)
    os._exit(len(block) >> 28)


children = []
for i in range(10):
    pid = os.fork()
    if pid == 0:
        threading.Thread(target=hold).start()
        ctypes.CDLL(None).syscall(EXIT_OF_ONE_THREAD, 0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
print("done")
