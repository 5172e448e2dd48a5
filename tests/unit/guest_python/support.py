# Drives the guest's Python side as the supervisor and the C++ worker do: one zygote in this process, a forked worker for each
# session, pipes for descriptors 1 and 2 that are drained before an event is acknowledged. Test code; trusts the code it runs.

import json
import os
import pickle
import re
import select
import signal
import socket
import struct
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
ENVIRONMENT = os.environ.get("CELLBLOCK_PYTHON_ENV") or os.path.join(ROOT, "build", "python_env", "full")
SITE_PACKAGES = os.path.join(ENVIRONMENT, "site-packages")
PRELOAD = ["numpy", "pandas", "matplotlib.pyplot", "IPython"]
OPTIONS = {
    "seed": None, "environment": {"LANG": "C.UTF-8"}, "table_width": 240, "table_columns": 100, "figure_dpi": 100, "figure_svg": False,
    "cpus": 2, "memory_bytes": 2 << 30, "time_zone": "UTC",
}
CALL_SECONDS = 120

sys.dont_write_bytecode = True
sys.path[:] = [entry for entry in sys.path if "dist-packages" not in entry]
sys.path += [SITE_PACKAGES, os.path.join(ROOT, "python_env")]
_zygote = None


def zygote():
    """The loaded zygote; one for the whole test process."""
    global _zygote
    if _zygote is None:
        if not os.path.isdir(SITE_PACKAGES):
            raise RuntimeError(f"no Python environment at {ENVIRONMENT}: build it with tools/setup/build-python-env or set CELLBLOCK_PYTHON_ENV")
        from cellblock_guest import forks

        forks.keep()
        from cellblock_guest import worker, zygote as module

        module.preload(PRELOAD)
        module.warm_up()
        unknown = module.audit_generators()
        if unknown:
            raise RuntimeError(f"generators that nobody reseeds: {unknown}")
        own = dict(os.environ)
        worker.prepare(dict(OPTIONS, environment={"LANG": "C.UTF-8", "HOME": "/workspace", "MPLCONFIGDIR": "/tmp/.cellblock-cache/matplotlib"}))
        own["PYTHONPATH"] = os.environ["PYTHONPATH"]
        os.environ.clear()
        os.environ.update(own)  # of programs that tests start
        module.freeze()
        _zygote = module
    return _zygote


class Outcome:
    """What one call gave: events in order, as (kind, content); streams as whole texts."""

    def __init__(self):
        self.events = []
        self.status = None
        self.exit_code = None
        self.threads = None
        self.seconds = 0.0

    def _text(self, stream):
        return "".join(content for kind, content in self.events if kind == stream)

    @property
    def stdout(self):
        return self._text("stdout")

    @property
    def stderr(self):
        return self._text("stderr")

    def of(self, kind):
        return [content for k, content in self.events if k == kind]

    @property
    def error(self):
        errors = self.of("error")
        return errors[-1] if errors else None

    @property
    def result(self):
        """text/plain of the cell's value."""
        results = self.of("result")
        return results[-1]["mime"]["text/plain"] if results else None

    @property
    def images(self):
        return [c["mime"]["image/png"] for k, c in self.events if k in ("display", "result") and "image/png" in c["mime"]]

    def bundle(self, kind="result", index=-1):
        return self.of(kind)[index]["mime"]

    def kinds(self):
        return [kind for kind, _ in self.events]


class Session:
    """One worker. Use as a context manager; its folder is its working directory."""

    def __init__(self, short_path=True, folder=None, stdin=None, **options):
        zygote()
        self._temporary = tempfile.TemporaryDirectory(prefix="guest-") if folder is None else None
        self.folder = folder or self._temporary.name
        self._channel, theirs = socket.socketpair()
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._channel.close()
            os.close(out_read)
            os.close(err_read)
            _work(theirs, out_write, err_write, self.folder, short_path, {**OPTIONS, **options})
        theirs.close()
        os.close(out_write)
        os.close(err_write)
        self._pipes = {out_read: "stdout", err_read: "stderr"}
        self.call = 0
        self.late = []
        for fd in self._pipes:
            os.set_blocking(fd, False)
        kind, content = _receive(self._channel)
        if kind != "ready":
            raise RuntimeError(f"worker did not start: {content}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
            self._channel.close()
            for fd in self._pipes:
                os.close(fd)
        if self._temporary is not None:
            self._temporary.cleanup()

    def run(self, code, interrupt_after=None, seconds=CALL_SECONDS, **options):
        """Runs a cell to its end. interrupt_after: SIGINT to the worker after so many seconds."""
        self.call += 1
        outcome = Outcome()
        self._drain(None)
        started = time.monotonic()
        _send(self._channel, ("run", code, {"file_name": "", "arguments": [], "call": self.call, **options}))
        deadline = started + seconds
        while True:
            now = time.monotonic()
            if interrupt_after is not None and now >= started + interrupt_after:
                os.kill(self.pid, signal.SIGINT)
                interrupt_after = None
            if now > deadline:
                raise TimeoutError(f"no answer after {seconds} s: {code[:200]!r}; events so far {outcome.events}")
            wait = min(deadline - now, (started + interrupt_after - now) if interrupt_after is not None else deadline - now)
            ready, _, _ = select.select([self._channel, *self._pipes], [], [], max(wait, 0))
            if self._channel in ready:
                kind, content = _receive(self._channel)
                self._drain(outcome)
                if kind == "done":
                    outcome.status, outcome.exit_code, outcome.threads = content["status"], content["exit_code"], content["threads"]
                    outcome.seconds = time.monotonic() - started
                    return outcome
                if kind != "sync":
                    outcome.events.append((kind, _decoded(kind, content)))
                _send(self._channel, "ack")
            elif ready:
                self._drain(outcome, reads=4)  # a fast writer would keep us from looking at the clock

    def ask(self, expression):
        """Evaluates an expression in the worker outside any cell, and returns its value (picklable)."""
        _send(self._channel, ("eval", expression, None))
        kind, content = _receive(self._channel)
        if kind != "value":
            raise RuntimeError(content)
        return content

    def _drain(self, outcome, reads=1 << 20):
        for fd, name in self._pipes.items():
            for _ in range(reads):
                try:
                    data = os.read(fd, 1 << 16)
                except BlockingIOError:
                    break
                if not data:
                    break
                text = data.decode("utf-8", "replace")
                if outcome is None:
                    self.late.append((name, text))
                elif outcome.events and outcome.events[-1][0] == name:
                    outcome.events[-1] = (name, outcome.events[-1][1] + text)
                else:
                    outcome.events.append((name, text))


def _decoded(kind, content):
    """The bundle as {mime: str or bytes}; checks what every event must hold."""
    if "mime" not in content:
        return content
    bundle = {}
    for mime, data, flags in content["mime"]:
        assert isinstance(data, bytes), mime
        bundle[mime] = data.decode("utf-8") if flags & 1 else data
        if flags & 2:
            json.loads(bundle[mime], parse_constant=_refuse)
    assert content["mime"][0][0] == "text/plain", "text/plain comes first"
    return {"mime": bundle, "metadata": json.loads(content["metadata"], parse_constant=_refuse), "display_id": content["display_id"]}


def _refuse(constant):
    raise ValueError(f"not strict JSON: {constant}")


def _send(channel, message):
    data = pickle.dumps(message)
    channel.sendall(struct.pack("<I", len(data)) + data)


def _receive(channel):
    data = b""
    while len(data) < 4:
        data += _some(channel, 4 - len(data))
    (size,) = struct.unpack("<I", data)
    data = b""
    while len(data) < size:
        data += _some(channel, size - len(data))
    return pickle.loads(data)


def _some(channel, count):
    part = channel.recv(count)
    if not part:
        raise EOFError("the worker is gone")
    return part


def _work(channel, out, err, folder, short_path, options):
    """The child: what the C++ worker does, without its locks."""
    code = 1
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        high = os.dup(channel.fileno())
        channel.detach()
        os.closerange(3, high)
        os.closerange(high + 1, 256)
        channel = socket.socket(fileno=os.dup2(high, 3, inheritable=False))
        os.close(high)
        os.chdir(folder)
        from cellblock_guest import worker

        def emit(kind, fields):
            _send(channel, (kind, fields))
            if kind != "error":
                assert _receive(channel) == "ack"
            else:
                _receive(channel)

        worker.start(emit, options)
        worker._runner.short_path = short_path
        _send(channel, ("ready", None))
        while True:
            kind, text, call_options = _receive(channel)
            if kind == "run":
                _send(channel, ("done", worker.run(text, call_options)))
            else:
                import importlib

                names = {n: importlib.import_module(f"cellblock_guest.{n}") for n in ("worker", "streams", "session", "reseed", "figures", "processes")}
                _send(channel, ("value", eval(text, {**names, "sys": sys, "os": os})))
    except EOFError:
        code = 0
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
        try:
            _send(channel, ("failed", traceback.format_exc()))
        except BaseException:
            pass
    finally:
        os._exit(code)


def run(code, **options):
    """One cell in a session of its own."""
    with Session(**options) as session:
        return session.run(code)


def without_addresses(value):
    """Object addresses and times differ from run to run."""
    if isinstance(value, str):
        return re.sub(r"0x[0-9a-f]{6,}|(?<=object at )[0-9a-f]{8,}", "0x…", value)
    if isinstance(value, (list, tuple)):
        return type(value)(without_addresses(item) for item in value)
    if isinstance(value, dict):
        return {key: without_addresses(item) for key, item in value.items()}
    return value
