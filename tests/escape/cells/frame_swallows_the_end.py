# claim: A frame that takes the report of the end for its body does not stop the clock.
# timeout: 1s
# status: timeout
# session: gone
# hit: wall
# twin: inside
# twin_stdout: untouched
import os
import struct
import sys
import time


def frame(kind, nonce, body, length=None):
    return struct.pack("<IHHQI", 0x31464243, kind, 0, nonce, len(body) if length is None else length) + body


if sys.argv[1] == "hostile":
    os.write(3, frame(18, 0, b"x" * 10, length=100_000))
print("untouched")
