# No file makes a preview slow, large, wrong in its form or raise: limits at their edges, and files that are no files.

import csv
import gc
import gzip
import os
import random
import resource
import subprocess
import sys
import time
import unittest

from preview_support import Case, checked, preview
from cellblock_guest.preview import bounds, guard, source

CPU_SECONDS_MAX = 20  # measured: below 2; what grows with the square takes minutes
MEMORY_BYTES_MAX = 300 << 20  # measured: below 250 MiB


class SlowTest(Case):
    """Each described by a process of its own, so that what it takes can be measured."""

    def measured(self, name, **options):
        """The answer; its form, its processor time and its memory are within the limits."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                answer = checked(preview.describe(name, **options))
                seconds, grown = time.process_time() - started, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
                assert seconds < CPU_SECONDS_MAX, f"{seconds} s"
                assert grown < MEMORY_BYTES_MAX, f"{grown >> 20} MiB"
                with os.fdopen(write, "w") as pipe:
                    pipe.write(repr(answer))
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        with os.fdopen(read) as pipe:
            text = pipe.read()
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        return eval(text)

    def file(self, name, *parts):
        with open(name, "wb") as file:
            for part in parts:
                file.write(part)
        return name

    def test_one_long_cell_is_read_once(self):
        # Whatever a pattern tries again from each character takes the square of these lengths.
        for piece, end in (("1", "!"), ("0", "x"), ("1", "%"), ("1", " €"), ("01", " end"), ("1,", "x"), ("!", "a"), ("(1) ", "x"), (" ", "x"), ("'", "x"), ('"', "x"), ("2020-01-01", ""), ("12:", ""), ("- ", "")):
            for form in ("{}\n", "a,b\n{},1\n3,4\n", "a;b\n1;{}\n2;{} x\n"):
                with self.subTest(piece=piece, form=form):
                    self.measured(self.file("f.csv", form.replace("{}", piece * (60_000 // len(piece)) + end).encode()))

    def test_a_large_table_is_sampled(self):
        chance = random.Random(1)
        block = "".join(f'{number},"na,me {number % 1000}\n x",{chance.random() * 1000:.3f},2024-01-{number % 28 + 1:02},{"abc"[number % 3]}\n' for number in range(20_000)).encode()
        times = (100 << 20) // len(block)
        answer = self.measured(self.file("f.csv", b"id,name,value,day,label\n", *(block for _ in range(times))))
        self.assertEqual([column["type"] for column in answer["columns"]], ["integer", "text", "number", "date", "text"])
        self.assertEqual((answer["rows"], answer["sampled"], [column["missing"] for column in answer["columns"]]), (None, True, [0] * 5))
        self.assertAlmostEqual(answer["rows_estimate"], 20_000 * times, delta=400 * times)
        self.assertIn("rows_estimate is an estimate", answer["notes"][0])

    def test_rows_of_a_table_without_quotes_are_counted(self):
        answer = self.measured(self.file("f.csv", b"Title\n\na;b\n", b"123,5;abc\n" * 2_000_000, b"Source: somewhere\n"))
        self.assertEqual((answer["rows"], answer["skipped_rows"], answer["footer_rows"], answer["decimal"]), (2_000_000, 2, 1, ","))
        self.assertTrue(answer["read_with"].endswith(".iloc[:-1]"))

    def test_wide_characters_are_sampled_whole(self):
        rows = "".join(f"{number},Łódź {number % 100},東京\n" for number in range(10_000)).encode("utf-16-le")
        answer = self.measured(self.file("f.csv", b"\xff\xfe", "id,city,other\n".encode("utf-16-le"), *(rows for _ in range(40))))
        self.assertEqual((answer["encoding"], [column["type"] for column in answer["columns"]], [column["distinct"] for column in answer["columns"]][1:]), ("utf-16", ["integer", "text", "text"], [100, 1]))

    def test_many_columns(self):
        header = ",".join(f"column_{number}" for number in range(100_000)).encode()
        answer = self.measured(self.file("f.csv", header + b"\n", *(b",".join([b"%d" % row] * 100_000) + b"\n" for row in range(20))))
        self.assertEqual((answer["column_count"], len(answer["columns"]), answer["rows"]), (100_000, bounds.COLUMNS_MAX, 20))

    def test_many_rows_in_a_small_file_are_counted(self):
        answer = self.measured(self.file("f.csv", b"1\n" * (3 << 20)))
        self.assertEqual((answer["rows"], answer["columns"][0]["type"], answer["sampled"]), (3 << 20, "integer", True))

    def test_long_lines(self):
        answer = self.measured(self.file("f.csv", *(b"x" * (1 << 20) for _ in range(40))))
        self.assertIn("first line is longer", answer["notes"][0])
        self.measured(self.file("f.csv", b'a,b\n1,"', *(b"x" * (1 << 20) for _ in range(40)), b'"\n2,y\n'))
        self.measured(self.file("f.csv", b"1," * (4 << 20)))

    def test_json_that_is_small_and_holds_much(self):
        size = source.WHOLE_BYTES_MAX
        for name, data in (("objects", b"[" + b"{}," * (size // 3 - 2) + b"{}]"), ("lists", b"[" + b"[]," * (size // 3 - 2) + b"[]]"), ("numbers", b"[" + b"1," * (size // 2 - 2) + b"1]"),
                           ("keys", b"[" + b",".join(b'{"k%d":1}' % number for number in range(300_000)) + b"]"), ("lists of names", b"{" + b",".join(b'"k%d":["a"]' % number for number in range(300_000)) + b"}"), ("depth", b"[" * size), ("lines", b'{"a":1}\n' * (size // 8))):
            with self.subTest(name=name):
                self.assertIn(self.measured(self.file("f.json", data))["kind"], ("json", "json_lines"))
        answer = self.measured(self.file("f.json", b'{"a":[{"b":"', *(b"x" * (1 << 20) for _ in range(20)), b'"}]}'))
        self.assertEqual((answer["kind"], answer["sampled"], answer["keys"]), ("json", True, []))

    def test_values_that_are_all_different(self):
        chance = random.Random(1)
        self.measured(self.file("f.csv", b"v\n", "\n".join(repr(chance.random()) for _ in range(150_000)).encode()))
        self.measured(self.file("f.csv", b"d\n", "\n".join(f"2024-01-{n % 28 + 1:02} {n % 24:02}:{n % 60:02}:00.{n:06}" for n in range(100_000)).encode()))
        self.measured(self.file("f.csv", b"d;w\n", "\n".join(f"{n % 900 + 1}.{n % 1000:03}.{n * 7 % 1000:03},{n % 100:02};x" for n in range(100_000)).encode()))

    def test_text_made_to_be_slow(self):
        size = source.WHOLE_BYTES_MAX // 4
        chance = random.Random(1)
        for name, data in (("quotes", b'"' * size), ("open quotes", b'"a\n' * (size // 3)), ("delimiters", (b"," * 200 + b"\n") * (size // 201)), ("high", bytes(chance.choices(range(128, 256), k=size))),
                           ("blanks", b" " * size), ("colons", b"1:" * (size // 2)), ("spaces", b"1 " * (size // 2) + b"\n"), ("digits", b"9" * size), ("marks", b"1,1" * (size // 3)),
                           ("nul", b"a,b\n" + b"\0" * size), ("lines", b"\r" * size), ("signs", b"-" * 40 + b"\n" + (b"(" * 30 + b"1" * 10 + b"\n") * 10_000),
                           ("inner blanks", b"v\n" + b"".join(b"(" + b" " * 36 + b"1x%d\n" % n for n in range(1000)))):
            with self.subTest(name=name):
                self.measured(self.file("f.csv", data))

    def test_what_unpacks_to_nothing_without_end(self):
        nothing = gzip.compress(b"")
        answer = self.measured(self.file("f.csv.gz", nothing * (50 * source.WHOLE_BYTES_MAX // 10 // len(nothing))))
        self.assertIn("10,000 compressed parts", str(answer))

    def test_what_unpacks_to_much(self):
        answer = self.measured(self.file("f.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * (30 << 20))))
        self.assertEqual((answer["rows"], answer["sampled"], [column["type"] for column in answer["columns"]]), (None, True, ["integer", "integer"]))
        self.assertIn("not known", answer["notes"][1])
        packed = gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)
        answer = self.measured(self.file("f.csv.gz", packed[: len(packed) // 2]))
        self.assertIn("ended early", answer["error"])
        self.assertEqual((answer["kind"], answer["read_with"]), ("csv", None))


class GuardTest(Case):
    def test_too_little_memory_is_an_answer(self):
        """In a process of its own, whose heap has no room left by other tests."""
        with open("f.csv", "wb") as file:
            file.write(b"a,b\n" + b"1,2\n" * 1_000_000)
        code = "import sys; sys.path.append(sys.argv[1]); from cellblock_guest import preview; preview.guard.MEMORY_BYTES_MAX = int(sys.argv[2]); print(preview.describe('f.csv').get('error'))"
        top = os.path.dirname(os.path.dirname(os.path.dirname(preview.__file__)))
        for limit, said in ((8 << 20, "To look into the file would take too much memory."), (guard.MEMORY_BYTES_MAX, "None")):
            done = subprocess.run([sys.executable, "-I", "-c", code, top, str(limit)], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.stdout.strip(), done.stderr), (said, ""))

    def test_settings_are_as_before(self):
        before = csv.field_size_limit(12345), resource.getrlimit(resource.RLIMIT_DATA)
        try:
            for collects in (True, False):
                (gc.enable if collects else gc.disable)()
                self.described(b"a,b\n1,2\n")
                self.described(b"PK\x03\x04")
                self.assertEqual((gc.isenabled(), csv.field_size_limit(), resource.getrlimit(resource.RLIMIT_DATA)), (collects, 12345, before[1]))
        finally:
            gc.enable()
            csv.field_size_limit(before[0])


class FormTest(Case):
    def test_an_answer_fits_whatever_it_holds(self):
        names = ",".join("名" * 300 + str(number) for number in range(500))
        row = ",".join("値" * 200 for _ in range(500))
        answer = self.described("\n".join([names, *[row] * 100, ""]), rows=100)
        self.assertIn("shortened", answer["notes"][-1])
        self.assertGreater(len(answer["columns"]), 20)
        self.assertEqual(answer["column_count"], 500)
        keys = [{"k" * 250 + str(number): "値" * 200 for number in range(300)}] * 100
        self.assertGreater(len(self.described(bounds.json.dumps(keys, ensure_ascii=False), "f.json", rows=100)["keys"]), 20)

    def test_an_answer_at_the_edge_of_its_size(self):
        base = {"kind": "text", "notes": [], "first_rows": [["x"]]}
        room = bounds.ANSWER_BYTES_MAX - len(bounds.json.dumps({**base, "rest": []}))
        for spare, is_shortened in ((0, False), (-1, True)):
            texts = ["y" * 1000] * ((room - spare) // 1004)
            left = room - spare - (len(bounds.json.dumps(texts)) - 2) - 4
            answer = {**base, "rest": [*texts, "z" * left]}
            self.assertEqual(len(bounds.json.dumps(answer)), bounds.ANSWER_BYTES_MAX - spare)
            self.assertEqual(bool(bounds.fit(answer)["notes"]), is_shortened)

    def test_size_counts_bytes_of_utf_8(self):
        answer = {"kind": "text", "notes": [], "rest": ["😀" * 300] * 400}
        self.assertEqual(bounds.fit(answer)["notes"], [])
        answer["rest"] *= 2
        self.assertIn("shortened", bounds.fit(answer)["notes"][0])

    def test_values_are_strict_json(self):
        answer = bounds.strict({"a": float("nan"), "b": [float("inf"), 10**400, 1 << 70, b"\xff", "\ud800"], 5: {1, 2}})
        self.assertEqual(answer, {"a": None, "b": [None, str(10**400), str(1 << 70), "\ufffd", "?"], "5": "{1, 2}"})

    def test_random_bytes_and_cut_files_never_raise(self):
        chance = random.Random(7)
        seeds = [b'a,b\n1,"x\ny"\n' * 20, b'[{"a":1},{"b":[1,{"c":null}]}]' * 3, gzip.compress(b"a,b\n1,2\n" * 50), b"PK\x03\x04" + bytes(300), b"PAR1" + bytes(100) + b"PAR1", "é;ü\n1,5;2\n".encode("utf-16"),
                 b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), b"\x89PNG\r\n\x1a\n" + bytes(60), b"ARROW1\0\0" + bytes(100), b"SQLite format 3\0" + bytes(200), b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<</Root 1 0 R>>\n"]
        for number in range(300):
            data = bytearray(chance.choice(seeds))
            for _ in range(chance.randint(1, 12)):
                data[chance.randrange(len(data))] = chance.randrange(256)
            data = data[: chance.randint(1, len(data))]
            with self.subTest(number=number):
                self.assertIn(self.described(bytes(data), f"f.{chance.choice(('csv', 'json', 'jsonl', 'xlsx', 'xls', 'txt', 'parquet', 'gz'))}")["kind"],
                              ("csv", "workbook", "json_lines", "json", "parquet", "feather", "sqlite", "pdf", "archive", "text", "image", "binary", "empty"))

    def test_what_is_no_file(self):
        os.mkfifo("pipe.csv")
        os.mkdir("folder.csv")
        os.symlink("real.csv", "link.csv")
        with open("real.csv", "w") as file:
            file.write("a,b\n1,2\n")
        for path, said in (("pipe.csv", "not a regular file"), ("folder.csv", "not a regular file"), ("/dev/zero", "not a regular file"), ("link.csv", "a symbolic link"), ("none.csv", "no such file"), ("a\0b", "null")):
            with self.subTest(path=path):
                answer = checked(preview.describe(path))
                self.assertEqual(answer["kind"], "binary")
                self.assertIn(said, answer["error"])

    def test_importing_it_is_cheap(self):
        code = ("import sys; sys.path.append(sys.argv[1]); import time; started = time.process_time(); import cellblock_guest.preview as p; seconds = time.process_time() - started\n"
                "print(seconds < 5, sorted({'pandas', 'numpy', 'openpyxl', 'pyarrow', 'PIL', 'xlrd', 'lxml', 'json.tool'} & set(sys.modules)))")
        folder = os.path.dirname(os.path.dirname(os.path.dirname(preview.__file__)))
        done = subprocess.run([sys.executable, "-I", "-c", code, folder], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("True []\n", ""))


if __name__ == "__main__":
    unittest.main()
