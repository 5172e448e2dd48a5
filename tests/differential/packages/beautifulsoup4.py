# files: banklist.csv
import csv

from bs4 import BeautifulSoup

with open("banklist.csv", encoding="utf-8") as file:
    table = "".join("<tr>" + "".join(f"<td class=c{i}>{cell.replace('&', '&amp;')}" for i, cell in enumerate(row)) for row in list(csv.reader(file))[:30])
text = f"<html><head><title>Banks &amp; more</title><body><table id=t>{table}</table><p>broken <b>bold <i>both</b> italic</i>"
for parser in ("html.parser", "lxml"):
    soup = BeautifulSoup(text, parser)
    print(parser, soup.title.string, len(soup.select("#t tr")), soup.find("td", class_="c1").get_text(), soup.p.prettify())
    print([cell.text for cell in soup.select("tr:nth-of-type(3) td")], soup.p.b.find_next("i"))
soup.find("table").decompose()
print(str(soup)[:120], BeautifulSoup(b"\xe9t\xe9", "html.parser", from_encoding="latin-1").text)
len(soup.get_text())
