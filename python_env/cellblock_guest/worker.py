# The two calls that the embedding C++ makes in a worker: start() once, after the fork and before any user code, and run() for each
# cell. run() never raises, whatever user code did to builtins, sys or our own modules' state. In the zygote: prepare().

import os
import sys
import threading

from . import environment, errors, inspection, interrupts, libraries, own_builtins, processes, reseed, runner, session, streams, values, zygote

_runner = None
_namespace = _hidden = None  # of the shell, as it was made: its attributes are the user's to replace


def prepare(options):
    """In the zygote: what start() does for a session that asks for nothing special and that no process of its own is needed for. Who is
    told the same again after the fork changes nothing, and so copies few pages."""
    _attach(zygote.shell())
    _apply(options)


def start(emit, options):
    """Makes this process a session of its own: fresh randomness, streams, environment and an empty namespace. A worker that is made ahead
    of its session is started once more when that is known, with what it asks for."""
    shell = zygote.shell()
    if not session.current.pid:
        _set_up(shell, options.get("seed"))
    elif options.get("seed") is not None:
        reseed.reseed(options["seed"])
    session.current.emit_function = emit
    session.current.options = dict(options)
    _apply(options)
    shell.history_manager.dir_hist[:] = [os.getcwd()]


def _apply(options):
    environment.set_up(options)
    libraries.apply_options(options)
    values.apply_options(options)


def _set_up(shell, seed):
    """What is the same whoever the session is for."""
    if _runner is None:
        _attach(shell)
    reseed.reseed(seed)
    environment.find_place()
    streams.set_up()
    session.watch_forks()
    interrupts.install()


def _attach(shell):
    processes.set_up(shell)
    if "" not in sys.path:
        sys.path.insert(0, "")  # modules that were uploaded to the workspace
    threading.excepthook = errors.thread_excepthook
    _serve(shell)


def _serve(shell):
    global _runner, _namespace, _hidden
    _runner, _namespace, _hidden = runner.Runner(shell), shell.user_ns, shell.user_ns_hidden


def forget_rehearsal():
    """After a cell that was run to no end but to have run one: as if it had not been."""
    zygote.forget(zygote.names_at_rest)
    session.current.forget_calls()
    _serve(zygote.shell())


def run(code, options):
    """Runs one cell. Returns status, exit_code and the number of live Python threads beside the main one."""
    if options.get("inspect"):
        return _inspect(options["inspect"], code)
    status, exit_code, threads = "error", None, 0
    try:
        current = session.current
        current.call = options.get("call") or 0
        current.cells_run += 1
        current.in_call = True
        current.last_called_something = current.called_something
        streams.begin_call(current.called_something)
        current.called_something = "(" in code or "import" in code or "%" in code or "!" in code
        environment.set_arguments(options)
        with environment.variables_of_call(options):
            status, exit_code = runner.run_call(_runner, code, options)
    except BaseException as error:
        own_builtins.check()
        own_builtins.put_back()
        status = _salvage(error)
    finally:
        interrupts.gate.open = False
        if session.current.in_child or os.getpid() != session.current.pid:
            _leave_child(status, exit_code)
    try:
        streams.flush_all()
        session.end_call()
        threads = streams.end_call(session.current.call)
    except BaseException:
        session.current.in_call = False
    return {"status": status, "exit_code": exit_code, "threads": threads}


def _inspect(question, argument):
    """Answers a question between two cells; nothing of it stays in the namespace, the history or the counters."""
    done = {"status": "ok", "exit_code": None, "threads": 0}
    try:
        if question == "variables":
            inspection.list_variables(_namespace, _hidden)
            return done
        session.current.in_call = True
        inspection.run(question, argument)
    except BaseException as error:
        session.current.in_call = True
        done["status"] = _salvage(error)
    try:
        streams.flush_all()
        session.end_call()
    except BaseException:
        session.current.in_call = False
    return done


def _salvage(error):
    """Our own code failed (out of memory, a builtin that user code replaced): say so as plainly as can be."""
    try:
        fields = {"name": type(error).__name__, "value": str(error)[:1000], "traceback": "", "hint": "", "line": 0, "column": 0}
        fields["traceback"] = f"{fields['name']}: {fields['value']}"
        session.emit("error", fields)
    except BaseException:
        pass
    return "interrupted" if issubclass(type(error), KeyboardInterrupt) else "error"


def _leave_child(status, exit_code):
    """A process that user code forked and let run to the end of the cell: it must not go on to serve the session's channel."""
    try:
        streams.flush_all()
    finally:
        os._exit((exit_code or 0) & 0xFF if status in ("ok", "exited") else 1)
