# Describes the objects of a JSON file: their keys with types, missing values and ranges, and the first of them as rows. Jailed worker;
# the values were parsed from a hostile file within json_files' limits.

import collections
import json
import re

from . import bounds, number_columns, numerals

MAX = 50_000  # looked at
DEPTH_MAX = 4  # of keys that are followed
EXAMPLES_MAX = 3
ERRORS = (ValueError, RecursionError, MemoryError)
_DIGITS_MAX = 190
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d|\Z)")
TYPES = {str: "text", bool: "boolean", int: "integer", float: "number", list: "list", dict: "object", type(None): "null"}


def describe(answer, records, rows_shown, note=""):
    keys, looked_at, has_more = {}, records[:MAX], False
    for record in looked_at:
        for name, value in _flat(record):
            key = keys.get(name)
            if key is None:
                if len(keys) >= bounds.KEYS_MAX:
                    has_more = True
                    continue
                key = keys[name] = _Key()
            key.add(value)
    answer["keys"] = [key.describe(name, len(looked_at)) for name, key in keys.items()]
    if has_more:
        bounds.add_note(answer, f"Only the first {bounds.KEYS_MAX} keys are described.")
    if any(len(str(key.get("max", ""))) > _DIGITS_MAX for key in answer["keys"]):
        bounds.add_note(answer, "There are integers too large for a table of pandas.")
    names = [name for name, key in keys.items() if set(key.types) - {"object"}][: bounds.COLUMNS_MAX]
    answer["first_rows"] = [[shown(values.get(name)) for name in names] for values in (dict(_flat(record)) for record in records[:rows_shown])]
    answer["first_rows_keys"] = [bounds.cut(name, bounds.NAME_CHARACTERS_MAX) for name in names]
    if len(records) > MAX:
        bounds.add_note(answer, f"The first {MAX:,} records were looked at.")
    if note:
        bounds.add_note(answer, note)


def _flat(record, before="", depth=1):
    """(name, value) of all that is no object, with names such as a.b, as pandas.json_normalize names columns."""
    for key, value in record.items():
        name = f"{before}{key}"
        if isinstance(value, dict) and value and depth < DEPTH_MAX:
            yield from _flat(value, f"{name}.", depth + 1)
        else:
            yield name, value


class _Key:
    def __init__(self):
        self.types, self.examples, self.texts, self.least, self.most = collections.Counter(), [], [], None, None

    def add(self, value):
        if value != value:  # NaN, which strict JSON has not
            value = None
        kind = TYPES.get(type(value), "text")
        self.types[kind] += 1
        if value is None:
            return
        if kind in ("integer", "number") and (value - value == 0 if kind == "number" else True):
            self.least = value if self.least is None or value < self.least else self.least
            self.most = value if self.most is None or value > self.most else self.most
        if kind == "text" and len(self.texts) < 200:
            self.texts.append(value)
        if len(self.examples) < EXAMPLES_MAX and value != "" and value not in self.examples:
            self.examples.append(value)

    def describe(self, name, total):
        present = self.types.total() - self.types["null"]
        types = [kind for kind, _ in self.types.most_common() if kind != "null" and not (kind == "integer" and self.types["number"])]
        key = {"name": bounds.cut(name, bounds.NAME_CHARACTERS_MAX), "types": types or ["null"],
               "missing": total - present, "examples": [shown(value, bounds.VALUE_CHARACTERS_MAX) for value in self.examples]}
        if self.least is not None:
            key["min"], key["max"] = bounds.value_of(self.least), bounds.value_of(self.most)
        notes = []
        if self.types["integer"] == present and self.least is not None:
            notes += number_columns.epoch_notes(name, self.least, self.most)
        numeric = [text for text in self.texts if len(text) < 40 and numerals.PLAIN.match(text)]
        if any(len(text) > 1 and text[0] == "0" and text.isdigit() for text in numeric):
            key["leading_zeros"] = True
        if numeric and len(numeric) == len([text for text in self.texts if text]):
            notes.append("Numbers that are written as text.")
        elif self.texts and all(len(text) < 40 and _ISO.match(text) for text in self.texts if text) and any(self.texts):
            notes.append("Dates that are written as text.")
        if notes:
            key["note"] = " ".join(notes)
        return key


def have_huge_integers(answer):
    """pandas' reader refuses them."""
    return any(isinstance(key.get("min"), str) or isinstance(key.get("max"), str) for key in answer["keys"])


def types_argument(answer):
    """pandas would make numbers of texts that are digits alone."""
    return {"dtype": "False"} if any("as text" in key.get("note", "") or key.get("leading_zeros") for key in answer.get("keys", ())) else {}


def shown(value, limit=bounds.CELL_CHARACTERS_MAX):
    if isinstance(value, (dict, list)):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except ERRORS:
            value = "…"
    return bounds.text_of(value, limit)
