# Checks a preview against pandas: what its read_with reads must be what the preview says. Test code; runs code that the preview wrote
# for files that the tests made.

import contextlib
import json
import math
import os
import tempfile
import unittest
import warnings

import support

support.zygote()  # before pandas: imported on its own it would start threads, and other tests fork from this process
import pandas as pd  # noqa: E402
from cellblock_guest import preview  # noqa: E402

DATA = os.path.join(support.ROOT, "examples", "data")
_LEFT_AS_TEXT = ("leaves this as text", "left as text", "another decimal mark", "unlike in other columns", "time zone", "both orders", "do not fit")


@contextlib.contextmanager
def folder():
    """An empty working folder."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="preview-") as path:
        os.chdir(path)
        try:
            yield path
        finally:
            os.chdir(before)


def described(data, name="file.csv", rows=10):
    """The preview of a file with these bytes; it lies in the working folder."""
    with open(name, "wb") as file:
        file.write(data)
    return checked(preview.describe(name, rows=rows))


def checked(answer):
    """The answer, which must be strict JSON within its size."""
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False)
    assert len(text.encode()) <= preview.bounds.ANSWER_BYTES_MAX, len(text)
    assert json.loads(text) == answer
    return answer


def read(code):
    """What the code reads, with nothing imported but pandas."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(code, {"pd": pd})


def problems(answer):
    """How what pandas reads differs from what the preview says; [] when it is the same."""
    if answer["kind"] in ("workbook", "sqlite"):
        tables = answer.get("sheets") or answer.get("tables", ())
        return [problem for table in tables if table["read_with"] for problem in _problems_of_table(table, read(table["read_with"]))]
    return _problems_of_table(answer, read(answer["read_with"]))


def _problems_of_table(table, frame):
    found = []
    if table.get("rows") is not None and len(frame) != table["rows"]:
        found.append(f"{len(frame)} rows are read, {table['rows']} said")
    columns = table.get("columns")
    if columns is None:
        return found
    if frame.shape[1] != table.get("column_count", len(columns)):
        return [*found, f"{frame.shape[1]} columns are read, {len(columns)} said"]
    for number, column in enumerate(columns):
        for problem in _problems_of_column(column, frame.iloc[:, number], frame.columns[number], table["sampled"]):
            found.append(f"column {number} ({column['name']!r}): {problem}")
    return found


def _problems_of_column(column, values, label, sampled):
    wanted = column.get("label", column["name"])
    if isinstance(label, str) and wanted is not None and label != wanted:
        yield f"is called {label!r}"
    if sampled:
        return
    if column.get("missing") is not None and int(values.isna().sum()) != column["missing"]:
        yield f"{values.isna().sum()} missing are read, {column['missing']} said"
    kind, letter, is_left = column["type"], values.dtype.kind, any(word in column.get("note", "") for word in _LEFT_AS_TEXT)
    fitting = {"integer": "iuf", "number": "iuf", "date": "M", "datetime": "M", "text": "O", "mixed": "O", "time": "O", "boolean": "O" if column["missing"] else "b"}.get(kind, letter)
    if "are stored as text" in column.get("note", ""):
        fitting += "iufM"
    if letter not in fitting and not (is_left and letter == "O"):
        yield f"{kind} is read as {values.dtype}"
    elif kind in ("integer", "number", "date", "datetime") and letter in "iufM" and "min" in column:
        yield from _problems_of_range(column, values.dropna())


def _problems_of_range(column, values):
    if values.dtype.kind == "M":
        least, most = values.min().isoformat(), values.max().isoformat()
        if not (least.startswith(column["min"]) and most.startswith(column["max"])):
            yield f"{least} to {most} is read, {column['min']} to {column['max']} said"
        return
    values = values[values.abs() < math.inf]
    if not (math.isclose(values.min(), column["min"]) and math.isclose(values.max(), column["max"])):
        yield f"{values.min()} to {values.max()} is read, {column['min']} to {column['max']} said"


class Case(unittest.TestCase):
    """A test in an empty folder."""

    def setUp(self):
        self.enterContext(folder())

    def described(self, data, name="file.csv", **options):
        return described(data.encode() if isinstance(data, str) else data, name, **options)

    def assert_says(self, data, name="file.csv", encoding="utf-8", **expected):
        """The preview has these values (`types`, `names` for those of all columns), and read_with reads what it says."""
        answer = self.described(data.encode(encoding) if isinstance(data, str) else data, name)
        columns = answer.get("columns", ())
        said = {**answer, "types": [column["type"] for column in columns], "names": [column["name"] for column in columns]}
        self.assertEqual({key: said.get(key) for key in expected}, expected)
        if answer.get("read_with") and answer["kind"] not in ("text", "image", "binary"):
            self.assertEqual(problems(answer), [], answer["read_with"])
        return answer
