# Magics that differ from IPython's: installers say at once that there is no network, %matplotlib has nothing to switch, what needs an
# editor or a server says so, and %%bash, %%sh, %%script and their kin run without a thread. Registered in the zygote, over IPython's
# own of the same names.

import os
import shlex
import shutil
import subprocess

from IPython.core import magic_arguments
from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from traitlets import Bool, Dict, Set, Unicode, observe
from traitlets.config import Configurable

from . import commands, figures, streams, values

_SCRIPT_PROGRAMS = ("sh", "bash", "perl", "ruby", "python", "python3", "pypy", "node")


class InlineBackend(Configurable):
    """What `%config InlineBackend.…` sets in notebooks; only the formats have an effect here."""

    figure_formats = Set({"png"}).tag(config=True)
    figure_format = Unicode("").tag(config=True)
    close_figures = Bool(True).tag(config=True)
    print_figure_kwargs = Dict({"bbox_inches": "tight"}).tag(config=True)
    rc = Dict({}).tag(config=True)

    @observe("figure_format")
    def _one_format(self, change):
        self.figure_formats = {change["new"]} if change["new"] else {"png"}

    @observe("figure_formats")
    def _formats(self, change):
        figures.set_formats(change["new"])

    @observe("rc")
    def _rc(self, change):
        import matplotlib

        matplotlib.rcParams.update(change["new"])


@magics_class
class GuestMagics(Magics):
    """See the file's head."""

    @line_magic
    def pip(self, line):
        """Package installation, where the policy has an index; else it says what is preinstalled."""
        self._install("pip", line)

    @line_magic
    def conda(self, line):
        """Says what is preinstalled."""
        self._install("conda", line)

    @line_magic
    def mamba(self, line):
        """As %conda."""
        self._install("mamba", line)

    @line_magic
    def micromamba(self, line):
        """As %conda."""
        self._install("micromamba", line)

    @line_magic
    def uv(self, line):
        """As %pip."""
        self._install("uv", line)

    def _install(self, program, line):
        words = line.split()
        if words[:1] == ["list"] or words[:1] == ["freeze"]:
            for name, version in sorted(commands.distributions().items()):
                print(f"{name}=={version}")
            return
        installer = commands.installer_of(f"{program} {line}") or (program, [], [])
        self.shell.user_ns["_exit_code"] = commands.install(*installer)

    @line_magic
    def matplotlib(self, line):
        """Charts are shown as images at the end of the cell, whatever is asked for."""
        words = [word for word in line.split() if not word.startswith("-")]
        if "-l" in line.split() or "--list" in line.split():
            print("Available matplotlib backends: ['agg', 'inline']")
        else:
            figures.enable(words[0] if words else None)

    @line_magic
    def edit(self, line):
        """Not here: there is no editor."""
        raise UsageError("%edit: there is no editor here; write the code in a cell, or to a file with %%writefile")

    @line_magic
    def ed(self, line):
        """As %edit."""
        self.edit(line)

    @line_magic
    def notebook(self, line):
        """Not here: the session is exported from outside."""
        raise UsageError("%notebook: the session's transcript is exported from outside; %history and %save write its code")

    @line_magic
    def pastebin(self, line):
        """Not here: there is no network."""
        raise UsageError("%pastebin: the network is off in this session; use %save to write code to a file")

    @line_magic
    def clear(self, line):
        """Clears the cell's output."""
        self.shell.display_pub.clear_output(False)

    @line_magic
    def less(self, line):
        """Shows a text file."""
        with open(os.path.expanduser(line.strip()), encoding="utf-8", errors="replace") as file:
            self.shell.display_pub.publish({"text/plain": file.read(values.PLAIN_BYTES_MAX + 1)})

    @line_magic
    def more(self, line):
        """As %less."""
        self.less(line)

    @magic_arguments.magic_arguments()
    @magic_arguments.argument("--no-raise-error", action="store_false", dest="raise_error")
    @magic_arguments.argument("--out", type=str)
    @magic_arguments.argument("--err", type=str)
    @magic_arguments.argument("--bg", action="store_true")
    @magic_arguments.argument("--proc", type=str)
    @cell_magic("script")
    def script(self, line, cell):
        """%%script PROGRAM: runs the cell with that program; its output is the cell's."""
        arguments, command = self.script.parser.parse_known_args(shlex.split(line))
        if not command:
            raise UsageError("%%script needs a program: %%script bash")
        program = shutil.which(command[0])
        if program is None:
            streams.write_stderr(f"%%script: no program {command[0]!r} here\n")
            raise FileNotFoundError(2, "No such program", command[0])
        text = (cell if cell.endswith("\n") else cell + "\n").encode("utf-8", "replace")
        if arguments.bg:
            self._start(command, text, arguments)
            return
        if arguments.out or arguments.err:
            code = self._capture(command, text, arguments)
        else:
            code = commands.run(command, input_bytes=text)
        if code != 0 and arguments.raise_error:
            raise subprocess.CalledProcessError(code, command)

    def _capture(self, command, text, arguments):
        streams.flush_all()
        done = subprocess.run(
            command, input=text, stdout=subprocess.PIPE if arguments.out else None, stderr=subprocess.PIPE if arguments.err else None
        )
        for name, data in ((arguments.out, done.stdout), (arguments.err, done.stderr)):
            if name:
                self.shell.user_ns[name] = (data or b"").decode("utf-8", "replace")
        return done.returncode

    def _start(self, command, text, arguments):
        """--bg: the program goes on by itself, to the end of the call at most (unless policy keeps processes)."""
        reading, writing = os.pipe()
        process = subprocess.Popen(
            command, stdin=reading, stdout=subprocess.PIPE if arguments.out else None, stderr=subprocess.PIPE if arguments.err else None
        )
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(text)
        for name, value in ((arguments.out, process.stdout), (arguments.err, process.stderr), (arguments.proc, process)):
            if name:
                self.shell.user_ns[name] = value


def _program_magic(program):
    def run(self, line, cell):
        return self.shell.run_cell_magic("script", f"{program} {line}", cell)

    run.__doc__ = f"%%{program}: runs the cell with {program}; its output is the cell's."
    return run


def register(shell):
    """Puts ours over IPython's, which are loaded late and leave names alone that are taken."""
    shell.configurables.append(InlineBackend(parent=shell))
    magics = GuestMagics(shell)
    shell.register_magics(magics)
    shell.magics_manager.register_lazy("store", "IPython.extensions.storemagic", "line")
    for program in _SCRIPT_PROGRAMS:
        method = _program_magic(program)
        shell.register_magic_function(method.__get__(magics), magic_kind="cell", magic_name=program)
