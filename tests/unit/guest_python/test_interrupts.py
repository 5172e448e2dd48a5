# Interrupts: user code stops, the session lives, and an interrupt at any moment of our own bookkeeping breaks nothing. CASES row 27.

import os
import signal
import time
import unittest

from support import Session


class InterruptTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)
        self.session.run("kept = 5")

    def check_alive(self):
        outcome = self.session.run("print('out')\nkept")
        self.assertEqual((outcome.status, outcome.stdout, outcome.result), ("ok", "out\n", "5"))

    def test_what_python_can_stop_is_stopped_and_the_session_lives(self):
        for code in ("while True: pass", "import time\ntime.sleep(60)", "import re\nre.match('(a+)+$', 'a' * 60 + 'b')", "3 ** (2 ** 27) and 1\nwhile 1: pass", "import subprocess\nsubprocess.run(['sleep', '60'])", "!sleep 60", "%%bash\nsleep 60",
                     "import asyncio\nawait asyncio.sleep(60)", "import asyncio\nasyncio.run(asyncio.sleep(60))", "import socket\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); s.accept()", "%%time\nimport time\ntime.sleep(60)", "%%capture\nimport time\ntime.sleep(60)",
                     "get_ipython().run_cell('import time; time.sleep(60)')\nprint('went on')", "import threading\nthreading.Event().wait()", "import queue\nqueue.Queue().get()", "for i in range(10**9): print(i)"):
            with self.subTest(code=code):
                outcome = self.session.run(code, interrupt_after=0.5, seconds=20)
                self.assertEqual((outcome.status, outcome.error["name"]), ("interrupted", "KeyboardInterrupt"), outcome.events[-3:])
                self.assertNotIn("went on", outcome.stdout)
                self.assertNotIn("cellblock_guest", outcome.error["traceback"])
                self.check_alive()

    def test_the_place_is_told(self):
        outcome = self.session.run("import time\ndef wait():\n    time.sleep(60)\nwait()", interrupt_after=0.3)
        self.assertEqual(outcome.error["line"], 3)

    def test_an_interrupted_await_leaves_no_task_behind(self):
        self.session.run("import asyncio\nseen = []\nasync def f():\n    try:\n        await asyncio.sleep(60)\n    except asyncio.CancelledError:\n        seen.append('cancelled'); raise\n    seen.append('ended')\nawait f()", interrupt_after=0.5, seconds=20)
        self.assertEqual(self.session.run("await asyncio.sleep(0.01)\nseen, len(asyncio.all_tasks())").result, "(['cancelled'], 1)")

    def test_code_that_catches_it_goes_on(self):
        outcome = self.session.run("import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('caught')\n7", interrupt_after=0.3)
        self.assertEqual((outcome.status, outcome.stdout, outcome.result), ("ok", "caught\n", "7"))

    def test_a_handler_of_user_code_lasts_for_its_cell(self):
        outcome = self.session.run("import signal, time\ngot = []\nsignal.signal(signal.SIGINT, lambda s, f: got.append(s))\nend = time.time() + 1\nwhile time.time() < end: pass\ngot", interrupt_after=0.3)
        self.assertEqual(outcome.result, "[2]")
        self.assertEqual(self.session.run("while True: pass", interrupt_after=0.3, seconds=20).status, "interrupted")

    def test_an_interrupt_between_calls_hits_no_cell(self):
        os.kill(self.session.pid, signal.SIGINT)
        time.sleep(0.1)
        self.check_alive()

    def test_interrupts_at_any_moment_leave_the_session_whole(self):
        """Cells of microseconds under a hail of signals, in the thick of which lie our own bookkeeping and the channel."""
        self.session.run("import matplotlib.pyplot as plt\nimport os, signal, threading, time\nn = 0")
        cells = ("n += 1", "n", "print(n)\n1/0", "display(n)", "%who_ls int", "plt.figure(figsize=(1, 1)); plt.plot([1]);", "def f(): return n\nf()", "import asyncio\nawait asyncio.sleep(0)")
        child = os.fork()
        if child == 0:
            try:
                for i in range(3000):
                    os.kill(self.session.pid, signal.SIGINT)
                    time.sleep(0.0005 + (i % 13) * 0.0002)
            finally:
                os._exit(0)
        count = 0
        try:
            while os.waitpid(child, os.WNOHANG)[0] == 0:
                outcome = self.session.run(cells[count % len(cells)], seconds=30)
                self.assertIn(outcome.status, ("ok", "error", "interrupted"))
                errors = outcome.of("error")
                self.assertEqual(len(errors), outcome.status != "ok", outcome.events)
                self.assertLessEqual(len(outcome.of("result")), 1)
                count += 1
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
        self.assertGreater(count, 50)
        self.check_alive()
        outcome = self.session.run("len(In), get_ipython().execution_count, get_ipython().executing, plt.get_fignums()")
        inputs, executions, executing, figures = eval(outcome.result)
        self.assertEqual((executions, executing, figures), (inputs, 1, []), outcome.result)
        self.assertEqual(self.session.run("import sys\nsys.displayhook is get_ipython().displayhook").result, "True")


class WhereTest(unittest.TestCase):
    def test_an_interrupt_at_every_line_of_our_own_code(self):
        """A trace function sends the signal at each line of our files in turn, one a call."""
        with Session() as session:
            session.run("import sys, os, signal\nimport cellblock_guest\nfolder = os.path.dirname(cellblock_guest.__file__)\nhits = 0\ndef at(n):\n    global hits\n    hits = 0\n    def trace(frame, event, arg):\n        global hits\n        if not frame.f_code.co_filename.startswith(folder) or 'hints' in frame.f_code.co_filename: return None\n        if event == 'line':\n            hits += 1\n            if hits == n:\n                os.kill(os.getpid(), signal.SIGINT)\n        return trace\n    sys.settrace(trace)")
            total, n = 0, 1
            while n < 4000:
                outcome = session.run(f"at({n})\n'value'", seconds=30)
                self.assertIn(outcome.status, ("ok", "interrupted"), outcome.events)
                outcome = session.run("sys.settrace(None)\nhits", seconds=30)
                self.assertIn(outcome.status, ("ok", "interrupted"), outcome.events)
                check = session.run("sys.settrace(None)\nhits")
                self.assertEqual(check.status, "ok")
                total += 1
                if int(check.result) < n:
                    break
                n += 1 if n < 150 else 7
            self.assertGreater(total, 60)
            self.assertEqual(session.run("1 + 1").result, "2")


if __name__ == "__main__":
    unittest.main()
