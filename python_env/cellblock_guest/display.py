# What becomes of values: the display hook (last expression of a cell), display() and its handles, and the formatter with a short
# way for plain scalars. Makes bundles with IPython's formatters, which run user code, and sends them as events. Worker; in a forked
# child of the session the text goes to stdout instead.

import builtins
import collections

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import DisplayFormatter
from IPython.lib import pretty

from . import figures, history, interrupts, session, values

_PLAIN_TYPES = (int, str, float, bool)
_repr_printer = pretty._type_pprinters[int]


class _Watched(dict):
    """A formatter's registry that counts its changes, so that what follows from it need not be looked up for each value."""

    changes = 0

    def _changed(method):
        def call(self, *args, **kwargs):
            _Watched.changes += 1
            return method(self, *args, **kwargs)

        return call

    for _name in ("__setitem__", "__delitem__", "__ior__", "update", "pop", "popitem", "clear", "setdefault"):
        locals()[_name] = _changed(getattr(dict, _name))
    del _name


def _count_change(change):
    _Watched.changes += 1


class GuestFormatter(DisplayFormatter):
    """IPython's formatters; exact int, str, float and bool skip the ten look-ups, unless someone registered something for them."""

    _plain_kinds = frozenset()
    _checked = -1  # changes up to which _plain_kinds holds

    def format(self, obj, include=None, exclude=None):
        kind = type(obj)
        if kind in _PLAIN_TYPES and not include and not exclude:
            if self._checked != _Watched.changes:
                self._check()
            if kind in self._plain_kinds:
                text = repr(obj)
                if "\n" not in text:
                    return {"text/plain": text}, {}
        return super().format(obj, include, exclude)

    def prepare(self):
        """Watches the registries; called once, in the zygote."""
        self._own = {mime: formatter for mime, formatter in self.formatters.items()}
        self.formatters = _Watched(self.formatters)
        for formatter in self._all():
            formatter.type_printers = _Watched(formatter.type_printers)
            formatter.deferred_printers = _Watched(formatter.deferred_printers)
            formatter.observe(_count_change, ["type_printers", "deferred_printers", "enabled"])
        text = self.formatters["text/plain"]
        text.observe(_count_change, ["pprint", "float_format"])
        self.observe(_count_change, ["formatters", "active_types", "mimebundle_formatter", "ipython_display_formatter"])
        self._float_printer = text.type_printers[float]

    def _all(self):
        return [*self.formatters.values(), self.mimebundle_formatter, self.ipython_display_formatter]

    def _check(self):
        checked = _Watched.changes
        self._plain_kinds = frozenset(kind for kind in _PLAIN_TYPES if self._is_plain(kind))
        self._checked = checked

    def _is_plain(self, kind):
        text = self.formatters.get("text/plain")
        if dict(self.formatters) != self._own or not text.pprint:
            return False
        printer = text.type_printers.get(kind)
        if (printer is not self._float_printer or text.float_format != "%r") if kind is float else printer is not _repr_printer:
            return False
        for formatter in self._all():
            if formatter is not text and (kind in formatter.type_printers or object in formatter.type_printers):
                return False
            if any(module == "builtins" for module, _ in formatter.deferred_printers):
                return False
        return True


def _fallback(obj):
    """text/plain for a value whose formatters gave none: its type, without running its code."""
    return f"<{type.__getattribute__(type(obj), '__name__')} object>"


class GuestDisplayHook(DisplayHook):
    """The value of a cell's last expression: one result event, and _, __, ___, Out."""

    exec_result = None  # a plain attribute where IPython has a trait

    def __init__(self, shell=None, **kwargs):
        super().__init__(shell=shell, **kwargs)
        self._own_shell = shell  # not by the trait: it is read for each value
        self._numbers = collections.deque()

    def __call__(self, result=None):
        if "_" in builtins.__dict__:
            self.check_for_underscore()
        if result is None or session.current.in_child or self.quiet():
            return  # a forked child that goes on in the cell has no value to show: it is not the cell
        self._is_active = True
        try:
            if figures.was_shown(result):
                bundle, metadata = {"text/plain": values.safe_repr(result)}, {}
            else:
                bundle, metadata = self._own_shell.display_formatter.format(result)
            interrupts.shielded(self._finish, result, bundle, metadata)
        finally:
            self._is_active = False

    def quiet(self):
        parsed = self._own_shell.history_manager.input_hist_parsed
        return ";" in parsed[-1] and self.semicolon_at_end_of_expression(parsed[-1])

    @staticmethod
    def semicolon_at_end_of_expression(expression):
        try:
            return DisplayHook.semicolon_at_end_of_expression(expression)
        except Exception:  # not Python any more (a magic's argument): nothing to silence
            return False

    def _finish(self, result, bundle, metadata):
        self.update_user_ns(result)
        if self.exec_result is not None:
            self.exec_result.result = result
        if not bundle:
            return
        if len(bundle) == 1 and type(bundle.get("text/plain")) is str:
            mime = values.encode_plain(bundle["text/plain"])
        else:
            mime = values.encode(bundle, _fallback(result))
        metadata = values.metadata(metadata) if metadata else "{}"
        if not session.emit("result", {"mime": mime, "metadata": metadata, "display_id": ""}):
            print(mime[0][1].decode())

    def update_user_ns(self, result):
        """As IPython's: a user's own _ is left alone; Out forgets its oldest entries silently."""
        shell = self._own_shell
        namespace, hidden = shell._user_ns, shell.user_ns_hidden
        out = shell.history_manager.output_hist
        if result is out:
            return
        if len(out) >= history.ENTRIES_MAX:
            self.cull_cache()
        get = namespace.get
        ours = (get("_") is self._ and get("__") is self.__ and get("___") is self.___) or self._are_ours(namespace, hidden)
        self.___, self.__, self._ = self.__, self._, result
        number = shell.execution_count - 1
        names = {f"_{number}": result}
        if ours and "_" not in builtins.__dict__:
            names["_"], names["__"], names["___"] = self._, self.__, self.___
        namespace.update(names)
        hidden.update(names)
        out[number] = result
        self._numbers.append(number)

    def _are_ours(self, namespace, hidden):
        for name, own in (("_", self._), ("__", self.__), ("___", self.___)):
            if name in namespace:
                value = namespace[name]
                if name in hidden:
                    if hidden[name] is value:
                        continue
                elif own is value:
                    continue
                return False
        return True

    def cull_cache(self):
        """Forgets the oldest entries; their numbers are kept beside Out, whose own first key is slow to find once many are gone."""
        shell, numbers = self._own_shell, self._numbers
        out, namespace = shell.history_manager.output_hist, shell._user_ns
        while len(out) >= history.ENTRIES_MAX and numbers:
            number = numbers.popleft()
            out.pop(number, None)
            namespace.pop(f"_{number}", None)
            shell.user_ns_hidden.pop(f"_{number}", None)

    def flush(self):
        super().flush()
        self._numbers.clear()


class GuestDisplayPublisher(DisplayPublisher):
    """display(), display handles and clear_output() as events."""

    def __init__(self, shell=None, *args, **kwargs):
        super().__init__(None, *args, **kwargs)  # without a shell it keeps no copies of what was shown
        self.shell = shell

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **kwargs):
        self._validate_data(data, metadata)
        for mime, handler in getattr(self.shell, "mime_renderers", {}).items():
            if mime in data:
                handler(data[mime], (metadata or {}).get(mime))
                return
        mime = values.encode(data, f"[{next(iter(data))}]" if data else "")
        display_id = (transient or {}).get("display_id") or ""
        if not isinstance(display_id, str):
            display_id = str(display_id)
        fields = {"mime": mime, "metadata": values.metadata(metadata), "display_id": display_id[:200]}
        if not session.emit("update" if update else "display", fields):
            print(mime[0][1].decode())

    def clear_output(self, wait=False):
        session.emit("clear", {"wait": bool(wait)})


