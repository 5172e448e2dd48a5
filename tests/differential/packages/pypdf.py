# files: banklist.csv
import csv

from pypdf import PdfReader, PdfWriter, Transformation
from reportlab.pdfgen import canvas

with open("banklist.csv", encoding="utf-8") as file:
    rows = list(csv.reader(file))
sheet = canvas.Canvas("made.pdf", invariant=1)
for page in range(3):
    for line, row in enumerate(rows[page * 10 : page * 10 + 10]):
        sheet.drawString(50, 800 - 20 * line, row[0])
    sheet.showPage()
sheet.save()
reader = PdfReader("made.pdf")
print(len(reader.pages), reader.pages[0].mediabox, reader.pages[1].extract_text().splitlines()[:3])
writer = PdfWriter()
for page in reversed(reader.pages):
    writer.add_page(page)
writer.pages[0].rotate(90).add_transformation(Transformation().scale(0.5))
writer.add_metadata({"/Title": "Reversed"})
writer.add_outline_item("first", 0)
writer.encrypt("secret", algorithm="AES-256")
writer.write("reversed.pdf")
locked = PdfReader("reversed.pdf")
print(locked.is_encrypted, locked.decrypt("wrong").name, locked.decrypt("secret").name)
print(locked.metadata.title, locked.pages[0].rotation, [item.title for item in locked.outline])
locked.pages[2].extract_text().splitlines()[0]
