# files: banklist.csv
import csv

from tabulate import tabulate, tabulate_formats

with open("banklist.csv", encoding="utf-8") as file:
    rows = list(csv.reader(file))
for style in ("simple", "github", "grid", "fancy_grid", "html", "latex", "tsv"):
    print(tabulate([row[:4] for row in rows[1:4]], headers=rows[0][:4], tablefmt=style))
print(tabulate({"n": [1.5, 22.25, None], "text": ["é", "日本", ""]}, headers="keys", floatfmt=".3f", missingval="-", showindex=True))
len(tabulate_formats)
