# claim: Nothing of the supervisor's is open: the streams, the channel, and no file, folder or socket besides.
# stdout: none
# twin: inside
# twin_stdout: /etc/passwd
import os
import sys

if sys.argv[1] == "twin":
    file = open("/etc/passwd")
found = []
for fd in sorted(os.listdir("/proc/self/fd"), key=int):
    try:
        target = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        continue  # the listing's own
    kind = target.split(":")[0]
    if not (kind == "pipe" or (fd == "0" and target == "/dev/null") or (fd == "3" and kind == "socket")):
        found.append(target)
print(*found or ["none"])
