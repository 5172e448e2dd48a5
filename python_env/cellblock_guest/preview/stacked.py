# Finds a second table below the first one, behind blank rows or with names of its own, so that one column does not hold both. Jailed
# worker; works on rows of texts, as many as stated here.

import re

from . import cells

ROWS_MAX = 50_000  # of the first table
_ABOVE, _BELOW = 20, 10
COLUMNS_MAX = 100
_TRIED_MAX = 100  # rows that may be the other's names
_TITLE_ROWS_MAX = 3  # from a title to the names below it
_NAME_CHARACTERS_MAX = 60
_PAIRS_MAX = 12
REMARK = re.compile(r"\s*(?:[*†‡(]|\[?\d\]|source|note|footnote|quelle|hinweis|anmerkung|stand\b|fuente|nota|fonte|remarque|bron|kilde|källa|źródło|copyright|©|generated|exported"
                     r"|updated|last updated|end of)", re.I)


def find(rows, first, header):
    """(index after the first table, index of the second one's names), or None. first: of the data; header: the first table's, or []."""
    end, is_apart, tried = len(rows), False, 0
    typed = next((index for index, kind in enumerate(_profile(rows[first : first + _ABOVE])) if kind), None)
    for index in range(first + 1, min(end, first + ROWS_MAX)):
        row, names = rows[index], None
        if _is_blank(row):
            is_apart = True
        elif is_apart:
            is_apart, names = False, _names_below_title(rows, index, end)
        elif typed is not None and typed < len(row) and row[typed].strip() and not cells.has_digit(row[typed]):
            names = index
        if names is not None:
            if _is_second(rows, first, index, names, end, header):
                return index, names
            tried += 1
            if tried == _TRIED_MAX:
                return None
    return None


def _is_blank(row):
    return not row or not row[0].strip() and not any(map(str.strip, row[:COLUMNS_MAX]))


def _profile(rows):
    """For each column n or d where nearly all are such, else ''."""
    found = []
    rows = [row[:COLUMNS_MAX] for row in rows if row]
    for column in range(max(map(len, rows), default=0)):
        kinds = [kind for row in rows if column < len(row) and (kind := cells.family(row[column]))]
        common = max(set(kinds), key=kinds.count) if kinds else ""
        found.append(common if common in ("n", "d") and kinds.count(common) >= 0.8 * len(kinds) else "")
    return found


def _width(row):
    return next((index for index in range(min(len(row), COLUMNS_MAX), 0, -1) if row[index - 1].strip()), 0)


def _names_below_title(rows, index, end):
    """The row itself, or the next with several cells when it is a title."""
    for at in range(index, min(end, index + _TITLE_ROWS_MAX)):
        if sum(map(bool, map(str.strip, rows[at][:COLUMNS_MAX]))) > 1:
            return at
    return None


def _is_second(rows, first, start, names, end, header):
    """Whether the row `names` heads other columns than those above `start`."""
    row = rows[names][:COLUMNS_MAX]
    texts = [cell.strip() for cell in row if cell.strip()]
    below = []
    for other in rows[names + 1 : min(end, names + 1 + _BELOW)]:
        if _is_blank(other):
            break
        below.append(other)
    if not below or len(texts) < 2 or len(set(texts)) < len(texts) or max(map(len, texts)) > _NAME_CHARACTERS_MAX or texts[-1].endswith(".") or REMARK.match(texts[0]):
        return False
    if any(row == other[:COLUMNS_MAX] for other in header):
        return start < names  # the same names again, below a title of their own
    above = [other for other in rows[max(first, start - 2 * _ABOVE) : start] if not _is_blank(other)][-_ABOVE:]
    kinds = list(map(cells.family, row))
    if not set(kinds) <= {"t", ""}:
        return False
    pairs = [(kind, expected) for kind, expected in zip(kinds, _profile(above)) if kind and expected]
    width, widths = _width(row), {_width(other) for other in above}
    is_as_wide = all(_width(other) == width for other in below)
    is_other_width = is_as_wide and width not in widths and len({len(other) for other in above}) == 1
    is_apart = start < names or _is_blank(rows[start - 1])
    if is_apart:
        return bool(pairs) or is_other_width
    if any(cell.strip() and cell in other[index : index + 1] for index, cell in enumerate(row) for other in above):
        return False  # labels come again, names do not
    is_other_kind = any(kind and kind != other for kind, other in zip(_profile(above), _profile(below)))
    return len(below) > 1 and is_as_wide and is_other_kind and (len(pairs) > 1 or bool(pairs) and is_other_width)


def are_pairs(rows, second):
    """Whether all these are names and values of other things, as stand before a statement, and the second table's names are more."""
    rows = [row for row in rows if _width(row)]
    return len(rows) <= _PAIRS_MAX and _width(second) > 2 and all(_width(row) <= 2 and cells.family(row[0]) == "t" for row in rows)
