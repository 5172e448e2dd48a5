# claim: There is no io_uring, whose operations no system call filter sees.
# stdout: ENOSYS
# twin: outside
# twin_stdout: (allowed|off on this machine)
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(425, 8, ctypes.create_string_buffer(120)) >= 0:  # io_uring_setup
    print("allowed")
else:
    try:
        off = open("/proc/sys/kernel/io_uring_disabled").read().strip() != "0"
    except OSError:
        off = False
    name = errno.errorcode[ctypes.get_errno()]
    print("off on this machine" if off and name == "EPERM" else name)
