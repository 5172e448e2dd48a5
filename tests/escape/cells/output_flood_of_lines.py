# claim: A million single writes to both streams neither stop the call nor fill memory.
# timeout: 120s
# policy: limits: {output: 10KiB}
# hit: output
# twin: inside
# twin_stdout: x
import os
import sys

for i in range(500_000 if sys.argv[1] == "hostile" else 1):
    os.write(1, b"x")
    os.write(2, b"y")
