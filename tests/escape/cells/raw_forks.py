# claim: A child made without Python's hooks cannot go on as the worker.
# status: ok|error
# session: kept|gone
# stdout: (parent|child).*
# twin: within
import ctypes
import os

pid = ctypes.CDLL(None).syscall(57 if os.uname().machine == "x86_64" else 220, 17, 0, 0, 0, 0)
print("child" if pid == 0 else "parent", flush=True)
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
