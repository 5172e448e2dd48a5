# claim: A worker that puts another file in place of its channel is ended.
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
    os.dup2(os.open("/dev/null", os.O_RDWR), 3)
    time.sleep(60)
print("untouched")
