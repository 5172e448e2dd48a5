# Finds the columns of a table that has no delimiter: each begins at the same character of every line. Jailed worker; the text is
# hostile, and only the lines that dialect.py tries are looked at.

import re

from . import cells

COLUMNS_MAX = 150
PREAMBLE_MAX = 10
_LINES_MAX, _WIDTH_MAX, _CHARACTERS_MAX = 300, 4000, 40_000
_LINES_MIN = 3
_STRAY_SHARE = 0.02  # of lines that may reach into a gap
_FILLED_SHARE, _TYPED_SHARE = 0.5, 0.8
_RULER = re.compile(r"\s*(?:[-=]{2,}\s+)+[-=]{1,}\s*\Z")


def find(text, is_cut):
    """([(start, end)], lines before the first of them), or None. The last column has no end."""
    lines = [line.rstrip() for line in text[:_CHARACTERS_MAX].splitlines()[: _LINES_MAX + 1]]
    is_cut |= len(text) > _CHARACTERS_MAX
    if is_cut and len(lines) > 1:
        lines.pop()
    if "\t" in text or max(map(len, lines), default=0) > _WIDTH_MAX:
        return None
    for skipped in range(min(PREAMBLE_MAX, len(lines)) + 1):
        body = list(filter(None, lines[skipped:]))
        if skipped < len(lines) and lines[skipped] and (spans := _spans(body)):
            return spans, skipped
    return None


def fields(line, spans):
    """The cells of one line; [] of a blank one."""
    line = line.rstrip("\r\n")
    row = [line[start:end].strip(" \t") for start, end in spans]
    return row if any(row) else []


def _spans(lines):
    ruler = next((line for line in lines[1:3] if _RULER.match(line)), None)
    data = [line for line in lines[1:] if line is not ruler]
    if len(data) < (1 if ruler else _LINES_MIN):
        return None
    columns = [found.span() for found in re.finditer(r"[-=]+", ruler)] if ruler else _merged(_runs(lines), lines[0], data)
    if not 2 <= len(columns) <= COLUMNS_MAX:
        return None
    # A number may be longer further down, and then begins earlier; a text ends later.
    starts = [0, *(before[1] if not ruler and _is_typed(data, *after) else after[0] for before, after in zip(columns, columns[1:]))]
    spans = list(zip(starts, [*starts[1:], None]))
    return spans if ruler or _is_table(lines, data, columns, spans) else None


def _runs(lines):
    """Where characters stand below each other without a gap."""
    counts, stray = [0] * max(map(len, lines)), int(_STRAY_SHARE * len(lines))
    for number, line in enumerate(lines):
        for found in re.finditer(r"\S+", line):
            for at in range(*found.span()):
                counts[at] += 1 if number else 1 + stray  # names are no strays
    return [found.span() for found in re.finditer("x+", "".join("x" if count > stray else " " for count in counts))]


def _merged(runs, header, data):
    """Without gaps that are blanks within names, or within values that have one in the same place: there the other has nothing."""
    merged = []
    for start, end in runs:
        is_near = bool(merged) and start - merged[-1][1] == 1
        if is_near and (not any(line[start:end].strip() for line in data) or not any(line[merged[-1][0] : merged[-1][1]].strip() for line in data)
                        or header.strip() and not header[start:end].strip() and not _is_typed(data, start, end)):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def _is_typed(data, start, end):
    values = [value for line in data if (value := line[start:end].strip())]
    return bool(values) and sum(cells.family(value) in ("n", "d", "") for value in values) >= _TYPED_SHARE * len(values)


def _is_table(lines, data, columns, spans):
    """Whether columns are filled, and hold numbers or dates or stand well apart: gaps in a few lines of prose are chance."""
    filled = sum(bool(line[start:end].strip()) for line in data for start, end in spans)
    if filled < _FILLED_SHARE * len(data) * len(spans) or not all(any(line[start:end].strip() for line in data) for start, end in spans):
        return False
    if any(end - start == 1 and {line[start:end] for line in lines} <= {"|", ";", ",", ""} for start, end in columns):
        return False
    typed = sum(_is_typed(data, start, end) for start, end in columns)
    return 4 * typed >= len(columns) or len(lines) > _LINES_MIN and all(after[0] - before[1] > 1 for before, after in zip(columns, columns[1:]))
