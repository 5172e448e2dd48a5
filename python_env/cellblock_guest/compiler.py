# Compiles cells and keeps their sources: names them "Cell In[3]" (or by the caller's file name), puts the text where tracebacks and
# inspect.getsource find it, and reads IPython's special syntax without moving lines. Used by both paths of a cell, so that they
# name and number alike. Zygote and worker; the sources are user code, kept within a bound.

import collections
import linecache
import re
import tokenize
import warnings

from IPython.core import inputtransformer2 as transformer
from IPython.core.compilerop import CachingCompiler

SOURCES_MAX = 2000  # cells whose source tracebacks can show
SOURCE_BYTES_MAX = 16 << 20
_ODD_LINE_ENDS = re.compile("[\x1c\x1d\x1e\x85\u2028\u2029]")  # ends of lines to str.splitlines, not to Python


class GuestCompiler(CachingCompiler):
    """IPython's compiler without its "incomplete input" mode: a cell is complete, so its errors are CPython's own."""

    def __init__(self):
        super().__init__()
        self.flags = 0
        self.forget()

    def forget(self):
        """As new: no cell was compiled yet."""
        self.file_name = ""  # given by the caller for the cell that runs now
        self.raw_cell = ""  # that cell as submitted
        self.cell_name = ""
        self.column_shift = 0  # indentation that was taken from each of its lines
        self.magic_line = 0  # where its cell magic stands, if it is one
        self.aliases = {}  # code name -> lines to add, for parts of the cell that a magic compiled by itself
        self._nested = 0
        self._sources = collections.OrderedDict()
        self._bytes = 0

    def reset_compiler_flags(self):
        self.flags = 0

    def begin_cell(self, raw_cell, file_name):
        self.raw_cell = raw_cell
        self.file_name = file_name
        self.cell_name = ""
        self.column_shift = 0
        self.magic_line = 0
        self._nested = 0
        if self.aliases:
            self.aliases = {}
        if "%%" not in raw_cell:
            return
        text = raw_cell.lstrip()
        if text.startswith("%%"):  # blank lines may stand above it
            self.magic_line = raw_cell[: len(raw_cell) - len(text)].count("\n") + 1
            if text.startswith("%%time"):
                self.aliases = {"<timed exec>": self.magic_line, "<timed eval>": self.magic_line}

    def _body(self):
        """The lines under the running cell's own magic."""
        return self.raw_cell.split("\n", self.magic_line)[-1] if self.magic_line else None

    def is_body(self, text):
        """Whether text is what the running cell's own magic (%%capture) was given to run."""
        body = self._body()
        return body is not None and body.strip("\n") == text.strip("\n")

    def cache(self, transformed_code, number=0, raw_code=None):
        if not self.cell_name:
            name = self.cell_name = self.file_name or f"Cell In[{number}]"
            text = transformed_code
            if raw_code is not None and raw_code is not transformed_code:
                text = self._as_submitted(raw_code, transformed_code)
        else:  # a magic or user code runs a cell inside the cell
            self._nested += 1
            name, text = f"{self.cell_name}, nested {self._nested}", transformed_code
            if self.is_body(text):
                body = self._body()
                self.aliases[name] = self.magic_line + _blank_lines(body) - _blank_lines(text)
        self._filename_map[name] = number
        self._keep(name, text)
        return name

    def _as_submitted(self, raw, transformed):
        """Tracebacks show the lines as the user wrote them, where these are the same lines."""
        same = raw.rstrip("\n").count("\n") == transformed.rstrip("\n").count("\n")
        return raw if same or self.magic_line else transformed

    def _keep(self, name, text):
        lines = [text] if text.find("\n") == len(text) - 1 else [line + "\n" for line in text.split("\n")]
        entry = (len(text), None, lines, name)
        old = self._sources.pop(name, None)
        self._bytes += len(text) - (old[0] if old is not None else 0)
        self._sources[name] = entry
        linecache.cache[name] = entry
        while len(self._sources) > SOURCES_MAX or (self._bytes > SOURCE_BYTES_MAX and len(self._sources) > 1):
            gone, dropped = self._sources.popitem(last=False)
            self._bytes -= dropped[0]
            linecache.cache.pop(gone, None)
            self._filename_map.pop(gone, None)

    def lines_of(self, name):
        entry = self._sources.get(name)
        return entry[2] if entry is not None else []

    def restore(self):
        """Puts the sources back into linecache, if user code cleared it."""
        cache = linecache.cache
        for name, entry in self._sources.items():
            if name not in cache:
                cache[name] = entry


def _blank_lines(text):
    return len(text) - len(text.lstrip("\n"))


# --- IPython's syntax, without moving lines ----------------------------------------------------------------------------------


def _keeping_lines(cls):
    """The token transformer cls, padded so that a command continued over several lines still takes as many lines."""

    class Padded(cls):
        def transform(self, lines):
            result = super().transform(lines)
            missing = len(lines) - len(result)
            if missing > 0:
                result = result[: self.start_line + 1] + ["\n"] * missing + result[self.start_line + 1 :]
            return result

    Padded.__name__ = Padded.__qualname__ = cls.__name__
    return Padded


class GuestTransformerManager(transformer.TransformerManager):
    """IPython's, except that blank lines at the top stay (line numbers are those of the submitted code) and that text is dedented
    only when its first line is indented (dedenting always would change blank lines inside strings)."""

    def __init__(self):
        super().__init__()
        self.line_shift = 0  # lines that had to be taken from the top of the last cell
        self.column_shift = 0  # indentation taken from each of its lines
        self.cleanup_transforms = [self._leading_empty_lines, self._leading_indent, transformer.classic_prompt, transformer.ipython_prompt]
        self.token_transformers = [_keeping_lines(cls) for cls in self.token_transformers]
        self.own = (list(self.cleanup_transforms), list(self.line_transforms), list(self.token_transformers))

    def is_own(self):
        """Nobody added or removed transformations."""
        return (self.cleanup_transforms, self.line_transforms, self.token_transformers) == self.own

    def _leading_empty_lines(self, lines):
        self.line_shift = self.column_shift = 0
        first = 0
        while first < len(lines) and lines[first].isspace():
            first += 1
        if 0 < first < len(lines) and (lines[first].startswith("%%") or not any(line.strip() for line in lines[first + 1 :])):
            self.line_shift = first
            return lines[first:]
        return lines

    def _leading_indent(self, lines):
        for index, line in enumerate(lines):
            if not line.isspace():
                if line[0] in " \t":
                    dedented = transformer.leading_indent(lines)
                    self.column_shift = len(line) - len(dedented[index])
                    return dedented
                return lines
        return lines

    def transform_cell(self, cell):
        try:
            if _ODD_LINE_ENDS.search(cell):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # IPython's tokenizer warns of such lines, with its own
                    return super().transform_cell(cell)
            return super().transform_cell(cell)
        except (tokenize.TokenError, IndentationError):
            return cell if cell.endswith("\n") else cell + "\n"  # not even tokens: the compiler says why
