# claim: Nothing can be measured by the kernel's performance events.
# stdout: EPERM
# twin: outside
# twin_stdout: (allowed|off on this machine)
import ctypes
import errno
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
attributes = struct.pack("<IIQQQQQ", 1, 112, 1, 0, 0, 0, 0b1100000).ljust(112, b"\0")  # software, task clock; not the kernel, no hypervisor
descriptor = libc.syscall(298 if os.uname().machine == "x86_64" else 241, attributes, 0, -1, -1, 0)
name = "allowed" if descriptor >= 0 else errno.errorcode[ctypes.get_errno()]
try:
    off = name != "allowed" and os.getuid() != 0 and int(open("/proc/sys/kernel/perf_event_paranoid").read()) > 2
except OSError:
    off = False
print("off on this machine" if off and os.path.exists("/var/lib/dpkg/status") else name)
