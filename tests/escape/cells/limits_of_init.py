# claim: Nobody lowers the limits of the jail's init, which must end what a call leaves behind.
# stdout: refused
# killed: 1
# twin: outside
# twin_stdout: lowered
import os
import resource
import sys
import time

left = os.fork()
if left == 0:
    os.close(1)
    os.close(2)
    time.sleep(60)
    os._exit(0)
try:
    resource.prlimit(left if sys.argv[1] == "twin" else 1, resource.RLIMIT_NOFILE, (3, 3))
    print("lowered")
except PermissionError:
    print("refused")
if sys.argv[1] == "twin":
    os.kill(left, 9)
