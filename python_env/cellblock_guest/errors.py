# Turns an exception into what the user reads: a traceback in CPython's own format with only the user's frames (and a few of the
# libraries'), name and value cut at limits, and the place in the submitted code. Runs in the worker on exceptions that user code
# made, so every access may raise; whatever happens, a report comes out.

import codeop
import itertools
import os
import traceback

from . import own_builtins, streams

VALUE_BYTES_MAX = 60_000  # an error's frame holds four texts of 60 KiB
TRACEBACK_BYTES_MAX = 60_000
LINE_CHARACTERS_MAX = 4000  # of one traceback line; a one-line cell of a megabyte must not be repeated in its error
_GROUPS_MAX = 40  # different frames shown of one traceback
_GROUPS_HEAD, _GROUPS_TAIL = 15, 20
_CYCLE_MAX, _CYCLE_TURNS_MIN = 8, 4  # frames in a turn of functions calling each other, and how many turns are worth folding
_LIBRARY_RUN_MAX = 6  # library frames in a row that are shown whole
_LIBRARY_HEAD, _LIBRARY_TAIL = 2, 3

_OWN_FOLDERS = [os.path.dirname(os.path.abspath(__file__)) + os.sep]


def hide_folder(folder):
    """Frames of files under this folder are machinery and are left out (ours, IPython's; codeop compiles for both)."""
    _OWN_FOLDERS.append(folder.rstrip(os.sep) + os.sep)


def is_machinery(filename):
    return filename.startswith(tuple(_OWN_FOLDERS)) or filename == codeop.__file__


def is_library(filename):
    return "/site-packages/" in filename or "/dist-packages/" in filename or "/lib/python3" in filename or filename.startswith("<frozen ")


def cut(text, limit, what="text"):
    """Text cut in its middle so that its UTF-8 form stays within limit; says how much is missing."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= limit:
        return data.decode("utf-8")
    note = f"\n… [{what} cut: {len(data):,} bytes, limit {limit:,}] …\n"
    room = max(limit - len(note.encode()), 0)
    head = data[: room * 2 // 3].decode("utf-8", "ignore")
    tail = data[len(data) - room // 3 :].decode("utf-8", "ignore")
    return head + note + tail


_type_name = type.__dict__["__name__"].__get__
_traceback = BaseException.__dict__["__traceback__"]


def name_of(error):
    """The class's own name, whatever its metaclass says."""
    return _type_name(type(error))


def traceback_of(error):
    """The traceback, whatever attribute look-up the class has."""
    return _traceback.__get__(error)


def release(error):
    """Lets go of the frames of a MemoryError and of what led to it: what filled the memory is in them."""
    for _ in range(16):
        if error is None:
            return
        _traceback.__set__(error, None)
        error = BaseException.__dict__["__context__"].__get__(error)


def value_of(error):
    try:
        return cut(str(error), VALUE_BYTES_MAX, "message")
    except Exception:
        return f"<{name_of(error)}: its str() raised>"


class _Trimmed(traceback.StackSummary):
    """Frames with left-out runs: elements are FrameSummary or a string to print as it is."""

    def format(self):
        result, part = [], traceback.StackSummary()
        for item in self:
            if isinstance(item, str):
                result += part.format() + [item]
                part = traceback.StackSummary()
            else:
                part.append(item)
        return result + part.format()


def _left_out(count, what):
    return f"  … {count} {what} left out …\n"


def _trim(stack):
    """The user's frames, library runs shortened, long stacks cut in the middle; None when no frame is left."""
    groups = []  # runs of the same frame and line: recursion counts as one
    for frame in _as_submitted(stack):
        if is_machinery(frame.filename):
            continue
        key = (frame.filename, frame.lineno, frame.name)
        if groups and groups[-1][0] == key:
            groups[-1][1].append(frame)
        else:
            groups.append((key, [frame]))
    if not groups:
        return None
    items, run = [], []
    for key, frames in _fold_cycles(groups):
        if key is None:  # a note on folded frames
            items += _shorten_library_run(run) + [frames]
            run = []
            continue
        if is_library(key[0]):
            run.append(frames)
            continue
        items += _shorten_library_run(run) + [frames]
        run = []
    items += _shorten_library_run(run)
    if len(items) > _GROUPS_MAX:
        middle = items[_GROUPS_HEAD:-_GROUPS_TAIL]
        count = sum(1 if isinstance(item, str) else len(item) for item in middle)
        items = items[:_GROUPS_HEAD] + [_left_out(count, "frames")] + items[-_GROUPS_TAIL:]
    trimmed = _Trimmed()
    for item in items:
        if isinstance(item, str):
            trimmed.append(item)
        else:
            trimmed.extend(item)
    return trimmed


def _fold_cycles(groups):
    """Functions that call each other in turn (a, b, a, b, …): the first turn is kept, the others are counted."""
    folded, index = [], 0
    while index < len(groups):
        for period in range(2, _CYCLE_MAX + 1):
            turns = 1
            first = [key for key, _ in groups[index : index + period]]
            while [key for key, _ in groups[index + turns * period : index + (turns + 1) * period]] == first:
                turns += 1
            if turns >= _CYCLE_TURNS_MIN:
                folded += groups[index : index + period]
                folded.append((None, f"  [Previous {period} frames repeated {turns - 1} more times]\n"))
                index += turns * period
                break
        else:
            folded.append(groups[index])
            index += 1
    return folded


def _as_submitted(stack):
    """Code that a cell magic compiled by itself appears at its place in the cell, and the magic's own call does not."""
    aliases = _sources.aliases if _sources is not None else None
    if not aliases or not any(frame.filename in aliases for frame in stack):
        return stack
    name, frames = _sources.cell_name, []
    for frame in stack:
        shift = aliases.get(frame.filename)
        if shift is not None:
            frame = traceback.FrameSummary(
                name, frame.lineno + shift, frame.name, lookup_line=False,
                end_lineno=frame.end_lineno and frame.end_lineno + shift, colno=frame.colno, end_colno=frame.end_colno,
            )
        elif frame.filename == name and frame.lineno == _sources.magic_line:
            continue
        frames.append(frame)
    return frames


def _shorten_library_run(run):
    if len(run) <= _LIBRARY_RUN_MAX:
        return run
    middle = run[_LIBRARY_HEAD:-_LIBRARY_TAIL]
    return run[:_LIBRARY_HEAD] + [_left_out(sum(map(len, middle)), "library frames")] + run[-_LIBRARY_TAIL:]


def _trim_all(report):
    """Trims the exception and all that it was raised from, caused by or groups; without recursion (chains may be long)."""
    todo, seen = [report], set()
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if one.stack is not None:
            one.stack = _trim(one.stack)
        if getattr(one, "filename", None) is not None and one.text is None:
            _add_line(one)
        todo += [one.__cause__, one.__context__, *(one.exceptions or ())]


def _add_line(report):
    """An error that the compiler finds after parsing (return outside of a function) has no line with it unless its file is on disk."""
    shift = _shifts().get(report.filename)
    lines = _sources.lines_of(report.filename if shift is None else _sources.cell_name) if _sources is not None else ()
    number = int(report.lineno or 0) + (shift or 0)
    if not 0 < number <= len(lines):
        return
    line = report.text = lines[number - 1]
    ends_there = report.end_lineno == report.lineno and report.end_offset
    indent = _sources.column_shift if report.filename == _sources.cell_name else 0
    report.end_offset = _characters(line, report.end_offset, indent) if ends_there else len(line.rstrip()) + 1
    report.offset = report.offset and _characters(line, report.offset, indent)


def _characters(line, offset, indent=0):
    """A column of the submitted line, from 1 and in characters, of a column that the compiler gave: in bytes, without indentation."""
    return len(line.encode("utf-8", "surrogatepass")[: offset - 1 + indent].decode("utf-8", "ignore")) + 1


def _shifts():
    """{code name: lines to add} of the running cell and its parts."""
    return {_sources.cell_name: 0, **_sources.aliases} if _sources is not None else {}


def _cut_lines(text):
    lines = text.split("\n")
    if any(len(line) > LINE_CHARACTERS_MAX for line in lines):
        lines = [line if len(line) <= LINE_CHARACTERS_MAX else f"{line[:LINE_CHARACTERS_MAX]} … [{len(line):,} characters]" for line in lines]
    return "\n".join(lines)


def _format(error):
    _restore_sources()
    report = traceback.TracebackException(type(error), error, traceback_of(error), lookup_lines=False, compact=True)
    _trim_all(report)
    return "".join(report.format()).rstrip("\n")


def _format_with_own_builtins(error):
    """The text, if it was builtins which a cell replaced that failed; "" if it was the exception's own code."""
    values = own_builtins.replaced()
    if not values:
        return ""
    try:
        own_builtins.restore(own_builtins.originals(values))
        text = _format(error)
    except Exception:
        own_builtins.restore(values)
        return ""
    own_builtins.restore(values)
    own_builtins.put_back()
    return text


def text_of(error):
    """The traceback text, as CPython would print it, trimmed. Never raises, except for an interrupt."""
    if name_of(error) == "UsageError" and type(error).__module__ == "IPython.core.error":
        return f"UsageError: {value_of(error)}"
    try:
        text = _format(error)
    except Exception as problem:
        text = _format_with_own_builtins(error) or f"{name_of(error)}: {value_of(error)}\n(traceback left out: formatting it raised {name_of(problem)})"
    return cut(_cut_lines(text), TRACEBACK_BYTES_MAX, "traceback")


_sources = None


def set_sources(compiler):
    """The compiler that knows the cells' texts, names and aliases."""
    global _sources
    _sources = compiler


def _restore_sources():
    if _sources is not None:
        _sources.restore()


def position(error):
    """(line, column) from 1 in the submitted code: of a syntax error in it, else of its deepest frame; (0, 0) when unknown."""
    try:
        cell = _sources.cell_name
        shifts = _shifts()
        if issubclass(type(error), SyntaxError) and error.filename in shifts and error.lineno:
            line, column = int(error.lineno) + shifts[error.filename], max(int(error.offset or 0), 0)
            lines = _sources.lines_of(cell)
            if error.text is None and column and 0 < line <= len(lines):
                indent = _sources.column_shift if error.filename == cell else 0
                column = _characters(lines[line - 1], column, indent) - indent
            return line, column
        found, tb = None, traceback_of(error)
        while tb is not None:
            if tb.tb_frame.f_code.co_filename in shifts:
                found = tb
            tb = tb.tb_next
        if found is None:
            return 0, 0
        code = found.tb_frame.f_code
        line, _, column, _ = traceback._get_code_position(code, found.tb_lasti)
        line = (line or found.tb_lineno or 0) + shifts[code.co_filename]
        lines = _sources.lines_of(cell)
        if column is None or not 0 < line <= len(lines) or lines[line - 1].lstrip()[:1] in ("%", "!", "?"):
            return line, 0
        return line, len(lines[line - 1].encode()[:column].decode("utf-8", "replace")) + 1
    except Exception:
        return 0, 0


def failing_text(error):
    """What the innermost frame was at, as it is written there; "" where that cannot be told or takes several lines."""
    last = traceback_of(error)
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or _sources is None:
        return ""
    code, shifts = last.tb_frame.f_code, _shifts()
    name = code.co_filename
    line, end_line, column, end_column = traceback._get_code_position(code, last.tb_lasti)
    if line is None or line != end_line or column is None:
        return ""
    if is_library(name):
        text, indent = _line_on_disk(name, line), 0
    else:
        lines = _sources.lines_of(_sources.cell_name if name in shifts else name)
        line += shifts.get(name, 0)
        text, indent = lines[line - 1] if 0 < line <= len(lines) else "", _sources.column_shift if name == _sources.cell_name else 0
    return text.encode("utf-8", "surrogatepass")[column + indent : end_column + indent].decode("utf-8", "replace")


def _line_on_disk(path, number):
    """Not by linecache, which asks loaders."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next(itertools.islice(file, number - 1, number), "")
    except OSError:
        return ""


def thread_excepthook(arguments):
    """For threading.excepthook: the interpreter's own cannot show the lines of cells."""
    if arguments.exc_type is SystemExit or arguments.exc_value is None:
        return
    name = getattr(arguments.thread, "name", None) or "?"
    streams.write_stderr(f"Exception in thread {name}:\n{text_of(arguments.exc_value)}\n")


def report(error, hint):
    """The fields of an error event."""
    try:
        line, column = position(error)
        column = column and column + _sources.column_shift
        return {"name": name_of(error), "value": value_of(error), "traceback": text_of(error), "hint": hint, "line": line, "column": column}
    except MemoryError:
        return {"name": name_of(error), "value": "", "traceback": name_of(error), "hint": hint, "line": 0, "column": 0}
