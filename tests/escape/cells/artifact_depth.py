# claim: Folders without end are looked into only so far.
# hit: artifacts
# artifacts: shallow
# twin: inside
# twin_stdout: done
import os
import sys

open("shallow", "w").write("x")
for i in range(5 if sys.argv[1] == "twin" else 3000):
    os.mkdir("d")
    os.chdir("d")
open("deep", "w").write("x")
os.chdir("/workspace")
print("done")
