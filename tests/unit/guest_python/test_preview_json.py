# JSON: lines, arrays, objects that hold records, and text that only looks like it.

import gzip
import json
import time
import unittest
import zipfile

from preview_support import Case, read
from cellblock_guest.preview import json_files

CPU_SECONDS_MAX = 20


def keys(answer):
    return {key["name"]: (key["types"], key["missing"]) for key in answer["keys"]}


class ValuesTest(Case):
    def test_arrays_of_objects(self):
        answer = self.assert_says('[{"a":1,"b":"x"},{"a":2.5,"c":null}]', "f.json", kind="json", rows=2, read_with='pd.read_json("f.json")')
        self.assertEqual(keys(answer), {"a": (["number"], 0), "b": (["text"], 1), "c": (["null"], 2)})
        self.assertEqual((answer["keys"][0]["min"], answer["keys"][0]["max"], answer["keys"][0]["examples"], answer["first_rows"]), (1, 2.5, ["1", "2.5"], [["1", "x", ""], ["2.5", "", ""]]))

    def test_nested_objects_become_names_with_points(self):
        answer = self.assert_says('{"meta":{"n":2},"data":[{"a":{"b":1}},{"a":{"b":2},"c":[1,2]}]}', "f.json", rows=2, records_at=["data"])
        self.assertEqual(keys(answer), {"a.b": (["integer"], 0), "c": (["list"], 1)})
        self.assertEqual(list(read(answer["read_with"]).columns), ["a.b", "c"])
        self.assertEqual(self.assert_says('{"r":{"items":[{"a":1},{"a":2}]}}', "f.json", rows=2)["records_at"], ["r", "items"])

    def test_other_shapes(self):
        for text, rows, columns in (('{"a":[1,2],"b":[3,4]}', 2, ["a", "b"]), ('{"x":{"a":1,"b":2},"y":{"a":3,"b":4}}', 2, ["a", "b"]), ('{"a":{"0":1,"1":2},"b":{"0":3,"1":4}}', 2, ["a", "b"]),
                                    ('{"columns":["a","b"],"index":[0,1],"data":[[1,2],[3,4]]}', 2, ["a", "b"]), ("[[1,2],[3,4]]", 2, [0, 1]), ('{"cols":["a","b"],"rows":[[1,2],[3,4],[5,6]],"n":3}', 3, ["a", "b"]), ('{"a":1,"b":{"c":2}}', 1, ["a", "b.c"])):
            with self.subTest(text=text):
                answer = self.assert_says(text, "f.json", kind="json", rows=rows)
                self.assertEqual(list(read(answer["read_with"]).columns), columns)
        self.assertEqual(read(self.assert_says("[1,2,3]", "f.json", kind="json", rows=3)["read_with"]).tolist(), [1, 2, 3])
        self.assertEqual(read(self.described("5", "f.json")["read_with"]), 5)

    def test_codes_stay_text(self):
        answer = self.assert_says('[{"zip":"01234"},{"zip":"98765"}]', "f.json", rows=2)
        self.assertEqual((answer["keys"][0]["leading_zeros"], read(answer["read_with"])["zip"].tolist()), (True, ["01234", "98765"]))

    def test_what_strict_json_has_no_word_for(self):
        answer = self.assert_says('[{"a":NaN,"b":Infinity,"c":"\\ud800"},{"a":1,"b":2}]', "f.json", kind="json")
        self.assertEqual(answer["keys"][0]["max"], 1)

    def test_integers_that_pandas_refuses(self):
        for name, text in (("f.json", '[{"a":' + "9" * 40 + '}]'), ("f.jsonl", '{"a":' + "9" * 30 + '}\n{"a":1}\n')):
            self.assertEqual(len(str(read(self.assert_says(text, name)["read_with"])["a"][0])), text.count("9"))
        self.assertIn("too large", self.described('[{"a":' + "9" * 400 + "}]", "f.json")["notes"][0])

    def test_errors_are_placed_and_what_comes_before_is_shown(self):
        answer = self.assert_says('[{"a":1},\n{"a":2},\n{"a":', "f.json", kind="json", rows=None, read_with=None)
        self.assertIn("line 3", answer["error"])
        self.assertEqual(keys(answer), {"a": (["integer"], 0)})

    def test_depth_without_end(self):
        for text in ("[" * (1 << 20), '{"a":' * 50_000 + "1" + "}" * 50_000, "[" * 100_000 + "]" * 100_000):
            self.assertIn("nested too deeply", self.assert_says(text, "f.json", kind="json")["error"])

    def test_keys_without_end(self):
        records = [{f"key {number} {other}": other for other in range(50)} for number in range(200)]
        answer = self.assert_says(json.dumps(records), "f.json", rows=200)
        self.assertEqual(len(answer["keys"]), 300)
        self.assertIn("first 300 keys", answer["notes"][0])


class LinesTest(Case):
    def test_lines_of_objects(self):
        for name in ("f.jsonl", "f.ndjson", "f.json", "f.txt"):
            answer = self.assert_says('{"v":1,"w":"a"}\n{"v":2}\n\n{"v":null,"x":{"y":1}}\n', name, kind="json_lines", rows=3)
            self.assertEqual(keys(answer), {"v": (["integer"], 1), "w": (["text"], 2), "x.y": (["integer"], 2)})
        self.assert_says('\ufeff{"zip":"01234"}\r\n{"zip":"98765"}\r\n', "f.jsonl", kind="json_lines", rows=2, has_bom=True)

    def test_lines_that_are_no_json_are_left_out(self):
        answer = self.assert_says('{"v":1}\n{"v":2}\nnot json\n{"v":3}\n', "f.jsonl", kind="json_lines", rows=3)
        self.assertEqual((answer["notes"][0], read(answer["read_with"])["v"].tolist()), ("1 line cannot be read as JSON.", [1, 2, 3]))

    def test_lines_of_arrays(self):
        self.assertEqual(read(self.assert_says("[1,2]\n[3,4]\n[5,6]\n", "f.jsonl", kind="json_lines", rows=3)["read_with"]).shape, (3, 2))

    def test_packed_json(self):
        for name, data in (("f.json.gz", gzip.compress(b'{"x":[{"a":{"b":1}},{"a":{"b":2}}]}')), ("f.jsonl.gz", gzip.compress(b'{"a":1}\nx\n{"a":2}\n{"a":3}\n{"a":4}\n')), ("f", gzip.compress(b'[{"a":1},{"a":2}]'))):
            self.assert_says(data, name, compression="gzip")
        with zipfile.ZipFile("f.json.zip", "w") as archive:
            archive.writestr("x.json", '{"x":[{"a":{"b":1}},{"a":{"b":2}}]}')
        with open("f.json.zip", "rb") as file:
            self.assert_says(file.read(), "f.json.zip", kind="json", rows=2, compression="zip")

    def test_geojson_is_told(self):
        feature = {"type": "Feature", "properties": {"n": "A"}, "geometry": {"type": "Point", "coordinates": [1, 2]}}
        for value in (feature, {"type": "FeatureCollection", "features": [feature, feature]}):
            self.assert_says(json.dumps(value), "f.geojson", kind="json", format="GeoJSON")

    def test_no_line_that_is_json(self):
        self.assertIn("no valid JSON", self.assert_says('{"v":\n', "f.jsonl", kind="json", read_with=None)["error"])

    def test_a_line_that_is_too_long_or_too_deep(self):
        long = json.dumps({"v": "x" * json_files.LINE_CHARACTERS_MAX})
        self.assert_says('{"v":1}\n{"v":2}\n' + long + '\n{"v":3}\n' + '{"v":' * 20_000 + '\n{"v":4}\n', "f.jsonl", kind="json_lines", rows=4)


class LargeTest(Case):
    def test_large_files_are_read_in_part(self):
        lines = b"".join(b'{"n":%d,"name":"name %d","at":"2024-01-%02d"}\n' % (number, number % 50, number % 28 + 1) for number in range(1000))
        times = (20 << 20) // len(lines) + 1
        for name, data in (("f.jsonl", lines * times), ("f.json", b'{"type":"x","items":[' + (b",".join(lines.splitlines()) + b",") * times + b"{}]}")):
            with self.subTest(name=name):
                started = time.process_time()
                answer = self.described(data, name)
                self.assertLess(time.process_time() - started, CPU_SECONDS_MAX)
                self.assertEqual((answer["rows"], answer["sampled"]), (None, True))
                self.assertAlmostEqual(answer["rows_estimate"], 1000 * times, delta=20 * times)
                self.assertEqual([key["name"] for key in answer["keys"]], ["n", "name", "at"])
                self.assertIn("estimate", " ".join(answer["notes"]))


if __name__ == "__main__":
    unittest.main()
