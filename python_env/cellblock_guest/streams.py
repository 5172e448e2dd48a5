# sys.stdin, sys.stdout and sys.stderr of the worker: real text streams over descriptors 0, 1 and 2, so that C code, child processes
# and Python share one road. Keeps the order between the two output streams, flushes before forks and execs, puts back what a
# cell closed or replaced, and marks text of threads that an earlier call started. Made in the zygote, used in the worker; trusts
# nothing user code leaves in `sys`.

import fcntl
import functools
import io
import os
import sys
import threading
from _thread import get_ident

from . import session

SWITCHES_MAX = 2000  # ordered switches between stdout and stderr in one call; later ones are merged by arrival
_BACKUP_FD_MIN = 10  # the copies of 1 and 2 stay above what C++ and the shell use


class _Order:
    """Which stream wrote last, and how often that changed in this call."""

    __slots__ = ("last", "switches")

    def __init__(self):
        self.last = None
        self.switches = 0


_order = _Order()
_inside_line = set()  # idents of such threads whose last text did not end a line
_old_threads = {}  # thread ident -> (call that started it, thread); empty unless threads outlived their call
_mine = {"stdout": None, "stderr": None}  # "stdin" | "stdout" | "stderr" -> our stream
_backups = {}  # 1 | 2 -> (copy of the descriptor, identity)
_text_write = io.TextIOWrapper.write


class _Buffer(io.BufferedWriter):
    """Takes a hook in its instance, which the type of the C library does not."""

    def hooked_write(self, data):
        _switch_to(self.stream)
        return io.BufferedWriter.write(self, data)


class OutputStream(io.TextIOWrapper):
    """sys.stdout or sys.stderr: line buffered, UTF-8, never fails on text it cannot encode. Only the stream that did not write last sees
    its writes; the other's go straight into C, so that an interrupt does to print() what it does in any interpreter."""

    def __init__(self, fd, name):
        raw = io.FileIO(fd, "w", closefd=False)
        raw.name = name
        self.own_buffer = _Buffer(raw)
        self.own_buffer.stream = self
        super().__init__(self.own_buffer, encoding="utf-8", errors="backslashreplace", line_buffering=True)
        self.mode = "w"
        self.set_hooks()

    def hooked_write(self, text):
        _switch_to(self)
        if _old_threads and get_ident() in _old_threads and isinstance(text, str):
            _text_write(self, _marked(text))
            return len(text)
        return _text_write(self, text)

    def set_hooks(self):
        is_last = _order.last is self
        _hook(self, not is_last or _old_threads)
        _hook(self.own_buffer, not is_last)


def _hook(target, on):
    """What user code put in the place of `write` stays."""
    if on:
        target.__dict__.setdefault("write", target.hooked_write)
    elif target.__dict__.get("write") == target.hooked_write:
        del target.write


def _set_all_hooks():
    for name in ("stdout", "stderr"):
        _mine[name].set_hooks()


def _switch_to(stream):
    previous, _order.last = _order.last, stream
    if previous is stream:
        return
    stream.set_hooks()
    if previous is None:
        return
    previous.set_hooks()
    _flush(previous)
    if _order.switches < SWITCHES_MAX and session.can_emit():
        _order.switches += 1
        session.emit("sync", {})


def _marked(text):
    """Text of a thread that an earlier call started, each line saying so. Idents are reused, so the thread must be that one."""
    call, thread = _old_threads.get(get_ident(), (0, None))
    if thread is None or threading._active.get(get_ident()) is not thread:
        return text
    parts = []
    for line in text.splitlines(keepends=True):  # print() writes a line in several pieces
        if get_ident() not in _inside_line and line.strip("\r\n"):
            parts.append(f"[thread started in call {call}] ")
        parts.append(line)
        (_inside_line.discard if line.endswith(("\n", "\r")) else _inside_line.add)(get_ident())
    return "".join(parts)


def _make_blocking():
    """User code may have asked not to wait for a full pipe; a session without that loses text or finds it in a later call."""
    for fd in (1, 2):
        try:
            os.set_blocking(fd, True)
        except OSError:
            pass  # closed


def _flush(stream):
    try:
        try:
            stream.flush()
        except BlockingIOError:
            _make_blocking()
            stream.flush()
    except Exception:
        pass  # closed, detached or a broken descriptor: nothing of ours is lost


def flush_all():
    """Flushes what Python buffers for 1 and 2: our streams, and whatever user code put in their place."""
    mine = _mine["stdout"], _mine["stderr"]
    try:
        mine[0].flush()
        mine[1].flush()
        if sys.stdout is mine[0] and sys.stderr is mine[1]:
            return
    except Exception:
        pass  # closed, detached, deleted: one by one then
    for stream in (*mine, getattr(sys, "stdout", None), getattr(sys, "stderr", None)):
        if stream is not None:
            _flush(stream)


def _identity(fd):
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def prepare():
    """In the zygote: makes the three streams, over pipes for the moment, since a stream remembers what kind of file it was made for."""
    kept = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _BACKUP_FD_MIN) for fd in (1, 2)]
    pipe = os.pipe()
    for fd in (1, 2):
        os.dup2(pipe[1], fd)
    for name in ("stdin", "stdout", "stderr"):
        _renew(name)
    _switch_to(_mine["stdout"])
    for fd, original in zip((1, 2), kept):
        os.dup2(original, fd)
    for fd in (*pipe, *kept):
        os.close(fd)
    _wrap_process_starts()


def set_up():
    """In the worker: keeps copies of descriptors 1 and 2, to put them back when a cell closed or replaced them."""
    for fd in (1, 2):
        _backups[fd] = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _BACKUP_FD_MIN), _identity(fd))
    session.current.flush = flush_all


def _renew(name):
    if name == "stdin":
        try:
            raw = io.FileIO(0, "r", closefd=False)
        except OSError:
            raw = io.FileIO(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), "r", closefd=True)
        raw.name = "<stdin>"
        stream = io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8", errors="surrogateescape")
        stream.mode = "r"
    else:
        stream = OutputStream(1 if name == "stdout" else 2, f"<{name}>")
    _mine[name] = stream
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


def _usable(stream):
    try:
        if stream is None or getattr(stream, "closed", False):
            return False
        return callable(stream.write)
    except BaseException:  # a property of user code that raises
        return False


def begin_call(called_something=True):
    """Before each cell: closed streams are made anew. Descriptors 1 and 2 are looked at when the last cell called
    anything: without a call it can hardly have closed or replaced one, and the look is a tenth of a small cell's time."""
    if called_something:
        _restore_descriptors()
    if not _are_whole():
        for name, mine in list(_mine.items()):
            current = getattr(sys, name, None)
            if current is mine:
                if _broken(mine):
                    _renew(name)
            elif _broken(mine) or (name != "stdin" and not _usable(current)) or (name == "stdin" and current is None):
                _renew(name)
    _order.switches = 0
    _set_all_hooks()  # an interrupt may have left one undone


def _restore_descriptors():
    for fd, (backup, identity) in _backups.items():
        try:
            status = os.fstat(fd)
            same = status.st_ino == identity[1] and status.st_dev == identity[0]
        except OSError:
            same = False
        if not same:
            _flush(_mine["stdout" if fd == 1 else "stderr"])
            try:
                os.dup2(backup, fd)
            except OSError:
                pass  # the copy was closed as well: output of this session is lost, the session is not
    _make_blocking()


def _are_whole():
    """All three are ours and open: the common case, told quickly."""
    try:
        out, error, reading = sys.stdout, sys.stderr, sys.stdin
        return (
            out is _mine["stdout"] and error is _mine["stderr"] and reading is _mine["stdin"] and not (out.closed or error.closed or reading.closed)
        )
    except (AttributeError, ValueError):
        return False


def _broken(stream):
    try:
        return stream.closed
    except ValueError:  # detached
        return True


def is_ours(name):
    """Whether sys.stdout / sys.stderr is still the stream over the descriptor (not redirected by user code)."""
    return getattr(sys, name, None) is _mine.get(name)


def own(name):
    """Our stream, whatever user code put into `sys`; for messages that must come out."""
    return _mine.get(name) or getattr(sys, f"__{name}__", None)


def write_stderr(text):
    """A message of ours to the user's stderr: through sys.stderr if that works (it may be redirected), else to descriptor 2."""
    for stream in (getattr(sys, "stderr", None), _mine.get("stderr")):
        try:
            stream.write(text)
            stream.flush()
            return
        except Exception:
            continue


# --- threads ---------------------------------------------------------------------------------------------------------------

_OLD_THREADS_MAX = 4096


def _live_threads():
    active = threading._active
    if len(active) <= 1:
        return ()
    main = threading.main_thread()
    return [(ident, thread) for ident, thread in list(active.items()) if thread is not main][:_OLD_THREADS_MAX]


def _note_threads(call):
    """Every live thread not known yet was started in this call."""
    known = dict(_old_threads)
    _old_threads.clear()
    _inside_line.clear()
    for ident, thread in _live_threads():
        entry = known.get(ident)
        _old_threads[ident] = entry if entry is not None and entry[1] is thread else (call, thread)


def end_call(call):
    """After each cell: how many Python threads live on beside the main one. From now on their text carries a mark."""
    if _old_threads or len(threading._active) > 1:
        _note_threads(call)
        _set_all_hooks()
    return len(_old_threads)


def forget_threads():
    """Text of threads that are there now carries no mark."""
    _old_threads.clear()
    _set_all_hooks()


# --- before other programs run -----------------------------------------------------------------------------------------------

_wrapped = []


def _flushing(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        flush_all()
        return function(*args, **kwargs)

    return call


def _wrap_process_starts():
    """Text printed before a child's output must come out before it. At-fork hooks cover os.fork and multiprocessing; these
    start programs without running them. An audit hook would cover all at once but slows every id(), open and import."""
    if _wrapped:
        return
    import _posixsubprocess
    import subprocess

    os.register_at_fork(before=flush_all)
    starters = [(os, name) for name in ("system", "posix_spawn", "posix_spawnp", "execv", "execve")]
    starters += [(subprocess, "_fork_exec"), (_posixsubprocess, "fork_exec")]
    for module, name in starters:
        function = getattr(module, name, None)
        if function is not None:
            setattr(module, name, _flushing(function))
            if function in os.supports_fd:
                os.supports_fd.add(getattr(module, name))
            _wrapped.append(name)
