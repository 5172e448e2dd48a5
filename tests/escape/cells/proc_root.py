# claim: The roots, folders, files and memory of other processes are closed to a session.
# stdout: none
# twin: outside --user --map-root-user --pid --fork --mount-proc
# twin_stdout: .*/proc/1/root.*
import os
import sys


def links(folder):
    """What the numbers lead to; the numbers themselves any process of one's own user may list."""
    return [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]


found = []
pids = [p for p in os.listdir("/proc") if p.isdigit() and (sys.argv[1] == "twin" or int(p) != os.getpid())]
for pid in pids:
    for name, use in (("root", os.listdir), ("cwd", os.listdir), ("exe", os.readlink), ("environ", lambda p: open(p).read(1)), ("mem", lambda p: open(p, "rb")), ("maps", lambda p: open(p).read(1)), ("fd", links)):
        try:
            if use(f"/proc/{pid}/{name}"):
                found.append(f"/proc/{pid}/{name}")
        except OSError:
            pass
print(*found or ["none"])
