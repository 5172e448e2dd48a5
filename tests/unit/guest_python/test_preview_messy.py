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


class FixedWidthTest(Case):
    PEOPLE = ("First name   Last name    Date of birth   Amount due\nAnna Maria   Smith        1990-01-02           12.50\nBob          van Dyk      1985-11-23          112.00\n"
              "Carl         Meyer        1970-05-06            3.25\n")

    def test_blanks_in_names_and_values(self):
        answer = self.assert_says(self.PEOPLE, "f.txt", kind="csv", delimiter=None, rows=3, header_row=1, types=[T, T, D, N], names=["First name", "Last name", "Date of birth", "Amount due"])
        self.assertIn("fixed width", answer["notes"][0])
        self.assertEqual(read(answer["read_with"])["First name"].tolist(), ["Anna Maria", "Bob", "Carl"])
        self.assert_says("A list\n\n" + self.PEOPLE, "f.txt", rows=3, header_row=3, skipped_rows=2, types=[T, T, D, N])
        self.assert_says("Station Name  Lat    Lon\nABERDEEN     57.2   -2.2\nOBAN         56.4   -5.5\nWICK         58.4   -3.1\nAYR          55.5   -4.6\n", "f.dat", rows=4, names=["Station Name", "Lat", "Lon"])
        self.assert_says("Station Name        Lat   Elev (m)\nABERDEEN           57.2        65 \nST ANDREWS         56.3        12 \nFORT WILLIAM       56.8        20 \n", "f.txt", names=["Station Name", "Lat", "Elev (m)"])

    def test_values_that_lack_shift_nothing(self):
        answer = self.assert_says("id   temp  hum\n1    12.5   45\n2           46\n" + "".join(f"{number}    12.7   47\n" for number in range(3, 9)), "f.txt", types=[I, N, I], rows=8)
        self.assertEqual(read(answer["read_with"]).iloc[1].tolist()[2], 46)

    def test_lines_below_names_say_where_columns_are(self):
        self.assert_says("Name       Age City\n---------- --- ----------\nAnna        23 New York\nBob          7 Rome\nCarl        55 \n", "f.txt", rows=3, types=[T, I, T], colspecs=[[0, 11], [11, 15], [15, None]])

    def test_numbers_grow_to_the_left_further_down(self):
        rows = "".join(f"{'site' + str(number):<14}{number:>9}\n" for number in range(9000, 20_000))
        self.assertEqual(self.assert_says(f"{'Name of it':<14}{'Value':>9}\n{rows}", "f.txt", types=[T, I], rows=11_000)["columns"][1]["max"], 19_999)

    def test_prose_has_no_columns(self):
        for text in ("Roses are red\nViolets are blue\nSugar is sweet\nAnd so are you\n", "Dear Sir,\n\nthis is a letter with several lines\nand it has numbers such as 5 and 7, and\nit ends here.\n\nYours,\nMr Smith\n"):
            self.assert_says(text, "f.txt", kind="text")


class SecondTableTest(Case):
    FIRST = "id,name,v\n1,a,2.5\n2,b,3.5\n"

    def test_the_first_is_described(self):
        for second, line in (("\nregion,total\nnorth,10\nsouth,20\n", 5), ("\ncode,label,price\nx1,foo,10\nx2,bar,20\n", 5), ("code,label,price\nx1,foo,10\nx2,bar,20\n", 4), ("\nReturns\n\nid,name,v\n3,c,4.5\n", 7),
                             (",,\n,,\nx,y,\nq,r,\n", 6), ("\na,b,c,d,e\nx,1,2,3,4\ny,5,6,7,8\n", 5)):
            with self.subTest(second=second):
                answer = self.assert_says(self.FIRST + second, rows=2, types=[I, T, N], sampled=False)
                self.assertIn(f"A second table seems to begin in line {line} ", answer["notes"][-1])
                self.assertEqual(read(answer["read_with"])["v"].tolist(), [2.5, 3.5])
                self.assertEqual(len(read(f'pd.read_csv("file.csv", skiprows={line - 1})')), 1 + (line < 6))

    def test_what_is_no_second_table(self):
        for rest, rows in (("\n3,c,4.5\n", 3), ("Group B,,\n3,c,4.5\n", 4), ("\nid,name,v\n3,c,4.5\n", 3), ("x,y,z\n3,c,4.5\n4,d,5.5\n", 5), ("\nSource: here\n", 2)):
            with self.subTest(rest=rest):
                self.assertNotIn("second table", " ".join(self.assert_says(self.FIRST + rest, rows=rows)["notes"]))

    def test_a_large_table_below_a_small_one(self):
        self.assert_says(self.FIRST + "\nn,m,k\n" + "".join(f"{number},{number % 7},1\n" for number in range(1_200_000)), rows=2, types=[I, T, N], sampled=False)

    def test_pairs_and_totals_around_a_statement(self):
        self.assert_says("Bank;Sparkasse\nKonto;123456\nSaldo;1.234,50\n\nDatum;Text;Betrag\n01.02.2024;Miete;-500,00\n02.02.2024;Lohn;2.000,00\n03.02.2024;Kino;-12,00\n\nSumme;;1.488,00\nAnzahl;;3\n",
                         header_row=5, skipped_rows=4, footer_rows=2, rows=3, types=[D, T, N])
        self.assert_says("date,v\n2024-01-01,5\n2024-01-02,6\n2024-01-03,6\nTotal,17\n", footer_rows=1, rows=3, types=[D, I])
        self.assert_says("id,v\n1,5\n2,6\nelsewhere,6\n", footer_rows=0, rows=3, types=[M, I])


class CommentsTest(Case):
    def test_lines_of_comment_among_the_rows(self):
        for data, how in (("id,name,v\n1,a,2.5\n# checked by Anna, 2024\n2,b,3.5\n#\n3,c,4.5\n", 'comment="#"'), ("# top\nid;name;v\n1;a;2,5\n# broken; restarted; yes; no\n2;b;3,5\n3;c;4,5\n# end\n", 'comment="#"'),
                          ("name,id,v\na,1,2.5\n# no. 2, which was b, came late\nb #2,2,3.5\nc,3,4.5\n", "skiprows=[2]"), ("#id,name,v\n1,a,2.5\n# b follows\n2,b,3.5\n3,c,4.5\n", "skiprows=[2]"),
                          ("# x\nid,name,v\n# unit, of, m\n1,a,2.5\n2,b,3.5\n3,c,4.5\n", 'comment="#"'), ("id,name,v\n1,a,2.5\n2,b,3.5\n#7,x,0\n3,c,4.5\nid,name,v\n", 'comment="#"')):
            with self.subTest(data=data):
                answer = self.assert_says(data, rows=3)
                self.assertEqual(sorted(column["type"] for column in answer["columns"]), [I, N, T])
                self.assertIn(how, answer["read_with"])
                self.assertIn("of comment", " ".join(answer["notes"]))

    def test_values_that_begin_so_are_no_comments(self):
        self.assertEqual(self.assert_says("tag,n\n#blue,1\n#red,2\ngreen,3\n", rows=3, types=[T, I])["notes"], [])
        self.assert_says("tag\n#blue\n#red\ngreen\n", rows=3, types=[T])

    def test_errors_of_workbooks_are_no_comments(self):
        answer = self.assert_says("v,w\n1,2\n# note\n#N/A,3\n4,5\n#DIV/0!,6\n", rows=4, types=[I, I])
        self.assertEqual((answer["columns"][0]["missing"], read(answer["read_with"])["w"].tolist()), (2, [2, 3, 5, 6]))

    def test_comments_in_a_large_file(self):
        rows = "".join(f"{number},{number % 7}\n" for number in range(100_000))
        answer = self.assert_says("id,v\n" + f"{rows}# again\n" * 12, types=[I, I], sampled=True)
        self.assertAlmostEqual(answer["rows_estimate"], 1_200_000, delta=20_000)

    def test_a_mark_before_a_header_that_is_repeated(self):
        self.assert_says(b"id,v\n1,2\n\xef\xbb\xbfid,v\n3,4\n", rows=2, types=[I, I])


class MissingTest(Case):
    def test_words_among_numbers(self):
        words = ["NA", "N/A", "null", "Null", "None", "NaN", "-", "--", "?", "#N/A", "missing", "n/a", "", "  ", "nil", "unknown", " None ", "keine Angabe", "na", "k.A."]
        answer = self.assert_says("id,v\n1,5\n" + "".join(f"{number},{word}\n" for number, word in enumerate(words, 2)) + "99,6.5\n", types=[I, N], rows=len(words) + 2)
        self.assertEqual([answer["columns"][1][key] for key in ("missing", "min", "max", "distinct")], [len(words), 5, 6.5, 2])
        self.assertEqual(self.assert_says("d,v\n2024-01-01,1\nunknown,2\n2024-02-01,3\n", types=[D, I])["columns"][0]["missing"], 1)

    def test_a_value_of_one_column_is_missing_in_another(self):
        answer = self.assert_says("drug,day\nNone,2024-01-01\nA,None\n,2024-01-02\nB,2024-01-03\n", types=[T, D])
        self.assertEqual([column["missing"] for column in answer["columns"]], [1, 1])

    def test_they_are_values_among_words(self):
        answer = self.assert_says("v,t\n5,unknown\nunknown,none\n6,b\n", types=[I, T])
        self.assertEqual([column["missing"] for column in answer["columns"]], [1, 0])
        self.assertEqual(read(answer["read_with"])["t"].tolist(), ["unknown", "none", "b"])

    def test_numbers_that_perhaps_stand_for_missing(self):
        for values, missing in ((["5", "-999", "7", "8"], 0), (["12.5", "-9999", "-3.5", "8", "-9999.0"], 0), (["5.5", "-999.0", "7.25", "-999.0", "-999.0"], 3)):
            with self.subTest(values=values):
                column = self.assert_says("id,v\n" + "".join(f"{number},{value}\n" for number, value in enumerate(values)))["columns"][1]
                self.assertEqual(column["missing"], missing)
                self.assertIn("taken to stand for missing" if missing else "perhaps stands for missing", column["note"])
        self.assertEqual(self.assert_says("id;v\n1;5,5\n2;-999,0\n3;7,25\n4;-999,0\n5;9\n6;-999,0\n", types=[I, N])["columns"][1]["missing"], 3)
        self.assertNotIn("note", self.described("id,v\n1,-999\n2,-1003\n3,-870\n")["columns"][1])


class NumbersAsNamesTest(Case):
    def test_quarters_below_years(self):
        self.assert_says("Region,2019,2019,2020,2020\n,1,2,1,2\nNord,5,6,7,8\nSüd,5,6,7,9\n", header_rows=[1, 2], rows=2, types=[T, I, I, I, I], names=["Region", "2019 / 1", "2019 / 2", "2020 / 1", "2020 / 2"])
        self.assert_says("Region,2019,2019,2020,2020\n,1,2,1,2\n,5,6,7,8\nSüd,5,6,7,9\n", header_rows=None, rows=3)

    def test_nothing_but_years(self):
        self.assert_says("1990,1991,1992\n1.5,2.5,3.5\n4.5,5.5,6.5\n7,8,9\n", header_row=1, rows=3, types=[N, N, N], names=["1990", "1991", "1992"])
        self.assert_says("1990,1991,1992\n1991,1992,1993\n1992,1993,1994\n", header_row=None, rows=3)

    def test_units_below_names(self):
        self.assert_says("id,timestamp,temp,status\n-,UTC,°C,-\n1,2024-01-01 00:00:00,12.5,ok\n2,2024-01-01 00:01:00,12.6,ok\n", header_rows=[1, 2], rows=2, types=[I, DT, N, T])


class ExportsTest(Case):
    """What programs write besides the table."""

    def test_what_a_logger_says_of_itself(self):
        data = '"TOA5","CR1000","CR1000","12345","Std.32","CPU:prog","1234"\n"TIMESTAMP","RECORD","BattV"\n"TS","RN","Volts"\n"","","Min"\n'
        data += "".join(f'"2024-01-01 00:0{minute}:00",{minute},12.{minute}\n' for minute in range(5))
        self.assert_says(data, "f.dat", header_rows=[2, 3, 4], skipped_rows=1, rows=5, types=[DT, I, N], names=["TIMESTAMP / TS", "RECORD / RN", "BattV / Volts / Min"])

    def test_lines_drawn_with_colons(self):
        self.assert_says("|name|age|\n|:--|--:|\n|Anna|5|\n|Bob|7|\n", "f.csv", header_row=1, rows=2, names=["", "name", "age", ""])

    def test_an_index_that_was_written_twice(self):
        answer = self.assert_says(",Unnamed: 0,a\n0,0,1\n1,1,2\n", types=[I, I, I], rows=2)
        self.assertEqual([column.get("label") for column in answer["columns"]], ["Unnamed: 0.1", None, None])

    def test_telephone_numbers_in_several_spellings(self):
        answer = self.assert_says("name,phone\nA,+49 30 123456\nB,(030) 123-456\nC,0301234567\n", types=[T, T])
        self.assertEqual(read(answer["read_with"])["phone"].tolist()[2], "0301234567")

    def test_marks_of_workbooks(self):
        self.assertEqual(self.assert_says("id,v\n1,3.5\n2,########\n3,#VALUE!\n", types=[I, N])["columns"][1]["missing"], 2)
        self.assertIn('.str[2:-1]', self.assert_says('id,code\n1,="00123"\n2,="00456"\n', types=[I, T])["columns"][1]["note"])

    def test_nothing_but_delimiters(self):
        self.assert_says(",,,\n,,,\n", kind="empty", read_with=None)

    def test_a_line_of_zeros(self):
        self.assert_says(b"id,name\n1,a\n\0\0\0\n2,b\n", rows=3, types=[I, T])

    def test_a_quote_that_another_row_ends(self):
        self.assert_says('id,text,v\n1,"open quote,5\n2,fine,6\n3,also "quoted" here,7\n', rows=3, quote=None, types=[I, T, I])
        self.assert_says('id,text,v\n1,"two\nlines, and more",5\n2,"x" y,6\n', rows=2, quote='"', types=[I, T, I])

    def test_rows_that_begin_with_a_blank_in_an_old_macs_file(self):
        self.assert_says("v|w\r1|2\r |3\r\r4|5\r", rows=3, types=[I, I], newline="\r")

    def test_times_of_forms(self):
        self.assertIn("GMT+1", self.assert_says("Timestamp,v\n2024/01/05 3:04:05 PM GMT+1,1\n2024/01/06 11:04:05 AM GMT+1,2\n", types=[DT, I])["columns"][0]["note"])


if __name__ == "__main__":
    unittest.main()
