# The zygote: single-threaded, no files left open, no trace of its warm-up, clear errors for what it cannot preload; cheap children.

import json
import os
import subprocess
import sys
import unittest

import support
from support import Session

HERE = os.path.dirname(os.path.abspath(__file__))


def run_zygote(code):
    done = subprocess.run([sys.executable, "-c", "import support, os, sys\n" + code], capture_output=True, text=True, timeout=120, cwd=HERE)
    return done.returncode, done.stdout, done.stderr


class ZygoteTest(unittest.TestCase):
    def test_it_stays_single_threaded_and_opens_nothing(self):
        code, out, err = run_zygote(
            "before = sorted(os.listdir('/proc/self/fd'))\nsupport.zygote()\nprint(len(os.listdir('/proc/self/task')), sorted(os.listdir('/proc/self/fd')) == before, 'sqlite3' in sys.modules, 'jedi' in sys.modules)"
        )
        self.assertEqual((code, out, err), (0, "1 True False False\n", ""))

    def test_every_module_of_the_default_preload_is_there(self):
        self.assertEqual(run_zygote("support.zygote()\nprint(all(m in sys.modules for m in support.PRELOAD))")[1], "True\n")

    def test_a_module_that_is_not_there_is_an_error(self):
        code, _, err = run_zygote("from cellblock_guest import zygote\nzygote.preload(['no_such_module'])")
        self.assertNotEqual(code, 0)
        self.assertIn("No module named 'no_such_module'", err)

    def test_number_of_modules_is_bounded(self):
        from cellblock_guest import zygote

        self.assertIn(f"limit {zygote.MODULES_MAX}", run_zygote(f"from cellblock_guest import zygote\nzygote.preload(['os'] * {zygote.MODULES_MAX + 1})")[2])
        self.assertEqual(run_zygote(f"from cellblock_guest import zygote\nzygote.preload(['os'] * {zygote.MODULES_MAX})")[0], 0)

    def test_warm_up_leaves_no_trace(self):
        with Session() as session:
            names = eval(session.run("sorted(n for n in globals() if not n.startswith('__'))").result)
            self.assertEqual(set(names) - {"_i", "_ii", "_iii", "_i1"}, {"In", "Out", "_", "_dh", "_ih", "_oh", "exit", "get_ipython", "quit"})
            self.assertEqual(session.run("get_ipython().execution_count, len(In), Out[1] == sorted(Out[1]), len(Out)").result, "(3, 3, True, 1)")
            self.assertEqual(session.run("import sys, linecache\n[n for n in linecache.cache if 'Cell' in n], hasattr(sys, 'last_value')").result, "(['Cell In[1]', 'Cell In[2]', 'Cell In[3]'], False)")
            self.assertEqual(session.run("import matplotlib.pyplot as plt\nplt.get_fignums(), plt.gcf().number").result, "([], 1)")

    def test_matplotlib_in_the_zygote_reads_the_prebuilt_font_list(self):
        code, out, err = run_zygote("support.zygote()\nimport matplotlib\nprint(matplotlib.get_cachedir().endswith('/mpl'), os.path.exists(os.path.expanduser('~/.cache/matplotlib')))")
        self.assertEqual((code, out.split()[0], err), (0, "True", ""))

    def test_a_worker_starts_within_few_milliseconds(self):
        """Not a benchmark: a guard against imports or look-ups creeping into the start of each session."""
        support.zygote()
        code = "import time\nsupport.zygote()\nfrom cellblock_guest import worker\nt = time.thread_time()\nworker.start(lambda k, f: None, support.OPTIONS)\nprint(time.thread_time() - t < 0.03)"
        self.assertEqual(run_zygote(code)[1], "True\n")

    def test_starting_a_session_imports_nothing(self):
        code = "support.zygote()\nbefore = set(sys.modules)\nfrom cellblock_guest import worker\nworker.start(lambda k, f: None, support.OPTIONS)\nworker.run('1+1', {'call': 1})\nworker.run('1/0', {'call': 2})\nworker.run('import matplotlib.pyplot as p; p.plot([1]);', {'call': 3})\nprint(sorted(set(sys.modules) - before))"
        self.assertEqual(run_zygote(code)[1], "[]\n")


class ReviewTest(unittest.TestCase):
    def test_the_default_preload_is_reviewed(self):
        with open(os.path.join(support.ROOT, "python_env", "preload-review.json"), encoding="utf-8") as file:
            review = json.load(file)
        for module in support.PRELOAD:
            self.assertEqual(review["modules"][module]["preload"], "ok", module)
            self.assertIn(module, review["ok"])
        self.assertEqual(review["modules"]["polars"]["preload"], "no")

    def test_a_module_that_starts_threads_is_refused_by_name(self):
        code, _, err = run_zygote("from cellblock_guest import zygote\nzygote.preload(['numpy', 'polars'])")
        self.assertNotEqual(code, 0)
        self.assertIn("preloading polars started", err)


class EnvironmentTest(unittest.TestCase):
    def test_variables_of_the_session(self):
        with Session(environment={"LANG": "C.UTF-8", "MINE": "x", "HOME": "/elsewhere"}, cpus=3, time_zone="Asia/Tokyo") as session:
            self.assertEqual(session.run("import os, time\nos.environ['MINE'], os.environ['HOME'], os.environ['OMP_NUM_THREADS'], time.tzname[0], os.environ['MPLBACKEND']").result, "('x', '/elsewhere', '3', 'JST', 'agg')")
            self.assertEqual(session.run("import datetime\ndatetime.datetime.fromtimestamp(0).hour").result, "9")
            self.assertEqual(session.run("!echo $MINE").stdout, "x\n")

    def test_the_folders_for_the_users_packages_lie_in_the_sessions_home(self):
        code = "import os, site, sysconfig\n{os.path.relpath(path) for path in (site.USER_BASE, site.getuserbase(), sysconfig.get_config_var('userbase'))}"
        with Session() as session:
            self.assertEqual(session.run(code).result, "{'.local'}")


if __name__ == "__main__":
    unittest.main()
