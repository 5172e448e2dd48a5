# claim: A signal to everybody reaches no process outside of the session.
# status: ok|killed
# session: kept|gone
# stdout: .*
# twin: within
import os
import signal

try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
print("still here")
