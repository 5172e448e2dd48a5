# claim: Nothing can be mounted, unmounted or moved.
# stdout: denied denied denied
# twin: outside --user --map-root-user --mount
# twin_stdout: allowed allowed allowed
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
results = [libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None), libc.umount2(b"/tmp", 0), libc.mount(b"/usr", b"/tmp", None, 4096, None)]
print(*["allowed" if r == 0 else "denied" for r in results])
