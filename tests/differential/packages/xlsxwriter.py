# files: seattle_weather.csv
import csv
import hashlib
import io
import zipfile
from datetime import datetime

import xlsxwriter

buffer = io.BytesIO()
book = xlsxwriter.Workbook(buffer, {"in_memory": True})
book.set_properties({"title": "Weather", "created": datetime(2024, 1, 1)})
sheet = book.add_worksheet("Seattle")
bold, degrees = book.add_format({"bold": True}), book.add_format({"num_format": "0.0"})
with open("seattle_weather.csv", encoding="utf-8") as file:
    for number, row in enumerate(csv.reader(file)):
        if number == 0:
            sheet.write_row(0, 0, row, bold)
        else:
            sheet.write_datetime(number, 0, datetime.fromisoformat(row[0]), book.add_format({"num_format": "yyyy-mm-dd"}) if number == 1 else None)
            for column in range(1, 5):
                sheet.write_number(number, column, float(row[column]), degrees)
chart = book.add_chart({"type": "line"})
chart.add_series({"values": "=Seattle!$C$2:$C$100", "name": "high"})
sheet.insert_chart("H2", chart)
sheet.conditional_format("C2:C100", {"type": "3_color_scale"})
book.close()
with zipfile.ZipFile(io.BytesIO(buffer.getvalue())) as archive:
    for name in archive.namelist():
        print(name, hashlib.sha256(archive.read(name)).hexdigest()[:16])
