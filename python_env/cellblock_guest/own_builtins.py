# Puts back builtins that a cell replaced by something that cannot even be called (`builtins.len = None`): our own code, IPython and the
# standard library would stop working with them. Wrappers that user code put there stay. Zygote, and worker after each cell.

import builtins

_dictionary = builtins.__dict__
_vital = tuple(
    "len isinstance issubclass getattr setattr hasattr callable str int float bool bytes list dict tuple set type object super property repr print iter next range "
    "sorted min max any all enumerate zip map open compile exec eval id vars __import__ __build_class__".split()
)
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
