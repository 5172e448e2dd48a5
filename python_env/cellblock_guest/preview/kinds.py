# Tells what a file is by its first bytes, by its name only where these leave it open, and has it described. Jailed worker; the
# file is hostile.

import importlib.util
import os
import re

from . import archives, arrow_files, bounds, databases, decoding, json_files, layout as layouts, others, read_with, sheets, source, table_answer, tables

SNIFF_BYTES = 4096
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # a stream's name in the directory of a workbook with a password
_OLD_SHEETS = (b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00")  # xls before 1993: records without a container
_PROSE = frozenset("py r jl js ts c cc cpp h hpp java go rs sh bash sql md rst tex html htm xml yaml yml toml ini cfg css php rb pl lua svg diff patch eml srt vtt bib".split())
_LANGUAGES = {"py": "Python", "r": "R", "sql": "SQL", "sh": "shell", "js": "JavaScript", "md": "Markdown", "html": "HTML", "htm": "HTML", "xml": "XML",
              "yaml": "YAML", "yml": "YAML", "toml": "TOML", "ini": "INI", "css": "CSS", "tex": "LaTeX", "svg": "SVG", "c": "C", "cpp": "C++", "java": "Java"}
_TABLE_SCORE_MIN = 0.3  # without a name that says table
_TABLE_ROWS_MIN = 2
_SHEET_NAMES = frozenset(("xlsx", "xlsm", "xltx", "xltm", "xls", "xlt"))
_PDF_MARK_BYTES = 1024
_ARROW_STREAM = b"\xff\xff\xff\xff"  # and the size of what follows
_HTML = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html|<table|<meta|<head)", re.I)
_XML = re.compile(r"\s*<(?:\?xml|!DOCTYPE|[A-Za-z])")


def describe(answer, file, path, rows):
    if not answer["size_bytes"]:
        answer["kind"] = "empty"
        bounds.add_note(answer, "The file is empty.")
        return
    try:
        _describe(answer, file, path, rows)
    except ModuleNotFoundError as error:
        answer["read_with"] = None
        bounds.add_note(answer, f"What is in it cannot be told here: the package {error.name} is not in this environment.")


def _describe(answer, file, path, rows):
    head = file.read(SNIFF_BYTES)
    extension = os.path.splitext(path)[1][1:].lower()
    if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
        _describe_zip(answer, file, path, extension, rows)
    elif head.startswith(_OLE) or head.startswith(_OLD_SHEETS) and extension in _SHEET_NAMES:
        _describe_xls(answer, file, path, rows)
    elif head.startswith(b"PAR1"):
        arrow_files.describe_parquet(answer, file, path, rows)
    elif head.startswith(b"ARROW1") or head.startswith(_ARROW_STREAM) and head[8:10] == b"\x10\0":
        arrow_files.describe_feather(answer, file, path, rows)
    elif head.startswith(b"SQLite format 3\0"):
        databases.describe(answer, file, path, rows)
    elif b"%PDF-" in head[:_PDF_MARK_BYTES] and (head.startswith(b"%PDF-") or extension == "pdf"):
        others.describe_pdf(answer, file)
    elif others.is_known(head):
        others.describe_binary(answer, path, head)
    elif others.may_be_image(head) and others.describe_image(answer, file, head):
        pass
    else:
        _describe_sample(answer, source.sample(file), path, rows)


# --- text -----------------------------------------------------------------------------------------------------------------------------


def _describe_sample(answer, sample, path, rows, suffix=""):
    name = path + suffix
    if sample.compression:
        answer["compression"] = sample.compression
        name = os.path.splitext(path)[0] if not suffix and path.endswith((".gz", ".bz2", ".xz")) else name
        bounds.add_note(answer, f"The file is compressed ({sample.compression}); read_with unpacks it while reading.")
        if sample.broken:
            answer["error"] = f"Unpacking ended early: {bounds.cut(sample.broken, 200)}."
        if not sample.head:
            answer["kind"] = "binary" if sample.broken else "empty"
            return
    extension = os.path.splitext(name)[1][1:].lower()
    if sample.head[257:262] == b"ustar":
        _list_members(answer, "tar", archives.tar_members(sample.head))
        if not sample.whole:
            bounds.add_note(answer, "There may be more: only the start of the archive was read.")
        return
    encoding = decoding.find(sample)
    if encoding is None:
        others.describe_binary(answer, path, sample.head)
        return
    text = decoding.text(sample.head, encoding, is_start=True)
    answer.update(encoding=encoding.name, has_bom=bool(encoding.mark), newline=decoding.newline(text))
    _note_bytes(answer, sample, encoding)
    if not text.strip("\0 \t\r\n\x1a,;|\"") and sample.whole:
        answer["kind"] = "empty"
        bounds.add_note(answer, "There is nothing in the file but blanks, line ends and delimiters.")
    elif json_files.looks_like(text, extension) and json_files.describe(answer, sample, encoding, path, rows, extension):
        pass
    elif not _describe_table(answer, sample, encoding, path, extension, rows, text):
        _describe_prose(answer, sample, text, path, extension, rows)
    if sample.broken:
        answer["read_with"] = None  # readers refuse the whole file


def _note_bytes(answer, sample, encoding):
    if encoding.note:
        bounds.add_note(answer, encoding.note)
    if encoding.broken and "�" not in encoding.note:
        bounds.add_note(answer, f"Some bytes are no {encoding.name}: they are shown as �.")
    if encoding.unit == 1 and any(0 in part for part in sample.parts()):
        bounds.add_note(answer, "There are NUL bytes in the file: they are left out here, and pandas cuts values at them.")
    if not sample.whole and not sample.compression and b"\n" not in sample.head and b"\r" not in sample.head:
        bounds.add_note(answer, f"The first line is longer than the {len(sample.head):,} bytes that were read of it.")


def _describe_table(answer, sample, encoding, path, extension, rows, text):
    """False when the text is no table."""
    if extension in _PROSE or _HTML.match(text):
        return False
    is_named = extension in tables.EXTENSIONS or extension in _SHEET_NAMES
    table = tables.read(sample, encoding, tables.EXTENSIONS.get(extension, ""))
    if extension == "log" and not layouts.find(table.rows[:200]).header:
        return False
    if not is_named and (not table.dialect.is_table or table.dialect.score < _TABLE_SCORE_MIN or len(table.rows) < _TABLE_ROWS_MIN or _XML.match(text)):
        return False
    table_answer.describe(sample, encoding, path, rows, table, answer)
    if extension in _SHEET_NAMES:
        bounds.add_note(answer, "By its name a workbook, but in fact text.")
    return True


def _describe_prose(answer, sample, text, path, extension, rows):
    answer["kind"] = "text"
    if extension in _LANGUAGES:
        answer["format"] = _LANGUAGES[extension]
    lines = text.splitlines()
    answer.update(rows=len(lines) if sample.whole else None, rows_read=len(lines), sampled=not sample.whole)
    if not sample.whole and not sample.compression:
        answer["rows_estimate"] = round(len(lines) * sample.total / max(1, len(sample.head)))
        bounds.add_note(answer, f"Only the first {len(sample.head):,} of {sample.total:,} bytes were read; rows_estimate is an estimate.")
    answer["first_rows"] = [[bounds.cut(line)] for line in lines[:rows]]
    if _HTML.match(text) and "<table" in text.lower() and importlib.util.find_spec("lxml"):
        bounds.add_note(answer, "An HTML page with a table" + (", by its name a workbook." if extension in _SHEET_NAMES else "."))
        answer["read_with"] = f"{read_with.call('read_html', path, {})}[0]"
    else:
        answer["read_with"] = f"{read_with.opened(path, encoding_of(answer), answer.get('compression'))}.read()"


def encoding_of(answer):
    return "utf-8-sig" if answer["has_bom"] and answer["encoding"] == "utf-8" else answer["encoding"]


# --- archives and workbooks -----------------------------------------------------------------------------------------------------------


def _describe_zip(answer, file, path, extension, rows):
    if extension in _SHEET_NAMES:
        answer["kind"] = "workbook"
    try:
        archive = archives.open_zip(file)
        names = archive.namelist()
        if "xl/workbook.xml" in names or "[Content_Types].xml" in names and any(name.startswith("xl/") for name in names):
            _describe_xlsx(answer, archive, names, path, rows)
        elif archives.size_of(archive, "mimetype") and b"opendocument.spreadsheet" in archives.read(archive, "mimetype", 100):
            answer.update(kind="workbook", format="ODS", error="An OpenDocument spreadsheet (ods): there is no package here that reads it; save it as xlsx.")
        else:
            _describe_members(answer, archive, path, rows)
    except archives.Refused as refusal:
        answer["error"] = str(refusal)


def _describe_xlsx(answer, archive, names, path, rows):
    answer.update(kind="workbook", format="XLSX")
    if "xl/workbook.bin" in names:
        answer["format"] = "XLSB"
        raise archives.Refused("A binary workbook (xlsb): there is no package here that reads it; save it as xlsx.")
    from . import xlsx

    try:
        found = xlsx.read(archive, answer)
    except (archives.Refused, ModuleNotFoundError, MemoryError):
        raise
    except Exception as error:
        raise archives.Refused(f"The workbook is damaged: {bounds.cut(f'{type(error).__name__}: {error}', 200)}") from None
    _describe_sheets(answer, found, path, rows)


def _describe_xls(answer, file, path, rows):
    answer.update(kind="workbook", format="XLS")
    from . import xls

    file.seek(0)
    data = file.read(xls.FILE_BYTES_MAX + 1)
    if _ENCRYPTED in data:
        answer["error"] = "The workbook is protected with a password."
        return
    try:
        _describe_sheets(answer, xls.read(data), path, rows)
    except (ModuleNotFoundError, MemoryError):
        raise
    except archives.Refused as refusal:
        answer["error"] = str(refusal)
    except Exception as error:
        answer["error"] = f"The workbook is damaged: {bounds.cut(f'{type(error).__name__}: {error}', 200)}"


def _describe_sheets(answer, found, path, rows):
    described = found[: bounds.SHEETS_MAX]
    answer["sheets"] = [sheets.describe(sheet, path, rows, number == 0) for number, sheet in enumerate(described)]
    answer["sheet_count"] = len(found)
    if len(found) > len(described):
        bounds.add_note(answer, f"The first {len(described)} of {len(found):,} sheets are described.")
    if not found:
        answer["error"] = "There is no sheet in the workbook that can be read."
    main = next((sheet for sheet in answer["sheets"] if sheet["columns"] and not sheet.get("hidden")), None)
    answer["read_with"] = main["read_with"] if main else None
    if any(sheet.get("formulas") for sheet in answer["sheets"]):
        bounds.add_note(answer, "Formulas count as the values that the file has stored for them: none where the program that wrote it did not calculate.")
    if any(sheet["sampled"] for sheet in answer["sheets"]):
        bounds.add_note(answer, "Some sheets were read only in part; what is counted there is counted in what was read.")


def _describe_members(answer, archive, path, rows):
    """A zip file with one file is read as pandas reads it; of others the names are told."""
    members = [info for info in archive.infolist() if not info.is_dir() and not info.filename.startswith("__MACOSX/")]
    if len(members) == 1 and not members[0].flag_bits & 1:
        _describe_packed(answer, archive, members[0], path, rows)
        return
    _list_members(answer, "zip", [(info.filename, info.file_size) for info in members])
    if any(info.flag_bits & 1 for info in members):
        bounds.add_note(answer, "Some of its files need a password.")


def _describe_packed(answer, archive, info, path, rows):
    try:
        data, broken = archives.read(archive, info.filename, source.WHOLE_BYTES_MAX + 1), ""
    except Exception as error:
        data, broken = b"", str(error) or type(error).__name__
    whole = len(data) <= source.WHOLE_BYTES_MAX and not broken
    sample = source.Sample(answer["size_bytes"], data[: source.WHOLE_BYTES_MAX], whole=whole, compression="zip", broken=broken, total=len(data))
    if not broken and data and decoding.find(sample) is None:
        _list_members(answer, "zip", [(info.filename, info.file_size)])
        return
    bounds.add_note(answer, f"The archive holds {bounds.cut(info.filename, 100)!r}.")
    if len(archive.infolist()) > 1:
        path = read_with.Member(path, info.filename)
    _describe_sample(answer, sample, path, rows, os.path.splitext(info.filename)[1])


def _list_members(answer, kind, members):
    answer.update(kind="archive", format=kind, member_count=len(members))
    answer["members"] = [{"name": bounds.cut(name, bounds.NAME_CHARACTERS_MAX), "size_bytes": size} for name, size in members[: bounds.MEMBERS_MAX]]
    bounds.add_note(answer, f"A {kind} archive with {bounds.count_of(len(members), 'file')}: unpack with {kind}file.")
