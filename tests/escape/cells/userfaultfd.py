# claim: No page fault can be held up from user space.
# stdout: EPERM
# twin: outside
# twin_stdout: allowed
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
USER_MODE_ONLY = 1  # what every user may, whatever vm.unprivileged_userfaultfd says
print("allowed" if libc.syscall(323 if os.uname().machine == "x86_64" else 282, USER_MODE_ONLY | os.O_CLOEXEC) >= 0 else errno.errorcode[ctypes.get_errno()])
