# Describes one sheet of a workbook from its cells' values: header, rows, columns, first rows, and the code that reads it. Jailed
# worker; the cells come from a hostile file, as many as xlsx.py and xls.py let through.

import re

from . import bounds, cells, layout as layouts, read_with, table_answer, typed



class Sheet:
    """What was read of one: rows from the first on, as lists of Cells. total: the last row, by what the file says."""

    def __init__(self, name):
        self.name = name
        self.rows, self.merged, self.total, self.formulas = [], [], None, 0
        self.is_whole, self.is_hidden, self.error = True, False, ""
        self.width = 0


def describe(sheet, path, rows_shown, is_first):
    answer = {"name": bounds.cut(sheet.name, bounds.NAME_CHARACTERS_MAX)}
    if sheet.is_hidden:
        answer["hidden"] = True
    if sheet.error:
        answer["error"] = sheet.error
    spans = [(first, last) for first, last in map(_rows_of_range, sheet.merged) if last > first]
    layout = layouts.find(sheet.rows, merged=spans)
    header = [sheet.rows[index] for index in layout.header]
    data = sheet.rows[layout.first : layout.end]
    width = max((layouts.filled(row) and _width(row) for row in [*header, *data]), default=0)
    described = min(width, bounds.COLUMNS_MAX)
    names = layouts.names(header, width)
    labels = layouts.labels([name or "" for name in names])
    is_whole = sheet.is_whole or layout.second is not None
    answer["rows"] = len(data) if is_whole else None
    if not is_whole and sheet.total:
        answer["rows_estimate"] = max(len(data), sheet.total - layout.first)
    answer["rows_read"] = len(data)
    answer["sampled"] = not is_whole
    if layout.second is not None:
        bounds.add_note(answer, table_answer.second_table(f"row {layout.second + 1}", sheet.rows[layout.second], layout.second))
    answer["header_row"] = layout.header[0] + 1 if layout.header else None
    if len(layout.header) > 1:
        answer["header_rows"] = [index + 1 for index in layout.header]
    answer["skipped_rows"] = layout.header[0] if layout.header else layout.first
    answer["footer_rows"] = layout.footer
    all_facts = [typed.Column(names[position], position, [row[position] if position < len(row) else typed.EMPTY for row in data]) for position in range(described)]
    answer["columns"] = [column.describe(labels[column.position]) for column in all_facts]
    if width > described:
        answer["column_count"] = width
    answer["first_rows"] = [[bounds.cut(str(cell)) for cell in (row + [typed.EMPTY] * (described - len(row)))[:described]] for row in data[:rows_shown]]
    answer["merged_cells"] = sheet.merged
    if sheet.formulas:
        answer["formulas"] = sheet.formulas
    answer["read_with"] = _code(sheet, path, layout, all_facts, labels, width, is_first) if width else None
    return answer


def _width(row):
    width = len(row)
    while width and not row[width - 1]:
        width -= 1
    return width


def _rows_of_range(reference):
    numbers = [int(number) - 1 for number in re.findall(r"\d{1,7}", reference)]
    return (numbers[0], numbers[-1]) if numbers else (0, 0)


def _code(sheet, path, layout, all_facts, labels, width, is_first):
    arguments = {} if is_first else {"sheet_name": read_with.quoted(sheet.name)}
    by_position = not layout.header
    skip = layout.header[0] if layout.header else layout.first
    if len(layout.header) > 1 or layout.header and layout.first > layout.header[0] + 1 and layout.end > layout.first:
        names = read_with.flat_names(labels, width)
        if names:
            arguments.update(header="None", skiprows=str(layout.first), names=names)
        else:
            rows = [index - skip for index in layout.header]
            arguments.update({**({"skiprows": str(skip)} if skip else {}), "header": str(rows)})
            by_position = True
    else:
        arguments.update({"skiprows": str(skip)} if skip else {})
        if not layout.header:
            arguments["header"] = "None"
    if sheet.is_whole and layout.footer or layout.second is not None:
        arguments["nrows"] = str(layout.end - layout.first)
    naming = read_with.Columns(all_facts, labels, by_position)
    tokens = list(dict.fromkeys(token for column in all_facts for token in column.spellings if token not in cells.PANDAS_MISSING))[:20]
    if tokens:
        arguments["na_values"] = read_with.listed(map(read_with.quoted, tokens))
    types = {naming.name(column): column.dtype for column in all_facts if column.dtype}
    if types:
        arguments["dtype"] = read_with.mapped(types)
    return read_with.call("read_excel", path, arguments)
