# Tables of random shape, content and dialect, as bytes, with what is true of each: what a preview must find, written by one who knows.
# Test code; a seed gives the same table each time.

import csv
import datetime
import io
import random

WORDS = {
    "cp1252": "café naïve Köln São_Paulo Málaga garçon Zoë Ærø smörgås fête".split(),
    "utf-8": "Łódź 東京 naïve Αθήνα Москва café Zürich".split(),
    "utf-16": "東京 café Москва Zürich Αθήνα".split(),
    "ascii": "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split(),
    "big5": "臺北市 高雄市 臺中市 新竹縣 花蓮縣 陳美玲 林志明 景點中文名稱 開放時間".split(),
    "cp1251": "Москва Казань Новосибирск Екатеринбург Самара Владивосток Петербург".split(),
}
DATE_FORMATS = ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%b-%Y", "%Y/%m/%d", "%d-%b-%y", "%b %d, %Y")
MISSING = ("", "NA", "-", "n/a", "?", "NULL", "***", "Null", "#N/A")


class Table:
    """`data` is the file; `types`, `missing`, `leading_zeros` have one entry a column."""

    def __init__(self, seed):
        self.chance = chance = random.Random(seed)
        self.seed = seed
        self.encoding = chance.choice(("ascii", "ascii", "utf-8", "cp1252", "utf-16", "big5", "cp1251"))
        self.words = [word.replace("_", " ") for word in WORDS[self.encoding]]
        self.delimiter = chance.choice(",,,;;\t|")
        self.decimal = chance.choice(".,") if self.delimiter in ";\t" else "."
        self.thousands = chance.choice(("", "", "." if self.decimal == "," else ",", " ", "'"))
        self.newline = chance.choice(("\n", "\n", "\r\n", "\r\n", "\r"))
        self.quoting = chance.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
        self.missing_token = chance.choice(MISSING)
        self.rows = chance.choice((3, 8, 30, 200))
        self.has_header = chance.random() < 0.85
        self.preamble = chance.choice((0, 0, 0, 1, 3)) if self.has_header else 0
        self.footer = chance.choice((0, 0, 0, 1, 2)) if self.rows > 5 else 0
        self.has_comments = chance.random() < 0.2 and self.rows > 5
        self.date_format = chance.choice(DATE_FORMATS)
        kinds = ["integer", "number", "text", *chance.choices(("integer", "number", "text", "date", "code", "boolean", "amount", "percent"), k=chance.randint(1, 6))]
        chance.shuffle(kinds)
        self.columns = [self._column(kind) for kind in kinds]
        self.types = [{"code": "text", "amount": "number", "percent": "number"}.get(kind, kind) for kind in kinds]
        self.leading_zeros = [kind == "code" for kind in kinds]
        self.missing = [sum(cell == self.missing_token for cell in column) for column in self.columns]
        self.names = [f"{chance.choice(self.words)} {number}" for number in range(len(kinds))] if self.has_header else [None] * len(kinds)
        self.data = self._written()

    def _column(self, kind):
        cells = [getattr(self, f"_{kind}")() for _ in range(self.rows)]
        if self.chance.random() < 0.4 and self.rows > 3:
            for _ in range(max(1, self.rows // 10)):
                cells[self.chance.randrange(1, self.rows - 1)] = self.missing_token
        if kind == "code":
            cells[0] = "007"
        if kind == "date":
            cells[0] = datetime.date(2021, 3, 28).strftime(self.date_format)  # day and month can be told apart
        return cells

    def _integer(self):
        value = self.chance.randint(-5_000, 900_000)
        return self._grouped(str(abs(value)), value < 0)

    def _number(self):
        value = self.chance.uniform(-5_000, 50_000)
        whole, fraction = f"{abs(value):.{self.chance.choice((1, 2, 4))}f}".split(".")
        return f"{self._grouped(whole, value < 0)}{self.decimal}{fraction}"

    def _amount(self):
        return self.chance.choice(("$ {}", "{} EUR", "({})")).format(self._number().lstrip("-"))

    def _percent(self):
        return self._number() + "%"

    def _grouped(self, digits, negative):
        if self.thousands:
            digits = f"{int(digits):,}".replace(",", self.thousands)
        return f"-{digits}" if negative else digits

    def _text(self):
        text = " ".join(self.chance.choices(self.words, k=self.chance.randint(1, 3)))
        return self.chance.choice((text, text, text, text + self.delimiter + " etc.", f'say "{text}"', f"{text}\n{text}" if self.newline != "\r" else text))

    def _date(self):
        return (datetime.date(1990, 1, 1) + datetime.timedelta(self.chance.randrange(12_000))).strftime(self.date_format)

    def _code(self):
        return f"{self.chance.randrange(1000):03}"

    def _boolean(self):
        return self.chance.choice(("Yes", "No"))

    def _written(self):
        out = io.StringIO()
        writer = csv.writer(out, delimiter=self.delimiter, quoting=self.quoting, lineterminator=self.newline)
        for number in range(self.preamble):
            out.write(("Report of the department" if number == 0 else "" if number == 1 else "all values as of May") + self.newline)
        if self.has_header:
            writer.writerow(self.names)
        for number, row in enumerate(zip(*self.columns)):
            writer.writerow(row)
            if self.has_comments and number % 7 == 2:
                out.write(("# checked by hand" if number % 2 else "#") + self.newline)
        for number in range(self.footer):
            out.write(("Source: the department of numbers and other things" if number == 0 else "* provisional values of the last year") + self.newline)
        return out.getvalue().encode(self.encoding)

    @property
    def file_encoding(self):
        return "utf-8" if self.encoding == "ascii" else self.encoding
