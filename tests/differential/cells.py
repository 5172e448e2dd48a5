# Cases that are scripts: their cells run in one session, and with programs/plain_cells.py in plain CPython; compared are the text on
# standard output, each cell's value, the error and the number of charts. Runs on the host.

import json
import os
import re
import shutil

from cases import Case
from sides import PYTHON

_MARKER = re.compile(r"^# ?%%(.*)$", re.MULTILINE)
_FILE_OPTION = re.compile(r"--file (\S+)")
_ARGUMENTS = re.compile(r"cellblock run .* -- (.+?)\\?n?\"?,?$", re.MULTILINE)


def split_cells(text):
    """The cells of a script with `# %%` lines, markdown left out; the whole script when it has none."""
    marks = list(_MARKER.finditer(text))
    if not marks:
        return [text]
    cells = [text[: marks[0].start()]]
    for mark, following in zip(marks, [*marks[1:], None]):
        if "[markdown]" not in mark.group(1):
            cells.append(text[mark.end() : following.start() if following else len(text)])
    return [cell for cell in cells if cell.strip()]


def notebook_cells(text):
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


# Of these the size is compared too; others hold times or are compressed.
_SIZED = (".csv", ".json", ".txt", ".html")


def _files(sizes):
    """What is in the working folder, as one text; hidden files aside."""
    visible = sorted((name, size) for name, size in sizes if not any(part.startswith(".") for part in name.split("/")))
    return "\n".join(f"{name} {size}" if name.endswith(_SIZED) else name for name, size in visible)


def _walk(folder):
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            yield os.path.relpath(path, folder), os.lstat(path).st_size


class CellsCase(Case):
    """files: host paths, put into the workspace under their own names."""

    unit = "outcomes"

    def __init__(self, name, cells, files=(), file_name="", arguments=(), timeout_seconds=120, must_work=False):
        super().__init__(name, timeout_seconds)
        self.must_work = must_work  # failing on both sides alike is not enough
        self.cells, self.files, self.file_name, self.arguments = list(cells), list(files), file_name, list(arguments)

    def job(self, settings):
        return {"cells": self.cells, "files": [[path, os.path.basename(path)] for path in self.files], "file_name": self.file_name,
                "arguments": self.arguments, "timeout_seconds": self.timeout_seconds}

    def read_inside(self, outcome):
        outcomes = {"(run)": f"host error: {outcome['host_error']}" if outcome["host_error"] else "ok", "files": _files(outcome["files"])}
        for number, cell in enumerate(outcome["cells"], 1):
            error = cell["error"]
            self._add("inside", outcomes, number, cell["status"], cell["stdout"], cell["value"], error and (error["name"], error["value"]), cell["charts"])
            self.details["inside"][f"cell {number}: status"] = cell["stderr"] + (error["traceback"] if error else cell["reason"])
        return outcomes

    def run_outside(self, outside):
        folder = outside.folder()
        for path in self.files:
            outside.put(folder, path, os.path.basename(path))
        names = {name: os.path.join(folder, "t", name) for name in ("job.json", "stdout", "result.json", "stderr")}
        with open(names["job.json"], "w", encoding="utf-8") as file:
            json.dump({"cells": self.cells, "file_name": self.file_name, "arguments": self.arguments}, file)
        program = os.path.join(folder, "t", "plain_cells.py")
        shutil.copyfile(os.path.join(outside.settings.here, "programs", "plain_cells.py"), program)
        with open(names["stdout"], "wb") as stdout, open(names["stderr"], "wb") as stderr:
            status = outside.run([PYTHON, program, names["job.json"], names["result.json"]], folder, self.timeout_seconds, stdout, stderr)
        outcomes = {"(run)": status, "files": _files(_walk(os.path.join(folder, "w")))}
        with open(names["stdout"], "rb") as file:
            text = file.read()
        with open(names["stderr"], encoding="utf-8", errors="replace") as file:
            self.details["outside"]["(run)"] = file.read()
        if os.path.exists(names["result.json"]):
            with open(names["result.json"], encoding="utf-8") as file:
                for number, cell in enumerate(json.load(file), 1):
                    error = cell["error"]
                    shown = text[cell["start"] : cell["end"]].decode("utf-8", "replace")
                    self._add("outside", outcomes, number, cell["status"], shown, cell["value"], error and (error["name"], error["value"]), cell["charts"])
        shutil.rmtree(folder, ignore_errors=True)
        return outcomes

    def _add(self, side, outcomes, number, status, stdout, value, error, charts):
        if self.must_work and status != "ok":
            outcomes[f"cell {number}: works"] = f"not {side}"
        outcomes.update({f"cell {number}: status": status, f"cell {number}: stdout": stdout, f"cell {number}: value": value,
                         f"cell {number}: error": error, f"cell {number}: charts": charts})


class BashCase(Case):
    """A bash script: standard output and exit code."""

    unit = "outcomes"

    def __init__(self, name, script, files, timeout_seconds=60):
        super().__init__(name, timeout_seconds)
        self.script, self.files = script, files

    def job(self, settings):
        return {"cells": [self.script], "language": "bash", "files": [[path, os.path.basename(path)] for path in self.files], "timeout_seconds": self.timeout_seconds}

    def read_inside(self, outcome):
        if outcome["host_error"]:
            return {"(run)": f"host error: {outcome['host_error']}"}
        cell = outcome["cells"][-1]
        self.details["inside"]["stdout"] = cell["stderr"]
        status = "ok" if cell["status"] == "ok" else f"exit {cell['exit_code']}"
        return {"(run)": status, "stdout": cell["stdout"], "files": _files(outcome["files"])}

    def run_outside(self, outside):
        folder = outside.folder()
        for path in self.files:
            outside.put(folder, path, os.path.basename(path))
        output = os.path.join(folder, "t", "stdout")
        with open(output, "wb") as stdout:
            status = outside.run(["/bin/bash", "-c", self.script], folder, self.timeout_seconds, stdout)
        with open(output, encoding="utf-8", errors="replace") as file:
            text = file.read()
        outcomes = {"(run)": status, "stdout": text, "files": _files(_walk(os.path.join(folder, "w")))}
        shutil.rmtree(folder, ignore_errors=True)
        return outcomes


def example_case(source, name):
    """A script or notebook of examples/, with the files and arguments that its own first lines name."""
    with open(os.path.join(source, "examples", name), encoding="utf-8") as file:
        text = file.read()
    files = [os.path.join(source, path) for path in dict.fromkeys(_FILE_OPTION.findall(text))]
    if not files:
        raise ValueError(f"examples/{name}: no `--file` in its first lines")
    if name.endswith(".sh"):
        return BashCase(f"examples/{name}", text, files)
    found = _ARGUMENTS.search(text)
    arguments = found.group(1).split() if found else []
    if name.endswith(".ipynb"):
        return CellsCase(f"examples/{name}", notebook_cells(text), files, must_work=True)
    return CellsCase(f"examples/{name}", split_cells(text), files, name, arguments, must_work=True)
