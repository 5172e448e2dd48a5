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


if __name__ == "__main__":
    unittest.main()
