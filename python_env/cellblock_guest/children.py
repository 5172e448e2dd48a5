# In a child process of a session: gives its `__main__` the functions and classes that the session's cells define, so that pickled
# references to them can be followed. Light on purpose (standard library only): a spawned child imports it before anything else.
# Runs with the user's rights on the user's own code.

import linecache
import pickle
import sys

known_in_parent = None  # in a forked child: name -> cell number, from the session's own record as it was at the fork
_versions = {}  # name -> cell number, of what was defined here
_namespace = None  # what the definitions share as globals
_waiting = None  # what receive() got, until child_main runs


def receive(definitions, modules, values):
    """Called by unpickling the preparation data of a spawned process; child_main then puts it into `__main__`."""
    global _waiting
    _waiting = (definitions, modules, values)


def fill(namespace):
    """Fills the new main module; a definition that fails is left out, and its name is then missing as it would be in a script."""
    global _namespace, _waiting
    _namespace = namespace
    definitions, modules, values = _waiting or ((), (), {})
    _import_modules(modules)
    pending = _unpickle(values)
    failed = [entry for entry in definitions if not _define(entry)]
    _unpickle(pending)
    for entry in failed:
        _define(entry)
    _waiting = None


def load(qualname, definitions, modules, constants):
    """What a pickled reference to a cell's function or class becomes: this process's own, brought up to date first."""
    top = qualname.partition(".")[0]
    wanted = next((entry[1] for entry in definitions if entry[0] == top), None)
    if _version_of(top) != wanted:
        _import_modules(modules)
        for name, value in constants.items():
            _globals().setdefault(name, value)
        for entry in definitions:
            if _version_of(entry[0]) != entry[1]:
                _define(entry, strict=entry[0] == top)
    value = _globals()[top]
    for name in qualname.split(".")[1:]:
        value = getattr(value, name)
    return value


def _globals():
    return _namespace if _namespace is not None else sys.modules["__main__"].__dict__


def _namespace_is_done():
    """fill() is over: what runs now is asked for by a task."""
    return _waiting is None and "__mp_main__" in sys.modules


def _version_of(name):
    version = _versions.get(name)
    if version is None and known_in_parent is not None:
        version = known_in_parent(name)
    return version


def _import_modules(modules):
    import importlib

    namespace = _globals()
    for name, module, qualname in modules:
        if name not in namespace:
            try:
                value = importlib.import_module(module)
                for part in qualname.split(".") if qualname else ():
                    value = getattr(value, part)
                namespace[name] = value
            except Exception:
                continue


def _unpickle(values):
    """Sets the names; returns those that need something that is not there yet."""
    namespace, pending = _globals(), {}
    for name, data in values.items():
        try:
            namespace.setdefault(name, pickle.loads(data))
        except Exception:
            pending[name] = data
    return pending


def _define(entry, strict=False):
    """Runs one def or class statement at its own line, so that tracebacks show the cell's lines."""
    name, number, file_name, first_line, source = entry
    try:
        if file_name not in linecache.cache:
            lines = [""] * (first_line - 1) + source.split("\n")
            linecache.cache[file_name] = (len(source), None, [line + "\n" for line in lines], file_name)
        namespace = _globals()
        exec(compile("\n" * (first_line - 1) + source, file_name, "exec"), namespace)
        _versions[name] = number
        main = sys.modules["__main__"].__dict__  # in a spawned child a copy of the namespace; pickle looks names up there
        if main is not namespace and _namespace_is_done():
            main[name] = namespace[name]
        return True
    except Exception:
        if strict:
            raise
        return False
