# claim: The workspace ends at its size.
# policy: limits: {workspace: 8MiB}
# policy: artifacts: {files: 0}
# status: error
# error: OSError
# hit: workspace
# twin: inside
# twin_stdout: done
import sys

with open("block", "wb") as file:
    for i in range(4 if sys.argv[1] == "twin" else 10_000):
        file.write(bytes(1 << 20))
print("done")
