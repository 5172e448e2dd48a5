# The line of pandas that reads a table rightly. Jailed worker; what it quotes are names and values of a hostile file, each as a string
# literal.

import json
import os

from . import bounds, cells, numerals
from .dialect import WHITESPACE

NAMES_CHARACTERS_MAX = 1500
_FLAT_NAMES_CHARACTERS_MAX = 900  # up to here, several header rows become one
_CLEANINGS_MAX = 4  # ways of cleaning
_PANDAS_TRUTHS = frozenset(("TRUE", "True", "true", "FALSE", "False", "false"))
_LISTED_MAX = 40  # columns named in one argument


def quoted(text):
    """A Python literal in double quotes."""
    return json.dumps(bounds.cut(text, bounds.CODE_CHARACTERS_MAX), ensure_ascii=False)


class Member(str):
    """The path of a zip file of which pandas would not know what to read: it has more entries than the one that is data."""

    def __new__(cls, path, name):
        self = super().__new__(cls, path)
        self.name = name
        return self


def path_text(path):
    """The path as code in the session would write it: relative, where the file is below the working folder. No address of something else,
    as `file:x.csv` would be, and nobody's home."""
    shown = os.fsdecode(path)
    if os.path.isabs(shown):
        below = os.path.relpath(shown)
        shown = shown if below.startswith("..") else below
    if ":" in shown and not os.path.isabs(shown) or shown.startswith("~"):
        shown = f"./{shown}"
    return f'__import__("zipfile").ZipFile({quoted(shown)}).open({quoted(path.name)})' if isinstance(path, Member) else quoted(shown)


_SUFFIXES = {"gzip": ".gz", "bz2": ".bz2", "xz": ".xz", "zip": ".zip"}
_OPENERS = {"gzip": "gzip", "bz2": "bz2", "xz": "lzma"}


def opened(path, encoding, compression=None):
    """Code that opens a text, with no import but pandas'."""
    if isinstance(path, Member):
        return f'__import__("io").TextIOWrapper({path_text(path)}, encoding={quoted(encoding)})'
    if compression == "zip":
        return f'pd.io.common.get_handle({path_text(path)}, "r", encoding={quoted(encoding)}, compression="zip").handle'
    if compression:
        return f'__import__("{_OPENERS[compression]}").open({path_text(path)}, "rt", encoding={quoted(encoding)})'
    return f"open({path_text(path)}, encoding={quoted(encoding)})"


def compression_argument(path, compression):
    """What pandas does not see by the name."""
    is_seen = not compression or isinstance(path, Member) or path.endswith(_SUFFIXES[compression])
    return {} if is_seen else {"compression": quoted(compression)}


def call(function, path, arguments):
    return f"pd.{function}({', '.join([path_text(path), *(f'{name}={value}' for name, value in arguments.items())])})"


def listed(items):
    return "[" + ", ".join(items) + "]"


def mapped(items):
    return "{" + ", ".join(f"{key}: {value}" for key, value in items.items()) + "}"


def names_argument(labels, width):
    text = listed(map(quoted, labels)) if len(labels) == width else ""
    return text if text and len(text) <= NAMES_CHARACTERS_MAX else f"range({width})"


def flat_names(labels, width):
    """Names for a table with several header rows, when they are short enough."""
    text = listed(map(quoted, labels)) if len(labels) == width else ""
    return text if text and len(text) <= _FLAT_NAMES_CHARACTERS_MAX else None


class Columns:
    """Arguments that name columns: by label, or by position where labels are tuples or missing."""

    def __init__(self, all_facts, labels, by_position):
        self.all_facts, self.labels, self.by_position = all_facts, labels, by_position

    def name(self, facts):
        return str(facts.position) if self.by_position else quoted(self.labels[facts.position])

    def arguments(self, spelled_bare=False):
        """Every argument that depends on what is in the columns. spelled_bare: the reader takes blanks off the left of values."""
        found = {}
        numbers = [facts for facts in self.all_facts if facts.kind in ("integer", "number") and not facts.needs_cleaning]
        if any(facts.decimal == "," and _has_fraction(facts) for facts in numbers):
            found["decimal"] = '","'
        thousands = next((facts.thousands for facts in numbers if facts.thousands), "")
        if thousands:
            found["thousands"] = quoted(thousands)
            if not thousands.isascii():
                found["engine"] = '"python"'
        found.update(self.missing(spelled_bare))
        found.update(self.types(thousands, "," if "decimal" in found else "."))
        found.update(self.dates())
        found.update(self.truths())
        return found

    def missing(self, spelled_bare):
        """na_values and keep_default_na."""
        answers = set().union(*(facts.answers for facts in self.all_facts))
        wanted = {}
        for facts in self.all_facts:
            spellings = [spelling.lstrip() if spelled_bare else spelling for spelling in facts.spellings]
            wanted[facts] = [s for s in dict.fromkeys(spellings) if answers or s not in cells.PANDAS_MISSING]
        tokens = list(dict.fromkeys(token for spellings in wanted.values() for token in spellings))[:_LISTED_MAX]
        found = {"keep_default_na": "False"} if answers else {}
        if not tokens and not answers:
            return found
        if any(self._is_value_elsewhere(token, facts) for facts, spellings in wanted.items() for token in spellings):
            chosen = {self.name(facts): listed(map(quoted, spellings)) for facts, spellings in wanted.items() if spellings}
            return {**found, "na_values": mapped(dict(list(chosen.items())[:_LISTED_MAX]))}
        return {**found, "na_values": listed(map(quoted, dict.fromkeys(["", *tokens] if answers else tokens)))}

    def _is_value_elsewhere(self, token, owner):
        """A token that another column has as a proper value. pandas compares numbers by value: -01 is -1."""
        bare = token.strip()
        number = float(bare) if numerals.PLAIN.match(bare) else None
        for facts in self.all_facts:
            if facts is owner or bare in facts.sentinels:
                continue
            if bare in facts.values or number is not None and any(float(text) == number for text in facts.plain):
                return True
        return False

    def types(self, thousands, decimal):
        """dtype of what pandas would turn into numbers against the values' meaning."""
        chosen = [facts for facts in self.all_facts if facts.as_text or facts.cleaning or _would_become_number(facts, thousands, decimal)]
        if not chosen:
            return {}
        if len(chosen) > _LISTED_MAX or all(facts in chosen or facts.kind in ("text", "empty") for facts in self.all_facts) and len(chosen) > 3:
            return {"dtype": "str"} if all(facts.kind not in ("integer", "number", "boolean") for facts in self.all_facts) else {
                "dtype": mapped({self.name(facts): "str" for facts in chosen[:_LISTED_MAX]})}
        return {"dtype": mapped({self.name(facts): "str" for facts in chosen})}

    def dates(self):
        chosen = [facts for facts in self.all_facts if facts.layout][:_LISTED_MAX]
        if not chosen:
            return {}
        found = {"parse_dates": listed(map(self.name, chosen))}
        layouts = {facts.layout for facts in chosen}
        if len(layouts) == 1:
            found["date_format"] = quoted(next(iter(layouts)))
        else:
            found["date_format"] = mapped({self.name(facts): quoted(facts.layout) for facts in chosen})
        if any(facts.layout == "mixed" and facts.day_first for facts in chosen):
            found["dayfirst"] = "True"
        return found


    def truths(self):
        """true_values and false_values; where another column has such words as texts, the columns are mapped one by one instead."""
        booleans = [facts for facts in self.all_facts if facts.kind == "boolean"]
        words = {word for facts in booleans for word in facts.texts}
        others = [facts.values.keys() for facts in self.all_facts if facts.kind != "boolean" and 0 < len(facts.values) <= 2 * len(cells.TRUTHS)]
        is_clear = not any(values <= words for values in others)
        for facts in booleans:
            if facts.padding - {"bare"} or not is_clear and not _PANDAS_TRUTHS.issuperset(facts.texts):
                facts.cleaning = f"c.str.strip().map({mapped({quoted(word): str(cells.TRUTHS[word.lower()]) for word in sorted(facts.texts)})})"
        if words <= _PANDAS_TRUTHS or not is_clear:
            return {}
        return {f"{str(value).lower()}_values": listed(map(quoted, sorted(word for word in words if cells.TRUTHS[word.lower()] is value))) for value in (True, False)}

    def cleaning(self):
        """What follows the call, for columns that pandas alone leaves as text."""
        groups = {}
        for facts in self.all_facts:
            if facts.cleaning:
                groups.setdefault(facts.cleaning, []).append(self.name(facts))
        chosen = [(code, names) for code, names in groups.items() if len(names) <= _LISTED_MAX][:_CLEANINGS_MAX]
        return "".join(f".apply(lambda c: {code} if c.name in {listed(names)} else c)" for code, names in chosen)


def _has_fraction(facts):
    return facts.kind == "number" and any("," in text for text in facts.numerals)


def _would_become_number(facts, thousands, decimal):
    if facts.layout or facts.kind not in ("text", "mixed", "date", "datetime", "time"):
        return False
    texts = list(facts.values)[:200]
    return bool(texts) and all(numerals.PLAIN.match(text.replace(thousands, "").replace(decimal, ".") if thousands else text.replace(decimal, ".")) for text in texts)


def dialect_arguments(dialect, skipped=0):
    found = {}
    if dialect.spans:
        return {"colspecs": str(list(dialect.spans))}
    if dialect.delimiter == WHITESPACE:  # the C engine miscounts skipped lines that begin with blanks
        return {"sep": 'r"\\s+"', **({"engine": '"python"'} if skipped else {})}
    if dialect.delimiter != ",":
        found["sep"] = quoted(dialect.delimiter)
    if dialect.quote == "'":
        found["quotechar"] = '"\'"'
    elif not dialect.quote:
        found["quoting"] = "3"
    if dialect.escape:
        found["escapechar"] = '"\\\\"'
    if dialect.skip_space:
        found["skipinitialspace"] = "True"
    return found
