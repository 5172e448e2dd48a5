# Reads xls workbooks with xlrd, which holds a whole sheet in memory: files above a limit are refused. Jailed worker; the file is
# hostile.

import datetime
import io

from . import archives, bounds, sheets, typed

FILE_BYTES_MAX = 16 << 20
ROWS_MAX = 65_536
CELLS_MAX = 250_000
COLUMNS_READ_MAX = 256


def read(data):
    """Sheets with their cells."""
    import xlrd

    if len(data) > FILE_BYTES_MAX:
        raise archives.Refused(f"An xls file above {FILE_BYTES_MAX >> 20} MiB is not looked into.")
    try:
        book = xlrd.open_workbook(file_contents=data, logfile=io.StringIO(), on_demand=True, formatting_info=False, ragged_rows=True)
    except xlrd.XLRDError as error:
        if "encrypt" in str(error).lower() or "password" in str(error).lower():
            raise archives.Refused("The workbook is protected with a password.") from None
        raise archives.Refused(f"The workbook cannot be read: {bounds.cut(str(error), 200)}.") from None
    found, cells_left = [], CELLS_MAX
    for index, name in enumerate(book.sheet_names()):
        sheet = sheets.Sheet(name)
        found.append(sheet)
        if len(found) > bounds.SHEETS_MAX or cells_left <= 0:
            sheet.is_whole = False
            continue
        try:
            cells_left -= _read_sheet(book, index, sheet, cells_left)
        except Exception as error:
            sheet.error, sheet.is_whole = f"The sheet is damaged: {bounds.cut(str(error), 200)}", False
        book.unload_sheet(index)
    return found


def _read_sheet(book, index, sheet, cells_left):
    read = book.sheet_by_index(index)
    sheet.is_hidden, sheet.total, count = read.visibility != 0, read.nrows, 0
    for number in range(min(read.nrows, ROWS_MAX)):
        row = read.row(number)[:COLUMNS_READ_MAX]
        count += len(row)
        if count > cells_left:
            sheet.is_whole = False
            break
        sheet.rows.append([_cell(cell, book.datemode) for cell in row])
    while sheet.rows and not any(sheet.rows[-1]):
        sheet.rows.pop()
    return count


def _cell(cell, date_mode):
    import xlrd

    kind, value = cell.ctype, cell.value
    if kind in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK):
        return typed.EMPTY
    if kind == xlrd.XL_CELL_BOOLEAN:
        return typed.cell_of(bool(value))
    if kind == xlrd.XL_CELL_ERROR:
        return typed.cell_of(xlrd.error_text_from_code.get(value, "#N/A"))
    if kind == xlrd.XL_CELL_DATE:
        try:
            found = xlrd.xldate_as_datetime(value, date_mode)
            return typed.cell_of(found.time() if value < 1 else found, "h" if found.time() != datetime.time() else "")
        except (ValueError, OverflowError, xlrd.xldate.XLDateError):
            return typed.cell_of(value)
    return typed.cell_of(value)
