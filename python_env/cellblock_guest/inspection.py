# Questions that the supervisor asks between calls: what the namespace holds, what is in a file. Worker, in the session's own
# interpreter or in one of its own; what is looked at is hostile, and the answer is one JSON text. C++ keeps the session's trace and
# profile functions and the garbage collector off meanwhile (host/interp).

import json
from _json import make_encoder
from builtins import ValueError, len, str
from json.encoder import encode_basestring

from . import own_builtins, values
from .session import answer
from .variables import describe

BYTES_MAX = 512 * 1024
_FLAGS = values.TEXT | values.JSON
_to_json = make_encoder(None, None, encode_basestring, None, ": ", ", ", False, False, False)  # json.dumps is the user's to replace; this is C


def list_variables(namespace, hidden):
    """By no code but ours and C's, and with what was bound before the user's code ran: see exact.py."""
    _send("".join(_to_json(describe(namespace, hidden), 0)))


def run(question, argument):
    """Sends the answer as a result; raises what goes wrong."""
    theirs = own_builtins.replaced()
    own_builtins.restore(own_builtins.originals(theirs))
    try:
        if question != "preview":
            raise ValueError(f"no question {question!r}")
        from . import preview  # only here: most workers are never asked

        rows, memory_bytes, path = argument.split(" ", 2)
        found = preview.describe(path, int(rows), int(memory_bytes))
    finally:
        own_builtins.restore(theirs)
    _send(json.dumps(found, ensure_ascii=False, allow_nan=False))


def _send(text):
    data = str.encode(text, "utf-8")
    if len(data) > BYTES_MAX:
        raise ValueError("the answer is longer than it may be")
    answer({"mime": [("application/json", data, _FLAGS)], "metadata": "{}", "display_id": ""})
