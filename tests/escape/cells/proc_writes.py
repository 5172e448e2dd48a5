# claim: Nothing below /proc takes a write, one's own process's entries included (oom_score_adj, coredump_filter, mem).
# stdout: none
# twin: outside
# twin_stdout: .*/proc/self/oom_score_adj.*
import os

found = []
for folder in ("/proc", "/proc/self", "/proc/thread-self"):
    for name in sorted(os.listdir(folder)):
        path = f"{folder}/{name}"
        try:
            if os.path.isfile(path):
                os.close(os.open(path, os.O_WRONLY))
                found.append(path)
        except OSError:
            pass
print(*found or ["none"])
