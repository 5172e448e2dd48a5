# claim: A stack that overflows is the session's end alone.
# status: killed
# session: gone
# twin: inside
# twin_stdout: RecursionError
import sys


def deep():
    return [*map(lambda _: deep(), (1,))]


if sys.argv[1] == "hostile":
    sys.setrecursionlimit(10**9)
try:
    deep()
except RecursionError:
    print("RecursionError")
