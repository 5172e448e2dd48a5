# claim: A file of holes costs neither the time nor the space of its length.
# policy: artifacts: {file_size: 1MiB}
# hit: artifacts
# artifacts: small
# twin: inside
# twin_status: ok
import os
import sys

open("small", "w").write("x")
with open("holes", "wb") as file:
    os.truncate("holes", 1000 if sys.argv[1] == "twin" else 1 << 30)
