# claim: No namespace can be made, by unshare, clone or clone3, nor joined.
# stdout: denied denied denied
# twin: outside
# twin_stdout: allowed allowed allowed
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def in_child(call):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if call() == 0 else 1)
    return os.waitpid(pid, 0)[1] == 0


class CloneArguments(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), *[(f"rest{i}", ctypes.c_uint64) for i in range(10)]]


NEW_USER = 0x10000000


def clone3():
    pid = libc.syscall(435, ctypes.byref(CloneArguments(NEW_USER, rest3=17)), ctypes.sizeof(CloneArguments))  # 17: SIGCHLD
    if pid == 0:
        os._exit(0)
    return 0 if pid > 0 else 1


def rejoin():
    return libc.setns(os.pidfd_open(os.getpid()), 0x08000000) if libc.unshare(NEW_USER | 0x08000000) == 0 else 1


print(*["allowed" if in_child(call) else "denied" for call in (lambda: libc.unshare(NEW_USER), clone3, rejoin)])
