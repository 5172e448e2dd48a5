# claim: Leaving without a word is the session's end alone, with its code.
# status: exited
# session: gone
# twin: inside
# twin_status: exited
import os
import sys

os._exit(9) if sys.argv[1] == "hostile" else sys.exit(9)
