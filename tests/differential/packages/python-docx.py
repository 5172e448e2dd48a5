# files: banklist.csv
import csv
import io

import docx
from docx.shared import Inches, Pt
from PIL import Image

document = docx.Document()
document.add_heading("Failed banks", level=1)
document.add_paragraph("From the list, ").add_run("in bold").bold = True
with open("banklist.csv", encoding="utf-8") as file:
    rows = list(csv.reader(file))[:6]
table = document.add_table(rows=0, cols=3, style="Table Grid")
for row in rows:
    for cell, text in zip(table.add_row().cells, row):
        cell.text = text
picture = io.BytesIO()
Image.new("RGB", (40, 20), "teal").save(picture, "PNG")
document.add_picture(picture, width=Inches(1))
document.styles["Normal"].font.size = Pt(11)
document.save("banks.docx")
again = docx.Document("banks.docx")
print([paragraph.text for paragraph in again.paragraphs], [[cell.text for cell in row.cells] for row in again.tables[0].rows])
print(len(again.inline_shapes), again.styles["Normal"].font.size, again.paragraphs[1].runs[1].bold)
again.core_properties.author
