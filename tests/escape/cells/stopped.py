# claim: A worker that stops itself does not stop the clock.
# timeout: 1s
# status: timeout
# session: gone
# hit: wall
# twin: inside
# twin_stdout: done
import os
import signal
import sys

if sys.argv[1] == "hostile":
    os.kill(os.getpid(), signal.SIGSTOP)
print("done")
