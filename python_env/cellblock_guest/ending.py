# What an interpreter does when its script is over, as far as its user can tell: waits for threads, runs what atexit holds, lets go of
# the script's objects and writes out what files still hold. `cellblock run` calls it after the last cell, as a cell; the worker itself
# ends by a kill. Worker; nearly all that runs here is user code.

import atexit
import gc
import io
import sys
import threading

from . import streams, zygote

_WRITERS = (io.BufferedWriter, io.BufferedRandom, io.TextIOWrapper)


def run():
    streams.forget_threads()  # to the user the script is one call
    _wait_for_threads()
    atexit._run_exitfuncs()
    _let_go(zygote.shell())
    gc.collect()
    for file in [each for each in gc.get_objects() if isinstance(each, _WRITERS)]:
        _flush(file)


def _flush(file):
    try:
        file.flush()
    except Exception:
        pass  # closed, or for reading


def _wait_for_threads():
    for function in reversed(threading._threading_atexits):  # pools of concurrent.futures
        function()
    own = threading.current_thread()
    while waiting := [thread for thread in threading.enumerate() if thread is not own and not thread.daemon]:
        for thread in waiting:
            thread.join()


def _let_go(shell):
    """The order of CPython's own (finalize_modules): names with one underscore first."""
    sys.last_type = sys.last_value = sys.last_traceback = None
    shell.displayhook.flush()
    namespace = shell.user_ns
    names = [name for name in namespace if not name.startswith("__")]
    for name in sorted(names, key=lambda name: not name.startswith("_")):
        namespace[name] = None
