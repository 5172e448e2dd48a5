# claim: Links are never followed when artifacts are collected.
# artifacts: real
# twin: within
import os

open("real", "w").write("x")
os.symlink("/etc/passwd", "link")
os.symlink("/", "root")
os.symlink("real", "inside")
os.symlink("/proc/self/environ", "environ")
os.symlink("/proc/1/root/etc/shadow", "shadow")
os.symlink("loop", "loop")
