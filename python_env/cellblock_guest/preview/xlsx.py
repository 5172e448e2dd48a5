# Reads xlsx workbooks within limits: openpyxl parses the small parts, and the sheets row by row until enough is seen. Jailed worker;
# the file is hostile: parts that unpack to much, one endless row, dimensions that lie.

import functools
import re
import time
import warnings

from . import archives, bounds, sheets, source, typed

PART_BYTES_MAX = 4 << 20  # of a part that is read as a whole
STYLES_BYTES_MAX = 1 << 20
STRINGS_BYTES_MAX = 24 << 20
STRINGS_MAX = 500_000
SHEET_BYTES_MAX = 48 << 20
ROW_BYTES_MAX = 8 << 20  # without the end of a row among them
SCANNED_BYTES_MAX = 128 << 20  # of the whole workbook
SCAN_CPU_SECONDS_MAX = 1.0
MERGES_MAX = 200
ROWS_MAX = 50_000
CELLS_MAX = 200_000  # of the whole workbook
GAP_ROWS_MAX = 1000
COLUMNS_READ_MAX = 2000
ROWS_MIN = 100  # of each sheet, however long that takes
CPU_SECONDS_MAX = 1.2  # then what is read so far must do
STRINGS_CPU_SECONDS_MAX = 0.6
NOT_READ = "[…]"
_NO_MORE_ELEMENTS = 3  # expat's code: the document ends before its last element
_END_OF_ROWS = re.compile(rb"</(?:\w{1,20}:)?sheetData\s*>")
_EDGE_BYTES = 40
_MERGE = re.compile(rb"<(?:\w+:)?mergeCell\b[^>]{0,200}?\bref=\"([A-Z0-9:]{4,24})\"")
_DIMENSION = re.compile(rb"<(?:\w+:)?dimension\b[^>]{0,200}?\bref=\"[A-Z]{1,3}\d{1,7}:[A-Z]{1,3}(\d{1,7})\"")


class _Strings(list):
    """Shared strings; those beyond the limit are not there."""

    def __getitem__(self, index):
        return list.__getitem__(self, index) if 0 <= index < len(self) else NOT_READ


class _Rows:
    """A sheet's XML for the parser, up to the end of its rows (what stands behind them can take long, and is not used): ends earlier after
    a limit, and when no row has ended for too long."""

    def __init__(self, stream, limit):
        self._stream, self._since, self._before = source.Bounded(stream, limit), 0, b""
        self.is_at_end = False

    def read(self, count=-1):
        if self.is_at_end or self._since > ROW_BYTES_MAX:
            return b""
        data = self._stream.read(count)
        edge = self._before + data
        end = _END_OF_ROWS.search(edge)
        if end:
            self.is_at_end = True
            return edge[len(self._before) : end.end()]
        self._since = 0 if b"row>" in edge else self._since + len(data)
        self._before = edge[-_EDGE_BYTES:]
        return data


def read(archive, answer):
    """Sheets with their cells; [] and a reason in the answer when the workbook cannot be read."""
    from openpyxl.reader.excel import ExcelReader

    too_large = [info.filename for info in archive.infolist() if _is_read_whole(info.filename) and info.file_size > PART_BYTES_MAX]
    if too_large:
        raise archives.Refused(f"The part {too_large[0][:100]!r} of the workbook is too large to be read.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = ExcelReader(archive.fp, read_only=True, data_only=True, keep_links=False)
        reader.read_manifest()
        reader.read_workbook()
        _read_styles(reader, answer)
        strings = _read_strings(reader, answer)
        return _read_sheets(reader, strings, time.process_time() + CPU_SECONDS_MAX)


def _is_read_whole(name):
    return name.endswith((".rels", "workbook.xml", "[Content_Types].xml"))


def _read_styles(reader, answer):
    """Without them dates are numbers."""
    from openpyxl.styles.stylesheet import apply_stylesheet

    if archives.size_of(reader.archive, "xl/styles.xml") > STYLES_BYTES_MAX:
        bounds.add_note(answer, "The workbook's styles are too large to be read: dates are shown as numbers.")
        return
    try:
        apply_stylesheet(reader.archive, reader.wb)
    except Exception as error:
        bounds.add_note(answer, f"The workbook's styles cannot be read ({type(error).__name__}): dates may be shown as numbers.")


def _read_strings(reader, answer):
    from openpyxl.cell.text import Text
    from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    part, strings = reader.package.find(SHARED_STRINGS), _Strings()
    if part is None or part.PartName[1:] not in reader.valid_files:
        return strings
    deadline = time.process_time() + STRINGS_CPU_SECONDS_MAX
    with reader.archive.open(part.PartName[1:]) as stream:
        bounded = source.Bounded(stream, STRINGS_BYTES_MAX)
        try:
            for _, node in iterparse(bounded):
                if node.tag == f"{{{SHEET_MAIN_NS}}}si":
                    strings.append(bounds.cut(Text.from_tree(node).content, typed.CELL_TEXT_MAX))
                    node.clear()
                    if len(strings) >= STRINGS_MAX or time.process_time() > deadline:
                        bounded.was_cut = True
                        break
        except Exception as error:
            if not bounded.was_cut:
                bounds.add_note(answer, f"The workbook's texts are damaged: {bounds.cut(str(error), 100)}.")
    if bounded.was_cut:
        bounds.add_note(answer, f"The workbook has too many texts: some are shown as {NOT_READ}.")
    return strings


def _read_sheets(reader, strings, deadline):
    found, cells_left, scan = [], CELLS_MAX, _Scan()
    for entry, relation in reader.parser.find_sheets():
        sheet = sheets.Sheet(entry.name or "")
        sheet.is_hidden = entry.state in ("hidden", "veryHidden")
        if "chartsheet" in relation.Type:
            continue
        found.append(sheet)
        if len(found) > bounds.SHEETS_MAX:
            continue
        if relation.target not in reader.valid_files:
            sheet.error = "The sheet's part is missing in the file."
            continue
        try:
            cells_left -= _read_sheet(reader, relation.target, strings, sheet, max(2000, cells_left), deadline, scan)
        except Exception as error:
            sheet.error, sheet.is_whole = f"The sheet is damaged: {bounds.cut(str(error), 200)}", False
    return found


def _read_sheet(reader, target, strings, sheet, cells_left, deadline, scan):
    """The number of cells read."""
    from openpyxl.worksheet._reader import WorkSheetParser

    workbook, count = reader.wb, 0
    with reader.archive.open(target) as stream:  # what the sheet says of itself may be wrong, and is told as an estimate
        found = _DIMENSION.search(stream.read(4096))
        sheet.total = int(found[1]) if found else None
    format_of = _formats(workbook)
    with reader.archive.open(target) as stream:
        rows = _Rows(stream, SHEET_BYTES_MAX)
        parser = WorkSheetParser(rows, strings, data_only=True, epoch=workbook.epoch, date_formats=workbook._date_formats, timedelta_formats=workbook._timedelta_formats)
        try:
            for number, row in parser.parse():
                count += len(row)
                if not _add_row(sheet, number, row, format_of):
                    break
                if len(sheet.rows) >= ROWS_MAX or count >= cells_left or time.process_time() > deadline and len(sheet.rows) >= ROWS_MIN:
                    sheet.is_whole = False
                    break
        except Exception as error:
            if not (rows.is_at_end and getattr(error, "code", None) == _NO_MORE_ELEMENTS):
                sheet.is_whole = False
                if not sheet.rows:
                    raise
    while sheet.rows and not any(sheet.rows[-1]):
        sheet.rows.pop()
    sheet.merged, counted, sheet.formulas = scan.look(reader.archive, target)
    sheet.total = counted or sheet.total
    return count


def _add_row(sheet, number, row, format_of):
    """False when the row stands too far below the others: what follows is not read."""
    if number - 1 > len(sheet.rows) + GAP_ROWS_MAX:
        if any(cell["value"] is not None for cell in row):
            sheet.is_whole = False
        return False
    while len(sheet.rows) < number - 1:
        sheet.rows.append([])
    values = []
    for cell in row:
        if cell["column"] > COLUMNS_READ_MAX or cell["column"] <= len(values):
            continue
        while len(values) < cell["column"] - 1:
            values.append(typed.EMPTY)
        values.append(typed.EMPTY if cell["value"] is None else typed.cell_of(cell["value"], format_of(cell["style_id"])))
    sheet.rows.append(values)
    return True


def _formats(workbook):
    """A function that gives a style's number format."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS, BUILTIN_FORMATS_MAX_SIZE

    @functools.cache
    def find(style):
        try:
            number = workbook._cell_styles[style].numFmtId
            return BUILTIN_FORMATS.get(number, "") if number < BUILTIN_FORMATS_MAX_SIZE else workbook._number_formats[number - BUILTIN_FORMATS_MAX_SIZE][:100]
        except (IndexError, AttributeError):
            return ""

    return find


class _Scan:
    """Searches the XML of sheets as bytes, which is far faster than parsing it; within bounds for the whole workbook."""

    def __init__(self):
        self._left, self._seconds = SCANNED_BYTES_MAX, SCAN_CPU_SECONDS_MAX

    def look(self, archive, target):
        """(references of merged cells, number of rows or None when it was not read to its end, number of formulas)"""
        found, rows, formulas, edge, began = [], 0, 0, b"", time.process_time()
        is_whole = False
        with archive.open(target) as stream:
            while self._left > 0 and time.process_time() - began < self._seconds:
                data = stream.read(1 << 18)
                if not data:
                    is_whole = True
                    break
                self._left -= len(data)
                whole = edge[-4:] + data
                rows += whole.count(b"<row ") + whole.count(b"<row>")
                formulas += (edge[-2:] + data).count(b"<f>") + (edge[-2:] + data).count(b"<f ")
                if len(found) < MERGES_MAX:
                    found += [match[1].decode() for match in _MERGE.finditer(edge + data)]
                edge = data[-300:]
        self._seconds -= time.process_time() - began
        return list(dict.fromkeys(found))[:MERGES_MAX], rows if is_whole else None, formulas
