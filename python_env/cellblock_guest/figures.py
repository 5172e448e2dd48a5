# Shows matplotlib's figures: each one once, in the order of creation, as PNG (and SVG) with its titles, labels and small series as
# metadata; then closes them. Works with any backend that draws without a window, and whatever way a figure is shown: plt.show(),
# display(fig), fig as last value, or nothing at all. Worker; figures are user objects, so drawing them may raise.

import hashlib
import io
import sys
import time
import weakref

from . import chart_data, errors, interrupts, session, streams

FIGURES_MAX = 100  # shown in one call
PIXELS_MAX = 40_000_000  # of one image; larger figures are drawn at a lower resolution
SVG_BYTES_MAX = 4 << 20
INTERRUPTED_SECONDS = 1.0  # for drawing what an interrupted cell left open
MISSING_GLYPHS_NAMED = 8
DEFAULT_DPI = 100  # matplotlib's own figure.dpi; figures made with another one keep it


class _State:
    def __init__(self):
        self.created = weakref.WeakKeyDictionary()  # figure -> number, in the order of creation
        self.count = 0
        self.shown = weakref.WeakKeyDictionary()  # figure -> digest of the image last shown
        self.in_call = 0
        self.shown_in_call = weakref.WeakSet()
        self.glyphs = set()  # code points that no font had, in this call
        self.families = set()  # font families that are not there, in this call
        self.svg = False
        self.scale = 1.0
        self.dpi = DEFAULT_DPI


_state = _State()


def apply_options(options):
    _state.dpi = int(options.get("figure_dpi") or DEFAULT_DPI)
    _state.svg = bool(options.get("figure_svg"))


def set_formats(formats):
    """%config InlineBackend.figure_formats, set_matplotlib_formats: retina doubles the resolution, svg adds an SVG."""
    formats = {str(name).lower() for name in formats}
    _state.scale = 2.0 if formats & {"retina", "png2x"} else 1.0
    _state.svg = "svg" in formats or bool(session.current.options.get("figure_svg"))


def enable(gui=None):
    """%matplotlib: charts need no switching on. Says so when a window was asked for."""
    if gui not in (None, "inline", "agg", "auto", "module://matplotlib_inline.backend_inline"):
        streams.write_stderr(f"%matplotlib {gui}: there is no display here; charts are shown as images at the end of the cell.\n")
    return None, "agg"


# --- drawing --------------------------------------------------------------------------------------------------------------------


def _is_empty(figure):
    return not figure.axes and len(figure.get_children()) <= 1  # nothing but its background


def _resolution(figure):
    dpi = (_state.dpi if figure.dpi == DEFAULT_DPI else figure.dpi) * _state.scale
    width, height = figure.get_size_inches()
    pixels = width * height * dpi * dpi
    return dpi if pixels <= PIXELS_MAX else dpi * (PIXELS_MAX / pixels) ** 0.5


def draw(figure, file_format):
    """The figure as bytes, cropped as notebooks do; None when there is nothing on it."""
    if _is_empty(figure):
        return None
    if figure.canvas is None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        FigureCanvasAgg(figure)
    out = io.BytesIO()
    figure.canvas.print_figure(
        out, format=file_format, dpi=_resolution(figure), bbox_inches="tight",
        facecolor=figure.get_facecolor(), edgecolor=figure.get_edgecolor(),
    )
    return out.getvalue()


def png_of(figure):
    """What IPython's PNG formatter calls for a Figure: (bytes, metadata). The figure counts as shown from here on."""
    data = draw(figure, "png")
    if data is None:
        return None
    _state.shown[figure] = hashlib.blake2b(data, digest_size=16).digest()
    _state.shown_in_call.add(figure)
    _state.in_call += 1
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    metadata = {"width": width, "height": height}
    chart = chart_data.describe(figure)
    if chart:
        metadata["chart"] = chart
    return data, metadata


def svg_of(figure):
    if not _state.svg:
        return None
    data = draw(figure, "svg")
    return None if data is None or len(data) > SVG_BYTES_MAX else data.decode("utf-8", "replace")


def _show(figure, shell):
    """Sends the figure as a display event. Drawing runs user code and may raise; too many are left out."""
    if _state.in_call >= FIGURES_MAX:
        _state.in_call += 1
        return
    bundle, metadata = _bundle(figure)
    if bundle is None:
        return
    shell.display_pub.publish(bundle, metadata)


def _bundle(figure):
    drawn = png_of(figure)
    if drawn is None:
        return None, None
    bundle = {"text/plain": repr(figure), "image/png": drawn[0]}
    svg = svg_of(figure)
    if svg is not None:
        bundle["image/svg+xml"] = svg
    return bundle, {"image/png": drawn[1]}


def _changed_since_shown(figure):
    digest = _state.shown.get(figure)
    if digest is None:
        return True
    if not figure.stale:
        return False
    data = draw(figure, "png")
    return data is not None and hashlib.blake2b(data, digest_size=16).digest() != digest


# --- pyplot's open figures ----------------------------------------------------------------------------------------------------


def are_open():
    """Whether pyplot has figures; without importing it."""
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    return helpers is not None and bool(helpers.Gcf.figs)


def _managers():
    if not are_open():
        return []
    helpers = sys.modules["matplotlib._pylab_helpers"]
    created = _state.created
    return sorted(helpers.Gcf.figs.values(), key=lambda manager: (created.get(manager.canvas.figure, 1 << 62), manager.num))


def _close_all():
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers is not None and helpers.Gcf.figs:
        try:
            helpers.Gcf.destroy_all()
        except Exception:
            helpers.Gcf.figs.clear()


def show_all(*args, block=None, **kwargs):
    """plt.show(): every open figure now, then they are closed, as a window would be. With block=False (also plt.pause) they stay
    open, may be drawn on, and are shown at the end of the cell."""
    if block is False:
        return
    shell = _shell()
    try:
        for manager in _managers():
            if _changed_since_shown(manager.canvas.figure):
                _show(manager.canvas.figure, shell)
    finally:
        _close_all()


def show_one(manager):
    """fig.show(): this figure now; it stays open and is not shown again unless it changes."""
    if _changed_since_shown(manager.canvas.figure):
        _show(manager.canvas.figure, _shell())


def _shell():
    from IPython.core.interactiveshell import InteractiveShell

    return InteractiveShell.instance()


def flush(shell):
    """Shows what is still open and closes it: at the end of each cell, also of one that a magic runs inside another. An error in
    drawing is the cell's, if it has none yet."""
    managers = _managers()
    if not managers or session.current.in_child:  # a forked child is not the cell, which shows them itself
        return
    interrupted = issubclass(type(shell.cell_error), KeyboardInterrupt)
    deadline = time.monotonic() + INTERRUPTED_SECONDS if interrupted else None
    left = 0
    try:
        for manager in managers:
            figure = manager.canvas.figure
            if deadline is not None and time.monotonic() > deadline:
                left += 1
                continue
            try:
                if _changed_since_shown(figure):
                    _show(figure, shell)
            except Exception as error:
                if shell.cell_error is None and shell.executing <= 1:  # 1: called as an event at the end of the cell
                    shell.fail(error)
                else:
                    streams.write_stderr(errors.text_of(error) + "\n")
    except KeyboardInterrupt as error:
        shell.fail(error)
    finally:
        interrupts.shielded(_close_all)
    if left:
        streams.write_stderr(f"{left} figures of the interrupted cell were not drawn.\n")


def was_shown(value):
    """Whether value is a figure that this call has shown as it is now; as the cell's value it is then text alone."""
    return type(value).__module__ == "matplotlib.figure" and value in _state.shown_in_call and not _changed_since_shown(value)


def begin_call():
    if _state.in_call:
        _state.in_call = 0
        _state.shown_in_call.clear()
    if _state.glyphs or _state.families:
        _state.glyphs.clear()
        _state.families.clear()


def end_call(shell):
    """After the cell: what is open is shown (also after an interrupt that skipped IPython's own end), and one line about fonts."""
    gate = interrupts.gate
    if are_open():
        gate.open = True
        try:
            flush(shell)
        except KeyboardInterrupt as error:
            shell.fail(error)
        finally:
            gate.open = False
    if _state.in_call > FIGURES_MAX:
        streams.write_stderr(f"{_state.in_call - FIGURES_MAX} more figures were not shown: at most {FIGURES_MAX} in one call.\n")
    if _state.glyphs or _state.families:
        _report_fonts()


def _report_fonts():
    parts = []
    if _state.glyphs:
        named = ", ".join(f"{chr(c)!r} (U+{c:04X})" for c in sorted(_state.glyphs)[:MISSING_GLYPHS_NAMED])
        parts.append(f"no font has {len(_state.glyphs)} of the characters drawn: {named}{' …' if len(_state.glyphs) > MISSING_GLYPHS_NAMED else ''}")
    if _state.families:
        parts.append(f"font families not installed: {', '.join(sorted(_state.families)[:4])}; another was used")
    streams.write_stderr(f"matplotlib: {'; '.join(parts)}\n")


# --- set-up when matplotlib is imported -----------------------------------------------------------------------------------------


def note_missing_glyph(codepoint, fontnames=""):
    """In place of one warning for each glyph and draw."""
    if len(_state.glyphs) < 10_000:
        _state.glyphs.add(int(codepoint))


def log_filter(record):
    """For matplotlib's font loggers: a family or glyph that is missing is told once a call, in one line."""
    message = str(record.msg)
    if message.startswith("findfont: Font family"):
        if record.args and len(_state.families) < 1000:
            _state.families.add(str(record.args[0] if isinstance(record.args, tuple) else record.args))
        return False
    return not (message.startswith("findfont:") or "does not have a glyph for" in message or "substituting with a dummy symbol" in message)


def note_created(figure):
    if figure not in _state.created:
        _state.count += 1
        _state.created[figure] = _state.count


def forget():
    """After the zygote's warm-up: as if nothing had been drawn."""
    _close_all()
    svg, dpi, scale = _state.svg, _state.dpi, _state.scale
    _state.__init__()
    _state.svg, _state.dpi, _state.scale = svg, dpi, scale

