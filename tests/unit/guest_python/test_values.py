# Values and displays: strict JSON, limits at their edge, wide tables, objects whose representations misbehave. CASES rows 19, 20, 37.

import json
import sys
import unittest

import support
from support import Session, run

support.zygote()
from cellblock_guest import values  # noqa: E402


class BundleTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)

    def test_frames_with_times_and_missing_values(self):
        outcome = self.session.run("import pandas as pd, numpy as np\npd.DataFrame({'t':[pd.Timestamp('2024-01-01',tz='UTC')]})")
        self.assertIn("2024-01-01", outcome.result)
        outcome = self.session.run("pd.DataFrame({'x':[0.0,np.nan,np.inf,pd.NA]})")
        self.assertEqual(outcome.stderr, "")
        self.assertIn("<table", outcome.bundle()["text/html"])

    def test_json_is_strict(self):
        outcome = self.session.run("import numpy as np, pandas as pd, datetime, decimal\nfrom IPython.display import JSON\nJSON({'nan': float('nan'), 'inf': [float('inf'), -float('inf')], 'np': np.float32('nan'), 'a': np.arange(3), 'b': b'x', 'na': pd.NA, 'nat': pd.NaT, 't': pd.Timestamp('2024-01-01'), 'd': datetime.date(2024, 1, 2), 'dec': decimal.Decimal('1.5'), 's': {1}, 5: 6, None: 1, 'big': 10**400, 'i': np.int64(3), 'sur': '\\ud800'})")
        data = json.loads(outcome.bundle()["application/json"], parse_constant=lambda c: self.fail(c))
        self.assertEqual((data["nan"], data["inf"], data["np"], data["a"], data["b"], data["na"], data["nat"], data["s"], data["5"], data["null"], data["i"], data["dec"]), (None, [None, None], None, [0, 1, 2], "eA==", None, None, [1], 6, 1, 3, 1.5))
        self.assertEqual((data["t"], data["d"], data["sur"]), ("2024-01-01T00:00:00", "2024-01-02", "\\ud800"))

    def test_metadata_is_strict_too(self):
        outcome = self.session.run("display({'text/plain': 'x'}, metadata={'m': float('nan'), 'o': object}, raw=True)")
        self.assertIsNone(outcome.of("display")[0]["metadata"]["m"])

    def test_display_handles(self):
        outcome = self.session.run("h = display('a', display_id=True)\nh.update('b')\nfrom IPython.display import update_display\nupdate_display('c', display_id=h.display_id)\nh.display_id")
        display, first, second = outcome.of("display") + outcome.of("update")
        self.assertEqual(display["display_id"], first["display_id"])
        self.assertEqual((first["display_id"], second["mime"]["text/plain"]), (eval(outcome.result), "'c'"))

    def test_clear_output(self):
        self.assertEqual(self.session.run("from IPython.display import clear_output\nclear_output()\nclear_output(wait=True)").of("clear"), [{"wait": False}, {"wait": True}])

    def test_repr_that_raises_does_not_end_the_cell(self):
        outcome = self.session.run("class B:\n    def __repr__(self): raise ValueError('no')\ndisplay(B())\nprint('on')\nB()")
        self.assertEqual((outcome.status, outcome.stdout), ("ok", "on\n"))
        self.assertEqual(outcome.stderr.count("ValueError: no"), 2)
        outcome = self.session.run("class H(B):\n    def _repr_html_(self): return '<b>'\nH()")
        self.assertEqual(outcome.bundle(), {"text/plain": "<H object>", "text/html": "<b>"})

    def test_wrong_types_in_bundles_become_text(self):
        outcome = self.session.run("display({'text/plain': 5, 'text/html': ['a', 'b'], 'image/png': 'aGk=', 'image/jpeg': 'no base64 ü', 'application/json': '{\"a\": NaN}', 'x/y': object, 3: 4, 'text/x': b'\\xff'}, raw=True)")
        bundle = outcome.of("display")[0]["mime"]
        self.assertEqual((bundle["text/plain"], bundle["text/html"], bundle["image/png"], bundle["image/jpeg"], json.loads(bundle["application/json"])), ("5", "ab", b"hi", "no base64 ü", {"a": None}))
        self.assertEqual(bundle["text/x"], "\ufffd")

    def test_a_value_that_shows_itself_gives_no_result(self):
        outcome = self.session.run("class D:\n    def _ipython_display_(self): print('shown')\nD()")
        self.assertEqual(outcome.kinds(), ["stdout"])

    def test_wide_tables_show_all_columns(self):
        outcome = self.session.run("import pandas as pd\ndf = pd.DataFrame({f'column_{i}': range(3) for i in range(24)})\nprint(df.head())")
        for i in range(24):
            self.assertIn(f"column_{i}", outcome.stdout)
        self.assertLessEqual(max(map(len, outcome.stdout.splitlines())), 240)
        self.assertIn("column_23", self.session.run("df").result)

    def test_table_options(self):
        with Session(table_width=100, table_columns=6) as session:
            outcome = session.run("import pandas as pd\npd.DataFrame({f'c{i}': range(3) for i in range(24)})")
            self.assertIn("...", outcome.result)
            self.assertEqual(session.run("pd.get_option('display.width'), pd.get_option('display.max_columns')").result, "(100, 6)")
        self.assertEqual(self.session.run("import polars as pl\nprint(pl.DataFrame({f'c{i}': [i] for i in range(30)}))").stdout.count("c29"), 1)

    def test_huge_texts_are_cut_with_a_note(self):
        outcome = self.session.run("'y' * 3_000_000")
        self.assertLessEqual(len(outcome.result.encode()), values.PLAIN_BYTES_MAX)
        self.assertIn("3,000,002 bytes", outcome.result)
        self.assertLess(len(self.session.run("list(range(10**6))").result), 20_000)

    def test_the_policys_limit_on_results_leaves_out_the_heavy_parts(self):
        with Session(result_bytes=200_000) as session:
            outcome = session.run("class A:\n    def __repr__(self): return 'a' * 300_000\n    def _repr_html_(self): return 'b' * 300_000\nA()")
            sizes = {mime: len(data) for mime, data in outcome.bundle().items()}
            self.assertLess(sum(sizes.values()), 200_000)
            self.assertIn("cut", outcome.result)


class LimitTest(unittest.TestCase):
    def tearDown(self):
        values.apply_options({})

    def test_plain_text_at_its_edge(self):
        for count, cut in ((values.PLAIN_BYTES_MAX - 1, False), (values.PLAIN_BYTES_MAX, False), (values.PLAIN_BYTES_MAX + 1, True)):
            data = values.plain("a" * count)
            self.assertLessEqual(len(data), values.PLAIN_BYTES_MAX)
            self.assertEqual(b"cut" in data, cut)
        values.plain("é" * values.PLAIN_BYTES_MAX).decode()

    def test_one_representation_at_its_edge(self):
        for mime, limit in (("text/html", values.TEXT_BYTES_MAX), ("image/png", values.BINARY_BYTES_MAX)):
            for count, kept in ((limit, True), (limit + 1, False)):
                value = "a" * count if mime.startswith("text") else b"a" * count
                bundle = values.encode({"text/plain": "p", mime: value}, "")
                self.assertEqual(len(bundle) == 2, kept)
                self.assertEqual(b"not shown" in bundle[0][1], not kept)

    def test_whole_bundle_at_its_edge(self):
        room = values.BUNDLE_BYTES_MAX - values.PLAIN_BYTES_MAX
        first = values.BINARY_BYTES_MAX
        for second, kept in ((room - first, True), (room - first + 1, False)):
            bundle = values.encode({"image/png": b"a" * first, "image/jpeg": b"b" * second}, "f")
            self.assertEqual(len(bundle) == 3, kept)

    def test_number_of_types(self):
        bundle = values.encode({f"text/t{i}": "x" for i in range(values.MIME_TYPES_MAX + 5)}, "f")
        self.assertEqual(len(bundle), values.MIME_TYPES_MAX + 1)

    def test_json_depth_cycles_and_items(self):
        deep = []
        for _ in range(values.JSON_DEPTH_MAX * 3):
            deep = [deep]
        json.loads(values.to_json(deep))
        loop = []
        loop.append(loop)
        self.assertEqual(values.to_json(loop), '["\\u2026"]')
        with self.assertRaises(ValueError):
            values.to_json([0] * (values.JSON_ITEMS_MAX + 1))
        self.assertEqual(values.to_json([0] * 3), "[0,0,0]")

    def test_metadata_over_its_limit_is_left_out(self):
        self.assertIn("left out", json.loads(values.metadata({"a": "x" * values.METADATA_BYTES_MAX}))["cut"])
        self.assertEqual(json.loads(values.metadata({"a": "x" * (values.METADATA_BYTES_MAX - 20)}))["a"][0], "x")

    def test_sizes_of_limits_fit_each_other(self):
        self.assertLess(values.PLAIN_BYTES_MAX + values.BINARY_BYTES_MAX, values.BUNDLE_BYTES_MAX)


class LateTest(unittest.TestCase):
    def test_pandas_imported_by_the_session_is_set_up_too(self):
        """What is not preloaded is set up when it is imported: here in a process of its own, whose zygote preloads nothing."""
        import subprocess

        code = (
            "import support\nsupport.PRELOAD[:] = ['IPython']\n"
            "with support.Session(table_columns=7) as s:\n"
            "    print(s.run('import pandas as pd, random, numpy\\npd.get_option(\"display.max_columns\")').result)\n"
            "    print(len(s.run('import matplotlib.pyplot as plt\\nplt.plot([1]); plt.title(\"销售\");').images))\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.stdout, done.stderr), ("7\n1\n", ""))


class OneShotTest(unittest.TestCase):
    def test_a_repr_that_never_ends_can_be_interrupted(self):
        with Session() as session:
            outcome = session.run("class F:\n    def __repr__(self):\n        while True: pass\nF()", interrupt_after=0.5)
            self.assertEqual(outcome.status, "interrupted")
            self.assertEqual(session.run("1").result, "1")

    def test_result_of_last_await_and_of_assignments(self):
        outcome = run("import asyncio\nawait asyncio.sleep(0, 3)")
        self.assertEqual(outcome.result, "3")


if __name__ == "__main__":
    unittest.main()
