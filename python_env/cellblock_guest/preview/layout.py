# Where in a table's rows the header is, what stands before it (titles, units, notes) and what after the data. Jailed worker; works on
# texts and on what they are (cells.family), for text files and workbooks alike.

import dataclasses
import re
import statistics

from . import cells, header as headers, stacked

LOOKED_AT = 120  # rows from the top
FOOTER_ROWS_MAX = 40
COLUMNS_LOOKED_AT = 500
_LONG = 25  # characters of a remark, rather than of a label
_TOTALS = frozenset("total totals sum subtotal gesamt summe insgesamt totaal totale toplam итого 合計 合计".split()) | {"grand total"}
_APART_ROWS = 5  # so far above a total may a blank row stand
_DRAWN = re.compile(r"[-=_*+:|~. ]{3,}\Z")
_RULER = re.compile(r"[\W_]{3,}\Z")  # --- or ***


@dataclasses.dataclass
class Layout:
    header: list  # indexes of the header's rows, one after the other
    first: int  # of the data
    end: int  # after the data
    footer: int = 0  # rows with remarks after the data
    labels: list = dataclasses.field(default_factory=list)  # rows before the header that describe columns, too
    second: int | None = None  # the row with which another table below begins


def filled(row):
    return sum(1 for cell in row if cell.strip())


def find(rows, tail=(), merged=()):
    """rows: the table's start (or all of it), tail: its end when rows are only the start, merged: (first row, last row) of merged cells."""
    end, footer = _end(tail or rows)
    if tail:
        end = len(rows)
    head = [row[:COLUMNS_LOOKED_AT] for row in rows[: min(end, LOOKED_AT)]]
    counts = list(map(filled, head))
    start = _start(head, counts)
    if start is None:
        return Layout([], 0, end, footer)
    families = [[cells.family(cell) for cell in row] for row in head]
    profile = headers.profile(families, start)
    start = headers.back_to_data(families, counts, profile, start)
    behind = headers.behind_pairs(families, profile, start)
    if behind is None:
        header = headers.header(head, families, counts, profile, start)
    else:
        start, header = behind, [behind - 1] if families[behind - 1][:2] == ["t", "t"] else []
    until = _merged_until(merged, header or [start])
    if until > (header or [start])[-1]:
        header = [index for index in range((header or [start])[0], min(until + 1, len(head))) if counts[index]]
    first = max(header[-1], until) + 1 if header else start
    if header and first < len(head) and _is_ruler(head[first], counts[first]):
        first += 1
    header = [index for index in header if not _is_ruler(head[index], counts[index])]
    width = len(head[first]) if first < len(head) else 0
    while len(header) > 1 and len(head[header[0]]) > width == len(head[header[1]]) and start <= header[0]:
        start = header.pop(0) + 1  # what a logger says of itself, in more cells than the table has
    second = stacked.find(rows, first, [rows[index] for index in header])
    if second and stacked.are_pairs(rows[: second[0]], rows[second[1]]):
        return _shifted(find(rows[second[1] :], merged=[(top - second[1], bottom - second[1]) for top, bottom in merged]), second[1])
    if second:
        return dataclasses.replace(find(rows[: second[0]], merged=merged), second=second[1])
    labels = [index for index in range(start, header[0]) if counts[index] > 2] if header and behind is None else []
    return Layout(header, first, max(end, first), footer, labels)


def _is_ruler(row, count):
    """A line drawn below the names."""
    return bool(count) and all(_DRAWN.match(cell.strip()) for cell in row if cell.strip())


def _shifted(layout, by):
    return Layout([index + by for index in layout.header], layout.first + by, layout.end + by, layout.footer, [index + by for index in layout.labels],
                  None if layout.second is None else layout.second + by)


def _merged_until(merged, header):
    """The last row that cells merged with those of the header reach."""
    until = header[-1]
    for _ in range(headers.ROWS_MAX):
        reached = max((last for first, last in merged if header[0] <= first <= until < last < header[0] + 2 * headers.ROWS_MAX), default=until)
        if reached == until:
            break
        until = reached
    return until


def _usual(counts):
    """How many cells rows of the table have: remarks of one cell do not count, unless there is nothing else."""
    several = [count for count in counts if count > 1]
    return statistics.median(several if len(several) >= max(2, 0.15 * len(counts)) else [count for count in counts if count] or [0])


def _end(rows):
    """(index after the last row of data, number of rows with remarks behind it)."""
    end, footer = len(rows), 0
    while end and not filled(rows[end - 1][:COLUMNS_LOOKED_AT]):
        end -= 1
    window = rows[max(0, end - 4 * FOOTER_ROWS_MAX) : end]
    counts = [filled(row[:COLUMNS_LOOKED_AT]) for row in window]
    usual, width, before = _usual(counts), max((len(row) for row in window), default=0), end - len(window)
    while footer < FOOTER_ROWS_MAX and end > before + 1 and _is_remark(window, counts, end - before - 1, usual, width):
        footer += 1
        end -= 1
        while end > before + 1 and not counts[end - before - 1]:
            end -= 1
    return end, footer


def is_total(row):
    return any(cell.strip().lower().rstrip(":") in _TOTALS for cell in row[:2])


def _is_below_values(kinds):
    """Whether a text stands, with a few others, below numbers or dates."""
    kinds = kinds[: len(kinds) - next((count for count, kind in enumerate(reversed(kinds[-_APART_ROWS:])) if kind != "t"), 0)]
    return bool(kinds) and set(kinds[-2:]) <= {"n", "d"}


def _is_remark(rows, counts, index, usual, width):
    row, count = rows[index], counts[index]
    text = row[0].strip()
    if width < 2 or usual < 2 or not text:
        return False
    if count == 1 and _RULER.match(text):
        return True
    kind = cells.family(row[0])
    if stacked.REMARK.match(text) and kind == "t":
        if len(row) != width and count > 1:
            return all(cells.family(cell) in ("t", "") for cell in row)  # a sentence with commas
        if count <= max(1, usual // 2):
            return count == 1 or len(text) > _LONG or len(text.split()) > 1 or text.endswith(":")
    others = [other[0] for other in rows[max(0, index - 30) : index] if other and other[0].strip()]
    kinds = list(map(cells.family, others))
    if kind == "t" and _is_below_values(kinds) and (is_total(row) or count < usual and not all(counts[max(0, index - _APART_ROWS) : index])):
        return True
    if count > 1:
        return count <= 0.67 * usual and len(row) < width and any(len(cell) > _LONG and " " in cell and cells.family(cell) == "t" for cell in row)
    if kind != "t":
        return False
    is_apart = index > 0 and (not counts[index - 1] or _RULER.match(rows[index - 1][0].strip()) is not None)
    if is_apart or len(kinds) > 1 and set(kinds[:-1]) <= {"n", "d"}:
        return True
    usual_length = statistics.median(map(len, others)) if others else 0
    return usual >= 3 and (len(row) == 1 or len(text) > _LONG and len(text) > 3 * usual_length)


def _start(head, counts):
    """The first row that has enough cells to be of the table, and is not a pair such as `Report: | Sales`."""
    usual = _usual(counts)
    least = 1 if usual < 2 else max(2, 0.3 * usual)
    for index, count in enumerate(counts):
        is_pair = count == 2 and usual > 2 and next(cell.strip() for cell in head[index] if cell.strip()).endswith(":")
        if (count >= least or _is_beside_index(head, index)) and not is_pair and not _is_comment(head, index):
            return index
    return next((index for index, count in enumerate(counts) if count), None)


def _is_beside_index(head, index):
    """Names of all columns but the first, which is there in the next row: an index has none."""
    row, after = head[index], (head[index + 1 : index + 2] or [[]])[0]
    return len(row) == len(after) >= 2 and not row[0].strip() and filled(row) == len(row) - 1 and filled(after) == len(after)


def _is_comment(head, index):
    """A line that begins with #, unless it is the last of them, has as many fields as the next, and names them by the look of it."""
    row, after = head[index], (head[index + 1 : index + 2] or [[]])[0]
    if not row[0].lstrip().startswith("#"):
        return False
    if not after or after[0].lstrip().startswith("#") or len(after) != len(row):
        return True
    return row[0].lstrip().startswith("# ") and not any(cells.family(cell) in ("n", "d") for cell in after)


def names(header_rows, width):
    """One name a column of one or more header rows; a name over several columns stands only in its first cell."""
    if not header_rows:
        return [None] * width
    if len(header_rows) == 1:
        return [header_rows[0][index] if index < len(header_rows[0]) else "" for index in range(width)]
    result = [[] for _ in range(width)]
    for number, row in enumerate(header_rows):
        last = ""
        below = header_rows[number + 1 :]
        for index in range(width):
            text = row[index].strip() if index < len(row) else ""
            is_spanned = not text and last and any(index < len(other) and other[index].strip() for other in below)
            last = text or (last if is_spanned else "")
            part = text or (last if is_spanned else "")
            if part and part not in result[index]:
                result[index].append(part)
    return [" / ".join(parts) for parts in result]


def labels(texts):
    """What pandas calls the columns: no empty names, none twice."""
    result, used, given = [text or f"Unnamed: {index}" for index, text in enumerate(texts)], set(), {text for text in texts if text}
    for index in sorted(range(len(texts)), key=lambda index: not texts[index]):  # those that are given come first
        name, number = result[index], 0
        while name in used or number and name in given:
            number += 1
            name = f"{result[index]}.{number}"
        used.add(name)
        result[index] = name
    return result
