# claim: No text can be put into a terminal's input, also with high bits set in the request.
# stdout: EPERM EPERM
# twin: outside
# twin_stdout: (ENOTTY|EPERM|EIO) (ENOTTY|EPERM|EIO)
import ctypes
import errno

libc = ctypes.CDLL(None, use_errno=True)
names = []
for request in (0x5412, 0x5412 | 1 << 32):  # TIOCSTI
    libc.ioctl(0, ctypes.c_ulong(request), b"x")
    names.append(errno.errorcode.get(ctypes.get_errno(), "none"))
print(*names)
