# claim: A gigabyte of output is read to its end, and no more of it kept than allowed.
# timeout: 120s
# policy: limits: {output: 10KiB}
# hit: output
# stdout: start.*
# twin: inside
# twin_stdout: start.*
import os
import sys

os.write(1, b"start")
block = b"x" * 65536
for i in range(16384 if sys.argv[1] == "hostile" else 0):
    os.write(1, block)
