# claim: C code that never looks for signals is killed after the grace.
# timeout: 1s
# status: timeout
# session: gone
# hit: wall
# twin: inside
# twin_stdout: 4950
import sys

print(sum(range(100 if sys.argv[1] == "twin" else 10**12)))
