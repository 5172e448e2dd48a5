# claim: A process that keeps the output's pipe keeps no call open.
# timeout: 20s
# killed: 1
# stdout: started
# twin: policy
# twin_policy: keep_processes: true
# twin_stdout: started
import os
import time

if os.fork() == 0:
    os.setsid()
    time.sleep(600)
    os._exit(0)
print("started", flush=True)
