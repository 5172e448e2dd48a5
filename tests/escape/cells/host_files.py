# claim: Files of the host beside /usr are not there, by any path.
# stdout: none
# twin: outside
# twin_stdout: .*/var/lib/dpkg/status.*
import os

paths = ["/var/lib/dpkg/status", "/etc/machine-id", "/etc/shadow", "/etc/ssh", "/root/.bashrc", "/boot", "/srv", "/sys/kernel", "/workspace/../var/lib/dpkg/status", "/usr/../var/lib/dpkg/status"]
print(*[p for p in paths if os.path.exists(p)] or ["none"])
