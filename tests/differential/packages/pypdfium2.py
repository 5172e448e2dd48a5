# files: banklist.csv
import csv
import hashlib

import pypdfium2
from reportlab.pdfgen import canvas

with open("banklist.csv", encoding="utf-8") as file:
    names = [row[0] for row in csv.reader(file)]
sheet = canvas.Canvas("made.pdf", pagesize=(300, 400), invariant=1)
for page in range(2):
    sheet.setFillColorRGB(0.1, 0.4, 0.6)
    sheet.rect(20, 20, 100 + 50 * page, 60, fill=1)
    for line in range(8):
        sheet.drawString(20, 370 - 20 * line, names[page * 8 + line])
    sheet.showPage()
sheet.save()
document = pypdfium2.PdfDocument("made.pdf")
print(len(document), document.get_page_size(0))
for page in document:
    picture = page.render(scale=1.5).to_pil()
    print(picture.size, picture.mode, hashlib.sha256(picture.tobytes()).hexdigest())
text = document[0].get_textpage()
print(text.get_text_bounded().splitlines()[:3], text.search("Bank").get_next())
merged = pypdfium2.PdfDocument.new()
merged.import_pages(document, [1, 0])
merged.save("merged.pdf")
len(pypdfium2.PdfDocument("merged.pdf"))
