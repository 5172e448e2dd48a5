# claim: The kernel's keyrings, which no namespace parts, are closed.
# stdout: EPERM EPERM EPERM
# twin: outside
# twin_stdout: allowed allowed allowed
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
add, request, control = (248, 249, 250) if os.uname().machine == "x86_64" else (217, 218, 219)
PROCESS_KEYRING, GET_KEYRING_ID = -2, 0


def attempt(*arguments):
    return "allowed" if libc.syscall(*arguments) >= 0 else errno.errorcode[ctypes.get_errno()]


print(attempt(add, b"user", b"cellblock", b"x", 1, PROCESS_KEYRING), attempt(request, b"user", b"cellblock", None, 0), attempt(control, GET_KEYRING_ID, PROCESS_KEYRING, 1))
