# Holds a whole preview within bounds of the process: memory that it may add, no cyclic garbage collection meanwhile, and no setting of
# the interpreter left changed. Jailed worker, single-threaded while a file is described.

import contextlib
import csv
import gc
import resource

MEMORY_BYTES_MAX = 320 << 20  # or less, where the session may have less; beyond what the worker has; measured for the files of the tests: below 200 MiB
FIELD_CHARACTERS_MAX = 1 << 24  # of one field of a table


@contextlib.contextmanager
def held(memory_bytes=MEMORY_BYTES_MAX):
    """Rows by the hundred thousand make the collector look at all of them again and again, for two thirds of the time."""
    collects, fields, limits = gc.isenabled(), csv.field_size_limit(FIELD_CHARACTERS_MAX), resource.getrlimit(resource.RLIMIT_DATA)
    gc.disable()
    _limit_memory(limits, min(memory_bytes, MEMORY_BYTES_MAX))
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, limits)
        csv.field_size_limit(fields)
        if collects:
            gc.enable()


def _limit_memory(limits, memory_bytes):
    """What goes beyond raises MemoryError, also in libraries, and becomes an error in the answer."""
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/statm", "rb") as file:
        pages = int(file.read().split()[5])  # data and stack
        wanted = pages * resource.getpagesize() + memory_bytes
        allowed = [limit for limit in limits if limit != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min([wanted, *allowed]), limits[1]))
