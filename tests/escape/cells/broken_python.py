# claim: Code that breaks Python itself breaks its own cell, not the session's channel.
# status: ok|error
# twin: within
import builtins
import sys

sys.stdout = sys.stderr = None
sys.excepthook = sys.displayhook = None
for name in ("print", "repr", "str", "len", "isinstance", "open", "__import__", "type", "getattr"):
    setattr(builtins, name, None)
sys.modules.clear()
1 / 0
