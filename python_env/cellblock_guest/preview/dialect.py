# How a table of text is written: what separates its fields, what quotes them, how a quote within them is written. Jailed worker; the
# text is hostile, and no more of it is tried than stated here.

import csv
import dataclasses
import io
import itertools
import re

from . import cells, fixed_width

TRIED_CHARACTERS = 128 << 10
TRIED_ROWS = 300
TYPED_ROWS = 60
CELLS_MAX = 40_000  # of one trial
DELIMITERS = ",;\t|"
_SELDOM = "^~\x01\x1f:"
WHITESPACE = r"\s+"
_COMMENTS = re.compile(r"(?:#[^\r\n]*(?:\r\n|\r|\n)(?=#))+")
_LATER_COMMENT = re.compile(r"(?<=[\r\n])#[^\r\n\"]*(?:\r\n|\r|\n|\Z)")
_QUOTES_MIN = 4
_PARSED_TWICE_MAX = 1 << 20
_FAIR = 0.5  # a delimiter's score, above which columns are not looked for in other ways
_GOOD = 0.25  # of what is found by content alone in a file that does not say that it is a table


@dataclasses.dataclass
class Dialect:
    delimiter: str = ","
    quote: str = '"'  # "" when quotes are ordinary characters
    doublequote: bool = True
    escape: str = ""
    skip_space: bool = False
    score: float = 0.0
    is_table: bool = True  # more than one column
    spans: tuple = ()  # of fixed-width columns, which have no delimiter
    first_line: int = 0  # of those

    def options(self):
        quoting = csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE
        return {"delimiter": self.delimiter, "quotechar": self.quote or None, "quoting": quoting, "doublequote": self.doublequote,
                "escapechar": self.escape or None, "skipinitialspace": self.skip_space}


def rows_of(text, dialect, count=None, behind=None):
    """(rows, the line of the file on which each starts); a row is a list of texts. behind: a deque for rows after so many."""
    if dialect.spans:
        lines = list(itertools.islice(io.StringIO(text, newline=""), count))
        rows = [fixed_width.fields(line, dialect.spans) if index >= dialect.first_line else line.split("\n")[:1] for index, line in enumerate(lines)]
        return rows, [*range(1, len(lines) + 1)]
    if dialect.delimiter == WHITESPACE:
        lines = list(itertools.islice(io.StringIO(text, newline=""), count))
        quote = dialect.quote or "\n\n"  # which no line has
        return [_words(line) if quote in line else line.split() for line in lines], [*range(1, len(lines) + 1)]
    reader = csv.reader(io.StringIO(text, newline=""), **dialect.options())
    rows, lines, line = [], [], 1
    try:
        for row in reader if count is None else itertools.islice(reader, count):
            rows.append([] if dialect.skip_space and row == [""] else row)  # a line of blanks, which pandas skips then
            lines.append(line)
            line = reader.line_num + 1
        if behind is not None:
            behind.extend(reader)
    except csv.Error:
        pass  # what was read so far is worth showing
    return rows, lines


def _words(line):
    """Fields kept apart by blanks, some of them in quotes, as R writes tables."""
    return next(csv.reader([" ".join(line.split())], delimiter=" "), [])


def quotes_fault(text, dialect):
    """"open" when the text ends within quotes, "stray" when something stands behind closing ones, "" when all is well."""
    if not dialect.quote or dialect.spans or dialect.delimiter == WHITESPACE or len(text) > _PARSED_TWICE_MAX and text.count(dialect.quote) % 2 == 0:
        return ""
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), strict=True, **dialect.options()):
            pass
    except csv.Error as error:
        return "open" if "unexpected end" in str(error) else "stray"
    return ""


def find(text, whole, preferred=""):
    """The likeliest dialect of a text, of which the end may be cut off; the preferred delimiter wins a tie."""
    tried, is_cut = _without_comments(text[:TRIED_CHARACTERS]), len(text) > TRIED_CHARACTERS or not whole
    found = []
    is_one_column = _is_one_column(tried)
    name = next((line for line in tried.splitlines() if line.strip()), "")
    for delimiter in dict.fromkeys(preferred + DELIMITERS + ("" if is_one_column else _SELDOM)):
        if delimiter not in tried or is_one_column and delimiter not in name or _is_punctuation(tried, delimiter, name):
            continue
        for candidate in _with_quotes(tried, delimiter, is_cut):
            candidate.score = _score(tried, is_cut, candidate)
            if delimiter in _SELDOM:
                candidate.score *= 0.6 if delimiter != ":" else 0.3
            if delimiter == preferred:
                candidate.score *= 1.2
            found.append(candidate)
    best = max(found, key=lambda candidate: candidate.score, default=None)
    if (best is None or best.score < _GOOD) and not is_one_column:
        blank = _by_whitespace(tried, is_cut)
        if blank is not None and (best is None or blank.score > best.score):
            best = blank
    if (best is None or best.score < _FAIR) and not is_one_column:
        best = _by_characters(tried, is_cut, best)
    if best is None or best.score < 0.02:
        unused = next((mark for mark in dict.fromkeys((preferred or ",") + ",;\t|\x1f") if mark not in text), "\x1f")
        return Dialect(unused, is_table=False)
    if best.delimiter != WHITESPACE and not best.spans:
        _look_at_spaces(tried, best)
    return best


def _without_comments(text):
    """Without lines of # at the start, but for the last of them, which may name the columns, and without those between rows."""
    found = _COMMENTS.match(text)
    text = text[found.end() :] if found else text
    without = _LATER_COMMENT.sub("", text)
    return without if 2 * len(without) > len(text) else text


def _is_one_column(text):
    """Whether nearly every line as a whole is a number or a date: then blanks and colons in it divide nothing."""
    lines = [line for line in text[:20_000].splitlines()[1:TYPED_ROWS] if line.strip()]
    return bool(lines) and sum(cells.family(line) in ("n", "d") or cells.is_duration(line.strip()) for line in lines) > 0.8 * len(lines)


def _is_punctuation(text, delimiter, name):
    """Whether this only stands in sentences: the first line has none, many lines have none, and a blank follows nearly always."""
    if delimiter in name or delimiter in " \t|":
        return False
    lines = [line for line in text[:20_000].splitlines() if line.strip()]
    without = sum(delimiter not in line for line in lines)
    return without >= 0.3 * len(lines) and text.count(delimiter + " ") >= 0.8 * text.count(delimiter)


def _with_quotes(text, delimiter, is_cut):
    """The ways of quoting that the text gives reason to try."""
    yield Dialect(delimiter)
    if '"' in text:
        if not _are_closed(text, delimiter, is_cut):
            yield Dialect(delimiter, quote="")
        if delimiter + ' "' in text:
            yield Dialect(delimiter, skip_space=True)
        if '\\"' in text:
            yield Dialect(delimiter, doublequote=False, escape="\\")
    edge = re.escape(delimiter)
    if len(re.findall(rf"(?:^|{edge})'[^'\n]*'(?={edge}|\r|\n|\Z)", text[:20_000], re.M)) >= 2:
        yield Dialect(delimiter, quote="'")


def _are_closed(text, delimiter, is_cut):
    """Whether quotes open at the start of fields and close at their end: then what is between them is no matter of taste."""
    edge = re.escape(delimiter)
    opened = len(re.findall(rf'(?:^|{edge}) ?"', text, re.M))
    closed = len(re.findall(rf'"(?={edge}|\r|\n|\Z)', text))
    return opened >= _QUOTES_MIN and abs(opened - closed) <= 0.1 * opened + is_cut


def _score(text, is_cut, dialect):
    """Between 0 and 1: how evenly the text falls into fields, and how much these look like fields."""
    rows, _ = rows_of(text, dialect, TRIED_ROWS + 1)
    if is_cut and len(rows) <= TRIED_ROWS and len(rows) > 1:
        rows.pop()
    rows = [row for row in rows[:TRIED_ROWS] if row and any(cell.strip() for cell in row)]
    widths = [len(row) for row in rows]
    if not rows or max(widths) < 2:
        return 0.0
    counts = {width: widths.count(width) for width in set(widths)} if len(set(widths)) < 50 else {}
    if not counts:
        return 0.01
    width = max(counts, key=lambda width: counts[width] * (1 - 1 / width))
    if width < 2:
        return 0.0
    near = sum(count for other, count in counts.items() if other != width and 2 <= other and abs(other - width) <= max(1, width // 4))
    evenness = (counts[width] + 0.7 * near) / (len(rows) - 0.5 * counts.get(1, 0))  # lines of one field may be remarks
    return evenness**2 * (1 - 1 / width) * (0.25 + 0.75 * _plausibility(rows, dialect))


def _plausibility(rows, dialect):
    """The share of cells that are numbers, dates, empty or text without other delimiters and stray quotes."""
    good = seen = 0
    others = set(DELIMITERS) - {dialect.delimiter}
    for row in rows[:TYPED_ROWS]:
        for cell in row[: max(1, CELLS_MAX // (TYPED_ROWS * max(1, len(rows[0]))), 50)]:
            seen += 1
            cell = cell.strip()
            if not cell or cells.family(cell) in "ndb":
                good += 1
                continue
            if cell[0] == '"' or cell[-1] == '"' and dialect.quote != '"' or (cell[0] == "'") != (cell[-1] == "'"):
                continue
            if len(cell) > 4000 and "\n" in cell:
                continue  # quotes that do not end where they should
            good += 0.9 if not others.intersection(cell) else 0.6 if ", " in cell and not others.intersection(cell.replace(", ", " ")) else 0.2
    return good / seen if seen else 0.0


def _by_whitespace(text, is_cut):
    """Columns kept apart by blanks: each line as many, and mostly numbers."""
    candidate = Dialect(WHITESPACE, quote='"' if '"' in text else "")
    rows, _ = rows_of(text, candidate, TRIED_ROWS + 1)
    rows = [row for row in (rows[:-1] if is_cut else rows) if row]
    if len(rows) < 3:
        return None
    widths = [len(row) for row in (rows[1:] if len(rows[0]) == len(rows[1]) - 1 else rows)]  # R names no column of row names
    width = max(set(widths), key=widths.count)
    typed = [cells.family(cell) for row in rows[1:TYPED_ROWS] if len(row) == width for cell in row[:100]]
    if width < 2 or widths.count(width) < 0.8 * len(widths) or sum(kind in ("n", "d", "") for kind in typed) < 0.5 * len(typed):
        return None
    candidate.score = 0.5 * widths.count(width) / len(widths)
    return candidate


def _by_characters(text, is_cut, best):
    """Columns of fixed width instead of the best that was found, where they divide the lines more evenly."""
    found = fixed_width.find(text, is_cut)
    if not found:
        return best
    candidate = Dialect("", quote="", spans=tuple(found[0]), first_line=found[1])
    candidate.score = _score(text, is_cut, candidate)
    if best is not None and best.delimiter == WHITESPACE:
        return best if _is_even(text, is_cut, best) else candidate
    return candidate if best is None or candidate.score > best.score else best


def _is_even(text, is_cut, dialect):
    """Whether, from the names on, each line has as many words: not where a name has two, or a value lacks."""
    rows = list(filter(None, rows_of(text, dialect, TRIED_ROWS)[0]))[: -1 if is_cut else None]
    width = max(map(len, rows[len(rows) // 2 :]))
    first = next((index + 1 for index in range(len(rows) - 1, -1, -1) if len(rows[index]) != width), 0)
    if first + 1 >= len(rows) or first > fixed_width.PREAMBLE_MAX:
        return False
    are_names = any(cells.family(name) == "t" and cells.family(value) in ("n", "d") for name, value in zip(rows[first], rows[first + 1]))
    return are_names or not first or len(rows[first - 1]) == width - 1 and {cells.family(cell) for cell in rows[first - 1]} == {"t"}


def _look_at_spaces(text, dialect):
    """Whether a blank after the delimiter belongs to the writing and not to the value."""
    rows, _ = rows_of(text, dialect, 200)
    rows = [row for row in rows if len(row) > 1]
    later = [cell for row in rows for cell in row[1:200] if cell.strip()]
    if later and sum(cell[0] == " " for cell in later) > 0.3 * len(later):
        dialect.skip_space = True
    first = next((row for row in rows if any(cell.strip() for cell in row)), None)
    if first and all(cell[:1] == " " for cell in first[1:]):
        dialect.skip_space = True


def quoting_seen(text, dialect):
    """(quote that the text uses or "", whether quotes within fields are doubled)."""
    quote = dialect.quote
    if not quote or dialect.spans or quote not in text:
        return "", False
    edge = r"\s" if dialect.delimiter == WHITESPACE else re.escape(dialect.delimiter)
    mark = re.escape(quote)
    used = re.search(rf"(?:\A|[\r\n]|{edge}) ?{mark}", text[:TRIED_CHARACTERS])
    doubled = dialect.doublequote and re.search(rf"[^{mark}{edge}\r\n]{mark}{mark}|{mark}{mark}[^{mark}{edge}\r\n]", text)
    return (quote if used else ""), bool(used and doubled)
