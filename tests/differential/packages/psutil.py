import os
import subprocess
import sys

import psutil

me = psutil.Process()
print(me.pid == os.getpid(), me.is_running(), me.status(), me.cwd() == os.getcwd(), me.num_threads() >= 1, me.memory_info().rss > 1 << 20)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
seen = psutil.Process(child.pid)
print([process.pid == child.pid for process in me.children()], seen.ppid() == me.pid, seen.cmdline()[1:], os.path.basename(seen.exe())[:7])
seen.terminate()
print(psutil.wait_procs([seen], timeout=10)[0][0].returncode, psutil.pid_exists(me.pid), child.wait())
try:
    psutil.Process(2**22 + 1)
except psutil.NoSuchProcess as error:
    print(type(error).__name__)
print(psutil.virtual_memory().total > 1 << 28, psutil.disk_usage(".").total > 0, psutil.cpu_count() >= 1, sum(psutil.cpu_times()) > 0)
with open("held.txt", "w") as held:
    print([os.path.basename(file.path) for file in me.open_files() if file.fd == held.fileno()], len(me.environ()) > 5, psutil.boot_time() > 1e9)
psutil.swap_memory().total >= 0
