# claim: A frame that never becomes whole does not stop the clock.
# timeout: 1s
# status: timeout|killed
# session: gone
# twin: inside
# twin_stdout: untouched
import os
import struct
import sys
import time


def frame(kind, nonce, body, length=None):
    return struct.pack("<IHHQI", 0x31464243, kind, 0, nonce, len(body) if length is None else length) + body


if sys.argv[1] == "hostile":
    os.write(3, frame(18, 0, b"", length=1000)[:10])
    time.sleep(60)
print("untouched")
