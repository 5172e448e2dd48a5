# Runs a selection of a package's own tests with pytest and writes each test's outcome, one JSON object a line, as it goes. The same
# file runs in a session's worker (as a module that a cell calls) and under plain python3 (as a script). Runs with the rights of
# whoever tests.

import json
import os
import sys
import time

DETAIL_CHARACTERS_MAX = 2000


class Recorder:
    """A pytest plugin."""

    def __init__(self, write):
        self.write = write

    def pytest_runtest_logstart(self, nodeid, location):
        self.write({"test": nodeid, "outcome": "unfinished", "detail": ""})

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            outcome, detail = _outcome(report)
            self.write({"test": report.nodeid, "outcome": outcome, "detail": detail[-DETAIL_CHARACTERS_MAX:]})

    def pytest_collectreport(self, report):
        if report.outcome != "passed":
            self.write({"test": report.nodeid, "outcome": f"collection {report.outcome}", "detail": report.longreprtext[-DETAIL_CHARACTERS_MAX:]})


def _outcome(report):
    if hasattr(report, "wasxfail"):
        return {"skipped": "expected failure", "passed": "unexpected success"}.get(report.outcome, report.outcome), ""
    if report.outcome == "skipped":
        return "skip", str(report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr)
    if report.outcome == "failed":
        return "fail" if report.when == "call" else "error", report.longreprtext
    return "pass", ""


def run(path, packages, selection):
    """Runs `selection` (pytest's arguments); `packages` holds pytest, and stands last on the path so that it hides nothing."""
    if packages not in sys.path:
        sys.path.append(packages)
    import numpy
    import pytest

    root = os.path.dirname(os.path.dirname(numpy.__file__))
    path = os.path.abspath(path)
    home = os.getcwd()
    start = time.monotonic()
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:

        def write(entry):
            file.write(json.dumps(entry) + "\n")
            file.flush()

        options = [f"--rootdir={root}", "-c", os.devnull, "-p", "no:cacheprovider", "-p", "no:faulthandler", "-q", "--no-header", "--tb=short",
                   "--show-capture=no", "--hypothesis-seed=0", "-m", "not slow and not network and not db"]
        try:
            code = pytest.main([*options, *(_absolute(root, item) for item in selection)], plugins=[Recorder(write)])
        finally:
            os.chdir(home)
        write({"test": "(pytest)", "outcome": f"exit {int(code)}", "detail": ""})
        write({"seconds": time.monotonic() - start})


def _absolute(root, item):
    return item if item.startswith("-") or "/" not in item else os.path.join(root, item)


if __name__ == "__main__":
    with open(sys.argv[3], encoding="utf-8") as given:
        run(sys.argv[1], sys.argv[2], json.load(given))
