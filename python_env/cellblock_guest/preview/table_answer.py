# Describes a table of text that tables.py read: header, rows, columns, the code that reads it, and what is unusual. Jailed worker; the
# text is hostile.

import collections
import itertools

from . import bounds, columns, decoding, dialect as dialects, facts as facts_of, habits as habits_of, layout as layouts, read_with, source, tables

LABELS_MAX = 2000
COLUMN_VALUES_MIN = 500


def describe(sample, encoding, path, rows_shown, table, answer):
    """The table's part of the answer; the file's part is __init__'s."""
    answer["kind"] = "csv"
    table.layout = layouts.find(table.rows, table.tail)
    if table.layout.second is not None:  # then what is behind it is not of this table
        table.middle, table.tail, table.unread, table.is_whole = [], [], 0, True
    tail_end, footer = len(table.tail), 0
    if table.tail:
        tail_layout = layouts.find(table.tail)
        tail_end, footer = tail_layout.end, tail_layout.footer
    after = len([row for row in table.tail[tail_end:] if not tables.is_blank(row)])
    table.tail = table.tail[:tail_end]
    shape = _Shape(table)
    _dialect_fields(answer, table, decoding.text(sample.head[: dialects.TRIED_CHARACTERS], encoding, True))
    _layout_fields(answer, table, footer)
    all_facts, found = _columns(answer, table, shape)
    answer["thousands"] = found.thousands or next((facts.thousands for facts in all_facts if facts.thousands), None)
    answer["decimal"] = found.decimal or ("," if answer["thousands"] == "." else ".")
    _row_fields(answer, sample, encoding, table, rows_shown, shape, after)
    answer["read_with"] = _code(answer, path, encoding, table, shape, all_facts, after)
    _notes(answer, table, shape, found)
    return answer


class _Shape:
    """How wide the table is, and which rows are wider or narrower."""

    def __init__(self, table):
        header = table.header()
        data = table.data()
        self.has_row_names = _has_row_names(table, header, data)
        if self.has_row_names:
            header = [["", *header[0]]]
        self.repeated = data.count(header[0]) if len(header) == 1 and len(data) > 1 else 0
        if self.repeated:
            data = [row for row in data if row != header[0]]
        self.data, self.bad_lines = data, 0
        self.header_width = max((len(row) for row in header), default=0)
        counts = collections.Counter(map(len, data))
        widest = max(counts, default=0)
        self.usual = counts.most_common(1)[0][0] if counts else self.header_width
        expected = self.header_width or self.usual
        if table.middle and widest > max(expected, max(map(len, table.rows))):
            self._leave_out_bad_lines(max(map(len, table.rows)))
            widest = max(map(len, self.data), default=0)
        data = self.data
        self.longer = [row for row in data if len(row) > expected] if widest > expected else []
        needed = max((_needed_width(row) for row in self.longer), default=0)
        self.extra_is_empty = bool(self.longer) and needed <= expected
        self.width = max(expected, needed)
        self.shorter = sum(count for width, count in counts.items() if width < expected)
        self.described = min(self.width, bounds.COLUMNS_MAX)
        self.names = layouts.names(header, self.width)
        self.labels = layouts.labels([name or "" for name in self.names[:LABELS_MAX]])
        if header and self.width > self.header_width:
            for index in range(self.header_width, len(self.labels)):
                self.labels[index] = f"column_{index}"


    def _leave_out_bad_lines(self, width):
        """Rows from the middle of a large file that are wider than all at its start: more often damage than columns."""
        kept = [row for row in self.data if len(row) <= width]
        self.bad_lines, self.data = len(self.data) - len(kept), kept


def _has_row_names(table, header, data):
    """Every row has one field more than the header: as R writes tables with blanks between, the first is the row's name."""
    return table.dialect.delimiter == dialects.WHITESPACE and len(header) == 1 and bool(data) and all(len(row) == len(header[0]) + 1 for row in data)


def _needed_width(row):
    width = len(row)
    while width and not row[width - 1].strip():
        width -= 1
    return width


def _dialect_fields(answer, table, text):
    dialect = table.dialect
    quote, doubled = dialects.quoting_seen(text, dialect)
    answer["delimiter"] = dialect.delimiter or None if dialect.is_table else None
    if dialect.spans:
        answer["colspecs"] = [list(span) for span in dialect.spans]
        bounds.add_note(answer, "Columns of fixed width, without a delimiter.")
    answer["quote"] = quote or None
    answer["doublequote"] = doubled
    if dialect.escape:
        answer["escape"] = dialect.escape


def _layout_fields(answer, table, footer):
    layout = table.layout
    answer["header_row"] = table.lines[layout.header[0]] if layout.header else None
    if len(layout.header) > 1:
        answer["header_rows"] = [table.lines[index] for index in layout.header]
    answer["skipped_rows"] = layout.header[0] if layout.header else layout.first
    answer["footer_rows"] = footer or layout.footer
    if layout.labels:
        said = ", ".join(str(table.lines[index]) for index in layout.labels)
        several = len(layout.labels) > 1
        bounds.add_note(answer, f"Line{'s' * several} {said}, above the header, describe{'s' * (not several)} the columns, too.")


def _columns(answer, table, shape):
    data, all_facts = shape.data, []
    room = facts_of.VALUES_MAX
    for position in range(shape.described):
        limit = max(COLUMN_VALUES_MIN, min(facts_of.COLUMN_VALUES_MAX, room // max(1, shape.described - position)))
        cells_of_column = [row[position] if position < len(row) else None for row in data]
        facts = facts_of.gather(cells_of_column, shape.names[position], position, limit)
        room = max(0, room - min(limit, len(facts.values)))
        all_facts.append(facts)
    found = habits_of.find(all_facts, table.dialect.delimiter)
    answer["columns"] = [columns.describe(facts, found) for facts in all_facts]
    _note_labels(answer["columns"], shape)
    if shape.width > shape.described:
        answer["column_count"] = shape.width
        bounds.add_note(answer, f"The first {shape.described:,} of {shape.width:,} columns are described.")
    return all_facts, found


def _note_labels(described, shape):
    """Where pandas' label is another than the name."""
    for column, label, name in zip(described, shape.labels, shape.names):
        if name is not None and label != name:
            column["label"] = bounds.cut(label, bounds.NAME_CHARACTERS_MAX)
            why = "No name in the header" if not name else "A name that is there more than once"
            column["note"] = f"{why}: read_with calls it {bounds.cut(label, 80)!r}. {column.get('note', '')}".rstrip()


def _row_fields(answer, sample, encoding, table, rows_shown, shape, after):
    answer["rows_read"] = len(shape.data)
    answer["rows"] = len(shape.data) + table.unread if sample.whole or table.is_whole else None
    answer["sampled"] = not table.is_whole
    if sample.whole and not table.is_whole:
        bounds.add_note(answer, f"All rows were counted; missing, distinct, min, max and top are those of the first {len(table.rows):,} and the last {len(table.tail):,}.")
    elif not table.is_whole:
        _estimate(answer, sample, encoding, table, shape, after)
    rows = itertools.islice(table.rows, table.layout.first, table.layout.end)
    first = list(itertools.islice((row for row in rows if not tables.is_blank(row)), rows_shown))
    answer["first_rows"] = [[bounds.cut(cell) for cell in (row + [""] * (shape.described - len(row)))[: shape.described]] for row in first]


def _estimate(answer, sample, encoding, table, shape, after):
    """after: lines that stand behind the data."""
    if sample.compression:
        bounds.add_note(answer, f"Only the first {len(sample.head):,} bytes of what the file unpacks to were read; the number of rows is not known.")
        return
    read = len(sample.head) + sum(len(data) for _, data in sample.chunks) + len(sample.tail)
    parts = f"Only {read:,} of {sample.total:,} bytes were read (the start, the end and {len(sample.chunks)} parts between)" if sample.tail else (
        f"Only the first {read:,} of {sample.total:,} bytes were read")
    counted = None
    if encoding.unit == 1 and answer.get("newline") in ("\n", "\r\n") and table.layout.first < len(table.lines):
        lines_before = table.lines[table.layout.first] - 1
        counted = source.count_lines(sample.file, len(b"\n".join(sample.head.split(b"\n", lines_before)[:lines_before])) + bool(lines_before))
    if counted is not None:
        answer["rows"] = max(len(shape.data), counted - after)
        bounds.add_note(answer, f"{parts}: missing, distinct, min, max and top are those of what was read; rows is the number of lines.")
        return
    if sample.tail and shape.data:
        count = len([row for row in table.rows if row]) + len(table.middle) + len(table.tail)
        answer["rows_estimate"] = max(len(shape.data), round(sample.total * count / read) - table.layout.first)
    estimate = "rows_estimate is an estimate, and " if "rows_estimate" in answer else ""
    bounds.add_note(answer, f"{parts}: {estimate}missing, distinct, min, max and top are those of what was read.")


def _code(answer, path, encoding, table, shape, all_facts, after):
    arguments = read_with.dialect_arguments(table.dialect, answer["skipped_rows"])
    if encoding.name != "utf-8":
        arguments["encoding"] = read_with.quoted(encoding.name)
    if encoding.broken:
        arguments["encoding_errors"] = '"replace"'
    arguments.update(read_with.compression_argument(path, answer.get("compression")))
    by_position = _header_arguments(arguments, answer, table, shape)
    naming = read_with.Columns(all_facts, shape.labels, by_position)
    of_columns = naming.arguments(table.dialect.skip_space)
    _rows_arguments(arguments, answer, table, shape, of_columns)
    arguments.update(of_columns)
    line = read_with.call("read_fwf" if table.dialect.spans else "read_csv", path, arguments) + (f".iloc[:-{after}]" if after and not table.is_whole else "")
    has_tuples = arguments.get("header", "").startswith("[")
    return line + ("" if has_tuples else naming.cleaning())


def _header_arguments(arguments, answer, table, shape):
    """skiprows, header and names; whether columns can only be named by their position then."""
    layout, skip = table.layout, answer["skipped_rows"]
    skips = {"skiprows": str(skip)} if skip else {}
    if not layout.header:
        arguments.update(skips, header="None")
        if shape.longer and not shape.extra_is_empty or any(len(row) < shape.width for row in shape.data[:1]):
            arguments["names"] = f"range({shape.width})"
        return True
    if len(layout.header) == 1 and shape.width == shape.header_width and not shape.has_row_names:
        arguments.update(skips)
        if layout.first > layout.header[0] + 1:
            arguments["skiprows"] = str([*range(skip), *range(layout.header[0] + 1, layout.first)])
        return False
    if shape.width > shape.header_width or shape.has_row_names:
        names = read_with.names_argument(shape.labels, shape.width)
    else:
        names = read_with.flat_names(shape.labels, shape.width)
    if names:
        arguments.update(header="None", skiprows=str(layout.first), names=names)
        return names.startswith("range")
    arguments.update(skips, header=str(list(range(len(layout.header)))))
    return True


def _rows_arguments(arguments, answer, table, shape, of_columns):
    """What keeps rows out that are no data, and has those read that are longer than the header."""
    layout, skip = table.layout, answer["skipped_rows"]
    if shape.longer and max(map(len, shape.longer)) > shape.width:
        arguments["usecols"] = f"range({shape.width})"
    if shape.bad_lines:
        arguments["on_bad_lines"] = '"warn"'
    left_out = [index for index in range(layout.first, layout.end) if table.rows[index] == table.header()[0]] if shape.repeated and table.is_whole else []
    if table.comments and (table.has_marks or any(row[0].lstrip().startswith("#") for row in table.header()[:1])):
        left_out = sorted({*left_out, *(index for index in table.comments if index < layout.end or layout.second is None)})
    elif table.comments:
        arguments["comment"] = '"#"'
    if left_out and len(left_out) <= 2 * tables.LEFT_OUT_MAX:
        before = range(layout.first) if arguments.get("header") == "None" else [*range(skip), *range(layout.header[-1] + 1, layout.first)]
        arguments["skiprows"] = str([*before, *left_out])
    if answer.get("newline") == "\r" and not table.dialect.spans and "engine" not in {**arguments, **of_columns}:
        arguments["lineterminator"] = '"\\r"'  # else pandas joins rows where a line is empty or begins with a blank
    if table.is_whole and (table.is_open_ended or table.has_end_mark or not all(map(tables.is_blank, table.rows[layout.end :]))):
        arguments["nrows"] = str(len(shape.data))
        if table.is_open_ended and not shape.data:
            arguments["quoting"] = "3"  # pandas looks at the row behind the header all the same


def _notes(answer, table, shape, found):
    layout, count_of = table.layout, bounds.count_of
    if not layout.header and shape.data:
        bounds.add_note(answer, f"No header: pandas names the columns 0 to {shape.width - 1}.")
    if answer["skipped_rows"]:
        bounds.add_note(answer, f"The table begins after {count_of(answer['skipped_rows'], 'line')} of other text.")
    if table.comments:
        bounds.add_note(answer, f"{count_of(len(table.comments), 'line')} of comment, with # before it, among the rows: left out.")
    if layout.second is not None:
        bounds.add_note(answer, second_table(f"line {table.lines[layout.second]}", table.rows[layout.second], layout.second))
    if answer["footer_rows"]:
        bounds.add_note(answer, f"After the data: {count_of(answer['footer_rows'], 'line')} of remarks or totals.")
    if shape.longer:
        what, beyond = "empty" if shape.extra_is_empty else "more", f"{shape.header_width} of the header" if shape.header_width else f"{shape.usual} usual"
        bounds.add_note(answer, f"{count_of(len(shape.longer), 'row')} with {what} fields beyond the {beyond}.")
    if shape.has_row_names:
        bounds.add_note(answer, "The first column has no name in the header: the names of the rows.")
    if shape.bad_lines:
        bounds.add_note(answer, f"{count_of(shape.bad_lines, 'row')} of those read from the middle have more fields than the header: pandas warns of such rows and leaves them out.")
    if shape.shorter:
        bounds.add_note(answer, f"{count_of(shape.shorter, 'row')} with fewer fields than there are columns: what lacks counts as missing.")
    if table.is_open_ended:
        bounds.add_note(answer, "The file ends within quotes: its last row is incomplete and left out.")
    if shape.repeated:
        bounds.add_note(answer, f"The header stands {count_of(shape.repeated, 'more time')} among the data.")
    if _is_index(answer["columns"][:1], shape.names[:1]):
        bounds.add_note(answer, "The first column numbers the rows, as pandas writes its index: index_col=0 makes it the index again.")
    if shape.data and layouts.is_total(shape.data[-1]):
        bounds.add_note(answer, f"The last row looks like a total: {bounds.cut(next(filter(None, map(str.strip, shape.data[-1])), ''), 60)!r}.")
    if not found.is_decimal_sure:
        bounds.add_note(answer, f"Whether numbers such as 1{answer['thousands'] or answer['decimal']}234 have thousands or decimals cannot be told from the values.")


def second_table(where, names, skip):
    named = ", ".join(bounds.cut(name.strip(), 40) for name in names[:6] if name.strip())
    return f"A second table seems to begin in {where} ({named}). Only the first is described here; skiprows={skip} reads from the second on."


def _is_index(columns_at_start, names):
    first = columns_at_start[0] if names == [""] else {}
    if first.get("type") != "integer" or first["missing"] or first.get("min") not in (0, 1) or first["distinct"] < 2:
        return False
    return first["max"] - first["min"] + 1 == first["distinct"]
