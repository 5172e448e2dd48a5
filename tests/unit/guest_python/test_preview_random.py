# Tables of random dialect and content: the preview says what the one who wrote them knows, and pandas reads them as it says.

import unittest

from preview_random import Table
from preview_support import Case, problems

TABLES = 100


class RandomTest(Case):
    def test_random_tables_are_described_and_read_rightly(self):
        for seed in range(TABLES):
            table = Table(seed)
            with self.subTest(seed=seed):
                answer = self.described(table.data)
                self.assertEqual(self.said(answer), self.true(table))
                self.assertEqual(table.data.decode(answer["encoding"]), table.data.decode(table.file_encoding))
                self.assertEqual(problems(answer), [], answer["read_with"])

    @staticmethod
    def said(answer):
        columns = answer["columns"]
        return {
            "delimiter": answer["delimiter"], "newline": answer["newline"], "rows": answer["rows"], "has_header": answer["header_row"] is not None, "skipped": answer["skipped_rows"],
            "footer": answer["footer_rows"], "names": [column["name"] for column in columns], "types": [column["type"] for column in columns],
            "missing": [column["missing"] for column in columns], "zeros": [column.get("leading_zeros", False) for column in columns],
        }

    @staticmethod
    def true(table):
        return {
            "delimiter": table.delimiter, "newline": table.newline, "rows": table.rows, "has_header": table.has_header, "skipped": table.preamble, "footer": table.footer,
            "names": table.names, "types": table.types, "missing": table.missing, "zeros": table.leading_zeros,
        }


if __name__ == "__main__":
    unittest.main()
