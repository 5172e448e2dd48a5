# Describes a column of numbers: decimal and thousands marks, range, values that stand for missing, and spellings that pandas does not
# read as numbers. Jailed worker; works on facts that were gathered within limits.

import collections
import re

from . import bounds, habits as habits_of, numerals

_NINES = re.compile(r"-?(?:9{2,}|9+[.,]9+|0?[.,]9{2,}|9{3,}[.,]0+)\Z|-0\d+\Z")
_FAR = 3  # times the largest of the others
_EXPONENT = re.compile(r"\d[.,]?[eE][-+]?\d")
_TIME_NAME = re.compile(r"time|date|stamp|created|updated|modified|epoch|(?:^|[_.])(?:t|ts|hc)$", re.I)


def describe(facts, found, column, notes):
    decimal = _decimal_of(facts, found, notes)
    facts.decimal = decimal
    numbers, odd, unread = _numbers(facts, decimal, found.thousands)
    _find_sentinels(facts, numbers, notes)
    finite = [value for text, value in numbers.items() if text not in facts.sentinels and value - value == 0]
    if finite:
        column["min"], column["max"] = bounds.value_of(min(finite)), bounds.value_of(max(finite))
    is_integer = bool(numbers) and all(type(value) is int for text, value in numbers.items() if text not in facts.sentinels)
    percent = sum(numeral.percent for numeral in facts.numerals.values())
    facts.kind = column["type"] = "integer" if is_integer and not percent else "number"
    if unread:
        notes.append(f"Numbers with another decimal mark: {', '.join(repr(text) for text in unread[:3])}.")
    if odd or unread or "odd" in facts.padding or decimal != (found.decimal or ".") or facts.thousands not in ("", found.thousands):
        facts.needs_cleaning, facts.cleaning = True, None if unread else _cleaning(facts, decimal)
    _note_spellings(facts, percent, odd + unread, notes)
    if is_integer and finite:
        notes += epoch_notes(facts.name, min(finite), max(finite))
    if len(finite) < len(numbers) - len(facts.sentinels):
        notes.append("Some values are infinite.")


def _decimal_of(facts, found, notes):
    own = habits_of.decimal_votes(facts)
    if len(own) == 1:
        decimal = next(iter(own))
        if found.decimal and decimal != found.decimal:
            notes.append(f"The decimal mark is {decimal!r} here, unlike in other columns.")
        return decimal
    return found.decimal or "."


def _numbers(facts, decimal, thousands):
    """({text: value}, texts that a reader of plain numbers would refuse, texts that need the other decimal mark)."""
    numbers, odd, unread, marks = {}, [], [], collections.Counter()
    for text in facts.plain:
        if decimal == "." or "." not in text:
            numbers[text] = float(text) if "." in text or "e" in text or "E" in text else int(text)
        else:
            facts.numerals[text] = numerals.read(text)
    for text, numeral in facts.numerals.items():
        reading = numeral.readings.get(decimal)
        if reading is None:
            unread.append(text)
            reading = next(iter(numeral.readings.values()))
        elif numeral.percent or numeral.currency or numeral.odd_sign:
            odd.append(text)
        numbers[text] = reading[0]
        marks[reading[1]] += bool(reading[1])
    seen = [mark for mark, count in marks.most_common() if count]
    facts.thousands = thousands if thousands in seen else seen[0] if seen else ""
    if len(seen) > 1:
        odd += [text for text, numeral in facts.numerals.items() if numeral.readings.get(decimal, (0, ""))[1] not in ("", facts.thousands)]
    return numbers, odd, unread


def _find_sentinels(facts, numbers, notes):
    """Values such as -9.99 and -999 that stand for missing: below (or far above) all others, and met again and again. Where they are less
    often, or below negative values, only a note tells of them."""
    if facts.numerals and any(numeral.percent or numeral.currency for numeral in facts.numerals.values()):
        return
    total = sum(facts.values.values())
    suspects = [text for text in facts.values if _NINES.match(text) and text in numbers]
    others = [value for text, value in numbers.items() if text not in suspects] if suspects else []
    if not others:
        return
    low, high = min(others), max(others)
    far, perhaps = _FAR * max(abs(high), abs(low), 1), []
    for text in suspects:
        value, count = numbers[text], facts.values[text]
        if count >= 3 and count >= 0.005 * total and (value < 0 <= low or value >= 999 and value > far):
            facts.sentinels.add(text)
            facts.spellings[text] += count
            facts.missing += count
        elif abs(value) > far and (value <= -99 or value >= 999 and count > 1):
            perhaps.append(text)
    if facts.sentinels:
        notes.append(f"{', '.join(sorted(facts.sentinels))} is taken to stand for missing: it is met often and far from all other values.")
    if perhaps:
        notes.append(f"{', '.join(sorted(perhaps)[:4])} perhaps stands for missing: no other value is near it. It counts as a value here, also in min and max.")


def _note_spellings(facts, percent, odd, notes):
    currencies = sorted({numeral.currency for numeral in facts.numerals.values() if numeral.currency})
    if facts.thousands:
        notes.append(f"Thousands are separated by {facts.thousands!r}.")
    if percent:
        are_all = percent == len(facts.numerals) and not facts.plain
        notes.append("Percentages: 50% counts as 50." if are_all else "Some values are percentages: 50% counts as 50.")
    if currencies:
        notes.append(f"Amounts with {', '.join(currencies[:4])}.")
    if facts.needs_cleaning:
        examples = ", ".join(repr(text) for text in (odd or list(facts.values))[:2])
        code = f": numbers by lambda c: {facts.cleaning}" if facts.cleaning else ""
        notes.append(f"pandas leaves this as text ({examples}){code}.")


def _cleaning(facts, decimal):
    """Code that makes numbers of the column c of texts; None where it would have to be more than a line."""
    texts, currencies = [*facts.plain, *facts.numerals], {numeral.currency for numeral in facts.numerals.values()} - {""}
    exponents = "eE+" if any(map(_EXPONENT.search, texts)) else ""
    if exponents and currencies or decimal == "." and any("." in mark for mark in currencies) or not all(numeral.has_digits for numeral in facts.numerals.values()):
        return None
    code = "c"
    for minus in "−–":
        if any(minus in text for text in texts):
            code += f'.str.replace("{minus}", "-")'
    if any(text[0] == "(" for text in texts):
        code += r'.str.replace(r"^\s*\((.*)\)\s*$", r"-\1", regex=True)'
    code += rf'.str.replace(r"[^\d{decimal}{exponents}-]", "", regex=True)'
    if any(text[-1] in "-−" for text in texts):
        code += r'.str.replace(r"^(.+)-$", r"-\1", regex=True)'
    if decimal != ".":
        code += f'.str.replace("{decimal}", ".")'
    return f"pd.to_numeric({code})"


def epoch_notes(name, least, most):
    """Whether whole numbers under such a name are times."""
    if not _TIME_NAME.search(name or ""):
        return []
    return [f"Probably a time, in {word} since 1970: pd.to_datetime(column, unit={unit!r})." for unit, scale, word in (("s", 1, "seconds"), ("ms", 1000, "milliseconds"))
            if 500_000_000 * scale <= least and most <= 4_000_000_000 * scale]
