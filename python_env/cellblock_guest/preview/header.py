# Which rows at a table's start are its header: those next to the data that are not like the data. Jailed worker; works on texts and on
# what they are (cells.family), of the first rows only (layout.LOOKED_AT).

import re

from . import cells

ROWS_MAX = 8
_YEAR = re.compile(r"(?:1[89]|20)\d\d\Z", re.A)
_BRACKETS = re.compile(r"\s*(?:[(\[].*[)\]]|%)\s*\Z", re.S)


def profile(families, start):
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


def back_to_data(families, counts, profile, start):
    """Rows above the start may be sparse rows of data."""
    while start and counts[start - 1] > 1:
        fits, misfits = _fits(families[start - 1], profile)
        if not fits or misfits:
            break
        start -= 1
    return start


def behind_pairs(families, profile, start):
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


def header(head, families, counts, profile, start):
    """Indexes of the rows of the header: those next to the data that are not like it."""
    if not any(kind not in ("", "t") for kind in profile):
        return _header_of_texts(head, families, start)
    if not _is_header(head[start], families[start], profile, head[start + 1 :]):
        return []
    block, at = [start], start + 1
    while at < len(head) and len(block) < ROWS_MAX:
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
    if kinds[0] == "n" and len(numbers) == len(row) > 2 and _are_steady_years(numbers):
        return not any(any(map(_YEAR.match, map(str.strip, other))) for other in below[:3])
    if len(numbers) == fits and fits > 1 and kinds[0] != "n":
        test = _are_years if _are_years(numbers) else _are_counted
        return test(numbers) and not any(test([cell.strip() for cell, expected in zip(other, profile) if expected == "n"]) for other in below[:3])
    return misfits > fits


def _are_years(numbers):
    return bool(numbers) and all(map(_YEAR.match, numbers))


def _are_steady_years(numbers):
    return _are_years(numbers) and len({int(after) - int(before) for before, after in zip(numbers, numbers[1:])}) == 1 and numbers[0] != numbers[1]


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
        return not is_apart and _tells_same_names_apart(head, block, row, families[at + 1 :])
    words = [index for index, cell in enumerate(row) if cell.strip()]
    gaps = [index for index in range(len(profile)) if all(not _cell(head[above], index).strip() for above in block)]
    if not misfits:
        return not is_apart and _lacks_a_key(kinds, families[at + 1 :], profile) and bool(gaps) and set(gaps) <= set(words)
    if not is_apart and len(block) > 1 and _lacks_a_key(kinds, families[at + 1 :], profile):
        return True
    if all(_BRACKETS.match(row[index]) for index in words) or not is_apart and set(words) <= set(gaps):
        return True
    typed = sum(kind not in ("", "t") for kind in profile)
    starts_empty = not kinds[0] if kinds else False
    if misfits >= 3 and misfits >= 0.8 * (typed - starts_empty) and (starts_empty or gaps):
        return True
    if _comes_again(row, head[at + 1 :], [index for index, kind in enumerate(profile) if kind == "t"]):
        return False
    return misfits >= min(2, typed) and (misfits >= 2 or typed == 1) and (is_apart or starts_empty or bool(gaps) or misfits >= 3 and misfits >= 0.8 * typed)


def _tells_same_names_apart(head, block, row, below):
    """Numbers below names that stand there several times, as quarters below years, where the first column has nothing, but a value in
    every row of data."""
    names = [cell.strip() for cell in head[block[-1]]]
    below = [other for other in below if any(other)]
    if len(block) > 1 or not row or row[0].strip() or len(row) != len(names) or not below or not all(other[0] for other in below):
        return False
    pairs = [(name, cell.strip()) for name, cell in zip(names, row) if name and cell.strip()]
    return len({name for name, _ in pairs}) < len(pairs) == len(set(pairs)) == len(names) - 1


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
    if _comes_again(row, head[start + 1 :]) or any(len(cell) > 300 for cell in row) or _is_like(row, head[start + 1 :]):
        return []
    return [start]


def _is_like(row, below):
    """Whether a column holds nothing but codes of one length with digits in them, also in this row."""
    below = [other for other in below if len(other) == len(row)]
    for index, text in enumerate(row):
        codes = [text, *(other[index] for other in below)]
        if len(below) >= 3 and len(text) >= 4 and all(len(code) == len(text) and cells.has_digit(code) for code in codes):
            return True
    return False
