# claim: A worker that closes its channel can no longer answer and is ended.
# timeout: 5s
# status: killed
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
    os.close(3)
    time.sleep(60)
print("untouched")
