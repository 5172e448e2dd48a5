# claim: No process can trace another or reach into its memory.
# stdout: denied denied denied
# twin: outside
# twin_stdout: allowed allowed allowed
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


source, target = ctypes.create_string_buffer(b"x", 1), ctypes.create_string_buffer(1)
read = libc.process_vm_readv(os.getpid(), ctypes.byref(Vector(ctypes.addressof(target), 1)), 1, ctypes.byref(Vector(ctypes.addressof(source), 1)), 1, 0)
descriptor = libc.syscall(438, os.pidfd_open(os.getpid()), 0, 0)  # pidfd_getfd
pid = os.fork()
if pid == 0:
    os._exit(0 if libc.ptrace(0, 0, None, None) == 0 else 1)  # PTRACE_TRACEME
traced = os.waitpid(pid, 0)[1] == 0
print("allowed" if read == 1 else "denied", "allowed" if descriptor >= 0 else "denied", "allowed" if traced else "denied")
