# The suites by name: each makes its cases out of a list in this folder. Runs on the host.

import collections
import os
import re

import cases
import cells


def _lines(settings, name):
    """The fields of a list's lines; "#" starts a comment."""
    with open(os.path.join(settings.here, name), encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if line:
                yield line.split()


def _cpython(group):
    kinds = {"worker": cases.UnittestCase, "child": cases.RegrtestCase}

    def make(settings):
        lines = _lines(settings, "cpython_modules.txt")
        return [kinds[kind](module, int(seconds), [pattern.removeprefix("-") for pattern in without])
                for part, kind, module, seconds, *without in lines if part == group]

    return make


def _packages(settings):
    """One script for each package that python_env/requirements*.in asks for."""
    folder = os.path.join(settings.here, "packages")
    scripts = {name.removesuffix(".py") for name in os.listdir(folder) if name.endswith(".py")}
    wanted = set()
    for name in ("requirements-core.in", "requirements.in"):
        with open(os.path.join(settings.source, "python_env", name), encoding="utf-8") as lines:
            wanted |= {found.group().lower() for found in map(re.compile(r"[A-Za-z][\w.-]*").match, lines) if found}
    if scripts != wanted:
        raise ValueError(f"tests/differential/packages: missing {sorted(wanted - scripts)}, not asked for {sorted(scripts - wanted)}")
    for name in sorted(scripts):
        with open(os.path.join(folder, f"{name}.py"), encoding="utf-8") as file:
            text = file.read()
        first = text.partition("\n")[0]
        files = first.removeprefix("# files:").split() if first.startswith("# files:") else []
        yield cells.CellsCase(f"packages/{name}", [text], [os.path.join(settings.source, "examples", "data", file) for file in files], must_work=True)


def _data(settings):
    """One case for each reader of data_readers.txt."""
    folder = os.path.join(settings.source, "examples", "data")
    with open(os.path.join(settings.here, "programs", "describe_frame.py"), encoding="utf-8") as file:
        program = file.read()
    readers = collections.defaultdict(list)
    with open(os.path.join(settings.here, "data_readers.txt"), encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                readers[re.search(r'"([\w.]+\.\w+)"', line).group(1)].append(line.strip())
    there = set(os.listdir(folder)) - {"README.md"}
    if there != set(readers):
        raise ValueError(f"tests/differential/data_readers.txt: no reader for {sorted(there - set(readers))}, no file {sorted(set(readers) - there)}")
    for name in sorted(readers):
        for number, reader in enumerate(readers[name], 1):
            must_work = not reader.startswith("fails: ")
            parts = [program, f"describe({reader.removeprefix('fails: ')})"]
            yield cells.CellsCase(f"data/{name}" + (f" ({number})" if number > 1 else ""), parts, [os.path.join(folder, name)], must_work=must_work)


def _examples(settings):
    for name in sorted(os.listdir(os.path.join(settings.source, "examples"))):
        if name.endswith((".py", ".ipynb", ".sh")):
            yield cells.example_case(settings.source, name)


def _pytest(suite):
    """The parts of a suite in pytest_selection.txt."""

    def make(settings):
        parts = collections.defaultdict(list)
        for name, part, *selection in _lines(settings, "pytest_selection.txt"):
            if name == suite:
                parts[part] += selection
        return [cases.PytestCase(f"{suite}/{part}", selection, 200) for part, selection in parts.items()]

    return make


SUITES = {
    "cpython": _cpython("main"),
    "cpython-data": _cpython("data"),
    "cpython-system": _cpython("system"),
    "cpython-mp": _cpython("mp"),
    "cpython-asyncio": _cpython("asyncio"),
    "numpy": _pytest("numpy"),
    "numpy-more": _pytest("numpy-more"),
    "pandas": _pytest("pandas"),
    "pandas-more": _pytest("pandas-more"),
    "packages": _packages,
    "data": _data,
    "examples": _examples,
}


def make(name, settings):
    """The cases of one suite."""
    made = list(SUITES[name](settings))
    for case in made:
        case.suite = name
    return made
