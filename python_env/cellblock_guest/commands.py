# Programs that cells start by notebook syntax: !cmd, %%bash and its kin, and package installers, which cannot work without a
# network and say so at once. Output goes to descriptors 1 and 2 directly, in order; only when a cell redirected sys.stdout it
# is read and written there. Worker; the commands are the user's and run in the same jail.

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from . import environment, session, streams

_INSTALLERS = {
    ("pip",): "install", ("pip3",): "install", ("uv", "pip"): "install", ("conda",): "install", ("mamba",): "install",
    ("micromamba",): "install", ("apt",): "install", ("apt-get",): "install", ("poetry",): "add", ("uv",): "add", ("npm",): "install",
}
_NAMES_SHOWN = 60


_SEPARATORS = {";", "&", "|", "&&", "||", ">", "<", ">>", "(", ")"}


def _words(command):
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = "#"
    return lexer


def installer_of(command):
    """(program, packages, arguments) when the command would install packages, else None. Reads simple commands only."""
    try:
        words = [*itertools.takewhile(lambda word: word not in _SEPARATORS, _words(command))]
    except ValueError:
        return None
    while words and (words[0] in ("sudo", "-q", "-y") or re.fullmatch(r"[A-Za-z_]\w*=.*", words[0])):
        words = words[1:]
    if words[:1] and re.fullmatch(r"(.*/)?python[\d.]*", words[0]) and words[1:2] == ["-m"]:
        words = words[2:]
    for program, verb in _INSTALLERS.items():
        count = len(program)
        if tuple(words[:count]) == program and words[count : count + 1] == [verb]:
            arguments = words[count + 1 :]
            return " ".join(program), [word for word in arguments if not word.startswith("-")], arguments
    return None


def distributions():
    """{distribution name in lower case: version} of the environment; from its manifest, which is there for the API too."""
    manifest = os.path.join(os.path.dirname(environment.site_packages()), "manifest.json")
    try:
        with open(manifest, encoding="utf-8") as file:
            return {package["name"].lower(): package["version"] for package in json.load(file)["packages"]}
    except (OSError, ValueError, KeyError, TypeError):
        from importlib import metadata

        return {str(d.metadata["Name"]).lower(): d.version for d in metadata.distributions(path=[environment.site_packages()])}


def _install(arguments):
    """Runs pip: into the session's own folder, from the policy's index, with what is preinstalled held as it is. Its exit code."""
    import importlib
    import site

    with tempfile.NamedTemporaryFile("w", suffix=".txt", prefix="preinstalled-") as held:
        held.writelines(f"{name}=={version}\n" for name, version in distributions().items())
        held.flush()
        code = run([sys.executable, "-m", "pip", "install", "--constraint", held.name, *arguments])
    folder = site.getusersitepackages()
    if os.path.isdir(folder) and folder not in sys.path:
        sys.path.append(folder)
    importlib.invalidate_caches()
    return code


def install(program, packages, arguments):
    """What a package installer does here: pip's work where the policy has an index, else it says what is there. The exit code."""
    network = session.current.options.get("network", "off")
    if network == "packages" and program in ("pip", "pip3", "uv pip"):
        return _install(arguments)
    return _explain_installer(program, packages, _WHY_NOT.get(network, _WHY_NOT["off"]))


_WHY_NOT = {
    "off": "the network is off in this session",
    "rules": "the policy has no package index (network.packages)",
    "packages": "the policy's package index is for pip",
}


def _explain_installer(program, packages, why_not):
    """Prints what is there and what is not; returns the exit code that the program would have had."""
    installed = distributions()
    missing, lines = [], []
    for package in packages:
        name = re.split(r"[\[<>=!~;@ ]", package, maxsplit=1)[0].lower()
        version = installed.get(name) or installed.get(name.replace("_", "-")) or installed.get(name.replace("-", "_"))
        if version:
            lines.append(f"Requirement already satisfied: {name} {version}")
        else:
            missing.append(package)
    for line in lines:
        print(line)
    if not missing and packages:
        return 0
    names = sorted(installed)
    shown = ", ".join(names[:_NAMES_SHOWN]) + (" …" if len(names) > _NAMES_SHOWN else "")
    what = f"cannot install {', '.join(missing)}" if missing else "cannot install packages"
    streams.write_stderr(f"{program}: {what}: {why_not}. Preinstalled: {shown}\n")
    return 1


def system(shell, command):
    """!command: sets _exit_code, as IPython does."""
    installer = installer_of(command)
    code = install(*installer) if installer else run(command, shell=True)
    shell.user_ns["_exit_code"] = code
    if shell.system_raise_on_error and code != 0:
        raise subprocess.CalledProcessError(code, command)


def _shell_program():
    return "/bin/bash" if os.path.exists("/bin/bash") else None


def run(command, *, shell=False, input_bytes=None):
    """Runs a program to its end; its exit code. An interrupt goes to the program first, then to the cell."""
    streams.flush_all()
    redirected = not (streams.is_ours("stdout") and streams.is_ours("stderr"))
    options = {"shell": shell, "stdin": subprocess.PIPE if input_bytes is not None else subprocess.DEVNULL}
    if shell:
        options["executable"] = _shell_program()
    if redirected:
        options.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process = subprocess.Popen(command, **options)
    try:
        if redirected:
            out, err = process.communicate(input_bytes)
            sys.stdout.write(out.decode("utf-8", "replace"))
            sys.stderr.write(err.decode("utf-8", "replace"))
        elif input_bytes is not None:
            process.communicate(input_bytes)
        else:
            process.wait()
    except BaseException:
        stop(process)
        raise
    return process.returncode


def stop(process):
    """Ends a program whose cell was interrupted: asks, waits briefly, kills."""
    for end in (process.terminate, process.kill):
        try:
            end()
            process.wait(0.3)
            return
        except (OSError, subprocess.TimeoutExpired):
            continue
