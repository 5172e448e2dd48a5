# Describes tables of delimited text: finds the dialect, the header, the rows and the columns, and the code that reads them. Jailed
# worker; the text is hostile. Of a large file it sees the parts that source.py read.

import collections
import dataclasses
import itertools
import re

from . import cells, decoding, dialect as dialects

ROWS_MAX = 300_000  # kept; of a small file with more of them the last ones are kept, too
TAIL_ROWS = 5000
LEFT_OUT_MAX = 50  # lines that are left out one by one
_KEYS_LOOKED_AT = 1000  # first cells
_ZEROS_ALONE = re.compile(r"^\0+$", re.M)  # for pandas a row
_LAST_LINE_END = re.compile(r"[\r\n][^\r\n]*\Z")
EXTENSIONS = {"tsv": "\t", "tab": "\t", "psv": "|", "csv": ","}


@dataclasses.dataclass
class Table:
    """Rows of a file, as far as they were read."""

    rows: list  # from the start, blank lines as []
    lines: list  # on which each of them starts
    dialect: object
    layout: object = None
    middle: list = dataclasses.field(default_factory=list)
    tail: list = dataclasses.field(default_factory=list)
    is_whole: bool = True
    is_open_ended: bool = False
    has_end_mark: bool = False  # Ctrl-Z, as DOS wrote it: for pandas a row
    comments: list = dataclasses.field(default_factory=list)  # indexes of lines of # among the rows, which are [] there
    has_marks: bool = False  # # stands elsewhere, too
    unread: int = 0  # rows between those and the tail that were counted only

    def header(self):
        return [self.rows[index] for index in self.layout.header]

    def data(self):
        """All rows of data that were read, without blank lines."""
        rows = itertools.chain(itertools.islice(self.rows, self.layout.first, self.layout.end), self.middle, self.tail)
        return [row for row in rows if row and (len(row) > 1 or not is_blank(row))]


def is_blank(row):
    """A line that pandas skips."""
    return not row or len(row) == 1 and row[0] != "" and not row[0].strip(" \t")


def read(sample, encoding, preferred=""):
    """The table in a sample, whatever the text; whether it is one, its dialect's score tells."""
    text = decoding.text(sample.head, encoding, is_start=True)
    if "\0" in text:
        text = _ZEROS_ALONE.sub('""', text).replace("\0", "")
    ended = text.rstrip("\x1a") if sample.whole else text
    has_end_mark, text = len(ended) < len(text), ended
    if not sample.whole:
        text = _without_last_line(text)
    dialect = dialects.find(text, sample.whole, preferred)
    fault = dialects.quotes_fault(text, dialect) if sample.whole else ""
    if fault and dialect.quote == '"':
        dialect = _unquoted_if_better(text, dialect, int(fault == "stray"))
    is_open = fault == "open" and dialect.quote != ""
    behind = _Counted(maxlen=TAIL_ROWS)
    rows, lines = dialects.rows_of(text, dialect, ROWS_MAX, behind)
    if len(rows) > (1 if is_open else 2) and (not sample.whole or is_open):
        rows.pop()
        lines.pop()
    if "\ufeff" in text:
        _take_marks_off(rows)
    table = Table(rows, lines, dialect, is_whole=sample.whole and not behind.count, is_open_ended=is_open, has_end_mark=has_end_mark)
    if behind.count:
        table.tail, table.unread = list(behind), behind.count - len(behind)
    if not sample.whole and dialect.delimiter != dialects.WHITESPACE:
        width, dialect = _usual_width(rows), dataclasses.replace(dialect, first_line=0)
        for _, data in sample.chunks:
            table.middle += _aligned_rows(decoding.text(data, encoding), dialect, width, False)
        if sample.tail:
            table.tail = _aligned_rows(decoding.text(sample.tail, encoding), dialect, width, True)
    if "#" in text:
        _leave_out_comments(table, text)
    return table


def _take_marks_off(rows):
    """A byte-order mark before a header that is repeated, where two files were joined."""
    first = next(filter(None, rows), None)
    for index, row in enumerate(rows):
        if row and row[0][:1] == "\ufeff" and [row[0][1:], *row[1:]] == first:
            rows[index] = first


def _leave_out_comments(table, text):
    """Lines of # behind the first that is none: they are as wide as no row, or stand where all others have a number or a date."""
    start = next((index for index, row in enumerate(table.rows) if row and not _is_marked(row)), len(table.rows))
    marked = [index for index in range(start + 1, len(table.rows)) if _is_marked(table.rows[index])]
    others = [row for row in table.rows[start + 1 : start + 1 + _KEYS_LOOKED_AT] if row and not _is_marked(row)]
    if not marked or 2 * len(marked) > len(table.rows) - start:
        return
    width, kinds = _usual_width(others), [cells.family(row[0]) for row in others]
    values = sum(kind in ("n", "d") for kind in kinds)
    are_values = values > 1 and len(kinds) - kinds.count("") - values <= max(1, 0.1 * values)  # a header may be repeated

    are_sentences = all(table.rows[index][0].lstrip()[1:2] in ("", " ", "#") for index in marked)

    def is_comment(row):
        return _is_marked(row) and (are_values or width > 1 and (are_sentences or len(row) != width or not any(map(str.strip, row[1:]))))

    comments = [index for index in marked if is_comment(table.rows[index])]
    before = sum(cell.count("#") for row in [*table.rows[:start], *(table.rows[index] for index in comments)] for cell in row)
    parts = [row for row in [*table.middle, *table.tail] if not is_comment(row)]
    table.has_marks = before != text.count("#") or any("#" in cell for row in parts for cell in row)
    if table.has_marks and (len(comments) > LEFT_OUT_MAX or not table.is_whole):
        return
    for index in comments:
        table.rows[index] = []
    table.comments = comments
    table.middle, table.tail = ([row for row in rows if not row or not is_comment(row)] for rows in (table.middle, table.tail))


def _is_marked(row):
    return bool(row) and row[0].lstrip()[:1] == "#" and not cells.is_missing(row[0].strip())  # such as #N/A


class _Counted(collections.deque):
    """Keeps the last rows of many, and counts those that are no blank lines."""

    count = 0

    def extend(self, rows):
        while batch := list(itertools.islice(rows, 10_000)):
            kept = list(filter(None, batch))
            self.count += len(kept)
            super().extend(kept[-self.maxlen :])


def _without_last_line(text):
    found = _LAST_LINE_END.search(text[-(1 << 20) :])
    return text[: max(0, len(text) - (1 << 20)) + found.start() + 1] if found else text


def _unquoted_if_better(text, dialect, more):
    """A quote that never ends, or where no field does, swallows rows: when the fields come out as evenly without quotes, it was none.
    more: rows that must be won."""
    plain = dataclasses.replace(dialect, quote="")
    with_quotes, _ = dialects.rows_of(text, dialect)
    without, _ = dialects.rows_of(text, plain)
    width = _usual_width(without)
    even = sum(len(row) == width for row in without)
    return plain if even >= 0.98 * sum(1 for row in without if row) and len(without) >= len(with_quotes) + more else dialect


def _usual_width(rows):
    counts = collections.Counter(len(row) for row in rows if row)
    return counts.most_common(1)[0][0] if counts else 0


def _aligned_rows(text, dialect, width, is_end):
    """Rows from the middle of a file, which may have begun within quotes: the reading with more rows of the usual width."""
    text = text.replace("\0", "")
    readings = [text]
    if dialect.quote and dialect.quote in text:
        readings.append(dialect.quote + text)
    readings_rated = []
    for reading in readings:
        rows, _ = dialects.rows_of(reading if is_end else _without_last_line(reading), dialect)
        rows = rows[1:] if is_end else rows[1:-1]
        first = next((number for number, row in enumerate(rows) if len(row) == width), 0)
        usual = sum(len(row) == width for row in rows)
        readings_rated.append((usual - 3 * (len(rows) - usual), rows[first:]))
    return max(readings_rated, key=lambda rated: rated[0])[1]
