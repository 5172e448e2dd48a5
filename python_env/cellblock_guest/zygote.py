# What C++ calls in the zygote, once each and in this order: forks.keep(), preload(), warm_up(), audit_generators(), worker.prepare(), freeze().
# The zygote never runs user code; it must stay single-threaded, keep no lock taken and no file open, and leave no trace of its own in what
# workers get.

import builtins
import gc
import importlib
import os
import sys

from . import environment, errors, figures, forks, libraries, magics, own_builtins, processes, reseed, runner, session, streams
from . import shell as shell_module

_shell = None
names_at_rest = frozenset()  # in the namespace of a shell that has run nothing
MODULES_MAX = 256


def shell():
    """The one shell; made by preload()."""
    if _shell is None:
        raise RuntimeError("cellblock_guest.zygote.preload() was not called")
    return _shell


def preload(modules):
    """Imports what sessions shall find imported, and makes the shell. Raises ImportError for a module that is not there."""
    global _shell
    if len(modules) > MODULES_MAX:
        raise ValueError(f"{len(modules)} modules to preload, limit {MODULES_MAX}")
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"  # pandas imports pyarrow, whose second allocator starts a thread
    matplotlibrc = os.path.join(os.path.dirname(environment.site_packages()), "mpl", "matplotlibrc")
    if os.path.exists(matplotlibrc):
        os.environ["MATPLOTLIBRC"] = matplotlibrc
    environment.prepare()
    _shell = shell_module.create()
    processes.preload()
    libraries.install(_shell)
    magics.register(_shell)
    for name in modules:
        importlib.import_module(name)
        _refuse_threads(name)
    del os.environ["JE_ARROW_MALLOC_CONF"]


def _refuse_threads(name):
    """Says which module it was; that there is one thread in the end is proved by C++ before each fork."""
    try:
        count = len(os.listdir("/proc/self/task"))
    except OSError:
        return
    if count > 1:
        raise RuntimeError(f"preloading {name} started {count - 1} threads; a zygote must have none: take it off python.preload, sessions can import it themselves")


_WARM_UP = (
    ("pandas", "import pandas as pd\npd.DataFrame({'g': list('aab'), 'x': [1.0, 2.0, 3.0]}).groupby('g').agg(['mean', 'sum'])"),
    ("matplotlib.pyplot", "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([0, 1], [1, 0], label='a')\nax.set_title('t')\nax.legend()"),
    ("matplotlib.pyplot", "plt.bar(['a', 'b'], [1, 2])\nplt.show()"),
    ("numpy", "import numpy as np\nnp.ones((256, 256)) @ np.ones((256, 256))"),
    ("", "def f(x):\n    return x / 0\nf(1)"),
    ("", "x = ("),
    ("", "%time 1 + 1"),
    ("", "import random, math\n1 + 1"),
)


def warm_up():
    """Throw-away cells, so that sessions find one-off work done: lazy imports, OpenBLAS's buffer, the first chart. Leaves no trace."""
    global names_at_rest
    names_at_rest = frozenset(_shell.user_ns)
    running = runner.Runner(_shell)
    session.current.emit_function, session.current.in_call = _ignore, True
    stdout, stderr = sys.stdout, sys.stderr
    try:
        with open(os.devnull, "w", encoding="utf-8") as sink:
            sys.stdout = sys.stderr = sink
            for module, code in _WARM_UP:
                if not module or module in sys.modules:
                    runner.run_call(running, code, {"file_name": ""})
    finally:
        sys.stdout, sys.stderr = stdout, stderr
        session.current.emit_function, session.current.in_call = None, False
    forget(names_at_rest)


def _ignore(kind, fields):
    pass


def forget(names_before):
    """Back to a shell that has run nothing."""
    import linecache

    shell = _shell
    for name in set(shell.user_ns) - names_before:
        del shell.user_ns[name]
        shell.user_ns_hidden.pop(name, None)
    shell.history_manager.reset()
    shell.execution_count = 1
    shell.last_execution_result = None
    shell.last_execution_succeeded = True
    shell.cell_error = None
    hook = shell.displayhook
    hook._ = hook.__ = hook.___ = ""
    hook._numbers.clear()
    for name in ("_", "__", "___"):
        shell.user_ns[name] = ""
        shell.user_ns_hidden.pop(name, None)
    shell.compile.forget()
    shell.compile._filename_map.clear()
    linecache.clearcache()
    for name in ("last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)
    figures.forget()
    font_manager = sys.modules.get("matplotlib.font_manager")
    if font_manager is not None:
        font_manager._get_font.cache_clear()
    builtins.__dict__.pop("_", None)
    sys.excepthook = sys.__excepthook__


def audit_generators():
    """Live random generators that are not on the reviewed list, described; the zygote refuses to start with any."""
    gc.collect()
    return reseed.audit()


def freeze():
    """Collects and freezes: workers then share these objects' pages for longer."""
    errors.text_of(ValueError("warm"))
    streams.prepare()
    forks.let_be()
    own_builtins.remember()
    reseed.settle()
    gc.collect()
    gc.freeze()
