# Runs a function right after a module is imported, so that a library can be set up for a guest when, and only when, a session uses
# it. In the zygote for what is preloaded, in the worker for the rest. Leaves specs and loaders as they are.

import sys

_hooks = {}


class _Finder:
    """Finds nothing itself: asks the other finders and adds the hook to the loader they give."""

    def find_spec(self, name, path=None, target=None):
        hook = _hooks.get(name)
        if hook is None:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is None:
                continue
            loader = spec.loader
            if loader is not None and hasattr(loader, "exec_module"):
                _add(loader, name)
            return spec
        return None


def _add(loader, name):
    execute = loader.exec_module

    def exec_module(module):
        execute(module)
        run(name, module)

    try:
        loader.exec_module = exec_module
    except AttributeError:
        pass  # a loader that cannot be changed: the library works, without our set-up


def run(name, module):
    """The hook must never make an import fail: a library of another version works as it comes."""
    hook = _hooks.pop(name, None)
    if hook is None:
        return
    try:
        hook(module)
    except Exception as error:
        from . import streams

        streams.write_stderr(f"cellblock: setting up {name} failed ({type(error).__name__}: {error}); it works as it comes\n")


def after(name, hook):
    """hook(module) as soon as the module is there: now, or when it gets imported."""
    _hooks[name] = hook
    module = sys.modules.get(name)
    if module is not None:
        run(name, module)


def install():
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
