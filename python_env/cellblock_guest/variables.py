# What a session's namespace holds, for whoever asks between two calls: name, type, size, a short text. Worker, in the user's own
# interpreter. No code of the user's runs for it: types are compared by identity with those that we know (`==` and hash() would ask a
# metaclass), attributes are asked of them alone, and nothing is imported or computed. Everything is bounded.

import sys
import types

VARIABLES_MAX = 200
TEXT_MAX = 200  # of one repr
NAME_MAX = 100
ITEMS_MAX = 6  # shown of a container
DEPTH_MAX = 3
COLUMNS_MAX = 50
BYTES_MAX = 200 * 1024  # of all entries together
_HIDDEN = {"In", "Out", "exit", "quit", "get_ipython", "open", "display"}

_ModuleType, _FunctionType = types.ModuleType, types.FunctionType  # before anybody can put others in their place
_name = type.__dict__["__name__"].__get__
_module = type.__dict__["__module__"].__get__


def describe(namespace, hidden=()):
    """{"variables": [...], "total": n, "cut": bool}, in the order in which they were made."""
    names = [name for name in dict.keys(namespace) if _is_shown(name, namespace, hidden)]
    entries, room = [], BYTES_MAX
    for name in names[:VARIABLES_MAX]:
        entry = _entry(name, namespace[name])
        room -= sum(len(str(part)) for part in entry.values()) + 100
        if room < 0:
            break
        entries.append(entry)
    return {"variables": entries, "total": len(names), "cut": len(entries) < len(names)}


def _is_shown(name, namespace, hidden):
    return type(name) is str and not name.startswith("_") and name not in _HIDDEN and name not in hidden and type(namespace[name]) is not _ModuleType


def _clean(text, limit):
    text = str.encode(text[: limit + 1], "utf-8", "replace").decode()
    return text[: limit - 1] + "…" if len(text) > limit else text


def _entry(name, value):
    kind = type(value)
    entry = {"name": _clean(name, NAME_MAX), "type": type_name(kind), "shape": None, "dtypes": None, "bytes": None, "length": None, "repr": ""}
    try:
        known = _known(kind)
        if known is not None:
            known(value, entry)
            return entry
        if _is_one_of(kind, _SIZED):
            entry["length"] = len(value)
            entry["bytes"] = sys.getsizeof(value)
        entry["repr"] = _clean(_text(value, DEPTH_MAX), TEXT_MAX)
    except Exception:  # a frame whose inside was tampered with, a dict that a thread changes meanwhile
        entry["repr"] = f"<{entry['type']}>"
    return entry


def _is_one_of(kind, kinds):
    return any(kind is one for one in kinds)


def type_name(kind):
    """"DataFrame", "numpy.float64", "int": without asking a metaclass."""
    name, module = _name(kind), _module(kind)
    if type(name) is not str:
        return "?"
    if type(module) is not str or module in ("builtins", "__main__"):
        return _clean(name, NAME_MAX)
    return _clean(f"{module.split('.')[0]}.{name}", NAME_MAX)


_CONTAINERS = (list, tuple, set, frozenset, dict)
_SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset, range)
_PLAIN = (int, float, complex, bool, type(None), type(Ellipsis))


def _text(value, depth):
    """A short repr of built-in types, made of theirs alone; of others the type's name."""
    kind = type(value)
    if kind is int and int.bit_length(value) > 512:
        return f"<int of {int.bit_length(value)} bits>"
    if _is_one_of(kind, _PLAIN) or kind is range:
        return repr(value)
    if _is_one_of(kind, (str, bytes, bytearray)):
        return repr(value[:TEXT_MAX])
    if _is_one_of(kind, _CONTAINERS):
        if depth == 0:
            return "…"
        return _container(value, kind, depth)
    if kind is _FunctionType:
        code = value.__code__
        arguments = ", ".join(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount][:20])
        return f"{code.co_name}({arguments})"
    if kind is type or issubclass(kind, type):
        return f"<class {type_name(value)}>"
    return f"<{type_name(kind)}>"


def _container(value, kind, depth):
    parts = []
    for position, item in enumerate(kind.__iter__(value)):
        if position == ITEMS_MAX:
            parts.append("…")
            break
        text = _text(item, depth - 1)
        parts.append(f"{text}: {_text(dict.__getitem__(value, item), depth - 1)}" if kind is dict and _is_plain_key(item) else text)
    before, after = {list: "[]", tuple: "()", set: "{}", dict: "{}", frozenset: ("frozenset({", "})")}[kind]
    body = ", ".join(parts) + ("," if kind is tuple and len(parts) == 1 else "")
    return "set()" if kind is set and not parts else before + body + after


def _is_plain_key(item):
    """Looking a key up runs its __hash__ and __eq__: only where those are our own interpreter's."""
    return _is_one_of(type(item), (str, bytes, int, float, bool, type(None)))


def _known(kind):
    """The describer of a type of a library, where that library is loaded and the type is its very own."""
    name = _name(kind)
    if type(name) is not str or type(sys.modules) is not dict:
        return None
    for module_name, type_name_, describer in _LIBRARIES:
        module = sys.modules.get(module_name) if name == type_name_ else None
        if type(module) is _ModuleType and dict.get(module.__dict__, name) is kind:
            return describer
    return None


def _of_library(kind):
    module = _module(kind)
    return type(module) is str and module.split(".")[0] in ("numpy", "pandas")


def _block_bytes(block):
    """Of what the block holds itself; the objects that it points to are not asked."""
    return block.values.nbytes if _of_library(type(block.values)) else 0


def _dtype(kind):
    return _clean(str(kind) if _of_library(type(kind)) else type_name(type(kind)), NAME_MAX)


def _frame(value, entry):
    manager = value._mgr
    entry["shape"] = list(value.shape)
    columns, kinds = list(value.columns[:COLUMNS_MAX]), list(value.dtypes.iloc[:COLUMNS_MAX])
    entry["dtypes"] = {_clean(_text(column, 1), NAME_MAX).strip("'"): _dtype(kind) for column, kind in zip(columns, kinds)}
    entry["bytes"] = int(sum(_block_bytes(block) for block in manager.blocks))
    entry["length"] = len(manager.axes[-1])
    entry["repr"] = f"{value.shape[0]} rows × {value.shape[1]} columns"


def _series(value, entry):
    entry["shape"], entry["length"] = list(value.shape), value.shape[0]
    entry["dtypes"] = {"": _dtype(value.dtype)}
    entry["bytes"] = int(sum(_block_bytes(block) for block in value._mgr.blocks))
    entry["repr"] = f"{value.shape[0]} values of {entry['dtypes']['']}"


def _array(value, entry):
    entry["shape"], entry["length"] = list(value.shape), value.shape[0] if value.shape else None
    entry["dtypes"] = {"": _dtype(value.dtype)}
    entry["bytes"] = value.nbytes
    entry["repr"] = f"array of {' × '.join(map(str, value.shape)) or 'one'}"


def _polars(value, entry):
    entry["shape"], entry["length"] = list(value.shape), value.height
    entry["dtypes"] = {_clean(name, NAME_MAX): _clean(str(kind), NAME_MAX) for name, kind in zip(value.columns[:COLUMNS_MAX], value.dtypes)}
    entry["repr"] = f"{value.height} rows × {value.width} columns"


def _arrow(value, entry):
    entry["shape"], entry["length"] = list(value.shape), value.num_rows
    entry["dtypes"] = {_clean(field.name, NAME_MAX): _clean(str(field.type), NAME_MAX) for field in list(value.schema)[:COLUMNS_MAX]}
    entry["bytes"] = value.nbytes
    entry["repr"] = f"{value.num_rows} rows × {value.num_columns} columns"


_LIBRARIES = (
    ("pandas", "DataFrame", _frame),
    ("pandas", "Series", _series),
    ("numpy", "ndarray", _array),
    ("polars", "DataFrame", _polars),
    ("pyarrow", "Table", _arrow),
)
