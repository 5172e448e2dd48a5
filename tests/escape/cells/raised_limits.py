# claim: Limits of the process can be lowered and not raised.
# stdout: denied denied denied denied allowed
# twin: within
import resource

marks = []
for name in ("RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_DATA"):
    try:
        resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        marks.append("allowed")
    except (ValueError, PermissionError, OSError):
        marks.append("denied")
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
print(*marks, "allowed")
