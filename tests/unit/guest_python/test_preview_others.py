# Parquet, images, archives, and files that are described by name alone. Nothing is unpickled, and damage gives an error.

import io
import os
import pickle
import subprocess
import sys
import unittest
import zipfile

import support
from preview_support import Case

_WRITER = """
import datetime, sys
import numpy, pandas
frame = pandas.DataFrame({'i': [1, 2, 3], 'f': [1.5, None, 3], 's': ['a', 'b', None], 'd': pandas.to_datetime(['2024-01-01', '2024-01-02', None]), 'b': [True, False, True],
                          'l': [[1], [2, 3], []], 'day': [datetime.date(2024, 1, 1)] * 3, 'c': pandas.Categorical(['x', 'y', 'x'])})
frame.to_parquet('typed.parquet')
pandas.DataFrame({f'c{number}': [1] for number in range(1000)}).to_parquet('wide.parquet')
pandas.DataFrame({'n': numpy.arange(1_000_000), 'x': numpy.random.default_rng(1).random(1_000_000)}).to_parquet('long.parquet', row_group_size=300_000)
frame.iloc[:0].to_parquet('empty.parquet')
frame[['i', 's']].to_feather('table.feather')
"""


class ParquetTest(unittest.TestCase):
    """The files are written by a process of its own: pyarrow starts threads when it writes, and other tests fork from this one."""

    @classmethod
    def setUpClass(cls):
        from preview_support import folder

        cls.enterClassContext(folder())
        environment = {**os.environ, "PYTHONPATH": support.SITE_PACKAGES}
        subprocess.run([sys.executable, "-c", _WRITER], check=True, env=environment, timeout=120)

    def described(self, name):
        from preview_support import checked, preview

        return checked(preview.describe(name))

    def test_columns_are_told_by_the_metadata(self):
        answer = self.described("typed.parquet")
        self.assertEqual((answer["kind"], answer["rows"], answer["read_with"]), ("parquet", 3, 'pd.read_parquet("typed.parquet")'))
        self.assertEqual([(column["name"], column["type"], column["missing"]) for column in answer["columns"]],
                         [("i", "integer", 0), ("f", "number", 1), ("s", "text", 1), ("d", "datetime", 1), ("b", "boolean", 0), ("l", "mixed", None), ("day", "date", 0), ("c", "text", 0)])
        self.assertEqual((answer["columns"][1]["min"], answer["columns"][1]["max"], answer["columns"][3]["max"]), (1.5, 3, "2024-01-02T00:00:00"))
        self.assertEqual(answer["first_rows"][1], ["2", "", "b", "2024-01-02T00:00:00", "FALSE", "[2, 3]", "2024-01-01", "y"])

    def test_long_wide_and_empty_ones(self):
        answer = self.described("long.parquet")
        self.assertEqual((answer["rows"], answer["row_groups"], answer["columns"][0]["max"], len(answer["first_rows"])), (1_000_000, 4, 999_999, 10))
        answer = self.described("wide.parquet")
        self.assertEqual((answer["column_count"], len(answer["columns"]), len(answer["first_rows"][0])), (1000, 400, 100))
        self.assertEqual(self.described("empty.parquet")["first_rows"], [])

    def test_damaged_ones(self):
        with open("typed.parquet", "rb") as file:
            data = file.read()
        for damaged in (data[:-100], data[:-300] + b"\xff" * 292 + data[-8:], b"PAR1", data[:-8] + b"\xff\xff\xff\x7fPAR1"):
            with open("damaged.parquet", "wb") as file:
                file.write(damaged)
            answer = self.described("damaged.parquet")
            self.assertEqual((answer["kind"], answer.get("read_with")), ("parquet", None))
            self.assertIn("parquet file", answer["error"])

    def test_feather_is_named(self):
        self.assertEqual(self.described("table.feather")["read_with"], 'pd.read_feather("table.feather")')

    def test_reading_starts_no_threads_that_stay(self):
        self.described("typed.parquet")
        self.assertEqual(len(os.listdir("/proc/self/task")), 1)


class ImageTest(Case):
    def test_size_and_format(self):
        from PIL import Image

        for name, mode in (("PNG", "RGBA"), ("JPEG", "RGB"), ("GIF", "P"), ("BMP", "RGB"), ("TIFF", "L"), ("WEBP", "RGB")):
            out = io.BytesIO()
            Image.new(mode, (40, 30)).save(out, name)
            answer = self.assert_says(out.getvalue(), "picture", kind="image", format=name, width=40, height=30)
            self.assertNotIn("error", answer)

    def test_a_damaged_image_and_one_that_would_fill_the_memory(self):
        from PIL import Image

        out = io.BytesIO()
        Image.new("RGB", (40, 30)).save(out, "PNG")
        self.assertIn("damaged", self.assert_says(out.getvalue()[:20], "f.png", kind="image")["error"])
        huge = bytearray(out.getvalue())
        huge[16:24] = b"\0\1\0\0\0\1\0\0"
        self.described(bytes(huge), "f.png")


class OtherTest(Case):
    def test_a_pickle_is_not_opened(self):
        class Bomb:
            def __reduce__(self):
                return os.mkdir, ("opened",)

        answer = self.assert_says(pickle.dumps(Bomb()), "f.pkl", kind="binary", read_with=None)
        self.assertIn("pickle", answer["notes"][0])
        self.assertFalse(os.path.exists("opened"))

    def test_formats_that_are_named(self):
        for data, name in ((b"\x89HDF\r\n\x1a\n", "HDF5"), (b"\x93NUMPY\1\0", "NumPy"), (os.urandom(5000), "neither text nor")):
            self.assertIn(name, self.assert_says(data, "f", kind="binary")["notes"][0])

    def test_archives(self):
        with zipfile.ZipFile("one.zip", "w") as archive:
            archive.writestr("table.csv", "a;b\n1;2\n3;4\n")
        with zipfile.ZipFile("two.zip", "w") as archive:
            archive.writestr("table.csv", "a,b\n1,2\n")
            archive.writestr("other.csv", "a")
        with open("one.zip", "rb") as file:
            self.assert_says(file.read(), "one.zip", kind="csv", compression="zip", rows=2, delimiter=";")
        with open("two.zip", "rb") as file:
            answer = self.assert_says(file.read(), "two.zip", kind="archive", format="zip", member_count=2)
            self.assertEqual(answer["members"], [{"name": "table.csv", "size_bytes": 8}, {"name": "other.csv", "size_bytes": 1}])
        with open("two.zip", "rb") as file:
            self.assertIn("damaged", self.assert_says(file.read()[:-30], "two.zip", kind="binary")["error"])


if __name__ == "__main__":
    unittest.main()
