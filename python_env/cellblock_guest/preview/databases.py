# Describes SQLite databases: their tables with columns and first rows. Jailed worker; the file is hostile: it is opened so that nothing is
# written and none of its own functions, triggers and views runs, and each question ends after a number of steps.

import contextlib
import sqlite3

from . import bounds, read_with, typed

TABLES_MAX = 20
COLUMNS_READ_MAX = 200
ROWS_MAX = 2000  # looked at, of a table
VALUE_BYTES_MAX = 16 << 20
STEPS_MAX = 3_000_000  # of SQLite's machine for one question; about a tenth of a second
_STEPS_BETWEEN = 10_000
_LIMITS = ((sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX), (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
           (sqlite3.SQLITE_LIMIT_COLUMN, 2000), (sqlite3.SQLITE_LIMIT_ATTACHED, 0))


def describe(answer, file, path, rows_shown):
    answer.update(kind="sqlite", encoding=None, tables=[])
    try:
        # The descriptor, so that it is the file that was looked at; immutable, so that no journal beside it is taken up.
        with contextlib.closing(sqlite3.connect(f"file:/proc/self/fd/{file.fileno()}?mode=ro&immutable=1", uri=True)) as database:
            _restrict(database)
            names = [name for (name,) in _ask(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' LIMIT 10000")]
            views = _ask(database, "SELECT count(*) FROM sqlite_schema WHERE type = 'view'")[0][0]
            answer["tables"] = [_table(database, name, path, rows_shown) for name in names[:TABLES_MAX]]
    except sqlite3.Error as error:
        answer["error"] = f"The database cannot be read: {bounds.cut(str(error), 200)}."
        return
    answer["table_count"] = len(names)
    if len(names) > TABLES_MAX:
        bounds.add_note(answer, f"The first {TABLES_MAX} of {len(names):,} tables are described.")
    if views:
        bounds.add_note(answer, f"{bounds.count_of(views, 'view')} of it {'are' if views > 1 else 'is'} not described.")
    answer["read_with"] = answer["tables"][0]["read_with"] if answer["tables"] else None


def _restrict(database):
    for limit, value in _LIMITS:
        database.setlimit(limit, value)
    for setting in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "cache_size = -8000", "temp_store = MEMORY"):
        database.execute(f"PRAGMA {setting}")
    database.text_factory = lambda data: data.decode("utf-8", "replace")


def _ask(database, question, rows=10_000):
    """At most so many rows; sqlite3.OperationalError ("interrupted") when it takes too many steps."""
    left = [STEPS_MAX // _STEPS_BETWEEN]

    def is_over():
        left[0] -= 1
        return left[0] < 0

    database.set_progress_handler(is_over, _STEPS_BETWEEN)
    return database.execute(question).fetchmany(rows)


def _table(database, name, path, rows_shown):
    quoted = _quoted(name)
    table = {"name": bounds.cut(name, bounds.NAME_CHARACTERS_MAX), "rows": None}
    question, connection = read_with.quoted(f"SELECT * FROM {quoted}"), f"__import__('sqlite3').connect({read_with.path_text(path)})"
    table["read_with"] = f"pd.read_sql_query({question}, {connection})" if len(question) < bounds.CODE_CHARACTERS_MAX else None
    try:
        declared = _ask(database, f"PRAGMA table_info({quoted})")[:COLUMNS_READ_MAX]
        wanted = ", ".join(_shortened(_quoted(column[1])) for column in declared)
        rows = _ask(database, f"SELECT {wanted} FROM {quoted} LIMIT {ROWS_MAX + 1}", ROWS_MAX + 1)
    except sqlite3.Error as error:
        return {**table, "error": bounds.cut(str(error), 200), "columns": [], "read_with": None}
    is_whole = len(rows) <= ROWS_MAX
    rows = [[typed.stored(value) for value in row] for row in rows[:ROWS_MAX]]
    table.update(rows=len(rows) if is_whole else _count(database, quoted), rows_read=len(rows), sampled=not is_whole)
    table["columns"] = []
    for position, column in enumerate(declared):
        described = typed.Column(column[1], position, [row[position] for row in rows]).describe(column[1])
        table["columns"].append({**described, "stored_type": bounds.cut(column[2] or "", 100)})
    table["first_rows"] = [[bounds.cut(str(cell)) for cell in row] for row in rows[:rows_shown]]
    return table


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _shortened(column):
    """Blobs are not even read, long texts not kept."""
    kind = f"CASE typeof({column})"
    return f"{kind} WHEN 'blob' THEN '<' || length({column}) || ' bytes>' WHEN 'text' THEN substr({column}, 1, {typed.CELL_TEXT_MAX}) ELSE {column} END"


def _count(database, quoted):
    try:
        return _ask(database, f"SELECT count(*) FROM {quoted}")[0][0]
    except sqlite3.Error:
        return None  # too many to be counted here
