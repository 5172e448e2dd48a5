# claim: A child that stops the worker again and again does not stop the clock.
# timeout: 1s
# status: timeout
# session: gone
# hit: wall
# twin: inside
# twin_stdout: done
import os
import signal
import sys
import time

worker = os.getpid()
if os.fork() == 0:
    os.setsid()
    while sys.argv[1] == "hostile":
        os.kill(worker, signal.SIGSTOP)
    os._exit(0)
while sys.argv[1] == "hostile":
    time.sleep(1)
print("done")
