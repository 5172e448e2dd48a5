# The facts about one column of texts: its different values, sorted into numbers, dates and texts, and its missing values. Jailed
# worker. Each different value is looked at once; how many are is limited for a column and for the whole table.

import collections

from . import cells, dates, numerals

VALUES_MAX = 200_000  # that are no plain numbers, of all columns
COLUMN_VALUES_MAX = 30_000


class Facts:
    """One column: its different values by kind, before it is known how the file writes numbers and dates."""

    def __init__(self, name, position):
        self.name, self.position = name, position
        self.total = self.missing = 0
        self.spellings = collections.Counter()  # of missing values, as they stand in the file
        self.values = {}  # stripped text -> count
        self.is_sampled = False
        self.padding = set()  # where values have blanks: "left", "right", "bare" for none on the right, "odd" for blanks that pandas does not strip
        self.plain, self.numerals, self.stamps, self.texts = [], {}, {}, []
        self.answers = set()  # words that pandas would take as missing, and that are none
        self.sentinels = set()

    # What columns.describe finds for those who write code.
    kind = "empty"
    as_text = needs_cleaning = False
    cleaning = None  # code that makes numbers of what pandas leaves as text
    layout = None  # of dates: a strptime format, "ISO8601" or "mixed"
    day_first = None
    thousands = decimal = ""


def gather(cells_of_column, name, position, limit):
    """Facts about a column; None stands for a cell that its row does not have."""
    facts = Facts(name, position)
    counts = collections.Counter(cells_of_column)
    facts.total = counts.total()
    facts.missing = counts.pop(None, 0)
    if facts.missing:
        facts.spellings[""] = facts.missing
    bare = 0
    for text, count in counts.items():
        stripped = text.strip()
        if cells.is_missing(stripped):
            facts.spellings[text] += count
            facts.missing += count
        else:
            if stripped is not text and len(stripped) != len(text):
                facts.padding.add("left" if text[0] != stripped[0] else "right")
                if text.strip(" \t") is not stripped and len(text.strip(" \t")) != len(stripped):
                    facts.padding.add("odd")
            bare += text[-1] == stripped[-1]
            facts.values[stripped] = facts.values.get(stripped, 0) + count
    if bare:
        facts.padding.add("bare")
    _keep_answers(facts)
    match, others = numerals.PLAIN.match, []
    for text in facts.values:
        (facts.plain if len(text) <= cells.CHARACTERS_MAX and match(text) else others).append(text)
    if len(others) > limit:
        facts.is_sampled = True
        step = len(others) / (limit - 2)
        others = dict.fromkeys([*(others[int(number * step)] for number in range(limit - 2)), min(others), max(others)])
    for text in others:
        _sort(facts, text)
    if facts.texts and (facts.plain or facts.numerals or facts.stamps) and all(text.casefold() in cells.MISSING_AMONG_NUMBERS for text in facts.texts):
        _take_as_missing(facts, counts)
    return facts


def _take_as_missing(facts, counts):
    """Texts of a column that is numbers or dates otherwise."""
    words = set(facts.texts)
    for text, count in counts.items():
        if text.strip() in words:
            facts.spellings[text] += count
            facts.missing += count
            facts.values.pop(text.strip(), None)
    facts.texts = []


def _sort(facts, text):
    numeral = stamp = None
    if len(text) <= cells.CHARACTERS_MAX and cells.has_digit(text):
        numeral = numerals.read(text)
        stamp = dates.read(text) if numeral is None else None
    elif len(text) <= 10:
        numeral = numerals.read(text)  # infinity
    if numeral is not None:
        facts.numerals[text] = numeral
    elif stamp is not None:
        facts.stamps[text] = stamp
    else:
        facts.texts.append(text)


def _keep_answers(facts):
    """`None` among answers, and NA among country codes, are values: texts that are not missing although they look so."""
    spelled = collections.Counter()
    for spelling, count in facts.spellings.items():
        spelled[spelling.strip()] += count
    answers = set()
    if spelled["None"] and not any(map(cells.has_digit, list(facts.values)[:50])):
        is_one_of_many = len(spelled) == 1 and spelled["None"] <= 2 and len(facts.values) >= 50  # as the town of that name is
        if "" in spelled or is_one_of_many:
            answers.add("None")
    codes = list(facts.values)[:300]
    if "NA" in spelled and len(codes) >= 5 and all(len(code) == 2 and code.isupper() for code in codes):
        answers.add("NA")
    if facts.values and all(len(code) == 1 and not code.isalnum() for code in codes):
        answers |= spelled.keys() & {"-", "?", "."}  # marks such as + and -
    for spelling in [s for s in facts.spellings if s.strip() in answers]:
        count = facts.spellings.pop(spelling)
        facts.missing -= count
        facts.values[spelling.strip()] = facts.values.get(spelling.strip(), 0) + count
    facts.answers = answers & cells.PANDAS_MISSING
