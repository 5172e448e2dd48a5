# The short path of plain cells and IPython's path must be the same to the user: each sample is run both ways, in sessions of their own,
# and all events, statuses and the names left behind are compared.

import re
import unittest

from samples import SAMPLES
from support import Session, without_addresses

_VOLATILE = ("%time", "%timeit")


def both(cells):
    results = []
    for short_path in (True, False):
        with Session(short_path=short_path) as session:
            outcomes = []
            for cell in cells:
                outcome = session.run(cell)
                events = [] if cell.startswith(_VOLATILE) else outcome.events
                outcomes.append((cell, outcome.status, outcome.exit_code, events))
            names = session.run("sorted(n for n in globals())").events
        folder = session.folder
        results.append(_normal(outcomes, folder) + [_normal(names, folder)])
    return results


def _normal(value, folder):
    if isinstance(value, str):
        # how deep the stack was below the user's first frame is no promise, and shows in this number alone
        return re.sub(r"repeated \d+ more", "repeated N more", value.replace(folder, "FOLDER"))
    if isinstance(value, (list, tuple)):
        return type(value)(_normal(item, folder) for item in value)
    if isinstance(value, dict):
        return {key: _normal(item, folder) for key, item in value.items()}
    return value


class PathsTest(unittest.TestCase):
    maxDiff = 4000

    def test_the_list_is_long_enough(self):
        self.assertGreaterEqual(len(SAMPLES), 60)

    def test_most_cells_take_the_short_path(self):
        """Else the comparison would compare IPython with itself."""
        with Session() as session:
            session.run("import cellblock_guest.runner as r\nrun_short = r.Runner._run_short\nr.taken = 0\ndef counting(self, code):\n    done = run_short(self, code)\n    r.taken += done\n    return done\nr.Runner._run_short = counting")
            for cell in ("1+1", "x = 1\nx", "def f():\n    return 1\nf()", "1/0", "print('a')"):
                session.run(cell)
            self.assertEqual(session.run("%who_ls str\nr.taken").result, "5")


def _add(name, cells):
    def test(self):
        short, full = both(cells)
        for one, other in zip(short, full):
            self.assertEqual(without_addresses(one), without_addresses(other))

    setattr(PathsTest, f"test_sample_{name.replace(' ', '_')}", test)


for _name, _cells in SAMPLES.items():
    _add(_name, _cells)


if __name__ == "__main__":
    unittest.main()
