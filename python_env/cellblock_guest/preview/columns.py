# Describes columns: type, missing values, range, commonest values, and what a reader must be told to get them right. Jailed worker;
# works on facts that were gathered within limits.

import collections
import datetime
import re

from . import bounds, cells, dates, habits as habits_of, numerals

DISTINCT_MAX = 10_000  # counted up to here
_ORDER = ("name", "position", "type", "missing", "missing_values", "distinct", "distinct_is_capped", "min", "max", "top", "example", "leading_zeros", "note")
_SEEN_MAX = 6  # spellings named
_TEXT_SHARE = 0.9  # so many texts, and the rest is text too
_NINES = re.compile(r"-?(?:9{2,}|9+\.9+|0?\.9{2,}|9{3,}\.0+)\Z|-0\d+\Z")
_TIME_NAME = re.compile(r"time|date|stamp|created|updated|modified|epoch|(?:^|[_.])(?:t|ts|hc)$", re.I)
_DATE_NAME = re.compile(r"date|datum|data|fecha|tag|day|dia|jour", re.I)
_LABELS_MAX = 200  # different texts that may be labels
_NO_LETTER_AT_END = re.compile(r"[.,;:!\s]+\Z")
_SAFE_YEARS = range(1678, 2262)  # what a nanosecond timestamp holds


def describe(facts, habits_of_file):
    """The column as the answer shows it; what code needs stays in the facts."""
    notes = []
    column = {"name": None if facts.name is None else bounds.cut(facts.name, bounds.NAME_CHARACTERS_MAX), "position": facts.position}
    facts.kind = _kind(facts, notes)
    column["type"] = facts.kind
    if facts.kind in ("integer", "number"):
        _describe_numbers(facts, habits_of_file, column, notes)
    elif facts.kind in ("date", "datetime", "time"):
        _describe_dates(facts, habits_of_file, column, notes)
    else:
        _describe_texts(facts, column, notes)
    column["missing"] = facts.missing
    column["missing_values"] = list(dict.fromkeys(bounds.cut(spelling.strip(), bounds.VALUE_CHARACTERS_MAX) for spelling, _ in facts.spellings.most_common(_SEEN_MAX)))
    distinct = len(facts.values) - len(facts.sentinels)
    column["distinct"] = min(distinct, DISTINCT_MAX)
    if distinct > DISTINCT_MAX:
        column["distinct_is_capped"] = True
    example = next((text for text in facts.values if text not in facts.sentinels), None)
    column["example"] = None if example is None else bounds.cut(example)
    if facts.is_sampled:
        notes.append(f"Only some of the {len(facts.values):,} different values were looked at.")
    if facts.answers:
        named = " and ".join(map(repr, sorted(facts.answers)))
        notes.append(f"{named} is a value here; pandas takes it as missing unless keep_default_na=False is passed.")
    if notes:
        column["note"] = bounds.cut(" ".join(notes), bounds.NOTE_CHARACTERS_MAX)
    return {name: column[name] for name in _ORDER if name in column}


def _weight(facts, texts):
    values = facts.values
    return sum(values[text] for text in texts)


def _kind(facts, notes):
    if not facts.values:
        return "empty"
    weights = {"number": _weight(facts, facts.plain) + _weight(facts, facts.numerals), "date": _weight(facts, facts.stamps), "text": _weight(facts, facts.texts)}
    total = sum(weights.values())
    if weights["number"] == total:
        return _kind_of_numbers(facts, notes)
    if weights["date"] == total:
        return _kind_of_dates(facts, notes)
    if weights["text"] == total and cells.are_truths(facts.texts[:3]) and len(facts.texts) <= 3:
        return "boolean"
    if weights["text"] >= _TEXT_SHARE * total:
        return "text"
    if _is_code(facts):
        return "text"
    kinds = ", ".join(f"{count:,} {name}{'s' * (count != 1)}" for name, count in weights.items() if count)
    stray = min((name for name in weights if weights[name]), key=weights.get)
    strays = {"number": facts.plain or list(facts.numerals), "date": list(facts.stamps), "text": facts.texts}[stray]
    named = ", ".join(repr(bounds.cut(text, 30)) for text in strays[:3])
    notes.append(f"Mixed: {kinds} ({stray}s such as {named}).")
    facts.as_text = any(_has_leading_zero(text) for text in facts.plain)
    return "mixed"


def _is_code(facts):
    """Codes, some of which happen to be digits alone: of one length, or digits with leading zeros beside digits with a letter."""
    if facts.stamps or any(" " in text for text in facts.texts[:1000]):
        return False
    lengths = {len(text) for text in facts.values}
    if len(lengths) == 1 and lengths <= set(range(2, 13)):
        return True
    return any(map(_has_leading_zero, facts.plain)) and all(cells.has_digit(text) and len(text) < 30 for text in facts.texts)


def _has_leading_zero(text):
    return len(text) > 1 and text[0] == "0" and text.isdigit()


def _kind_of_numbers(facts, notes):
    if any(_has_leading_zero(text) for text in facts.plain):
        return "text"
    long = next((text for text in facts.plain if len(text) > 18 and text.lstrip("+-").isdigit() and abs(int(text)) >= 1 << 63), None)
    if long:
        notes.append(f"Too long for 64-bit integers, such as {long[:30]}: kept as text.")
        return "text"
    if _DATE_NAME.search(facts.name or "") and len(facts.plain) == len(facts.values) and not facts.is_sampled:
        stamps = {text: dates.read(text) for text in facts.plain[:2000] if len(text) == 8}
        if stamps and len(stamps) == min(len(facts.plain), 2000) and all(s is not None and s.is_compact and 1900 <= s.year <= 2100 for s in stamps.values()):
            facts.stamps, facts.plain = {text: dates.read(text) for text in facts.plain}, []
            if all(facts.stamps.values()):
                return "date"
            facts.plain, facts.stamps = list(facts.stamps), {}
    return "number"  # or integer: decided with the values


def _kind_of_dates(facts, notes):
    stamps = facts.stamps.values()
    if all(stamp.may_be_span for stamp in stamps):
        notes.append(f"{next(iter(facts.stamps))!r} may be a span of two years or a month: left as text.")
        return "text"
    times = sum(stamp.year is None for stamp in stamps)
    if times == len(facts.stamps):
        return "time"
    if times:
        notes.append("Some values are dates, some only times.")
        return "mixed"
    return "datetime" if any(stamp.clock for stamp in stamps) else "date"


def _describe_texts(facts, column, notes):
    values, kind = facts.values, facts.kind
    if kind != "empty":
        top = sorted(values.items(), key=lambda item: -item[1])[: bounds.TOP_MAX]
        column["top"] = [{"value": bounds.cut(text, bounds.VALUE_CHARACTERS_MAX), "count": count} for text, count in top if count > 1 or len(values) <= bounds.TOP_MAX]
    zeros = any(map(_has_leading_zero, facts.plain))
    if zeros:
        column["leading_zeros"] = True
        notes.append("Digits with leading zeros: read as text, or the zeros are lost." + (" Padded with blanks: use .str.strip()." if facts.padding - {"bare"} else ""))
    facts.as_text = zeros or kind == "text" and not facts.texts and bool(facts.plain or facts.numerals)
    if kind == "text" and len(values) <= _LABELS_MAX:
        _note_variants(facts, notes)


def _note_variants(facts, notes):
    """Labels that differ only in case, blanks and marks at their ends."""
    variants = collections.defaultdict(list)
    for text in facts.texts:
        variants[_NO_LETTER_AT_END.sub("", " ".join(text.casefold().split()))].append(text)
    pairs = [texts for bare, texts in variants.items() if bare and len(texts) > 1]
    if pairs:
        named = ", ".join(" and ".join(repr(bounds.cut(text, 30)) for text in texts[:3]) for texts in pairs[:3])
        notes.append(f"Perhaps the same value in several spellings: {named}.")


# --- numbers ------------------------------------------------------------------------------------------------------------------------


def _describe_numbers(facts, found, column, notes):
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
    _note_spellings(facts, decimal, percent, odd + unread, notes)
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
    """Values such as -9.99 and -999 that stand for missing: below (or far above) all others, and met again and again."""
    if facts.numerals and any(numeral.percent or numeral.currency for numeral in facts.numerals.values()):
        return
    total = sum(facts.values.values())
    suspects = [text for text, count in facts.values.items() if count >= 3 and count >= 0.005 * total and _NINES.match(text) and text in numbers]
    others = [value for text, value in numbers.items() if text not in suspects] if suspects else []
    if not others:
        return
    low, high = min(others), max(others)
    for text in suspects:
        value = numbers[text]
        if value < 0 <= low or value >= 999 and value > 3 * max(abs(high), abs(low), 1):
            facts.sentinels.add(text)
            facts.spellings[text] += facts.values[text]
            facts.missing += facts.values[text]
    if facts.sentinels:
        named = ", ".join(sorted(facts.sentinels))
        notes.append(f"{named} is taken to stand for missing: it is met often and far from all other values.")


def _note_spellings(facts, decimal, percent, odd, notes):
    currencies = sorted({numeral.currency for numeral in facts.numerals.values() if numeral.currency})
    if facts.thousands:
        notes.append(f"Thousands are separated by {facts.thousands!r}.")
    if percent:
        are_all = percent == len(facts.numerals) and not facts.plain
        notes.append("Percentages: min and max are without the %." if are_all else "Some values are percentages (%), counted without the sign.")
    if currencies:
        notes.append(f"Amounts with {', '.join(currencies[:4])}.")
    if odd:
        facts.needs_cleaning = True
        keep = f"[^\\d{decimal}eE+-]"
        mark = f".str.replace({decimal!r}, '.')" if decimal != "." else ""
        code = f"pd.to_numeric(column.str.replace(r'{keep}', '', regex=True){mark}){' / 100' if percent else ''}"
        notes.append(f"pandas leaves this as text ({', '.join(repr(text) for text in odd[:2])}); numbers by {code}.")


def epoch_notes(name, least, most):
    """Whether whole numbers under such a name are times."""
    if not _TIME_NAME.search(name or ""):
        return []
    return [f"Probably a time, in {word} since 1970: pd.to_datetime(column, unit={unit!r})." for unit, scale, word in (("s", 1, "seconds"), ("ms", 1000, "milliseconds"))
            if 500_000_000 * scale <= least and most <= 4_000_000_000 * scale]


# --- dates --------------------------------------------------------------------------------------------------------------------------


def _describe_dates(facts, found, column, notes):
    stamps = facts.stamps
    order = dates.day_first(stamps.values())
    has_order = any(stamp.first is not None for stamp in stamps.values())
    if order == "mixed":
        notes.append("Day and month come in both orders: some dates can only be read day first, some only month first.")
    elif order is None and has_order:
        order = bool(found.day_first)
        if not found.is_order_sure:
            notes.append(f"Whether day or month comes first cannot be told from the values; {'day' if order else 'month'} first is assumed.")
    facts.day_first = order if has_order else None
    zones = {stamp.zone for stamp in stamps.values()}
    values = sorted(filter(None, (_value(stamp, order, facts.kind) for stamp in stamps.values())))
    if values and len(zones) == 1:
        column["min"], column["max"] = bounds.value_of(values[0]), bounds.value_of(values[-1])
    elif len(zones) > 1:
        said = "Some values have a time zone and some have none" if "" in zones else "Several time zones"
        notes.append(said + (": read with pd.to_datetime(column, format='ISO8601', utc=True)." if facts.kind == "datetime" else "."))
    if facts.kind == "datetime" and all(stamp.clock is not None and not any(stamp.clock) for stamp in stamps.values()):
        notes.append("The time is always midnight.")
    facts.layout = _layout(facts, order, notes)
    if facts.layout and "%" in facts.layout and facts.padding - {"bare"}:
        facts.layout = facts.layout + " " if facts.padding == {"right"} else "mixed"


def _value(stamp, order, kind):
    value = stamp.value(order is True) or stamp.value(order is not True)
    return datetime.datetime.combine(value, datetime.time()) if kind == "datetime" and type(value) is datetime.date else value


def _layout(facts, order, notes):
    """The format that reads all values, or None when no one can or none should."""
    stamps = list(facts.stamps.values())
    if facts.kind not in ("date", "datetime") or order == "mixed" or len({stamp.zone for stamp in stamps}) > 1:
        return None
    if not all(stamp.year in _SAFE_YEARS for stamp in stamps):
        notes.append("Some years do not fit into pandas timestamps (1678 to 2261): left as text.")
        return None
    names = ("%d", "%m") if order else ("%m", "%d")
    layouts = collections.Counter(stamp.layout.format(*names) for stamp in stamps)
    if len(layouts) == 1:
        return next(iter(layouts))
    if all(layout.startswith("%Y-%m-%d") and "," not in layout and "%I" not in layout for layout in layouts):
        return "ISO8601"
    notes.append(f"Dates in several forms: {', '.join(bounds.cut(text, 30) for text in _one_of_each(facts, names))}.")
    return "mixed"


def _one_of_each(facts, names):
    examples = {}
    for text, stamp in facts.stamps.items():
        examples.setdefault(stamp.layout.format(*names), text)
    return list(examples.values())[:4]
