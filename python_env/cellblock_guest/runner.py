# Runs one cell. Cells that need none of IPython's syntax take a short path (parse, compile and exec each statement, as IPython's
# run_cell does, with its namespace, compiler, history, events and display hook, in a fraction of the time); all others go through
# IPython. A test runs many cells both ways: no difference may be seen. Worker only; the cell is untrusted, and runs with all of the
# worker's rights.

import ast
import re
import sys

from IPython.core.autocall import IPyAutocall
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult
from IPython.core.macro import Macro

from . import errors, figures, hints, interrupts, own_builtins, processes, session, streams

_FIRST_WORD = re.compile(r"[\w.*]+")
_FEATURES = ("await", "async", "__future__", ">>>", "...:", "In [", "# PYTHON-MODE")  # texts that IPython may read in its own way
_ESCAPES = "%!?,;/"
_SPECIAL_OBJECTS = (Macro, IPyAutocall)


class Runner:
    """Runs cells on the shell; one instance."""

    def __init__(self, shell):
        self.shell = shell
        self.short_path = True  # a test turns it off
        self.traits = shell._trait_values
        self.events = shell.events
        self.line_magics = shell.magics_manager.magics["line"]
        self.lazy_magics = shell.magics_manager.lazy_magics
        self.transformer = shell.input_transformer_manager
        self.checkers = len(shell.prefilter_manager._checkers)
        self.compile = shell.compile
        self.hook = shell.displayhook
        self.trap = shell.display_trap

    # --- the short path -------------------------------------------------------------------------------------------------------

    def is_plain(self, code):
        """Whether IPython would change nothing in the cell, provided that it parses."""
        for feature in _FEATURES:
            if feature in code:
                return False
        first = code.lstrip()[:1]
        if not first or first in _ESCAPES:
            return False
        shell, transformer = self.shell, self.transformer
        if shell.input_transformer_manager is not transformer or not transformer.is_own():
            return False
        traits = self.traits  # read here, not as attributes: that costs a microsecond each
        if traits.get("input_transformers_post") or traits.get("ast_transformers") or shell.ast_node_interactivity != "last_expr":
            return False
        if shell.trio_runner or shell.custom_exceptions or (shell._logger is not None and shell._logger.log_active):
            return False
        newline = code.find("\n")
        if newline != -1 and newline != len(code) - 1 and len(code.strip().splitlines()) > 1:
            return True
        return self._is_plain_line(code)

    def _is_plain_line(self, code):
        """A cell of one line may also be a magic without its %, a macro, or `exit`."""
        shell, prefilter = self.shell, self.shell.prefilter_manager
        if self.traits.get("autocall") or len(prefilter._checkers) != self.checkers or prefilter._transformers:
            return False
        match = _FIRST_WORD.match(code.lstrip())
        if match is None:
            return True
        word = match.group()
        if word in self.line_magics or word in self.lazy_magics:
            return word in shell.user_ns or word in shell.ns_table["builtin"]
        return not issubclass(type(shell.user_ns.get(word)), _SPECIAL_OBJECTS)

    def run(self, code):
        """Runs the cell; what ended it is in shell.cell_error afterwards."""
        if self.short_path and self.is_plain(code) and self._run_short(code):
            return
        self.shell.run_cell(code, store_history=True)

    def _run_short(self, code):
        """False when the cell does not parse: then IPython's path has the word (it may be its syntax), and nothing has happened yet."""
        shell, compiler = self.shell, self.compile
        count = shell.execution_count
        source = code if code.endswith("\n") else code + "\n"
        name = compiler.cache(source, count, code)
        single = self._compile_single(source, name)
        if single is None:
            try:
                body = compile(source, name, "exec", compiler.flags | ast.PyCF_ONLY_AST, True).body
            except Exception:
                compiler.cell_name = ""  # not named yet, for the other path
                return False
        info = ExecutionInfo(code, True, False, True, None, None, transformed_cell=source)
        result = ExecutionResult(info)
        result.execution_count = count
        shell.execution_count = count + 1
        events = self.events
        try:
            events.trigger("pre_execute")
            events.trigger("pre_run_cell", info)
            shell.history_manager.store_inputs(count, source, code)
            if single is not None:
                self._run_code(single, result)
            else:
                self._run_nodes(body, name, result)
            shell.last_execution_result = result
        finally:
            events.trigger("post_execute")
            events.trigger("post_run_cell", result)
        return True

    def _compile_single(self, source, name):
        """A one-line statement without blocks needs no detour by its syntax tree."""
        if source.find("\n") != len(source) - 1 or ";" in source or ":" in source:
            return None
        try:
            return compile(source, name, "single", self.compile.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
        except Exception:
            return None

    def _run_code(self, code, result):
        shell, hook, trap = self.shell, self.hook, self.trap
        hook.exec_result = result
        failed = True
        trap.__enter__()  # sets sys.displayhook for the cell, also when it runs cells itself
        try:
            failed = self._exec(code, result)
        finally:
            trap.__exit__(None, None, None)
            shell.last_execution_succeeded = not failed
            hook.exec_result = None

    def _run_nodes(self, body, name, result):
        """Statement by statement, as IPython does: an error in compiling one comes after the ones before it have run."""
        shell, hook, trap = self.shell, self.hook, self.trap
        flags = self.compile.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        hook.exec_result = result
        last = body[-1] if body and type(body[-1]) is ast.Expr else None
        failed = True
        trap.__enter__()
        try:
            failed = self._run_each(body, last, name, flags, result)
        finally:
            trap.__exit__(None, None, None)
            shell.last_execution_succeeded = not failed
            hook.exec_result = None

    def _run_each(self, body, last, name, flags, result):
        """True when a statement failed."""
        for node in body:
            try:
                if node is last:
                    code = compile(ast.Interactive([node]), name, "single", flags, True)
                else:
                    code = compile(ast.Module([node], []), name, "exec", flags, True)
            except Exception as error:
                result.error_before_exec = error
                self.shell.showtraceback((type(error), error, None))
                return True
            if self._exec(code, result):
                return True
        return False

    def _exec(self, code, result):
        shell = self.shell
        try:
            hook, sys.excepthook = sys.excepthook, shell.excepthook
            shell.executing += 1
            try:
                exec(code, shell.user_ns)
            finally:
                shell.executing -= 1
                sys.excepthook = hook
        except BaseException as error:
            result.error_in_exec = error
            shell.showtraceback((type(error), error, None))
            return True
        return False


# --- one call -------------------------------------------------------------------------------------------------------------------


def run_call(runner, code, options):
    """Runs one cell from start to end; returns (status, exit code). The figures are shown and the error is sent before it returns."""
    shell, gate = runner.shell, interrupts.gate
    if "\r" in code:
        code = code.replace("\r\n", "\n").replace("\r", "\n")
    shell.cell_error = None
    shell.executing = 0
    shell.compile.begin_cell(code, options.get("file_name") or "")
    figures.begin_call()
    processes.begin_call()
    interrupts.install()
    gate.pending = False
    try:
        gate.open = True
        runner.run(code)
        gate.open = False
    except BaseException as error:  # an interrupt that fell between the user's code and our bookkeeping
        gate.open = False
        shell.fail(error)
    own_builtins.check()
    shell.executing = 0
    figures.end_call(shell)
    error, shell.cell_error = shell.cell_error, None
    if error is None:
        return "ok", None
    return _report(shell, error)


def _report(shell, error):
    if issubclass(type(error), SystemExit):
        return "exited", _exit_code(error)
    session.emit("error", errors.report(error, hints.hint_for(error, shell)))
    if issubclass(type(error), MemoryError):
        errors.release(error)
    return ("interrupted" if issubclass(type(error), KeyboardInterrupt) else "error"), None


def _exit_code(error):
    """As the interpreter's: None is 0, a number itself, anything else is printed and means 1."""
    try:
        code = error.code
        if code is None:
            return 0
        if isinstance(code, int):
            return ((int(code) + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
        streams.write_stderr(f"{code}\n")
    except Exception:
        pass
    return 1
