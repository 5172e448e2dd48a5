# claim: System V's shared memory, semaphores and queues, and POSIX queues, do not exist.
# stdout: denied denied denied denied
# twin: outside
# twin_stdout: allowed allowed allowed (allowed|denied)
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
CREATE, REMOVE = 0o1600, 0
shared, semaphores, queue = libc.shmget(0, 4096, CREATE), libc.semget(0, 1, CREATE), libc.msgget(0, CREATE)
name = f"cellblock-{os.getpid()}".encode()
posix = libc.syscall(240 if os.uname().machine == "x86_64" else 180, name, os.O_CREAT | os.O_RDWR, 0o600, None)  # mq_open
print(*["allowed" if got >= 0 else "denied" for got in (shared, semaphores, queue, posix)])
for remove, got in ((lambda i: libc.shmctl(i, REMOVE, None), shared), (lambda i: libc.semctl(i, 0, REMOVE), semaphores), (lambda i: libc.msgctl(i, REMOVE, None), queue)):
    if got >= 0:
        remove(got)
if posix >= 0:
    libc.syscall(241 if os.uname().machine == "x86_64" else 181, name)  # mq_unlink
