# Describes a column of dates or times: range, order of day and month, time zones, and the format that reads it. Jailed worker; works on
# facts that were gathered within limits.

import collections
import datetime

from . import bounds, dates

_SAFE_YEARS = range(1678, 2262)  # what a nanosecond timestamp holds


def describe(facts, found, column, notes):
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
    offsets = {zone: dates.offset(zone) for zone in zones}
    is_utc = len(zones) > 1 and facts.kind == "datetime" and None not in offsets.values()
    values = sorted(value - offsets[stamp.zone] if is_utc else value for stamp in stamps.values() if (value := _value(stamp, order, facts.kind)))
    if values and (len(zones) == 1 or is_utc):
        column["min"], column["max"] = bounds.value_of(values[0]), bounds.value_of(values[-1])
    named = sorted(zone for zone in zones if zone and offsets[zone] is None)
    if named:
        notes.append(f"Names of time zones ({', '.join(named[:4])}): left as text.")
    elif is_utc:
        notes.append("Several time zones: read as UTC.")
    elif len(zones) > 1:
        notes.append("Some values have a time zone and some have none" + (": read with pd.to_datetime(column, format='ISO8601', utc=True)." if facts.kind == "datetime" else "."))
    if facts.kind == "datetime" and all(stamp.clock is not None and not any(stamp.clock) for stamp in stamps.values()):
        notes.append("The time is always midnight.")
    facts.layout = None if named else _layout(facts, order, notes)
    if is_utc and facts.layout:
        order_of_mixed = ", dayfirst=True" if facts.layout == "mixed" and order else ""
        facts.cleaning, facts.layout = f'pd.to_datetime(c, format="{facts.layout}", utc=True{order_of_mixed})', None
    if facts.layout and "%" in facts.layout and facts.padding - {"bare"}:
        facts.layout = facts.layout + " " if facts.padding == {"right"} else "mixed"


def _value(stamp, order, kind):
    value = stamp.value(order is True) or stamp.value(order is not True)
    return datetime.datetime.combine(value, datetime.time()) if kind == "datetime" and type(value) is datetime.date else value


def _layout(facts, order, notes):
    """The format that reads all values, or None when no one can or none should."""
    stamps = list(facts.stamps.values())
    if facts.kind not in ("date", "datetime") or order == "mixed" or len({bool(stamp.zone) for stamp in stamps}) > 1:
        return None
    if not all(stamp.year in _SAFE_YEARS for stamp in stamps):
        notes.append("Some years do not fit into pandas timestamps (1678 to 2261): left as text.")
        return None
    names = ("%d", "%m") if order else ("%m", "%d")
    layouts = collections.Counter(stamp.layout.format(*names) for stamp in stamps)
    if len(layouts) == 1:
        return next(iter(layouts))
    if all(layout.startswith("%Y-%m-%d") and "," not in layout and "%I" not in layout and "%Z" not in layout for layout in layouts):
        return "ISO8601"
    notes.append(f"Dates in several forms: {', '.join(bounds.cut(text, 30) for text in _one_of_each(facts, names))}.")
    return "mixed"


def _one_of_each(facts, names):
    examples = {}
    for text, stamp in facts.stamps.items():
        examples.setdefault(stamp.layout.format(*names), text)
    return list(examples.values())[:4]
