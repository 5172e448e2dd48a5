# claim: Settings of the kernel can neither be changed nor its secrets read.
# stdout: none
# twin: outside
# twin_stdout: .*/proc/self/comm.*
import sys

paths = {"/proc/sys/kernel/hostname": "w", "/proc/sys/vm/drop_caches": "w", "/proc/sysrq-trigger": "w", "/proc/sys/user/max_user_namespaces": "w", "/proc/kcore": "rb", "/proc/kmsg": "rb", "/proc/keys": "r",
         "/proc/kallsyms": "r", "/proc/timer_list": "r"}
if sys.argv[1] == "twin":
    paths["/proc/self/comm"] = "w"
found = []
for path, mode in paths.items():
    try:
        with open(path, mode) as file:
            if mode == "w" and path != "/proc/self/comm":
                file.write("")
                found.append(path)
            elif mode == "w" or file.read(1):
                found.append(path)
    except OSError:
        pass
print(*found or ["none"])
