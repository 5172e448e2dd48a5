# claim: Data that waits in pipes is bounded by the number of descriptors.
# policy: limits: {memory: 256MiB, open_files: 256}
# status: error|out_of_memory
# session: kept|gone
# error: OSError|
# twin: inside
# twin_stdout: done
# twin_status: ok
import os
import sys

count = 20 if sys.argv[1] == "twin" else 10_000
pipes = []
for i in range(count):
    pipes.append(os.pipe())
    os.set_blocking(pipes[-1][1], False)
    os.write(pipes[-1][1], bytes(65536))
print("done")
