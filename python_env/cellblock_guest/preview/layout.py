# Where in a table's rows the header is, what stands before it (titles, units, notes) and what after the data. Jailed worker; works on
# texts and on what they are (cells.family), for text files and workbooks alike.

import dataclasses
import re
import statistics

from . import cells

LOOKED_AT = 120  # rows from the top
HEADER_ROWS_MAX = 8
FOOTER_ROWS_MAX = 40
COLUMNS_LOOKED_AT = 500
_LONG = 25  # characters of a remark, rather than of a label
_FOOTER = re.compile(r"\s*(?:[*†‡(]|\[?\d\]|source|note|footnote|quelle|hinweis|anmerkung|stand\b|fuente|nota|fonte|remarque|bron|kilde|källa|źródło|copyright|©|generated|exported"
                     r"|updated|last updated|end of)", re.I)
_YEAR = re.compile(r"(?:1[89]|20)\d\d\Z", re.A)
_RULER = re.compile(r"[\W_]{3,}\Z")  # --- or ***
_BRACKETS = re.compile(r"\s*(?:[(\[].*[)\]]|%)\s*\Z", re.S)


@dataclasses.dataclass
class Layout:
    header: list  # indexes of the header's rows, one after the other
    first: int  # of the data
    end: int  # after the data
    footer: int = 0  # rows with remarks after the data
    labels: list = dataclasses.field(default_factory=list)  # rows before the header that describe columns, too


def filled(row):
    return sum(1 for cell in row if cell.strip())


def find(rows, tail=(), merged=()):
    """rows: the table's start (or all of it), tail: its end when rows are only the start, merged: (first row, last row) of merged cells."""
    end, footer = _end(tail or rows)
    if tail:
        end = len(rows)
    head = rows[: min(end, LOOKED_AT)]
    counts = [filled(row[:COLUMNS_LOOKED_AT]) for row in head]
    start = _start(head, counts)
    if start is None:
        return Layout([], 0, end, footer)
    families = [[cells.family(cell) for cell in row[:COLUMNS_LOOKED_AT]] for row in head]
    profile = _profile(families, start)
    start = _back_to_data(families, counts, profile, start)
    behind = _behind_pairs(families, profile, start)
    if behind is None:
        header = _header(head, families, counts, profile, start)
    else:
        start, header = behind, [behind - 1] if families[behind - 1][:2] == ["t", "t"] else []
    until = _merged_until(merged, header or [start])
    if until > (header or [start])[-1]:
        header = [index for index in range((header or [start])[0], min(until + 1, len(head))) if counts[index]]
    first = max(header[-1], until) + 1 if header else start
    if header and first < len(head) and counts[first] and all(_RULER.match(cell.strip()) for cell in head[first] if cell.strip()):
        first += 1  # a line drawn below the names
    labels = [index for index in range(start, header[0]) if counts[index] > 2] if header and behind is None else []
    return Layout(header, first, max(end, first), footer, labels)


def _merged_until(merged, header):
    """The last row that cells merged with those of the header reach."""
    until = header[-1]
    for _ in range(HEADER_ROWS_MAX):
        reached = max((last for first, last in merged if header[0] <= first <= until < last < header[0] + 2 * HEADER_ROWS_MAX), default=until)
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


def _is_remark(rows, counts, index, usual, width):
    row, count = rows[index], counts[index]
    text = row[0].strip()
    if width < 2 or usual < 2 or not text:
        return False
    if count == 1 and _RULER.match(text):
        return True
    kind = cells.family(row[0])
    if _FOOTER.match(text) and kind == "t":
        if len(row) != width and count > 1:
            return all(cells.family(cell) in ("t", "") for cell in row)  # a sentence with commas
        if count <= max(1, usual // 2):
            return count == 1 or len(text) > _LONG or len(text.split()) > 1 or text.endswith(":")
    if count > 1:
        return count <= 0.67 * usual and len(row) < width and any(len(cell) > _LONG and " " in cell and cells.family(cell) == "t" for cell in row)
    if kind != "t":
        return False
    others = [other[0] for other in rows[max(0, index - 30) : index] if other and other[0].strip()]
    kinds = {cells.family(other) for other in others[:-1]}
    is_apart = index > 0 and (not counts[index - 1] or _RULER.match(rows[index - 1][0].strip()) is not None)
    if is_apart or kinds and kinds <= {"n", "d"}:
        return True
    usual_length = statistics.median(map(len, others)) if others else 0
    return usual >= 3 and (len(row) == 1 or len(text) > _LONG and len(text) > 3 * usual_length)


def _start(head, counts):
    """The first row that has enough cells to be of the table, and is not a pair such as `Report: | Sales`."""
    usual = _usual(counts)
    least = 1 if usual < 2 else max(2, 0.3 * usual)
    for index, count in enumerate(counts):
        is_pair = count == 2 and usual > 2 and next(cell.strip() for cell in head[index] if cell.strip()).endswith(":")
        if count >= least and not is_pair and not _is_comment(head, index):
            return index
    return next((index for index, count in enumerate(counts) if count), None)


def _is_comment(head, index):
    """A line that begins with #, unless it is the last of them, has as many fields as the next, and names them by the look of it."""
    row, after = head[index], (head[index + 1 : index + 2] or [[]])[0]
    if not row[0].lstrip().startswith("#"):
        return False
    if not after or after[0].lstrip().startswith("#") or len(after) != len(row):
        return True
    return row[0].lstrip().startswith("# ") and not any(cells.family(cell) in ("n", "d") for cell in after)


def _profile(families, start):
    """For each column what its cells mostly are, by the lower part of the rows."""
    rows = families[start + 1 :]
    rows = rows[len(rows) // 2 :] if len(rows) > 2 else rows[-1:]
    width = max((len(row) for row in rows), default=0)
    profile = []
    for column in range(width):
        kinds = [row[column] for row in rows if column < len(row) and row[column]]
        common = max(set(kinds), key=kinds.count) if kinds else ""
        profile.append(common if common and common != "t" and kinds.count(common) >= 0.7 * len(kinds) else "t" if kinds else "")
    return profile


def _fits(row, profile):
    """(cells that are what their column is, cells that are not), of the columns that are not text."""
    fits = misfits = 0
    for kind, expected in zip(row, profile):
        if kind and expected not in ("", "t"):
            fits += kind == expected
            misfits += kind != expected
    return fits, misfits


def _back_to_data(families, counts, profile, start):
    """Rows above the start may be sparse rows of data."""
    while start and counts[start - 1] > 1:
        fits, misfits = _fits(families[start - 1], profile)
        if not fits or misfits:
            break
        start -= 1
    return start


def _behind_pairs(families, profile, start):
    """Where the data begin when four or more rows of names and values of other things stand before a table of two columns."""
    if len(profile) != 2 or not any(kind not in ("", "t") for kind in profile):
        return None
    fitting = [_fits(row, profile) for row in families]
    for index in range(start, len(fitting)):
        fits, misfits = fitting[index]
        if fits and not misfits:
            good = sum(not wrong for _, wrong in fitting[index:])
            return index if index - start >= 4 and good >= 0.8 * len(fitting[index:]) else None
    return None


def _header(head, families, counts, profile, start):
    """Indexes of the rows of the header: those next to the data that are not like it."""
    if not any(kind not in ("", "t") for kind in profile):
        return _header_of_texts(head, families, start)
    if not _is_header(head[start], families[start], profile, head[start + 1 :]):
        return []
    block, at = [start], start + 1
    while at < len(head) and len(block) < HEADER_ROWS_MAX:
        if not counts[at]:
            after = next((index for index in range(at, min(at + 4, len(head))) if counts[index]), None)
            if after is None or not _is_more_header(head, families, profile, after, block, True):
                break
            block, at = [after], after + 1
        elif _is_more_header(head, families, profile, at, block, False):
            block.append(at)
            at += 1
        else:
            break
    return block


def _is_header(row, kinds, profile, below):
    fits, misfits = _fits(kinds, profile)
    if not fits:
        return misfits > 0 or not _comes_again(row, below)
    numbers = [cell.strip() for cell, kind, expected in zip(row, kinds, profile) if kind == expected == "n"]
    if len(numbers) == fits and fits > 1 and kinds[0] != "n":
        test = _are_years if _are_years(numbers) else _are_counted
        return test(numbers) and not any(test([cell.strip() for cell, expected in zip(other, profile) if expected == "n"]) for other in below[:3])
    return misfits > fits


def _are_years(numbers):
    return bool(numbers) and all(map(_YEAR.match, numbers))


def _are_counted(numbers):
    """1, 2, 3 and so on."""
    if len(numbers) < 3 or not all(number.isdigit() and len(number) < 6 for number in numbers):
        return False
    return numbers[0] in ("0", "1", "01") and all(int(after) - int(before) == 1 for before, after in zip(numbers, numbers[1:]))


def _is_more_header(head, families, profile, at, block, is_apart):
    """Whether this row, too, names columns: it fits nowhere, names what the rows above it left open, and is no row of data with a few
    bad values."""
    row, kinds = head[at], families[at]
    fits, misfits = _fits(kinds, profile)
    if fits:
        return False
    words = [index for index, cell in enumerate(row) if cell.strip()]
    gaps = [index for index in range(len(profile)) if all(not _cell(head[above], index).strip() for above in block)]
    if not misfits:
        return not is_apart and _lacks_a_key(kinds, families[at + 1 :], profile) and bool(gaps) and set(gaps) <= set(words)
    if all(_BRACKETS.match(row[index]) for index in words) or not is_apart and set(words) <= set(gaps):
        return True
    typed = sum(kind not in ("", "t") for kind in profile)
    starts_empty = not kinds[0] if kinds else False
    if misfits >= 3 and misfits >= 0.8 * (typed - starts_empty) and (starts_empty or gaps):
        return True
    if _comes_again(row, head[at + 1 :], [index for index, kind in enumerate(profile) if kind == "t"]):
        return False
    return misfits >= min(2, typed) and (misfits >= 2 or typed == 1) and (is_apart or starts_empty or bool(gaps) or misfits >= 3 and misfits >= 0.8 * typed)


def _cell(row, index):
    return row[index] if index < len(row) else ""


def _lacks_a_key(kinds, below, profile):
    """The first column is a number or date in all rows of data, and empty in this one."""
    below = [row for row in below if row]
    return profile[:1] not in ([], [""], ["t"]) and kinds[:1] == [""] and len(below) >= 2 and all(row[0] == profile[0] for row in below)


def _comes_again(row, below, columns=None):
    """Whether a cell's text is met again further down in its column, as labels are not. A whole row that is repeated is a header, though."""
    below = [other for other in below if other != row]
    for index in range(len(row)) if columns is None else columns:
        text = row[index].strip() if index < len(row) else ""
        if text and not cells.is_missing(text) and any(index < len(other) and other[index].strip() == text for other in below):
            return True
    return False


def _header_of_texts(head, families, start):
    """Nothing but texts: the first row is taken for the header unless it looks like all others."""
    row, kinds = head[start], families[start]
    if any(kind in ("n", "d") for kind in kinds):
        return []
    if _comes_again(row, head[start + 1 :]) or any(len(cell) > 300 for cell in row):
        return []
    return [start]


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
    result, used, given = [], set(), {text for text in texts if text}
    for index, text in enumerate(texts):
        name, number = text or f"Unnamed: {index}", 0
        while name in used or number and name in given:
            number += 1
            name = f"{text}.{number}"
        used.add(name)
        result.append(name)
    return result
