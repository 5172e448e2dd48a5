# `GET …/variables` of sessions that wait for it: whatever their code hung into the interpreter, and switched on only when the cell had
# ended, it does not run for the list and cannot hold it up. Each time with a twin: the same things do run in a cell.
import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))  # started as -I
from server_test import Fixture

# hit() notes what ran in the main thread while the window was open: from half a second after the cell until `closed` is set.
SETUP = """
import builtins, gc, sys, threading, time
import pandas as pd
main, on, hits, closed = threading.get_ident(), [], [], []
def hit(what):
    if on and threading.get_ident() == main: hits.append(what)
def window():
    time.sleep(0.5)
    on.append(1)
    end = time.monotonic() + 4
    while time.monotonic() < end: time.sleep(0.05)
    on.clear()
frame = pd.DataFrame({"a": [1, 2]})
threading.Thread(target=window).start()
"""
HOOKS = {
    "profile": "sys.setprofile(lambda *_: hit('profile'))",
    "trace": "sys.settrace(lambda *_: hit('trace'))",
    "threads": "threading.setprofile(lambda *_: hit('profile')); threading.settrace(lambda *_: hit('trace'))",
    "audit": "sys.addaudithook(lambda event, _: hit(event))",
    "collector": "gc.callbacks.append(lambda *_: hit('gc')); gc.set_threshold(1)",
    "garbage": """
class Garbage:
    def __init__(self): self.me = self
    def __del__(self): hit('del')
gc.disable(); Garbage(); gc.set_threshold(1); gc.enable()
""",
    "builtins": """
def wrapped(name, original): return lambda *args, **more: (hit(name), original(*args, **more))[1]
for name in "len sum any isinstance issubclass getattr repr sorted min max id hash callable print iter next".split():
    setattr(builtins, name, wrapped(name, getattr(builtins, name)))
""",
    "streams": "sys.stdout.flush = sys.stderr.flush = lambda: hit('flush')",
    "shell": """
kind = type(get_ipython())
space = get_ipython().user_ns
kind.user_ns = property(lambda self: (hit('user_ns'), space)[1], lambda *_: None)
""",
    "modules": """
import json
for owner, name in ((pd.DataFrame, "shape"), (pd.Series, "dtype"), (pd.DataFrame, "columns"), (type(frame._mgr), "shape")):
    setattr(owner, name, property(lambda self, was=vars(owner).get(name): (hit(name), was.__get__(self))[1]))
json.dumps = json.JSONEncoder.encode = lambda *_: hit('json')
""",
}
HANGS = {
    "dtype": """
class Own(pd.api.extensions.ExtensionArray):
    def _wait(self):
        while on and threading.get_ident() == main: pass
    @property
    def dtype(self):
        self._wait()
        return pd.StringDtype()
    def __len__(self):
        self._wait()
        return 3
    def copy(self): return self
    def __getitem__(self, item): return self
series = pd.Series(Own())
""",
    "profile": "def wait(*_):\n    while on and threading.get_ident() == main: pass\nsys.setprofile(wait)",
}


class VariablesTest(Fixture):
    def listed(self, session):
        answer, body = self.server.ask("GET", f"/v1/sessions/{session}/variables")
        self.assertEqual(answer.status, 200, body)
        return {entry["name"]: entry for entry in body["variables"]}

    def in_the_window(self, code):
        """The session and its list, asked for while what the code left behind is switched on."""
        session = self.server.session()
        self.assertEqual(self.server.execute(session, SETUP + code)["status"], "ok")
        time.sleep(1.5)
        begin = time.monotonic()
        first, second = self.listed(session), self.listed(session)
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual((first["frame"]["shape"], first["frame"]["dtypes"]), ([2, 1], {"a": "int64"}))
        self.assertEqual(first, second)
        return session, first

    def value(self, session, code):
        return self.server.execute(session, code)["results"][0]["mime"]["text/plain"]

    def side_by_side(self, check, cases):
        threads = [threading.Thread(target=check, args=case) for case in cases.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def test_nothing_that_a_session_hung_into_its_interpreter_runs_for_the_list(self):
        found = {}

        def check(name, code):
            session, _ = self.in_the_window(code)
            time.sleep(4)
            found[name] = self.value(session, "list(hits)")

        self.side_by_side(check, HOOKS)
        self.assertEqual(found, {name: "[]" for name in HOOKS})

    def test_what_hangs_does_not_hold_the_list_up_and_the_variables_stay(self):
        found = {}

        def check(name, code):
            session, variables = self.in_the_window(code)
            time.sleep(4)
            found[name] = self.value(session, "int(frame.a.sum())"), variables.get("series", {}).get("shape")

        self.side_by_side(check, HANGS)
        self.assertEqual(found, {"dtype": ("3", [3]), "profile": ("3", None)})

    def test_the_same_things_run_in_a_cell(self):
        session = self.server.session()
        self.server.execute(session, SETUP + "\n".join(HOOKS[name] for name in ("profile", "audit", "collector", "modules")))
        time.sleep(1.5)
        hits = self.value(session, "frame.shape, json.dumps(1); sorted({hit for hit in hits if hit in ('profile', 'gc', 'shape', 'json', 'compile')})")
        self.assertNotEqual(hits, "[]")
        self.assertIn("profile", hits)


if __name__ == "__main__":
    unittest.main()
