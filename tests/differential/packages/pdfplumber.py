# files: banklist.csv
import csv

import pdfplumber
from reportlab.lib.pagesizes import landscape, A4
from reportlab.platypus import SimpleDocTemplate, Table, TableStyle

with open("banklist.csv", encoding="utf-8") as file:
    rows = [row[:5] for row in list(csv.reader(file))[:12]]
SimpleDocTemplate("table.pdf", pagesize=landscape(A4), invariant=1).build([Table(rows, style=TableStyle([("GRID", (0, 0), (-1, -1), 0.5, "black"), ("FONTSIZE", (0, 0), (-1, -1), 7)]))])
with pdfplumber.open("table.pdf") as document:
    page = document.pages[0]
    print(len(document.pages), page.width, page.height, len(page.chars), len(page.lines), len(page.rects))
    table = page.extract_table()
    print(table == rows, table[:2], page.extract_text().splitlines()[1])
    print(page.crop((0, 0, page.width, page.height / 3)).extract_words()[:3])
    picture = page.to_image(resolution=50)
    picture.draw_rects(page.extract_words()[:5])
    size = picture.annotated.size
size
