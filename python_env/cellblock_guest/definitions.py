# Where the session's functions and classes were defined: finds, in the cells that ran, the latest top-level def or class statement of
# a name and what it refers to. Worker, in the process that starts children. Reads user code's text; runs none of it.

import ast
import builtins
import sys
import types

DEFINITIONS_MAX = 500  # sent to one child
SOURCE_BYTES_MAX = 4 << 20
VALUES_BYTES_MAX = 64 << 20  # of global values that the definitions refer to, pickled
MODULES_MAX = 500
CONSTANTS_MAX = 100
CONSTANT_CHARACTERS_MAX = 1000

_STATEMENTS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Definitions:
    """An index over the shell's history, made when first asked and kept up with new cells."""

    def __init__(self, shell):
        self._shell = shell
        self._read = 0  # cells read so far
        self._entries = {}  # name -> (name, cell number, file name, first line, source)
        self._names = {}  # name -> names that its statement refers to

    def _update(self):
        cells = self._shell.history_manager.input_hist_parsed
        if self._read > len(cells):  # the history was reset
            self._read, self._entries, self._names = 0, {}, {}
        for number in range(max(self._read, 1), len(cells)):
            self._read_cell(number, cells[number])
        self._read = len(cells)

    def _read_cell(self, number, source):
        try:
            body = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        lines = source.split("\n")
        file_name = self._shell.compile.cell_name if number == len(self._shell.history_manager.input_hist_parsed) - 1 else f"Cell In[{number}]"
        for node in body:
            if isinstance(node, _STATEMENTS):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                text = "\n".join(lines[first - 1 : node.end_lineno])
                self._entries[node.name] = (node.name, number, file_name, first, text)
                self._names[node.name] = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}

    def find(self, name):
        self._update()
        return self._entries.get(name)

    def number_of(self, name):
        entry = self.find(name)
        return entry[1] if entry is not None else None

    def closure(self, names):
        """(definitions in the order of the cells, modules, other global names) that these names need."""
        self._update()
        namespace = self._shell.user_ns
        todo, seen, entries, modules, others, size = list(names), set(names), [], [], [], 0
        while todo:
            name = todo.pop()
            value = namespace.get(name)
            entry = self._entries.get(name)
            where = _importable(value)
            if where is not None:
                if len(modules) < MODULES_MAX:
                    modules.append((name, *where))
            elif entry is not None and _is_defined_in_main(value):
                size += len(entry[4])
                if len(entries) >= DEFINITIONS_MAX or size > SOURCE_BYTES_MAX:
                    continue
                entries.append(entry)
                for other in self._names[name]:
                    if other not in seen and other in namespace and not hasattr(builtins, other):
                        seen.add(other)
                        todo.append(other)
            elif name in namespace:
                others.append(name)
        entries.sort(key=lambda entry: (entry[1], entry[3]))
        return entries, modules, others

    def all_names(self):
        """Names that still stand for what a cell defined under them."""
        self._update()
        namespace = self._shell.user_ns
        return [name for name in self._entries if _is_defined_in_main(namespace.get(name))]


def _importable(value):
    """(module, name in it or "") of what a child can import for itself: modules, and functions and classes of modules."""
    if isinstance(value, types.ModuleType):
        return value.__name__, ""
    if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return None
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or module in ("__main__", "__mp_main__") or not isinstance(name, str):
        return None
    found = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module, name) if found is value else None


def simple(namespace, names):
    """The small constants among these names: they go along with a definition, other values do not."""
    kinds = (int, float, complex, bool, str, bytes, type(None))
    values = {name: namespace[name] for name in names if type(namespace.get(name)) in kinds}
    return {name: value for name, value in list(values.items())[:CONSTANTS_MAX] if len(repr(value)) <= CONSTANT_CHARACTERS_MAX}


def _is_defined_in_main(value):
    """A function or class of a cell, or what a decorator made of it and gave its name."""
    if value is None or isinstance(value, types.ModuleType):
        return False
    try:
        return getattr(value, "__module__", None) == "__main__" and (isinstance(value, type) or callable(value))
    except Exception:
        return False
