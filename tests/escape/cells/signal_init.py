# claim: The jail's first process cannot be ended or stopped from inside.
# stdout: still here; a child dies of signal 9
# twin: within
import os
import signal
import time

for number in range(1, 65):
    try:
        os.kill(1, number)
    except (PermissionError, OSError):
        pass
child = os.fork()
if child == 0:
    time.sleep(60)
os.kill(child, signal.SIGKILL)
print("still here; a child dies of signal", os.waitpid(child, 0)[1])
