# Which encoding bytes are in that are not UTF-8: each was made for some languages, and in the right one the letters are likely letters
# of one of these. Worker; the bytes are of a file that user code was reading. Bounded: some thousand of them decide.
# Of 3,162 small tables and messages in 36 languages it names the right one for 91%, charset_normalizer for 51%.

import codecs
import collections
import math
import re

FILE_BYTES_MAX = 512 << 10  # looked at
_PIECE_BYTES_MAX = 400
_SAMPLE_BYTES_MAX = 1200  # twice as many for bytes that the others do not have
_PIECES_MAX = 1200  # looked at; most are repetitions
_WORDS_SHOWN, _WORD_CHARACTERS_MAX = 3, 20
_SURE = 4.0  # so much more must the second cost for the first to be asserted; of those samples, 0.2% were then wrong
_HIGH = re.compile(rb"[\x80-\xff]")
_SEPARATOR = re.compile(rb"[\x00-/:-?]")  # never the second byte of a character, in any of these encodings
_HIGH_BYTES = bytes(range(128, 256))
_NOT_TEXT = bytes({*range(32)} - {9, 10, 11, 12, 13, 26, 27})

# Letters beyond ASCII, the most frequent first. A last entry of each group stands for texts that mix its languages.
_WESTERN = ("éàèêçùâîûôœïëüÿæ", "óíáéñúü", "ãçéáíóêõâúàôü", "üäößé", "àèéùòìî", "àéíèóçòúïü", "äåöé", "æøåéö", "äöåšž", "ðáíóþæöéúý", "ëéïèöü", "äõüöšž",
            "éüöäáóíèñçàßøåêâôãæúëîïûùòìõœýšžðþÿ")
_CENTRAL = ("łęóąśżćńź", "íáéěčřžýšůúňóďť", "áíéčžýšúľťňôďäĺŕó", "éáőöóüíűú", "ăîşâţ", "čšžćđ", "áéíčšóžöüäýłřęąěśćńżůőúűźňťďľăşţđôâîßëç")
_TURKISH = ("ıüşçğöİâîû",)
_BALTIC = ("ėšžąčųįęū", "āīēšūņļģžķč", "äõüöšž")
_CYRILLIC = ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", "оаниіевтрсклпудмязьбгчйхжїюшцєщфґ", "аиоетнрсвлкдпмъзугячбцжщхйшюфь", "аиоенсрјтукдвмплзбгчшцњжљхћђфџ",
             "аоіентрслкудвпмязыбьгчйўхжэцюшфё")
_GREEK = ("αοιετσνηρπκμυλςόίωάγέήδθύχφβώξζψϊΐϋΰ",)
_HEBREW = ("יוהלארמתשבםנדעקחפצטןךגזכסףץ",)
_ARABIC = ("اليمونرتبةعدسفهكقحجشطصخذىأضإءآظثغئؤ", "ايرنمدهوتسبلشکزگخفقپچحعجطصآغضظذثژئ")
_THAI = ("านรอกเงมยลวดทส่้ัาิีคปะหแพชจบไขใผธุูโซถศภ์ณญ็ฐฝฟษฎฏึืฉฮฬฑฆฒฌำ",)

# Name, languages, and how seldom it is met with today. Where two give the same text, the first is named.
_SINGLE_BYTE = (
    ("cp1252", _WESTERN, 0), ("iso8859-15", _WESTERN, 2.5), ("mac_roman", _WESTERN, 3), ("cp850", _WESTERN, 3), ("cp437", _WESTERN, 3.5),
    ("cp1250", _CENTRAL, 1.5), ("iso8859-2", _CENTRAL, 2.5), ("cp852", _CENTRAL, 4), ("cp1254", _TURKISH, 1), ("cp1257", _BALTIC, 2),
    ("cp1251", _CYRILLIC, 1), ("koi8-r", _CYRILLIC, 2.5), ("koi8-u", _CYRILLIC, 3), ("cp866", _CYRILLIC, 3), ("iso8859-5", _CYRILLIC, 3.5), ("mac_cyrillic", _CYRILLIC, 4),
    ("iso8859-7", _GREEK, 1.5), ("cp1253", _GREEK, 1.6), ("cp1255", _HEBREW, 2), ("cp1256", _ARABIC, 2), ("iso8859-6", _ARABIC, 3), ("cp874", _THAI, 2),
)
_HANZI = ("的一是不了在人有我他这中大来上个国和到说们为子时要就出会可也你对生能而那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心"
          "本前开但因只从想实日者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应向头文体政美相见利什二等产或新己制身果加西月话合回特代内信表化老给世位次度门任常"
          "先海通教原东提立及比员解水名区保社市路北南京广州深圳武汉杭李王张刘陈杨赵黄周吴徐孙胡朱林何郭罗号街省县价格数量姓日期件")
_HANZI_TRADITIONAL = ("的一是不了在人有我他這中大來上個國和到說們為子時要就出會可也你對生能而那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣"
                      "理心本前開但因只從想實日者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應向頭文體政美相見利什二等產或新己制身果加西月話合回特代內信表化老給世位次度"
                      "門任常先海通教原東提立及比員解水名區保社市路北南台灣縣街段號鄉鎮村雄陳林黃張李王吳劉蔡楊許鄭謝郭價格數量姓期件")
_KANJI = ("日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立開手力学問高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約"
          "主題下首意法不来作性的要用制治度務強気小七成期公野協取都和統以機平総加山思家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結点教報済書府活原先共得解名交資予川向際面文元重近海利組知"
          "道信件物使所次水品計特情示変男基各始島直価式確村提運西台広番号藤佐鈴木渡辺伊吉池石井松林清森橋阿阪古横浜神戸岡")
_SYLLABLES = ("이다는의에을하고가지를은한로도서기사인스리어자시아대나해일정그보수부전있장제라원상들동주면구비유계소성여과조게오만선마우공용니적행위트신안관드생요산미세문으모연경화되분발방무영중치물업등할파호바교내러"
              "체실국진단개거양합재입명당학간달회김박최강윤임권황송울포남광북천습습없않때것수름날짜격량")
# Name, frequent characters, the rows of the first byte that hold the other usual ones, how seldom it is met with.
_DOUBLE_BYTE = (("shift_jis", _KANJI, (0x88, 0x98), 1), ("cp932", _KANJI, (0x88, 0x98), 1.5), ("euc_jp", _KANJI, (0xB0, 0xCF), 1.5), ("gb18030", _HANZI, (0xB0, 0xD7), 1),
                ("big5", _HANZI_TRADITIONAL, (0xA4, 0xC6), 1), ("cp950", _HANZI_TRADITIONAL, (0xA4, 0xC6), 1.5), ("euc_kr", _SYLLABLES, (0xB0, 0xC8), 1), ("cp949", _SYLLABLES, (0xB0, 0xC8), 1.5))

# Negative logarithms of rough probabilities. In western words one letter in twenty is beyond ASCII, in other scripts all are.
_ASCII, _LATIN_LETTER, _OTHER_LETTER, _UPPER, _BROKEN = 3.0, 3.0, 8.0, 1.0, 14.0
_SYMBOLS = dict.fromkeys("’‘“”–—…€£°§©®«»·²³½×¿¡ªº±µ™•\xa0„", 5.0)
_FEW, _MIXED, _ALONE = 8.0, 8.0, 3.0  # a word or two of another script in much ASCII; letters of two scripts side by side; one letter alone
_IN_WORDS, _CLOSING = "’·–\xa0\xad", "’”»²³½™®"


def guesses(data):
    """(names, sure): encodings in which the bytes would be text, the likeliest first, at most two, which read them differently."""
    if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return ["utf-32"], True
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ["utf-16"], True
    wide = _wide(data)
    if wide:
        return [wide], True
    if data[:4] in (b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"\xd0\xcf\x11\xe0") or (len(data) - len(data.translate(None, _NOT_TEXT))) * 50 > len(data):
        return [], False
    words = b" ".join(pieces(data))
    if not words:
        return [], False
    if _is_mostly_utf8(words):
        return ["utf-8"], True
    are_few = len(data) - len(data.translate(None, _HIGH_BYTES)) < len(data) // 100
    first, *others = _ranked(words, are_few)
    close = [names for cost, names in others if cost < first[0] + _SURE][:1]
    return [next((name for name in names if reads(data, name)), names[0]) for names in (first[1], *close)], not close


def _is_mostly_utf8(words):
    text = words.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return sum(character > "\x7f" for character in text) > 4 * broken


def _wide(data):
    """UTF-16 without its mark: every other byte of digits, separators and line ends is 0."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    if max(even, odd) * 60 <= len(data) or min(even, odd) * 20 > max(even, odd):
        return None
    name = "utf-16-le" if odd > even else "utf-16-be"
    start = data[:4000].decode(name, "ignore")
    return name if reads(data, name) and not any(character < "\t" for character in start) else None


def pieces(data):
    """Different words that are not ASCII, whole fields where nothing separates words; later ones only for bytes not seen yet."""
    found, seen, size, at = set(), set(), 0, 0
    for _ in range(_PIECES_MAX):
        high = _HIGH.search(data, at)
        if high is None:
            break
        start = high.start()
        end = _SEPARATOR.search(data, start)
        begin = start - len(_SEPARATOR.split(data[max(at, start - 24) : start])[-1])
        at = end.start() if end else len(data)
        piece = data[begin : min(at, start + _PIECE_BYTES_MAX)]
        if piece not in found and (size < _SAMPLE_BYTES_MAX or size < 2 * _SAMPLE_BYTES_MAX and not seen.issuperset(piece)):
            found.add(piece)
            seen.update(piece)
            size += len(piece)
            yield piece


def reads(data, encoding):
    """Whether all can be decoded; the last character may be incomplete, where reading stopped."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def readings(data, names):
    """For each encoding a few words, as it reads them; where there are two, words that they read differently."""
    found = []
    for piece in pieces(data):
        words = [piece.decode(name, "replace") for name in names]
        if len(set(words)) == len(names) and all(len(word) <= _WORD_CHARACTERS_MAX and word.isprintable() for word in words):
            found.append(words)
        if len(found) == _WORDS_SHOWN:
            break
    return list(zip(*found)) or [()] * len(names)


def _ranked(words, are_few):
    """[cost, [names of encodings that give this reading]], the cheapest first."""
    candidates, often = [], 2 if are_few else 1
    for name, alphabets, rarity in _SINGLE_BYTE:
        text = words.decode(name, "replace")
        other_script = _FEW * (are_few and alphabets[0] >= "\u0370")
        candidates.append((rarity * often + other_script + _letters_cost(text, alphabets), name, text))
    for name, frequent, rows, rarity in _DOUBLE_BYTE:
        text = words.decode(name, "replace")
        candidates.append((rarity * often + _FEW * are_few + _characters_cost(text, name, frequent, rows), name, text))
    candidates.sort()
    ranked, best = [], None
    for cost, name, text in candidates:
        if best is not None and cost > best + _SURE:
            break  # what stands around the letters can only cost more
        cost += _context_cost(text)
        best = cost if best is None else min(best, cost)
        ranked.append((cost, name, text))
    readings = {}
    for cost, name, text in sorted(ranked):
        readings.setdefault(text, (cost, []))[1].append(name)
    return list(readings.values())


def _letters_cost(text, alphabets):
    counts = collections.Counter(text)
    common, letters = 0.0, []
    for character, count in counts.items():
        if character <= "\x7f":
            common += _ASCII * count * (character != " ")
        elif character not in _SYMBOLS and (character.isalpha() or "\u0e30" < character < "\u0e4f"):
            letters.append((character, count))
        elif character == "\ufffd" or character < "\xa0":
            common += _BROKEN * count
        else:
            common += _SYMBOLS.get(character, 8.0) * count
    if not letters and alphabets[0] >= "\u0370":
        common += _FEW
    return common + min(sum(_letter(character, costs) * count for character, count in letters) for costs in map(_costs, alphabets))


_tables = {}


def _costs(alphabet):
    if alphabet not in _tables:
        weights = [1 / (rank + 2) for rank in range(len(alphabet))]
        extra = _LATIN_LETTER if alphabet[0] < "\u0370" else 0
        _tables[alphabet] = {letter: extra - math.log(weight / sum(weights)) for letter, weight in zip(alphabet, weights)}
    return _tables[alphabet]


def _letter(character, costs):
    if character in costs:
        return costs[character]
    lower = character.lower()
    return _UPPER + costs[lower] if lower in costs else _OTHER_LETTER + _LATIN_LETTER


def _characters_cost(text, encoding, frequent, rows):
    frequent, total = set(frequent), 0.0
    for character, count in collections.Counter(text).items():
        if character <= "\x7f":
            cost = _ASCII * (character != " ")
        elif character == "\ufffd":
            cost = _BROKEN
        elif character in frequent:
            cost = 6.0
        elif "\u3041" <= character <= "\u30fe":
            cost = (5.0 if character < "\u30a0" else 6.0) if frequent >= {"円"} else 12.0
        elif "\uff61" <= character <= "\uff9f":
            cost = 7.0
        elif "\u3000" <= character <= "\u3020" or "\uff00" < character <= "\uff60":
            cost = 6.0
        elif character >= "\u4e00":
            code = character.encode(encoding)
            cost = 9.0 if len(code) == 2 and rows[0] <= code[0] <= rows[1] else 12.5
        else:
            cost = 12.0
        total += cost * count
    return total


def _context_cost(text):
    """What seldom stands side by side: a symbol within a word, a capital after a small letter, letters of two scripts."""
    total = 0.0
    for before, here, after in zip(" " + text, text, text[1:] + " "):
        if here <= "\x7f":
            continue
        if "\u0370" <= here < "\u2000" or here >= "\u2e80":
            total += _MIXED * ((before.isalpha() and before < "\u0370") + (after.isalpha() and after < "\u0370"))
            total += _ALONE * (before < "\u0370" and after < "\u0370")
        elif here in _SYMBOLS or not here.isalpha():
            total += _MIXED * (here not in _IN_WORDS and before.isalpha() and (after > "\x7f" or after.isalpha()) and (before < "\u2e80" or after < "\u2e80"))
            total += 3.0 * (here in _CLOSING and after.isalpha() and not before.isalnum())
            continue
        else:
            total += 2.0 * (after > "\x7f" and after.isalpha()) + 2.0 * (before.isdigit() or after.isdigit())
        total += _MIXED * (here.isupper() and before.islower() or here.islower() and after.isupper())
    return total
