# claim: Shared memory of the host is not seen.
# needs: host services
# stdout: none
# twin: outside
# twin_stdout: seen
import sys

segment = sys.argv[4]
lines = open("/proc/sysvipc/shm").read().splitlines()[1:]
print("seen" if any(line.split()[1] == segment for line in lines) else "none" if not lines else "others")
