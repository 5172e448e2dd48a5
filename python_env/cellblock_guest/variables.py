# What a session's namespace holds, for whoever asks between two calls: name, type, size, a short text. Worker, in the user's own
# interpreter. No code of the user's runs for it (how: exact.py and tables.py), and nothing is imported or computed. Everything is
# bounded.

from builtins import Exception, dict, len, list, str, sum, type
from sys import getsizeof
from types import ModuleType

from .exact import DEPTH_MAX, NAME_MAX, SIZED, TEXT_MAX, clean, is_one_of, text, type_name
from .tables import teller

VARIABLES_MAX = 200
BYTES_MAX = 200 * 1024  # of all entries together
_HIDDEN = {"In", "Out", "exit", "quit", "get_ipython", "open", "display"}


def describe(namespace, hidden=()):
    """{"variables": [...], "total": n, "cut": bool}, in the order in which they were made."""
    hidden = _HIDDEN | {name for name in list(hidden) if type(name) is str}
    shown = [(name, value) for name, value in list(dict.items(namespace)) if type(name) is str and _is_shown(name, value, hidden)]
    entries, room = [], BYTES_MAX
    for name, value in shown[:VARIABLES_MAX]:
        entry = _entry(name, value)
        room -= sum([len(str(part)) for part in entry.values()]) + 100
        if room < 0:
            break
        entries.append(entry)
    return {"variables": entries, "total": len(shown), "cut": len(entries) < len(shown)}


def _is_shown(name, value, hidden):
    return name[:1] != "_" and name not in hidden and type(value) is not ModuleType


def _entry(name, value):
    kind = type(value)
    entry = {"name": clean(name, NAME_MAX), "type": type_name(kind), "shape": None, "dtypes": None, "bytes": None, "length": None, "repr": ""}
    try:
        tell = teller(value)
        if tell is not None:
            tell(value, entry)
            return entry
        if is_one_of(kind, SIZED):
            entry["length"] = len(value)
            entry["bytes"] = getsizeof(value)
        entry["repr"] = clean(text(value, DEPTH_MAX), TEXT_MAX)
    except Exception:  # a frame whose inside was tampered with, a dict that a thread changes meanwhile
        entry["repr"] = f"<{entry['type']}>"
    return entry
