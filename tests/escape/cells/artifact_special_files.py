# claim: FIFOs and sockets are not opened when artifacts are collected; devices cannot be made.
# stdout: devices: denied denied
# artifacts: real
# twin: within
import os
import socket
import stat

open("real", "w").write("x")
os.mkfifo("fifo")
socket.socket(socket.AF_UNIX).bind("socket")
print("devices:", end="")
for kind in (stat.S_IFCHR, stat.S_IFBLK):
    try:
        os.mknod("device", kind | 0o666, os.makedev(1, 3))
        print(" allowed", end="")
    except OSError:
        print(" denied", end="")
