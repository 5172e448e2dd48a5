# What frames, series and arrays of libraries hold: shape, dtypes, bytes. Learnt of each library as it is imported: its classes by
# identity, and what C reads of their instances; from then on no Python code of the library is called, since a session may have
# replaced it. What is not of a class learnt here is told by its type's name. See exact.py. Zygote for what is preloaded, else worker.

from builtins import getattr, int, isinstance, len, list, min, object, range, set, slice, str, sum, tuple, type, TypeError, zip
from datetime import timezone

from .exact import NAME_MAX, class_field, clean, field, reader, text, type_name

COLUMNS_MAX = 50
BLOCKS_MAX = 10_000  # more are not added up
_NESTED_MAX = 5  # an index of a categorical of categories of strings

_identity = object.__hash__  # a number as id() gives one, which would raise an audit event
_learnt = {}  # by identity of a class: the class, its role here, what reads its instances' __dict__
_read = {}  # by our own names
_FIXED_NAMES = {}  # by identity of a class of arrays: its dtype's name
# Where an array or an index keeps its values; the first is as long as it is (but of "sparse").
_STORES = {
    "backed": (), "masked": ("_data", "_mask"), "arrow": ("_pa_array",), "interval": ("_left", "_right"), "sparse": ("_sparse_values",),
    "index": ("_data",), "categories": ("_categories",),
}  # fmt: skip


def _learn(module, names, role):
    for name in names.split():
        kind = getattr(module, name, None)
        if isinstance(kind, type):
            _learnt[_identity(kind)] = (kind, role, reader(kind, "__dict__"))


def _learn_readers(kind, /, **names):
    _read.update({ours: reader(kind, theirs) for ours, theirs in names.items()})


def learn_numpy(numpy):
    _learn(numpy, "ndarray", "ndarray")
    _learn_readers(numpy.ndarray, shape="shape", array_bytes="nbytes", dtype="dtype", part="__getitem__", as_list="tolist")
    _learn_readers(numpy.dtype, kind="kind", item_bytes="itemsize", code="str")


def learn_pandas(pandas):
    from zoneinfo import ZoneInfo  # as pandas does

    from pandas._libs import arrays, internals
    from pandas.core.arrays import string_, string_arrow
    from pandas.core.indexes import frozen
    from pandas.core.internals import managers

    _learn(pandas, "DataFrame", "frame")
    _learn(pandas, "Series", "series")
    _learn(pandas, "Index CategoricalIndex IntervalIndex TimedeltaIndex DatetimeIndex PeriodIndex", "index")
    _learn(pandas, "RangeIndex", "range")
    _learn(pandas, "MultiIndex", "multi")
    _learn(frozen, "FrozenList", "list")
    _learn(pandas, "CategoricalDtype", "categories")
    _learn(pandas, "DatetimeTZDtype", "zone")
    _learn(pandas, "ArrowDtype", "arrow dtype")
    _learn(managers, "BlockManager", "manager")
    _learn(managers, "SingleBlockManager", "single")
    _learn(pandas.arrays, "Categorical DatetimeArray TimedeltaArray PeriodArray NumpyExtensionArray", "backed")
    _learn(pandas.arrays, "IntegerArray FloatingArray BooleanArray", "masked")
    _learn(pandas.arrays, "IntervalArray", "interval")
    _learn(pandas.arrays, "SparseArray", "sparse")
    _learn(pandas.arrays, "ArrowExtensionArray", "arrow")
    _learn(string_, "StringArray StringArrayNumpySemantics", "backed")
    _learn(string_arrow, "ArrowStringArray ArrowStringArrayNumpySemantics", "arrow")
    _learn_readers(internals.BlockManager, blocks="blocks", axes="axes")
    _learn_readers(internals.Block, values="values", place="_mgr_locs")
    _learn_readers(internals.BlockPlacement, positions="indexer")
    _learn_readers(arrays.NDArrayBacked, backing="_ndarray", backed_dtype="_dtype")
    _learn_readers(ZoneInfo, zone_key="key")
    _read["zoneinfo"] = ZoneInfo
    names = {"Categorical": "category", "PeriodArray": "period", "IntervalArray": "interval", "BooleanArray": "boolean"}
    names |= {"StringArray": "string", "ArrowStringArray": "string", "StringArrayNumpySemantics": "str", "ArrowStringArrayNumpySemantics": "str"}
    _FIXED_NAMES.update({key: names[kind.__name__] for key, (kind, role, _) in _learnt.items() if role in _STORES and kind.__name__ in names})


def learn_polars(polars):
    inner = polars.dataframe.frame.PyDataFrame
    _learn(polars, "DataFrame", "polars")
    _learn(polars.dataframe.frame, "PyDataFrame", "polars inside")
    _learn_readers(inner, polars_shape="shape", polars_columns="columns", polars_dtypes="dtype_strings")


def learn_arrow(arrow):
    _learn(arrow, "Table", "table")
    _learn(arrow, "ChunkedArray", "chunked")
    # Only those without others inside, which might be a session's own: they are asked for their name.
    _learn(arrow, "DataType TimestampType Time32Type Time64Type DurationType FixedSizeBinaryType Decimal128Type Decimal256Type", "arrow type")
    # Not its "nbytes", nor a column's type: for these Arrow may call code of the session's that makes a type anew.
    _learn_readers(arrow.Table, rows="num_rows", columns="num_columns", schema="schema")
    _learn_readers(arrow.Schema, names="names")
    _learn_readers(arrow.ChunkedArray, chunked_bytes="nbytes", chunked_length="__len__")
    _learn_readers(arrow.DataType, arrow_name="__str__")


def _role(value):
    found = _learnt.get(_identity(type(value)))
    return found[1] if found else None


def _field(value, name):
    """Of an instance of a class that was learnt: what it holds by that name itself."""
    found = _learnt.get(_identity(type(value)))
    return field(found[2](value), name) if found and found[2] else None


def _stored(value, depth=_NESTED_MAX):
    """The NumPy and Arrow arrays inside an array or an index; none for one that is not the library's own."""
    role = _role(value)
    if role in ("ndarray", "chunked"):
        return [value]
    if depth == 0:
        return []
    parts = []
    if role == "backed":
        parts = [_read["backing"](value), _read["backed_dtype"](value)]
    elif role == "multi":
        parts = _items(_field(value, "_codes"))
    elif role in _STORES:
        parts = [_field(value, name) for name in _STORES[role]]
    return [array for part in parts for array in _stored(part, depth - 1)]


def _items(value):
    return list.copy(value) if _role(value) == "list" else []


def _bytes(value):
    return sum(_read["array_bytes" if _role(array) == "ndarray" else "chunked_bytes"](array) for array in _stored(value))


def _length(value):
    role = _role(value)
    if role == "range":
        inside = _field(value, "_range")
        return len(inside) if type(inside) is range else None
    if role in ("index", "sparse"):
        return _length(_field(value, "_data"))
    for array in _stored(value):
        return _read["shape"](array)[-1] if _role(array) == "ndarray" else _read["chunked_length"](array)
    return None


# --- dtypes and labels ------------------------------------------------------------------------------------------------------------


_WORDS = {
    "i": "int", "u": "uint", "f": "float", "c": "complex", "M": "datetime64", "m": "timedelta64", "b": "bool", "O": "object", "T": "StringDType",
}  # fmt: skip


def _numpy_name(dtype):
    """As str(dtype), which is Python code of the library's, for all but structured ones: those are told by their size."""
    kind, code = _read["kind"](dtype), _read["code"](dtype)
    word = _WORDS.get(kind)
    if word is None or code[:1] == ">":
        return code
    return word + (str(8 * _read["item_bytes"](dtype)) if kind in "iufc" else code[3:] if kind in "Mm" else "")


def _zone_name(zone):
    kind = type(zone)
    if kind is timezone:
        name = timezone.__str__(zone)
    else:  # pytz makes a class for each
        name = _read["zone_key"](zone) if kind is _read["zoneinfo"] else class_field(kind, "zone")
    return name if type(name) is str else type_name(kind)


def _dtype_name(values):
    role, fixed = _role(values), _FIXED_NAMES.get(_identity(type(values)))
    if fixed is not None or role is None:
        return fixed or type_name(type(values))
    if role == "ndarray":
        return _numpy_name(_read["dtype"](values))
    if role == "arrow":
        inside = _field(_field(values, "_dtype"), "pyarrow_dtype")
        return f"{_read['arrow_name'](inside) if _role(inside) == 'arrow type' else type_name(type(inside))}[pyarrow]"
    if role == "backed" and _role(dtype := _read["backed_dtype"](values)) == "zone":
        unit = _field(dtype, "_unit")
        return f"datetime64[{unit if type(unit) is str else '?'}, {_zone_name(_field(dtype, '_tz'))}]"
    arrays = _stored(values)
    if not arrays or _role(arrays[0]) != "ndarray":
        return type_name(type(values))
    name = _numpy_name(_read["dtype"](arrays[0]))
    if role == "masked":
        return name.replace("uint", "UInt") if name[:1] == "u" else name.title()
    return f"Sparse[{name}]" if role == "sparse" else name


def _label(index, position):
    """The label there, None where it is in none of the plain ways that we can read."""
    role = _role(index)
    if role == "range":
        inside = _field(index, "_range")
        return inside[position] if type(inside) is range else None
    if role == "multi":
        codes, levels = _items(_field(index, "_codes")), _items(_field(index, "_levels"))
        return tuple([_coded(level, _element(code, position)) for code, level in zip(codes, levels)])
    values = _field(index, "_data")
    if _role(values) == "backed":
        inside, dtype = _read["backing"](values), _read["backed_dtype"](values)
        if _role(dtype) == "categories":
            return _coded(_field(dtype, "_categories"), _element(inside, position))
        values = inside if _dtype_name(values) in ("string", "str") else None
    return _element(values, position)


def _coded(index, code):
    return _label(index, code) if type(code) is int and code >= 0 else None


def _element(array, position):
    if _role(array) != "ndarray" or _read["kind"](_read["dtype"](array)) not in "Oiufb":
        return None
    return _read["as_list"](_read["part"](array, slice(position, position + 1)))[0]


def _label_text(index, position):
    label = _label(index, position)
    return f"column {position}" if label is None else clean(text(label, 1), NAME_MAX).strip("'")


# --- what is told of each ---------------------------------------------------------------------------------------------------------


def _tell_table(entry, rows, columns, dtypes, size):
    entry["shape"], entry["length"], entry["dtypes"], entry["bytes"] = [rows, columns], rows, dtypes, size
    entry["repr"] = f"{rows} rows × {columns} columns"


def _is_at(place, position):
    """Whether a block's place in its frame, a slice or a sorted array of positions, holds one of the first COLUMNS_MAX."""
    if type(place) is slice:
        stop = -1 if place.stop is None else place.stop
        return type(place.start) is type(stop) is type(place.step) is int and position in range(place.start, stop, place.step)
    return _role(place) == "ndarray" and position in _read["as_list"](_read["part"](place, slice(0, COLUMNS_MAX)))


def _frame(value, entry):
    manager = _field(value, "_mgr")
    blocks, axes = _read["blocks"](manager), _read["axes"](manager)
    if _role(manager) != "manager" or type(blocks) is not tuple or type(axes) is not list:
        raise TypeError("another kind of frame")
    columns, rows = _length(axes[0]), _length(axes[1])
    if rows is None:
        rows = _length(_read["values"](blocks[0]))
    names, size = {}, 0
    for block in blocks[:BLOCKS_MAX]:
        values = _read["values"](block)
        size += _bytes(values)
        if len(names) < min(columns, COLUMNS_MAX):
            place = _read["positions"](_read["place"](block))
            names.update({position: _dtype_name(values) for position in range(min(columns, COLUMNS_MAX)) if _is_at(place, position)})
    dtypes = {_label_text(axes[0], position): clean(names.get(position, "?"), NAME_MAX) for position in range(min(columns, COLUMNS_MAX))}
    _tell_table(entry, rows, columns, dtypes, size if len(blocks) <= BLOCKS_MAX else None)


def _series(value, entry):
    manager = _field(value, "_mgr")
    blocks, axes = _field(manager, "blocks"), _field(manager, "axes")
    if _role(manager) != "single" or type(blocks) is not tuple or type(axes) is not list:
        raise TypeError("another kind of series")
    values = _read["values"](blocks[0])
    length = _length(axes[0])
    if length is None:
        length = _length(values)
    entry["shape"], entry["length"], entry["bytes"] = None if length is None else [length], length, _bytes(values)
    entry["dtypes"] = {"": clean(_dtype_name(values), NAME_MAX)}
    entry["repr"] = f"{'?' if length is None else length} values of {entry['dtypes']['']}"


def _array(value, entry):
    shape = _read["shape"](value)
    entry["shape"], entry["length"], entry["bytes"] = list(shape), shape[0] if shape else None, _read["array_bytes"](value)
    entry["dtypes"] = {"": clean(_dtype_name(value), NAME_MAX)}
    entry["repr"] = f"array of {' × '.join([str(size) for size in shape]) or 'one'}"


def _polars(value, entry):
    inside = _field(value, "_df")
    rows, columns = _read["polars_shape"](inside)
    pairs = zip(_read["polars_columns"](inside)[:COLUMNS_MAX], _read["polars_dtypes"](inside))
    _tell_table(entry, rows, columns, {clean(name, NAME_MAX): clean(dtype, NAME_MAX) for name, dtype in pairs}, None)


def _arrow(value, entry):
    """The columns' names alone: see learn_arrow."""
    names = _read["names"](_read["schema"](value))[:COLUMNS_MAX]
    _tell_table(entry, _read["rows"](value), _read["columns"](value), {clean(name, NAME_MAX): "?" for name in names}, None)


_TELLERS = {"frame": _frame, "series": _series, "ndarray": _array, "polars": _polars, "table": _arrow}


def teller(value):
    """What fills in the entry of a table of a library's very own class; None for any other value."""
    return _TELLERS.get(_role(value))
