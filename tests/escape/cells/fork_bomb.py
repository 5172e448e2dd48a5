# claim: Processes that only make more of their own kind meet the limit and end with the call.
# policy: limits: {processes: 40}
# timeout: 4s
# status: error|timeout|ok|killed
# session: kept|gone
# hit: processes
# twin: inside
# twin_stdout: 5
import os
import sys

if sys.argv[1] == "twin":
    for i in range(5):
        if os.fork() == 0:
            os._exit(0)
    print(len([os.wait() for i in range(5)]))
else:
    while True:
        os.fork()
