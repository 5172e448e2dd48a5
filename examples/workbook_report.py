"""From one workbook to another: reads a sheet of 1,036 rows, writes a formatted report with a chart that opens in a spreadsheet.

    tools/cellblock run examples/workbook_report.py --file examples/data/surplus_nebraska.xlsx --out out/workbook_report
"""

import matplotlib.pyplot as plt
import pandas as pd
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

items = pd.read_excel("surplus_nebraska.xlsx")
items["ship_date"] = pd.to_datetime(items["ship_date"])
counties = (items.groupby("county").agg(shipments=("nsn", "size"), quantity=("quantity", "sum"), value=("total_cost", "sum"),
                                        latest=("ship_date", "max"))
            .sort_values("value", ascending=False))
print(counties.head(10).to_string())

book = Workbook()
sheet = book.active
sheet.title = "Counties"
headers = ["County", "Shipments", "Items", "Value (USD)", "Latest shipment"]
sheet.append(headers)
for county, row in counties.iterrows():
    sheet.append([county.title(), int(row["shipments"]), int(row["quantity"]), float(row["value"]), row["latest"].to_pydatetime()])
for column, header in enumerate(headers, start=1):
    cell = sheet.cell(row=1, column=column)
    cell.font, cell.fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", fgColor="1F5F8B")
    cell.alignment = Alignment(horizontal="center")
    sheet.column_dimensions[get_column_letter(column)].width = max(14, len(header) + 4)
last = sheet.max_row
for row in range(2, last + 1):
    sheet.cell(row=row, column=4).number_format = "#,##0.00"
    sheet.cell(row=row, column=5).number_format = "d mmm yyyy"
total = last + 1
sheet.cell(row=total, column=1, value="Total").font = Font(bold=True)
for column in "BCD":
    sheet[f"{column}{total}"] = f"=SUM({column}2:{column}{last})"
    sheet[f"{column}{total}"].font = Font(bold=True)
sheet[f"D{total}"].number_format = "#,##0.00"
sheet.freeze_panes = "A2"
sheet.auto_filter.ref = f"A1:E{last}"

chart = BarChart()
chart.title, chart.legend, chart.height, chart.width = "Value by county (top 10)", None, 9, 18
chart.add_data(Reference(sheet, min_col=4, min_row=2, max_row=11))
chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=11))
sheet.add_chart(chart, "G2")
book.save("nebraska_report.xlsx")

# Read it back: a report that nobody can open is no report.
again = pd.read_excel("nebraska_report.xlsx")
assert len(again) == len(counties) + 1 and list(again.columns) == headers

ax = counties["value"].head(15)[::-1].plot.barh(figsize=(9, 5.5), color="#1f5f8b", logx=True)   # one county has most of it
ax.set(title="Nebraska: value by county (USD, log scale)", ylabel="")
ax.spines[["top", "right"]].set_visible(False)
ax.figure.tight_layout()

{"counties": len(counties), "value_usd": round(float(counties["value"].sum()), 2)}
