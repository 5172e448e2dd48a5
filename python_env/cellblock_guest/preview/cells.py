# What one cell's text is: missing, a number, a date, a truth value or text. Jailed worker; long texts are not looked into.

import re

from . import dates, numerals

CHARACTERS_MAX = 60
# What pandas takes as missing by itself.
PANDAS_MISSING = frozenset(("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None",
                            "n/a", "nan", "null"))
_ALSO_MISSING = frozenset(("-", "--", "---", "–", "—", ".", "..", "...", "…", "?", "??", "n.a.", "N.A.", "n.a", "N.d.", "n.d.", "N.D.", "k.A.", "k. A.", "s.d.", "missing",
                           "Missing", "MISSING", "(null)", "(blank)", "[null]", "NaT", "NAN", "Null", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "N/D", "n/d",
                           ":", "0000-00-00", "0000-00-00 00:00:00", "n/a.", "\\N"))
# Words that are values among words, and stand for missing among numbers and dates; in small letters.
MISSING_AMONG_NUMBERS = frozenset((
    "na", "nil", "nul", "none", "undefined", "unknown", "unbekannt", "inconnu", "desconocido", "not available", "not applicable", "not known", "not reported", "no data", "no value", "nodata",
    "keine angabe", "ohne angabe", "n.v.", "n.r.", "nd", "leer", "empty", "blank", "void", "vide", "tbd", "tba", "sin dato", "sin datos", "error", "#error", "fehler", "#fehler", "invalid"))
_DIGIT = re.compile(r"[0-9]")
_DURATION = re.compile(r"-?\d{1,4}:[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?\Z", re.A)
_YES = "true yes ja oui si sì sí sim da tak wahr vrai verdadero vero verdadeiro waar on y t"
_NO = "false no nein non não nao net nie falsch faux falso onwaar off n f"
TRUTHS = {word: value for value, words in ((True, _YES), (False, _NO)) for word in words.split()}
_LETTERS = frozenset("ytnf")


def is_missing(text):
    return text in PANDAS_MISSING or text in _ALSO_MISSING or text[0] in "*#" and not text.strip(text[0]) and (text[0] == "*" or len(text) > 3)


class Cell(str):
    """A cell of a workbook: its text, with the value itself and what that is."""

    __slots__ = ("value", "kind", "format")


def family(text):
    """'' for missing, n number, d date or time, b truth value, t text."""
    if type(text) is Cell:
        return text.kind
    text = text.strip()
    if is_missing(text):
        return ""
    if len(text) > CHARACTERS_MAX:
        return "t"
    if not _DIGIT.search(text):
        return "b" if len(text) > 1 and text.lower() in TRUTHS else "n" if numerals.read(text) else "t"
    if numerals.PLAIN.match(text) or numerals.read(text):
        return "n"
    return "d" if dates.read(text) else "t"


def is_duration(text):
    """Hours, minutes and perhaps seconds, also more than a day."""
    return _DURATION.match(text) is not None


def has_digit(text):
    return _DIGIT.search(text) is not None


def are_truths(words):
    """Whether these are a yes and a no (or one of them), in any spelling; single letters only as a pair."""
    lower = {word.lower() for word in words}
    if not lower <= TRUTHS.keys() or len(lower) > 2:
        return False
    return not lower & _LETTERS or len({TRUTHS[word] for word in lower}) == 2
