# What an uploaded file is: kind, encoding, columns, first rows, and the pandas code that reads it rightly. Runs in a worker of its own
# in a jail; the file is hostile, so every read, table and text has a limit, and a file that cannot be read gives an answer with an error.

import os

from . import bounds, guard, source

ROWS = 10


def describe(path, rows=ROWS, memory_bytes=guard.MEMORY_BYTES_MAX):
    """The answer as strict JSON values, of at most bounds.ANSWER_BYTES_MAX as text. Never raises for what is in the file."""
    answer = {"kind": "binary", "size_bytes": None, "notes": []}
    with guard.held(memory_bytes):
        _describe(answer, path, rows)
        return bounds.fit({"kind": answer.pop("kind"), "encoding": None, "sampled": False, "read_with": None, **answer})


def _describe(answer, path, rows):
    try:
        rows = max(0, min(int(rows), bounds.ROWS_SHOWN_MAX))
        with source.open_regular(path) as file:
            answer["size_bytes"] = os.fstat(file.fileno()).st_size
            from . import kinds

            kinds.describe(answer, file, os.fsdecode(path), rows)
    except FileNotFoundError:
        answer["error"] = "There is no such file."
    except OSError as error:
        answer["error"] = f"The file cannot be read: {bounds.cut(error.strerror or str(error), 200)}."
    except MemoryError:
        answer["error"] = "To look into the file would take too much memory."
    except Exception as error:
        answer["error"] = bounds.cut(f"{type(error).__name__}: {error}", 300)
