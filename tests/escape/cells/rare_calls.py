# claim: System calls that open large parts of the kernel do not exist for a session.
# stdout: none
# twin: outside
# twin_stdout: .*keyctl.*
import ctypes
import errno
import platform

libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
numbers = {"io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fspick": 433, "mount_setattr": 442, "process_madvise": 440, "memfd_secret": 447, "bpf": 321 if x86 else 280,
           "userfaultfd": 323 if x86 else 282, "perf_event_open": 298 if x86 else 241, "keyctl": 250 if x86 else 219, "add_key": 248 if x86 else 217, "kcmp": 312 if x86 else 272,
           "open_by_handle_at": 304 if x86 else 265, "pivot_root": 155 if x86 else 41, "chroot": 161 if x86 else 51, "swapon": 167 if x86 else 224, "init_module": 175 if x86 else 105,
           "kexec_load": 246 if x86 else 104, "acct": 163 if x86 else 89, "quotactl": 179 if x86 else 60, "settimeofday": 164 if x86 else 170, "vmsplice": 278 if x86 else 75}
reached = []
for name, number in numbers.items():
    ctypes.set_errno(0)
    if libc.syscall(number, 0, 0, 0, 0, 0) >= 0 or ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM):
        reached.append(name)
print(*reached or ["none"])
