# claim: A heap that grows bit by bit meets the limit.
# policy: limits: {memory: 128MiB}
# status: error|out_of_memory
# session: kept|gone
# error: MemoryError|
# hit: memory
# twin: inside
# twin_stdout: done
import sys

blocks = []
for i in range(20 if sys.argv[1] == "twin" else 100_000):
    blocks.append(bytes([i % 256]) * (1 << 20))
print("done")
