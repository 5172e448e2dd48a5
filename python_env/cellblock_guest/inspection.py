# Questions that the supervisor asks between calls: what the namespace holds, what is in a file. Worker, in the session's own
# interpreter or in one of its own; what is looked at is hostile, and the answer is one JSON text.

import json

from . import own_builtins, session, values, variables

BYTES_MAX = 512 * 1024


def _answer(question, argument, shell):
    if question == "variables":
        return variables.describe(shell.user_ns, hidden=shell.user_ns_hidden)
    if question == "preview":
        from . import preview  # only here: most workers are never asked

        rows, memory_bytes, path = argument.split(" ", 2)
        return preview.describe(path, int(rows), int(memory_bytes))
    raise ValueError(f"no question {question!r}")


def run(question, argument, shell):
    """Sends the answer as a result; raises what goes wrong."""
    theirs = own_builtins.replaced()
    own_builtins.restore(own_builtins.originals(theirs))
    try:
        answer = _answer(question, argument, shell)
    finally:
        own_builtins.restore(theirs)
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
    if len(text.encode("utf-8", "replace")) > BYTES_MAX:
        raise ValueError("the answer is longer than it may be")
    session.emit("result", {"mime": [("application/json", text.encode(), values.TEXT | values.JSON)], "metadata": "{}", "display_id": ""})
