# Parquet, images, archives, and files that are described by name alone. Nothing is unpickled, and damage gives an error.

import contextlib
import io
import json
import os
import pickle
import sqlite3
import subprocess
import sys
import tarfile
import unittest
import zipfile

import support
from preview_support import Case, preview
from cellblock_guest.preview import bounds, databases

_WRITER = """
import datetime, json, sys
import numpy, pandas, pyarrow.feather, pyarrow.ipc
frame = pandas.DataFrame({'i': [1, 2, 3], 'f': [1.5, None, 3], 's': ['a', 'b', None], 'd': pandas.to_datetime(['2024-01-01', '2024-01-02', None]), 'b': [True, False, True],
                          'l': [[1], [2, 3], []], 'day': [datetime.date(2024, 1, 1)] * 3, 'c': pandas.Categorical(['x', 'y', 'x'])})
frame.to_parquet('typed.parquet')
pandas.DataFrame({f'c{number}': [1] for number in range(1000)}).to_parquet('wide.parquet')
pandas.DataFrame({'n': numpy.arange(1_000_000), 'x': numpy.random.default_rng(1).random(1_000_000)}).to_parquet('long.parquet', row_group_size=300_000)
frame.iloc[:0].to_parquet('empty.parquet')
frame[['i', 's']].to_feather('table.feather')
frame.set_index('s').to_parquet('indexed.parquet')
table = pyarrow.table({'a': [1, None, 3]})
with pyarrow.ipc.new_stream('table.arrows', table.schema) as writer:
    writer.write_table(table)
pyarrow.feather.write_feather(pyarrow.table({'a': numpy.zeros(60_000_000)}), 'bomb.feather', compression='zstd', chunksize=60_000_000)
shapes = {name: pandas.read_parquet(name).shape for name in ('typed.parquet', 'wide.parquet', 'indexed.parquet')}
shapes['table.feather'] = pandas.read_feather('table.feather').shape
with pyarrow.ipc.open_stream('table.arrows') as reader:
    shapes['table.arrows'] = reader.read_pandas().shape
print(json.dumps(shapes))
"""


class ParquetTest(unittest.TestCase):
    """The files are written by a process of its own: pyarrow starts threads when it writes, and other tests fork from this one."""

    @classmethod
    def setUpClass(cls):
        from preview_support import folder

        cls.enterClassContext(folder())
        environment = {**os.environ, "PYTHONPATH": support.SITE_PACKAGES}
        cls.shapes = json.loads(subprocess.run([sys.executable, "-c", _WRITER], check=True, env=environment, timeout=120, capture_output=True, text=True).stdout)

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

    def test_damaged_feather(self):
        with open("table.feather", "rb") as file:
            data = file.read()
        for damaged in (data[:-20], data[:8] + b"\xff" * (len(data) - 16) + data[-8:], b"ARROW1\0\0"):
            with open("damaged.feather", "wb") as file:
                file.write(damaged)
            self.assertIn("damaged", self.described("damaged.feather")["error"])

    def test_damaged_ones(self):
        with open("typed.parquet", "rb") as file:
            data = file.read()
        for damaged in (data[:-100], data[:-300] + b"\xff" * 292 + data[-8:], b"PAR1", data[:-8] + b"\xff\xff\xff\x7fPAR1"):
            with open("damaged.parquet", "wb") as file:
                file.write(damaged)
            answer = self.described("damaged.parquet")
            self.assertEqual((answer["kind"], answer.get("read_with")), ("parquet", None))
            self.assertIn("parquet file", answer["error"])

    def test_what_pandas_makes_its_index_is_no_column(self):
        answer = self.described("indexed.parquet")
        self.assertNotIn("s", [column["name"] for column in answer["columns"]])
        self.assertIn("an index of 's'", answer["notes"][0])
        self.assertEqual(len(answer["first_rows"][0]), len(answer["columns"]))

    def test_pandas_reads_as_many_rows_and_columns_as_are_said(self):
        for name, shape in self.shapes.items():
            with self.subTest(name=name):
                answer = self.described(name)
                self.assertEqual([answer["rows_read"], answer.get("column_count", len(answer["columns"]))], shape)

    def test_feather_and_streams(self):
        answer = self.described("table.feather")
        self.assertEqual((answer["kind"], answer["rows"], answer["read_with"], answer["first_rows"]), ("feather", 3, 'pd.read_feather("table.feather")', [["1", "a"], ["2", "b"], ["3", ""]]))
        self.assertEqual([(column["name"], column["type"], column["missing"]) for column in answer["columns"]], [("i", "integer", 0), ("s", "text", 1)])
        answer = self.described("table.arrows")
        self.assertEqual((answer["kind"], answer["rows_read"], answer["columns"][0]["missing"]), ("arrow", 3, 1))

    def test_a_batch_that_unpacks_to_much_is_not_unpacked(self):
        self.assertLess(os.path.getsize("bomb.feather"), 1 << 20)
        answer = self.described("bomb.feather")
        self.assertEqual((answer["kind"], answer["rows"], [column["type"] for column in answer["columns"]], answer["first_rows"]), ("feather", None, ["number"], []))
        self.assertIn("too large", answer["notes"][-1])

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


class DocumentTest(Case):
    def written(self, pages, password=None):
        from pypdf import PdfWriter

        out, writer = io.BytesIO(), PdfWriter()
        for _ in range(pages):
            writer.add_blank_page(200, 200)
        if password:
            writer.encrypt(password, algorithm="RC4-128")
        writer.write(out)
        return out.getvalue()

    def test_pages(self):
        for data in (self.written(3), b"\n\n" + self.written(3)):
            self.assert_says(data, "f.pdf", kind="pdf", pages=3, error=None)

    def test_damaged_and_protected_ones(self):
        self.assertEqual(self.assert_says(self.written(1, "secret"), "f.pdf", kind="pdf")["error"], "The document is protected with a password.")
        self.assertIn("damaged", self.assert_says(b"%PDF-1.4\n%\xe2\xe3", "f.pdf", kind="pdf")["error"])


class DatabaseTest(Case):
    def written(self, *statements):
        with contextlib.closing(sqlite3.connect("made.db")) as database:
            for statement in statements:
                database.executescript(statement)
            database.commit()
        with open("made.db", "rb") as file:
            data = file.read()
        os.unlink("made.db")
        return data

    def test_tables_with_columns_and_rows(self):
        data = self.written("CREATE TABLE \"it's \"\"a\"\"\" (id INTEGER, name TEXT, v REAL, raw BLOB); INSERT INTO \"it's \"\"a\"\"\" VALUES (1, 'x', 1.5, x'00ff'), (2, NULL, 2, NULL)",
                            "CREATE TABLE empty (a, b); CREATE VIEW seen AS SELECT 1")
        answer = self.assert_says(data, "f.db", kind="sqlite", table_count=2)
        first, empty = answer["tables"]
        self.assertEqual((first["name"], first["rows"], first["sampled"], first["first_rows"]), ("it's \"a\"", 2, False, [["1", "x", "1.5", "<2 bytes>"], ["2", "", "2", ""]]))
        self.assertEqual([(column["name"], column["type"], column["stored_type"], column["missing"]) for column in first["columns"]],
                         [("id", "integer", "INTEGER", 0), ("name", "text", "TEXT", 1), ("v", "number", "REAL", 0), ("raw", "text", "BLOB", 1)])
        self.assertEqual((empty["rows"], [column["type"] for column in empty["columns"]]), (0, ["empty", "empty"]))
        self.assertIn("1 view", answer["notes"][0])

    def test_long_tables_are_counted_and_very_long_ones_are_not(self):
        series = "CREATE TABLE t (a); INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n"
        for count, rows in ((databases.ROWS_MAX, databases.ROWS_MAX), (databases.ROWS_MAX + 1, databases.ROWS_MAX + 1)):
            table = self.assert_says(self.written(series % count), "f.db", kind="sqlite")["tables"][0]
            self.assertEqual((table["rows"], table["sampled"], table["rows_read"]), (rows, count > databases.ROWS_MAX, databases.ROWS_MAX))

    def test_many_tables(self):
        answer = self.assert_says(self.written(*(f"CREATE TABLE t{number} (a)" for number in range(databases.TABLES_MAX + 1))), "f.db", table_count=databases.TABLES_MAX + 1)
        self.assertEqual(len(answer["tables"]), databases.TABLES_MAX)

    def test_damaged_ones_are_not_written_to(self):
        data = self.written("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        for damaged in (data[:100], data[:1000], data[:4096] + b"\xff" * 4096, data[:60] + os.urandom(2000)):
            answer = self.described(damaged, "f.db")
            self.assertEqual(answer["kind"], "sqlite")
            with open("f.db", "rb") as file:
                self.assertEqual(file.read(), damaged)
        self.assertEqual(os.listdir(), ["f.db"])


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

    def test_a_packed_file_that_is_no_text_is_a_member(self):
        with zipfile.ZipFile("f.zip", "w") as archive:
            archive.writestr("inner.zip", b"PK\x03\x04" + os.urandom(500))
        answer = preview.describe("f.zip")
        self.assertEqual((answer["kind"], answer["members"]), ("archive", [{"name": "inner.zip", "size_bytes": 504}]))

    def test_archives_of_tar(self):
        for name, mode in (("f.tar", "w"), ("f.tar.gz", "w:gz"), ("f.tgz", "w:gz")):
            with tarfile.open(name, mode) as archive:
                for number in range(bounds.MEMBERS_MAX + 1):
                    archive.addfile(tarfile.TarInfo(f"folder/{number}.csv"))
            answer = preview.describe(name)
            self.assertEqual((answer["kind"], answer["format"], answer["member_count"], len(answer["members"])), ("archive", "tar", bounds.MEMBERS_MAX + 1, bounds.MEMBERS_MAX))
            self.assertEqual(answer["members"][0], {"name": "folder/0.csv", "size_bytes": 0})

    def test_packages_that_are_not_there_are_named(self):
        code = ("import sys; sys.path[:0] = sys.argv[1:2]\nfor name in ('pyarrow', 'pypdfium2', 'xlrd'): sys.modules[name] = None\n"
                "from cellblock_guest import preview\nfor name in sys.argv[2:]: print(preview.describe(name))")
        import preview_workbooks

        files = {"f.parquet": b"PAR1" + b"\0" * 100, "f.feather": b"ARROW1\0\0" + b"\0" * 100, "f.pdf": b"%PDF-1.4", "f.xls": preview_workbooks.xls({"a": [[1]]})}
        for name, data in files.items():
            with open(name, "wb") as file:
                file.write(data)
        done = subprocess.run([sys.executable, "-c", code, os.path.join(support.ROOT, "python_env"), *files], capture_output=True, text=True, timeout=60)
        for line, kind, package in zip(done.stdout.splitlines(), ("parquet", "feather", "pdf", "workbook"), ("pyarrow", "pyarrow", "pypdfium2", "xlrd"), strict=True):
            answer = eval(line)
            self.assertEqual((answer["kind"], answer.get("read_with"), answer.get("error")), (kind, None, None))
            self.assertIn(package, answer["notes"][0])


if __name__ == "__main__":
    unittest.main()
