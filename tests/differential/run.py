"""Runs programs that nobody here wrote inside sandboxed sessions and in plain CPython with the same packages, and compares.

Every difference must stand in expected_differences.txt with its cause, and everything that stands there must still differ; else this
fails. What differs is run again, on both sides, before it counts: tests of timing fail now and then on any side. Runs on the host, as
root or as an ordinary user; the plain side is an ordinary user's in both cases.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import shutil
import signal
import sys
import tempfile
import time

import expected
import suites
from sides import Inside, Outside, Settings

TRIES = 3
DETAIL_LINES = 6
UNSTEADY_LINES = 20


class Report:
    """What came of one case over all its tries."""

    def __init__(self, case):
        self.case = case
        self.inside, self.outside = {}, {}
        self.new, self.listed, self.gone, self.unsteady, self.host_errors = {}, 0, [], [], []

    def alike(self):
        """Counts "equal", "skipped" and "failing" of what is the same on both sides; what stands in brackets, as "(run)", is no test."""
        counts = collections.Counter()
        for name, outcome in self.inside.items():
            if self.outside.get(name, "absent") == outcome and not name.startswith("("):
                failing = outcome in ("fail", "error", "unfinished") or str(outcome).endswith("subtests failed")
                counts["skipped" if outcome == "skip" else "failing" if failing else "equal"] += 1
        return counts

    def failed(self):
        return bool(self.new or self.gone or self.host_errors)


def both_sides(cases, settings, scratch):
    """case -> (inside's outcomes, outside's)."""
    for number, case in enumerate(cases):
        case.folder = tempfile.mkdtemp(prefix=f"inside-{number}-", dir=scratch)
    outside = Outside(settings, scratch)
    results = {case: [{}, {}] for case in cases}
    with concurrent.futures.ThreadPoolExecutor(settings.threads) as pool:
        waiting = {case: pool.submit(_timed_outside, case, outside) for case in cases}
        jobs = [{"id": str(number), **case.job(settings)} for number, case in enumerate(cases)]
        for outcome in Inside(settings).run(jobs):
            case = cases[int(outcome["id"])]
            case.seconds["inside"] = outcome["seconds"]
            results[case][0] = case.read_inside(outcome)
            _say(f"{case.name}: inside {outcome['seconds']:.1f} s")
        for case, future in waiting.items():
            results[case][1] = future.result()
    for case in cases:
        shutil.rmtree(case.folder, ignore_errors=True)
    return results


def _timed_outside(case, outside):
    start = time.monotonic()
    outcomes = case.run_outside(outside)
    case.seconds["outside"] = time.monotonic() - start
    _say(f"{case.name}: outside {case.seconds['outside']:.1f} s")
    return outcomes


def _say(text):
    print(f"  {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def run(cases, settings, scratch, entries):
    """Reports, after as many tries as the differences need."""
    reports = {case.name: Report(case) for case in cases}
    todo, first = {case.name: case for case in cases}, True
    for attempt in range(TRIES):
        if not todo:
            break
        results = both_sides(list(todo.values()), settings, scratch)
        again = {}
        for case, (inside, outside) in results.items():
            report = reports[case.name]
            if str(inside.get("(run)")).startswith("host error"):
                report.host_errors.append(inside["(run)"])  # ours, never a matter of timing
            found = expected.differences(inside, outside)
            new, listed, gone = expected.split(case.name, found, entries)
            if first:
                report.inside, report.outside, report.new, report.listed = inside, outside, new, listed
            else:
                report.case.details = case.details
                report.unsteady += [name for name in report.new if name not in found]
                report.new = {name: found[name] for name in report.new if name in found}
                report.inside.update(inside)
                report.outside.update(outside)
            report.gone = gone
            names = [*report.new, *(name for name in report.inside if any(entry.covers(case.name, name) for entry in gone))]
            if names:
                again[case.name] = report.case.narrowed(names) or case
        todo, first = again, False
    return list(reports.values())


def print_table(reports):
    width = max(len(report.case.name) for report in reports)
    print(f"{'case':{width}}  {'inside':>7} {'outside':>7} {'same':>7} {'listed':>6} {'new':>5} {'gone':>5}  {'in, s':>7} {'out, s':>7}")
    for report in reports:
        same = sum(report.outside.get(name) == outcome for name, outcome in report.inside.items())
        print(f"{report.case.name:{width}}  {len(report.inside):7} {len(report.outside):7} {same:7} {report.listed:6} {len(report.new):5} "
              f"{len(report.gone):5}  {report.case.seconds['inside']:7.1f} {report.case.seconds['outside']:7.1f}")


def print_differences(reports, details):
    for report in reports:
        for name, (inside, outside) in report.new.items():
            print(f"DIFFERS {report.case.name} | {name} | inside: {inside}; outside: {outside}")
            for side in ("inside", "outside") if details else ():
                lines = [line for line in report.case.details[side].get(name, "").splitlines() if line.strip()][-DETAIL_LINES:]
                for line in lines:
                    print(f"    {side}: {line[:300]}")
        for entry in report.gone:
            print(f"NO DIFFERENCE any more: expected_differences.txt:{entry.number}: {entry.case} | {entry.test}; take the line out")
        for error in report.host_errors:
            print(f"NOT RUN {report.case.name}: {error}")
        for name in report.unsteady[:UNSTEADY_LINES]:
            print(f"unsteady {report.case.name} | {name}: differed once, not again")
        if len(report.unsteady) > UNSTEADY_LINES:
            print(f"unsteady {report.case.name}: {len(report.unsteady) - UNSTEADY_LINES} more")


def print_totals(reports, at_least):
    """One line for each suite. False when fewer tests than `at_least` were equal: a suite that found none proves nothing."""
    enough = True
    for suite in dict.fromkeys(report.case.suite for report in reports):
        own = [report for report in reports if report.case.suite == suite]
        alike = sum((report.alike() for report in own), collections.Counter())
        listed, new, gone = (sum(map(count, own)) for count in (lambda report: report.listed, lambda report: len(report.new), lambda report: len(report.gone)))
        few = f"; {at_least} EQUAL ONES WERE EXPECTED" if alike["equal"] < at_least else ""
        print(f"{suite}: {alike['equal']} {own[0].case.unit} equal, {alike['skipped']} skipped and {alike['failing']} failing on both sides, "
              f"{listed} listed differences, {new} unlisted, {gone} listed that no longer differ{few}")
        enough = enough and not few
    return enough


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", required=True, help="cellblock-differential")
    parser.add_argument("--libexec", required=True, help="the folder of cellblock-guest and cellblock-init")
    parser.add_argument("--environment", required=True, help="the built Python environment")
    parser.add_argument("--packages", required=True, help="the built environment with pytest and hypothesis")
    parser.add_argument("--source", required=True, help="the top of the source tree, for examples/")
    parser.add_argument("--threads", type=int, default=1, help="how many cases run at once on each side")
    parser.add_argument("--at-least", type=int, default=1, help="how many tests of each suite must be equal")
    parser.add_argument("--only", action="append", default=[], help="a pattern of case names; may be given again")
    parser.add_argument("--expected", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected_differences.txt"))
    parser.add_argument("--no-details", action="store_true", help="print differences without tracebacks")
    parser.add_argument("suites", nargs="+", choices=sorted(suites.SUITES), metavar="SUITE", help=", ".join(sorted(suites.SUITES)))
    options = parser.parse_args()
    settings = Settings(options.driver, options.libexec, options.environment, options.packages, options.source, options.threads)
    cases = [case for name in options.suites for case in suites.make(name, settings)]
    if options.only:
        cases = [case for case in cases if any(fnmatch.fnmatchcase(case.name, pattern) for pattern in options.only)]
    if not cases:
        sys.exit("run.py: no case has such a name")
    start = time.monotonic()
    entries = expected.read(options.expected)
    scratch = tempfile.mkdtemp(prefix="cbd-")

    def leave(number, frame):
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(128 + number)  # everything started dies with this process

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    try:
        os.chmod(scratch, 0o755)
        reports = run(cases, settings, scratch, entries)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print_table(reports)
    print_differences(reports, not options.no_details)
    enough = print_totals(reports, options.at_least)
    print(f"{len(reports)} cases in {time.monotonic() - start:.0f} s")
    return 0 if enough and not any(report.failed() for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
