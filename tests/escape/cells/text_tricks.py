# claim: Output that is no text comes out as text, whatever it holds; what it would do to a terminal is the terminal's to refuse.
# stdout: bad ��; cut �; surrogate ���; long (�)+; bidi ‮txt; escape .\[2J.\]0;title.; ok
# twin: within
import os

os.write(1, b"bad \xff\xfe; cut \xe2\x82; surrogate \xed\xa0\x80; long \xf8\x88\x80\x80\x80; bidi \xe2\x80\xaetxt; escape \x1b[2J\x1b]0;title\x07; ok")
os.write(2, b"\x00\xc0\x80\xff" * 1000)
