# claim: Threads without end meet the limit.
# policy: limits: {processes: 40}
# status: error
# error: RuntimeError
# hit: processes
# twin: inside
# twin_stdout: 20
import sys
import threading

stop = threading.Event()
n = 0
while sys.argv[1] == "hostile" or n < 20:
    threading.Thread(target=stop.wait, daemon=True).start()
    n += 1
stop.set()
print(n)
