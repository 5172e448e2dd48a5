# claim: A frame that only the supervisor sends ends the session.
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
    os.write(3, frame(1, 0, b""))
    time.sleep(60)
print("untouched")
