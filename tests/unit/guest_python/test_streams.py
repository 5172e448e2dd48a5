# Streams: order between the two and with child processes, odd text, streams that a cell closed or replaced, threads of earlier
# calls. CASES rows 23, 24, 28, 41, 43, 45 and their kind.

import time
import unittest

from support import Session, run


class OrderTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)

    def test_stdout_and_stderr_keep_their_order(self):
        outcome = self.session.run("import sys\nfor i in range(3):\n    print('o', i)\n    print('e', i, file=sys.stderr)")
        self.assertEqual([(k, c) for k, c in outcome.events], [("stdout", "o 0\n"), ("stderr", "e 0\n"), ("stdout", "o 1\n"), ("stderr", "e 1\n"), ("stdout", "o 2\n"), ("stderr", "e 2\n")])

    def test_text_without_a_line_end_keeps_its_order_too(self):
        outcome = self.session.run("import sys\nsys.stderr.write('1\\n'); sys.stdout.write('a'); sys.stderr.write('2\\n'); sys.stdout.write('b');")
        self.assertEqual(outcome.events, [("stderr", "1\n"), ("stdout", "a"), ("stderr", "2\n"), ("stdout", "b")])

    def test_binary_writes_are_ordered(self):
        outcome = self.session.run("import sys\nsys.stdout.buffer.write(b'x\\n'); sys.stdout.buffer.flush(); sys.stderr.buffer.write(b'y\\n'); sys.stderr.buffer.flush(); print('z')")
        self.assertEqual(outcome.events, [("stdout", "x\n"), ("stderr", "y\n"), ("stdout", "z\n")])

    def test_switches_are_ordered_up_to_the_limit_and_never_lost(self):
        from cellblock_guest import streams

        count = streams.SWITCHES_MAX // 2 + 100
        outcome = self.session.run(f"import sys\nfor i in range({count}):\n    print(i)\n    print(i, file=sys.stderr)")
        self.assertEqual(outcome.stdout, "".join(f"{i}\n" for i in range(count)))
        self.assertEqual(outcome.stderr, outcome.stdout)
        alternating = [kind for kind, _ in outcome.events]
        self.assertGreaterEqual(len(alternating), streams.SWITCHES_MAX)

    def test_a_switch_that_was_interrupted_is_made_good_before_the_next_cell(self):
        with Session() as session:
            session.run("import sys; [stream.__dict__.pop('write', None) for stream in (sys.stdout, sys.stderr)]; None")
            outcome = session.run("for i in range(3): print(i); print(i, file=sys.stderr)")
            self.assertEqual([kind for kind in outcome.kinds() if kind.startswith("std")], ["stdout", "stderr"] * 3)

    def test_displays_come_between_the_prints_around_them(self):
        outcome = self.session.run("print('a', end='')\ndisplay(1)\nprint('b')\n2")
        self.assertEqual(outcome.kinds(), ["stdout", "display", "stdout", "result"])

    def test_children_write_after_what_was_printed_before_them(self):
        for start in ("import subprocess; subprocess.run(['echo', 'child'])", "import os; os.system('echo child')", "import os; os.popen('echo child >&1').close(); os.system('echo child')",
                      "import os; os.waitpid(os.posix_spawn('/bin/echo', ['echo', 'child'], os.environ), 0)", "import os\nif os.fork() == 0:\n    os.write(1, b'child\\n'); os._exit(0)\nos.wait()",
                      "import multiprocessing\nimport os\np = multiprocessing.get_context('fork').Process(target=os.write, args=(1, b'child\\n'))\np.start(); p.join()",
                      "import os\nif os.fork() == 0:\n    os.execv('/bin/echo', ['echo', 'child'])\nos.wait()", "import asyncio\nasync def f():\n    p = await asyncio.create_subprocess_exec('echo', 'child')\n    await p.wait()\nasyncio.run(f())"):
            with self.subTest(start=start):
                self.assertEqual(self.session.run(f"print('before', end=' ')\n{start}\nprint('after')").stdout, "before child\nafter\n")

    def test_functions_that_start_programs_are_still_known_to_take_descriptors(self):
        self.assertEqual(self.session.run("import os\nos.execve in os.supports_fd, os.execv in os.supports_fd").result, "(True, False)")

    def test_a_forked_child_does_not_repeat_buffered_text(self):
        outcome = self.session.run("import os\nprint('once', end='')\npid = os.fork()\nif pid == 0:\n    print('child', end='', flush=True)\n    os._exit(0)\nos.waitpid(pid, 0)\nprint()")
        self.assertEqual(outcome.stdout, "oncechild\n")

    def test_displays_in_forked_children_become_text(self):
        outcome = self.session.run("import os\npid = os.fork()\nif pid == 0:\n    display(5)\n    os._exit(0)\n_ = os.waitpid(pid, 0)")
        self.assertEqual((outcome.stdout, outcome.of("display")), ("5\n", []))

    def test_c_code_printing_much_while_holding_the_gil(self):
        outcome = self.session.run("import ctypes\nctypes.PyDLL(None).printf(b'1' * 100000)\nctypes.PyDLL(None).fflush(None);")
        self.assertEqual(len(outcome.stdout), 100_000)
        self.assertEqual(self.session.run("2").result, "2")

    def test_sys_stdout_has_a_descriptor(self):
        self.assertEqual(self.session.run("import subprocess, sys\nsubprocess.run(['echo', 'hi'], stdout=sys.stdout);").stdout, "hi\n")
        self.assertEqual(self.session.run("sys.stdout.fileno(), sys.stderr.fileno(), sys.stdin.fileno(), sys.stdout.name, sys.stdout.encoding, sys.stdout.isatty()").result, "(1, 2, 0, '<stdout>', 'utf-8', False)")


class TextTest(unittest.TestCase):
    def test_lone_surrogates_do_not_end_the_session(self):
        with Session() as session:
            outcome = session.run("print('a\\udcc3b')\nimport sys\nprint('\\ud800', file=sys.stderr)")
            self.assertEqual((outcome.status, outcome.stdout, outcome.stderr), ("ok", "a\\udcc3b\n", "\\ud800\n"))
            self.assertEqual(session.run("'\\udcc3'").status, "ok")
            self.assertEqual(session.run("1").result, "1")

    def test_bytes_that_are_no_text(self):
        outcome = run("import os\nos.write(1, b'ok \\xff\\xfe \\xc3');")
        self.assertEqual(outcome.stdout, "ok \ufffd\ufffd \ufffd")

    def test_much_output_is_complete(self):
        outcome = run("print('x' * 1_000_000)\nprint('END')")
        self.assertEqual(outcome.stdout[-5:], "\nEND\n")
        self.assertEqual(len(outcome.stdout), 1_000_005)


class BrokenStreamTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)

    def check_alive(self):
        outcome = self.session.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\n3")
        self.assertEqual((outcome.stdout, outcome.stderr, outcome.result), ("out\n", "err\n", "3"))

    def test_streams_that_a_cell_broke_are_there_again_in_the_next(self):
        for code in ("import sys; sys.stdout.close()", "import sys; sys.stderr.close(); sys.stdout.close()", "import os; os.close(1)", "import os; os.close(2)", "import os; os.close(0); os.close(1); os.close(2)",
                     "import os; os.dup2(os.open('/dev/null', os.O_WRONLY), 1)", "import sys; sys.stdout = None", "import sys; del sys.stdout, sys.stderr", "import sys; sys.stdout.detach()",
                     "import sys; sys.stdin.close()", "import sys; sys.stdin = None", "import sys, io; sys.stdout = io.TextIOWrapper(sys.stdout.buffer, 'utf-8')\nsys.stdout = None",
                     "import os; os.close(1); f = open('/dev/null', 'w')", "class C:\n    @property\n    def closed(self): raise ValueError\nimport sys\nsys.stdout = sys.stderr = C()"):
            with self.subTest(code=code):
                self.session.run(code)
                self.check_alive()

    def test_a_wrapper_around_the_buffer_comes_out_at_the_end_of_the_cell(self):
        self.assertEqual(self.session.run("import sys, io\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint('wrapped')").stdout, "wrapped\n")

    def test_a_replaced_stdout_that_works_stays(self):
        self.session.run("import sys, io\nsys.stdout = buffer = io.StringIO()\nprint('kept')")
        self.assertEqual(self.session.run("sys.stdout = sys.__stdout__\nbuffer.getvalue()").result, "'kept\\n'")

    def test_redirect_contexts(self):
        outcome = self.session.run("import contextlib, io\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    print('in')\nprint('out')\nb.getvalue()")
        self.assertEqual((outcome.stdout, outcome.result), ("out\n", "'in\\n'"))

    def test_streams_that_a_cell_made_non_blocking_lose_and_delay_nothing_of_later_cells(self):
        outcome = self.session.run("import os\nos.set_blocking(1, False); os.set_blocking(2, False)\nprint('x' * 3_000_000)")
        self.assertEqual(outcome.error["name"], "BlockingIOError")
        outcome = self.session.run("import sys\nprint('y' * 3_000_000)\nprint('z' * 3_000_000, file=sys.stderr)\nos.get_blocking(1), os.get_blocking(2)")
        self.assertEqual((outcome.status, outcome.result), ("ok", "(True, True)"), outcome.error)
        self.assertEqual((len(outcome.stdout), len(outcome.stderr)), (3_000_001, 3_000_001))
        self.assertEqual((set(outcome.stdout), set(outcome.stderr), self.session.late), ({"y", "\n"}, {"z", "\n"}, []))
        self.session.run("import io\nos.set_blocking(1, False)\nsys.stdout = None\nos.dup2(os.open('/dev/null', os.O_WRONLY), 1)")
        self.assertEqual(self.session.run("os.get_blocking(1)").result, "True")
        self.check_alive()

    def test_descriptors_do_not_leak(self):
        count = "import os; len(os.listdir('/proc/self/fd'))"
        first = self.session.run(count).result
        for _ in range(20):
            self.session.run("import os; os.close(1); os.close(2)")
        self.assertEqual(self.session.run(count).result, first)


class ThreadTest(unittest.TestCase):
    def test_text_of_a_thread_of_an_earlier_call_says_so(self):
        with Session() as session:
            first = session.run("import threading, time\ngo, stop = threading.Event(), threading.Event()\ndef work():\n    print('first')\n    go.wait()\n    print('late\\nlines')\n    go.done = True\n    stop.wait()\nt = threading.Thread(target=work, daemon=True)\nt.start(); time.sleep(0.05)")
            self.assertEqual((first.stdout, first.threads), ("first\n", 1))
            second = session.run("go.set()\nwhile not hasattr(go, 'done'): time.sleep(0.01)\nprint('mine')")
            self.assertEqual(second.stdout, "[thread started in call 1] late\n[thread started in call 1] lines\nmine\n")
            own = session.run("u = threading.Thread(target=print, args=('new',)); u.start(); u.join()\nstop.set(); t.join()")
            self.assertEqual((own.stdout, own.threads), ("new\n", 0))
            self.assertEqual(session.run("u = threading.Thread(target=print, args=('again',)); u.start(); u.join()").stdout, "again\n")

    def test_threads_send_no_events_between_calls(self):
        with Session() as session:
            session.run("import threading, sys, time\nstop = threading.Event()\ndef work():\n    while not stop.is_set():\n        print('o'); print('e', file=sys.stderr); display(1)\nt = threading.Thread(target=work, daemon=True); t.start(); time.sleep(0.02)")
            for _ in range(200):
                self.assertFalse(session.ask("session.can_emit()"))
                time.sleep(0.005)
                session._drain(None)
                if session.late:
                    break
            outcome = session.run("stop.set(); t.join()\n'after'")
            self.assertEqual((outcome.status, outcome.result, outcome.threads), ("ok", "'after'", 0))
            self.assertTrue(session.late, "the thread wrote nothing between the calls: the test has not tested it")

    def test_an_error_in_a_thread_is_shown_with_its_lines(self):
        outcome = run("import threading\ndef f():\n    raise ValueError('in thread')\nt = threading.Thread(target=f, name='worker')\nt.start(); t.join()")
        self.assertEqual(outcome.status, "ok")
        self.assertIn("Exception in thread worker", outcome.stderr)
        self.assertIn("raise ValueError('in thread')", outcome.stderr)


class ProgressTest(unittest.TestCase):
    def test_tqdm_is_text_without_threads_or_warnings(self):
        with Session() as session:
            for line in ("from tqdm import tqdm", "from tqdm.auto import tqdm", "from tqdm.notebook import tqdm", "from tqdm.autonotebook import tqdm", "from tqdm.notebook import trange\ntqdm = lambda r: trange(len(r))"):
                with self.subTest(line=line):
                    outcome = session.run(f"{line}\nfor i in tqdm(range(2000)): pass")
                    self.assertEqual((outcome.status, outcome.threads, outcome.stdout), ("ok", 0, ""))
                    self.assertIn("2000/2000", outcome.stderr)
                    self.assertNotIn("Warning", outcome.stderr)


if __name__ == "__main__":
    unittest.main()
