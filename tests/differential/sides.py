# The two sides of the comparison: Inside hands jobs to cellblock-differential, which runs each in a fresh sandboxed session; Outside runs
# plain /usr/bin/python3 with the same environment's packages, as an ordinary user also when the tests run as root. Runs on the host.

import itertools
import json
import os
import shutil
import subprocess
import tempfile

PYTHON = "/usr/bin/python3"
# Who runs the outside when the tests run as root: the id that owns nothing, and has an entry in /etc/passwd as the session's has.
ORDINARY_USER = 65534
# So that nothing runs on when run.py is killed.
DIE_WITH_PARENT = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"]
SAME_LIMITS = ["/usr/bin/prlimit", "--nofile=1024:1024", "--"]  # limits.open_files of the default policy


class Settings:
    """Where things are; made by run.py."""

    def __init__(self, driver, libexec, environment, packages, source, threads=1):
        self.driver, self.libexec, self.environment, self.packages, self.source, self.threads = driver, libexec, environment, packages, source, threads
        self.here = os.path.dirname(os.path.abspath(__file__))


class Inside:
    """Runs jobs in sessions."""

    def __init__(self, settings):
        self.settings = settings

    def run(self, jobs):
        """Yields an outcome for each job, as they finish. Raises RuntimeError when the driver could not do its work."""
        settings = self.settings
        command = [*DIE_WITH_PARENT, settings.driver, "--environment", settings.environment, "--libexec", settings.libexec, "--threads", str(settings.threads)]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
            for job in jobs:
                lines.write(json.dumps(job) + "\n")
            lines.seek(0)
            with subprocess.Popen(command, stdin=lines, stdout=subprocess.PIPE, encoding="utf-8") as driver:
                for line in driver.stdout:
                    yield json.loads(line)
        if driver.returncode != 0:
            raise RuntimeError(f"cellblock-differential ended with {driver.returncode}")


class Outside:
    """Runs programs in plain CPython."""

    def __init__(self, settings, scratch):
        self.settings = settings
        self.scratch = scratch
        self.numbers = itertools.count()
        self.user = ORDINARY_USER if os.geteuid() == 0 else None

    def folder(self):
        """A working folder of the ordinary user's own, as the session's workspace is. Its path is short: names of sockets in it have at
        most 107 bytes."""
        path = os.path.join(self.scratch, str(next(self.numbers)))
        os.mkdir(path)
        os.mkdir(os.path.join(path, "w"))
        os.mkdir(os.path.join(path, "t"))
        if self.user is not None:
            for part in (path, os.path.join(path, "w"), os.path.join(path, "t")):
                os.chown(part, self.user, self.user)
        return path

    def put(self, folder, source, name):
        target = os.path.join(folder, "w", name)
        shutil.copyfile(source, target)
        if self.user is not None:
            os.chown(target, self.user, self.user)
        return target

    def environment(self, folder):
        """The variables that a session has too, with this side's places."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "POLARS_MAX_THREADS",
                                 "RAYON_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1")
        packages = os.path.join(self.settings.environment, "site-packages")
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": os.path.join(folder, "w"), "TMPDIR": os.path.join(folder, "t"), "USER": "user",
                "LOGNAME": "user", "SHELL": "/bin/bash", "TERM": "dumb", "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": packages, "PYTHONUTF8": "1",
                "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "agg", "MPLCONFIGDIR": os.path.join(folder, "t"),
                "MATPLOTLIBRC": os.path.join(self.settings.environment, "mpl", "matplotlibrc"), "POLARS_TABLE_WIDTH": "240",
                "POLARS_FMT_MAX_COLS": "100", **threads}

    def run(self, command, folder, timeout_seconds, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        """Runs `command` in the folder's working directory; returns "ok", "exit N", "signal N" or "timeout"."""
        user = {"user": self.user, "group": self.user, "extra_groups": []} if self.user is not None else {}
        with subprocess.Popen([*SAME_LIMITS, *DIE_WITH_PARENT, *command], cwd=os.path.join(folder, "w"), env=self.environment(folder), stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=stderr, start_new_session=True, **user) as process:
            try:
                code = process.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return "timeout"
        return "ok" if code == 0 else f"signal {-code}" if code < 0 else f"exit {code}"
