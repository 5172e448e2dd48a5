# What a notebook user expects of cells: state, values, exit, async, magics, help. CASES rows 29 to 33 and their kind.

import unittest

from support import Session, run


class StateTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)

    def run_cell(self, code, **options):
        return self.session.run(code, **options)

    def test_variables_live_on_between_cells(self):
        self.run_cell("x = [1]")
        self.run_cell("x.append(2)")
        self.assertEqual(self.run_cell("x").result, "[1, 2]")

    def test_sys_exit_ends_the_cell_with_its_code_and_keeps_the_session(self):
        self.run_cell("x = 1")
        for code, expected in (("import sys; sys.exit(0)", 0), ("exit(3)", 3), ("quit(4)", 4), ("exit", 0), ("exit()", 0), ("raise SystemExit", 0),
                               ("import sys\nsys.exit(7)", 7), ("def f():\n    exit(9)\nf()", 9), ("sys.exit(-1)", -1), ("sys.exit(True)", 1)):
            with self.subTest(code=code):
                outcome = self.run_cell(code)
                self.assertEqual((outcome.status, outcome.exit_code), ("exited", expected))
                self.assertEqual(outcome.kinds(), [])
        self.assertEqual(self.run_cell("x").result, "1")

    def test_exit_with_a_message_prints_it_on_stderr_and_means_1(self):
        outcome = self.run_cell("import sys\nsys.exit('no such file')")
        self.assertEqual((outcome.status, outcome.exit_code, outcome.stderr), ("exited", 1, "no such file\n"))

    def test_exit_inside_a_cell_magic_ends_the_cell(self):
        outcome = self.run_cell("%%capture\nimport sys\nsys.exit(5)")
        self.assertEqual((outcome.status, outcome.exit_code), ("exited", 5))

    def test_exit_in_an_imported_module_works(self):
        with open(f"{self.session.folder}/leaves.py", "w", encoding="utf-8") as file:
            file.write("def go():\n    exit(6)\n")
        self.assertEqual(self.run_cell("import leaves\nleaves.go()").exit_code, 6)

    def test_name_is_main(self):
        self.assertEqual(self.run_cell("if __name__ == '__main__': print('in')").stdout, "in\n")

    def test_functions_and_comprehensions_see_top_level_names(self):
        self.assertEqual(self.run_cell("x=5\ndef d(): return x*2\nd(), [x*i for i in (1,2)]").result, "(10, [5, 10])")

    def test_globals_is_the_namespace(self):
        self.run_cell("globals()['made'] = 3")
        self.assertEqual(self.run_cell("made").result, "3")
        self.assertEqual(self.run_cell("del made\n'made' in globals()").result, "False")

    def test_asyncio_run_and_then_top_level_await(self):
        self.assertEqual(self.run_cell("import asyncio\nasyncio.run(asyncio.sleep(0))").status, "ok")
        self.assertEqual(self.run_cell("await asyncio.sleep(0, 'slept')").result, "'slept'")
        self.assertEqual(self.run_cell("async with asyncio.timeout(5):\n    y = await asyncio.sleep(0, 8)\ny").result, "8")
        self.assertEqual(self.run_cell("[i async for i in agen()]").error["name"], "NameError")
        self.assertEqual(self.run_cell("asyncio.run(asyncio.sleep(0, 2))").result, "2")

    def test_tasks_go_on_in_the_next_cell_that_awaits(self):
        self.run_cell("import asyncio\nseen = []\nasync def later():\n    await asyncio.sleep(0.01)\n    seen.append(1)\ntask = asyncio.create_task(later())\nawait asyncio.sleep(0)")
        self.assertEqual(self.run_cell("await task\nseen").result, "[1]")

    def test_underscores_and_out(self):
        self.run_cell("40")
        self.run_cell("2")
        self.assertEqual(self.run_cell("_ + __").result, "42")
        self.assertEqual(self.run_cell("Out[1], _3, In[1]").result, "(40, 42, '40')")
        self.assertEqual(self.run_cell("_i").result, "'Out[1], _3, In[1]'")

    def test_a_users_own_underscore_is_left_alone(self):
        self.run_cell("_ = 'mine'")
        self.run_cell("5")
        self.assertEqual(self.run_cell("_").result, "'mine'")

    def test_out_and_in_are_bounded(self):
        from cellblock_guest import history

        for number in range(history.ENTRIES_MAX + 20):
            self.run_cell(f"{number}")
        outcome = self.run_cell("len(Out), len([i for i in In if i]), '_1' in globals(), '_i1' in globals(), Out[1000], In[1000]")
        self.assertEqual(outcome.result, f"({history.ENTRIES_MAX}, {history.ENTRIES_MAX}, False, False, 999, '999')")
        self.assertEqual(outcome.stderr, "")

    def test_in_is_bounded_by_its_text_too(self):
        from cellblock_guest import history

        big = "'" + "a" * (history.INPUT_BYTES_MAX // 4) + "';"
        for _ in range(5):
            self.run_cell(big)
        self.assertLess(int(self.run_cell("sum(map(len, In))").result), history.INPUT_BYTES_MAX)

    def test_arguments_and_file_name(self):
        outcome = self.run_cell("import sys\nprint(sys.argv, __file__)", file_name="report.py", arguments=["a", "b c"])
        self.assertEqual(outcome.stdout, f"['report.py', 'a', 'b c'] {self.session.folder}/report.py\n")
        self.assertIn('File "report.py", line 2', self.run_cell("\n1/0", file_name="report.py").error["traceback"])

    def test_empty_cells_do_nothing(self):
        for code in ("", "   \n\t\n", "# only a comment", "\n\n"):
            with self.subTest(code=code):
                outcome = self.run_cell(code)
                self.assertEqual((outcome.status, outcome.events), ("ok", []))

    def test_line_ends_of_other_systems(self):
        self.assertEqual(self.run_cell("a = 1\r\nb = 2\r\na + b\r\n").result, "3")
        self.assertEqual(self.run_cell("a = 5\rb = 6\ra + b").result, "11")

    def test_uploaded_modules_can_be_imported(self):
        with open(f"{self.session.folder}/mine.py", "w", encoding="utf-8") as file:
            file.write("value = 11\n")
        self.assertEqual(self.run_cell("import mine\nmine.value").result, "11")

    def test_pickling_of_what_cells_define(self):
        self.assertEqual(self.run_cell("import pickle\nclass A: pass\ndef f(): return 4\npickle.loads(pickle.dumps(f))(), type(pickle.loads(pickle.dumps(A()))) is A").result, "(4, True)")

    def test_inspect_finds_the_source(self):
        self.run_cell("def f(x):\n    return x + 1")
        self.assertEqual(self.run_cell("import inspect\nprint(inspect.getsource(f))").stdout, "def f(x):\n    return x + 1\n\n")

    def test_input_raises_eof_error_at_once(self):
        for code in ("input('x')", "import getpass; getpass.getpass()"):
            with self.subTest(code=code):
                outcome = self.run_cell(code)
                self.assertEqual(outcome.error["name"], "EOFError")
                self.assertIn("stdin", outcome.error["hint"])
                self.assertLess(outcome.seconds, 5)
        self.assertEqual(self.run_cell("import sys; sys.stdin.read()").result, "''")

    def test_no_files_or_folders_appear(self):
        import os

        self.run_cell("%time 1\nimport matplotlib.pyplot as plt\nplt.plot([1])\n%who\n!true")
        self.assertEqual(os.listdir(self.session.folder), [])
        self.assertFalse(os.path.exists("/tmp/.ipython"))

    def test_builtins_that_cannot_be_called_are_put_back_and_wrappers_stay(self):
        self.run_cell("import builtins\nfor name in ('len', 'isinstance', 'repr', 'str', 'print', 'type', 'getattr', 'int'):\n    setattr(builtins, name, None)\n1/0")
        self.assertEqual(self.run_cell("len([1]), str(2), repr(3)").result, "(1, '2', '3')")
        self.run_cell("del builtins.len")
        self.assertEqual(self.run_cell("len([1, 2])").result, "2")
        self.run_cell("builtins.abs = lambda x: 'mine'")
        self.assertEqual(self.run_cell("abs(-1)").result, "'mine'")

    def test_builtins_that_fail_in_the_sessions_own_code_are_put_back_and_the_user_is_told(self):
        for name in ("isinstance", "getattr", "hasattr", "str", "issubclass", "tuple", "map", "compile", "next", "list", "max", "__import__"):
            for broken in ("lambda *a, **k: 1/0", "object().__eq__", "range"):
                with self.subTest(name=name, broken=broken), Session() as session:
                    session.run(f"import builtins\nbuiltins.{name} = {broken}")
                    told = "".join(session.run(cell).stderr for cell in ("x = (", "1/0", "%time 1"))
                    self.assertEqual(told.count("put back"), 1 if name == "isinstance" else min(told.count("put back"), 1), told)
                    outcome = session.run("print('works')\n2")
                    self.assertEqual((outcome.status, outcome.stdout, outcome.result), ("ok", "works\n", "2"), outcome.error)
                    self.assertEqual(session.run("x = (").error["name"], "SyntaxError")
                    self.assertIn("line 1, in <module>\n", session.run("1/0").error["traceback"])

    def test_wrappers_of_builtins_that_work_stay_whatever_the_cells_raise(self):
        self.run_cell("import builtins\nreal = isinstance\ndef isinstance_(o, c): return real(o, c)\nbuiltins.isinstance = isinstance_\nclass E(Exception):\n    @property\n    def __notes__(self): raise ValueError")
        for cell in ("x = (", "1/0", "%nosuch", "raise MemoryError", "x = '\0'", "(" * 300, "raise E", "await nope", "return 1", "isinstance(1, 2)", "'\ud800'.encode()"):
            self.assertEqual(self.run_cell(cell).stderr, "", cell)
        self.assertEqual(self.run_cell("builtins.isinstance is isinstance_").result, "True")

    def test_a_forked_child_that_runs_to_the_end_of_its_cell_ends_there(self):
        outcome = self.run_cell("import os\npid = os.fork()\nif pid == 0:\n    print('child', flush=True)\nelse:\n    _, s = os.waitpid(pid, 0)\n    print('status', os.waitstatus_to_exitcode(s))")
        self.assertEqual(outcome.stdout, "child\nstatus 0\n")
        outcome = self.run_cell("pid = os.fork()\nif pid == 0:\n    1/0\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))")
        self.assertEqual(outcome.stdout, "1\n")
        self.assertEqual(self.run_cell("2").result, "2")


    def test_an_error_in_a_forked_child_is_on_stderr_with_its_lines(self):
        outcome = self.run_cell("import os\nif os.fork() == 0: raise ValueError('child died')\nos.waitstatus_to_exitcode(os.wait()[1])")
        self.assertEqual((outcome.status, outcome.result, outcome.stdout), ("ok", "1", ""))
        self.assertEqual(outcome.stderr, "Traceback (most recent call last):\n  File \"Cell In[1]\", line 2, in <module>\n    if os.fork() == 0: raise ValueError('child died')\n                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\nValueError: child died\n")
        outcome = self.run_cell("if os.fork() == 0: raise SystemExit(4)\nos.waitstatus_to_exitcode(os.wait()[1])")
        self.assertEqual((outcome.result, outcome.stderr), ("4", ""))

    def test_a_forked_child_that_runs_to_the_end_shows_no_value_and_no_figure(self):
        outcome = self.run_cell("import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\n'v'")
        self.assertEqual((outcome.result, outcome.stdout), ("'v'", ""))
        outcome = self.run_cell("import matplotlib.pyplot as plt\nplt.plot([1])\npid = os.fork()\nif pid: os.waitpid(pid, 0)")
        self.assertEqual((len(outcome.images), outcome.stdout, outcome.stderr), (1, "", ""))


class MagicTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)

    def test_shell_commands_write_in_order(self):
        outcome = self.session.run("print('a')\n!echo b; echo c >&2\nprint('d')")
        self.assertEqual(outcome.stdout, "a\nb\nd\n")
        self.assertEqual(outcome.stderr, "c\n")
        self.assertEqual(self.session.run("!exit 3\n_exit_code").result, "3")
        self.assertEqual(self.session.run("n = 5\n!echo {n} $n").stdout, "5 5\n")
        self.assertEqual(self.session.run("files = !echo x; echo y\nfiles").result, "['x', 'y']")

    def test_shell_commands_do_not_deadlock_on_much_output(self):
        outcome = self.session.run("!head -c 1000000 /dev/zero | tr '\\\\0' x")
        self.assertEqual(len(outcome.stdout), 1_000_000)

    def test_shell_output_is_captured_with_the_cell(self):
        self.assertEqual(self.session.run("%%capture out\n!echo inside").stdout, "")
        self.assertEqual(self.session.run("out.stdout").result, "'inside\\n'")

    def test_bash_and_script_cells(self):
        outcome = self.session.run("%%bash\necho one\necho two >&2\n")
        self.assertEqual((outcome.stdout, outcome.stderr, outcome.threads), ("one\n", "two\n", 0))
        self.assertEqual(self.session.run("%%bash --out text\necho kept").stdout, "")
        self.assertEqual(self.session.run("text").result, "'kept\\n'")
        self.assertEqual(self.session.run("%%sh\nexit 4").error["name"], "CalledProcessError")
        self.assertEqual(self.session.run("%%sh --no-raise-error\nexit 4").status, "ok")
        self.assertEqual(self.session.run("%%script sh\necho via").stdout, "via\n")
        self.assertIn("no program 'nosuch'", self.session.run("%%script nosuch\n1").stderr)

    def test_bash_gets_its_text_from_a_pipe_that_may_be_long(self):
        outcome = self.session.run("%%bash\n" + "echo 12345678\n" * 20_000)
        self.assertEqual(len(outcome.stdout), 20_000 * 9)

    def test_timing_magics(self):
        self.assertIn("Wall time", self.session.run("%%time\nsum(range(10))").stdout)
        self.assertEqual(self.session.run("%time 5").result, "5")
        self.assertIn("per loop", self.session.run("%timeit -n1 -r1 1").stdout)

    def test_matplotlib_magic_is_harmless(self):
        for code in ("%matplotlib inline", "%matplotlib agg", "%matplotlib", "%config InlineBackend.figure_format = 'retina'"):
            with self.subTest(code=code):
                outcome = self.session.run(code)
                self.assertEqual((outcome.status, outcome.events), ("ok", []))
        self.assertIn("no display", self.session.run("%matplotlib qt").stderr)

    def test_installers_say_at_once_that_there_is_no_network(self):
        for code in ("%pip install foo", "!pip install foo", "!pip3 install -q foo", "%conda install foo", "!python -m pip install foo", "pip install foo",
                     "!conda install -y foo", "!apt-get install foo", "%uv pip install foo"):
            with self.subTest(code=code):
                outcome = self.session.run(code)
                self.assertEqual(outcome.status, "ok")
                self.assertIn("cannot install foo: the network is off", outcome.stderr)
                self.assertIn("numpy", outcome.stderr)
                self.assertLess(outcome.seconds, 5)
        outcome = self.session.run("%pip install numpy pandas>=1.0")
        self.assertEqual((outcome.stderr, outcome.stdout.count("already satisfied")), ("", 2))

    def test_help_is_text(self):
        outcome = self.session.run("len?")
        self.assertIn("Return the number of items", outcome.of("display")[0]["mime"]["text/plain"])
        self.session.run("def f():\n    'doc of f'\n    return 1")
        self.assertIn("return 1", self.session.run("f??").of("display")[0]["mime"]["text/plain"])
        self.assertIn("doc of f", self.session.run("?f").of("display")[0]["mime"]["text/plain"])

    def test_automagic(self):
        self.assertEqual(self.session.run("pwd").result, repr(self.session.folder))
        self.assertEqual(self.session.run("pwd = 3\npwd").result, "3")
        self.assertEqual(self.session.run("pwd").result, "3")

    def test_history_and_namespace_magics(self):
        self.session.run("alpha = 1")
        self.assertIn("alpha", self.session.run("%who").stdout)
        self.assertIn("alpha = 1", self.session.run("%history").stdout)
        self.assertEqual(self.session.run("%reset -f").status, "ok")
        self.assertEqual(self.session.run("alpha").error["name"], "NameError")
        self.assertEqual(self.session.run("1 + 1").result, "2")
        self.assertEqual(self.session.run("get_ipython() is not None and __name__").result, "'__main__'")

    def test_unknown_magic_is_a_clear_error(self):
        outcome = self.session.run("%nosuchmagic")
        self.assertEqual(outcome.error["name"], "UsageError")
        self.assertEqual(outcome.error["traceback"], "UsageError: Line magic function `%nosuchmagic` not found.")

    def test_run_magic_runs_a_file(self):
        with open(f"{self.session.folder}/script.py", "w", encoding="utf-8") as file:
            file.write("import sys\nprint('ran', sys.argv[1:], __name__)\nleft = 5\n")
        self.assertEqual(self.session.run("%run script.py x").stdout, "ran ['x'] __main__\n")
        self.assertEqual(self.session.run("left").result, "5")

    def test_writefile_and_cd(self):
        self.session.run("%%writefile a.txt\nhello")
        self.assertEqual(self.session.run("open('a.txt').read()").result, "'hello\\n'")

    def test_load_ext_autoreload_works_as_in_notebooks(self):
        self.assertEqual(self.session.run("%load_ext autoreload\n%autoreload 2").status, "ok")
        self.assertEqual(self.session.run("1 + 1").result, "2")

    def test_continued_magic_lines_do_not_move_the_ones_after_them(self):
        outcome = self.session.run("!echo a \\\n  b\n1/0")
        self.assertEqual((outcome.stdout, outcome.error["line"]), ("a b\n", 3))

    def test_every_magic_of_ipython_works_or_says_why_not(self):
        for kind, table in (("%", "line"), ("%%", "cell")):
            for name in eval(self.session.run(f"sorted(get_ipython().magics_manager.magics['{table}'])").result):
                if name in ("run", "%", "!", "debug", "ruby", "pypy", "perl", "python2", "node", "loadpy", "load", "save", "SVG", "svg", "code_wrap"):
                    continue
                code = f"{kind}{name}" if kind == "%" else f"%%{name}\n1"
                with self.subTest(code=code):
                    outcome = self.session.run(code, seconds=60)
                    self.assertIn(outcome.status, ("ok", "error"))
                    if outcome.error:
                        self.assertIn(outcome.error["name"], ("UsageError", "CalledProcessError", "FileNotFoundError", "IndexError", "TypeError", "ValueError", "NameError", "ModuleNotFoundError"), outcome.error)
                    self.assertEqual(outcome.threads, 0)
        self.assertEqual(self.session.run("1 + 1").result, "2")

    def test_what_magics_remember_stays_in_the_session(self):
        self.session.run("kept = 3\n%store kept")
        self.assertIn("kept", self.session.run("%store").stdout)
        self.session.run("%bookmark here")
        self.assertIn("here", self.session.run("%bookmark -l").stdout)
        self.assertIn("hello", self.session.run("%%writefile t.txt\nhello").stdout + self.session.run("%less t.txt").of("display")[0]["mime"]["text/plain"])
        self.assertEqual(self.session.run("%clear").of("clear"), [{"wait": False}])

    def test_breakpoint_goes_on(self):
        outcome = self.session.run("breakpoint()\nprint('after')")
        self.assertEqual((outcome.status, outcome.stdout), ("ok", "after\n"))
        self.assertIn("no interactive debugger", outcome.stderr)


class OneShotTest(unittest.TestCase):
    def test_what_the_issue_calls_a_first_cell(self):
        outcome = run("1+1")
        self.assertEqual((outcome.status, outcome.result, outcome.kinds()), ("ok", "2", ["result"]))


if __name__ == "__main__":
    unittest.main()
