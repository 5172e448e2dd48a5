# claim: Files and folders that are swapped for links and FIFOs while they are collected lead nowhere and hold nothing up.
# policy: keep_processes: true
# timeout: 20s
# stdout: started
# artifacts: steady|folder/passwd steady|folder/passwd steady swapped|steady swapped
# twin: inside
# twin_stdout: started
import os
import sys

open("steady", "w").write("x")
os.mkdir("real")
open("real/passwd", "w").write("x")
ready, go = os.pipe()
if sys.argv[1] == "hostile" and os.fork() == 0:
    os.setsid()
    os.closerange(0, 4)
    os.symlink("/etc", ".etc")
    os.rename("real", "folder")
    first = True
    while True:
        for make in (lambda: open(".new", "w").write("x"), lambda: os.symlink("/etc/passwd", ".new"), lambda: os.mkfifo(".new")):
            make()
            os.rename(".new", "swapped")
            os.rename("folder", ".old")
            os.rename(".etc", "folder")
            os.rename("folder", ".etc")
            os.rename(".old", "folder")
        if first:
            os.write(go, b"x")
            first = False
os.close(go)
os.read(ready, 1)
print("started")
