# Runs one of CPython's own test modules with unittest and writes each test's outcome, one JSON object a line, as it goes: a run that is
# ended half way still says how far it came. The same file runs in a session's worker (as a module that a cell calls) and under plain
# python3 (as a script). Runs with the rights of whoever tests.

import collections
import fnmatch
import importlib
import json
import os
import random
import sys
import time
import unittest

# Of regrtest's optional resources those that need neither network, screen, sound nor much time.
RESOURCES = ["decimal", "subprocess"]
DETAIL_CHARACTERS_MAX = 2000


class Outcomes(unittest.TestResult):
    def __init__(self, write):
        super().__init__()
        self.write = write
        self.failed_subtests = {}
        self.counts = collections.Counter()
        self.current = None, ""

    def _name(self, test):
        """Its id; some modules have several tests of one id."""
        return self.current[1] if self.current[0] is test else test.id()

    def _note(self, test, outcome, detail=""):
        self.write({"test": self._name(test), "outcome": outcome, "detail": detail[-DETAIL_CHARACTERS_MAX:]})

    def startTest(self, test):
        super().startTest(test)
        name = test.id()
        self.counts[name] += 1
        self.current = test, name if self.counts[name] == 1 else f"{name} #{self.counts[name]}"
        self._note(test, "unfinished")

    def addSuccess(self, test):
        self._note(test, "pass")

    def addError(self, test, err):
        self._note(test, "error", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self._note(test, "fail", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        if isinstance(test, unittest.case._SubTest):
            self._note(self.current[0], "subtests skipped", str(reason))  # and the rest passed, or it gets another outcome
        else:
            self._note(test, "skip", str(reason))

    def addExpectedFailure(self, test, err):
        self._note(test, "expected failure")

    def addUnexpectedSuccess(self, test):
        self._note(test, "unexpected success")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            name = self._name(test)
            count, detail = self.failed_subtests.get(name, (0, ""))
            detail += f"{subtest._subDescription()}: {err[0].__name__}: {err[1]}\n"
            self.failed_subtests[name] = count + 1, detail
            self._note(test, f"{count + 1} subtests failed", detail)


def _run(module, extra, without, tests, result):
    """As regrtest: a module's own test_main, which makes it ready, if it has one."""

    def run_suite(suite):
        _deeper(10, unittest.TestSuite(_chosen(suite, without, tests)).run, result)

    main = getattr(importlib.import_module(module), "test_main", None)
    if main is None:
        run_suite(_load(module, extra))
        return
    from test import support

    support._run_suite = run_suite  # what run_unittest calls, and with that every test_main
    main()


def _load(module, extra):
    folder = os.path.join(extra, module.rpartition(".")[2])
    if os.path.isdir(folder):  # not where such a package's own load_tests looks for its modules
        names = sorted(name[:-3] for name in os.listdir(folder) if name.startswith("test_") and name.endswith(".py"))
        return unittest.defaultTestLoader.loadTestsFromNames([f"{module}.{name}" for name in names])
    return unittest.defaultTestLoader.loadTestsFromName(module)


def _chosen(suite, without, tests):
    """Those of `tests` (all, when there are none), without those that a pattern matches. A module's load_tests has prepared them, so they
    are picked out of the whole."""
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from _chosen(part, without, tests)
        elif (not tests or part.id() in tests) and not any(fnmatch.fnmatchcase(part.id(), pattern) for pattern in without):
            yield part


def _deeper(levels, function, *arguments):
    """Some tests look at the callers' frames and expect as many as regrtest makes."""
    return function(*arguments) if levels == 0 else _deeper(levels - 1, function, *arguments)


def run(module, path, extra, without=(), tests=()):
    """Runs `module`, or only the `tests` of it, given by their ids, without those whose ids match the patterns `without`; `extra` is a
    folder of more modules of the package `test`."""
    import test
    from test import support
    from test.support import os_helper

    test.__path__.append(extra)
    random.seed(1)  # the tests that want other numbers make generators of their own
    support.use_resources = RESOURCES
    support.verbose = 0
    support.record_original_stdout(sys.stdout)
    home = os.getcwd()
    path = os.path.abspath(path)
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:

        def write(entry):
            file.write(json.dumps(entry) + "\n")
            file.flush()

        start = time.monotonic()
        try:
            with os_helper.temp_cwd("test_cwd"):
                try:
                    _run(module, extra, without, set(tests), Outcomes(write))
                except unittest.SkipTest as skip:
                    write({"test": "(module)", "outcome": "skip", "detail": str(skip)})
        finally:
            os.chdir(home)
        write({"seconds": time.monotonic() - start})


if __name__ == "__main__":
    run(*json.loads(sys.argv[1]))
