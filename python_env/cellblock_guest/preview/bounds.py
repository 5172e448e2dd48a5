# What an answer may hold: cuts texts, makes values strict JSON, and shortens the whole answer step by step until it fits. Jailed
# worker; the values were taken from a hostile file, their types are our own.

import datetime
import decimal
import json
import math

ANSWER_BYTES_MAX = 512 << 10  # as UTF-8; what inspection.py lets through
COLUMNS_MAX = 400  # described; the rest is counted
KEYS_MAX = 300
MEMBERS_MAX = 100  # of an archive
SHEETS_MAX = 20
ROWS_SHOWN_MAX = 100
TOP_MAX = 5
NOTES_MAX = 40
NAME_CHARACTERS_MAX = 300
CELL_CHARACTERS_MAX = 200
VALUE_CHARACTERS_MAX = 80  # of one among several: top, missing_values
NOTE_CHARACTERS_MAX = 600
CODE_CHARACTERS_MAX = 4000
_INTEGERS = (-(1 << 63), (1 << 63) - 1)  # what every JSON reader of ours takes


def cut(text, limit=CELL_CHARACTERS_MAX):
    """The text as valid Unicode, with … where it was cut."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def value_of(value, limit=CELL_CHARACTERS_MAX):
    """A cell's value as a JSON value; times as ISO 8601, what JSON has no word for as text."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if _INTEGERS[0] <= value <= _INTEGERS[1] else cut(str(value) if value.bit_length() < 4000 else "a huge number", limit)
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is str:
        return cut(value, limit)
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return value_of(float(value), limit) if value.is_finite() else None
    if isinstance(value, bytes):
        return cut(value[:limit].decode("utf-8", "replace"), limit)
    return cut(str(value), limit)


def text_of(value, limit=CELL_CHARACTERS_MAX):
    """A cell as text, as first_rows shows it."""
    if value is None:
        return ""
    if type(value) is bool:
        return "TRUE" if value else "FALSE"
    if type(value) is float and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    shown = value_of(value, limit)
    return cut("" if shown is None else str(shown), limit)


def add_note(answer, sentence):
    notes = answer.setdefault("notes", [])
    sentence = cut(sentence, NOTE_CHARACTERS_MAX)
    if len(notes) < NOTES_MAX and sentence not in notes:
        notes.append(sentence)


def count_of(number, noun):
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def strict(value, depth=0):
    """A copy of only dicts, lists, texts, numbers, booleans and null, without NaN and broken Unicode."""
    if isinstance(value, dict) and depth < 20:
        return {cut(str(key), NAME_CHARACTERS_MAX): strict(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and depth < 20:
        return [strict(item, depth + 1) for item in value]
    return value_of(value, CODE_CHARACTERS_MAX)


def fit(answer):
    """The answer within its size: first texts grow shorter, then lists, with a note that says so."""
    answer = strict(answer)
    if _size(answer) <= ANSWER_BYTES_MAX:
        return answer
    add_note(answer, f"This answer was shortened to {ANSWER_BYTES_MAX >> 10} KiB: texts, rows or columns are left out.")
    for characters, rows, columns in ((60, 10, 400), (40, 5, 400), (30, 3, 200), (20, 2, 100), (12, 1, 30), (8, 0, 5)):
        _shorten(answer, characters, rows, columns)
        if _size(answer) <= ANSWER_BYTES_MAX:
            return answer
    return {name: value for name, value in answer.items() if not isinstance(value, list) or name == "notes"}


def _size(answer):
    return len(json.dumps(answer, ensure_ascii=False, allow_nan=False).encode())


def _shorten(part, characters, rows, columns):
    """One table: the answer itself, or a sheet of it."""
    for name in ("columns", "keys"):
        if isinstance(part.get(name), list):
            if name == "columns" and len(part[name]) > columns:
                part.setdefault("column_count", len(part[name]))
            part[name] = part[name][:columns]
            for column in part[name]:
                _shorten_column(column, characters)
    if "first_rows_keys" in part:
        part["first_rows_keys"] = [cut(key, 4 * characters) for key in part["first_rows_keys"][:columns]]
    if "first_rows" in part:
        part["first_rows"] = [[cut(cell, characters) for cell in row[:columns]] for row in part["first_rows"][:rows]]
    for name in ("sheets", "tables"):
        part[name] = part[name][: max(2, columns // 10)] if name in part else []
        for table in part[name]:
            _shorten(table, characters, rows, max(4, columns // 4))
        if not part[name]:
            del part[name]
    if len(part.get("merged_cells") or ()) > rows:
        part["merged_cells"] = part["merged_cells"][:rows]
    if len(part.get("read_with") or "") > 20 * characters:
        part["read_with"] = None


def _shorten_column(column, characters):
    for name, value in column.items():
        if isinstance(value, str) and name != "name":
            column[name] = cut(value, 3 * characters if name == "note" else characters)
    column["name"] = cut(column["name"], 4 * characters) if isinstance(column.get("name"), str) else None
    if characters <= 20:
        for name in ("top", "examples", "missing_values"):
            column.pop(name, None)
    elif "top" in column:
        column["top"] = [{**entry, "value": value_of(entry["value"], characters)} for entry in column["top"][:2]]
