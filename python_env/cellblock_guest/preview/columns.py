# Describes columns: type, missing values, range, commonest values, and what a reader must be told to get them right. Jailed worker;
# works on facts that were gathered within limits.

import collections
import re

from . import bounds, cells, date_columns, dates, number_columns

DISTINCT_MAX = 10_000  # counted up to here
_ORDER = ("name", "position", "type", "missing", "missing_values", "distinct", "distinct_is_capped", "min", "max", "top", "example", "leading_zeros", "note")
_SEEN_MAX = 6  # spellings named
_TRUTHS_MAX = 6  # spellings of yes and no
_TEXT_SHARE = 0.9  # so many texts, and the rest is text too
_DATE_NAME = re.compile(r"date|datum|data|fecha|tag|day|dia|jour", re.I)
_PHONE = re.compile(r"\+\d{7,15}\Z")
_FORMULA = re.compile(r'="[^"]*"\Z')
_LABELS_MAX = 200  # different texts that may be labels


def describe(facts, habits_of_file):
    """The column as the answer shows it; what code needs stays in the facts."""
    notes = []
    column = {"name": None if facts.name is None else bounds.cut(facts.name, bounds.NAME_CHARACTERS_MAX), "position": facts.position}
    facts.kind = _kind(facts, notes)
    column["type"] = facts.kind
    if facts.kind in ("integer", "number"):
        number_columns.describe(facts, habits_of_file, column, notes)
    elif facts.kind in ("date", "datetime", "time"):
        date_columns.describe(facts, habits_of_file, column, notes)
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
    if weights["text"] == total and len(facts.texts) <= _TRUTHS_MAX and cells.are_truths(facts.texts):
        return "boolean"
    if weights["text"] and not weights["number"] and all(map(cells.is_duration, facts.values)):
        notes.append("Durations: pd.to_timedelta makes them such, where there are seconds.")
        return "text"
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
    """Codes, some of which happen to be digits alone: of one length, or digits with leading zeros beside digits with other characters."""
    if facts.stamps:
        return False
    if any(map(_has_leading_zero, facts.plain)) and all(cells.has_digit(text) and len(text) < 30 for text in facts.texts):
        return True
    if any(" " in text for text in facts.texts[:1000]):
        return False
    lengths = {len(text) for text in facts.values}
    return len(lengths) == 1 and lengths <= set(range(2, 13))


def _has_leading_zero(text):
    return len(text) > 1 and text[0] == "0" and text.isdigit()


def _kind_of_numbers(facts, notes):
    if any(_has_leading_zero(text) for text in facts.plain):
        return "text"
    if len(facts.plain) == len(facts.values) and all(map(_PHONE.match, facts.plain)):
        notes.append("Digits behind a +, as telephone numbers have: kept as text.")
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
    if facts.texts and len(facts.texts) == len(values) and all(map(_FORMULA.match, facts.texts)):
        notes.append('Texts as Excel is made to keep them, ="…": .str[2:-1] takes them out.')
    if kind == "text" and len(values) <= _LABELS_MAX:
        _note_variants(facts, notes)


def _note_variants(facts, notes):
    """Labels that differ only in case, blanks and marks at their ends."""
    variants = collections.defaultdict(list)
    for text in facts.texts:
        variants[" ".join(text.casefold().split()).rstrip(".,;:! ")].append(text)
    pairs = [texts for bare, texts in variants.items() if bare and len(texts) > 1]
    if pairs:
        named = ", ".join(" and ".join(repr(bounds.cut(text, 30)) for text in texts[:3]) for texts in pairs[:3])
        notes.append(f"Perhaps the same value in several spellings: {named}.")
