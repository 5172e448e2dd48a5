# Hints: short, true, cheap, and never running user code.

import os
import time
import unittest

import support
from support import Session

support.zygote()
from cellblock_guest import hint_data, hints, names  # noqa: E402

SECONDS_MAX = 1.0
# As languages.subprocesses: false does it: execve and execveat give EPERM.
WITHOUT_PROGRAMS = """
import ctypes, platform, struct
calls = {"x86_64": (59, 322), "aarch64": (221, 281)}[platform.machine()]
code = [(0x20, 0, 0, 0), (0x15, 2, 0, calls[0]), (0x15, 1, 0, calls[1]), (0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050001)]
rules = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(rules)))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0)
"""


class HintTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)
        self.session.run("import pandas as pd, numpy as np\nimport cellblock_guest.runner as r, time\nhint_for = r.hints.hint_for\ndef timed(error, shell):\n    started = time.thread_time()\n    text = hint_for(error, shell)\n    r.seconds = time.thread_time() - started\n    return text\nr.hints.hint_for = timed")

    def write(self, name, data):
        path = os.path.join(self.session.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())

    def hint(self, code):
        outcome = self.session.run(code)
        self.assertIn(outcome.status, ("error", "interrupted"), code)
        hint = outcome.error["hint"]
        self.assertLessEqual(len(hint), hints.HINT_CHARACTERS_MAX)
        self.assertNotIn("\n", hint)
        self.session.run("r.last = r.seconds")
        self.assertLess(float(self.session.run("r.last").result), SECONDS_MAX, code)
        return hint

    def test_missing_modules(self):
        for code, expected in (("import pandsa", "pandas"), ("import sklern", "sklearn"), ("import scikit_learn", "sklearn"), ("import beautifulsoup4", "bs4"), ("import cv2", "Pillow"), ("import torch.nn", "scikit-learn"),
                               ("import quite_unknown_thing", "Installed: "), ("from numpy import arrray", "array"), ("import numpy.randm", "random"), ("from sklearn.ensembel import X", "ensemble")):
            with self.subTest(code=code):
                self.assertIn(expected, self.hint(code))
        self.assertIn("network is off", self.hint("import quite_unknown_thing"))
        self.assertIn("--file", self.hint("import quite_unknown_thing"))
        self.write("lib/my_own_helpers.py", "")
        self.assertIn("sys.path.insert(0, 'lib')", self.hint("import my_own_helpers"))

    def test_missing_files(self):
        self.assertIn("it is empty. Files must be handed in first (cellblock run: --file)", self.hint("open('sales.csv')"))
        self.write("sales.csv", "a\n1\n")
        self.write("sub/deep.csv", "a\n1\n")
        self.write("Données – été (1).csv", "a\n1\n")
        for code, expected in (("open('sale.csv')", "'sales.csv'"), ("pd.read_csv('Sales.CSV')", "'sales.csv'"), ("pd.read_csv('donnees_ete_1.csv')", "Données"), ("open('zzz.txt')", "'sales.csv'"), ("open('/mnt/nothere/deep.csv')", "'sub/deep.csv'"),
                               ("open('sub/dep.csv')", "'sub/deep.csv'"), ("import os; os.listdir('nofolder')", "sales.csv"), ("pd.read_excel('sales.xlsx')", "'sales.csv'"), ("import subprocess; subprocess.run(['nosuchprogram'])", "no program 'nosuchprogram'")):
            with self.subTest(code=code):
                self.assertIn(expected, self.hint(code))

    def test_names(self):
        self.session.run("customers = 1\ntotal_sales = 2")
        for code, expected in (("custmers", "'customers'"), ("totalSales", "'total_sales'"), ("pritn(1)", "'print'"), ("plt.plot([1])", "import matplotlib.pyplot as plt"), ("def f():\n    local_value = 1\n    return locl_value\nf()", "'local_value'")):
            with self.subTest(code=code):
                self.assertIn(expected, self.hint(code))

    def test_names_lost_in_a_restart(self):
        with Session() as session:
            session.call = 7
            self.assertIn("restarted", session.run("df.head()").error["hint"])
        self.assertNotIn("restarted", self.hint("never_there"))

    def test_data_frame_columns_and_keys(self):
        self.session.run("df = pd.DataFrame({'Customer Name': [1], 'total': [2]})\ns = pd.Series([1], index=['alpha'])\nd = {'alpha': 1, 'beta': 2}")
        for code, expected in (("df['customer_name']", "'Customer Name'"), ("df[['total', 'Totl']]", "'total'"), ("df.groupby('Total').sum()", "'total'"), ("df.sort_values('totals')", "'total'"), ("df.totl", "'total'"), ("df.loc['x']", "'total'"),
                               ("s['alpa']", "'alpha'"), ("d['alpa']", "'alpha'"), ("df.drop(columns=['toal'])", "total"), ("df['zzz']", "'Customer Name', 'total'"), ("df.merge(df, on='totaal')", "'total'")):
            with self.subTest(code=code):
                self.assertIn(expected, self.hint(code))

    def test_attributes(self):
        for code, expected in (("[].appendd(1)", "'append'"), ("'a'.uper()", "'upper'"), ("np.arrange(3)", "'arange'"), ("pd.DataFrame().append(1)", "pd.concat"), ("pd.Series([1]).iteritems()", ".items()"), ("x = [1].sort()\nx.append(2)", "None"),
                               ("class A:\n    colour = 1\nA().color", "'colour'"), ("import math\nmath.squirt(2)", "'sqrt'")):
            with self.subTest(code=code):
                self.assertIn(expected, self.hint(code))

    def test_encodings(self):
        greek = "όνομα,τιμή\nΑθήνα,1\nΘεσσαλονίκη,2\nΠάτρα,3\n"
        for name, text, encoding in (("greek.csv", greek, "iso8859-7"), ("russian.csv", "имя,цена\nМосква,1\nСанкт-Петербург,2\n", "cp1251"), ("french.csv", "nom,prix\nété,1\nfrançais,2\n", "cp1252"), ("chinese.csv", "姓名,价格\n北京,1\n上海,2\n广州,3\n", "gb18030"),
                                     ("japanese.csv", "なまえ,ねだん\nとうきょう,1\nおおさか,2\n", "shift_jis"), ("utf16.csv", "a,b\n1,2\n" * 20, "utf-16")):
            with self.subTest(name=name):
                self.write(name, text.encode(encoding))
                hint = self.hint(f"pd.read_csv('{name}')")
                self.assertIn(f"encoding='{encoding}'", hint)
                self.assertIn(name, hint)
        self.write("zip.csv", b"PK\x03\x04" + bytes(range(256)) * 10)
        self.assertIn("no text", self.hint("open('zip.csv', encoding='utf-8').read()"))
        self.assertIn("iso8859-7", self.hint("open('greek.csv').read()"))

    def test_an_encoding_is_shown_with_words(self):
        path = os.path.join(support.ROOT, "examples", "data", "hotels_decimal_comma.csv")
        hint = self.hint(f"pd.read_csv({path!r})")
        self.assertEqual(hint, "hotels_decimal_comma.csv is not UTF-8 but, by the letters, cp1252 ('Année', 'Européen'). Pass encoding='cp1252'.")
        self.write("slovenian.csv", "ime,vrednost\nlogičnega,1\n".encode("cp1250"))
        self.assertIn("probably cp1252 ('logiènega'), or cp1250 ('logičnega'): look at the letters", self.hint("pd.read_csv('slovenian.csv')"))

    def test_an_encoding_is_found_where_the_decoder_stopped(self):
        self.write("late.csv", b"a,b\n" * 400_000 + "été,1\n".encode("cp1252"))
        self.assertIn("late.csv is not UTF-8 but, by the letters, cp1252 ('été')", self.hint("pd.read_csv('late.csv')"))
        self.write("other.csv", "a,b\n")
        hint = self.hint("path = 'other.csv'\n" + repr("имя,Москва".encode("cp1251")) + ".decode()")
        self.assertIn("cp1251", hint)
        self.assertNotIn("other.csv", hint)

    def test_broken_bytes_are_not_taken_for_an_encoding(self):
        self.write("broken.csv", "naïve,café,Zoë,über\n".encode() * 9 + b"caf\xe9\n")
        self.assertIn("is UTF-8. Pass encoding='utf-8', and encoding_errors='replace'", self.hint("pd.read_csv('broken.csv')"))
        self.write("undefined.csv", ("имя,Санкт-Петербург\n" * 9).encode("cp1251") + b"\x98\n")
        self.assertIn("encoding='cp1251', and encoding_errors='replace'", self.hint("pd.read_csv('undefined.csv')"))
        self.write("utf8.csv", "naïve,café,Zoë,über\n")
        self.assertIn("is UTF-8. Pass encoding='utf-8'.", self.hint("pd.read_csv('utf8.csv', encoding='ascii')"))

    def test_tables_that_do_not_parse(self):
        self.write("semi.csv", "a;b;c\n1,5;2;3\n" + "4;5,1,2,3;6\n" * 5)
        self.assertIn("sep=';'", self.hint("pd.read_csv('semi.csv')"))
        self.write("preamble.csv", "A report\nmade today\n\na,b,c\n1,2,3\n4,5,6\n")
        self.assertIn("skiprows", self.hint("pd.read_csv('preamble.csv')"))
        self.write("ragged.csv", "a,b\n1,2\n" * 10 + "1,2,3,4\n")
        self.assertIn("on_bad_lines", self.hint("pd.read_csv('ragged.csv')"))

    def test_refused_and_full(self):
        for code, expected in (("raise OSError(30, 'Read-only file system', '/usr/x')", "/tmp"), ("raise PermissionError(13, 'Permission denied', '/etc/x')", self.session.folder), ("raise OSError(28, 'No space left on device')", "disk space"), ("raise OSError(122, 'Disk quota exceeded')", "disk space"),
                               ("raise OSError(27, 'File too large')", "one file"), ("raise BlockingIOError(11, 'Resource temporarily unavailable: fork')", "processes"), ("raise RuntimeError(\"can't start new thread\")", "threads"), ("raise MemoryError", "2,048 MiB"), ("raise OSError(24, 'Too many open files')", "open files")):
            with self.subTest(code=code):
                self.assertIn(expected, self.hint(code))

    def test_refused_programs_are_not_said_to_be_writes(self):
        off = "import subprocess, os\ndef refuse(*a): raise PermissionError(1, 'Operation not permitted', 'echo')\nsubprocess._fork_exec = refuse\n"
        self.assertIn("languages.subprocesses", self.hint(off + "subprocess.run(['echo'])"))
        self.assertIn("languages.subprocesses", self.hint("!echo a"))
        self.write("script.sh", "echo a\n")
        with Session(folder=self.session.folder) as session:
            for code in ("import subprocess; subprocess.run(['./script.sh'])", "import os; os.posix_spawn('./script.sh', ['s'], {})", "import os; os.execv('./script.sh', ['s'])"):
                with self.subTest(code=code):
                    self.assertIn("executable", session.run(code).error["hint"])

    def test_calls_that_no_session_may_make_are_not_said_to_be_writes(self):
        self.write("taken/f.txt", "a")
        self.write("other.txt", "a")
        os.chmod(self.session.folder, 0o777)
        os.chmod(os.path.join(self.session.folder, "taken"), 0o1777)
        if os.geteuid() == 0:  # who may do all of it
            for name in ("taken", "taken/f.txt", "other.txt"):
                os.chown(os.path.join(self.session.folder, name), 1, 1)
            self.assertEqual(self.session.run("import os\nos.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)\nos.getuid()").result, "65534")
            for code in ("os.unlink('taken/f.txt')", "from pathlib import Path; Path('other.txt').chmod(0o600)"):
                with self.subTest(code=code):
                    self.assertIn("cannot be written", self.hint(code))
        self.session.run("import os, shutil, socket")
        for code, expected in (("os.chroot('/')", "os.chroot() is not permitted"), ("    os.chroot('/')", "os.chroot() is"), ("%%time\nos.chroot('/')", "os.chroot() is"), ("def f(é):\n    x = 'ü'; os.chroot(é)\nf('/')", "os.chroot() is"),
                               ("os.setuid(0)", "os.setuid() is"), ("os.kill(1, 0)", "os.kill() is"), ("os.setgroups([0])", "os.setgroups() is"), ("socket.sethostname('x')", "socket.sethostname() is"),
                               ("shutil.chown('other.txt', 0)", "os.chown() is"), ("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "This call is not permitted"),
                               ("f = os.chroot; f('/')", "either this call"), ("list(map(os.chroot, ['/']))", "either this call"), ("os.chroot(\n    '/')", "either this call"), ("raise PermissionError(1, 'No', '/etc/x')", "either this call")):
            with self.subTest(code=code):
                hint = self.hint(code)
                self.assertIn(expected, hint)
                self.assertNotIn("cannot be written", hint)
        self.assertEqual(self.hint("raise PermissionError(1, 'Operation not permitted')"), "")

    def test_unreadable_files_and_folders(self):
        self.write("closed/a.txt", "a")
        self.write("secret.txt", "a")
        self.write("fixed.txt", "a")
        os.chmod(self.session.folder, 0o755)
        for name, mode in (("secret.txt", 0o200), ("closed", 0o300), ("fixed.txt", 0o444)):
            path = os.path.join(self.session.folder, name)
            os.chmod(path, mode)
            self.addCleanup(os.chmod, path, 0o700)
            if os.geteuid() == 0:
                os.chown(path, 65534, 65534)
        if os.geteuid() == 0:  # who may read everything
            self.session.run("import os\nos.setegid(65534); os.seteuid(65534)")
        for code in ("open('secret.txt')", "import os; os.listdir('closed')"):
            with self.subTest(code=code):
                self.assertIn("cannot be read", self.hint(code))
        self.assertIn("cannot be written", self.hint("open('fixed.txt', 'w')"))

    def test_allocations_that_failed_claim_no_more_than_is_known(self):
        self.assertIn("may have been reached", self.hint("raise MemoryError"))
        hint = self.hint("-" * 100_000 + "1")
        self.assertIn("nested too deeply", hint)

    def test_network(self):
        for code in ("import socket\nsocket.getaddrinfo('no-such-host.invalid', 443)", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1/')", "import requests\nrequests.get('http://127.0.0.1:1/')", "import httpx\nhttpx.get('http://127.0.0.1:1/')", "pd.read_csv('http://127.0.0.1:1/a.csv')", "raise OSError(101, 'Network is unreachable')"):
            with self.subTest(code=code):
                self.assertIn("network is off", self.hint(code))
        with Session(network="allowlist") as session:
            self.assertIn("policy", session.run("raise ConnectionRefusedError(111, 'refused')").error["hint"])

    def test_pools_loops_and_pastes(self):
        self.assertIn("fewer workers", self.hint("import os\nfrom concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(1) as e:\n    e.submit(os._exit, 3).result()"))
        self.assertIn("await f()", self.hint("import asyncio\nawait asyncio.sleep(0)\nasyncio.run(asyncio.sleep(0))"))
        self.assertIn("await", self.hint("import asyncio\nf = asyncio.sleep(0)\nasyncio.create_task(f)"))
        self.assertIn("```", self.hint("```python\nprint(1)\n```"))
        self.assertIn("quotes", self.hint("x = “a”"))
        self.assertIn("debugger", self.hint("import pdb; pdb.set_trace()\n1"))

    def test_workers_that_a_policy_does_not_let_start(self):
        pools = "import multiprocessing as mp, joblib\nfrom concurrent.futures import ProcessPoolExecutor\nfrom multiprocessing.shared_memory import SharedMemory\n"
        self.session.run(pools)
        self.assertEqual(self.session.run("with mp.get_context('spawn').Pool(1) as p: n = p.map(abs, [-1])\nn").result, "[1]")
        if self.session.run(WITHOUT_PROGRAMS).result != "0":
            self.skipTest("the kernel takes no seccomp filter here")
        for code in ("with mp.get_context('spawn').Pool(2) as p: p.map(abs, [-1])", "with mp.get_context('forkserver').Pool(2) as p: p.map(abs, [-1])", "mp.get_context('spawn').Manager()",
                     "with ProcessPoolExecutor(2, mp_context=mp.get_context('spawn')) as e: list(e.map(abs, [-1]))", "with ProcessPoolExecutor(2, mp_context=mp.get_context('forkserver')) as e: list(e.map(abs, [-1]))",
                     "joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(n) for n in range(3))"):
            with self.subTest(code=code):
                hint = self.hint(code)
                self.assertIn("languages.subprocesses", hint)
                self.assertIn("n_jobs=1", hint)
        for code in ("with mp.get_context('fork').Pool(2) as p: n = p.map(abs, [-1])\nn", "with ProcessPoolExecutor(2, mp_context=mp.get_context('fork')) as e: n = list(e.map(abs, [-1]))\nn",
                     "with joblib.parallel_config(backend='threading'): n = joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(n) for n in [-1])\nn"):
            with self.subTest(code=code):
                self.assertEqual(self.session.run(code).result, "[1]")
        spawn = "p = mp.get_context('spawn').Process(target=print); p.start(); p.join()\n"
        for code in ("import os\nwith ProcessPoolExecutor(1) as e: e.submit(os._exit, 3).result()", spawn + "input()", spawn + "with mp.Pool(1) as p: p.apply(divmod, (1, 0))"):
            with self.subTest(code=code):
                self.assertNotIn("languages.subprocesses", self.hint(code))

    def test_no_user_code_runs_for_a_hint(self):
        self.session.run("ran = []")
        for code in ("class A:\n    def __dir__(self): ran.append('dir'); return []\n    def __getattr__(self, n): ran.append(n); raise AttributeError(n)\nA().foo",
                     "class D(dict):\n    def keys(self): ran.append('keys'); return []\n    def __iter__(self): ran.append('iter'); return iter(())\nd = D(a=1)\nd['b']",
                     "class E(NameError):\n    @property\n    def name(self): ran.append('name'); return 'x'\nraise E()",
                     "class F(pd.DataFrame):\n    @property\n    def columns(self): ran.append('columns'); return []\nF.__module__ = 'pandas.x'\nraise KeyError('k')",
                     "class U(UnicodeDecodeError):\n    @property\n    def object(self): ran.append('object'); return b''\nraise U('utf-8', b'\\xe9', 0, 1, '')",
                     "class B(bytes):\n    def __getitem__(self, i): ran.append('item'); return b''\nraise UnicodeDecodeError('utf-8', B(b'\\xe9'), 0, 1, '')",
                     "class P:\n    __module__ = 'pathlib'\n    __class__ = property(lambda self: ran.append('class'))\n    def __str__(self): ran.append('str'); return ''\n    def __fspath__(self): ran.append('path'); return ''\npath = P()\nb'\\xe9'.decode()",
                     "import io\nclass R(io.RawIOBase):\n    name = property(lambda self: ran.append('name'))\n    def readable(self): return True\nf = io.TextIOWrapper(io.BufferedReader(R()))\nb'\\xe9'.decode()",
                     "class N(str):\n    def encode(self, *a): ran.append('encode'); return b''\nimport linecache, os\nname = '/x/site-packages/y.py'\nlinecache.cache[name] = (1, None, [N('os.kill(1, 9)')], name)\nexec(compile('def f():\\n    raise PermissionError(1, str(1))', name, 'exec'))\nf()",
                     "class K(str):\n    def __hash__(self): ran.append('hash'); return 1\n    def __eq__(self, o): ran.append('eq'); return False\nraise KeyError(K('x'))"):
            with self.subTest(code=code):
                self.session.run(f"ran.clear()")
                before = self.session.run("0")
                self.session.run(code)
                ran = self.session.run("ran").result
                self.assertIn(ran, ("[]", "['foo']"), before)

    def test_hints_never_raise(self):
        for code in ("raise ModuleNotFoundError", "raise ImportError(5)", "raise NameError", "raise AttributeError(name=5, obj=object)", "raise KeyError", "raise KeyError([1])", "raise FileNotFoundError", "raise FileNotFoundError(2, 'x', b'\\xff')", "raise FileNotFoundError(2, 'x', 5)",
                     "raise OSError", "raise UnicodeDecodeError('utf-8', b'', 0, 0, '')", "raise UnicodeError", "raise SyntaxError", "raise SyntaxError('x', 5)", "raise EOFError", "class ParserError(Exception): pass\nraise ParserError", "import os, tempfile\nos.chdir(tempfile.mkdtemp()); os.rmdir(os.getcwd()); open('x')"):
            with self.subTest(code=code):
                self.assertIsInstance(self.session.run(code).error["hint"], str)


class NearTest(unittest.TestCase):
    def test_order_and_bounds(self):
        self.assertEqual(names.near("customer_name", ["x", "Customer Name", "customer_nam"])[0], "Customer Name")
        self.assertEqual(names.near("a", []), [])
        self.assertEqual(names.near("x" * 10_000, ["y" * 10_000]), [])
        started = time.thread_time()
        names.near("abcdefgh", [f"abcdefg{i}" for i in range(names.CANDIDATES_MAX * 4)])
        self.assertLess(time.thread_time() - started, 5.0)

    def test_listing_is_cut(self):
        self.assertEqual(names.listed("abc", 2), "a, b, … (3 in all)")

    def test_folder_listing_is_bounded(self):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            for i in range(hint_data.ENTRIES_MAX + 5):
                open(os.path.join(folder, f"f{i}"), "w").close()
            self.assertEqual(len(hint_data.folder_names(folder)), hint_data.ENTRIES_MAX)


if __name__ == "__main__":
    unittest.main()
