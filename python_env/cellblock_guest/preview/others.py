# Files that are no text: parquet by its metadata, images by their header, and names for the rest. Jailed worker; the files are
# hostile: nothing is unpickled, and nothing is decoded that a header says is too large.

import os
import warnings

from . import bounds, read_with

PARQUET_FOOTER_BYTES_MAX = 16 << 20
PARQUET_GROUP_BYTES_MAX = 64 << 20  # unpacked, of the row group whose first rows are shown
PARQUET_COLUMNS_SHOWN = 100
PARQUET_STATISTICS_MAX = 20_000  # column chunks whose statistics are looked at
_IMAGE_MAGICS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8")
_MAYBE_IMAGES = (b"BM", b"II*\0", b"MM\0*", b"RIFF")
_IMAGES = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")

# First bytes, what it is, the code that reads it.
MAGICS = (
    (b"%PDF", "PDF document", None), (b"SQLite format 3\0", "SQLite database", None), (b"\x89HDF\r\n", "HDF5 file", "pd.read_hdf({})"),
    (b"ARROW1", "Feather (Arrow) table", "pd.read_feather({})"), (b"\x93NUMPY", "NumPy array", None), (b"ORC", "ORC table", "pd.read_orc({})"),
    (b"Obj\x01", "Avro file", None), (b"\x28\xb5\x2f\xfd", "Zstandard-compressed file", None), (b"7z\xbc\xaf\x27\x1c", "7z archive", None), (b"Rar!", "RAR archive", None),
    (b"\x7fELF", "program", None), (b"<stata_dta>", "Stata data", "pd.read_stata({})"), (b"$FL2", "SPSS data", None),
    (b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60", "SAS data", "pd.read_sas({})"), (b"RDX", "R data", None), (b"\x1f\x9d", "file compressed with compress", None),
)
_PICKLES = tuple(b"\x80" + bytes((version,)) for version in range(2, 6))


def is_known(head):
    return head.startswith(_PICKLES) or any(head.startswith(magic) for magic, _, _ in MAGICS)


def describe_binary(answer, path, head):
    """What cannot be described further."""
    answer["kind"] = "binary"
    if head.startswith(_PICKLES):
        bounds.add_note(answer, "Probably a Python pickle. It is not opened here: unpickling runs code that the file brings along.")
        return
    for magic, name, code in MAGICS:
        if head.startswith(magic):
            bounds.add_note(answer, f"By its first bytes: {name}.")
            if code:
                answer["read_with"] = code.format(read_with.path_text(path))
            return
    bounds.add_note(answer, "The file is neither text nor of a kind that is known here.")


def may_be_image(head):
    return head.startswith(_IMAGE_MAGICS + _MAYBE_IMAGES)


def describe_image(answer, file, head):
    """True when it is an image. Only the header is decoded."""
    from PIL import Image

    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(file, formats=_IMAGES) as image:
                answer.update(kind="image", format=image.format, width=image.width, height=image.height, mode=image.mode)
        except Image.DecompressionBombError:
            answer.update(kind="image")
            bounds.add_note(answer, "The image says that it is extremely large.")
        except Exception:
            if not head.startswith(_IMAGE_MAGICS):
                return False
            answer.update(kind="image", error="The image is damaged or cut off.")
    return True


# --- parquet --------------------------------------------------------------------------------------------------------------------------


def describe_parquet(answer, file, path, rows_shown):
    import pyarrow
    from pyarrow import parquet

    answer.update(kind="parquet", encoding=None)
    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - 8))
    end = file.read(8)
    if end[4:] != b"PAR1" or int.from_bytes(end[:4], "little") > min(size, PARQUET_FOOTER_BYTES_MAX):
        answer["error"] = "The parquet file is damaged, cut off or encrypted: its metadata at the end cannot be read."
        return
    file.seek(0)
    try:
        opened = parquet.ParquetFile(file, thrift_string_size_limit=PARQUET_FOOTER_BYTES_MAX, thrift_container_size_limit=1_000_000, pre_buffer=False)
        metadata = opened.metadata
        answer.update(rows=metadata.num_rows, rows_read=metadata.num_rows, sampled=False, row_groups=metadata.num_row_groups,
                      written_by=bounds.cut(metadata.created_by or "", 100))
        _describe_fields(answer, opened)
        answer["read_with"] = read_with.call("read_parquet", path, {})
        answer["first_rows"] = _first_rows(answer, opened, rows_shown)
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        answer["error"] = f"The parquet file cannot be read: {bounds.cut(str(error), 300)}"


def _describe_fields(answer, opened):
    schema = opened.schema_arrow
    statistics = _statistics(opened.metadata)
    answer["columns"] = []
    for position, field in enumerate(schema):
        if position >= bounds.COLUMNS_MAX:
            answer["column_count"] = len(schema)
            bounds.add_note(answer, f"The first {bounds.COLUMNS_MAX} of {len(schema):,} columns are described.")
            break
        column = {"name": bounds.cut(field.name, bounds.NAME_CHARACTERS_MAX), "position": position, "type": _type_of(field.type), "stored_type": bounds.cut(str(field.type), 100)}
        column.update(statistics.get(field.name, {"missing": None}))
        if column["type"] == "mixed":
            column["note"] = f"Each value is {bounds.cut(str(field.type), 200)}."
        answer["columns"].append(column)


def _type_of(kind):
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    for test, name in ((types.is_boolean, "boolean"), (types.is_integer, "integer"), (types.is_floating, "number"), (types.is_decimal, "number"), (types.is_timestamp, "datetime"),
                       (types.is_date, "date"), (types.is_time, "time"), (types.is_duration, "time"), (types.is_string, "text"), (types.is_large_string, "text"),
                       (types.is_null, "empty"), (types.is_binary, "text"), (types.is_large_binary, "text")):
        if test(kind):
            return name
    return "mixed"


def _statistics(metadata):
    """Missing values, minimum and maximum by column name, as the file's writer counted them; None where it did not."""
    found, seen = {}, 0
    for group_number in range(metadata.num_row_groups):
        group = metadata.row_group(group_number)
        for number in range(group.num_columns):
            seen += 1
            if seen > PARQUET_STATISTICS_MAX:
                return {}
            chunk = group.column(number)
            entry = found.setdefault(chunk.path_in_schema, {"missing": 0, "min": None, "max": None})
            _add_statistics(entry, chunk.statistics if chunk.is_stats_set else None)
    return {name: {key: bounds.value_of(value, bounds.VALUE_CHARACTERS_MAX) for key, value in entry.items() if value is not None or key == "missing"} for name, entry in found.items()}


def _add_statistics(entry, statistics):
    if statistics is None or not statistics.has_null_count:
        entry["missing"] = None
    elif entry["missing"] is not None:
        entry["missing"] += statistics.null_count
    if statistics is not None and statistics.has_min_max:
        try:
            least, most = statistics.min, statistics.max
            if isinstance(least, (str, bytes)):
                return
            entry["min"] = least if entry["min"] is None else min(entry["min"], least)
            entry["max"] = most if entry["max"] is None else max(entry["max"], most)
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            pass


def _first_rows(answer, opened, rows_shown):
    metadata = opened.metadata
    if not metadata.num_rows or not rows_shown:
        return []
    names = [column["name"] for column in answer["columns"][:PARQUET_COLUMNS_SHOWN]]
    group = metadata.row_group(0)
    chunks = [group.column(number) for number in range(group.num_columns)]
    size = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] in names)
    if size > PARQUET_GROUP_BYTES_MAX:
        bounds.add_note(answer, "The first rows are not shown: their row group is too large to be unpacked here.")
        return []
    batch = next(opened.iter_batches(batch_size=rows_shown, row_groups=[0], columns=names, use_threads=False), None)
    if batch is None:
        return []
    if len(names) < len(answer["columns"]):
        bounds.add_note(answer, f"first_rows has the first {len(names)} columns.")
    values = [batch.column(number).slice(0, rows_shown) for number in range(batch.num_columns)]
    return [[_text_of(column[row]) for column in values] for row in range(min(rows_shown, batch.num_rows))]


def _text_of(scalar):
    try:
        return bounds.text_of(scalar.as_py())
    except (ValueError, OverflowError):
        return bounds.cut(str(scalar))
