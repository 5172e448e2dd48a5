# claim: Names and messages of errors may hold anything, and come out as text.
# status: error
# twin: inside
# twin_status: error
import sys

Odd = type("\u202eO\x1b[31m" + "d" * 100_000, (Exception,), {"__module__": "\x00\udfff"}) if sys.argv[1] == "hostile" else ValueError
raise Odd("\ud800\x00\x1b]0;title\x07\u202e" + "x" * 1_000_000)
