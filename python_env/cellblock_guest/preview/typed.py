# Columns of values that have types of their own, as workbooks and databases store them: what they hold, as an answer's column. Jailed
# worker; the values come from a hostile file, as many as their reader let through.

import collections
import datetime
import re

from . import bounds, cells, columns, numerals

CELL_TEXT_MAX = 1000
_CURRENCY = re.compile(r"\[\$([^\]\-]{1,8})|([$€£¥])")
_TIMES = (datetime.datetime, datetime.date, datetime.time, datetime.timedelta)
_NAMES = {"n": "number", "b": "boolean", "d": "date", "t": "text"}


def cell_of(value, number_format=""):
    """A value as a Cell."""
    is_day = type(value) is datetime.datetime and value.time() == datetime.time() and "h" not in number_format.lower()
    cell = cells.Cell(bounds.text_of(value.date() if is_day else value, CELL_TEXT_MAX))
    cell.value, cell.format = value, number_format
    if value is None:
        cell.kind = ""
    elif type(value) is bool:
        cell.kind = "b"
    elif isinstance(value, (int, float)):
        cell.kind = "n"
    elif isinstance(value, _TIMES):
        cell.kind = "d"
    else:
        cell.kind = "" if cells.is_missing(str(value).strip()) else "t"
    return cell


def stored(value):
    """A database's value as a Cell: a text is never missing there."""
    cell = cell_of(value)
    if isinstance(value, str):
        cell.kind = "t"
    return cell


EMPTY = cell_of(None)


class Column:
    """One column of Cells."""

    def __init__(self, name, position, all_cells):
        self.name, self.position = name, position
        self.present = [cell for cell in all_cells if cell.kind]
        self.missing = len(all_cells) - len(self.present)
        self.spellings = collections.Counter(str(cell) for cell in all_cells if not cell.kind)
        self.dtype, self.notes = None, []  # dtype: code, where pandas would choose another than the values have

    def describe(self, label):
        kinds = collections.Counter(cell.kind for cell in self.present)
        column = {"name": None if self.name is None else bounds.cut(self.name, bounds.NAME_CHARACTERS_MAX), "position": self.position, "type": self._type(kinds)}
        if self.name is not None and label != self.name:
            column["label"] = bounds.cut(label, bounds.NAME_CHARACTERS_MAX)
        column["missing"] = self.missing
        column["missing_values"] = [bounds.cut(text, bounds.VALUE_CHARACTERS_MAX) for text, _ in self.spellings.most_common(6)]
        counts = collections.Counter(map(str, self.present))
        column["distinct"] = min(len(counts), columns.DISTINCT_MAX)
        if column["type"] in ("integer", "number", "date", "datetime", "time"):
            self._range(column)
        elif column["type"] != "empty":
            top = [(text, count) for text, count in counts.most_common(bounds.TOP_MAX) if count > 1 or len(counts) <= bounds.TOP_MAX]
            column["top"] = [{"value": bounds.cut(text, bounds.VALUE_CHARACTERS_MAX), "count": count} for text, count in top]
            self._look_at_texts(column)
        column["example"] = bounds.cut(str(self.present[0])) if self.present else None
        self._note_formats()
        if self.notes:
            column["note"] = bounds.cut(" ".join(self.notes), bounds.NOTE_CHARACTERS_MAX)
        return column

    def _type(self, kinds):
        if not kinds:
            return "empty"
        if len(kinds) > 1:
            said = ", ".join(bounds.count_of(count, _NAMES[kind]) for kind, count in kinds.most_common())
            self.notes.append(f"Mixed: {said}.")
            return "mixed"
        kind = next(iter(kinds))
        if kind == "n":
            return "integer" if all(type(cell.value) is int or cell.value.is_integer() for cell in self.present) else "number"
        if kind == "d":
            return self._type_of_times()
        if kind == "b":
            self.dtype = "object" if self.missing else None  # else they become 0.0 and 1.0
        return "boolean" if kind == "b" else "text"

    def _type_of_times(self):
        values = [cell.value for cell in self.present]
        if all(isinstance(value, (datetime.time, datetime.timedelta)) for value in values):
            return "time"
        moments = [cell for cell in self.present if isinstance(cell.value, datetime.datetime)]
        has_clock = any(cell.value.time() != datetime.time() or "h" in cell.format.lower() for cell in moments)
        return "datetime" if has_clock else "date"

    def _range(self, column):
        values = [cell.value for cell in self.present]
        if column["type"] == "date":
            values = [value.date() if isinstance(value, datetime.datetime) else value for value in values]
        if column["type"] == "integer":
            values = [int(value) for value in values]
        if len({type(value) for value in values} - {int, float}) > 1:
            values = sorted(map(str, values))
        column["min"], column["max"] = bounds.value_of(min(values)), bounds.value_of(max(values))

    def _look_at_texts(self, column):
        texts = [str(cell).strip() for cell in self.present if cell.kind == "t"]
        numeric = [text for text in texts if numerals.PLAIN.match(text)]
        spelled = [text for text in texts[:2000] if numerals.read(text)]
        if any(len(text) > 1 and text[0] == "0" and text.isdigit() for text in numeric):
            column["leading_zeros"], self.dtype = True, "str"
            self.notes.append("Digits with leading zeros: read as text, or the zeros are lost.")
        elif numeric and len(numeric) == len(texts):
            self.notes.append("Numbers that are stored as text: pandas makes numbers of them.")
        elif spelled and len(spelled) == len(texts[:2000]):
            self.notes.append(f"Numbers that are stored as text, such as {spelled[0]!r}: pandas leaves this as text.")
        elif texts and all(cells.family(text) == "d" for text in texts[:200]):
            self.notes.append("Dates that are stored as text.")

    def _note_formats(self):
        marks = dict.fromkeys(mark for cell in self.present[:2000] if cell.kind == "n" and (mark := _mark_of(cell.format)))
        if marks:
            self.notes.append(f"Shown {'as percentages' if list(marks) == ['%'] else 'with ' + ', '.join(marks)}.")


def _mark_of(number_format):
    if "%" in number_format:
        return "%"
    found = _CURRENCY.search(number_format)
    return (found[1] or found[2]).strip() if found else ""
