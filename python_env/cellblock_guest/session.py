# The one mutable record of a worker's session: who to send events to, which call runs, which process we are. Imported by the
# other modules so that they need not import each other. Lives in the worker (in the zygote it has no receiver and sends nothing).
# Trusts: the `emit` that C++ handed over. Events from a forked child are refused here: the channel belongs to the worker.

import os
import threading

from . import forks, interrupts


class Session:
    """State of the session; one instance, `current`."""

    def __init__(self):
        self.emit_function = None
        self.flush = None  # flushes what Python buffers for descriptors 1 and 2; an event comes after the text before it
        self.options = {}
        self.in_child = False
        self.in_call = False  # the channel takes events during a call alone; a thread may want to send one at any time
        self.pid = 0
        self.forget_calls()

    def forget_calls(self):
        """No cell has run."""
        self.call = 0
        self.cells_run = 0
        self.called_something = True  # the running cell, or the last one if none runs, may call functions
        self.last_called_something = True  # and the one before
        self.helper_call = 0  # the last in which multiprocessing or joblib started a worker or helper of theirs as a program
        self.warnings_shown = set()


current = Session()
_lock = threading.RLock()


def can_emit():
    return current.in_call and current.emit_function is not None and not current.in_child


def end_call():
    """No event after this; one that a thread is just sending is waited for."""
    with _lock:
        current.in_call = False


def emit(kind, fields):
    """Sends one event and waits for the supervisor's acknowledgement. Returns False when there is nobody to send it to."""
    if not can_emit():
        return False
    function = current.emit_function
    if interrupts.gate.open:
        interrupts.shielded(_emit_locked, function, kind, fields)
    else:
        _emit_locked(function, kind, fields)
    return True


def answer(fields):
    """Sends the one result of a question between two calls, when no event may come; without the flush, which may be the user's code."""
    with _lock:
        current.emit_function("result", fields)


def _emit_locked(function, kind, fields):
    if kind != "sync" and current.flush is not None:
        current.flush()
    with _lock:
        if current.in_call:
            function(kind, fields)


def _after_fork_in_child():
    global _lock
    current.in_child = True
    _lock = threading.RLock()


def watch_forks():
    """From here on, forked processes are children of the session and may not send events. Called once, in the worker."""
    current.pid = os.getpid()
    forks.register()
    os.register_at_fork(after_in_child=_after_fork_in_child)
