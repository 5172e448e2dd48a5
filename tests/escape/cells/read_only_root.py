# claim: Nothing can be made, removed or renamed outside of the session's own folders.
# stdout: denied denied denied denied denied denied allowed allowed allowed
# twin: within
import os

marks = []
for path in ("/new", "/usr/new", "/etc/new", "/opt/cellblock/env/new", "/dev/new", "/proc/new", "/workspace/new", "/tmp/new", "/dev/shm/new"):
    try:
        os.mkdir(path)
        marks.append("allowed")
        os.rmdir(path)
    except OSError:
        marks.append("denied")
print(*marks)
