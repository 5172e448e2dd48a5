# Looks at values of the session's without running any code of the session's, whatever that did to its interpreter: types are compared
# by identity with those that we know (`==` and hash() would ask a metaclass), mappings are walked and not asked (a key may have an
# __eq__), attributes are read by the descriptors that C gave their types. Builtins are bound here, before user code can put others in
# their place. Nothing here raises an audit event, as reading a function's code would. Worker, in the user's own interpreter.

from builtins import any, bool, bytearray, bytes, complex, dict, enumerate, float, frozenset, int, issubclass, len, list, range, repr, set
from builtins import str, tuple, type
from types import FunctionType, GetSetDescriptorType, MappingProxyType, MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType

TEXT_MAX = 200  # of one repr
NAME_MAX = 100
ITEMS_MAX = 6  # shown of a container
DEPTH_MAX = 3
FIELDS_MAX = 1000  # looked at in one mapping
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement, or by C as if by one
_NoneType, _EllipsisType = type(None), type(Ellipsis)

_items_of_class = MappingProxyType.items
_fields_of_class = type.__dict__["__dict__"].__get__
_flags = type.__dict__["__flags__"].__get__
_name = type.__dict__["__name__"].__get__
_module = type.__dict__["__module__"].__get__
_name_of_function = FunctionType.__dict__["__name__"].__get__
_IN_C = (GetSetDescriptorType, MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType)


def is_one_of(kind, kinds):
    return any(kind is one for one in kinds)


def clean(text, limit):
    text = str.encode(text[: limit + 1], "utf-8", "replace").decode()
    return text[: limit - 1] + "…" if len(text) > limit else text


def reader(kind, name):
    """What reads an attribute of instances, as the class stands now; None where that is not C alone. To be asked before user code runs."""
    for base in type.__dict__["__mro__"].__get__(kind):
        if name in base.__dict__:
            found = base.__dict__[name]
            if not is_one_of(type(found), _IN_C):
                return None
            return found.__get__ if is_one_of(type(found), (GetSetDescriptorType, MemberDescriptorType)) else found
    return None


def field(mapping, name):
    """mapping[name] of a plain dict, None where there is none."""
    return _found(dict.items(mapping), name) if type(mapping) is dict else None


def class_field(kind, name):
    return _found(_items_of_class(_fields_of_class(kind)), name)


def _found(items, name):
    for position, (key, value) in enumerate(items):
        if type(key) is str and key == name:
            return value
        if position == FIELDS_MAX:
            break
    return None


def type_name(kind):
    """"DataFrame", "numpy.float64", "int": without asking a metaclass."""
    name = _name(kind)
    module = class_field(kind, "__module__") if _flags(kind) & _HEAP_TYPE else _module(kind)
    if type(name) is not str:
        return "?"
    if type(module) is not str or module in ("builtins", "__main__"):
        return clean(name, NAME_MAX)
    return clean(f"{module.split('.')[0]}.{name}", NAME_MAX)


SIZED = (str, bytes, bytearray, list, tuple, dict, set, frozenset, range)
_CONTAINERS = (list, tuple, set, frozenset, dict)
_PLAIN = (int, float, complex, bool, _NoneType, _EllipsisType, range)


def text(value, depth):
    """A short repr of built-in types, made of theirs alone; of others the type's name."""
    kind = type(value)
    if kind is int and int.bit_length(value) > 512:
        return f"<int of {int.bit_length(value)} bits>"
    if is_one_of(kind, _PLAIN):
        return repr(value)
    if is_one_of(kind, (str, bytes, bytearray)):
        return repr(value[:TEXT_MAX])
    if is_one_of(kind, _CONTAINERS):
        return _container(value, kind, depth) if depth > 0 else "…"
    if kind is FunctionType:
        name = _name_of_function(value)
        return f"{name if type(name) is str else '?'}(…)"
    if kind is type or issubclass(kind, type):
        return f"<class {type_name(value)}>"
    return f"<{type_name(kind)}>"


def _container(value, kind, depth):
    parts = []
    for position, item in enumerate(dict.items(value) if kind is dict else kind.__iter__(value)):
        if position == ITEMS_MAX:
            parts.append("…")
            break
        parts.append(f"{text(item[0], depth - 1)}: {text(item[1], depth - 1)}" if kind is dict else text(item, depth - 1))
    before, after = ("[", "]") if kind is list else ("(", ")") if kind is tuple else ("frozenset({", "})") if kind is frozenset else ("{", "}")
    body = ", ".join(parts) + ("," if kind is tuple and len(parts) == 1 else "")
    return "set()" if kind is set and not parts else before + body + after
