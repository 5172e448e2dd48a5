# Puts back builtins that a cell replaced by something that cannot even be called (`builtins.len = None`): our own code, IPython and the
# standard library would stop working with them. Wrappers that user code put there stay. Worker, before and after each cell.

import builtins

_dictionary = builtins.__dict__
_names = ()
_originals = ()


def remember():
    """At the session's start: the builtins as they should be."""
    global _names, _originals
    _names = tuple(name for name, value in _dictionary.items() if callable(value))
    _originals = tuple(map(_dictionary.get, _names))


def check(get=_dictionary.get, tuple=tuple, map=map):
    """A few microseconds when all is well. Uses no builtin by its global name."""
    if tuple(map(get, _names)) != _originals:
        _repair()


def _repair(dictionary=_dictionary, callable=callable, zip=zip):
    for name, original in zip(_names, _originals):
        if name not in dictionary or not callable(dictionary[name]):
            dictionary[name] = original
