# How a file as a whole writes numbers and dates: what one column does not tell, others may. Jailed worker; works on facts that were
# gathered within limits.

import collections

from . import dates, numerals

_LOOKED_AT = 2000  # values of a column


class Habits:
    """Marks of numbers, order of day and month; None where nothing was seen that has them."""

    decimal = thousands = day_first = None
    is_decimal_sure = is_order_sure = True


def find(all_facts, delimiter):
    found = Habits()
    votes = collections.Counter(mark for facts in all_facts for mark in decimal_votes(facts))
    if votes:
        found.decimal = votes.most_common(1)[0][0]
    else:
        found.decimal, found.is_decimal_sure = _ambiguous_decimal(all_facts, delimiter)
    marks = collections.Counter(numeral.readings[found.decimal or "."][1] for facts in all_facts for numeral in facts.numerals.values()
                                if (found.decimal or ".") in numeral.readings)
    del marks[""]
    found.thousands = marks.most_common(1)[0][0] if marks else None
    orders = collections.Counter(dates.day_first(facts.stamps.values()) for facts in all_facts)
    if orders[True] or orders[False]:
        found.day_first = orders[True] >= orders[False]
    elif any(stamp.first is not None for facts in all_facts for stamp in facts.stamps.values()):
        found.day_first, found.is_order_sure = _usual_order(all_facts, delimiter, found.decimal)
    return found


def decimal_votes(facts):
    """The decimal marks without which some value of the column cannot be read: one vote each, however many values."""
    votes = set()
    for text in facts.plain[:_LOOKED_AT]:
        whole, point, fraction = text.lstrip("+-").partition(".")
        if point and (len(fraction) != 3 or len(whole) > 3 or whole in ("", "0")):
            votes.add(".")
            break
    votes.update(filter(None, map(numerals.evidence, list(facts.numerals.values())[:_LOOKED_AT])))
    return votes


def _ambiguous_decimal(all_facts, delimiter):
    """(mark or None, whether that is sure), where no number has more marks than 1,234 or 1.234 have."""
    points = any("." in text for facts in all_facts for text in facts.plain[:_LOOKED_AT])
    commas = any("," in text for facts in all_facts for text in list(facts.numerals)[:_LOOKED_AT])
    if points and commas:
        return ".", False
    if points:
        return ("," if delimiter == ";" and _are_grouped(all_facts, ".") else "."), delimiter != ";"
    if commas:
        return ("," if delimiter == ";" and not _are_grouped(all_facts, ",") else "."), delimiter == ","
    return None, True


def _are_grouped(all_facts, mark):
    """Whether whole numbers of three digits at most stand beside those with the mark: a decimal mark would make the others far smaller."""
    for facts in all_facts:
        texts = [text.lstrip("+-") for text in [*facts.plain[:_LOOKED_AT], *list(facts.numerals)[:_LOOKED_AT]]]
        whole = [text for text in texts if mark not in text]
        if len(whole) < len(texts) and whole and max(map(len, whole)) == 3:
            return True
    return False


def _usual_order(all_facts, delimiter, decimal):
    """(day first, whether that is sure): so it is nearly everywhere but in the United States, whose files have commas and slashes."""
    marks = {stamp.layout[stamp.layout.index("{0}") + 3] for facts in all_facts for stamp in facts.stamps.values() if stamp.first is not None}
    if marks == {"."}:
        return True, True
    return delimiter == ";" or decimal == "," or "." in marks, False
