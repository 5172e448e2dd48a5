# Single cells: what is a number, in which ways it can be read, what is a date and by which format, and what is neither.

import datetime
import time
import unittest

import support  # noqa: F401
from cellblock_guest.preview import cells, dates, numerals

SECONDS_MAX = 0.5


class NumeralTest(unittest.TestCase):
    def test_readings_by_decimal_mark(self):
        for text, readings in (
            ("5", {".": (5, ""), ",": (5, "")}), ("-3.25", {".": (-3.25, "")}), ("3,25", {",": (3.25, "")}), ("1.234", {".": (1.234, ""), ",": (1234, ".")}), ("1,234", {".": (1234, ","), ",": (1.234, "")}),
            ("1.234,5", {",": (1234.5, ".")}), ("1,234,567", {".": (1234567, ",")}), ("12,34,567", {".": (1234567, ",")}), ("1 234,5", {",": (1234.5, " ")}), ("1'234.50", {".": (1234.5, "'")}),
            ("0,123", {",": (0.123, "")}), (".5", {".": (0.5, "")}), ("1e3", {".": (1000.0, ""), ",": (1000.0, "")}), ("(1,200.50)", {".": (-1200.5, ",")}), ("5-", {".": (-5, ""), ",": (-5, "")}),
            ("€ 4,00", {",": (4.0, "")}), ("4,00 EUR", {",": (4.0, "")}), ("95%", {".": (95, ""), ",": (95, "")}), ("− 3", {".": (-3, ""), ",": (-3, "")}), ("+7", {".": (7, ""), ",": (7, "")}),
        ):
            with self.subTest(text=text):
                self.assertEqual(numerals.read(text).readings, readings)

    def test_what_is_no_number(self):
        for text in ("", "-", "$", "1.2.3", "1,23,4", "12-34", "10.0.0.1", "5 pipes", "1 23", "--5", "(5", "5)", "$5€", "0x1F", "1_000", "٣", "1e", "9" * 41, "1,,2", "01.06.2015", "3:4", "0,123,456"):
            with self.subTest(text=text):
                self.assertIsNone(numerals.read(text))

    def test_what_stands_around_a_number_is_told(self):
        numeral = numerals.read("$1,234.50")
        self.assertEqual((numeral.currency, numeral.percent, numeral.odd_sign), ("$", False, False))
        self.assertTrue(numerals.read("(5)").odd_sign and numerals.read("- 5").odd_sign and numerals.read("5%").percent)
        self.assertFalse(numerals.read("-5").odd_sign)

    def test_no_text_makes_it_slow(self):
        for text in ("(" * 40, "-" * 40, "1," * 20, "1 " * 20, " " * 40, "$" * 40, "1'" * 19 + "x"):
            started = time.thread_time()
            numerals.read(text)
            self.assertLess(time.thread_time() - started, SECONDS_MAX)


class DateTest(unittest.TestCase):
    def test_values_and_formats(self):
        day = datetime.date(2024, 3, 5)
        for text, layout, value in (
            ("2024-03-05", "%Y-%m-%d", day), ("2024/3/5", "%Y/%m/%d", day), ("05.03.2024", "{0}.{1}.%Y", day), ("5/3/24", "{0}/{1}/%y", day), ("5-Mar-24", "%d-%b-%y", day), ("5 March 2024", "%d %B %Y", day),
            ("05 Mar  2024", "%d %b %Y", day), ("March 5, 2024", "%B %d, %Y", day), ("Tue, 5 Mar 2024", "%a, %d %b %Y", day), ("20240305", "%Y%m%d", day), ("2024-03", "%Y-%m", datetime.date(2024, 3, 1)),
            ("MAR-2024", "%b-%Y", datetime.date(2024, 3, 1)), ("3/2024", "%m/%Y", datetime.date(2024, 3, 1)), ("2024-03-05T06:07:08Z", "%Y-%m-%dT%H:%M:%S%z", datetime.datetime(2024, 3, 5, 6, 7, 8)),
            ("2024-03-05 06:07:08.5", "%Y-%m-%d %H:%M:%S.%f", datetime.datetime(2024, 3, 5, 6, 7, 8, 500_000)), ("5/3/2024 6:07 PM", "{0}/{1}/%Y %I:%M %p", datetime.datetime(2024, 3, 5, 18, 7)),
            ("18:07", "%H:%M", datetime.time(18, 7)), ("12:30 AM", "%I:%M %p", datetime.time(0, 30)),
        ):
            with self.subTest(text=text):
                stamp = dates.read(text)
                self.assertEqual((stamp.layout, stamp.value(day_first=True)), (layout, value))

    def test_what_is_no_date(self):
        for text in ("", "18-29", "2010", "886-6-2213597", "1005-00-073-9421", "32.01.2024", "13/13/2024", "2024-02-30", "2024-02-0", "24:00", "5 Foo 2024", "2006/2007 - 1", "1.2.3", "Mon", "May", "10.0.0.1", "2024-13",
                     "5/3/2024 25:00", "x2024-03-05", "2024-03-05x"):
            with self.subTest(text=text):
                self.assertIsNone(dates.read(text))

    def test_order_of_day_and_month_by_the_numbers(self):
        def order(*texts):
            return dates.day_first([dates.read(text) for text in texts])

        self.assertEqual([order("13/02/2024"), order("02/13/2024"), order("02/03/2024"), order("13/02/2024", "02/13/2024"), order("2024-03-05")], [True, False, None, "mixed", None])
        self.assertEqual([order("01-01-13", "01-02-13", "01-03-13"), order("01-01-13", "02-01-13", "03-01-13")], [True, False])


class FamilyTest(unittest.TestCase):
    def test_families(self):
        for family, texts in (("", (" ", "NA", "n/a", "-", "***", "?", "#DIV/0!")), ("n", ("5", " 5 ", "$5", "1.234,5", "inf", "50%")), ("d", ("2024-01-02", "12:30", "5 Mar 2024")),
                              ("b", ("yes", "TRUE", "Nein")), ("t", ("abc", "y", "5 pipes", "18-29", "x" * 100, "1" * 100))):
            for text in texts:
                with self.subTest(text=text):
                    self.assertEqual(cells.family(text), family)


if __name__ == "__main__":
    unittest.main()
