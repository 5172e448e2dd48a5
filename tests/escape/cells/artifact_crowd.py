# claim: A hundred thousand files cost no more than the limits say.
# policy: limits: {workspace_files: 100001}
# timeout: 100s
# hit: artifacts
# twin: inside
# twin_stdout: done
import os
import sys

for i in range(50 if sys.argv[1] == "twin" else 100_000):
    os.close(os.open(f"f{i:06}", os.O_CREAT))
print("done")
