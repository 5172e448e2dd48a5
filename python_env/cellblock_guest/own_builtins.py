# Puts back builtins that a cell replaced by something that cannot even be called (`builtins.len = None`): our own code, IPython and the
# standard library would stop working with them. Wrappers that user code put there stay, until our own code fails with them. Zygote,
# and worker after each cell.

import builtins

from . import streams

_dictionary = builtins.__dict__
_vital = tuple(
    "len isinstance issubclass getattr setattr hasattr callable str int float bool bytes list dict tuple set type object super property repr print iter next range "
    "sorted min max any all enumerate zip map open compile exec eval id vars __import__ __build_class__".split()
)
# Errors that a cell's text alone can raise when it is compiled; they say nothing about builtins.
_FROM_COMPILING = (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError, KeyboardInterrupt, SystemExit)
_vital_originals = ()
_names = ()
_originals = ()


def remember():
    """In the zygote: the builtins as they should be."""
    global _names, _originals, _vital_originals
    _names = tuple(name for name, value in _dictionary.items() if callable(value))
    _originals = tuple(map(_dictionary.get, _names))
    _vital_originals = tuple(map(_dictionary.get, _vital))


def check(get=_dictionary.get, tuple=tuple, map=map):
    """A microsecond or two when all is well: looks at the ones that nothing works without. Uses no builtin by its global name."""
    if tuple(map(get, _vital)) != _vital_originals:
        _repair()


def _repair(dictionary=_dictionary, callable=callable, zip=zip):
    for name, original in zip(_names, _originals):
        if name not in dictionary or not callable(dictionary[name]):
            dictionary[name] = original


def replaced(dictionary=_dictionary, zip=zip):
    """{name: what stands in the place of a vital builtin}; empty when all is well."""
    return {name: dictionary.get(name) for name, original in zip(_vital, _vital_originals) if dictionary.get(name) is not original}


def originals(names, zip=zip):
    return {name: original for name, original in zip(_vital, _vital_originals) if name in names}


def restore(values, dictionary=_dictionary):
    for name in values:
        dictionary[name] = values[name]


def put_back(dictionary=_dictionary, zip=zip):
    """Our own code failed: all vital builtins are the original ones again, which the user is told. True when any was not."""
    names = [*replaced()]
    for name, original in zip(_vital, _vital_originals):
        dictionary[name] = original
    if names:
        streams.write_stderr(f"cellblock: builtins that a cell had replaced failed in the session's own code and were put back: {', '.join(names)}\n")
    return names != []


def broke_the_runner(error, cell_names, issubclass=issubclass, type=type, getattr=getattr):
    """Whether an error came out of our own code or IPython's, and not out of the cell's, while vital builtins were replaced."""
    values = replaced()
    if not values:
        return False
    codes = [getattr(values[name], "__code__", None) for name in values if name != "compile"]
    passed = False
    tb = BaseException.__dict__["__traceback__"].__get__(error)
    while tb is not None:
        code = tb.tb_frame.f_code
        if code.co_name == "<module>" and code.co_filename in cell_names:
            return False
        passed = passed or code in codes
        tb = tb.tb_next
    return passed or not issubclass(type(error), _FROM_COMPILING)
