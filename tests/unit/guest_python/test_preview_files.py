# The preview of every real file in examples/data says what is true of it, and pandas reads each as the preview says.

import json
import os
import re
import unittest

import preview_expected as expected
import support
from preview_support import DATA, checked, folder, preview, problems, read


def _texts(part):
    """All sentences of an answer."""
    found = list(part.get("notes", ()))
    for name in ("columns", "keys", "sheets"):
        for item in part.get(name, ()):
            found += [item.get("note", ""), *_texts(item)]
    return found


class FilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(os.chdir, os.getcwd())
        os.chdir(DATA)
        cls.names = sorted(name for name in os.listdir(DATA) if name != "README.md")
        cls.answers = {name: checked(preview.describe(name)) for name in cls.names}

    def each(self, table):
        for name, entry in table.items():
            with self.subTest(file=name):
                yield self.answers[name], entry

    def test_every_file_is_expected_here(self):
        self.assertEqual(sorted({*expected.TABLES, *expected.WORKBOOKS, *expected.JSON, "empty.csv"}), self.names)

    def test_dialect_and_rows(self):
        for answer, (differences, *_) in self.each(expected.TABLES):
            wanted = {**expected.USUAL, **differences}
            self.assertEqual({key: answer.get(key) for key in wanted}, wanted)

    def test_types_of_columns(self):
        for answer, (_, types, *_) in self.each(expected.TABLES):
            self.assertEqual([column["type"] for column in answer["columns"]], [expected.LETTERS[letter] for letter in types])

    def test_names_of_columns(self):
        for answer, (_, _, names, *_) in self.each(expected.TABLES):
            self.assertEqual({position: answer["columns"][position]["name"] for position in names}, names)

    def test_missing_values(self):
        for answer, (_, _, _, missing, *_) in self.each(expected.TABLES):
            self.assertEqual({position: (answer["columns"][position]["missing"], answer["columns"][position]["missing_values"]) for position in missing}, missing)

    def test_ranges(self):
        for answer, (_, _, _, _, ranges, _) in self.each(expected.TABLES):
            self.assertEqual({position: (answer["columns"][position]["min"], answer["columns"][position]["max"]) for position in ranges}, ranges)

    def test_leading_zeros(self):
        for answer, (*_, zeros) in self.each(expected.TABLES):
            self.assertEqual([column["position"] for column in answer["columns"] if column.get("leading_zeros")], zeros)

    def test_workbooks(self):
        for answer, sheets in self.each(expected.WORKBOOKS):
            self.assertEqual((answer["kind"], len(answer["sheets"])), ("workbook", len(sheets)))
            for sheet, (name, rows, header, headers, types, names, merged) in zip(answer["sheets"], sheets):
                self.assertEqual((sheet["name"], sheet["rows"], sheet["header_row"], sheet.get("header_rows"), sheet["merged_cells"]), (name, rows, header, headers, merged))
                self.assertEqual([column["type"] for column in sheet["columns"]], [expected.LETTERS[letter] for letter in types])
                self.assertEqual({position: sheet["columns"][position]["name"] for position in names}, names)

    def test_json(self):
        for answer, (kind, rows, keys) in self.each(expected.JSON):
            self.assertEqual((answer["kind"], answer["rows"]), (kind, rows))
            found = {key["name"]: (key["types"], key["missing"]) for key in answer["keys"]}
            self.assertEqual({name: found[name] for name in keys}, keys)

    def test_notes(self):
        for answer, sentences in self.each(expected.NOTES):
            said = " ".join(_texts(answer))
            self.assertEqual([sentence for sentence in sentences if sentence not in said], [])

    def test_an_empty_file_has_nothing_to_read(self):
        self.assertEqual((self.answers["empty.csv"]["kind"], self.answers["empty.csv"].get("read_with")), ("empty", None))

    def test_pandas_reads_what_is_said(self):
        for name, answer in self.answers.items():
            if answer["kind"] != "empty":
                with self.subTest(file=name):
                    self.assertEqual(problems(answer), [], answer["read_with"])

    def test_first_rows_are_the_first_rows(self):
        self.assertEqual(self.answers["co2_industry_pasted.csv"]["first_rows"][0], ["Timber", "2,666", "2,274", "1,877", "1,999", "2,055", "1,632", "1,687", "1,751"])
        self.assertEqual(self.answers["mayors_leading_zeros.csv"]["first_rows"][0][:2], ["030151360", "03"])
        self.assertEqual(self.answers["datasets.xlsx"]["sheets"][1]["first_rows"][0], ["179", "horsebean"])
        self.assertTrue(all(len(answer["first_rows"]) <= 10 for answer in self.answers.values() if "first_rows" in answer))

    def test_values_that_pandas_would_lose_are_kept(self):
        """Codes with leading zeros, the province NA, the town None, and the answer None of a survey."""
        towns = read(self.answers["italian_municipalities.csv"]["read_with"])
        self.assertEqual((towns.iloc[0, 4], (towns["Sigla automobilistica"] == "NA").sum(), (towns["Denominazione in italiano"] == "None").sum()), ("001001", 92, 1))
        survey = read(self.answers["thanksgiving_survey.csv"]["read_with"])
        self.assertEqual((survey.iloc[:, 6] == "None").sum(), 60)


class PageTest(unittest.TestCase):
    def test_the_example_of_the_page_is_true(self):
        with open(os.path.join(support.ROOT, "docs", "preview.md"), encoding="utf-8") as file:
            blocks = dict(re.findall(r"```(csv|json)\n(.*?)```", file.read(), re.S))
        with folder(), open("kunden.csv", "w", encoding="utf-8") as file:
            file.write(blocks["csv"])
            file.flush()
            answer = checked(preview.describe("kunden.csv", rows=1))
            self.assertEqual((answer, problems(answer)), (json.loads(blocks["json"]), []))


if __name__ == "__main__":
    unittest.main()
