# claim: The old root is gone: no mount, and nothing above the root, leads to it.
# stdout: none
# twin: outside
# twin_stdout: .*/var/lib/dpkg/status.*
import os

points = [line.split()[4] for line in open("/proc/self/mountinfo")]
tops = [*points, "/..", "/../..", "/proc/self/root/..", "/proc/1/root", "/proc/1/cwd", "/proc/self/cwd/../.."]
for fd in os.listdir("/proc/self/fd"):
    tops.append(f"/proc/self/fd/{fd}")
    tops.append(f"/proc/self/fd/{fd}/../../../..")
print(*[top + "/var/lib/dpkg/status" for top in tops if os.path.exists(top + "/var/lib/dpkg/status")] or ["none"])
