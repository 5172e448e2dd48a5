# files: banklist.csv
from IPython.core.formatters import PlainTextFormatter
from IPython.core.inputtransformer2 import TransformerManager
from IPython.display import HTML, JSON, Latex, Markdown, SVG, Image
from IPython.lib.pretty import pretty
from IPython.utils.text import DollarFormatter, indent

with open("banklist.csv", encoding="utf-8") as file:
    header = file.readline().strip().split(",")
print(indent("\n".join(header), 2), DollarFormatter().format("$x and {y}", x=1, y=2), pretty({"header": header, "nested": {"a": list(range(40)), "b": {1, 2}}}), sep="\n")
print(TransformerManager().transform_cell("x = !ls\n%time 1+1\nint?\n"))
for shown in (HTML("<b>1</b>"), Markdown("*m*"), Latex("$x$"), JSON({"a": [1]}), SVG("<svg xmlns='http://www.w3.org/2000/svg'/>")):
    print(type(shown).__name__, repr(shown.data)[:80])
print(Image(b"\x89PNG\r\n\x1a\n" + b"\0" * 24).format, PlainTextFormatter()(list(range(30))))
header
