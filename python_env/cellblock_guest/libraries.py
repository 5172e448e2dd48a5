# Sets libraries up for a guest as they are imported: matplotlib shows images and finds its fonts, pandas prints all columns, plotly
# never looks for a browser, tqdm writes plain text without a thread, Pillow shows images. Zygote for what is preloaded, worker for
# the rest. The libraries are the environment's pinned ones; each hook is held by a test.

import os
import sys
import types

from . import environment, figures, imports, session, tables

_OPTIONS = {"table_width": 240, "table_columns": 100}


def install(shell):
    """Registers all hooks. In the zygote, before the preload."""
    imports.install()
    imports.after("matplotlib", _matplotlib)
    imports.after("matplotlib.font_manager", _fonts)
    imports.after("matplotlib._text_helpers", _text_helpers)
    imports.after("matplotlib._mathtext", lambda module: _filter_log("matplotlib.mathtext"))
    imports.after("matplotlib._pylab_helpers", _figure_registry)
    imports.after("matplotlib.backend_bases", _backend_bases)
    imports.after("matplotlib_inline.backend_inline", _inline_backend)
    imports.after("numpy", tables.learn_numpy)
    imports.after("pandas", _pandas_imported)
    imports.after("polars", tables.learn_polars)
    imports.after("pyarrow", tables.learn_arrow)
    imports.after("plotly.io._renderers", _plotly)
    imports.after("tqdm.std", _tqdm)
    imports.after("tqdm.notebook", _tqdm_notebook)
    imports.after("PIL.ImageShow", _pillow)
    from IPython.core import pylabtools

    pylabtools.select_figure_formats = _select_figure_formats
    formatters = shell.display_formatter.formatters
    formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", figures.png_of)
    formatters["image/svg+xml"].for_type_by_name("matplotlib.figure", "Figure", figures.svg_of)
    shell.flush_figures = lambda: figures.flush(shell)
    shell.events.register("post_execute", shell.flush_figures)


def apply_options(options):
    """In the worker: the session's own values for what the zygote set up with defaults."""
    changed = False
    for name in _OPTIONS:
        value = int(options.get(name) or _OPTIONS[name])
        changed |= value != _OPTIONS[name]
        _OPTIONS[name] = value
    figures.apply_options(options)
    pandas = sys.modules.get("pandas")
    if pandas is not None and changed:
        _pandas(pandas)


# --- matplotlib -------------------------------------------------------------------------------------------------------------------


def _matplotlib(matplotlib):
    """The folder for its caches is the session's; in the zygote, where there is none, the environment's read-only one."""
    prebuilt = os.path.join(os.path.dirname(environment.site_packages()), "mpl")

    def folder():
        if session.current.emit_function is None and os.path.isdir(prebuilt):
            return prebuilt
        return os.environ.get("MPLCONFIGDIR") or os.path.join("/tmp", "matplotlib")

    matplotlib.get_configdir = matplotlib.get_cachedir = folder


def _fonts(font_manager):
    _filter_log("matplotlib.font_manager")
    try:
        import cellblock_fonts
    except ImportError:
        return  # a plain environment without our fonts
    cellblock_fonts.install_fallback()


def _filter_log(name):
    import logging

    logging.getLogger(name).addFilter(figures.log_filter)


def _text_helpers(module):
    module.warn_on_missing_glyph = figures.note_missing_glyph


def _figure_registry(module):
    activate = module.Gcf._set_new_active_manager.__func__

    def _set_new_active_manager(cls, manager):
        figures.note_created(manager.canvas.figure)
        return activate(cls, manager)

    module.Gcf._set_new_active_manager = classmethod(_set_new_active_manager)


def _backend_bases(module):
    """What plt.show() and fig.show() end in, for every backend without a window."""
    base = module.FigureManagerBase

    def pyplot_show(cls, *args, block=None, **kwargs):
        figures.show_all(block=block)

    def show(self):
        figures.show_one(self)

    base.pyplot_show = classmethod(pyplot_show)
    base.show = show


def _inline_backend(module):
    module.select_figure_formats = _select_figure_formats
    module.show = figures.show_all
    module.flush_figures = lambda: figures.flush(figures._shell())


def _select_figure_formats(shell, formats, **kwargs):
    figures.set_formats([formats] if isinstance(formats, str) else formats)


# --- tables -----------------------------------------------------------------------------------------------------------------------


def _pandas_imported(pandas):
    _pandas(pandas)
    tables.learn_pandas(pandas)


def _pandas(pandas):
    pandas.set_option("display.max_columns", _OPTIONS["table_columns"])
    pandas.set_option("display.width", _OPTIONS["table_width"])


# --- plotly -----------------------------------------------------------------------------------------------------------------------


def _plotly(module):
    """One renderer under every name that would want a browser or a notebook page."""
    import plotly.io

    class GuestRenderer(module.MimetypeRenderer):
        """HTML that loads plotly.js, the figure as JSON, and a line of text."""

        def to_mimebundle(self, fig_dict):
            return {
                "text/plain": _plotly_summary(fig_dict),
                "text/html": plotly.io.to_html(fig_dict, include_plotlyjs="cdn", full_html=False, validate=False),
                "application/vnd.plotly.v1+json": plotly.io.to_json(fig_dict, validate=False),
            }

    renderer, renderers = GuestRenderer(), module.renderers
    for name in list(renderers):
        if name not in ("json", "png", "jpeg", "jpg", "svg", "pdf"):
            renderers[name] = renderer
    renderers["cellblock"] = renderer
    renderers.default = "cellblock"
    if module.nbformat is None:
        module.nbformat = types.SimpleNamespace(__version__="5.10.4")  # asked for its version alone
    module.display_jupyter_version_warnings = lambda: None


def _plotly_summary(fig_dict):
    traces = fig_dict.get("data") or ()
    kinds = ", ".join(sorted({str(trace.get("type", "scatter")) for trace in traces})[:6])
    title = (fig_dict.get("layout") or {}).get("title") or {}
    title = title.get("text") if isinstance(title, dict) else title
    return f"<plotly figure with {len(traces)} trace{'s' * (len(traces) != 1)}{f' ({kinds})' if kinds else ''}{f': {str(title)[:200]}' if title else ''}>"


# --- progress bars, pictures ------------------------------------------------------------------------------------------------------


def _tqdm(module):
    module.tqdm.monitor_interval = 0  # else a thread watches bars that are slow to update


def _tqdm_notebook(module):
    """Widgets need a page: the bars are text here, as tqdm.auto decides by itself."""
    from tqdm.std import tqdm, trange

    module.tqdm = module.tqdm_notebook = tqdm
    module.trange = module.tnrange = trange


def _pillow(module):
    viewer = getattr(module, "IPythonViewer", None)
    if viewer is not None:
        module.register(viewer, 0)
