# The one InteractiveShell of a guest: IPython's semantics without its terminal, files, database and threads. Made in the zygote;
# each worker uses its own copy. Errors of the running cell are kept for the runner to report; errors that user code asks to be shown
# (get_ipython().showtraceback(), a repr that raises) go to stderr as text.

import asyncio
import builtins
import contextlib
import fnmatch
import sys
import types

import IPython
from IPython.core import async_helpers
from IPython.core.autocall import ExitAutocall
from IPython.core.events import EventManager, available_events
from IPython.core.interactiveshell import InteractiveShell
from traitlets import default, observe
from traitlets.config import Config

from . import compiler, display, errors, history, streams, values

_LOOP_CANCEL_SECONDS = 0.5  # for a top-level await that was interrupted to wind up


class GuestExit(ExitAutocall):
    """exit and quit: end the cell, not the session."""

    def __call__(self, code=None, **_):
        raise SystemExit(code)

    def __repr__(self):
        return "Use exit() to end the cell. The session and its variables stay."


class MemoryDB(dict):
    """What %store, %bookmark and %alias keep between cells; this session only."""

    def keys(self, glob=None):
        return [key for key in super().keys() if glob is None or fnmatch.fnmatch(key, glob)]


class GuestEvents(EventManager):
    """Callbacks that raise are shown on stderr and do not make the cell fail."""

    def register(self, event, function):
        if getattr(function, "__module__", None) == "matplotlib.pyplot":
            return  # asks for a redraw after each cell in interactive mode, for windows
        super().register(event, function)

    def unregister(self, event, function):
        if getattr(function, "__module__", None) != "matplotlib.pyplot":
            super().unregister(event, function)

    def trigger(self, event, *args, **kwargs):
        callbacks = self.callbacks[event]
        if not callbacks:
            return
        shell = self.shell
        shell.executing += 1
        try:
            for function in callbacks[:]:
                try:
                    function(*args, **kwargs)
                except (Exception, KeyboardInterrupt):
                    if self.print_on_error:
                        streams.write_stderr(f"Error in callback {values.safe_repr(function)} (for {event}):\n")
                    shell.showtraceback()
        finally:
            shell.executing -= 1


class GuestShell(InteractiveShell):
    """See the file's head. `executing` counts user code on the stack; `cell_error` is what ended the running cell."""

    executing = 0
    cell_error = None
    # Plain attributes where IPython has traits: nothing observes them, and a trait costs a microsecond each time.
    execution_count = 1
    last_execution_succeeded = True
    last_execution_result = None
    history_manager = None
    magics_manager = None
    prefilter_manager = None
    display_formatter = None
    display_pub = None
    displayhook = None
    _is_body = False  # the cell being run inside the running one is the body of its cell magic
    compiler_class = compiler.GuestCompiler
    displayhook_class = display.GuestDisplayHook
    display_pub_class = display.GuestDisplayPublisher

    # --- set-up: nothing on disk, no threads -------------------------------------------------------------------------------

    def init_ipython_dir(self, ipython_dir):
        self.ipython_dir = "/tmp/.ipython"  # named, never made

    @observe("ipython_dir")
    def _ipython_dir_changed(self, change):
        pass

    def init_profile_dir(self, profile_dir):
        self.profile_dir = None

    def init_virtualenv(self):
        pass

    def init_history(self):
        self.history_manager = history.GuestHistory(self)
        self.configurables.append(self.history_manager)
        self.db = MemoryDB(rootmodules_cache={})

    def init_events(self):
        self.events = GuestEvents(self, available_events)
        self.events.register("pre_execute", self._clear_warning_registry)

    def _clear_warning_registry(self):
        self._user_ns.pop("__warningregistry__", None)

    def init_display_formatter(self):
        self.display_formatter = display.GuestFormatter(parent=self)
        self.display_formatter.prepare()
        self.configurables.append(self.display_formatter)

    def init_traceback_handlers(self, custom_exceptions):
        super().init_traceback_handlers(custom_exceptions)
        errors.hide_folder(IPython.__path__[0])
        errors.set_sources(self.compile)

    @default("exiter")
    def _exiter_default(self):
        return GuestExit(self)

    def init_user_ns(self):
        super().init_user_ns()
        del self.user_ns["open"]  # IPython's refuses descriptors 0-2; here they are pipes like any other
        self.user_ns_hidden.pop("open", None)

    def init_builtins(self):
        """What is to be found everywhere, threads and imported modules included, is put there once and not per cell."""
        super().init_builtins()
        builtins.get_ipython = self.get_ipython
        builtins.exit = builtins.quit = self.exiter
        self.builtin_trap.auto_builtins = {}

    def init_logstart(self):
        pass

    def atexit_operations(self):
        pass  # a worker ends by _exit; a forked child of user code must not tidy up for its parent

    # --- output ---------------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _tee(self, channel):
        yield  # IPython keeps a copy of all output here; the supervisor has it already

    def _format_exception_for_storage(self, exception, filename=None, running_compiled_code=False):
        return {"ename": errors.name_of(exception), "evalue": "", "traceback": []}

    def _remember(self, error):
        """sys.last_*, which %tb and %debug read. Not for MemoryError: its frames would keep what filled the memory alive."""
        keep = error is not None and not issubclass(type(error), (MemoryError, SystemExit))
        sys.last_type, sys.last_value, sys.last_traceback = (type(error), error, errors.traceback_of(error)) if keep else (None, None, None)

    def showtraceback(self, exc_tuple=None, filename=None, tb_offset=None, exception_only=False, running_compiled_code=False):
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        if error is None:
            error = getattr(sys, "last_value", None)
        if error is None:
            streams.write_stderr("No traceback available to show.\n")
            return
        if self.executing:
            if self._is_body or issubclass(type(error), (SystemExit, KeyboardInterrupt)):
                return  # run_cell raises it
            text = f"{errors.name_of(error)}: {errors.value_of(error)}" if exception_only else errors.text_of(error)
            streams.write_stderr(text + "\n")
        else:
            self.fail(error)

    def showsyntaxerror(self, filename=None, running_compiled_code=False):
        self.showtraceback()

    def showindentationerror(self):
        self.showtraceback()

    def excepthook(self, etype, value, tb):
        if isinstance(value, BaseException):
            streams.write_stderr(errors.text_of(value) + "\n")
        elif value is not None:
            sys.__excepthook__(etype, value, tb)

    def show_usage_error(self, exc):
        streams.write_stderr(f"UsageError: {errors.value_of(exc)}\n")

    def fail(self, error):
        """The running cell ended by this. An interrupt beats what it made of the cell's own clean-up."""
        if self.cell_error is None or issubclass(type(error), KeyboardInterrupt):
            self.cell_error = error
        self._remember(error)

    # --- running ----------------------------------------------------------------------------------------------------------------

    def ask_exit(self):
        raise SystemExit(0)

    def transform_cell(self, raw_cell):
        """Blank lines that had to be taken from the top are put back: line numbers are those of the submitted code."""
        cell = super().transform_cell(raw_cell)
        manager = self.input_transformer_manager
        if not self.executing:
            self.compile.column_shift = getattr(manager, "column_shift", 0)
        return "\n" * getattr(manager, "line_shift", 0) + cell

    def should_run_async(self, raw_cell, *, transformed_cell=None, preprocessing_exc_tuple=None):
        """IPython compiles each cell once more to find out, which shows its syntax warnings twice."""
        if not self.autoawait or preprocessing_exc_tuple is not None or transformed_cell is None:
            return False
        if "await" not in transformed_cell and "async" not in transformed_cell:
            return False
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return async_helpers._should_be_async(transformed_cell)

    def run_cell(self, raw_cell, *args, **kwargs):
        """Also what user code and cell magics call inside a running cell: exit and interrupts end the outer cell too, and the body of
        a cell magic (%%capture) fails as the cell itself would."""
        if not self.executing:
            return super().run_cell(raw_cell, *args, **kwargs)
        outer = self._is_body
        self._is_body = self.compile.is_body(raw_cell)
        try:
            result = super().run_cell(raw_cell, *args, **kwargs)
            error = result.error_before_exec or result.error_in_exec
            if error is not None and (self._is_body or issubclass(type(error), (SystemExit, KeyboardInterrupt))):
                raise error
            return result
        finally:
            self._is_body = outer

    async def run_code(self, code_obj, result=None, *, async_=False):
        """Runs one statement's code; True when it failed. As IPython's, with the error kept instead of printed."""
        error = None
        try:
            hook, sys.excepthook = sys.excepthook, self.excepthook
            self.executing += 1
            try:
                if async_:
                    await eval(code_obj, self.user_global_ns, self.user_ns)
                else:
                    exec(code_obj, self.user_global_ns, self.user_ns)
            finally:
                self.executing -= 1
                sys.excepthook = hook
        except self.custom_exceptions as caught:
            if result is not None:
                result.error_in_exec = caught
            self.CustomTB(*sys.exc_info())
            return True
        except BaseException as caught:
            error = caught
        if error is None:
            return False
        if result is not None:
            result.error_in_exec = error
        self.showtraceback((type(error), error, None))
        return True

    runcode = run_code

    def enable_gui(self, gui=None):
        pass

    def system_piped(self, cmd):
        from . import commands

        commands.system(self, self.var_expand(cmd, depth=1))

    system = system_raw = system_piped

    def enable_matplotlib(self, gui=None):
        """Charts are always shown as images at the end of the cell; there is no window to open."""
        from . import figures

        return figures.enable(gui)

    def find_line_magic(self, magic_name):
        return self.magics_manager.find("line", magic_name)


def _run_in_loop(coroutine):
    """Runs a cell with top-level await on the session's loop; when interrupted, the cell's task is cancelled and not left behind."""
    loop = async_helpers.get_asyncio_loop()
    task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    except BaseException:
        if not task.done() and not loop.is_closed():
            task.cancel()
            with contextlib.suppress(BaseException):
                loop.run_until_complete(asyncio.wait([task], timeout=_LOOP_CANCEL_SECONDS))
        raise


def create():
    """Makes the shell, and the `__main__` module that cells run in. Once a process, in the zygote."""
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    config = Config()
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.enable_tip = False
    config.InteractiveShell.show_rewritten_input = False
    config.InteractiveShell.autoawait = True
    config.InteractiveShell.display_page = True
    config.InteractiveShell.cache_size = history.ENTRIES_MAX
    config.IPCompleter.use_jedi = False
    shell = GuestShell.instance(config=config, user_module=main, parent=None)
    shell.input_transformer_manager = compiler.GuestTransformerManager()
    shell.loop_runner = _run_in_loop
    return shell
