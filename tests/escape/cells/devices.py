# claim: Of devices only five that harm nobody are there, and none can be made.
# stdout: full null random urandom zero; others: none; made: none
# twin: outside --user --map-root-user
# twin_stdout: .*null.*; others: .*/dev/tty.*; made: .*
import os
import stat

nodes = sorted(name for name in os.listdir("/dev") if stat.S_ISCHR(os.lstat(f"/dev/{name}").st_mode) or stat.S_ISBLK(os.lstat(f"/dev/{name}").st_mode))
others = [path for path in ("/dev/mem", "/dev/kmsg", "/dev/port", "/dev/tty", "/dev/console", "/dev/ptmx", "/dev/kvm", "/dev/fuse", "/dev/vsock", "/dev/net/tun", "/dev/loop-control", "/dev/vda", "/dev/sda") if os.path.exists(path)]
made = []
for kind in (stat.S_IFCHR, stat.S_IFBLK):
    try:
        os.mknod("node", kind | 0o666, os.makedev(1, 1))  # /dev/mem, a RAM disk
        made.append(str(kind))
        os.unlink("node")
    except OSError:
        pass
print(f"{' '.join(nodes)}; others: {' '.join(others) or 'none'}; made: {' '.join(made) or 'none'}")
