"""Makes matplotlib draw every script and symbol that the environment has a font for, with the environment's prebuilt font list.

Runs in the zygote and in workers (and in any plain Python that wants the same charts). Trusts the environment folder it lies in,
which is read-only inside a jail. Nothing here runs on import; matplotlib is imported only by the two functions that need it.
"""

import logging
import os
import pathlib

#: The environment folder: this file lies in <env>/site-packages.
ENV_DIR = pathlib.Path(__file__).resolve().parent.parent
MATPLOTLIBRC = ENV_DIR / "mpl" / "matplotlibrc"

#: DejaVu first: it is the look of matplotlib's own symbols and lies in its wheel. The rest comes from matplotlibrc.
_FIRST_FALLBACK = "DejaVu Sans"
_MESSAGES_REMEMBERED_MAX = 256


def prepare_config_dir(directory):
    """Makes `directory` fit for MPLCONFIGDIR: it exists, and the prebuilt font list is there.

    matplotlib wants a writable folder and else makes one under /tmp with a warning, so the read-only list is linked into a folder
    of the session's own. Call it before matplotlib is imported. Calling it again is harmless.
    """
    directory = pathlib.Path(directory)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for prebuilt in (ENV_DIR / "mpl").glob("fontlist-*.json"):
        link = directory / prebuilt.name
        try:
            link.symlink_to(prebuilt)
        except FileExistsError:
            pass  # made before, or the user's own list: either is valid


def environment(config_dir):
    """The variables that a process needs before its matplotlib starts, child processes of a session included."""
    return {"MPLCONFIGDIR": os.fspath(config_dir), "MATPLOTLIBRC": os.fspath(MATPLOTLIBRC)}


class _EachMessageOnce(logging.Filter):
    """Lets each text through once. matplotlib says "font family not found" once per size and weight, which floods a chart's output."""

    def __init__(self):
        super().__init__()
        self._seen = set()

    def filter(self, record):
        if record.levelno < logging.WARNING:
            return True
        text = record.getMessage()
        if text in self._seen:
            return False
        if len(self._seen) >= _MESSAGES_REMEMBERED_MAX:
            self._seen.clear()
        self._seen.add(text)
        return True


def install_fallback():
    """Appends the environment's fallback fonts to whatever font a chart asks for. Returns the family names appended.

    matplotlibrc alone is not enough: seaborn.set_theme(), style sheets and `font.family = "SimHei"` all replace its list, and then a
    Chinese title is drawn as boxes under a flood of warnings. Call it once, after matplotlib is imported and before it draws.
    """
    import matplotlib
    from matplotlib import font_manager

    families = (_FIRST_FALLBACK, *matplotlib.rcParamsOrig["font.family"][1:])
    manager = font_manager.fontManager
    original = type(manager)._find_fonts_by_props  # noqa: SLF001 - no public hook; the lock pins the version, a test holds it
    if getattr(original, "adds_fallback", False):
        return families
    known = {entry.name for entry in manager.ttflist}
    paths = [manager.findfont(font_manager.FontProperties(family=name)) for name in families if name in known]

    def find_fonts_by_props(self, prop, fontext="ttf", *args, **kwargs):
        found = original(self, prop, fontext, *args, **kwargs)
        if fontext == "ttf":
            found.extend(path for path in paths if path not in found)
        return found

    find_fonts_by_props.adds_fallback = True
    type(manager)._find_fonts_by_props = find_fonts_by_props  # noqa: SLF001
    logging.getLogger("matplotlib.font_manager").addFilter(_EachMessageOnce())
    return families
