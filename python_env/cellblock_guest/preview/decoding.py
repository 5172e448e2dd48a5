# Which encoding a file's bytes are in, its byte-order mark, its line ends, and its text. Jailed worker; the bytes are hostile,
# and there are no more of them than source.py reads.

import codecs
import dataclasses
import re

from .. import text_encoding
from . import bounds

_CONTROL = bytes({*range(2, 31)} - {9, 10, 11, 12, 13, 26, 27, 30})  # 1, 30 and 31 separate fields and records
_CONTROL_SHARE_MAX = 0.02
_ZERO_SHARE_MAX = 0.3
_STRAY_ZEROS_MAX = 0.2
_HIGH = re.compile(rb"[\x80-\xff]")
_LINES_MAX = 20_000
_CONTEXT_BYTES = 4096  # before the first byte that is not ASCII
_MARKS = ((codecs.BOM_UTF8, "utf-8", "utf-8", 1), (codecs.BOM_UTF32_LE, "utf-32", "utf-32-le", 4), (codecs.BOM_UTF32_BE, "utf-32", "utf-32-be", 4),
          (codecs.BOM_UTF16_LE, "utf-16", "utf-16-le", 2), (codecs.BOM_UTF16_BE, "utf-16", "utf-16-be", 2))
_SEPARATORS = frozenset("\n\r,;\t| ")  # without one of them, what was read as wide characters are two narrow ones each
_QUOTED = re.compile(r'"[^"]*"')


@dataclasses.dataclass
class Encoding:
    name: str  # what readers are told
    codec: str  # what decodes a part from the middle
    mark: int = 0  # bytes of the byte-order mark
    unit: int = 1  # bytes of the smallest character
    broken: bool = False  # some bytes are no characters of it
    note: str = ""
    is_marked_twice: bool = False


def is_text(data):
    """Few control characters: what is no text has as many of them as of others."""
    if not data:
        return True
    return len(data) - len(data.translate(None, _CONTROL)) <= _CONTROL_SHARE_MAX * len(data) and data.count(0) <= _ZERO_SHARE_MAX * len(data)


def find(sample):
    """The encoding, or None for what is no text."""
    head = sample.head
    for mark, name, codec, unit in _MARKS:
        if head.startswith(2 * mark):  # as programs write it that did not see the first
            name = "utf-8-sig" if name == "utf-8" else name  # takes one away; pandas takes another
            return _checked(sample, Encoding(name, codec, 2 * len(mark), unit, is_marked_twice=True, note="The byte-order mark stands twice at the start of the file."))
        if head.startswith(mark):
            return _checked(sample, Encoding(name, codec, len(mark), unit))
    if 0 in head[:4096] and not _is_ascii_with_zeros(head[:4096]):
        names, _ = text_encoding.guesses(head[: text_encoding.FILE_BYTES_MAX & ~3])
        if names and names[0].startswith("utf-16") and _SEPARATORS.intersection(head[:4096].decode(names[0], "ignore")):
            return _checked(sample, Encoding(names[0], names[0], 0, 2))
    if not is_text(head[: 1 << 16]):
        return None
    other = next((part for part in sample.parts() if not _is_utf8(part, part is head)), None)
    return _checked(sample, Encoding("utf-8", "utf-8")) if other is None else _guessed(sample, other)


def _is_ascii_with_zeros(data):
    """Stray NUL bytes in plain text: wide characters have zeros in nearly every second byte, or bytes that are no ASCII."""
    return data.count(0) <= _STRAY_ZEROS_MAX * len(data) and data.isascii()


def _guessed(sample, part):
    """By the first part that is not UTF-8."""
    start = max(0, _HIGH.search(part).start() - _CONTEXT_BYTES)
    data = part[start : start + text_encoding.FILE_BYTES_MAX]
    good, bad = _by_line(data)
    data = b"\n".join(bad) if good else data
    names, sure = text_encoding.guesses(data)
    if len(good) >= len(bad):
        said = _doubt(data, names[:1] or ["cp1252"])
        return Encoding("utf-8", "utf-8", broken=True, note=f"Mixed encodings: utf-8, and {bounds.count_of(len(bad), 'line')} perhaps in {said}: such bytes are shown as �.")
    if not names:
        return _checked(sample, Encoding("cp1252", "cp1252", note="No usual encoding fits the bytes that are not ASCII; cp1252 is a guess."))
    found = _checked(sample, Encoding(names[0], names[0]))
    if names[0] != "utf-8" and not sure:
        found.note = f"The encoding is a guess by the letters: {_doubt(data, names)}."
    if good and len(data.decode(names[0], "replace")) == len(data):  # in two bytes a character, some words are UTF-8 by chance
        found.note = f"{found.note} Mixed encodings: {names[0]}, and {bounds.count_of(len(good), 'line')} in utf-8, such as {good[0].decode().strip()[:60]!r}.".lstrip()
    return found


def _by_line(data):
    """Lines that are no ASCII: those of UTF-8, all others."""
    good, bad = [], []
    for line in data.split(b"\n", _LINES_MAX)[:_LINES_MAX]:
        if not line.isascii():
            (good if text_encoding.reads(line + b"\n", "utf-8") else bad).append(line)
    return good, bad


def _doubt(data, names):
    said = [f"{name} ({', '.join(map(repr, words))})" if words else name for name, words in zip(names, text_encoding.readings(data, names))]
    return ", or ".join(said)


def _checked(sample, encoding):
    for part in sample.parts():
        start = encoding.mark if part is sample.head else _characters_cut(part) if encoding.codec == "utf-8" else 0
        encoding.broken |= not text_encoding.reads(part[start:], encoding.codec)
    if sample.whole and not encoding.broken:
        encoding.broken = _is_cut_off(sample.head, encoding.codec)
    return encoding


def _is_cut_off(data, codec):
    """Whether the last character is incomplete."""
    try:
        codecs.getincrementaldecoder(codec)().decode(data, final=True)
    except UnicodeDecodeError:
        return True
    return False


def _is_utf8(data, is_start):
    """Whether it can be a part of a UTF-8 text: characters may be cut at both ends."""
    return data.isascii() or text_encoding.reads(data[0 if is_start else _characters_cut(data) :], "utf-8")


def _characters_cut(data):
    """Bytes at the start that belong to a UTF-8 character before."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return start


def text(data, encoding, is_start=False):
    """Bytes as text, bad ones replaced."""
    return data[encoding.mark if is_start else 0 :].decode(encoding.codec, "replace")


def newline(head):
    """The line end of the text's rows, or "mixed"; line ends within quotes are none."""
    if '"' in head:
        head = _QUOTED.sub("", head)
    both = head.count("\r\n")
    ends = [end for end, count in (("\r\n", both), ("\n", head.count("\n") - both), ("\r", head.count("\r") - both)) if count]
    return "mixed" if len(ends) > 1 else ends[0] if ends else None
