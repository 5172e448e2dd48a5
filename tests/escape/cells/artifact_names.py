# claim: A name that is no text comes out as text, and names no other file of the host.
# artifacts: \u001b[31mred a\\b new\u000aline \u202egnp.exe \xff\xfe
# twin: within
import os

for name in (b"\xff\xfe", b"\x1b[31mred", "\u202egnp.exe".encode(), b"a\\b", b"new\nline"):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
