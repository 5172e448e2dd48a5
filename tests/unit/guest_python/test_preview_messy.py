# Files as they come out of other programs and many hands: what is wrong with them is said, and what is right is read.

import gzip
import io
import unittest
import zipfile

from preview_support import Case, read

I, N, T, D, DT, B, M = "integer", "number", "text", "date", "datetime", "boolean", "mixed"


def zipped(members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


class NamesTest(Case):
    def test_names_that_look_like_addresses_are_files(self):
        for name in ("http:.csv", "file:x.csv", "~x.csv", "s3:x.csv", "a:b.csv"):
            with self.subTest(name=name):
                self.assertEqual(read(self.assert_says("a,b\n1,2\n", name, rows=1)["read_with"]).values.tolist(), [[1, 2]])
        self.assertEqual(self.described("a,b\n1,2\n", "http:.csv")["read_with"], 'pd.read_csv("./http:.csv")')
        self.assertEqual(read(self.assert_says('{"a":1}\n{"a":2}\n', "file:x.jsonl", rows=2)["read_with"])["a"].tolist(), [1, 2])


class PackedTest(Case):
    def test_one_table_beside_entries_that_are_no_files(self):
        for members in ({"d/": "", "d/t.csv": "a;b\n1;2,5\n"}, {"t.csv": "a;b\n1;2,5\n", "__MACOSX/._t.csv": "x"}):
            with self.subTest(members=members):
                answer = self.assert_says(zipped(members), "t.zip", kind="csv", compression="zip", types=[I, N])
                self.assertEqual(read(answer["read_with"])["b"].tolist(), [2.5])
        self.assertEqual(read(self.assert_says(zipped({"d/": "", "d/t.json": '[{"a":{"b":1}}]'}), "t.zip", kind="json")["read_with"])["a.b"].tolist(), [1])

    def test_what_is_packed_twice_is_named(self):
        self.assertIn("gzip-compressed file within", self.described(gzip.compress(gzip.compress(b"a,b\n1,2\n")), "t.gz")["notes"][-1])


class EncodingsTest(Case):
    def test_lines_of_another_encoding(self):
        good = [f"{name},1\n".encode() for name in ("über", "naïve", "Zoë")]
        answer = self.assert_says(b"name,v\n" + good[0] + b"M\xfcller,2\n" + good[1] + good[2], encoding="utf-8", types=[T, I], rows=4)
        self.assertEqual(answer["notes"], ["Mixed encodings: utf-8, and 1 line perhaps in cp1252 ('Müller'): such bytes are shown as �."])
        self.assertEqual(read(answer["read_with"])["name"].tolist(), ["über", "M\ufffdller", "naïve", "Zoë"])
        answer = self.assert_says(b"name,v\n" + good[0] + b"M\xfcller,2\nSch\xf6n,3\nGr\xfc\xdfe,4\n", encoding="cp1252", types=[T, I], rows=4)
        self.assertEqual(answer["notes"], ["Mixed encodings: cp1252, and 1 line in utf-8, such as 'über,1'."])

    def test_a_mark_that_stands_twice(self):
        for data in (b"\xef\xbb\xbf" * 2 + b"id,v\n1,2", b"\xef\xbb\xbf" * 2 + b'"id",v\n1,2\n', b"\xff\xfe" * 2 + "id,v\n1,2".encode("utf-16-le"), b"\xfe\xff" * 2 + "id,v\n1,2".encode("utf-16-be")):
            with self.subTest(data=data):
                self.assertIn("stands twice", self.assert_says(data, has_bom=True, names=["id", "v"], types=[I, I], rows=1)["notes"][0])
        self.assertEqual(read(self.assert_says(b"\xef\xbb\xbf" * 2 + b'[{"a":1},{"a":2}]', "f.json", rows=2)["read_with"])["a"].tolist(), [1, 2])
        self.assertEqual(read(self.assert_says(b"\xef\xbb\xbf" * 2 + b'{"a":1}\n{"a":2}\n', "f.jsonl", rows=2)["read_with"])["a"].tolist(), [1, 2])
        self.assert_says(b"\xff\xfe" + "id\tv\n1\t2".encode("utf-16-le"), encoding="utf-16", has_bom=True, names=["id", "v"], rows=1)


class TimesTest(Case):
    def test_several_zones_become_utc(self):
        for data, most in (("t;v\n2024-01-01T10:00:00+01:00;1\n;2\n2024-07-01T10:00:00+02:00;3\n", "08"), ("t;v\n01.01.2024 10:00 +0100;1\n01.07.2024 10:00 +0200;2\n", "08"),
                           ("t;v\n2024-01-01T10:00:00.5+01:00;1\n2024-07-01T10:00:00Z;2\n", "10")):
            with self.subTest(data=data):
                answer = self.assert_says(data, types=[DT, I])
                self.assertEqual(answer["columns"][0]["max"], f"2024-07-01T{most}:00:00")
                self.assertEqual(str(read(answer["read_with"])["t"].dtype), "datetime64[ns, UTC]")

    def test_names_of_zones(self):
        self.assertEqual(str(read(self.assert_says("t,v\n2024-01-01 10:00 UTC,1\n2024-07-01 10:00 UTC,2\n", types=[DT, I])["read_with"])["t"].dtype), "datetime64[ns, UTC]")
        answer = self.assert_says("t,v\n2024-01-01 10:00 CET,1\n2024-07-01 10:00 CEST,2\n", types=[DT, I])
        self.assertIn("Names of time zones (CEST, CET)", answer["columns"][0]["note"])


class DocumentsTest(Case):
    def test_documents_one_after_the_other(self):
        for text in ('{"a":1}{"a":2}{"a":3}', '{\n "a": 1\n}\n{\n "a": 2\n}\n{\n "a": 3\n}\n', '{"a":1},\n{"a":2},\n{"a":3},\n', '\x1e{"a":1}\n\x1e{"a":2}\n\x1e{"a":3}\n', '[{"a":1},{"a":2}]\n[{"a":3}]\n'):
            with self.subTest(text=text):
                answer = self.assert_says(text, "f.json", kind="json", rows=3)
                self.assertIn("one after the other", answer["notes"][0])
                self.assertEqual(read(answer["read_with"])["a"].tolist(), [1, 2, 3])

    def test_brackets_within_texts_divide_nothing(self):
        answer = self.assert_says('{"a":"}{"}{"a":"b"}', "f.json", kind="json", rows=2, read_with=None)
        self.assertEqual(answer["first_rows"], [["}{"], ["b"]])

    def test_what_is_broken_is_said(self):
        answer = self.assert_says('{\n "a": 1\n}\n{\n "a": 2\n}\n{\n "a":', "f.json", kind="json", rows=None, rows_read=2, read_with=None)
        self.assertIn("from line 7 on", answer["error"])
        self.assertEqual(read(self.assert_says('{"a":1}\n{"a":', "f.jsonl", kind="json_lines", rows=1)["read_with"])["a"].tolist(), [1])


if __name__ == "__main__":
    unittest.main()
