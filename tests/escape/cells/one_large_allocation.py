# claim: An allocation beyond the limit is an error that the session survives.
# policy: limits: {memory: 128MiB}
# status: error
# error: MemoryError
# hit: memory
# twin: inside
# twin_stdout: 10000000
import sys

print(len(bytearray(10_000_000 if sys.argv[1] == "twin" else 10**12)))
