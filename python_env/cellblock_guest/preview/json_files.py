# Describes JSON: lines of objects, arrays of objects, objects that hold one, GeoJSON. Jailed worker; the text is hostile: it may be
# nested without end, cut off, or larger than what is read of it.

import json
import re

from . import bounds, decoding, json_records as records, read_with

LINE_CHARACTERS_MAX = 1 << 20
BAD_LINES_MAX = 40  # left out one by one
_SPACE = re.compile(r"[ \t\r\n]*")
_BETWEEN = re.compile(r"[ \t\r\n,\x1e]*")
_BLANKS = " \t\r\n,\x1e\ufeff"
_BRACKETS_SIDE_BY_SIDE = re.compile(r"([}\]])[\s\x1e]*([{\[])")
_PARTS_MAX = 50  # of an object that holds a table in parts


def looks_like(text, extension):
    """Whether it is worth trying: the name says JSON, or the first characters do."""
    start = text[:200].lstrip("\ufeff \t\r\n")
    return extension in ("json", "jsonl", "ndjson", "geojson") and start[:1] not in ("", "<") or bool(re.match(r"\{\s*(?:\"|\})|\[\s*(?:[\[{\]\"\d-]|true|false|null)", start))


def describe(answer, sample, encoding, path, rows_shown, extension):
    """False when it is no JSON after all."""
    text = decoding.text(sample.head, encoding, is_start=True).lstrip("\ufeff")
    is_named, problem = extension in ("json", "jsonl", "ndjson", "geojson"), ValueError("no line of it is")
    if extension not in ("jsonl", "ndjson") and sample.whole:
        try:
            value = json.loads(text)
        except RecursionError:
            answer.update(kind="json", error="The JSON is nested too deeply to be read.")
            return True
        except records.ERRORS as error:
            problem = error
        else:
            _describe_value(answer, value, path, rows_shown, encoding)
            return True
    if not encoding.is_marked_twice and _describe_lines(answer, sample, text, encoding, path, rows_shown, extension):
        return True
    if not sample.whole and _describe_start(answer, sample, text, path, rows_shown, encoding, is_named):
        return True
    if sample.whole and _describe_documents(answer, text, encoding, path, rows_shown, is_named):
        return True
    if is_named and sample.whole:
        where = f" at line {problem.lineno}, column {problem.colno}" if isinstance(problem, json.JSONDecodeError) else ""
        answer.update(kind="json", error=f"The file is no valid JSON{where}: {bounds.cut(getattr(problem, 'msg', str(problem)), 200)}.")
        found = _elements(text)
        if found and found[1]:
            records.describe(answer, found[1], rows_shown, f"The {bounds.count_of(len(found[1]), 'record')} before the error are described.")
            answer["rows"] = None
        return True
    return False


# --- lines ----------------------------------------------------------------------------------------------------------------------------


def _describe_lines(answer, sample, text, encoding, path, rows_shown, extension):
    lines = text.split("\n")
    if not sample.whole and len(lines) > 1:
        lines.pop()
    for _, data in sample.chunks:
        lines += decoding.text(data, encoding).split("\n")[1:-1]
    lines += decoding.text(sample.tail, encoding).split("\n")[1:]
    lines = [line for line in lines if line.strip()]
    start = [value for value in map(_value_of_line, lines[:20]) if isinstance(value, (dict, list))]
    if sample.whole and any(start) and all(isinstance(value, list) and all(isinstance(item, dict) for item in value) for value in start):
        return False  # documents, each of them a list of objects
    if not start or len(start) < 0.5 * min(len(lines), 20) or len(lines) < 2 and extension not in ("jsonl", "ndjson"):
        return False
    step = max(1, -(-len(lines) // records.MAX))
    values = [_value_of_line(line) for line in lines[::step]]
    objects = [value for value in values if isinstance(value, dict)]
    bad = sum(value is _BAD for value in values)
    answer["kind"] = "json_lines"
    answer.update(rows=len(lines) - bad if sample.whole and step == 1 else None, rows_read=len(lines[::step]), sampled=not sample.whole or step > 1)
    if not sample.whole and not sample.compression:
        read = len(sample.head) + sum(len(data) for _, data in sample.chunks) + len(sample.tail)
        answer["rows_estimate"] = round(len(lines) * sample.total / read)
        bounds.add_note(answer, f"Only {read:,} of {sample.total:,} bytes were read: rows_estimate is an estimate, and missing counts what was read.")
    elif sample.whole and step > 1:
        answer["rows_estimate"] = len(lines) - bad * step
        bounds.add_note(answer, f"One line in {step} was looked at.")
    if bad:
        bounds.add_note(answer, f"{bounds.count_of(bad, 'line')} cannot be read as JSON.")
    records.describe(answer, objects, rows_shown)
    arguments = {"lines": "True", **records.types_argument(answer), **read_with.compression_argument(path, answer.get("compression"))}
    if encoding.mark or encoding.name != "utf-8":
        arguments["encoding"] = read_with.quoted(encoding_name(encoding))
    if not objects and all(isinstance(value, list) for value in values):
        answer["first_rows"] = [[records.shown(cell) for cell in value[: bounds.COLUMNS_MAX]] for value in values[:rows_shown]]
        bounds.add_note(answer, "Each line is an array.")
        answer["read_with"] = read_with.call("read_json", path, arguments)
    elif len(objects) == len(values) and not records.have_huge_integers(answer):
        answer["read_with"] = read_with.call("read_json", path, arguments)
    elif sample.whole and len(values) - bad == len(objects):
        answer["read_with"] = _reading_line_by_line(answer, text, encoding, path)
    return True


def _reading_line_by_line(answer, text, encoding, path):
    left_out = [number for number, line in enumerate(text.split("\n")) if not line.strip() or _value_of_line(line) is _BAD]
    if len(left_out) > BAD_LINES_MAX:
        return None
    opened = read_with.opened(path, encoding_name(encoding), answer.get("compression"))
    return f"pd.json_normalize([__import__('json').loads(line) for number, line in enumerate({opened}) if number not in {left_out}])"


def _load(answer, path, encoding):
    opened = read_with.opened(path, encoding_name(encoding), answer.get("compression"))
    if encoding.is_marked_twice:
        return f'__import__("json").loads({opened}.read().lstrip("\\ufeff"))'
    return f'__import__("json").load({opened})'


def encoding_name(encoding):
    """As open() must be told, for the mark not to become text."""
    return "utf-8-sig" if encoding.mark and encoding.name == "utf-8" else encoding.name


_BAD = object()


def _value_of_line(line):
    if len(line) > LINE_CHARACTERS_MAX:
        return _BAD
    try:
        return json.loads(line)
    except records.ERRORS:
        return _BAD


# --- one value ------------------------------------------------------------------------------------------------------------------------


def _describe_value(answer, value, path, rows_shown, encoding):
    answer["kind"] = "json"
    answer["sampled"] = False
    load = _load(answer, path, encoding)
    where, objects = _records_in(value)
    if objects is not None:
        records.describe(answer, objects, rows_shown)
        answer.update(rows=len(objects), rows_read=min(len(objects), records.MAX))
        is_flat = not where and not any(isinstance(item, dict) for record in objects[:1000] for item in record.values())
        if is_flat and not records.have_huge_integers(answer) and not encoding.mark:
            arguments = {**records.types_argument(answer), **read_with.compression_argument(path, answer.get("compression"))}
            if encoding.name != "utf-8":
                arguments["encoding"] = read_with.quoted(encoding.name)
            answer["read_with"] = read_with.call("read_json", path, arguments)
        else:
            answer["read_with"] = f"pd.json_normalize({load}{''.join(f'[{read_with.quoted(key)}]' for key in where)})"
        if where:
            _describe_holder(answer, value, where)
    elif isinstance(value, dict):
        if value.get("type") == "Feature" and "geometry" in value:
            answer["format"] = "GeoJSON"
        answer["read_with"] = _read_object(answer, value, load, rows_shown)
    elif isinstance(value, list):
        is_table = bool(value) and all(isinstance(item, list) for item in value)
        answer.update(rows=len(value), rows_read=len(value))
        answer["first_rows"] = [[records.shown(cell) for cell in (item if is_table else [item])[: bounds.COLUMNS_MAX]] for item in value[:rows_shown]]
        answer["read_with"] = f"pd.{'DataFrame' if is_table else 'Series'}({load})"
        bounds.add_note(answer, "An array of arrays." if is_table else f"An array of {bounds.count_of(len(value), 'value')}, which are no objects.")
    else:
        answer.update(rows=1, rows_read=1, first_rows=[[records.shown(value)]], read_with=load)
        bounds.add_note(answer, "A single value.")


def _records_in(value, depth=0):
    """(keys that lead there, list of objects) of the largest list of objects; an object's own lists before those deeper down."""
    if isinstance(value, list):
        objects = sum(isinstance(item, dict) for item in value)
        return ((), [item for item in value if isinstance(item, dict)]) if objects and objects >= 0.9 * len(value) else ((), None)
    if not isinstance(value, dict) or depth >= 3 or len(value) > 1000:
        return (), None
    found = [((key, *where), objects) for key, item in value.items() if isinstance(item, list) for where, objects in [_records_in(item, depth)] if objects]
    if not found:
        found = [((key, *where), objects) for key, item in value.items() if isinstance(item, dict) for where, objects in [_records_in(item, depth + 1)] if objects]
        if len(found) > 1:
            return (), None
    return max(found, key=lambda item: len(item[1]), default=((), None))


def _describe_holder(answer, value, where):
    answer["records_at"] = [bounds.cut(key, bounds.NAME_CHARACTERS_MAX) for key in where]
    if value.get("type") == "FeatureCollection":
        answer["format"] = "GeoJSON"
        bounds.add_note(answer, f"GeoJSON with {bounds.count_of(answer['rows'], 'feature')}; the coordinates are in geometry.coordinates.")
    others = [f"{bounds.cut(key, 40)} ({records.TYPES.get(type(item), 'value')})" for key, item in value.items() if key != where[0]][:8]
    bounds.add_note(answer, f"An object: the records are in {'.'.join(bounds.cut(key, 40) for key in where)}" + (f", beside them {', '.join(others)}." if others else "."))


def _names_and_rows(value):
    """(key of a list of names, key of a list of rows as wide), or None."""
    if len(value) > _PARTS_MAX:
        return None  # each list of names is held against each list of rows
    lists = {key: item for key, item in value.items() if isinstance(item, list) and item}
    names = [key for key, item in lists.items() if all(isinstance(name, str) for name in item) and len(set(item)) == len(item)]
    for key in names:
        width = len(value[key])
        rows = [other for other, item in lists.items() if other != key and all(isinstance(row, list) and len(row) == width for row in item)]
        if len(rows) == 1:
            return key, rows[0]
    return None


def _read_object(answer, value, load, rows_shown):
    items = list(value.values())
    if value.keys() >= {"columns", "data"} and isinstance(value["columns"], list) and isinstance(value["data"], list):
        answer.update(rows=len(value["data"]), rows_read=len(value["data"]))
        bounds.add_note(answer, "Columns and rows apart, as pandas writes with orient='split'.")
        return f"pd.DataFrame(**{load})"
    parts = _names_and_rows(value)
    if parts:
        names, rows = parts
        records.describe(answer, [dict(zip(value[names], row)) for row in value[rows][: records.MAX]], rows_shown)
        answer.update(rows=len(value[rows]), rows_read=min(len(value[rows]), records.MAX), records_at=[bounds.cut(rows, bounds.NAME_CHARACTERS_MAX)])
        return f"(lambda table: pd.DataFrame(table[{read_with.quoted(rows)}], columns=table[{read_with.quoted(names)}]))({load})"
    if len(items) > 1 and all(isinstance(item, dict) for item in items):
        inner = {frozenset(item) for item in items[:1000]}
        if len(inner) == 1 and all(key.isdigit() for key in next(iter(inner))) and next(iter(inner)):
            answer.update(rows=len(items[0]), rows_read=len(items[0]))
            bounds.add_note(answer, "An object of columns.")
            return f"pd.DataFrame({load})"
        records.describe(answer, items, rows_shown)
        answer.update(rows=len(items), rows_read=min(len(items), records.MAX))
        bounds.add_note(answer, "An object of objects: each key is a row's name.")
        return f'pd.DataFrame.from_dict({load}, orient="index")'
    if items and all(isinstance(item, list) for item in items) and len({len(item) for item in items}) == 1:
        answer.update(rows=len(items[0]), rows_read=len(items[0]))
        records.describe(answer, [dict(zip(value, row)) for row in zip(*items)][:records.MAX], rows_shown)
        bounds.add_note(answer, "An object of columns.")
        return f"pd.DataFrame({load})"
    records.describe(answer, [value], rows_shown)
    answer.update(rows=1, rows_read=1)
    bounds.add_note(answer, "A single object.")
    return f"pd.json_normalize({load})"


# --- documents one after the other ----------------------------------------------------------------------------------------------------


def _describe_documents(answer, text, encoding, path, rows_shown, is_named):
    """Objects, or lists of them, one behind the other, with commas between or without: no JSON as a whole. False when it is not so."""
    decoder, values, at = json.JSONDecoder(), [], 0
    try:
        while (at := _BETWEEN.match(text, at).end()) < len(text) and len(values) < records.MAX:
            value, at = decoder.raw_decode(text, at)
            if not isinstance(value, (dict, list)):
                return False
            values.append(value)
    except records.ERRORS:
        pass  # what came before is worth showing
    if len(values) < 2 or not is_named and at < len(text) or len({type(value) for value in values}) > 1:
        return False
    objects = values if isinstance(values[0], dict) else [item for value in values for item in value]
    if not all(isinstance(item, dict) for item in objects):
        return False
    answer.update(kind="json", rows=len(objects), rows_read=len(objects))
    bounds.add_note(answer, f"{len(values):,} JSON documents, one after the other: as a whole the file is no valid JSON.")
    records.describe(answer, objects, rows_shown)
    if at < len(text):
        answer.update(rows=None, error=f"What follows the first {len(values):,} documents, from line {text.count(chr(10), 0, at) + 1} on, is no valid JSON or too much.")
        return True
    joined, bare = _BRACKETS_SIDE_BY_SIDE.sub(r"\1,\2", text), text.strip(_BLANKS)
    try:
        is_exact = json.loads(f"[{joined.strip(_BLANKS)}]") == values  # not where such brackets stand within a text
    except records.ERRORS:
        is_exact = False
    if is_exact:
        opened = f"{read_with.opened(path, encoding_name(encoding), answer.get('compression'))}.read()"
        if joined != text:
            opened = rf'__import__("re").sub(r"{_BRACKETS_SIDE_BY_SIDE.pattern}", r"\1,\2", {opened})'
        stripped = "" if bare == text.strip(" \t\r\n") and not encoding.is_marked_twice else f".strip({json.dumps(_BLANKS)})"
        load = f'__import__("json").loads("[" + {opened}{stripped} + "]")'
        answer["read_with"] = f"pd.json_normalize({load if objects is values else f'sum({load}, [])'})"
    return True


# --- the start of a large file --------------------------------------------------------------------------------------------------------


def _describe_start(answer, sample, text, path, rows_shown, encoding, is_named):
    found = _elements(text)
    if not found or not found[1]:
        if not is_named:
            return False
        answer.update(kind="json", rows=None, rows_read=0, sampled=True, keys=[], read_with=_load(answer, path, encoding))
        bounds.add_note(answer, f"Nothing in the first {len(sample.head):,} bytes can be described by itself: they hold no list of objects that ends in them.")
        return True
    where, objects, end = found
    answer.update(kind="json", rows=None, rows_read=len(objects), sampled=True)
    if not sample.compression and end:
        answer["rows_estimate"] = round(len(objects) * sample.total / max(1, len(text[:end].encode(encoding.codec, "replace"))))
    bounds.add_note(answer, f"The file is large: the {bounds.count_of(len(objects), 'record')} at its start are described; the number of rows is an estimate.")
    records.describe(answer, objects, rows_shown)
    load = _load(answer, path, encoding)
    if where:
        answer["records_at"] = list(where)
    if where == ("features",):
        answer["format"] = "GeoJSON"
    answer["read_with"] = f"pd.json_normalize({load}{''.join(f'[{read_with.quoted(key)}]' for key in where)})"
    return True


def _elements(text):
    """(keys that lead there, objects, where the last one ends) of the first list of objects in a text that may be cut off anywhere."""
    decoder, at, where = json.JSONDecoder(), _SPACE.match(text).end(), ()
    if text[at : at + 1] == "{":
        at += 1
        while True:
            try:
                key, at = decoder.raw_decode(text, _SPACE.match(text, at).end())
                at = _SPACE.match(text, at).end()
                if type(key) is not str or text[at : at + 1] != ":":
                    return None
                at = _SPACE.match(text, at + 1).end()
                if re.compile(r"\[\s*\{").match(text, at):
                    where = (key,)
                    break
                _, at = decoder.raw_decode(text, at)
                at = _SPACE.match(text, at).end()
            except records.ERRORS:
                return None
            if text[at : at + 1] != ",":
                return None
            at += 1
    if text[at : at + 1] != "[":
        return None
    objects, at = [], at + 1
    while len(objects) < records.MAX:
        try:
            value, end = decoder.raw_decode(text, _SPACE.match(text, at).end())
        except records.ERRORS:
            break
        if isinstance(value, dict):
            objects.append(value)
        at = _SPACE.match(text, end).end()
        if text[at : at + 1] != ",":
            break
        at += 1
    return where, objects, at
