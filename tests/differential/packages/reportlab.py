# files: banklist.csv
import csv
import hashlib

from reportlab.graphics.barcode import code128
from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.shapes import Drawing
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table, TableStyle

with open("banklist.csv", encoding="utf-8") as file:
    rows = [row[:4] for row in list(csv.reader(file))[:60]]
drawing = Drawing(300, 150)
bars = VerticalBarChart()
bars.data, bars.width, bars.height = [[3, 1, 2]], 250, 120
drawing.add(bars)
styles = getSampleStyleSheet()
document = SimpleDocTemplate("report.pdf", pagesize=A4, title="Banks", invariant=1)
table = Table(rows, repeatRows=1, style=TableStyle([("GRID", (0, 0), (-1, -1), 0.3, colors.grey), ("FONTSIZE", (0, 0), (-1, -1), 6)]))
document.build([Paragraph("Failed <b>banks</b>", styles["Title"]), drawing, PageBreak(), table])
content = open("report.pdf", "rb").read()
print(content[:8], document.page, hashlib.sha256(content).hexdigest())
code128.Code128("cellblock").width
