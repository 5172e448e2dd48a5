# claim: No file of a session is there for another, at the same time or after it.
# stdout: written
# after_stdout: none
# twin: again
# twin_stdout: /workspace/secret /workspace/.secret /tmp/secret /dev/shm/secret /home/user/secret /mnt/data/secret /var/tmp/secret
import os
import sys

places = ["/workspace/secret", "/workspace/.secret", "/tmp/secret", "/dev/shm/secret"]
if sys.argv[1] == "hostile":
    for place in places:
        open(place, "w").write("x")
    print("written")
else:
    print(*[place for place in [*places, "/home/user/secret", "/mnt/data/secret", "/var/tmp/secret"] if os.path.exists(place)] or ["none"])
