# files: datasets.xlsx surplus_kansas.csv
import csv
import struct

import xlrd


def record(kind, body):
    return struct.pack("<HH", kind, len(body)) + body


# An old worksheet (BIFF 2, before workbooks): xlrd reads the format, nothing here writes it.
with open("surplus_kansas.csv", encoding="utf-8") as file:
    rows = [(row["county"], float(row["quantity"])) for row in list(csv.DictReader(file))[:20]]
body = record(0x0009, struct.pack("<HH", 2, 0x10)) + record(0x0000, struct.pack("<HHHH", 0, len(rows), 0, 2))
for number, (county, quantity) in enumerate(rows):
    text = county.encode("ascii")
    body += record(0x0004, struct.pack("<HH3sB", number, 0, b"\0\0\0", len(text)) + text) + record(0x0003, struct.pack("<HH3sd", number, 1, b"\0\0\0", quantity))
with open("old.xls", "wb") as file:
    file.write(body + record(0x000A, b""))
sheet = xlrd.open_workbook("old.xls").sheet_by_index(0)
print(sheet.nrows, sheet.ncols, sheet.row_values(0), sheet.col_values(1)[:5], [cell.ctype for cell in sheet.row(1)])
print(xlrd.inspect_format("old.xls"), xlrd.inspect_format("datasets.xlsx"), xlrd.xldate_as_tuple(45000.75, 0), xlrd.xldate_as_datetime(60.5, 1))
try:
    xlrd.open_workbook("datasets.xlsx")
except xlrd.XLRDError as error:
    print(error)
sheet.col_values(0) == [county for county, _ in rows]
