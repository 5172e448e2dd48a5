#!/usr/bin/python3
# What a cell costs in the guest's Python side alone: the short path, IPython's path beside it, and the interpreter's own compile and
# exec as the primitive to compare with. Prints a table; run by hand, never as a timed test:
#     /usr/bin/python3 tests/perf/guest_runner.py [--cells N]
# Goal for `1+1` by the short path: 30 µs in the middle on a quiet 2-core machine of the reference class.

import argparse
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "unit", "guest_python"))

import support  # noqa: E402

FIFTY_LINES = "\n".join(f"v{i} = [x * {i} for x in range(5)]" if i % 5 else f"def f{i}(a):\n    return a + {i}" for i in range(46))
CELLS = (
    ("1+1", "1+1"),
    ("x = 1", "x = 1"),
    ("print", "print('a')"),
    ("list of 10", "list(range(10))"),
    ("50 lines", FIFTY_LINES),
    ("frame as value", "df"),
    ("1/0", "1/0"),
)


def measure(function, count):
    times = []
    for _ in range(count):
        started = time.perf_counter_ns()
        function()
        times.append(time.perf_counter_ns() - started)
    times.sort()
    return times[0] / 1000, times[count // 2] / 1000, times[count * 99 // 100] / 1000


def row(name, numbers):
    sys.stderr.write(f"{name:38} {numbers[0]:9.1f} {numbers[1]:9.1f} {numbers[2]:9.1f}\n")


def main():
    parser = argparse.ArgumentParser(description="Times cells in the guest's Python side.")
    parser.add_argument("--cells", type=int, default=2000, help="runs of each cell (default 2000)")
    count = parser.parse_args().cells
    support.zygote()
    os.chdir(tempfile.mkdtemp(prefix="guest-perf-"))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    from cellblock_guest import worker

    worker.start(lambda kind, fields: None, support.OPTIONS)
    worker.run("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})", {"call": 1})
    sys.stderr.write(f"{'µs':38} {'min':>9} {'median':>9} {'p99':>9}\n")
    namespace = {}
    row("compile and exec 1+1 (primitive)", measure(lambda: exec(compile("1+1\n", "c", "exec"), namespace), count))
    for short_path in (True, False):
        worker._runner.short_path = short_path
        for name, code in CELLS:
            runs = count if short_path else max(count // 10, 20)
            runs = max(runs // 10, 20) if name in ("50 lines", "frame as value", "1/0") else runs
            row(f"{'short path' if short_path else 'IPython path'}: {name}", measure(lambda code=code: worker.run(code, {"call": 2}), runs))


if __name__ == "__main__":
    main()
