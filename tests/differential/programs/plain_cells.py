# What a session does with cells, done by plain python3 in the plainest way: each cell is executed, the last expression's value is shown
# as IPython's formatter writes it, figures that are open at the end of a cell are counted and closed. The outside of the comparison;
# runs as a script: plain_cells.py JOB RESULT, standard output a file.

import ast
import json
import os
import sys
import types

# What a session's tables are shown with (python.table_width and table_columns of the policy, and what follows from them).
TABLE_WIDTH, TABLE_COLUMNS = 240, 100


def _formatter():
    from IPython.core.formatters import PlainTextFormatter

    return PlainTextFormatter()


def _apply_display_options():
    import pandas

    pandas.set_option("display.width", TABLE_WIDTH, "display.max_columns", TABLE_COLUMNS)


def _close_figures():
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return 0
    count = len(pyplot.get_fignums())
    pyplot.close("all")
    return count


def _run_cell(code, name, namespace, result):
    body = ast.parse(code, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) and not code.rstrip().endswith(";") else None
    exec(compile(ast.Module(body, []), name, "exec"), namespace)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        if value is not None:
            result["value"] = _formatter()(value)


def _position():
    sys.stdout.flush()
    return os.fstat(1).st_size


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    main_module = types.ModuleType("__main__")
    sys.modules["__main__"] = main_module
    target = os.path.abspath(sys.argv[2])
    sys.argv = [job.get("file_name", ""), *job.get("arguments", [])]
    results = []
    _apply_display_options()
    for number, code in enumerate(job["cells"], 1):
        result = {"status": "ok", "value": None, "error": None, "start": _position()}
        results.append(result)
        try:
            _run_cell(code, job.get("file_name") or f"Cell In[{number}]", main_module.__dict__, result)
        except SystemExit:
            result["status"] = "exited"
        except BaseException as error:
            result.update(status="error", error={"name": type(error).__name__, "value": str(error)})
        result["charts"] = _close_figures()
        result["end"] = _position()
        if result["status"] == "error":
            break
    with open(target, "w", encoding="utf-8") as file:
        json.dump(results, file)


if __name__ == "__main__":
    main()
