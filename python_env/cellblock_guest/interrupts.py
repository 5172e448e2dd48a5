# Turns SIGINT into KeyboardInterrupt, but only while user code runs: an interrupt that arrives inside our own bookkeeping is kept
# until that is done, so it can never leave history, displays or the channel half-written. Worker, main thread.

import _signal
import threading
from _thread import get_ident


class Gate:
    """open: user code runs and may be interrupted now. pending: an interrupt came while it was shut."""

    __slots__ = ("open", "pending", "main_thread")

    def __init__(self):
        self.open = False
        self.pending = False
        self.main_thread = threading.main_thread().ident


gate = Gate()


def _on_sigint(signum, frame):
    if gate.open:
        gate.pending = False
        raise KeyboardInterrupt
    gate.pending = True


def install():
    """Makes ours the handler; user code may replace it for the rest of its cell. Also after a fork (the thread id may differ)."""
    gate.main_thread = get_ident()
    if _signal.getsignal(_signal.SIGINT) is not _on_sigint:  # _signal: signal's own turns results into enums, slowly
        _signal.signal(_signal.SIGINT, _on_sigint)


def shielded(function, *args):
    """Calls function without being interrupted; an interrupt that came meanwhile is raised afterwards."""
    if get_ident() != gate.main_thread:
        return function(*args)
    was_open = gate.open
    gate.open = False
    try:
        return function(*args)
    finally:
        gate.open = was_open
        if was_open and gate.pending:
            gate.pending = False
            raise KeyboardInterrupt
