# Guessed encodings are right for real files and for small ones in many languages, and two are named where the bytes do not tell.

import itertools
import os
import random
import time
import unittest

import support
from cellblock_guest import text_encoding
from cellblock_guest.text_encoding import guesses

DATA = os.path.join(support.ROOT, "examples", "data")
SECONDS_MAX = 1.0
FILES = {
    "bikes_montreal.csv": "cp1252", "budget_mexico_latin1.csv": "cp1252", "hotels_decimal_comma.csv": "cp1252", "italian_municipalities.csv": "cp1252",
    "research_funding_german.csv": "cp1252", "star_wars_survey.csv": "cp1252", "names_iso8859_7.csv": "iso8859-7", "taiwan_big5.csv": "big5",
    "mental_health_utf16.csv": "utf-16",
}
TABLES = (
    ("nom,prix\nété,1\nfrançais,2\nœuvre,3\nforêt,4\n", "cp1252 mac_roman"),
    ("produit;prix\nthé;5,20 €\ncafé;3,10 €\n", "cp1252 iso8859-15"),
    ("Stadt;Wert\nMünchen;1,5\nKöln;2\nGroß-Gerau;3\nÖhringen;4\n", "cp1252 mac_roman cp850 cp437"),
    ("ciudad,año\nMálaga,1\nLogroño,2\nCádiz,3\nBogotá,4\n", "cp1252 mac_roman cp850"),
    ("città,età\nCuorgnè,1\nForlì,2\nCantù,3\n", "cp1252"),
    ("by;værdi\nKøbenhavn;1\nÅrhus;2\nRødovre;3\n", "cp1252 cp850"),
    ("stad,år\nMalmö,1\nVästerås,2\nGöteborg,3\n", "cp1252 cp850"),
    ("cidade,região\nSão Paulo,1\nBrasília,2\nMaranhão,3\nCriação,4\n", "cp1252 cp850"),
    ("miasto,ilość\nŁódź,1\nKraków,2\nGdańsk,3\nCzęstochowa,4\nŚwiętochłowice,5\n", "cp1250 iso8859-2 cp852"),
    ("město,počet\nPlzeň,1\nČeské Budějovice,2\nÚstí,3\nKroměříž,4\n", "cp1250 iso8859-2"),
    ("város,érték\nGyőr,1\nSzékesfehérvár,2\nFűzfő,3\n", "cp1250 iso8859-2"),
    ("şehir,değer\nİstanbul,1\nEskişehir,2\nMuğla,3\nAydın,4\n", "cp1254 iso8859-9"),
    ("miestas,kiekis\nŠiauliai,1\nPanevėžys,2\nMarijampolė,3\nVisų šalių,4\n", "cp1257"),
    ("имя,цена\nМосква,1\nСанкт-Петербург,2\n", "cp1251 koi8-r cp866 iso8859-5"),
    ("місто,ціна\nКиїв,1\nЛьвів,2\nЗапоріжжя,3\n", "cp1251 koi8-u"),
    ("όνομα,τιμή\nΑθήνα,1\nΘεσσαλονίκη,2\nΆργος,3\n", "iso8859-7 cp1253"),
    ("שם,מחיר\nירושלים,1\nתל אביב,2\n", "cp1255"),
    ("المدينة,القيمة\nالقاهرة,1\nالإسكندرية,2\n", "cp1256"),
    ("ชื่อ,ราคา\nกรุงเทพมหานคร,1\nเชียงใหม่,2\n", "cp874"),
    ("なまえ,ねだん\nとうきょう,1\nおおさか,2\n", "shift_jis euc_jp"),
    ("氏名,都市\n山田太郎,東京\n佐藤花子,大阪\n", "shift_jis euc_jp"),
    ("番号,名\n①,髙橋\n②,山田\n", "cp932"),
    ("姓名,价格\n北京,1\n上海,2\n广州,3\n", "gb18030"),
    ("姓名,縣市\n陳美玲,臺北市\n林志明,高雄市\n", "big5"),
    ("이름,도시\n김민수,서울\n박지영,부산\n", "euc_kr"),
)
ASCII = "id,name,value\n1,alpha,3.5\n2,beta,4.25\n"


class TextEncodingTest(unittest.TestCase):
    def assert_guessed(self, text, encoding, sure=None):
        data = text.encode(encoding)
        names, is_sure = guesses(data)
        self.assertEqual(data.decode(names[0], "replace"), text, names)
        if sure is not None:
            self.assertEqual(is_sure, sure, names)
        return names

    def test_real_files(self):
        for name, encoding in FILES.items():
            with self.subTest(name=name), open(os.path.join(DATA, name), "rb") as file:
                data = file.read(text_encoding.FILE_BYTES_MAX)
                started = time.thread_time()
                self.assertEqual(guesses(data)[0][0], encoding)
                self.assertLess(time.thread_time() - started, SECONDS_MAX)

    def test_every_file_that_is_not_utf8_is_expected_here(self):
        for name in os.listdir(DATA):
            if not name.endswith(".xlsx"):
                with open(os.path.join(DATA, name), "rb") as file:
                    self.assertEqual(text_encoding.reads(file.read(), "utf-8"), name not in FILES, name)

    def test_small_tables_in_many_languages(self):
        for text, encodings in TABLES:
            for encoding in encodings.split():
                with self.subTest(encoding=encoding, text=text):
                    self.assert_guessed(text, encoding)

    def test_western_is_meant_by_a_single_character_that_fits(self):
        for field in ("café", "Müller", "50 µm", "20°C", "£100", "€100", "it’s", "“x”", "São Paulo", "Åsa", "½", "Trading\xa0Company"):
            with self.subTest(field=field):
                self.assert_guessed(f"{ASCII}3,{field},1\n", "cp1252")

    def test_two_readings_are_named_where_the_letters_do_not_tell(self):
        data = f"{ASCII}3,logičnega,1\n".encode("cp1250")
        names, sure = guesses(data)
        self.assertFalse(sure)
        self.assertEqual(names, ["cp1252", "cp1250"])
        self.assertEqual(text_encoding.readings(data, names), [("logiènega",), ("logičnega",)])
        self.assert_guessed(f"{ASCII}3,Année Européen,1\n", "cp1252", sure=True)

    def test_wide_characters_with_and_without_a_mark(self):
        for text, encoding in (("a,b\n1,2\n", "utf-16"), (ASCII, "utf-32"), (f"{ASCII}3,café,1\n", "utf-16-le"), (f"{ASCII}3,東京,1\n", "utf-16-be")):
            with self.subTest(encoding=encoding):
                self.assertEqual(self.assert_guessed(text, encoding, sure=True), [encoding])
        self.assertEqual(guesses(bytes(itertools.chain(*((n % 9, 0) for n in range(500)))) + b"\xff\0")[0], [])

    def test_utf8_with_a_broken_byte_stays_utf8(self):
        self.assertEqual(guesses("naïve,café,Zoë,über,São\n".encode() + b"caf\xe9\n"), (["utf-8"], True))
        self.assertNotIn("utf-8", guesses("naïve,".encode() + b"caf\xe9,\xfcber\n")[0])

    def test_no_text(self):
        for data in (b"", b"only ASCII", b"PK\x03\x04" + b"\xe9" * 50, bytes(range(256)), b"\0" * 100 + b"\xff"):
            with self.subTest(data=data[:20]):
                self.assertEqual(guesses(data)[0], [])

    def test_a_character_cut_at_the_end_is_no_fault(self):
        data = ("姓名,价格\n北京,1\n" * 5).encode("gb18030") + "上".encode("gb18030")[:1]
        self.assertEqual(guesses(data), (["gb18030"], True))
        self.assertTrue(text_encoding.reads(data, "gb18030"))
        self.assertFalse(text_encoding.reads(b"\xff" + data, "gb18030"))

    def test_cheap_and_bounded_whatever_the_bytes(self):
        size, chance = text_encoding.FILE_BYTES_MAX, random.Random(1)
        noise = bytes(chance.choices(range(128, 256), k=size))
        lines = b"\n".join(noise[at : at + 7] for at in range(0, size - size // 8, 7))
        for name, data in (("late", b"a" * (size - 1) + b"\xe9"), ("same", b"\xe9," * (size // 2)), ("noise", noise), ("lines", lines), ("one", b"\xe9"), ("run", b"\x80" * size)):
            with self.subTest(name=name):
                started = time.thread_time()
                guesses(data)
                self.assertLess(time.thread_time() - started, SECONDS_MAX)
                self.assertLess(sum(map(len, text_encoding.pieces(data))), 4000)


if __name__ == "__main__":
    unittest.main()
