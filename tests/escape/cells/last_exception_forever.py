# claim: A text of an error that never ends is cut short by the clock.
# timeout: 1s
# status: timeout
# session: kept|gone
# hit: wall
# twin: inside
# twin_status: error
import sys


class Endless(Exception):
    def __str__(self):
        while sys.argv[1] == "hostile":
            pass
        return "done"


raise Endless
