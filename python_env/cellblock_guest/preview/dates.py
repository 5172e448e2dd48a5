# Dates and times as people write them, and the format that reads a column of them. Jailed worker; one cell's text at a time, cut
# before it comes here.

import datetime
import re

CHARACTERS_MAX = 48
_MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_LONG_MONTHS = {name: number for number, name in enumerate("january february march april may june july august september october november december".split(), 1)}
_YEAR_AND_MONTH, _COMPACT = "%Y{s}%m", "%Y%m%d"
_MONTH = r"(?P<month>[A-Za-z]{3,9})\.?"
# Patterns, and the format of what matches: s and s2 stand for what separates, month for its name, y for a year of two or four digits.
_DATES = tuple((re.compile(pattern, re.A), layout) for pattern, layout in (
    (r"(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})", "%Y{s}%m{s}%d"),
    (r"(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2})(?!\d)", "{{0}}{s}{{1}}{s}{y}"),
    (rf"(?P<d>\d{{1,2}})(?P<s>[-/ ]|\. ?){_MONTH}(?P<s2>[-/ ]|, )(?P<y>\d{{4}}|\d{{2}})(?![\d:])", "%d{s}{month}{s2}{y}"),
    (rf"{_MONTH}(?P<s> )(?P<d>\d{{1,2}})(?P<s2>,? )(?P<y>\d{{4}})", "{month}{s}%d{s2}%Y"),
    (rf"(?P<y>\d{{4}})(?P<s>[- /]){_MONTH}(?P=s)(?P<d>\d{{1,2}})", "%Y{s}{month}{s}%d"),
    (rf"{_MONTH}(?P<s>[- /])(?P<y>\d{{4}}|(?<=-)\d{{2}})(?!\d)", "{month}{s}{y}"),
    (r"(?P<y>\d{4})(?P<s>[-/])(?P<m>\d{1,2})(?!\d)", _YEAR_AND_MONTH),
    (r"(?P<m>\d{1,2})(?P<s>/)(?P<y>\d{4})(?!\d)", "%m{s}%Y"),
    (r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})(?!\d)", _COMPACT),
))
_TIME = re.compile(
    r"(?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?P<f>[.,]\d{1,9})?)?(?P<p> ?[AaPp][Mm])?(?P<z> ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})| [A-Z]{3,4}| (?:GMT|UTC)[+-]\d{1,2}(?::?\d{2})?)?\Z", re.A)
_WEEKDAY = re.compile(r"(?P<w>(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}),? +", re.I)
_START = re.compile(r"[\dA-Za-z]")


class Stamp:
    """A text that is a date, a time or both. In `layout`, {0} and {1} stand for day and month where the text does not tell which."""

    __slots__ = ("layout", "year", "month", "day", "first", "second", "clock", "zone", "is_compact", "may_be_span")

    def __init__(self):
        self.layout = self.zone = ""
        self.year = self.month = self.day = self.first = self.second = self.clock = None
        self.is_compact = self.may_be_span = False

    def value(self, day_first):
        """A date, datetime or time; None when there is no such day."""
        day, month = self.day, self.month
        if self.first is not None:
            day, month = (self.first, self.second) if day_first else (self.second, self.first)
        try:
            if self.year is None:
                return datetime.time(*self.clock)
            if self.clock is None:
                return datetime.date(self.year, month, 1 if day is None else day)
            return datetime.datetime(self.year, month, 1 if day is None else day, *self.clock)
        except ValueError:
            return None

    def is_valid(self):
        return self.value(True) is not None or self.first is not None and self.value(False) is not None


def read(text):
    """A Stamp, or None when the text is neither date nor time."""
    if not 4 <= len(text) <= CHARACTERS_MAX or not _START.match(text):
        return None
    if "  " in text:
        text = " ".join(text.split())  # a blank in a format stands for any number of them
    stamp, at, layout = Stamp(), 0, ""
    weekday = _WEEKDAY.match(text)
    if weekday:
        at = weekday.end()
        layout = ("%a" if len(weekday["w"]) == 3 else "%A") + text[weekday.end("w") : at]
    for pattern, form in _DATES:
        found = pattern.match(text, at)
        if found and _take_date(stamp, form, found):
            at = found.end()
            break
    else:
        found = None
        if weekday:
            return None
    rest = text[at:]
    if found and rest:
        gap = "T" if rest[0] == "T" else re.match(r",? +", rest)
        gap = gap if gap == "T" or gap is None else gap.group()
        if not gap:
            return None
        stamp.layout += gap
        rest = rest[len(gap) :]
    if rest and not _take_time(stamp, rest):
        return None
    stamp.layout = layout + stamp.layout
    return stamp if stamp.is_valid() else None


def _take_date(stamp, form, found):
    part = found.groupdict()
    name, year, gap = part.get("month"), part["y"], part.get("s")
    number = _MONTHS.get(name.lower()) or _LONG_MONTHS.get(name.lower()) if name else part.get("m")
    if name and number is None:
        return False
    stamp.month = number and int(number)
    stamp.year = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < 69 else 1900)
    stamp.day, stamp.first, stamp.second = (part.get(key) and int(part[key]) for key in "dab")
    named = name and ("%b" if len(name) == 3 else "%B") + "." * (found.string[found.end("month") : found.end("month") + 1] == ".")
    stamp.layout = form.format(s=gap, s2=part.get("s2"), month=named, y="%Y" if len(year) == 4 else "%y")
    stamp.is_compact = form == _COMPACT
    stamp.may_be_span = form == _YEAR_AND_MONTH and (stamp.year + 1) % 100 == stamp.month
    return 1000 <= stamp.year <= 2999


def _take_time(stamp, text):
    found = _TIME.match(text)
    if found is None:
        return False
    hour, half = int(found["H"]), found["p"]
    if half:
        if not 1 <= hour <= 12:
            return False
        hour = hour % 12 + (12 if half.strip().lower() == "pm" else 0)
    fraction = found["f"] or ""
    micros = int((fraction[1:] + "000000")[:6]) if fraction else 0
    seconds = int(found["S"]) if found["S"] else 0
    if hour > 23 or int(found["M"]) > 59 or seconds > 59:
        return False
    stamp.clock = (hour, int(found["M"]), seconds, micros)
    stamp.zone = (found["z"] or "").strip()
    stamp.layout += "%I" if half else "%H"
    stamp.layout += ":%M" + (":%S" if found["S"] else "") + (f"{fraction[0]}%f" if fraction else "")
    if half:
        stamp.layout += " %p" if half[0] == " " else "%p"
    if found["z"]:
        stamp.layout += (" " if found["z"][0] == " " else "") + ("%Z" if len(stamp.zone) > 1 and stamp.zone.isalpha() else "%z")
    return True


def offset(zone):
    """A zone's distance from UTC; None for names of zones, which mean this here and that there."""
    if zone in ("Z", "UTC", "GMT"):
        return datetime.timedelta()
    if not zone[:1] in ("+", "-"):
        return None
    return (-1 if zone[0] == "-" else 1) * datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))


def day_first(stamps):
    """True or False where the numbers tell the order of day and month, None where they do not, "mixed" where both orders are needed."""
    firsts = {stamp.first for stamp in stamps if stamp.first is not None}
    seconds = {stamp.second for stamp in stamps if stamp.first is not None}
    if not firsts:
        return None
    over = max(firsts) > 12, max(seconds) > 12
    if over[0] and over[1]:
        return "mixed"
    if over[0] or over[1]:
        return over[0]
    if len(firsts) == 1 and len(seconds) >= 3 and min(firsts) == 1:
        return True  # the first of each month
    if len(seconds) == 1 and len(firsts) >= 3 and min(seconds) == 1:
        return False
    return None
