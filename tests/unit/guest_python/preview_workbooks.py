# Writes workbooks for tests that no library here writes: xls files (BIFF8 in an OLE container), and xlsx files with parts that a test
# replaces. Test code.

import io
import struct
import zipfile

SHEET_XML = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s</worksheet>'
STRINGS_XML = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s</sst>'
_SECTOR = 512


def xls(sheets, protected=False):
    """Bytes of an xls workbook with {name: rows}; ("date", serial) is a date, other tuples do not occur."""
    texts = list(dict.fromkeys(value for rows in sheets.values() for row in rows for value in row if isinstance(value, str)))
    bodies = [_sheet(rows, texts) for rows in sheets.values()]
    head = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)) + _record(0x42, struct.pack("<H", 1200))
    if protected:
        head += _record(0x2F, struct.pack("<HHH", 1, 1, 1) + b"\0" * 48)
    head += b"".join(_record(0xE0, struct.pack("<HH", 0, number_format) + b"\0" * 16) for number_format in (0, 14))
    strings = _record(0xFC, struct.pack("<II", len(texts), len(texts)) + b"".join(map(_text, texts))) + _record(0x0A, b"")
    at = len(head) + sum(len(_bound(name, 0)) for name in sheets) + len(strings)
    bounds = b""
    for name, body in zip(sheets, bodies):
        bounds += _bound(name, at)
        at += len(body)
    return _container(head + bounds + strings + b"".join(bodies))


def _record(kind, data):
    return struct.pack("<HH", kind, len(data)) + data


def _text(text):
    return struct.pack("<HB", len(text), 1) + text.encode("utf-16-le")


def _bound(name, at):
    return _record(0x85, struct.pack("<IHBB", at, 0, len(name), 1) + name.encode("utf-16-le"))


def _sheet(rows, texts):
    out = _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0)) + _record(0x200, struct.pack("<IIHHH", 0, len(rows), 0, max(map(len, rows), default=0), 0))
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            place = struct.pack("<HHH", number, column, int(isinstance(value, tuple)))
            if isinstance(value, str):
                out += _record(0xFD, place + struct.pack("<I", texts.index(value)))
            elif isinstance(value, bool):
                out += _record(0x205, place + struct.pack("<BB", value, 0))
            elif value is not None:
                out += _record(0x203, place + struct.pack("<d", value[1] if isinstance(value, tuple) else value))
    return out + _record(0x0A, b"")


def _container(stream):
    stream = stream.ljust(4096, b"\0")
    stream += b"\0" * (-len(stream) % _SECTOR)
    count = len(stream) // _SECTOR
    table = [*range(1, count), -2, -2, -3]  # the stream, the directory, this table itself
    fat = struct.pack(f"<{len(table)}i", *table).ljust(_SECTOR, b"\xff")
    assert len(fat) == _SECTOR, "larger than one sector of allocations"
    directory = _entry("Root Entry", 5, -2, 0, 1) + _entry("Workbook", 2, 0, len(stream), -1) + _entry("", 0, 0, 0, -1) * 2
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16 + struct.pack("<HHHHH6xIIIIIiIiI", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, count, 0, 4096, -2, 0, -2, 0)
    head += struct.pack("<i", count + 1) + b"\xff" * 4 * 108
    return head + stream + directory + fat


def _entry(name, kind, start, size, child):
    encoded = (name + "\0").encode("utf-16-le") if name else b""
    return encoded.ljust(64, b"\0") + struct.pack("<HBBiii16xI16xiII", len(encoded), kind, 1, -1, -1, child, 0, start, size, 0)


def with_parts(data, **parts):
    """An xlsx workbook with parts replaced (None: left out); names without folder and extension, such as sheet1."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            short = name.rpartition("/")[2].partition(".")[0]
            part = parts.get(short, old.read(name)) if name.endswith(".xml") else old.read(name)
            if part is not None:
                new.writestr(name, part)
    return out.getvalue()
