# claim: A file that has many names is collected once.
# hit: artifacts
# artifacts: big
# policy: artifacts: {size: 1500KiB}
# twin: inside
# twin_status: ok
import os
import sys

with open("big", "wb") as file:
    file.write(bytes(1 << 20))
if sys.argv[1] == "hostile":
    for i in range(2000):
        os.link("big", f"link{i}")
