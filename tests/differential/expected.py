# The list of differences that are known, each with its cause (expected_differences.txt), and the comparison of two sides under it.
# Runs on the host.

import re

SEPARATOR = " | "


class Entry:
    def __init__(self, line, number):
        parts = [part.strip() for part in line.split(SEPARATOR, 2)]
        if len(parts) != 3 or not all(parts):
            raise ValueError(f"expected_differences.txt:{number}: must be: case | test | cause")
        self.case, self.test, self.cause = parts
        self.number = number
        self.sometimes = self.cause.startswith("sometimes: ")
        self.seen = False
        self._pattern = re.compile(".*".join(re.escape(part) for part in self.test.split("*")) + r"\Z", re.DOTALL)

    def covers(self, case, test):
        return self.case == case and self._pattern.match(test) is not None


def read(path):
    entries = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip() and not line.startswith("#"):
                entries.append(Entry(line, number))
    return entries


def differences(inside, outside):
    """name -> (inside's outcome, outside's); a name that one side lacks has the outcome "absent" there."""
    return {name: (inside.get(name, "absent"), outside.get(name, "absent")) for name in [*outside, *(n for n in inside if n not in outside)]
            if inside.get(name, "absent") != outside.get(name, "absent")}


def split(case, found, entries):
    """(differences that no entry covers, number of those covered, entries of this case that cover none). Marks the entries seen."""
    new, listed = {}, 0
    for name, outcomes in found.items():
        covering = [entry for entry in entries if entry.covers(case, name)]
        for entry in covering:
            entry.seen = True
        if covering:
            listed += 1
        else:
            new[name] = outcomes
    return new, listed, [entry for entry in entries if entry.case == case and not entry.seen and not entry.sometimes]
