# Numbers as people write them: decimal commas, thousands marks, currencies, percents, brackets for minus. Jailed worker; one cell's
# text at a time, cut before it comes here, so that every pattern is tried on few characters.

import re

CHARACTERS_MAX = 40
PLAIN = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?\Z", re.A)
MARKS = ",.'’ \u00a0\u202f"
_CURRENCY = (r"US\$|CA\$|A\$|R\$|[$€£¥₹₽₩₺₪฿₫₴₦¢]|\b(?:EUR|USD|GBP|CHF|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|RUB|INR|CNY|BRL|MXN|ZAR|KRW|TRY|Fr)\b\.?"
             r"|\b(?:kr|Rs)\b\.?|zł|Kč|Ft\b|руб\.?|円|元")
_SHELL = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+−–])?\s*(?P<before>{_CURRENCY})?\s*(?P<inner>[-+−–])?\s*"
    rf"(?P<body>\d(?:[\d{MARKS}]*\d)?[.,]?|[.,]\d+)(?P<exponent>[eE][-+]?\d{{1,3}})?"
    rf"\s*(?P<after>%|‰|{_CURRENCY})?\s*(?P<late>[-−](?!\d))?(?P<close>\))?\Z", re.A)
_BLANKS = re.compile(r"\s{2,}")
_INFINITE = re.compile(r"[-+]?(?:inf|infinity|∞)\Z", re.I)
_GROUPED = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+\Z|[1-9]\d?(?:{re.escape(mark)}\d{{2}})+{re.escape(mark)}\d{{3}}\Z", re.A) for mark in MARKS}


class Numeral:
    """A text that is a number: `readings` are {decimal mark: (value, thousands mark or "")}, of one or two."""

    __slots__ = ("readings", "percent", "currency", "odd_sign", "has_digits")

    def __init__(self):
        self.readings = {}
        self.percent = self.odd_sign = False
        self.currency = ""
        self.has_digits = True


def read(text):
    """A Numeral, or None when the text is no number."""
    text = _BLANKS.sub(" ", text)  # the patterns try each blank in each place that may have some
    if len(text) > CHARACTERS_MAX:
        return None
    found = _SHELL.match(text)
    if found is None:
        return _infinite(text)
    if (found["open"] is None) != (found["close"] is None) or (found["before"] and found["after"]) and found["after"] not in "%‰":
        return None
    numeral = Numeral()
    body, exponent = found["body"], found["exponent"] or ""
    signs = [mark for mark in (found["sign"], found["inner"], found["late"]) if mark]
    if len(signs) + bool(found["open"]) > 1:
        return None
    negative = bool(found["open"]) or bool(signs) and signs[0] != "+"
    numeral.percent = found["after"] in ("%", "‰")
    numeral.currency = found["before"] or ("" if numeral.percent else found["after"] or "")
    plain_sign = not signs or text[0] == signs[0] and signs[0] in "-+" and text[1:2].isdigit() | (text[1:2] in ".,")
    numeral.odd_sign = bool(found["open"]) or not plain_sign
    for mark in ".,":
        value = _value(body, mark, exponent)
        if value is not None:
            numeral.readings[mark] = (-value[0] if negative else value[0], value[1])
    return numeral if numeral.readings else None


def _infinite(text):
    if not _INFINITE.match(text):
        return None
    numeral = Numeral()
    numeral.has_digits = False
    numeral.readings = dict.fromkeys(".,", (float("-inf") if text[0] == "-" else float("inf"), ""))
    return numeral


def _value(body, decimal, exponent):
    """(number, thousands mark) of digits and marks, if they can be read with this decimal mark."""
    whole, point, fraction = body.partition(decimal)
    if fraction and not fraction.isdigit():
        return None
    mark = ""
    if whole and not whole.isdigit():
        mark = next(character for character in whole if not character.isdigit())
        if not _GROUPED[mark].match(whole):
            return None
        whole = whole.replace(mark, "")
    if not point and not exponent:
        return int(whole), mark
    try:
        return float(f"{whole or 0}.{fraction or 0}{exponent}"), mark
    except (ValueError, OverflowError):
        return None


def evidence(numeral):
    """The decimal mark without which this number cannot be read; None where either would do."""
    if len(numeral.readings) != 1 or not numeral.has_digits:
        return None
    return next(iter(numeral.readings))
