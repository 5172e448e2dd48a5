# files: datasets.xlsx merged_cells.xlsx surplus_nebraska.xlsx
from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font, PatternFill

for name in ("datasets.xlsx", "merged_cells.xlsx", "surplus_nebraska.xlsx"):
    book = load_workbook(name)
    for sheet in book:
        rows = list(sheet.iter_rows(min_row=1, max_row=4, values_only=True))
        print(name, sheet.title, sheet.dimensions, sorted(map(str, sheet.merged_cells.ranges)), rows)
book = Workbook()
sheet = book.active
for row in (["county", "total"], ["Ford", 12.5], ["Finney", 31]):
    sheet.append(row)
sheet["B4"] = "=SUM(B2:B3)"
sheet["A1"].font, sheet["A1"].fill = Font(bold=True), PatternFill("solid", fgColor="DDDDDD")
chart = BarChart()
chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
sheet.add_chart(chart, "D2")
book.save("made.xlsx")
again = load_workbook("made.xlsx").active
print([cell.value for row in again["A1:B4"] for cell in row], again["A1"].font.bold, len(again._charts))
load_workbook("made.xlsx", data_only=True).active["B4"].value
