# What a script's end brings about, in the order of an interpreter's own: threads, atexit, objects, files.
import gzip
import os
import shutil
import tempfile
import unittest
import zipfile

import support

_END = "from cellblock_guest import ending\nending.run()"


class EndingTest(unittest.TestCase):
    def end_of(self, *cells):
        """Runs the cells and the end; returns the end's outcome and reads files through self.file."""
        self.folder = tempfile.mkdtemp(prefix="guest-")  # TemporaryDirectory's finalizer would run in the worker, too
        self.addCleanup(shutil.rmtree, self.folder)
        session = support.Session(folder=self.folder)
        self.addCleanup(session.close)
        for cell in cells:
            outcome = session.run(cell)
            self.assertEqual(outcome.status, "ok", outcome.events)
        return session.run(_END)

    def file(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def test_files_that_nobody_closed_are_written(self):
        self.end_of(
            "f = open('open.txt', 'w'); n = f.write('text')",
            "import gzip; g = gzip.open('g.gz', 'wt'); n = g.write('packed')",
            "import zipfile; z = zipfile.ZipFile('z.zip', 'w'); z.writestr('a', 'b')",
            "import csv; w = csv.writer(open('w.csv', 'w')); n = w.writerow([1, 2])",
            "import sys; sys.kept_here = open('held.txt', 'w'); n = sys.kept_here.write('held')",
            "open('value.txt', 'w')",
            "n = _.write('in Out')",
        )
        self.assertEqual(self.file("open.txt"), b"text")
        self.assertEqual(gzip.decompress(self.file("g.gz")), b"packed")
        self.assertEqual(zipfile.ZipFile(os.path.join(self.folder, "z.zip")).namelist(), ["a"])
        self.assertEqual(self.file("w.csv"), b"1,2\r\n")
        self.assertEqual(self.file("held.txt"), b"held")
        self.assertEqual(self.file("value.txt"), b"in Out")

    def test_threads_are_waited_for_and_their_text_is_the_scripts(self):
        outcome = self.end_of("import threading, time\ndef later():\n    time.sleep(0.3)\n    print('late')\nthreading.Thread(target=later).start()")
        self.assertEqual(outcome.stdout, "late\n")

    def test_daemon_threads_are_not(self):
        outcome = self.end_of("import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()")
        self.assertEqual(outcome.status, "ok")
        self.assertLess(outcome.seconds, 20)

    def test_work_handed_to_a_pool_is_done(self):
        outcome = self.end_of("from concurrent.futures import ThreadPoolExecutor\nimport time\npool = ThreadPoolExecutor(2)\nf = pool.submit(lambda: (time.sleep(0.2), print('worked')))")
        self.assertEqual(outcome.stdout, "worked\n")

    def test_atexit_runs_last_in_first_out_before_objects_go(self):
        outcome = self.end_of(
            "import atexit\nclass Loud:\n    def __del__(self): print('gone')\nloud = Loud()\natexit.register(print, 'first in', 1)\natexit.register(lambda: print(type(loud).__name__))"
        )
        self.assertEqual(outcome.stdout, "Loud\nfirst in 1\ngone\n")

    def test_what_fails_is_told_and_stops_nothing(self):
        outcome = self.end_of("import atexit\nf = open('open.txt', 'w'); n = f.write('text')\ndef bad(): 1 / 0\nf_at = atexit.register(bad)")
        self.assertIn("ZeroDivisionError", outcome.stderr)
        self.assertEqual(self.file("open.txt"), b"text")

    def test_it_can_be_interrupted(self):
        session = support.Session(folder=tempfile.mkdtemp(prefix="guest-"))
        self.addCleanup(shutil.rmtree, session.folder)
        self.addCleanup(session.close)
        session.run("import threading\nstop = threading.Event()\nt = threading.Thread(target=stop.wait); t.start()")
        self.assertEqual(session.run(_END, interrupt_after=0.3).status, "interrupted")
        self.assertEqual(session.run("stop.set(); t.join(); 'alive'").status, "ok")


if __name__ == "__main__":
    unittest.main()
