# Tables as people write them: each way of writing is told apart, and the code that the preview gives reads it so.

import bz2
import gzip
import lzma
import unittest

from preview_support import Case, read

I, N, T, D, DT, H, B, M, E = "integer", "number", "text", "date", "datetime", "time", "boolean", "mixed", "empty"


class NumbersTest(Case):
    def test_decimal_commas_and_thousands(self):
        self.assert_says("a;b;c\n1.234,56;x;1\n12,5;y;2\n", decimal=",", thousands=".", types=[N, T, I])
        self.assert_says("d;v\n01.06.2015;1.234\n02.06.2015;12.345\n15.06.2015;1.234,5\n", decimal=",", thousands=".", types=[D, N])
        self.assert_says('a,b\n"1,234",x\n"5,678",y\n', decimal=".", thousands=",", types=[I, T])
        self.assert_says("a;b\n1'234.50;x\n12'345'678.00;y\n", decimal=".", thousands="'", types=[N, T])
        self.assert_says("a;b\n1\u00a0234,5;x\n12\u00a0345,6;y\n", decimal=",", thousands="\u00a0", types=[N, T])
        self.assert_says('a,b\n"12,34,567",x\n"1,00,000",y\n', thousands=",", types=[I, T])

    def test_what_cannot_be_told_is_said(self):
        answer = self.assert_says("a;b\n1,234;x\n5,678;y\n", decimal=",", types=[N, T])
        self.assertIn("cannot be told", answer["notes"][0])
        self.assertEqual(self.assert_says("a,b\n1.234,x\n5.678,y\n", decimal=".", types=[N, T])["notes"], [])

    def test_currencies_percents_and_signs(self):
        for data, thousands in (('i,p\na,$4.00\nb,"$1,234.50"\nc,$3\n', ","), ("i;p\na;4,00 €\nb;1.234,50 €\n", "."), ("i;p\na;EUR 4,00\nb;EUR 14,50\n", None), ("i,p\na,95%\nb,5.5%\n", None),
                                ('i,p\na,(5.00)\nb,3.25\nc,"(1,200.00)"\n', ","), ("i,p\na,5.00-\nb,3.25\n", None), ("i,p\na,- 5\nb,−3\nc,2.5\n", None)):
            with self.subTest(data=data):
                answer = self.assert_says(data, types=[T, N], thousands=thousands)
                self.assertIn("pandas leaves this as text", answer["columns"][1]["note"])

    def test_pandas_reads_them_as_numbers(self):
        answer = self.described("i;p\na;(4,00 €)\nb;-1.234,50 €\n")
        self.assertEqual((answer["columns"][1]["min"], answer["columns"][1]["max"]), (-1234.5, -4))
        answer = self.described("i;p\na;4,00 €\nb;-1.234,50 €\n")
        self.assertEqual(read(answer["read_with"])["p"].tolist(), [4.0, -1234.5])
        for text, value in (("(4,00 €)", -4), ("−4,00 €", -4), ("4,00-", -4), ("EUR 4,00", 4), ("kr. 4,00", 4), ("4,5%", 4.5), ("1 234,5 €", 1234.5), ("1e3 %", 1000)):
            with self.subTest(text=text):
                frame = read(self.assert_says(f"i;p\na;{text}\nb;7,50\n", types=[T, N])["read_with"])
                self.assertEqual(frame["p"].tolist(), [value, 7.5])

    def test_marks_that_differ_between_columns(self):
        frame = read(self.assert_says("a;b;c\n1,5;1.5;x\n2,25;2.75;y\n3,5;1000.5;z\n4,5;1;x\n", types=[N, N, T])["read_with"])
        self.assertEqual((frame["a"].tolist(), frame["b"].tolist()), ([1.5, 2.25, 3.5, 4.5], [1.5, 2.75, 1000.5, 1]))

    def test_blanks_that_pandas_does_not_strip(self):
        self.assertEqual(read(self.assert_says("a;b\n1\u00a0;x\n2\u2009;y\n3;z\n", types=[I, T])["read_with"])["a"].tolist(), [1, 2, 3])

    def test_infinities_exponents_and_errors_of_workbooks(self):
        self.assert_says("x,y\n1.5,a\ninf,b\n-Infinity,c\n", types=[N, T])
        self.assert_says("x,y\n1e5,a\n2.5E-3,b\n", types=[N, T])
        answer = self.assert_says("a,b\n1,#DIV/0!\n2,3.5\n3,#N/A\n", types=[I, N])
        self.assertEqual(answer["columns"][1]["missing"], 2)

    def test_digits_that_are_no_numbers(self):
        answer = self.assert_says("zip,v\n01234,1\n98765,2\n", types=[T, I])
        self.assertTrue(answer["columns"][0]["leading_zeros"])
        self.assertEqual(read(answer["read_with"])["zip"].tolist(), ["01234", "98765"])
        self.assert_says("id,v\n12345678901234567890123,1\n22345678901234567890123,2\n", types=[T, I])
        self.assert_says("ip,v\n10.0.0.1,1\n192.168.1.1,2\n", types=[T, I])
        self.assert_says("version;v\n1.2.3;1\n4.5.6;1.234,5\n", types=[T, N])
        self.assert_says("phone,v\n886-6-2213597,1\n886-6-2267151,2\n", types=[T, I])
        self.assertEqual(read(self.assert_says("phone,v\n+491234567,1\n+49987654,2\n", types=[T, I])["read_with"])["phone"].tolist(), ["+491234567", "+49987654"])
        self.assert_says("v\n+1\n+2\n", types=[I])

    def test_numbers_that_stand_for_missing(self):
        answer = self.assert_says("x,y\n1,a\n-999,b\n5,c\n-999,d\n-999,e\n7,g\n", types=[I, T])
        self.assertEqual([answer["columns"][0][key] for key in ("missing", "missing_values", "min", "max")], [3, ["-999"], 1, 7])
        answer = self.assert_says("x,y\n-1,a\n-999,b\n5,c\n-99,d\n", types=[I, T])
        self.assertEqual(answer["columns"][0]["missing"], 0)


class DatesTest(Case):
    def test_forms_of_dates(self):
        for first, second, kind in (
            ("2024-01-02", "2024-11-12", D), ("02/01/2024", "23/04/2024", D), ("1/22/2024", "11/2/2024", D), ("2.1.2024", "13.11.2024", D), ("5-Jan-24", "13-Nov-23", D), ("5 Jan 2024", "13 Nov 2023", D),
            ("January 5, 2024", "May 13, 2023", D), ('"Mon, 1 Jan 2024"', '"Tue, 2 Jan 2024"', D), ("Jan-01", "Feb-01", D), ("2024-01", "2024-05", D), ("01/2024", "05/2024", D),
            ("2024-01-02T03:04:05", "2024-11-12T13:14:15", DT), ("2024-01-02T03:04:05Z", "2024-11-12T13:14:15Z", DT), ("2024-01-02 03:04:05.123", "2024-01-02 03:04:06", DT),
            ("1/22/2024 3:04 PM", "1/2/2024 11:04 AM", DT), ("2024-01-02 03:04:05+02:00", "2024-01-03 03:04:05+02:00", DT), ("12:30", "23:59:01", H),
        ):
            with self.subTest(first=first):
                quote = '"' if "," in first and first[0] != '"' else ""
                self.assert_says(f"d,v\n{quote}{first}{quote},1\n{quote}{second}{quote},2\n", types=[kind, I])

    def test_eight_digits_are_dates_only_under_such_a_name(self):
        self.assert_says("date,v\n20240102,1\n20240103,2\n", types=[D, I])
        self.assert_says("id,v\n20240102,1\n20240103,2\n", types=[I, I])

    def test_order_of_day_and_month(self):
        answer = self.assert_says("d,v\n01/02/2024,1\n03/04/2024,2\n", types=[D, I])
        self.assertIn("month first is assumed", answer["columns"][0]["note"])
        self.assertEqual(answer["columns"][0]["min"], "2024-01-02")
        answer = self.assert_says("d;v\n01/02/2024;1\n03/04/2024;2\n", types=[D, I])
        self.assertEqual(answer["columns"][0]["min"], "2024-02-01")
        answer = self.assert_says("d,e\n01/02/2024,13/02/2024\n03/04/2024,03/04/2024\n", types=[D, D])
        self.assertEqual(answer["columns"][0]["min"], "2024-02-01")
        answer = self.assert_says("d,v\n13/02/2024,1\n03/24/2024,2\n", types=[D, I])
        self.assertIn("both orders", answer["columns"][0]["note"])

    def test_several_forms_in_one_column(self):
        answer = self.assert_says("d,v\n2024-01-02,1\n13/04/2024,2\n5 Jan 2024,3\n", types=[D, I])
        self.assertIn("several forms", answer["columns"][0]["note"])
        self.assertEqual(str(read(answer["read_with"])["d"][1].date()), "2024-04-13")

    def test_durations_of_more_than_a_day(self):
        self.assertIn("to_timedelta", self.assert_says("dur\n00:01:30\n01:00:00\n26:15:00\n", delimiter=None, types=[T], rows=3)["columns"][0]["note"])

    def test_years_that_pandas_cannot_hold_stay_text(self):
        self.assertIn("do not fit", self.assert_says("d,v\n1500-01-02,1\n1600-01-03,2\n", types=[D, I])["columns"][0]["note"])

    def test_seconds_since_1970_are_told_by_name(self):
        self.assertIn("seconds since 1970", self.assert_says("timestamp,v\n1700000000,1\n1700000100,2\n", types=[I, I])["columns"][0]["note"])
        self.assertNotIn("note", self.described("id,v\n1700000000,1\n1700000100,2\n")["columns"][0])


class HeaderTest(Case):
    def test_preambles(self):
        self.assert_says("Title of the thing\nSecond line, with comma\n\nid,name,qty\n1,a,2\n2,b,3\n3,c,4\n4,d,5\n", skipped_rows=3, header_row=4, rows=4)
        self.assert_says("Report:;Sales;;;\nDate:;2024-01-01;;;\n;;;;\nid;name;qty;price;total\n1;a;2;3,5;7\n2;b;3;1,5;4,5\n3;c;3;1,5;4,5\n", skipped_rows=3, header_row=4, types=[I, T, I, N, N])
        self.assert_says("# made by tool, version 3, x\n# unit, of, things\nid,name,qty\n1,a,2\n2,b,3\n", skipped_rows=2, header_row=3)
        self.assert_says("# comment\n#id,name,qty\n1,a,2\n2,b,3\n", skipped_rows=1, header_row=2, names=["#id", "name", "qty"])
        self.assert_says("\n".join(f"# item {number}: value" for number in range(30)) + "\nid,v\n1,2\n3,4\n", delimiter=",", skipped_rows=30, header_row=31)
        self.assert_says("  Data of the office\n\n    more of it\n  x     y\n" + "  1   2.5\n 10  12.5\n" * 20, "f.dat", delimiter=r"\s+", header_row=4, rows=40)
        self.assert_says("sep=;\nid;name\n1;a\n2;b\n", skipped_rows=1, header_row=2, delimiter=";")
        self.assert_says('"A title\nof two lines"\n\na,b\n1,2\n3,4\n', skipped_rows=2, header_row=4, rows=2)
        self.assert_says("Title\r\rnotes\ra,b\r1,2\r3,4\r", skipped_rows=3, header_row=4, rows=2, newline="\r")

    def test_preambles_of_offices(self):
        pairs = '"Title","Index of things"\n"Code","AB12"\n"Source","XY"\n"Unit",""\n"Release date","19-07-2023"\n"Notes",\n"1988","48.9"\n"1989","51.0"\n"1990","54.6"\n"1991","58.0"\n'
        self.assert_says(pairs, skipped_rows=6, header_row=None, rows=4, types=[I, N])
        payments = (",All payments of the board above £ 500,,,\n,Period:,13,,\n,Year:,2011 / 12,,\n,,,,\n,Vendor,Name,Amount,Date\n"
                    ',1001,A Ltd,"1,673.50",21 Mar  2012\n,1002,B Ltd,800.00,15 Mar  2012\n,1003,C Ltd,700.00,16 Mar  2012\n')
        self.assert_says(payments, encoding="cp1252", skipped_rows=4, header_row=5, rows=3, types=[E, I, T, N, D])
        statistics = ("\n\nTabelle der Dinge, nach Jahren\n*****************************\nRegion:;Deutschland\n\"\"\n;;;;\n;\"1985\";\"1993\";\"2000\";\n\"  Gruppe\";\"  \";\"  \";\"  \";\n\"    Amseln\";\".\";\"379\";\"1.575\";\n"
                      "\"    Drosseln\";\"12\";\"2.135\";\"123\";\n\"    Finken\";\"15\";\"635\";\"2.123\";\n\n****************************\nFußnoten\n****************************\n\n"
                      "\"1.\";\"Bis 1992 nur ein Teil der Amseln, danach alle.\"\n\nQuelle(n):\n\"Amt für Vögel\"\n")
        self.assert_says(statistics, header_row=8, rows=4, types=[T, I, I, I, E], thousands=".", decimal=",")

    def test_lines_drawn_below_the_names(self):
        self.assert_says("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", "f.csv", rows=2, types=[E, I, I, E])
        self.assert_says(" city   | low | high\n--------+-----+------\n Aachen |  46 |   50\n Bonn   |  43 |   57\n Celle  |  41 |   52\n(3 rows)\n", "f.txt", rows=3, types=[T, I, I], footer_rows=1)

    def test_several_header_rows(self):
        self.assert_says("Region,2019,,2020,\n,Q1,Q2,Q1,Q2\nNorth,1,2,3,4\nSouth,5,6,7,8\n", header_rows=[1, 2], types=[T, I, I, I, I],
                         names=["Region", "2019 / Q1", "2019 / Q2", "2020 / Q1", "2020 / Q2"])
        self.assert_says("time,temp,pressure\n(s),(K),(Pa)\n0,1.5,2\n1,2.5,3\n2,3.5,4\n", header_rows=[1, 2], types=[I, N, I])
        names = [f"a very long question number {number} with many more words than fit" for number in range(30)]
        answer = self.assert_says("\n".join([",".join(names), "," + ",".join("Response" for _ in names[1:]), ",".join("1" for _ in names), ",".join("2" for _ in names), ""]), header_rows=[1, 2], rows=2)
        self.assertIn("header=[0, 1]", answer["read_with"])

    def test_numbers_and_dates_as_names(self):
        self.assert_says("Country,2000,2001,2002\nA,1,2,3\nB,4,5,6\n", header_row=1, types=[T, I, I, I])
        self.assert_says("Country,2020-01-22,2020-01-23\nA,1,2\nB,3,4\n", header_row=1, types=[T, I, I])
        self.assert_says("Station,1,2,3,4\nA,7,9,2,8\nB,3,3,1,5\n", header_row=1, types=[T, I, I, I, I])

    def test_no_header(self):
        self.assert_says("1,2.5,a\n2,3.5,b\n3,4.5,c\n", header_row=None, types=[I, N, T], rows=3, names=[None] * 3)
        self.assert_says("Anna,Berlin\nBob,Paris\nCarl,Berlin\nDora,Berlin\n", header_row=None, rows=4)
        self.assert_says("1,2,3\n", header_row=None, rows=1)
        self.assert_says("a.example,h1:x9f2\nb.example,h1:x0c1\nc.example,h1:y7d2\nd.example,h1:z7a3\n", header_row=None, rows=4)
        self.assert_says("name,city\nAnna,Berlin\nBob,Paris\nCarl,Berlin\n", header_row=1, rows=3)

    def test_names_that_are_empty_or_there_twice(self):
        answer = self.assert_says("a,,a,\n1,2,3,4\n5,6,7,8\n", types=[I] * 4, names=["a", "", "a", ""])
        self.assertEqual([column.get("label") for column in answer["columns"]], [None, "Unnamed: 1", "a.1", "Unnamed: 3"])

    def test_a_single_column_whose_values_have_commas(self):
        self.assert_says("price\n1,50\n2,75\n13,10\n", delimiter=None, types=[N], rows=3, decimal=",")
        self.assert_says("comment\nHello, world\nNice\nYes, fine, thanks\nGood\n", delimiter=None, types=[T], rows=4)
        self.assert_says('name\n"Smith, A"\n"Jones, B"\nCher\n', types=[T], rows=3)

    def test_a_header_that_is_repeated_is_no_data(self):
        answer = self.assert_says("a,b\n1,2\n3,4\na,b\n5,6\n", rows=3, types=[I, I])
        self.assert_says("a,b\n1,2,x\n3,4,y\na,b\n5,6,z\n", rows=3, types=[I, I, T])
        self.assertIn("The header stands 1 more time among the data.", answer["notes"])

    def test_footers(self):
        self.assert_says("a,b,c\n1,2,3\n4,5,6\n7,8,9\n\nSource: somewhere nice\n", rows=3, footer_rows=1)
        self.assert_says("a,b,c\n1,2,3\n4,5,6\n7,8,9\n* provisional\n* estimated, partly\n,,\n", rows=3, footer_rows=2)
        self.assert_says('a,b,c,d\nx,1,2,3\ny,4,5,6\n"Note: some things may be counted in more than one place, therefore",,,\n the total should not be used for the number of things in the year.,,,\n', rows=2, footer_rows=2)
        self.assert_says("a,b,c\n1,2,x\n3,4,y\n" + ",,\n" * 500, rows=2, footer_rows=0)
        self.assertIn("'Total'", self.assert_says("a,b,c\nx,2,3\ny,5,6\nTotal,7,9\n", rows=3, footer_rows=0)["notes"][0])

    def test_header_only_and_single_columns(self):
        self.assert_says("a,b,c\n", rows=0, names=["a", "b", "c"], types=[E] * 3)
        self.assert_says("price\n1.5\n2.5\n3\n", types=[N], rows=3, names=["price"], delimiter=None)
        self.assert_says("name\nAnna\nBob\n", types=[T], rows=2)
        self.assert_says("1\n2\n3\n", types=[I], rows=3, header_row=None)
        self.assert_says("when\n2024-01-01 10:00\n2024-01-02 11:00\n2024-01-03 12:00\n", types=[DT], rows=3)


class DialectTest(Case):
    def test_delimiters(self):
        for delimiter in ",;\t|^~\x1f\x01":
            self.assert_says(f"a{delimiter}b{delimiter}c\n1{delimiter}2{delimiter}x\n3{delimiter}4{delimiter}y\n", delimiter=delimiter, types=[I, I, T])
        self.assert_says("   x     y\n   1   2.5\n  10  12.5\n 100 112.5\n", "file.dat", kind="csv", delimiter=r"\s+", rows=3, types=[I, N])
        self.assert_says("a;b\n1;x, y\n2;z, w, v\n3;q\n", delimiter=";", types=[I, T])

    def test_tables_as_r_writes_them(self):
        self.assert_says('"name" "v"\n"Mazda RX4" 21\n"Datsun 710" 22.8\n"Fiat" 3\n', "f.txt", kind="csv", delimiter=r"\s+", names=["name", "v"], types=[T, N], rows=3)
        self.assert_says('"mpg" "cyl"\n"Mazda RX4" 21 6\n"Datsun 710" 22.8 4\n"Fiat" 3.5 4\n', "f.txt", delimiter=r"\s+", names=["", "mpg", "cyl"], types=[T, N, I], rows=3)
        self.assert_says('"","mpg"\n"a",21\n"b",22.8\n', names=["", "mpg"], types=[T, N], rows=2)

    def test_quotes(self):
        self.assert_says("a,b\n1,'x, y'\n2,'z, w'\n", quote="'", types=[I, T], rows=2)
        self.assert_says('a,b\n1,"x \\"q\\", y"\n2,"z"\n', escape="\\", types=[I, T], rows=2)
        self.assert_says('size,n\n5" pipe,1\n6" pipe,2\n', quote=None, types=[T, I], rows=2)
        self.assert_says('size\tn\n"big thing\t1\nsmall\t2\nmid\t3\n', "file.tsv", quote=None, types=[T, I], rows=3)
        self.assert_says('a, b\n1, "x, y"\n2, "z, w"\n', types=[I, T], rows=2)
        self.assert_says('a,b\n1,"say ""so"""\n2,"z"\n', quote='"', doublequote=True, types=[I, T])

    def test_long_quoted_texts_are_no_columns(self):
        self.assert_says("id,text\n" + "".join(f'{number},"{"lorem ipsum, dolor " * 200}"\n' for number in range(50)), quote='"', types=[I, T], rows=50)

    def test_an_end_mark_of_dos_is_no_row(self):
        self.assert_says(b"a,b\r\n1,2\r\n\x1a", types=[I, I], rows=1)

    def test_a_file_that_ends_within_quotes(self):
        rows = "".join(f'{number},"text {number}, and more"\n' for number in range(20))
        self.assertIn("ends within quotes", self.assert_says(f'a,b\n{rows}20,"text 20, and', rows=20, types=[I, T])["notes"][0])
        self.assertIn("ends within quotes", self.assert_says('item,price\nA,"$1,234', rows=0)["notes"][0])

    def test_line_ends(self):
        for newline in ("\n", "\r\n", "\r"):
            self.assert_says(newline.join(("a,b", "1,2", "3,4", "")).encode(), newline=newline, rows=2)
        self.assert_says(b"a,b\r\n1,2\n3,4\r\n", newline="mixed", rows=2)
        self.assert_says(b'a,b\r\n1,"x\ny"\r\n', newline="\r\n", rows=1)
        self.assert_says(b"a,b", newline=None, rows=0)

    def test_rows_of_unequal_length(self):
        self.assert_says("a,b,c\n1,2,3\n4,5\n6,7,8,9\n1,2,3\n", rows=4, types=[I, I, I, I], names=["a", "b", "c", ""])
        self.assert_says("a,b\n1,2,3\n4,5,6\n", rows=2, types=[I, I, I])
        self.assert_says("a,b\n1,2,\n3,4,\n", rows=2, types=[I, I])
        self.assert_says("a,b,\n1,2,\n3,4,\n", rows=2, types=[I, I, E])
        self.assert_says("a,b\n1,2\n3,4,,\n5,6\n", rows=2 + 1, types=[I, I])

    def test_encodings(self):
        for text, encoding in (
            ("miasto;ilość\nŁódź;1\nKraków;2\nGdańsk;3\nCzęstochowa;4\n", "cp1250"), ("имя;цена\nМосква;1\nСанкт-Петербург;2\n", "cp1251"), ("氏名,都市\n山田太郎,東京\n佐藤花子,大阪\n", "shift_jis"),
            ("姓名,价格\n北京,1\n上海,2\n广州,3\n", "gb18030"), ("姓名,縣市\n陳美玲,臺北市\n林志明,高雄市\n", "big5"), ("이름,도시\n김민수,서울\n박지영,부산\n", "euc_kr"), ("όνομα,τιμή\nΑθήνα,1\nΘεσσαλονίκη,2\n", "iso8859-7"),
            ("name,v\ncafé,1\nbar,2\nfoo,3\n", "utf-16-le"), ("name,v\ncafé,1\nbar,2\nfoo,3\n", "utf-16-be"), ("name,v\ncafé,1\n", "utf-16"), ("name,v\ncafé,1\n", "utf-32"), ("name,v\ncafé,1\n", "utf-8"),
        ):
            with self.subTest(encoding=encoding):
                header = text.splitlines()[0].replace(";", ",").split(",")
                self.assert_says(text, encoding=encoding, has_bom=encoding in ("utf-16", "utf-32"), names=header)
                self.assertEqual(self.described(text.encode(encoding))["encoding"], encoding)
        self.assert_says("\ufeffname;v\ncafé;1\n", has_bom=True, names=["name", "v"])

    def test_bytes_that_are_no_characters(self):
        answer = self.assert_says("name,v\n".encode() + "naïve,1\ncafé,2\nZoë,3\nüber,4\nSão,5\n".encode() + b"caf\xe9,6\n", rows=6)
        self.assertEqual((answer["encoding"], answer["first_rows"][5][0]), ("utf-8", "caf\ufffd"))
        for data in ("a,b\n1,é\n2,ü".encode()[:-1], "a,b\n1,é\n2,ü".encode("utf-16-le")[:-1], "a,b\n1,é\n2,ü".encode("utf-16")[:-1]):
            self.assert_says(data, rows=2)
        answer = self.assert_says(b"a,b\n1,x\0y\n2,z\n", types=[I, T], rows=2)
        self.assertIn("NUL", answer["notes"][0])
        self.assert_says(b"a,b,c\n1,\0,3\n4,5,6\n", encoding="utf-8", types=[I, I, I], rows=2)

    def test_an_index_that_pandas_wrote(self):
        self.assertIn("index_col=0", self.assert_says(",a\n0,x\n1,y\n2,z\n", types=[I, T])["notes"][-1])

    def test_compressed_tables(self):
        table = b"a;b\n1;2,5\n3;4,5\n"
        for name, data, how in (("file.csv.gz", gzip.compress(table), "gzip"), ("file.csv.bz2", bz2.compress(table), "bz2"), ("file.csv.xz", lzma.compress(table), "xz"),
                                ("file.csv", gzip.compress(table), "gzip"), ("file.csv.gz", gzip.compress(table[:8]) + gzip.compress(table[8:]), "gzip")):
            with self.subTest(name=name, how=how):
                answer = self.assert_says(data, name, kind="csv", compression=how, rows=2, types=[I, N])
                self.assertIn(how, answer["notes"][0])


class ValuesTest(Case):
    def test_truth_values(self):
        self.assert_says("a,b,c,d\nTrue,yes,Y,1\nFalse,no,N,0\nTrue,yes,N,1\n", types=[B, B, B, I])
        self.assert_says("a,b\ny,1\ny,2\n", types=[T, I])
        self.assert_says("a,b\nTrue,vrai\nfalse,faux\nTRUE,vrai\nFalse,faux\n", types=[B, B])
        self.assert_says("a,b\nyes,ja\n,nein\nno,ja\n", types=[B, B])
        self.assert_says("a,b\ny,y\nn,y\ny,y\n", types=[B, T])
        self.assert_says("a ,b\nyes ,1\nno  ,2\n", types=[B, I])

    def test_words_that_only_look_missing(self):
        self.assert_says("code,v\nDE,1\nNA,2\nFR,3\nUS,4\nIT,5\nES,6\n", types=[T, I])
        self.assertEqual(self.assert_says("s,v\n+,1\n-,2\n+,3\n", types=[T, I])["columns"][0]["missing"], 0)
        self.assertEqual(self.assert_says("s,v\n5,1\n-,2\n7,3\n", types=[I, I])["columns"][0]["missing_values"], ["-"])

    def test_a_mark_of_missing_that_is_a_value_elsewhere(self):
        answer = self.assert_says("s,v\n+,1\n-,-\n+,3\n", types=[T, I])
        self.assertEqual([column["missing"] for column in answer["columns"]], [0, 1])

    def test_mixed_columns_say_of_what(self):
        self.assertIn("2 numbers, 1 text (texts such as 'call us')", self.assert_says("price,v\n5,1\ncall us,2\n7,3\n", types=[M, I])["columns"][0]["note"])

    def test_counts_and_examples(self):
        column = self.described("name,v\nb,1\na,2\nb,3\n,4\n")["columns"][0]
        self.assertEqual((column["distinct"], column["missing"], column["missing_values"], column["top"], column["example"]),
                         (2, 1, [""], [{"value": "b", "count": 2}, {"value": "a", "count": 1}], "b"))

    def test_number_of_rows_shown(self):
        data = "a\n" + "".join(f"{number}\n" for number in range(300))
        self.assertEqual([len(self.described(data, rows=rows)["first_rows"]) for rows in (0, 3, 300, -5)], [0, 3, 100, 0])

    def test_paths_are_named_as_the_session_would(self):
        import os

        os.makedirs("a b")
        self.assertEqual(self.described("a,b\n1,2\n", os.path.abspath('a b/it\'s "x".csv'))["read_with"], 'pd.read_csv("a b/it\'s \\"x\\".csv")')


class OtherTextTest(Case):
    def test_text_that_is_no_table(self):
        for name, text in (("f.txt", "Hello there, friend.\nThis is text, with commas, and more.\nThe end.\n"), ("f.md", "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"), ("f.py", "import os\nx = [1, 2, 3]\n"),
                           ("g.log", "2024-01-01 12:00:00,123 INFO start\n2024-01-01 12:00:01,456 WARN x\n"), ("f.log", "2024-01-01 12:00:00 INFO start\n2024-01-01 12:00:01 WARN something bad, really\n2024-01-01 12:00:02 INFO end\n"), ("f.xml", "<a><b>1</b></a>\n")):
            with self.subTest(name=name):
                self.assert_says(text, name, kind="text")
                self.assertEqual(read(self.described(text, name)["read_with"]), text)

    def test_tables_under_other_names(self):
        for name in ("f.txt", "f.dat", "f", "f.xls", "f.xlsx"):
            self.assert_says("id\tname\tv\n1\ta\t2.5\n2\tb\t3.5\n3\tc\t4.5\n", name, kind="csv", delimiter="\t", types=[I, T, N])

    def test_nothing_to_see(self):
        for data in (b"", b"\n\n  \n", b"\xef\xbb\xbf", b"\r\n"):
            self.assert_says(data, kind="empty", read_with=None)

    def test_a_page_with_a_table_that_calls_itself_a_workbook(self):
        answer = self.assert_says("<html><body><table><tr><th>a</th></tr><tr><td>1</td></tr></table></body></html>", "f.xls", kind="text")
        self.assertEqual(read(answer["read_with"]).values.tolist(), [[1]])


if __name__ == "__main__":
    unittest.main()
