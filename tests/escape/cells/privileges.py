# claim: A session has no capability, cannot gain one, and is no user but its own.
# stdout: no capabilities; no new privileges; ids 1000; setuid denied; programs of root give nothing
# twin: outside --user --map-root-user
# twin_stdout: capabilities; .*
import os
import subprocess

status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
none = all(int(status[f"Cap{kind}"], 16) == 0 for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb"))
try:
    os.setuid(0)
    change = "allowed"
except OSError:
    change = "denied"
who = subprocess.run(["/bin/su", "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
print("no capabilities" if none else "capabilities", "no new privileges" if status["NoNewPrivs"] == "1" else "new privileges", f"ids {os.getuid()}" if os.getuid() == os.getgid() == os.geteuid() else "ids differ",
      f"setuid {change}", "programs of root give nothing" if who.stdout.strip() != "0" else "su gives root", sep="; ")
