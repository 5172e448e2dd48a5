# Describes parquet and feather files by their metadata and first rows. Jailed worker; the file is hostile: what its metadata says is
# checked before anything is unpacked.

import os

from . import bounds, read_with

FOOTER_BYTES_MAX = 16 << 20
GROUP_BYTES_MAX = 64 << 20  # unpacked, of the row group whose first rows are shown
COLUMNS_SHOWN = 100
STATISTICS_MAX = 20_000  # column chunks whose statistics are looked at
WHOLE_BYTES_MAX = 8 << 20  # feather files up to here are read whole
BATCHES_MAX = 1000


def describe_parquet(answer, file, path, rows_shown):
    answer.update(kind="parquet", encoding=None)
    import pyarrow
    from pyarrow import parquet

    size = os.fstat(file.fileno()).st_size
    file.seek(max(0, size - 8))
    end = file.read(8)
    if end[4:] != b"PAR1" or int.from_bytes(end[:4], "little") > min(size, FOOTER_BYTES_MAX):
        answer["error"] = "The parquet file is damaged, cut off or encrypted: its metadata at the end cannot be read."
        return
    file.seek(0)
    try:
        opened = parquet.ParquetFile(file, thrift_string_size_limit=FOOTER_BYTES_MAX, thrift_container_size_limit=1_000_000, pre_buffer=False)
        metadata = opened.metadata
        answer.update(rows=metadata.num_rows, rows_read=metadata.num_rows, sampled=False, row_groups=metadata.num_row_groups,
                      written_by=bounds.cut(metadata.created_by or "", 100))
        _describe_fields(answer, opened.schema_arrow, _statistics(metadata))
        answer["read_with"] = read_with.call("read_parquet", path, {})
        answer["first_rows"] = _first_rows(answer, opened, rows_shown)
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        answer["error"] = f"The parquet file cannot be read: {bounds.cut(str(error), 300)}"


def _index_columns(answer, schema):
    """Names of columns that pandas turns into the index, by what it wrote there itself."""
    try:
        names = [name for name in (schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(name, str)][: bounds.COLUMNS_MAX]
    except (ValueError, AttributeError, TypeError):
        return []
    if names:
        bounds.add_note(answer, f"pandas makes an index of {', '.join(repr(bounds.cut(name, 60)) for name in names[:5])}.")
    return names


def _describe_fields(answer, schema, statistics):
    index = _index_columns(answer, schema)
    answer["columns"] = []
    fields = [(position, field) for position, field in enumerate(schema) if field.name not in index]
    for position, field in fields[: bounds.COLUMNS_MAX]:
        column = {"name": bounds.cut(field.name, bounds.NAME_CHARACTERS_MAX), "position": position, "type": _type_of(field.type),
                  "stored_type": bounds.cut(str(field.type), 100)}
        column.update(statistics.get(field.name, {"missing": None}))
        if column["type"] == "mixed":
            column["note"] = f"Each value is {bounds.cut(str(field.type), 200)}."
        answer["columns"].append(column)
    if len(fields) > bounds.COLUMNS_MAX:
        answer["column_count"] = len(fields)
        bounds.add_note(answer, f"The first {bounds.COLUMNS_MAX} of {len(fields):,} columns are described.")


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
            if seen > STATISTICS_MAX:
                return {}
            chunk = group.column(number)
            entry = found.setdefault(chunk.path_in_schema, {"missing": 0, "min": None, "max": None})
            _add_statistics(entry, chunk.statistics if chunk.is_stats_set else None)
    return {name: {key: bounds.value_of(value, bounds.VALUE_CHARACTERS_MAX) for key, value in entry.items() if value is not None or key == "missing"}
            for name, entry in found.items()}


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
    names = [opened.schema_arrow.field(column["position"]).name for column in answer["columns"][:COLUMNS_SHOWN]]
    group = metadata.row_group(0)
    chunks = [group.column(number) for number in range(group.num_columns)]
    size = sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] in names)
    if size > GROUP_BYTES_MAX:
        bounds.add_note(answer, "The first rows are not shown: their row group is too large to be unpacked here.")
        return []
    batch = next(opened.iter_batches(batch_size=rows_shown, row_groups=[0], columns=names, use_threads=False), None)
    if batch is None:
        return []
    if len(names) < len(answer["columns"]):
        bounds.add_note(answer, f"first_rows has the first {len(names)} columns.")
    return _rows_of(batch, rows_shown)


def _rows_of(batch, count):
    values = [batch.column(number).slice(0, count) for number in range(batch.num_columns)]
    return [[_text_of(column[row]) for column in values] for row in range(min(count, batch.num_rows))]


def _text_of(scalar):
    try:
        return bounds.text_of(scalar.as_py())
    except (ValueError, OverflowError):
        return bounds.cut(str(scalar))


# --- Arrow's own format ---------------------------------------------------------------------------------------------------------------


def describe_feather(answer, file, path, rows_shown):
    """Feather files by their schema, the number of rows and first rows by their first batch; streams likewise."""
    file.seek(0)
    is_stream = file.read(6) != b"ARROW1"
    answer.update(kind="arrow" if is_stream else "feather", encoding=None)
    import pyarrow
    from pyarrow import ipc

    file.seek(0)
    content = file if answer["size_bytes"] > WHOLE_BYTES_MAX else pyarrow.BufferReader(file.read(WHOLE_BYTES_MAX))  # for files pyarrow starts threads
    pool = pyarrow.system_memory_pool()  # which the guard's limit on memory reaches
    try:
        opened = (ipc.open_stream if is_stream else ipc.open_file)(content, memory_pool=pool, options=ipc.IpcReadOptions(use_threads=False))
        _describe_fields(answer, opened.schema, {})
        answer.update(rows=None, rows_read=0, sampled=True, first_rows=[])
        code = f'__import__("pyarrow.ipc").ipc.open_stream(open({read_with.path_text(path)}, "rb")).read_pandas()'
        answer["read_with"] = code if is_stream else read_with.call("read_feather", path, {})
        _describe_batches(answer, opened, is_stream, rows_shown)
    except MemoryError:
        bounds.add_note(answer, "The first rows are not shown: they are too large to be unpacked here.")
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        answer["error"] = f"The Arrow file is damaged: {bounds.cut(str(error), 300)}"


def _describe_batches(answer, opened, is_stream, rows_shown):
    """All batches of a small file, the first of a large one."""
    if not is_stream and not opened.num_record_batches:
        answer.update(rows=0, sampled=False)
        return
    batches = [opened.read_next_batch() if is_stream else opened.get_batch(0)]
    if not is_stream and answer["size_bytes"] <= WHOLE_BYTES_MAX:
        batches += [opened.get_batch(number) for number in range(1, min(opened.num_record_batches, BATCHES_MAX))]
    is_whole = not is_stream and len(batches) == opened.num_record_batches
    read = sum(batch.num_rows for batch in batches)
    answer.update(rows=read if is_whole else None, rows_read=read, sampled=not is_whole)
    if not is_whole:
        bounds.add_note(answer, f"Only the first {read:,} rows were looked at.")
    for column in answer["columns"]:
        column["missing"] = sum(batch.column(column["position"]).null_count for batch in batches)
    answer["first_rows"] = _rows_of(batches[0].select([column["position"] for column in answer["columns"][:COLUMNS_SHOWN]]), rows_shown)
