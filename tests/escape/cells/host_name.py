# claim: The host's name is not seen.
# stdout: cellblock cellblock
# twin: outside
# twin_stdout: .+ .+
import os

print(os.uname().nodename, open("/proc/sys/kernel/hostname").read().strip())
