# claim: Descriptors end at their limit, and the session still answers with all of them used up.
# policy: limits: {open_files: 256}
# status: error
# error: OSError
# hit: open_files
# twin: inside
# twin_stdout: done
import os
import sys

kept = []
for i in range(50 if sys.argv[1] == "twin" else 10**6):
    kept.append(os.open("/dev/null", os.O_RDONLY))
print("done")
