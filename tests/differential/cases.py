# What is compared: a case is one thing that runs both ways and gives, on each side, a dict from a name (a test's id, "stdout", "value")
# to an outcome. Here are the base and the two kinds that run whole test suites; the other kinds are in their own files. Runs on the host.

import json
import os
import shutil
import xml.etree.ElementTree as ElementTree

from sides import PYTHON

# What test suites need and ordinary sessions need not: room for large (sparse) files and many processes. Other limits are the defaults.
SUITE_LIMITS = {"memory_bytes": 4 << 30, "tmp_bytes": 1 << 30, "shm_bytes": 512 << 20, "output_bytes": 4 << 20, "processes": 512,
                "file_bytes": 16 << 30}
TESTS_FOLDER = "/opt/tests"  # where a session sees what is mounted for a suite
THIRD_PARTY = "third_party/cpython-3.11.2"  # test modules that Debian leaves out


class Case:
    """name: suite/thing. details: name -> what to print beside a difference, filled by the last run of each side."""

    unit = "tests"

    def __init__(self, name, timeout_seconds=240):
        self.name = name
        self.timeout_seconds = timeout_seconds
        self.details = {"inside": {}, "outside": {}}
        self.seconds = {"inside": 0.0, "outside": 0.0}
        self.suite = None  # its suite's name, given by suites.make
        self.folder = None  # for files that the driver fetches; given by run.py before the run

    def job(self, settings):
        """The driver's job, without its id."""
        raise NotImplementedError

    def read_inside(self, outcome):
        """dict of outcomes out of what the driver answered."""
        raise NotImplementedError

    def run_outside(self, outside):
        """dict of outcomes from plain CPython."""
        raise NotImplementedError

    def narrowed(self, names):
        """A case that covers at least these names, for another try; None: run this one again."""
        return None

    def collected(self, name):
        return os.path.join(self.folder, name)


def read_outcomes(path):
    """(dict of outcomes, dict of details, seconds) out of a file written by programs/*_outcomes.py."""
    outcomes, details, seconds = {}, {}, 0.0
    if not os.path.exists(path):
        return outcomes, details, seconds
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # cut off where the run was ended
            if "seconds" in entry:
                seconds = entry["seconds"]
            else:
                outcomes[entry["test"]] = entry["outcome"]
                details[entry["test"]] = entry["detail"]
    return outcomes, details, seconds


def ended(outcome):
    """How the last cell of a job ended, as Outside.run says it; with what there is to know in other cases."""
    if outcome["host_error"]:
        return f"host error: {outcome['host_error']}"
    cell = outcome["cells"][-1]
    if cell["status"] == "ok":
        return "ok"
    return f"{cell['status']}: {cell['reason'] or cell['exit_code']}"


class UnittestCase(Case):
    """One of CPython's own test modules, run by a cell in the session's worker itself."""

    def __init__(self, module, timeout_seconds, without=(), tests=(), name=None):
        super().__init__(name or f"worker/{module}", timeout_seconds)
        self.module, self.without, self.tests = module, tuple(without), tuple(tests)

    def job(self, settings):
        cell = f"import unittest_outcomes\nunittest_outcomes.run({self.module!r}, 'outcomes.jsonl', {TESTS_FOLDER!r}, {self.without!r}, {self.tests!r})"
        return {"cells": [cell], "mounts": [[os.path.join(settings.here, THIRD_PARTY), TESTS_FOLDER]], "limits": SUITE_LIMITS, "timeout_seconds": self.timeout_seconds,
                "files": [[os.path.join(settings.here, "programs", "unittest_outcomes.py"), "unittest_outcomes.py"]],
                "collect": [["outcomes.jsonl", self.collected("outcomes.jsonl")]]}

    def read_inside(self, outcome):
        outcomes, self.details["inside"], self.seconds["inside"] = read_outcomes(self.collected("outcomes.jsonl"))
        outcomes["(run)"] = ended(outcome)
        return outcomes

    def run_outside(self, outside):
        folder = outside.folder()
        program = outside.put(folder, os.path.join(outside.settings.here, "programs", "unittest_outcomes.py"), "unittest_outcomes.py")
        arguments = json.dumps([self.module, "outcomes.jsonl", os.path.join(outside.settings.here, THIRD_PARTY), self.without, self.tests])
        status = outside.run([PYTHON, program, arguments], folder, self.timeout_seconds)
        outcomes, self.details["outside"], self.seconds["outside"] = read_outcomes(os.path.join(folder, "w", "outcomes.jsonl"))
        outcomes["(run)"] = status
        shutil.rmtree(folder, ignore_errors=True)
        return outcomes

    def narrowed(self, names):
        if any(name.startswith(("(", "setUp", "tearDown")) for name in names):
            return None
        return UnittestCase(self.module, self.timeout_seconds, (), [name.partition(" #")[0] for name in names], self.name)


REGRTEST = ["-m", "test", "--junit-xml=outcomes.xml", "-u", "decimal,subprocess"]


class RegrtestCase(Case):
    """One of CPython's own test modules, run by `python3 -m test` in a child process of the session."""

    def __init__(self, module, timeout_seconds, without=(), matches=(), name=None):
        super().__init__(name or f"child/{module}", timeout_seconds)
        self.module = module
        chosen = [part for pattern in without for part in ("-i", pattern)] + [part for match in matches for part in ("-m", match)]
        self.arguments = [*REGRTEST, *chosen, module.removeprefix("test.")]

    def job(self, settings):
        cell = f"import subprocess, sys\nsubprocess.run([sys.executable, *{self.arguments!r}]).returncode"
        return {"cells": [cell], "limits": SUITE_LIMITS, "timeout_seconds": self.timeout_seconds, "collect": [["outcomes.xml", self.collected("outcomes.xml")]]}

    def read_inside(self, outcome):
        outcomes = self._read("inside", self.collected("outcomes.xml"))
        status = ended(outcome)
        if status == "ok":
            code = outcome["cells"][-1]["value"]
            status = "ok" if code == "0" else f"exit {code}"
        outcomes["(run)"] = status
        return outcomes

    def run_outside(self, outside):
        folder = outside.folder()
        status = outside.run([PYTHON, *self.arguments], folder, self.timeout_seconds)
        outcomes = self._read("outside", os.path.join(folder, "w", "outcomes.xml"))
        outcomes["(run)"] = status
        shutil.rmtree(folder, ignore_errors=True)
        return outcomes

    def narrowed(self, names):
        if any(" " in name or not name.startswith("test.") for name in names):
            return None
        return RegrtestCase(self.module, self.timeout_seconds, (), names, self.name)

    def _read(self, side, path):
        outcomes, self.details[side] = {}, {}
        if not os.path.exists(path):
            return outcomes
        for case in ElementTree.parse(path).getroot().iter("testcase"):
            outcome, detail = "pass", ""
            for kind in ("error", "failure", "skipped", "output"):
                part = case.find(kind)
                if part is not None:
                    outcome = {"failure": "fail", "skipped": "skip", "output": "expected failure"}.get(kind, kind)
                    detail = part.text or ""
            outcomes[case.get("name")] = outcome
            self.details[side][case.get("name")] = detail
            self.seconds[side] += float(case.get("time") or 0)
        return outcomes


class PytestCase(Case):
    """Part of NumPy's or pandas' own test suite, run by pytest in the session's worker itself."""

    def __init__(self, name, selection, timeout_seconds):
        super().__init__(name, timeout_seconds)
        self.selection = list(selection)

    def job(self, settings):
        cell = f"import pytest_outcomes\npytest_outcomes.run('outcomes.jsonl', {TESTS_FOLDER!r}, {self.selection!r})"
        return {"cells": [cell], "limits": SUITE_LIMITS, "timeout_seconds": self.timeout_seconds,
                "mounts": [[os.path.join(settings.packages, "site-packages"), TESTS_FOLDER]],
                "files": [[os.path.join(settings.here, "programs", "pytest_outcomes.py"), "pytest_outcomes.py"]],
                "collect": [["outcomes.jsonl", self.collected("outcomes.jsonl")]]}

    def read_inside(self, outcome):
        outcomes, self.details["inside"], self.seconds["inside"] = read_outcomes(self.collected("outcomes.jsonl"))
        outcomes["(run)"] = ended(outcome)
        return outcomes

    def run_outside(self, outside):
        folder = outside.folder()
        program = outside.put(folder, os.path.join(outside.settings.here, "programs", "pytest_outcomes.py"), "pytest_outcomes.py")
        arguments = os.path.join(folder, "t", "selection.json")
        with open(arguments, "w", encoding="utf-8") as file:
            json.dump(self.selection, file)
        packages = os.path.join(outside.settings.packages, "site-packages")
        status = outside.run([PYTHON, program, "outcomes.jsonl", packages, arguments], folder, self.timeout_seconds)
        outcomes, self.details["outside"], self.seconds["outside"] = read_outcomes(os.path.join(folder, "w", "outcomes.jsonl"))
        outcomes["(run)"] = status
        shutil.rmtree(folder, ignore_errors=True)
        return outcomes

    def narrowed(self, names):
        tests = [name for name in names if "::" in name]
        options = [item for item in self.selection if item.startswith("-")]
        return PytestCase(self.name, [*options, *tests], self.timeout_seconds) if len(tests) == len(names) else None
