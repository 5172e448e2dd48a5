# claim: Nothing that was in a session's memory is in another's.
# timeout: 120s
# stdout: written
# after_stdout: none
# twin: again
# twin_stdout: found
import re
import sys


def found(mark):
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            if "rw" not in rights or "[v" in line:
                continue
            first, end = (int(number, 16) for number in span.split("-"))
            memory.seek(first)
            try:
                if mark.search(memory.read(end - first)):
                    return True
            except OSError:
                pass
    return False


if sys.argv[1] == "hostile":
    mark = b"-".join([b"cell", b"block", b"leaks"]) * 40
    kept = [bytes(mark) for i in range(10_000)]
    freed = bytearray(mark) * 10_000
    del freed
    print("written")
else:
    import mmap

    fresh = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    dirty = fresh.read(len(fresh)).strip(b"\0") != b""
    fresh.close()
    print("found" if found(re.compile(rb"cell-block-leak[s]cell-block-leak[s]cell-block-leak[s]")) or dirty else "none")
