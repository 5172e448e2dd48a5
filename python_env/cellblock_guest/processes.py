# Child processes of a session: makes multiprocessing, concurrent.futures and joblib find functions and classes that cells define,
# under every start method; lets a Pool whose worker died fail instead of waiting for ever; and clears away helper processes that
# were killed when an earlier call ended. Worker. Children run in the same jail, with the user's rights.

import contextlib
import errno
import functools
import os
import signal
import subprocess
import sys
import threading
import time
import types
import weakref
from multiprocessing import process

from . import children, environment, imports, session
from .definitions import VALUES_BYTES_MAX, Definitions, simple

_TRACKERS = ("multiprocessing.resource_tracker", "joblib.externals.loky.backend.resource_tracker")
_REUSABLE_EXECUTOR = "joblib.externals.loky.reusable_executor"
SENTINEL_SECONDS = 0.1  # for the workers of a pool to take theirs, when it is ended
CHILDREN_MAX = 4096  # zombies looked at before a call
_PEEK = os.WEXITED | os.WNOHANG | os.WNOWAIT
_definitions = None
_forgetting = threading.Lock()
_popens = weakref.WeakSet()  # every subprocess.Popen that was started here
_pools = weakref.WeakValueDictionary()  # id of a Pool's list of workers -> the Pool
_lru_cache_wrapper = type(functools.lru_cache(lambda: None))


def preload():
    """Zygote: what would otherwise be imported by the first pool; none of it starts anything."""
    import multiprocessing.forkserver
    import multiprocessing.pool
    import multiprocessing.popen_forkserver
    import multiprocessing.popen_spawn_posix
    import multiprocessing.queues
    import multiprocessing.resource_tracker
    import multiprocessing.spawn  # noqa: F401

    environment.set_executable()
    _patch()


def set_up(shell):
    """Worker: from now on children get this session's definitions."""
    global _definitions
    _definitions = Definitions(shell)
    children.known_in_parent = _definitions.number_of
    sys.modules["__mp_main__"] = sys.modules["__main__"]
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if folder not in path:
        os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, path), folder])


def begin_call():
    """Processes that were killed when the last call ended are waited for, where their objects have not been: a zombie takes up one of
    limits.processes. What user code forked by hand it must wait for by hand, as ever, unless it was killed."""
    if not session.current.last_called_something:
        return  # it started nothing; the looks are a tenth of a small cell's time
    for popen in list(_popens):
        try:
            if popen.poll() is not None:
                _popens.discard(popen)
        except Exception:
            _popens.discard(popen)
    if subprocess._active:
        subprocess._cleanup()
    if process._children:
        process.active_children()
    for name in _TRACKERS:
        module = sys.modules.get(name)
        if module is not None:
            _forget_if_killed(module._resource_tracker)
    module = sys.modules.get(_REUSABLE_EXECUTOR)
    if module is not None and module._executor is not None:
        try:
            _forget_executor_if_killed(module)
        except Exception:
            pass  # user code has been there
    _reap_killed()


def _reap_killed():
    """Zombies of children that nobody's object stands for. The ones that ended by themselves stay for whoever wants their exit code."""
    for _ in range(CHILDREN_MAX):
        try:
            ended = os.waitid(os.P_ALL, 0, _PEEK)
        except OSError:
            return  # no children at all: the usual case
        if ended is None:
            return
        if not _reap_if_killed(ended):
            break  # it hides the others from such a look
    else:
        return
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return
    for pid in pids[:CHILDREN_MAX]:
        try:
            ended = os.waitid(os.P_PID, pid, _PEEK)
        except OSError:
            continue  # not ours
        if ended is not None:
            _reap_if_killed(ended)


def _reap_if_killed(ended):
    if ended.si_code != os.CLD_KILLED or ended.si_status != signal.SIGKILL:
        return False
    with contextlib.suppress(OSError):
        os.waitpid(ended.si_pid, os.WNOHANG)
    module = sys.modules.get("multiprocessing.forkserver")
    if module is not None and module._forkserver._forkserver_pid == ended.si_pid:
        _forget_server(module._forkserver)
    return True


def _forget_server(server):
    """As it does itself when it finds its process dead; it must be able to wait for it, though."""
    with contextlib.suppress(OSError, TypeError):
        os.close(server._forkserver_alive_fd)
    server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None


def _forget_executor_if_killed(module):
    """joblib keeps its workers for the next Parallel(), which may come before the executor's own thread has found them dead, and would
    then fail. That thread goes on to clear the old executor away; it needs it for that."""
    executor = module._executor
    if executor._flags.broken is None and not any(map(_has_died, list(executor._processes.values()))):
        return
    if not module._executor_lock.acquire(blocking=False):
        return  # a thread of an earlier call is making a new one
    try:
        if module._executor is executor:
            if executor._executor_manager_thread is not None:
                executor._executor_manager_thread._cellblock_executor = executor
            module._executor = module._executor_kwargs = None
    finally:
        module._executor_lock.release()


def _has_died(worker):
    """Not of itself. A killed process of several threads is a zombie for a while before it can be waited for."""
    if worker.exitcode is not None:
        return worker.exitcode != 0
    try:
        fd = os.open(f"/proc/{worker.pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ESRCH)
    try:
        return os.read(fd, 4096).rpartition(b")")[2][1:2] in (b"Z", b"X")
    except ProcessLookupError:
        return True
    finally:
        os.close(fd)


def _now():
    """Tells calls, and the time between them, from each other."""
    return os.getpid(), session.current.call, session.current.in_call


def _forget_if_killed(tracker):
    """A helper of multiprocessing or joblib that was killed when the call that started it ended is forgotten, so that the next starts
    without a warning that it died unexpectedly. One that dies within its call died unexpectedly."""
    started = tracker.__dict__.get("_cellblock_started", (0,))
    if tracker._pid is None or started[0] != os.getpid() or started == _now() or not _forgetting.acquire(blocking=False):
        return
    try:
        _forget_if_dead(tracker)
    finally:
        _forgetting.release()


def _forget_if_dead(tracker):
    try:
        if os.waitpid(tracker._pid, os.WNOHANG)[0] == 0:
            return
    except ChildProcessError:
        pass
    try:
        os.close(tracker._fd)
    except (OSError, TypeError):
        pass
    tracker._fd = tracker._pid = None
    tracker._cellblock_names.clear()


# --- references to what cells define ---------------------------------------------------------------------------------------------


def _reducer_override(self, obj):
    """For ForkingPickler: a function or class of a cell goes with its source when a living child may not have it yet."""
    kind = type(obj)
    if (kind is types.FunctionType or kind is _lru_cache_wrapper or issubclass(kind, type)) and _definitions is not None:
        try:
            return _reduce(obj)
        except Exception:
            return NotImplemented
    return NotImplemented


def _reduce(obj):
    if obj.__module__ not in ("__main__", "__mp_main__"):
        return NotImplemented
    qualname = obj.__qualname__
    top = qualname.partition(".")[0]
    entry = _definitions.find(top)
    if entry is None or _resolve(qualname) is not obj or entry[1] < _oldest_child():
        return NotImplemented
    entries, modules, others = _definitions.closure([top])
    return children.load, (qualname, entries, modules, simple(_definitions._shell.user_ns, others))


def _resolve(qualname):
    value = sys.modules["__main__"]
    for name in qualname.split("."):
        value = getattr(value, name)
    return value


def _oldest_child():
    """The cell in which the oldest living child process was started."""
    cells = [child.__dict__.get("_cellblock_cell", 0) for child in list(process._children)]
    return min(cells, default=_cell_number())


def _cell_number():
    return len(_definitions._shell.history_manager.input_hist_parsed) - 1


class _Payload:
    """In the preparation data of a spawned process: becomes a call of children.receive there."""

    def __init__(self, arguments):
        self._arguments = arguments

    def __reduce__(self):
        return children.receive, self._arguments


def _values(names):
    """Global values that definitions refer to, each pickled by itself; what cannot be pickled, or is too much, stays away."""
    from multiprocessing.reduction import ForkingPickler

    namespace, result, room = _definitions._shell.user_ns, {}, VALUES_BYTES_MAX
    for name in names:
        try:
            data = bytes(ForkingPickler.dumps(namespace[name]))
        except Exception:
            continue
        if len(data) <= room:
            room -= len(data)
            result[name] = data
    return result


def _patch():
    from multiprocessing import context, pool, reduction, resource_tracker, spawn

    _patch_popen()
    reduction.ForkingPickler.reducer_override = _reducer_override
    get_preparation_data = spawn.get_preparation_data
    start = process.BaseProcess.start

    @functools.wraps(get_preparation_data)
    def preparation_data(name):
        data = get_preparation_data(name)
        if _definitions is not None and _definitions.all_names():
            entries, modules, others = _definitions.closure(_definitions.all_names())
            data["cellblock"] = _Payload((entries, modules, _values(others)))
            data["init_main_from_name"] = "cellblock_guest.child_main"
            data.pop("init_main_from_path", None)
        else:
            data.pop("init_main_from_path", None)  # a cell is no file that a child could run
        return data

    @functools.wraps(start)
    def start_process(self):
        if _definitions is not None:
            self.__dict__["_cellblock_cell"] = _cell_number()
        if (self._start_method or context._default_context.get_start_method()) != "fork":
            session.current.helper_call = session.current.call
        return start(self)

    _patch_tracker(resource_tracker._resource_tracker)
    spawn.get_preparation_data = preparation_data
    process.BaseProcess.start = start_process
    imports.after(_TRACKERS[1], lambda module: _patch_tracker(module._resource_tracker))
    _patch_pool(pool)


def _patch_popen():
    execute = subprocess.Popen._execute_child

    @functools.wraps(execute)
    def _execute_child(self, *args, **kwargs):
        result = execute(self, *args, **kwargs)
        _popens.add(self)
        return result

    subprocess.Popen._execute_child = _execute_child


def _patch_tracker(tracker):
    """A tracker that was started anew does not know the names its killed predecessor was told, and would complain when these go. Threads
    that mourn a killed pool want a tracker too, between calls."""
    names = tracker._cellblock_names = set()
    send = tracker._send
    ensure = "_ensure_running_and_write" if hasattr(tracker, "_ensure_running_and_write") else "ensure_running"
    run = getattr(tracker, ensure)

    def ensure_running(*args):
        _forget_if_killed(tracker)
        before, began = tracker._pid, _now()  # a thread may be at it when a call ends, which kills it, and go on in the next
        try:
            run(*args)
        finally:
            if tracker._pid != before:
                tracker._cellblock_started = began
                session.current.helper_call = session.current.call

    def _send(command, name, kind):
        _forget_if_killed(tracker)
        if command == "REGISTER":
            names.add((kind, name))
        elif command in ("UNREGISTER", "MAYBE_UNLINK"):
            if (kind, name) not in names:
                return
            names.discard((kind, name))
        send(command, name, kind)

    tracker._send = _send
    setattr(tracker, ensure, ensure_running)


# --- a pool whose worker died -----------------------------------------------------------------------------------------------------


def _patch_pool(pool):
    """multiprocessing's Pool starts a new worker when one dies but never learns that its task is lost: map() waits for ever. Here the
    waiting calls raise, as those of ProcessPoolExecutor do."""
    initialize = pool.Pool.__init__
    join_exited = pool.Pool._join_exited_workers

    @functools.wraps(initialize)
    def __init__(self, *args, **kwargs):
        initialize(self, *args, **kwargs)
        _pools[id(self._pool)] = self

    def _join_exited_workers(workers):
        before = list(workers)
        result = join_exited(workers)
        died = [worker.exitcode for worker in before if worker not in workers and worker.exitcode] if result else ()
        if died:
            _fail_pending(_pools.get(id(workers)), died[0])
        return result

    def _help_stuff_finish(inqueue, task_handler, size):
        # A pool that is ended while a dead worker is being replaced sends one sentinel too few: the worker that gets none waits for its
        # next task for ever, with the lock that is wanted here.
        while not inqueue._rlock.acquire(timeout=SENTINEL_SECONDS):
            if not task_handler.is_alive():
                inqueue._writer.send(None)
        while task_handler.is_alive() and inqueue._reader.poll():
            inqueue._reader.recv()
            time.sleep(0)

    pool.Pool.__init__ = __init__
    pool.Pool._join_exited_workers = staticmethod(_join_exited_workers)
    pool.Pool._help_stuff_finish = staticmethod(_help_stuff_finish)


def _fail_pending(owner, code):
    if owner is None:
        return
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
    error = RuntimeError(f"a worker process of the pool {how}; the task it had is lost, so the pool's pending calls are given up")
    for job in list(owner._cache.values()):
        try:
            event = getattr(job, "_event", None)
            if event is None:
                job._set(0, (False, error))  # an iterator: its next() raises
            elif not event.is_set():
                if hasattr(job, "_number_left"):
                    job._number_left = 1  # of a map's chunks: none is waited for any more
                job._set(0, (False, error))
        except Exception:
            continue
