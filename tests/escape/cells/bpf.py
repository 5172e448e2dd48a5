# claim: No program or map can be put into the kernel's virtual machine.
# stdout: EPERM EPERM
# twin: outside
# twin_stdout: (allowed allowed|off on this machine)
import ctypes
import errno
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
call = 321 if os.uname().machine == "x86_64" else 280
MAP_CREATE, PROG_LOAD, ARRAY, SOCKET_FILTER = 0, 5, 2, 1


def attempt(command, attributes):
    return "allowed" if libc.syscall(call, command, attributes, len(attributes)) >= 0 else errno.errorcode[ctypes.get_errno()]


code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0), 16)  # r0 = 0; exit
license = ctypes.create_string_buffer(b"GPL")
results = [attempt(MAP_CREATE, struct.pack("<IIIII", ARRAY, 4, 4, 1, 0)),
           attempt(PROG_LOAD, struct.pack("<IIQQIIQII", SOCKET_FILTER, 2, ctypes.addressof(code), ctypes.addressof(license), 0, 0, 0, 0, 0))]
try:
    off = os.getuid() != 0 and open("/proc/sys/kernel/unprivileged_bpf_disabled").read().strip() != "0"
except OSError:
    off = False
print("off on this machine" if off and os.path.exists("/var/lib/dpkg/status") else " ".join(results))
