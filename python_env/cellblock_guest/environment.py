# The process environment of a session: variables, interpreter for child processes, arguments, time zone, writable cache folders.
# Zygote (what is the same for all), and worker, at its start and before each cell; the values come from policy through C++.

import os
import site
import sys
import sysconfig
import time

import IPython

from . import streams

EXECUTABLE = "/usr/bin/python3"
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS",
                     "POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "LOKY_MAX_CPU_COUNT")


def site_packages():
    """The environment's packages, as child interpreters must find them."""
    return os.path.dirname(os.path.dirname(IPython.__file__))


def set_executable():
    """Embedded, the interpreter is no program of its own: what starts children uses the system's, with our packages on its path."""
    sys.executable = sys._base_executable = EXECUTABLE
    spawn = sys.modules.get("multiprocessing.spawn")
    if spawn is not None:
        spawn.set_executable(EXECUTABLE)


def _cpu_count():
    """As many as the session may use, where CPython counts the machine's: pools that are made that large would only get in their own way."""
    return len(os.sched_getaffinity(0))


def prepare():
    """In the zygote: what is the same in every session."""
    set_executable()
    os.cpu_count = _cpu_count
    os.environ.update(PYTHONPATH=site_packages(), PYTHONIOENCODING="utf-8", MPLBACKEND="agg", PYTHONDONTWRITEBYTECODE="1", PIP_NO_INPUT="1", TERM="dumb", PAGER="cat")


def find_place():
    """In the worker: what follows from the jail that it is in."""
    _forget_host_name()
    sys.breakpointhook = _breakpoint
    sys.argv = [""]


def set_up(options):
    """In the worker: a session's variables. Again, for one that was made ahead of it: writes what differs."""
    given = options.get("environment") or {}
    variables = {"HOME": os.getcwd()}
    cpus = int(options.get("cpus") or 1)
    variables.update({name: str(cpus) for name in _THREAD_VARIABLES})
    width = int(options.get("table_width") or 0)
    if width:
        variables["POLARS_TABLE_WIDTH"] = str(width)
        variables["POLARS_FMT_MAX_COLS"] = str(int(options.get("table_columns") or 100))
    if "MPLCONFIGDIR" not in given:
        variables.update(_cache_folders())
    if options.get("time_zone"):
        variables["TZ"] = options["time_zone"]
    variables.update((str(name), str(value)) for name, value in given.items())
    changed = {name: value for name, value in variables.items() if os.environ.get(name) != value}
    if changed:
        os.environ.update(changed)
        time.tzset()
        _find_user_folders()


def _forget_host_name():
    """platform.node() keeps what whoever asked first was told: the template process, outside the session's UTS namespace."""
    platform = sys.modules.get("platform")
    if platform is not None:
        platform._uname_cache = None


def _find_user_folders():
    """site and sysconfig looked for the user's packages below the home of the template process."""
    site.USER_BASE = site.USER_SITE = None
    site.getusersitepackages()  # sets both
    if sysconfig._CONFIG_VARS:  # filled by whoever asks first, which takes a millisecond
        sysconfig._CONFIG_VARS["userbase"] = site.USER_BASE


def _breakpoint(*args, **kwargs):
    """breakpoint() without anybody to type: the code goes on."""
    streams.write_stderr("breakpoint(): there is no interactive debugger here; going on\n")


def _cache_folders():
    """A writable cache of the session's own for matplotlib and others, with the prebuilt font list in it. Jails come with one."""
    root = os.path.join(os.environ.get("TMPDIR") or "/tmp", ".cellblock-cache")
    folder = os.path.join(root, "matplotlib")
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        prebuilt = os.path.join(os.path.dirname(site_packages()), "mpl")
        for name in os.listdir(prebuilt) if os.path.isdir(prebuilt) else ():
            link = os.path.join(folder, name)
            if not os.path.lexists(link):
                os.symlink(os.path.join(prebuilt, name), link)
    except OSError:
        return {}  # nowhere to write: matplotlib says what that means when it is used
    return {"MPLCONFIGDIR": folder, "XDG_CACHE_HOME": root}


class variables_of_call:
    """Sets a cell's own variables, and puts back what stood in their place. What the cell itself sets otherwise is left to it."""

    def __init__(self, options):
        self.given = dict(text.split("=", 1) for text in options.get("environment") or ())

    def __enter__(self):
        if self.given:
            self.before = {name: os.environ.get(name) for name in self.given}
            os.environ.update(self.given)
            self._read_time_zone()

    def __exit__(self, *raised):
        if not self.given:
            return
        for name, value in self.given.items():
            if os.environ.get(name) != value:
                continue
            if self.before[name] is None:
                del os.environ[name]
            else:
                os.environ[name] = self.before[name]
        self._read_time_zone()

    def _read_time_zone(self):
        if "TZ" in self.given:
            time.tzset()


def set_arguments(options):
    """Before each cell: sys.argv, and __file__ when the code comes from a file."""
    file_name = options.get("file_name") or ""
    sys.argv = [file_name, *map(str, options.get("arguments") or ())]
    if file_name:
        sys.modules["__main__"].__file__ = os.path.join(os.getcwd(), file_name)
