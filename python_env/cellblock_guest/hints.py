# A sentence or two that say how to repair an error: near names, files that are there, what is installed, which limit or rule it was.
# Models repair from these. Worker. Never runs user code: attributes are read from exact library types or through object's own access,
# and whatever goes wrong here gives no hint instead of an error.

import builtins
import errno
import os
import sys

from . import commands, errors, hint_data, session, text_encoding
from .names import listed, near

HINT_CHARACTERS_MAX = 600
_NETWORK_OFF = "The network is off in this session; work with uploaded files and the installed packages."
_NETWORK_LIMITED = "This session reaches only the hosts that its policy allows, by their names and each on its ports (network.allow)."
# Whether an installer would help.
_WHY_NOT = {
    "off": " and cannot be: the network is off.",
    "rules": " and cannot be: the policy has no package index (network.packages).",
    "packages": "; %pip install gets it, if the index has it.",
}
_NOBODY_LISTENS = "Nothing listens there: 127.0.0.1, localhost and 0.0.0.0 are this session's own."
_NETWORK_ERRORS = {
    "gaierror", "herror", "URLError", "ConnectionError", "ConnectionRefusedError", "ConnectTimeout", "NewConnectionError", "MaxRetryError",
    "ConnectError", "NameResolutionError", "ServerNotFoundError", "HTTPError", "HTTPStatusError", "ConnectTimeoutError", "SSLError", "ClientConnectorError",
}
_NETWORK_MODULES = {"socket", "urllib", "urllib3", "requests", "httpx", "httpcore", "aiohttp", "http", "builtins", "ssl"}
# Of those that take a path.
_CALLS_REFUSED = {"chroot", "chown", "lchown", "mknod", "mount", "umount", "pivot_root"}
_CALLS_THAT_WRITE = {"open", "write", "truncate", "ftruncate", "unlink", "remove", "rmdir", "rename", "replace", "mkdir", "link", "symlink", "chmod", "fchmod", "utime"}


def hint_for(error, shell):
    """The hint for what ended a cell; "" when there is none."""
    try:
        text = _hint(error, shell) or ""
    except Exception:
        return ""
    return text if len(text) <= HINT_CHARACTERS_MAX else text[: HINT_CHARACTERS_MAX - 1] + "…"


def _get(error, name):
    """An attribute that the interpreter's own exception classes have, without running a property of a subclass."""
    for cls in type.__getattribute__(type(error), "__mro__"):
        slot = cls.__dict__.get(name) if cls.__module__ == "builtins" else None
        if slot is not None:
            try:
                return slot.__get__(error)
            except Exception:
                return None
    return None


def _hint(error, shell):
    kind = type.__getattribute__(type(error), "__name__")
    module = str(type.__getattribute__(type(error), "__module__")).partition(".")[0]
    for test, make in _RULES:
        if test(error, kind, module):
            text = make(error, shell)
            if text:
                return text
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and kind not in ("KeyError", "NameError", "AttributeError") and module != "__main__":
        name = type.__getattribute__(type(cause), "__name__")
        if name in _NETWORK_ERRORS:
            return _network(cause, shell)
    return ""


# --- names ------------------------------------------------------------------------------------------------------------------------


def _module_not_found(error, shell):
    name = _get(error, "name")
    if not isinstance(name, str):
        return ""
    top = name.partition(".")[0]
    installed = hint_data.modules()
    if top in installed or top in sys.modules:
        return _import_hint(error, shell, name)
    known = hint_data.ALTERNATIVES.get(top.lower())
    close = near(top, set(installed) | set(commands.distributions()) | set(hint_data.standard_modules()))
    parts = [f"{top!r} is not installed" + _WHY_NOT.get(session.current.options.get("network", "off"), ".")]
    own = hint_data.find_file(f"{top}.py")
    if own:
        parts = [f"There is {own!r}: sys.path.insert(0, {os.path.dirname(own)!r}) before the import finds it."]
    if close:
        modules = [installed_module(c, installed) for c in close]
        parts.append(f"Near names that are there: {listed(dict.fromkeys(modules))}.")
    if known:
        parts.append(f"Use {known} instead.")
    elif not close and not own:
        parts.append("A module of your own must be handed in (cellblock run: --file).")
        parts.append(f"Installed: {listed(sorted(hint_data.notable(installed)), 25)}.")
    return " ".join(parts)


def installed_module(name, installed):
    """The name to import of a module or distribution."""
    if name in installed:
        return name
    return hint_data.module_of_distribution(name) or name


def _import_hint(error, shell, name):
    """`from m import n` with a wrong n, or a submodule that is not there."""
    module = sys.modules.get(name) or sys.modules.get(name.partition(".")[0])
    wanted = str(_get(error, "msg") or "")
    if "cannot import name" in wanted:
        missing = wanted.split("'")[1] if "'" in wanted else ""
        names = [n for n in vars(module) if not n.startswith("_")] if module is not None else []
        close = near(missing, names)
        return f"{name} has no {missing!r}; near names in it: {listed(close)}." if close else ""
    if module is None or "." not in name:
        return ""
    parent, _, missing = name.rpartition(".")
    folder = getattr(sys.modules.get(parent), "__path__", None)
    if not folder:
        return ""
    names = {entry.partition(".")[0] for entry in os.listdir(list(folder)[0]) if not entry.startswith("_")}
    close = near(missing, names)
    return f"{parent} has no module {missing!r}; near names: {listed(close)}." if close else ""


def _name_error(error, shell):
    name = _get(error, "name")
    if not isinstance(name, str):
        return ""
    parts = []
    local = hint_data.frame_names(error)
    names = [n for n in [*local, *shell.user_ns] if isinstance(n, str) and not n.startswith("_")]
    names += [n for n in dir(builtins) if not n.startswith("_")]
    close = near(name, dict.fromkeys(names))
    if name in hint_data.COMMON_IMPORTS:
        parts.append(f"Run {hint_data.COMMON_IMPORTS[name]!r} first.")
    elif close:
        parts.append(f"Did you mean {' or '.join(repr(c) for c in close[:2])}?")
    if session.current.call > session.current.cells_run and session.current.cells_run <= 50:
        parts.append("The session was restarted after an earlier call, which lost its variables and imports: run those cells again.")
    return " ".join(parts)


def _attribute_error(error, shell):
    name, owner = _get(error, "name"), _get(error, "obj")
    if not isinstance(name, str):
        return ""
    if owner is None:
        return hint_data.none_hint(error) if "'NoneType'" in str(error.args[:1]) else ""
    names = hint_data.attribute_names(owner)
    moved = hint_data.REMOVED.get((hint_data.qualified_type(owner), name))
    if moved:
        return moved
    if hint_data.is_data_frame(owner):
        columns = hint_data.columns_of(owner)
        close = near(name, columns)
        if close:
            return f"No column or attribute {name!r}; near columns: {listed(map(repr, close))}."
    close = near(name, names)
    return f"Did you mean {' or '.join(repr(c) for c in close[:2])}?" if close else ""


def _key_error(error, shell):
    if not error.args:
        return ""
    key = error.args[0]
    found = hint_data.keyed_object(error)
    if found is None:
        return ""
    what, names = found
    keys = [str(k) for k in (key if type(key) in (list, tuple) else [key])][:20]
    if type(key) is str and " not in index" in key or "are in the [" in str(key)[:2000]:
        keys = hint_data.quoted(key)
    missing = [k for k in keys if k not in names]
    close = list(dict.fromkeys(c for k in missing[:5] for c in near(k, names, 2)))
    if close:
        return f"No such {what}; did you mean {listed(map(repr, close), 6)}? There are: {listed(map(repr, names), 15)}."
    return f"No such {what}; there are: {listed(map(repr, names), 25)}."


# --- files ------------------------------------------------------------------------------------------------------------------------


def _file_not_found(error, shell):
    path = _get(error, "filename")
    if not isinstance(path, (str, bytes)):
        path = hint_data.path_in_message(error)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if not path:
        return ""
    if hint_data.is_program_start(error):
        return f"There is no program {path!r} here, and none can be installed."
    folder, name = os.path.split(path)
    folder = folder or "."
    if not os.path.isdir(folder):
        wanted = os.path.basename(path)
        found = hint_data.find_file(wanted)
        where = f" A file of that name is at {found!r}." if found else ""
        return f"The folder {folder!r} does not exist.{where} {hint_data.workspace_listing()}".strip()
    names = hint_data.folder_names(folder)
    close = near(name, names)
    if close:
        return f"No file {name!r} in {folder!r}; did you mean {' or '.join(repr(os.path.join(folder, c) if folder != '.' else c) for c in close[:2])}?"
    found = f"it holds {listed(map(repr, sorted(names)), 20)}" if names else "it is empty"
    ask = "" if names else " Files must be handed in first (cellblock run: --file)."
    return f"No file {name!r} in {'the working folder' if folder == '.' else repr(folder)}; {found}.{ask}"


def _os_error(error, shell):
    code = _get(error, "errno")
    home = os.environ.get("HOME") or "/workspace"
    path = _get(error, "filename")
    if code in (errno.EACCES, errno.EPERM) and hint_data.is_program_start(error):
        return _program_refused(code, path)
    if code == errno.EPERM:
        return _not_permitted(error, path, home)
    if code in (errno.EROFS, errno.EACCES) and isinstance(path, (str, bytes)):
        return _refused(code, os.fsdecode(path), home)
    if code in (errno.ENOSPC, errno.EDQUOT):
        return f"The session's disk space (bytes or number of files) is used up: delete files in {home} or /tmp, or write less."
    if code == errno.EFBIG:
        return "The file would pass the session's limit on the size of one file: write less, or in several files."
    if code == errno.EAGAIN and "fork" in str(error).lower() or "can't start new thread" in str(error):
        return "The session's limit on processes and threads is reached: end some, or use fewer workers."
    if code in (errno.ENETUNREACH, errno.EAFNOSUPPORT, errno.EHOSTUNREACH) or code == errno.EACCES and _comes_from(error, "socket.py"):
        return _network(error, shell)
    if code == errno.EMFILE:
        return "Too many open files: close them, best with `with open(...)`."
    return ""


def _program_refused(code, path):
    if code == errno.EPERM:
        return "Starting programs is off in this policy (languages.subprocesses): do it in Python itself."
    what = repr(os.fsdecode(path)) if isinstance(path, (str, bytes)) else "The program"
    return f"{what} cannot be run here: it is not marked as executable (os.chmod), or programs in its folder may not run. Run a script by its interpreter."


def _helper_refused(error, shell):
    """The worker or helper dies as soon as it is forked, and each library sees something else of that."""
    if session.current.helper_call != session.current.call or not hint_data.is_of_a_pool(error) or hint_data.can_start_programs():
        return ""
    return ("Starting programs is off in this policy (languages.subprocesses), and this would start its workers or a helper as programs. What forks or uses threads works: "
            "joblib and scikit-learn with n_jobs=1 or in `with joblib.parallel_config(backend='threading')`, "
            "multiprocessing.get_context('fork') for pools and as mp_context of a ProcessPoolExecutor, ThreadPoolExecutor.")


def _refused(code, path, home):
    """Whether it was reading or writing is not in the error; reading can be tried."""
    if code != errno.EROFS and hint_data.is_unreadable(path):
        return f"{path!r} is there but cannot be read in this session, which sees its own files in {home} and /tmp and the installed packages."
    return f"{path!r} cannot be written here; write to {home} (files there are kept and returned) or to /tmp (private)."


def _not_permitted(error, path, home):
    """EPERM is mostly the call's, whatever its arguments are; but a file that is another's or immutable gives it, too."""
    name = hint_data.called(error)
    function = name.rpartition(".")[2]
    if isinstance(path, (str, bytes)) and function not in _CALLS_REFUSED:
        path = os.fsdecode(path)
        if function in _CALLS_THAT_WRITE:
            return _refused(errno.EPERM, path, home)
        return f"Not permitted in a session: either this call at all, or to change {path!r}. Files can be written in {home} and /tmp."
    if not name and errors.failing_text(error).startswith("raise") or function in _CALLS_THAT_WRITE:
        return ""
    if function == "mmap":
        return ("Shared memory without a file is not permitted here, where no control group would count it: map a file in /dev/shm "
                "(multiprocessing.shared_memory does), or use mmap.MAP_PRIVATE. A file there cannot be mapped as code (mmap.PROT_EXEC).")
    what = f"{name}()" if name and not function.startswith("_") else "This call"
    return (f"{what} is not permitted in a session: users, owners, roots, mounts, devices, the machine's settings, a higher priority "
            "and processes other than its own are out of its reach. Do without it.")


def _comes_from(error, file_name):
    """Whether it was raised by a call that the standard library's file makes."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    return innermost is not None and os.path.basename(innermost.tb_frame.f_code.co_filename) == file_name


def _network(error, shell):
    if session.current.options.get("network", "off") == "off":
        return _NETWORK_OFF
    words = str(error.args[:3])[:2000]
    if "Connection refused" in words:
        return _NOBODY_LISTENS
    # A server's own answer (404, 500) is none of the policy's; the proxy's says whose it is.
    answered = type.__getattribute__(type(error), "__name__") in ("HTTPError", "HTTPStatusError")
    return "" if answered and "Cellblock" not in words else _NETWORK_LIMITED


# --- data -------------------------------------------------------------------------------------------------------------------------


def _memory_error(error, shell):
    limit = int(session.current.options.get("memory_bytes") or 0)
    words = f"The session's memory limit{f' of {limit / (1 << 20):,.0f} MiB' if limit else ''} may have been reached"
    if not any(frame.f_code.co_name == "<module>" for frame in hint_data.frames_of(error)):
        return f"The cell did not run: its code may be nested too deeply for the parser; less likely, {words[:1].lower()}{words[1:]}."
    return f"An allocation failed. {words}: read fewer columns or rows (usecols, nrows, chunksize), use smaller dtypes, or del what is no longer needed. Variables are kept."


def _unicode_error(error, shell):
    if not isinstance(error, UnicodeDecodeError):
        return ""
    data, path = hint_data.undecodable(error, _get(error, "object"), _get(error, "start"))
    names, sure = text_encoding.guesses(data)
    what = f"{os.path.basename(path)} is" if path else "The bytes are"
    if not names:
        return f"{what} no text in any usual encoding: perhaps binary or compressed." if data else ""
    name, whole = names[0], text_encoding.reads(data, names[0])
    if str(_get(error, "encoding")).lower().replace("_", "-").replace("utf8", "utf-8") == name:
        whole = False  # it was tried: what is broken stands further on
    advice = f"Pass encoding={name!r}" + ("." if whole else ", and encoding_errors='replace' (open: errors='replace') for some bytes that are broken.")
    if name.startswith("utf-"):
        return f"{what} {name.upper()}. {advice}"
    said = [f"{n} ({listed(map(repr, words))})" if words else n for n, words in zip(names, text_encoding.readings(data, names))]
    if sure:
        return f"{what} not UTF-8 but, by the letters, {said[0]}. {advice}"
    return f"{what} not UTF-8; probably {', or '.join(said)}: look at the letters. {advice}"


def _parser_error(error, shell):
    path = hint_data.file_being_read(error)
    advice = hint_data.csv_advice(path) if path else ""
    return advice or "The lines do not all have the same number of fields: check sep, quotechar and skiprows, or pass on_bad_lines='skip'."


def _broken_pool(error, shell):
    return ("A worker process ended abruptly. If the pool was made in an earlier call: worker processes are ended with the call that started them "
            "(keep_processes in the policy), so make the pool in the call that uses it. Else it was often killed for memory, or could not import "
            "what it was given: use fewer workers or smaller inputs, or run the function without the pool to see its error.")


def _eof(error, shell):
    return "There is nobody to answer: input() and stdin have nothing to read here. Set the value in the code, or pass it as an argument or file."


def _runtime(error, shell):
    text = str(error.args[0]) if error.args and type(error.args[0]) is str else ""
    if "asyncio.run() cannot be called from a running event loop" in text or "This event loop is already running" in text:
        return "This cell uses top-level await, so a loop is already running: write `await f()` instead of asyncio.run(f())."
    if text == "no running event loop":
        return "No event loop runs outside of top-level await: start the task and await it in one cell, as in `await asyncio.create_task(f())`."
    if "can't start new thread" in text:
        return "The session's limit on processes and threads is reached: end some, or use fewer workers."
    return ""


def _syntax(error, shell):
    text = _get(error, "text")
    if isinstance(text, str) and text.lstrip().startswith("```"):
        return "The code starts with a Markdown fence: send the code alone, without ```."
    if isinstance(text, str) and any(mark in text for mark in "“”‘’"):
        return "The line has typographic quotes: use ' or \"."
    return ""


def _debugger(error, shell):
    return "There is no interactive debugger here: print the values instead, or use %tb for the last traceback."



def _is(*names):
    return lambda error, kind, module: kind in names


_RULES = (
    (lambda e, k, m: isinstance(e, ModuleNotFoundError), _module_not_found),
    (lambda e, k, m: isinstance(e, ImportError), lambda e, s: _import_hint(e, s, _get(e, "name") or "")),
    (lambda e, k, m: isinstance(e, NameError), _name_error),
    (lambda e, k, m: isinstance(e, AttributeError), _attribute_error),
    (lambda e, k, m: isinstance(e, KeyError), _key_error),
    (lambda e, k, m: isinstance(e, (OSError, EOFError, ZeroDivisionError, RuntimeError)), _helper_refused),
    (lambda e, k, m: isinstance(e, (FileNotFoundError, NotADirectoryError)), _file_not_found),
    (lambda e, k, m: k in _NETWORK_ERRORS and m in _NETWORK_MODULES, _network),
    (lambda e, k, m: isinstance(e, OSError), _os_error),
    (lambda e, k, m: isinstance(e, MemoryError), _memory_error),
    (lambda e, k, m: isinstance(e, UnicodeError), _unicode_error),
    (_is("ParserError"), _parser_error),
    (_is("BrokenProcessPool", "TerminatedWorkerError"), _broken_pool),
    (lambda e, k, m: isinstance(e, EOFError), _eof),
    (lambda e, k, m: isinstance(e, RuntimeError), _runtime),
    (lambda e, k, m: isinstance(e, SyntaxError), _syntax),
    (_is("BdbQuit"), _debugger),
)
