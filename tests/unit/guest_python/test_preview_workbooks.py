# Workbooks: sheets, types of cells, headers, and files that are damaged, protected or made to fill the memory.

import datetime
import io
import os
import time
import unittest
import unittest.mock
import zipfile

import preview_workbooks
from preview_support import DATA, Case, problems, read

from cellblock_guest.preview import xlsx  # noqa: E402

CPU_SECONDS_MAX = 25


def written(*sheets, merged=()):
    """An xlsx workbook with these rows."""
    import openpyxl

    book, out = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {number + 1}")
        for row in rows:
            sheet.append(row)
        for reference in merged:
            sheet.merge_cells(reference)
    book.save(out)
    return out.getvalue()


class WorkbookTest(Case):
    def sheet(self, *sheets, merged=(), name="file.xlsx"):
        answer = self.described(written(*sheets, merged=merged), name)
        self.assertEqual((answer["kind"], answer.get("error")), ("workbook", None))
        self.assertEqual(problems(answer), [])
        return answer["sheets"][-1]

    def types(self, sheet):
        return [column["type"] for column in sheet["columns"]]

    def test_types_of_cells(self):
        day, moment = datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4, 5)
        sheet = self.sheet([["i", "f", "t", "b", "d", "dt", "h"], [1, 1.5, "a", True, day, moment, datetime.time(3, 4)], [2.0, 2, "b", False, day, moment, datetime.time(5, 6)]])
        self.assertEqual(self.types(sheet), ["integer", "number", "text", "boolean", "date", "datetime", "time"])
        self.assertEqual((sheet["columns"][4]["min"], sheet["columns"][5]["max"]), ("2024-01-02", "2024-01-02T03:04:05"))
        self.assertEqual(sheet["first_rows"][0], ["1", "1.5", "a", "TRUE", "2024-01-02", "2024-01-02T03:04:05", "03:04:00"])

    def test_missing_values_and_mixed_columns(self):
        sheet = self.sheet([["a", "b", "c"], [1, "x", None], [None, 2, None], ["n/a", 3, None], ["-", 4, None]])
        self.assertEqual([(column["type"], column["missing"]) for column in sheet["columns"]], [("integer", 3), ("mixed", 0), ("empty", 4)])
        self.assertEqual(sheet["columns"][1]["note"], "Mixed: 3 numbers, 1 text.")

    def test_truth_values_of_which_some_are_missing_stay_such(self):
        sheet = self.sheet([["n", "ok"], [1, True], [2, None], [3, False]])
        self.assertEqual(self.types(sheet), ["integer", "boolean"])
        self.assertEqual(read(sheet["read_with"])["ok"].dropna().tolist(), [True, False])

    def test_digits_stored_as_text(self):
        sheet = self.sheet([["zip", "n"], ["01234", "5"], ["98765", "6"]])
        self.assertTrue(sheet["columns"][0]["leading_zeros"])
        self.assertIn("stored as text", sheet["columns"][1]["note"])
        self.assertEqual(read(sheet["read_with"])["zip"].tolist(), ["01234", "98765"])

    def test_preambles_and_footers(self):
        sheet = self.sheet([["Report"], [], ["id", "name", "v"], [1, "a", 2.5], [2, "b", 3.5], [3, "c", 4.5], [], ["Source: somewhere nice"]])
        self.assertEqual((sheet["header_row"], sheet["skipped_rows"], sheet["rows"], sheet["footer_rows"]), (3, 2, 3, 1))

    def test_a_second_table_below_the_first(self):
        sheet = self.sheet([["id", "name", "v"], [1, "a", 2.5], [2, "b", 3.5], [], ["Returns"], ["region", "total"], ["north", 10], ["south", 20]])
        self.assertEqual((sheet["rows"], self.types(sheet), sheet["sampled"]), (2, ["integer", "text", "number"], False))
        self.assertIn("seems to begin in row 6 (region, total)", sheet["notes"][0])

    def test_headers_over_several_rows(self):
        sheet = self.sheet([["Region", "2019", None, "2020", None], [None, "Q1", "Q2", "Q1", "Q2"], ["N", 1, 2, 3, 4], ["S", 5, 6, 7, 8]], merged=("A1:A2", "B1:C1", "D1:E1"))
        self.assertEqual((sheet["header_rows"], [column["name"] for column in sheet["columns"]]), ([1, 2], ["Region", "2019 / Q1", "2019 / Q2", "2020 / Q1", "2020 / Q2"]))
        self.assertCountEqual(sheet["merged_cells"], ["A1:A2", "B1:C1", "D1:E1"])

    def test_sheets_without_a_header_without_names_and_without_cells(self):
        self.assertIsNone(self.sheet([[1, 2.5, "a"], [2, 3.5, "b"], [3, 4.5, "c"]])["header_row"])
        sheet = self.sheet([["a", None, "a"], [1, 2, 3], [4, 5, 6]])
        self.assertEqual([column.get("label") for column in sheet["columns"]], [None, "Unnamed: 1", "a.1"])
        sheet = self.sheet([["a"], [1]], [])
        self.assertEqual((sheet["rows"], sheet["columns"], sheet["read_with"]), (0, [], None))

    def test_many_sheets_are_counted_and_some_described(self):
        answer = self.described(written(*([["a"], [1]] for _ in range(30))), "file.xlsx")
        self.assertEqual((answer["sheet_count"], len(answer["sheets"])), (30, 20))
        self.assertIn("first 20 of 30 sheets", answer["notes"][0])

    def test_hidden_sheets_are_marked(self):
        import openpyxl

        book = openpyxl.load_workbook(io.BytesIO(written([["a"], [1]], [["b"], [2]])))
        book.worksheets[0].sheet_state = "hidden"
        book.active = 1
        book.save("file.xlsx")
        with open("file.xlsx", "rb") as file:
            answer = self.described(file.read(), "file.xlsx")
        self.assertEqual([sheet.get("hidden", False) for sheet in answer["sheets"]], [True, False])
        self.assertIn('sheet_name="sheet 2"', answer["read_with"])

    def test_a_large_sheet_is_read_in_part_and_its_rows_estimated(self):
        import xlsxwriter

        with xlsxwriter.Workbook("large.xlsx", {"constant_memory": True}) as book:
            sheet = book.add_worksheet("data")
            for number in range(40_001):
                sheet.write_row(number, 0, ["id", "name", "value"] if not number else [number, f"name {number % 50}", number * 1.5])
        # What a fast machine reads whole, and a slow one cannot even scan, is set: little time to read, much to scan.
        with open("large.xlsx", "rb") as file, unittest.mock.patch.multiple(xlsx, CPU_SECONDS_MAX=0.1, SCAN_CPU_SECONDS_MAX=60.0):
            answer = self.described(file.read(), "large.xlsx")
        sheet = answer["sheets"][0]
        self.assertEqual((sheet["rows"], sheet["rows_estimate"], sheet["sampled"], self.types(sheet)), (None, 40_000, True, ["integer", "text", "number"]))
        self.assertLess(sheet["rows_read"], 40_000)

    def test_xls(self):
        answer = self.described(preview_workbooks.xls({
            "data": [["id", "name", "when", "ok"], [1, "a", ("date", 45293), True], [2, "b", ("date", 45294.5), False], [3, None, ("date", 45295), True]], "ñ": [["x", "y"], [1.5, "p"], [2.5, "q"]]}), "file.xls")
        self.assertEqual([(sheet["name"], sheet["rows"], self.types(sheet)) for sheet in answer["sheets"]],
                         [("data", 3, ["integer", "text", "datetime", "boolean"]), ("ñ", 2, ["number", "text"])])
        self.assertEqual(answer["sheets"][0]["columns"][2]["min"], "2024-01-02T00:00:00")
        self.assertEqual(problems(answer), [])


class OfDatasets(Case):
    """Works on variants of examples/data/datasets.xlsx."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(DATA, "datasets.xlsx"), "rb") as file:
            cls.data = file.read()

    def error(self, data, name="file.xlsx"):
        answer = self.described(data, name)
        self.assertEqual(answer["kind"], "workbook")
        self.assertIsNone(answer.get("read_with"))
        return answer["error"]


class DamagedTest(OfDatasets):
    def test_damaged_files(self):
        self.assertIn("damaged or cut off", self.error(self.data[: len(self.data) // 2]))
        self.assertIn("damaged or cut off", self.error(self.data[:-30]))
        self.assertIn("no sheet", self.error(preview_workbooks.with_parts(self.data, workbook=b"<x/>")))
        self.assertIn("damaged", self.error(preview_workbooks.with_parts(self.data, workbook=b"<x")))
        self.assertIn("damaged", self.error(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)) * 20, "file.xls"))

    def test_protected_files(self):
        encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 4000
        self.assertEqual(self.error(encrypted), "The workbook is protected with a password.")
        self.assertEqual(self.error(preview_workbooks.xls({"a": [[1]]}, protected=True), "file.xls"), "The workbook is protected with a password.")

    def test_workbooks_that_nothing_here_reads(self):
        for name, member, content in (("file.ods", "mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("file.xlsb", "xl/workbook.bin", "x")):
            with zipfile.ZipFile(name, "w") as archive:
                archive.writestr(member, content)
                archive.writestr("[Content_Types].xml", "x")
            with open(name, "rb") as file:
                self.assertIn("no package", self.error(file.read(), name))

    def test_one_damaged_sheet_leaves_the_others(self):
        for part, said in ((preview_workbooks.SHEET_XML % b'<sheetData><row r="1"><c r="A1"><v>abc</v></c></row></sheetData>', "damaged"), (None, "missing"), (b"<worksheet", "damaged")):
            answer = self.described(preview_workbooks.with_parts(self.data, sheet2=part), "file.xlsx")
            self.assertEqual([sheet["rows_read"] for sheet in answer["sheets"]], [32, 0, 1000])
            self.assertIn(said, answer["sheets"][1]["error"])

    def test_styles_that_cannot_be_read(self):
        for part in (b"<x", b"<styleSheet>" + os.urandom(1 << 20).hex().encode()):
            answer = self.described(preview_workbooks.with_parts(self.data, styles=part), "file.xlsx")
            self.assertEqual(answer["sheets"][0]["rows"], 32)
            self.assertIn("styles", answer["notes"][0])


class BoundsTest(OfDatasets):
    """Files that are small and unpack to much."""

    def rows_of(self, **parts):
        data = preview_workbooks.with_parts(self.data, **parts)
        self.assertLess(len(data), 1 << 20)
        started = time.process_time()
        answer = self.described(data, "file.xlsx")
        self.assertLess(time.process_time() - started, CPU_SECONDS_MAX)
        self.assertIsNone(answer.get("error"))
        return answer["sheets"][0]

    def test_endless_rows_and_a_row_without_end(self):
        rows = b"<row><c><v>1</v></c><c><v>2.5</v></c></row>" * (1 << 20)
        with unittest.mock.patch.object(xlsx, "SCAN_CPU_SECONDS_MAX", 60.0):
            sheet = self.rows_of(sheet1=preview_workbooks.SHEET_XML % (b"<sheetData>" + rows + b"</sheetData>"))
        self.assertEqual((sheet["rows"], sheet["rows_estimate"], sheet["sampled"]), (None, 1 << 20, True))
        sheet = self.rows_of(sheet1=preview_workbooks.SHEET_XML % (b"<sheetData><row>" + b"<c><v>1</v></c>" * (4 << 20) + b"</row></sheetData>"))
        self.assertTrue(sheet["sampled"])

    def test_endless_texts(self):
        self.assertEqual(self.rows_of(sharedStrings=preview_workbooks.STRINGS_XML % (b"<si><t>abc</t></si>" * (3 << 20)))["rows"], 32)
        self.assertEqual(self.rows_of(sharedStrings=preview_workbooks.STRINGS_XML % (b"<si><t>" + b"A" * (40 << 20) + b"</t></si>"))["rows"], 32)

    def test_a_sheet_that_lies_about_its_size(self):
        far = b'<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
        sheet = self.rows_of(sheet1=preview_workbooks.SHEET_XML % far)
        self.assertEqual((sheet["rows_read"], sheet["sampled"], len(sheet["columns"])), (1, True, 1))

    def test_entities_depth_and_merged_cells_without_end(self):
        entities = b"".join(b'<!ENTITY %c "%s">' % (98 + level, b"&%c;" % (97 + level) * 10) for level in range(9))
        laugh = b'<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa">' + entities + b"]>" + preview_workbooks.SHEET_XML % b'<sheetData><row><c t="inlineStr"><is><t>&j;</t></is></c></row></sheetData>'
        self.assertEqual(self.rows_of(sheet1=laugh)["rows_read"], 0)
        self.rows_of(sheet1=preview_workbooks.SHEET_XML % (b"<sheetData>" + b"<a>" * 100_000 + b"</a>" * 100_000 + b"</sheetData>"))
        merged = b"".join(b'<mergeCell ref="A%d:B%d"/>' % (number, number) for number in range(1, 50_000))
        sheet = self.rows_of(sheet1=preview_workbooks.SHEET_XML % (b'<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData><mergeCells>' + merged + b"</mergeCells>"))
        self.assertEqual(len(sheet["merged_cells"]), 200)

    def test_an_archive_with_too_many_files(self):
        with zipfile.ZipFile("file.xlsx", "w") as archive:
            for number in range(60_000):
                archive.writestr(f"xl/worksheets/a-long-name-for-a-part-{number}.xml", b"")
        with open("file.xlsx", "rb") as file:
            self.assertIn("too many files", self.error(file.read()))

    def test_a_part_that_is_read_whole_may_not_be_large(self):
        self.assertIn("too large", self.error(preview_workbooks.with_parts(self.data, workbook=b"<x>" + b" " * (5 << 20) + b"</x>")))


if __name__ == "__main__":
    unittest.main()
