# Errors as the user reads them: the user's frames alone, CPython's format, place in the submitted code, limits, odd exceptions.

import unittest

from support import Session, run


class ErrorTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)

    def error(self, code, **options):
        outcome = self.session.run(code, **options)
        self.assertEqual(outcome.status, "error", outcome.events)
        return outcome.error

    def test_traceback_is_cpythons_with_the_users_frames_alone(self):
        error = self.error("def f(x):\n    return x / 0\n\nf(1)")
        self.assertEqual(error["traceback"], 'Traceback (most recent call last):\n  File "Cell In[1]", line 4, in <module>\n    f(1)\n  File "Cell In[1]", line 2, in f\n    return x / 0\n           ~~^~~\nZeroDivisionError: division by zero')
        self.assertEqual((error["name"], error["value"], error["line"], error["column"]), ("ZeroDivisionError", "division by zero", 2, 12))

    def test_position_is_that_of_the_submitted_code(self):
        self.session.run("def old(x):\n\n    return x['k']")
        cases = (("old({})", 1, 1), ("x = 1\n\n\ny = old({})", 4, 5), ("é = 'ü'; 1/0", 1, 10), ("\n\n1/0", 3, 1), ("    x = 1\n    1/0", 2, 5), ("%time 1\n1/0", 2, 1), ("%%time\nx = 1\nx / 0", 3, 1),
                 ("%%capture\n\n1/0", 3, 1), ("if True:\n    [1][5]", 2, 5), ("await nope()", 1, 7), ("# c\nx = '''\n%a\n'''\n1/0", 5, 1), ("\n\n%%time\n1/0", 4, 1), ("exec('\\n\\n1/0')", 1, 1))
        for code, line, column in cases:
            with self.subTest(code=code):
                error = self.error(code)
                self.assertEqual((error["line"], error["column"]), (line, column), error["traceback"])

    def test_syntax_errors_have_line_caret_and_place(self):
        error = self.error("x = 1\ny = (2\nz = 3")
        self.assertEqual(error["traceback"], '  File "Cell In[1]", line 2\n    y = (2\n        ^\nSyntaxError: \'(\' was never closed')
        self.assertEqual((error["line"], error["column"]), (2, 5))
        self.assertEqual((self.error("if 1:\npass")["name"], self.error("\n\nx ==== 2")["line"], self.error("x = 'é' +* 2")["column"]), ("IndentationError", 3, 10))
        error = self.error("def f():\n  return 1\nreturn 2")
        self.assertEqual((error["name"], error["line"]), ("SyntaxError", 3))
        self.assertNotIn("codeop", error["traceback"])

    def test_errors_that_only_the_compiler_finds_have_line_and_caret_too(self):
        error = self.error("x = 1\nreturn 5\n")
        self.assertEqual(error["traceback"], '  File "Cell In[1]", line 2\n    return 5\n    ^^^^^^^^\nSyntaxError: \'return\' outside function')
        for code, line, column, lines in (("yield 5", 1, 1, "    yield 5\n    ^^^^^^^\n"), ("x = 'é'; yield 5", 1, 10, "    x = 'é'; yield 5\n             ^^^^^^^\n"), ("  é = 1\n  'é'; return 1", 2, 8, "    'é'; return 1\n         ^^^^^^^^\n"),
                                          ("%time 1\nreturn 5", 2, 1, "    return 5\n    ^^^^^^^^\n"), ("%%time\nreturn 5", 2, 1, "    return 5\n    ^^^^^^^^\n"), ("%%capture\nreturn 5", 2, 1, "    return 5\n    ^^^^^^^^\n"),
                                          ("return [\n  1]", 1, 1, "    return [\n    ^^^^^^^^\n"), ("def f():\n    nonlocal b", 2, 5, "    nonlocal b\n    ^^^^^^^^^^\n")):
            with self.subTest(code=code):
                error = self.error(code)
                self.assertEqual((error["line"], error["column"]), (line, column), error["traceback"])
                self.assertIn(lines, error["traceback"])
        self.assertNotIn("^", self.error("exec('return 5')")["traceback"])

    def test_characters_that_end_lines_for_ipython_alone_cause_no_warning_of_its(self):
        outcome = self.session.run("print(1)\u2028print(2)")
        self.assertEqual((outcome.status, outcome.stderr, outcome.error["name"]), ("error", "", "SyntaxError"))
        outcome = self.session.run("import warnings\nx = 'a\u2028b'\nwarnings.warn('mine')\n%time 1")
        self.assertEqual((outcome.status, outcome.stderr.count("UserWarning")), ("ok", 1), outcome.stderr)

    def test_no_machinery_frame_is_ever_shown(self):
        for code in ("%run nothere.py", "%timeit -n1 -r1 1/0", "%%time\n1/0", "display(1, foo=object())\n1/0", "get_ipython().run_line_magic('nosuch', '')", "class B:\n    def _repr_html_(self): 1/0\n    def __repr__(self): 1/0\nB()\n1/0",
                     "import pandas as pd\npd.DataFrame({'a': [1]})['b']", "!exit 1\n1/0", "await nope", "%config Nope.x = 1"):
            with self.subTest(code=code):
                outcome = self.session.run(code)
                text = (outcome.error or {"traceback": ""})["traceback"] + outcome.stderr
                self.assertNotIn("cellblock_guest", text)
                self.assertNotIn("IPython/", text)

    def test_library_frames_stay_and_long_runs_are_shortened(self):
        error = self.error("import pandas as pd\npd.DataFrame({'a': [1]})['b']")
        self.assertIn("pandas/core/frame.py", error["traceback"])
        with open(f"{self.session.folder}/deep.py", "w", encoding="utf-8") as file:
            file.write("".join(f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(60)) + "def f60(x):\n    return x / 0\n")
        error = self.error("import deep\ndeep.f0(1)")
        self.assertIn("frames left out", error["traceback"])
        self.assertIn("in f60", error["traceback"])
        self.assertIn("in f0", error["traceback"])
        self.assertLess(error["traceback"].count("File "), 45)
        error = self.error("import json, functools\ndef call(n, f):\n    return f()\nimport unittest.mock as m\nwith m.patch('json.loads', side_effect=ValueError):\n    json.loads('1')")
        self.assertLessEqual(error["traceback"].count("unittest/mock.py"), 6)

    def test_recursion_is_folded(self):
        error = self.error("def r(n): return r(n + 1)\nr(0)")
        self.assertIn("[Previous line repeated 9", error["traceback"])
        self.assertLess(len(error["traceback"]), 1000)
        error = self.error("def a(): return b()\ndef b(): return a()\na()")
        self.assertIn("[Previous 2 frames repeated 4", error["traceback"])
        self.assertLess(len(error["traceback"]), 1000)

    def test_chained_exceptions_and_groups(self):
        error = self.error("try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('second') from e")
        self.assertIn("The above exception was the direct cause", error["traceback"])
        self.assertEqual((error["name"], error["line"]), ("ValueError", 4))
        self.assertIn("During handling", self.error("try:\n    1/0\nexcept ZeroDivisionError:\n    {}['k']")["traceback"])
        self.assertNotIn("During", self.error("try:\n    1/0\nexcept ZeroDivisionError:\n    raise ValueError from None")["traceback"])
        error = self.error("def f(): 1/0\ntry:\n    f()\nexcept Exception as e:\n    raise ExceptionGroup('many', [e, TypeError('t')])")
        self.assertIn("+---------------- 2 ----------------", error["traceback"])
        self.assertNotIn("cellblock_guest", error["traceback"])
        self.assertIn("a note", self.error("e = ValueError('v')\ne.add_note('a note')\nraise e")["traceback"])

    def test_values_are_cut_at_their_limit(self):
        from cellblock_guest import errors

        for size in (errors.VALUE_BYTES_MAX - 1, errors.VALUE_BYTES_MAX, errors.VALUE_BYTES_MAX + 1, 5_000_000):
            with self.subTest(size=size):
                error = self.error(f"raise ValueError('a' * {size - 1} + 'z')")
                self.assertLessEqual(len(error["value"].encode()), errors.VALUE_BYTES_MAX)
                self.assertTrue(error["value"].endswith("z"))
                self.assertEqual("cut" in error["value"], size > errors.VALUE_BYTES_MAX)
                self.assertLessEqual(len(error["traceback"].encode()), errors.TRACEBACK_BYTES_MAX)
        error = self.error("raise ValueError('\\n'.join(['é' * 100] * 5000))")
        self.assertLessEqual(len(error["traceback"].encode()), errors.TRACEBACK_BYTES_MAX)
        self.assertIn("Traceback", error["traceback"])
        error = self.error("x = '" + "a" * 100_000 + "'; 1/0")
        self.assertLess(len(error["traceback"]), 20_000)

    def test_exceptions_that_misbehave(self):
        cases = {"class E(Exception):\n    def __str__(self): raise ValueError\nraise E()": "E",
                 "class E(Exception):\n    def __str__(self): return 5\nraise E()": "E",
                 "class M(type):\n    __name__ = property(lambda self: 1/0)\nclass E(Exception, metaclass=M): pass\nraise E('x')": "E",
                 "class E(Exception):\n    @property\n    def __notes__(self): raise ValueError\nraise E()": "E",
                 "class E(SyntaxError): pass\nraise E('odd')": "E",
                 "class E(SyntaxError):\n    filename = 5\n    lineno = 'x'\nraise E('odd')": "E",
                 "class E(Exception):\n    def __getattribute__(self, n): raise RuntimeError\nraise E()": "E",
                 "raise ValueError('lone \\ud800')": "ValueError",
                 "class E(Exception):\n    __module__ = 5\nraise E()": "E"}
        for code, name in cases.items():
            with self.subTest(code=code):
                self.assertEqual(self.error(code)["name"], name)
                self.assertEqual(self.session.run("1").result, "1")

    def test_memory_error_leaves_the_session_and_frees_its_frames(self):
        error = self.error("def f():\n    big = [0] * 10_000_000\n    raise MemoryError\nf()")
        self.assertEqual(error["name"], "MemoryError")
        self.assertIn("2,048 MiB", error["hint"])
        self.assertEqual(self.session.run("import gc\nsum(1 for o in gc.get_objects() if type(o) is list and len(o) == 10_000_000)").result, "0")

    def test_cleared_linecache_does_not_lose_the_lines(self):
        self.session.run("def f():\n    return 1 / 0")
        self.session.run("import linecache; linecache.clearcache()")
        self.assertIn("return 1 / 0", self.error("f()")["traceback"])

    def test_errors_shown_on_request_do_not_fail_the_cell(self):
        outcome = self.session.run("try:\n    1/0\nexcept ZeroDivisionError:\n    get_ipython().showtraceback()\n'went on'")
        self.assertEqual((outcome.status, outcome.result, outcome.error), ("ok", "'went on'", None))
        self.assertIn("ZeroDivisionError", outcome.stderr)
        self.session.run("1/0")
        self.assertIn("ZeroDivisionError", self.session.run("%tb").stderr)
        outcome = self.session.run("import sys\ntry:\n    1/0\nexcept ZeroDivisionError:\n    sys.excepthook(*sys.exc_info())")
        self.assertEqual((outcome.status, outcome.stderr.count("ZeroDivisionError")), ("ok", 1))
        outcome = self.session.run("sys.excepthook(1, '1', 1)")
        self.assertEqual(outcome.status, "ok")
        self.assertIn("TypeError: print_exception(): Exception expected for value, str found", outcome.stderr)

    def test_the_named_file_is_in_the_traceback(self):
        error = self.error("a = 1\nraise ValueError", file_name="job.py")
        self.assertIn('File "job.py", line 2', error["traceback"])
        self.assertEqual(error["line"], 2)

    def test_what_a_cell_prints_before_it_fails_comes_first(self):
        outcome = self.session.run("print('before')\n1/0")
        self.assertEqual(outcome.kinds(), ["stdout", "error"])

    def test_matplotlib_import_puts_nothing_before_an_error(self):
        outcome = run("import matplotlib; 1/0")
        self.assertEqual((outcome.stderr, outcome.kinds()), ("", ["error"]))


if __name__ == "__main__":
    unittest.main()
