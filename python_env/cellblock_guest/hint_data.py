# What hints are made of: names of modules, attributes, columns and files, and looks into data files. Everything is bounded in number
# and time. Worker. Reads user objects only where they are exactly of a library's type; opens files of the session for reading.

import ast
import csv
import errno
import io
import json
import os
import pathlib
import posix
import re
import sys
import types
import warnings

from . import environment, errors, streams, text_encoding

ENTRIES_MAX = 2000  # of one folder
FOLDERS_MAX = 200  # looked into for a file of a name
COLUMNS_MAX = 2000
SNIFF_BYTES = 64 << 10
_POOL_FOLDERS = ("/multiprocessing/", "/concurrent/futures/", "/joblib/")
_execv = posix.execv  # streams wraps the one in os, and user code may replace it

ALTERNATIVES = {
    "cv2": "Pillow (PIL)", "tensorflow": "scikit-learn", "torch": "scikit-learn", "keras": "scikit-learn", "xgboost": "sklearn.ensemble.HistGradientBoostingClassifier",
    "lightgbm": "sklearn.ensemble.HistGradientBoostingClassifier", "catboost": "sklearn.ensemble.HistGradientBoostingClassifier",
    "bokeh": "plotly or matplotlib", "altair": "plotly or matplotlib", "geopandas": "pandas", "chardet": "charset_normalizer",
    "fitz": "pypdf or pdfplumber", "pypdf2": "pypdf", "docx2txt": "docx (python-docx)", "ujson": "json", "simplejson": "json", "orjson": "json",
    "dask": "polars or duckdb", "modin": "polars or duckdb", "vaex": "polars or duckdb", "pyspark": "duckdb or polars", "yfinance": "uploaded files",
    "prophet": "statsmodels", "pmdarima": "statsmodels", "nltk": "re and sklearn.feature_extraction.text", "spacy": "re and sklearn.feature_extraction.text",
    "ipywidgets": "plain parameters in the code", "pandas_profiling": "df.describe() and df.info()", "ydata_profiling": "df.describe() and df.info()",
    "wordcloud": "collections.Counter and matplotlib", "missingno": "df.isna().sum()", "openai": "the code alone", "fpdf": "reportlab", "weasyprint": "reportlab",
}
COMMON_IMPORTS = {
    "np": "import numpy as np", "pd": "import pandas as pd", "plt": "import matplotlib.pyplot as plt", "sns": "import seaborn as sns", "px": "import plotly.express as px",
    "go": "import plotly.graph_objects as go", "pl": "import polars as pl", "sp": "import sympy as sp", "nx": "import networkx as nx", "sm": "import statsmodels.api as sm",
    "stats": "from scipy import stats", "os": "import os", "sys": "import sys", "re": "import re", "json": "import json", "math": "import math", "random": "import random",
    "time": "import time", "datetime": "from datetime import datetime", "timedelta": "from datetime import timedelta", "Path": "from pathlib import Path",
    "Counter": "from collections import Counter", "defaultdict": "from collections import defaultdict", "reduce": "from functools import reduce",
    "numpy": "import numpy", "pandas": "import pandas", "itertools": "import itertools", "csv": "import csv", "StringIO": "from io import StringIO", "BytesIO": "from io import BytesIO",
    "train_test_split": "from sklearn.model_selection import train_test_split", "tqdm": "from tqdm import tqdm",
}
REMOVED = {
    ("pandas.core.frame.DataFrame", "append"): "DataFrame.append was removed in pandas 2: use pd.concat([df, other]).",
    ("pandas.core.series.Series", "append"): "Series.append was removed in pandas 2: use pd.concat([s, other]).",
    ("pandas.core.frame.DataFrame", "ix"): "DataFrame.ix was removed: use .loc (labels) or .iloc (positions).",
    ("pandas.core.frame.DataFrame", "iteritems"): "DataFrame.iteritems was removed in pandas 2: use .items().",
    ("pandas.core.series.Series", "iteritems"): "Series.iteritems was removed in pandas 2: use .items().",
    ("pandas.core.frame.DataFrame", "mad"): "DataFrame.mad was removed in pandas 2: use (df - df.mean()).abs().mean().",
    ("pandas.core.frame.DataFrame", "as_matrix"): "DataFrame.as_matrix was removed: use .to_numpy().",
    ("pandas.core.groupby.generic.DataFrameGroupBy", "mad"): "mad was removed in pandas 2.",
}
_NUMPY_REMOVED = {"float": "float", "int": "int", "bool": "bool", "object": "object", "str": "str", "float_": "np.float64", "Inf": "np.inf", "NaN": "np.nan",
                  "product": "np.prod", "cumproduct": "np.cumprod", "sometrue": "np.any", "alltrue": "np.all", "in1d": "np.isin", "trapz": "np.trapezoid",
                  "unicode_": "np.str_", "string_": "np.bytes_", "row_stack": "np.vstack", "infty": "np.inf", "asfarray": "np.asarray"}
for _old, _new in _NUMPY_REMOVED.items():
    REMOVED[("module:numpy", _old)] = f"np.{_old} was removed from NumPy: use {_new}."
_NOTABLE = {"numpy", "pandas", "scipy", "sklearn", "statsmodels", "matplotlib", "seaborn", "plotly", "pyarrow", "polars", "duckdb", "openpyxl", "xlsxwriter", "xlrd", "PIL",
            "docx", "pptx", "pypdf", "pdfplumber", "pypdfium2", "reportlab", "sympy", "networkx", "requests", "httpx", "bs4", "lxml", "yaml", "tabulate", "jinja2", "psutil", "tqdm", "joblib"}

_cache = {}


# --- modules ----------------------------------------------------------------------------------------------------------------------


def _manifest():
    """{module: distribution}, from the environment's manifest, else from the folder's names."""
    if "modules" not in _cache:
        root = environment.site_packages()
        try:
            with open(os.path.join(os.path.dirname(root), "manifest.json"), encoding="utf-8") as file:
                packages = json.load(file)["packages"]
            _cache["modules"] = {m: p["name"] for p in packages for m in p.get("modules", ()) if not m.startswith("_")}
        except (OSError, ValueError, KeyError, TypeError):
            names = [n.partition(".")[0] for n in os.listdir(root) if "-" not in n and not n.startswith(("_", "."))]
            _cache["modules"] = {name: name for name in names}
    return _cache["modules"]


def modules():
    return set(_manifest())


def module_of_distribution(distribution):
    wanted = distribution.lower().replace("_", "-")
    return next((module for module, name in _manifest().items() if name.lower().replace("_", "-") == wanted), None)


def standard_modules():
    return [name for name in sys.stdlib_module_names if not name.startswith("_")]


def notable(installed):
    return _NOTABLE & installed


# --- objects ----------------------------------------------------------------------------------------------------------------------


def qualified_type(owner):
    if type(owner) is types.ModuleType:
        return f"module:{owner.__dict__.get('__name__')}"
    return f"{type(owner).__module__}.{type(owner).__qualname__}"


def attribute_names(owner):
    """Public attribute names without running __dir__ or __getattr__ of the object."""
    names = {}
    for cls in type.__getattribute__(type(owner), "__mro__"):
        names.update(dict.fromkeys(cls.__dict__))
    try:
        names.update(dict.fromkeys(object.__getattribute__(owner, "__dict__")))
    except (AttributeError, TypeError):
        pass
    if isinstance(owner, type):
        for cls in type.__getattribute__(owner, "__mro__"):
            names.update(dict.fromkeys(cls.__dict__))
    return [name for name in names if isinstance(name, str) and not name.startswith("_")]


def is_data_frame(value):
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(value) is pandas.DataFrame


def columns_of(frame):
    return [str(column) for column in frame.columns[:COLUMNS_MAX]]


def frames_of(error):
    """Frames of the traceback, innermost first; at most 200."""
    found, tb = [], errors.traceback_of(error)
    while tb is not None:
        found.append(tb.tb_frame)
        tb = tb.tb_next
    return found[-200:][::-1]


def frame_names(error):
    frames = frames_of(error)
    return list(frames[0].f_locals)[:ENTRIES_MAX] if frames else []


def none_hint(error):
    return "The value is None: many methods (list.sort, df.drop(inplace=True), re.match without a match) return None."


def keyed_object(error):
    """(what it is, its keys as text) of the object whose key was missing: a DataFrame, a Series, a dict of the user's frame."""
    pandas = sys.modules.get("pandas")
    frames = frames_of(error)
    by_label = any(frame.f_code.co_filename.endswith("/pandas/core/indexing.py") for frame in frames)
    for frame in frames:
        if pandas is None or "/pandas/" not in frame.f_code.co_filename:
            break
        for name in ("self", "obj", "df", "data"):
            owner = frame.f_locals.get(name)
            if type(owner) is pandas.DataFrame and by_label:
                return "row label or column", [*(str(label) for label in owner.index[:COLUMNS_MAX]), *columns_of(owner)]
            if type(owner) is pandas.DataFrame:
                return "column", columns_of(owner)
            if type(owner) is pandas.Series:
                return "label", [str(label) for label in owner.index[:COLUMNS_MAX]]
    if not frames or not error.args:
        return None
    return _dict_without(frames[0], error.args[0])


def _dict_without(frame, key):
    """A dict of string keys in the failing line's frame that a missing key was looked up in; only if there is just one such."""
    names = frame.f_code.co_names + frame.f_code.co_varnames
    dicts = []
    for name in names[:ENTRIES_MAX]:
        value = frame.f_locals.get(name, frame.f_globals.get(name))
        if type(value) is dict and value and value is not frame.f_globals and type(key) is str:
            keys = [k for k in list(value)[:COLUMNS_MAX] if type(k) is str]
            if keys and key not in keys and all(value is not d for d, _ in dicts):
                dicts.append((value, keys))
    return ("key", dicts[0][1]) if len(dicts) == 1 else None


def quoted(text):
    return re.findall(r"'([^']*)'", str(text)[:5000])[:50]


# --- files ------------------------------------------------------------------------------------------------------------------------


def folder_names(folder):
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                names.append(entry.name)
            if len(names) >= ENTRIES_MAX:
                break
    return names


def workspace_listing():
    names = sorted(folder_names("."))
    if not names:
        return "The working folder is empty."
    shown = ", ".join(repr(name) for name in names[:15]) + (f", … ({len(names)} in all)" if len(names) > 15 else "")
    return f"In the working folder: {shown}."


def find_file(name):
    """Where in the working folder a file of this name lies."""
    for count, (root, folders, files) in enumerate(os.walk(".")):
        if name in files:
            return os.path.relpath(os.path.join(root, name))
        if count >= FOLDERS_MAX:
            break
    return None


def path_in_message(error):
    """Libraries raise FileNotFoundError with a sentence; the path in it, if it looks like one."""
    text = str(error.args[0]) if error.args and type(error.args[0]) is str else ""
    found = re.search(r"['\"]([^'\"\n]{1,500}\.[A-Za-z0-9]{1,10})['\"]|((?:/|\./|\.\./)\S+)", text)
    return (found.group(1) or found.group(2)).rstrip(".,:;") if found else None


def is_program_start(error):
    """By subprocess, or by one of os's functions that streams wraps."""
    places = [(frame.f_code.co_filename, frame.f_code.co_name) for frame in frames_of(error)[:3]]
    return places[:1] == [(streams.__file__, "call")] or any(file.endswith("/subprocess.py") and name == "_execute_child" for file, name in places)


def is_of_a_pool(error):
    """Whether what makes pools of processes raised it itself, not a task of theirs."""
    cause = BaseException.__dict__["__cause__"].__get__(error)
    if errors.name_of(cause) in ("RemoteTraceback", "_RemoteTraceback"):
        return False
    files = (frame.f_code.co_filename for frame in frames_of(error))
    innermost = next((file for file in files if not errors.is_machinery(file)), "")
    return any(part in innermost for part in _POOL_FOLDERS)


def can_start_programs():
    """Where the policy allows it an empty path is merely not found."""
    try:
        _execv("", ["none"])
    except OSError as error:
        return error.errno != errno.EPERM


def called(error):
    """The function whose call failed, as its line names it: "os.chroot", or "chmod" of something longer; "" where that cannot be told."""
    text = errors.failing_text(error)
    if len(text) > 1000:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes in the text
            tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return ""
    function = tree.func if isinstance(tree, ast.Call) else None
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return f"{function.value.id}.{function.attr}"
    return getattr(function, "attr", getattr(function, "id", ""))


def is_unreadable(path):
    """Whether a path that exists cannot be read. Only files and folders are tried: to open a pipe or a device may do something."""
    try:
        if os.path.isfile(path):
            os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
        elif os.path.isdir(path):
            os.scandir(path).close()
        else:
            return os.path.exists(path) and not os.access(path, os.R_OK)
    except PermissionError:
        return True
    except (OSError, ValueError):
        pass
    return False


# --- data files -------------------------------------------------------------------------------------------------------------------


def file_being_read(error):
    """The file that a reader was at: its path stands in a local of one of the frames."""
    for frame in frames_of(error):
        if type(frame.f_locals) is not dict:
            continue  # of a class that is being made: it may be the user's
        for name in ("filepath_or_buffer", "path_or_buf", "io", "path", "filename", "file", "handle", "f"):
            value = _path_of(frame.f_locals.get(name))
            if type(value) is str and len(value) < 4096 and "\n" not in value and os.path.isfile(value):
                return value
    return None


def _path_of(value):
    """The path or the opened file's name; only of the standard library's own types, whose parts may be the user's."""
    if type(value) is pathlib.PosixPath:
        return str(value)
    try:
        if type(value) is io.TextIOWrapper:
            value = value.buffer
        if type(value) is io.BufferedReader:
            value = value.raw
    except ValueError:
        return None  # detached
    return value.name if type(value) is io.FileIO else value


def undecodable(error, data, at):
    """(bytes, path) for what a decoder stopped at: of the file's start, where a reader's frame tells which file it was."""
    if type(data) is not bytes:
        return b"", None
    path = file_being_read(error)
    if path:
        try:
            with open(path, "rb") as file:
                start = file.read(text_encoding.FILE_BYTES_MAX)
                if data[max(at - 50, 0) : at + 50] in start:
                    return start, path
                if len(start) < text_encoding.FILE_BYTES_MAX:
                    path = None  # another file
        except OSError:
            path = None
    return data[max(at - SNIFF_BYTES, 0) : at + SNIFF_BYTES], path


def csv_advice(path):
    """How to read a file whose lines have different numbers of fields: its separator, or the line where its table starts."""
    try:
        with open(path, "rb") as file:
            data = file.read(SNIFF_BYTES)
    except OSError:
        return ""
    try:
        text = data.decode("utf-8-sig", "strict" if len(data) < SNIFF_BYTES else "ignore")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = text.splitlines()[:200]
    best = max(((_regularity(lines, sep), sep) for sep in ",;\t|"), default=((0, 0, 0), ","))
    (share, width, first), separator = best
    name = os.path.basename(path)
    if width < 2:
        return f"{name} does not look like a table with a separator; look at its first lines with open({path!r}).readlines()[:5]."
    if separator != ",":
        return f"{name} seems to be separated by {separator!r}: pass sep={separator!r}{f', skiprows={first}' if first else ''}."
    if first:
        return f"The table in {name} seems to start at line {first + 1}: pass skiprows={first}."
    return f"Most lines of {name} have {width} fields, some have more: pass on_bad_lines='skip', or quote the fields that contain {separator!r}."


def _regularity(lines, separator):
    """(share of lines with the commonest number of fields, that number, first line that has it)."""
    counts = []
    for row in csv.reader(lines, delimiter=separator):
        counts.append(len(row))
    wide = [count for count in counts if count > 1]
    if not wide:
        return 0, 0, 0
    width = max(set(wide), key=wide.count)
    return wide.count(width) / len(counts), width, counts.index(width)

