# claim: A daemon does not outlive the call that started it.
# killed: 1
# stdout: started
# twin: policy
# twin_policy: keep_processes: true
# twin_stdout: started
import os
import signal
import time

ready, go = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.closerange(0, 3)
        os.write(go, b"x")
        while True:
            time.sleep(1)
    os._exit(0)
os.read(ready, 1)
print("started")
