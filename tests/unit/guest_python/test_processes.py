# Child processes: functions of cells in fork, spawn and forkserver pools, executors and joblib; also those defined after the pool.
# Never a hang. CASES rows 5, 6, 7, 59 on the Python side.

import os
import signal
import time
import unittest

from support import Session, run

SECONDS = 60  # for a call that must not hang
LOKY_WORKERS = "sys.modules['joblib.externals.loky.reusable_executor']._executor._processes"


def kill_workers(session, processes, how=signal.SIGKILL):
    """What the supervisor does at the end of a call; how many they were."""
    pids = session.ask(f"list({processes})")
    session.ask(f"[os.kill(pid, {int(how)}) for pid in {pids}]")
    for pid in pids:
        while is_running(pid):
            time.sleep(0.001)
    return len(pids)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False



def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


class PoolTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)
        self.session.run("import multiprocessing, os, sys\ndef f(x): return x*x")

    def value(self, code):
        outcome = self.session.run(code, seconds=SECONDS)
        self.assertEqual(outcome.status, "ok", outcome.error)
        return outcome.result

    def test_function_of_a_cell_under_every_start_method(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                self.assertEqual(self.value(f"with multiprocessing.get_context('{method}').Pool(2) as p: r = p.map(f,[1,2])\nr"), "[1, 4]")
        self.assertEqual(self.value("multiprocessing.get_context('spawn').Pool(2).map(f,[1,2])"), "[1, 4]")

    def test_functions_and_classes_defined_after_the_pool(self):
        for method in ("fork", "spawn"):
            with self.subTest(method=method):
                self.session.run(f"pool = multiprocessing.get_context('{method}').Pool(1)")
                self.session.run("N = 5\ndef late(x): return f(x) + N")
                self.assertEqual(self.value("pool.map(late, [1, 2])"), "[6, 9]")
                self.session.run("def f(x): return -x")
                self.assertEqual(self.value("pool.map(f, [3])"), "[-3]")
                self.session.run("from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\n    def double(self): return self.a * 2\ndef make(i): return P(i)")
                self.assertEqual(self.value("[p.double() for p in pool.map(make, [1, 2])], pool.apply(P.double, (P(4),))"), "([2, 4], 8)")
                self.session.run("import functools\n@functools.lru_cache\ndef cached(x): return x + 1")
                self.assertEqual(self.value("pool.map(cached, [1])"), "[2]")
                self.session.run("pool.terminate()\ndef f(x): return x*x")

    def test_state_set_by_an_initializer(self):
        self.session.run("def init(a):\n    global shared\n    shared = a\ndef use(i): return shared[i]")
        for method in ("fork", "spawn"):
            with self.subTest(method=method):
                self.assertEqual(self.value(f"with multiprocessing.get_context('{method}').Pool(2, initializer=init, initargs=([5,6],)) as p: r = p.map(use, [0,1])\nr"), "[5, 6]")

    def test_global_values_that_functions_refer_to_reach_spawned_children(self):
        self.session.run("import numpy as np\ntable = np.arange(4)\nlookup = {'a': 1}\nclass Base: k = 3\nclass Child(Base):\n    def v(self): return self.k + lookup['a'] + int(table[2])\nhelper = lambda: 1\ndef g(i): return Child().v() + i")
        self.assertEqual(self.value("with multiprocessing.get_context('spawn').Pool(1) as p: r = p.map(g, [0, 1])\nr"), "[6, 7]")

    def test_cells_are_not_run_again_in_spawned_children(self):
        self.session.run("print('once')\nopen('ran.txt', 'a').write('x')")
        self.value("with multiprocessing.get_context('spawn').Pool(1) as p: r = p.map(f, [1])\nr")
        self.assertEqual(self.value("open('ran.txt').read()"), "'x'")

    def test_what_cannot_be_pickled_is_a_prompt_error(self):
        for code in ("with multiprocessing.Pool(1) as p: p.map(lambda x: x, [1])", "with multiprocessing.get_context('spawn').Pool(1) as p: p.map(lambda x: x, [1])"):
            with self.subTest(code=code):
                outcome = self.session.run(code, seconds=SECONDS)
                self.assertEqual((outcome.status, outcome.error["name"]), ("error", "PicklingError"))

    def test_a_worker_that_dies_ends_the_waiting_calls(self):
        self.session.run("def die(x): os._exit(3)\ndef shot(x): os.kill(os.getpid(), 9)")
        for name, words in (("die", "exit code 3"), ("shot", "signal 9")):
            outcome = self.session.run(f"with multiprocessing.Pool(2) as p: p.map({name}, [1, 2])", seconds=SECONDS)
            self.assertEqual((outcome.status, outcome.error["name"]), ("error", "RuntimeError"))
            self.assertIn(words, outcome.error["value"])
        self.assertEqual(self.value("with multiprocessing.Pool(2) as p: r = p.map(f, [1, 2])\nr"), "[1, 4]")

    def test_a_pool_that_is_ended_while_a_dead_worker_is_replaced_does_not_hang(self):
        # As the pool's own threads find it then: the worker that came last is not in the list that sentinels are sent to. (One of these
        # threads may see that and start another, which takes the sentinel; the worker that is in no list waits on then.)
        self.assertEqual(self.value("p = multiprocessing.Pool(1); p.map(f, [1]); late = p._pool.pop(); p.terminate(); late.kill(); late.join(); late.is_alive()"), "False")

    def test_a_name_that_is_gone_in_the_child_does_not_hang(self):
        self.session.run("exec('def made(x): return x')\npool = multiprocessing.Pool(1)\nexec('def made_late(x): return x')")
        self.assertEqual(self.value("pool.map(made, [1])"), "[1]")
        outcome = self.session.run("pool.map(made_late, [1])", seconds=SECONDS)
        self.assertEqual(outcome.status, "error")
        self.assertEqual(self.value("1+1"), "2")

    def test_executor(self):
        self.assertEqual(self.value("from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(2) as e: r = list(e.map(f, range(4)))\nr"), "[0, 1, 4, 9]")
        self.assertEqual(self.value("with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context('spawn')) as e: r = list(e.map(f, range(4)))\nr"), "[0, 1, 4, 9]")

    def test_process_queue_and_subclass(self):
        self.assertEqual(self.value("ctx = multiprocessing.get_context('spawn')\nq = ctx.Queue()\ndef put(q): q.put(f(6))\np = ctx.Process(target=put, args=(q,)); p.start(); r = q.get(timeout=30); p.join(); r, p.exitcode"), "(36, 0)")
        self.assertEqual(self.session.run("class T(multiprocessing.Process):\n    def run(self): print('child')\nt = T(); t.start(); t.join()", seconds=SECONDS).stdout, "child\n")

    def test_errors_in_children_show_the_cells_lines(self):
        self.session.run("def bad(x):\n    return x / 0")
        for method in ("fork", "spawn"):
            outcome = self.session.run(f"with multiprocessing.get_context('{method}').Pool(1) as p: p.map(bad, [1])", seconds=SECONDS)
            self.assertIn('line 2, in bad', outcome.error["traceback"])
        self.assertIn("return x / 0", outcome.error["traceback"])

    def test_joblib(self):
        self.assertEqual(self.value("from joblib import Parallel, delayed\nParallel(2)(delayed(abs)(i) for i in range(4)), Parallel(2)(delayed(f)(i) for i in range(4))"), "([0, 1, 2, 3], [0, 1, 4, 9])")
        self.assertEqual(self.value("Parallel(2, backend='multiprocessing')(delayed(f)(i) for i in range(3)), Parallel(2, prefer='threads')(delayed(f)(i) for i in range(3))"), "([0, 1, 4], [0, 1, 4])")

    def test_joblib_workers_killed_between_calls_are_replaced_without_a_word(self):
        code = "from joblib import Parallel, delayed\nParallel(2)(delayed(abs)(-i) for i in range(3))"
        self.value(code)
        for _ in range(4):
            self.assertGreaterEqual(kill_workers(self.session, LOKY_WORKERS), 1)
            outcome = self.session.run(code, seconds=SECONDS)
            self.assertEqual((outcome.status, outcome.result, outcome.stderr), ("ok", "[0, 1, 2]", ""), outcome.error)

    def test_joblib_workers_that_are_dead_but_cannot_be_waited_for_yet_are_replaced(self):
        """Their main threads are gone, others are still there."""
        self.value("from joblib import Parallel, delayed\nimport ctypes, signal, threading, time\ndef prepare(i):\n    threading.Thread(target=time.sleep, args=(20,)).start()\n"
                   "    signal.signal(signal.SIGUSR1, lambda *_: ctypes.CDLL(None).syscall(60, 0))\n    time.sleep(0.2)\n    return os.getpid()\n"
                   "pids = Parallel(2)(delayed(prepare)(i) for i in range(2))")
        kill_workers(self.session, "set(sys.modules['__main__'].pids)", signal.SIGUSR1)
        self.assertEqual(self.value("Parallel(2)(delayed(abs)(-i) for i in range(3))"), "[0, 1, 2]")

    def test_joblib_workers_that_live_on_are_used_again(self):
        code = "from joblib import Parallel, delayed\nsorted(set(Parallel(2)(delayed(os.getpid)() for i in range(20))))"
        pids = self.value(code)
        self.assertTrue(set(eval(self.value(code))) & set(eval(pids)))

    def test_a_pool_of_an_earlier_call_says_what_became_of_its_workers(self):
        self.value("from concurrent.futures import ProcessPoolExecutor\ne = ProcessPoolExecutor(1)\ne.submit(abs, -1).result()")
        kill_workers(self.session, "sys.modules['__main__'].e._processes")
        self.assertIn("keep_processes", self.session.run("e.submit(abs, -1).result()", seconds=SECONDS).error["hint"])

    def test_forest_in_parallel(self):
        outcome = self.session.run("from sklearn.ensemble import RandomForestClassifier\nimport numpy as np\nX = np.arange(40).reshape(20, 2); y = np.arange(20) % 2\nRandomForestClassifier(n_estimators=8, n_jobs=-1, random_state=0).fit(X, y).predict(X[:3]).tolist()", seconds=SECONDS)
        self.assertEqual((outcome.status, outcome.stderr), ("ok", ""))

    def test_helpers_killed_between_calls_start_anew_without_a_warning(self):
        self.value("with multiprocessing.get_context('spawn').Pool(1) as p: r = p.map(f, [1])\nr")
        self.session.run("from multiprocessing import resource_tracker as t\nimport time\nos.kill(t._resource_tracker._pid, 9)\ntime.sleep(0.5)")
        outcome = self.session.run("with multiprocessing.get_context('spawn').Pool(1) as p: r = p.map(f, [1])\nr", seconds=SECONDS)
        self.assertEqual((outcome.result, outcome.stderr), ("[1]", ""))

    def test_interpreter_for_children(self):
        outcome = self.session.run("import subprocess\nsubprocess.run([sys.executable, '-c', 'import numpy, sys; print(sys.executable)']).returncode", seconds=SECONDS)
        self.assertEqual((outcome.stdout, outcome.result), ("/usr/bin/python3\n", "0"))


class ZombieTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)
        self.session.run("import os, signal, time\ndef fork():\n    pid = os.fork()\n    if pid == 0:\n        time.sleep(60)\n        os._exit(0)\n    return pid")

    def children(self):
        return {int(name) for name in os.listdir("/proc") if name.isdecimal() and parent_of(name) == self.session.pid}

    def test_killed_children_that_were_forked_by_hand_are_reaped_before_the_next_call(self):
        self.session.run("pids = [fork() for _ in range(20)]")
        self.assertEqual(len(self.children()), 20)
        kill_workers(self.session, "sys.modules['__main__'].pids")
        self.assertEqual(len(self.children()), 20)
        self.session.run("1")
        self.assertEqual(self.children(), set())

    def test_children_that_ended_by_themselves_stay_for_the_users_wait(self):
        self.session.run("def end(code):\n    pid = os.fork()\n    if pid == 0: os._exit(code)\n    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)\n    return pid\n"
                         "first, killed, other, last = end(3), fork(), fork(), end(4)\nos.kill(other, signal.SIGTERM)\nos.waitid(os.P_PID, other, os.WEXITED | os.WNOWAIT)")
        kill_workers(self.session, "[sys.modules['__main__'].killed]")
        outcome = self.session.run("[os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in (first, other, last)]")
        self.assertEqual((outcome.result, self.children()), ("[3, -15, 4]", set()), outcome.error)

    def test_a_killed_forkserver_is_started_anew(self):
        code = "import multiprocessing\nwith multiprocessing.get_context('forkserver').Pool(1) as p: r = p.map(abs, [-1])\nr"
        self.assertEqual(self.session.run(code, seconds=SECONDS).result, "[1]")
        kill_workers(self.session, "[sys.modules['multiprocessing.forkserver']._forkserver._forkserver_pid]")
        self.session.run("1")
        outcome = self.session.run(code, seconds=SECONDS)
        self.assertEqual((outcome.result, outcome.stderr), ("[1]", ""), outcome.error)

    def test_exit_codes_of_killed_programs_are_kept(self):
        self.session.run("import subprocess, multiprocessing\na = subprocess.Popen(['sleep', '60'])\nb = multiprocessing.Process(target=time.sleep, args=(60,)); b.start()")
        kill_workers(self.session, "[sys.modules['__main__'].a.pid, sys.modules['__main__'].b.pid]")
        self.session.run("1")
        self.assertEqual(self.session.run("a.wait(), b.exitcode").result, "(-9, -9)")


class DefinitionsTest(unittest.TestCase):
    def test_what_goes_to_a_child_is_bounded(self):
        from cellblock_guest import definitions

        with Session() as session:
            session.run("".join(f"def f{i}(x): return f{i + 1}(x) if x else {i}\n" for i in range(definitions.DEFINITIONS_MAX + 50)))
            self.assertEqual(session.ask("len(processes._definitions.closure(processes._definitions.all_names())[0])"), definitions.DEFINITIONS_MAX)

    def test_threads_are_counted(self):
        outcome = run("import threading, time\nt = threading.Thread(target=time.sleep, args=(30,), daemon=True); t.start()")
        self.assertEqual(outcome.threads, 1)


if __name__ == "__main__":
    unittest.main()
