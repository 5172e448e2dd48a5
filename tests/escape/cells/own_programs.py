# claim: The programs and libraries that a session runs cannot be changed.
# stdout: denied denied denied denied denied allowed
# twin: within
import os
import shutil

shutil.copy("/usr/bin/true", "own")
for path in ("/proc/self/exe", "/usr/bin/python3.11", "/usr/bin/true", "/opt/cellblock/libexec/cellblock-guest", os.path.join(os.path.dirname(os.__file__), "os.py"), "own"):
    try:
        open(path, "r+b").close()
        print("allowed", end=" " if path != "own" else "")
    except OSError:
        print("denied", end=" ")
