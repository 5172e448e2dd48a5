# Runs one cell. Cells that need none of IPython's syntax take a short path (parse, compile and exec each statement, as IPython's
# run_cell does, with its namespace, compiler, history, events and display hook, in a fraction of the time); all others go through
# IPython. A test runs many cells both ways: no difference may be seen. Worker only; the cell is untrusted, and runs with all of the
# worker's rights.

import ast
import re
import sys

from IPython.core.autocall import IPyAutocall
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell
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
        self.namespace = shell._user_ns
        self.traits = shell._trait_values
        self.events = shell.events
        self.callbacks = shell.events.callbacks
        self.usual_pre_execute = list(self.callbacks["pre_execute"])
        self.usual_post_execute = list(self.callbacks["post_execute"])
        self.line_magics = shell.magics_manager.magics["line"]
        self.lazy_magics = shell.magics_manager.lazy_magics
        self.transformer = shell.input_transformer_manager
        self.interactivity = InteractiveShell.__dict__["ast_node_interactivity"]
        self.checkers = len(shell.prefilter_manager._checkers)
        self.compile = shell.compile
        self.history = shell.history_manager
        self.hook = shell.displayhook
        self.trap = shell.display_trap

    # --- the short path -------------------------------------------------------------------------------------------------------

    def is_plain(self, code):
        """Whether IPython would change nothing in the cell, provided that it parses."""
        for feature in _FEATURES:
            if feature in code:
                return False
        stripped = code.strip()
        if not stripped or stripped[0] in _ESCAPES or not self._is_usual():
            return False
        if "\n" in stripped and len(stripped.splitlines()) > 1:
            return True
        return self._is_plain_line(stripped)

    def _is_usual(self):
        """Nobody has changed how cells are read. Traits are read where traitlets keeps them: as attributes they cost a microsecond each."""
        shell, get = self.shell, self.traits.get
        return not (
            get("input_transformers_post")
            or get("ast_transformers")
            or get("ast_node_interactivity", "last_expr") != "last_expr"
            or InteractiveShell.__dict__.get("ast_node_interactivity") is not self.interactivity
            or get("input_transformer_manager") is not self.transformer
            or not self.transformer.is_own()
            or shell._user_ns is not self.namespace
            or shell.trio_runner
            or shell.custom_exceptions
            or (shell._logger is not None and shell._logger.log_active)
        )

    def _is_plain_line(self, line):
        """A cell of one line may also be a magic without its %, a macro, or `exit`."""
        shell, prefilter = self.shell, self.shell.prefilter_manager
        if self.traits.get("autocall") or len(prefilter._checkers) != self.checkers or prefilter._transformers:
            return False
        match = _FIRST_WORD.match(line)
        if match is None:
            return True
        word = match.group()
        if word in self.line_magics or word in self.lazy_magics:
            return word in self.namespace or word in shell.ns_table["builtin"]
        value = self.namespace.get(word)
        return value is None or not issubclass(type(value), _SPECIAL_OBJECTS)

    def run(self, code):
        """Runs the cell; what ended it is in shell.cell_error afterwards."""
        if self.short_path and self.is_plain(code) and self._run_short(code):
            return
        self.shell.run_cell(code, store_history=True)

    def _run_short(self, code):
        """False when the cell does not parse: then IPython's path has the word (it may be its syntax), and nothing has happened yet."""
        shell, compiler, events, callbacks = self.shell, self.compile, self.events, self.callbacks
        count = shell.execution_count
        source = code if code[-1] == "\n" else code + "\n"
        name = compiler.cache(source, count)
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
        try:
            if callbacks["pre_execute"] == self.usual_pre_execute:
                self.namespace.pop("__warningregistry__", None)  # all that the usual callback does
            else:
                events.trigger("pre_execute")
            if callbacks["pre_run_cell"]:
                events.trigger("pre_run_cell", info)
            self.history.store_inputs(count, source, code)
            if single is not None:
                self._run_code(single, result)
            else:
                self._run_nodes(body, name, result)
            shell.last_execution_result = result
        finally:
            if callbacks["post_execute"] != self.usual_post_execute or figures.are_open():
                events.trigger("post_execute")
            if callbacks["post_run_cell"]:
                events.trigger("post_run_cell", result)
        return True

    def _compile_single(self, source, name):
        """A one-line statement without blocks needs no detour by its syntax tree."""
        if ":" in source or ";" in source or source.find("\n") != len(source) - 1:
            return None
        try:
            return compile(source, name, "single", self.compile.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True)
        except Exception:
            return None

    def _run_code(self, code, result):
        failed = True
        old_hook = self._set_hook(result)
        try:
            failed = self._exec(code, result)
        finally:
            self._unset_hook(old_hook, failed)

    def _set_hook(self, result):
        """As IPython's display trap, which cells that run cells go on to use: sys.displayhook is ours for the cell."""
        hook, trap = self.hook, self.trap
        hook.exec_result = result
        trap.old_hook = old_hook = sys.displayhook
        trap._nested_level = 1
        sys.displayhook = hook
        return old_hook

    def _unset_hook(self, old_hook, failed):
        sys.displayhook = old_hook
        self.trap._nested_level = 0
        self.hook.exec_result = None
        self.shell.last_execution_succeeded = not failed

    def _run_nodes(self, body, name, result):
        """Statement by statement, as IPython does: an error in compiling one comes after the ones before it have run."""
        flags = self.compile.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        last = body[-1] if body and type(body[-1]) is ast.Expr else None
        failed = True
        old_hook = self._set_hook(result)
        try:
            failed = self._run_each(body, last, name, flags, result)
        finally:
            self._unset_hook(old_hook, failed)

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
                exec(code, self.namespace)
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
    if shell.cell_error is not None and own_builtins.broke_the_runner(shell.cell_error, shell.compile._filename_map):
        own_builtins.put_back()
    shell.executing = 0
    if not session.current.in_child:
        figures.end_call(shell)
    error, shell.cell_error = shell.cell_error, None
    if error is None:
        return "ok", None
    return _report(shell, error)


def _report(shell, error):
    if issubclass(type(error), SystemExit):
        return "exited", _exit_code(error)
    if session.current.in_child:  # forked by the cell: it has no record that the error could stand in
        streams.write_stderr(errors.text_of(error) + "\n")
        return "error", None
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
