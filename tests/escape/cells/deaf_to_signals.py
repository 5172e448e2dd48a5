# claim: Code that blocks and ignores every signal is killed after the grace.
# timeout: 1s
# status: timeout
# session: gone
# hit: wall
# twin: inside
# twin_stdout: done
import signal
import sys
import time

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
while sys.argv[1] == "hostile":
    time.sleep(60)
signal.pthread_sigmask(signal.SIG_SETMASK, ())
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
print("done")
