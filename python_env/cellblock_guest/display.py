# What becomes of values: the display hook (last expression of a cell), display() and its handles, and the formatter with a short
# way for plain scalars. Makes bundles with IPython's formatters, which run user code, and sends them as events. Worker; in a forked
# child of the session the text goes to stdout instead.

import builtins

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import DisplayFormatter
from IPython.lib import pretty

from . import figures, history, interrupts, session, values

_PLAIN_TYPES = (int, str, float, bool)
_repr_printer = pretty._type_pprinters[int]


class GuestFormatter(DisplayFormatter):
    """IPython's formatters; exact int, str, float and bool skip the ten look-ups, unless someone registered something for them."""

    def format(self, obj, include=None, exclude=None):
        if type(obj) in _PLAIN_TYPES and not include and not exclude and self._is_plain(type(obj)):
            text = repr(obj)
            if "\n" not in text:
                return {"text/plain": text}, {}
        return super().format(obj, include, exclude)

    def prepare(self):
        """Keeps the registries at hand (as traits they cost a microsecond each time); called once, in the zygote."""
        text = self.formatters["text/plain"]
        others = [f for mime, f in self.formatters.items() if mime != "text/plain"]
        others += [self.mimebundle_formatter, self.ipython_display_formatter]
        for formatter in [text, *others]:
            formatter.type_printers, formatter.deferred_printers, formatter.pprint if formatter is text else None
        text.float_format
        self._text_values = text._trait_values
        self._own_values = self._trait_values
        self._formatter_count = len(self.formatters)
        self._deferred_checked = -1  # how many late printers there were when none was for a built-in type
        self._float_printer = text.type_printers[float]
        self._registries = [f._trait_values for f in others]
        self._all_registries = [self._text_values, *self._registries]

    def _is_plain(self, kind):
        text = self._text_values
        printer = text["type_printers"].get(kind)
        if kind is float:
            if printer is not self._float_printer or text["float_format"] != "%r":
                return False
        elif printer is not _repr_printer:
            return False
        if not text.get("pprint", True) or len(self._own_values["formatters"]) != self._formatter_count:
            return False
        for registry in self._registries:
            printers = registry["type_printers"]
            if printers and (kind in printers or object in printers):
                return False
        deferred = 0
        for registry in self._all_registries:
            deferred += len(registry["deferred_printers"])
        if deferred != self._deferred_checked:
            if any(module == "builtins" for registry in self._all_registries for module, _ in registry["deferred_printers"]):
                return False
            self._deferred_checked = deferred
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

    def __call__(self, result=None):
        if "_" in builtins.__dict__:
            self.check_for_underscore()
        if result is None or self.quiet():
            return
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
        if not session.emit("result", {"mime": mime, "metadata": values.metadata(metadata), "display_id": ""}):
            print(mime[0][1].decode())

    def update_user_ns(self, result):
        """As IPython's: a user's own _ is left alone; Out forgets its oldest entries silently."""
        shell = self._own_shell
        namespace, hidden = shell.user_ns, shell.user_ns_hidden
        out = shell.history_manager.output_hist
        if result is out:
            return
        if len(out) >= history.ENTRIES_MAX:
            self.cull_cache()
        ours = True
        for name, own in (("_", self._), ("__", self.__), ("___", self.___)):
            if name in namespace:
                value = namespace[name]
                if name in hidden:
                    if hidden[name] is value:
                        continue
                elif own is value:
                    continue
                ours = False
        self.___, self.__, self._ = self.__, self._, result
        number = shell.execution_count - 1
        names = {f"_{number}": result}
        if ours and "_" not in builtins.__dict__:
            names["_"], names["__"], names["___"] = self._, self.__, self.___
        namespace.update(names)
        hidden.update(names)
        out[number] = result

    def cull_cache(self):
        shell = self._own_shell
        out = shell.history_manager.output_hist
        while len(out) >= history.ENTRIES_MAX:
            number = next(iter(out))
            del out[number]
            shell.user_ns.pop(f"_{number}", None)
            shell.user_ns_hidden.pop(f"_{number}", None)


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


