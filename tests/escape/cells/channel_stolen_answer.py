# claim: A cell that answers for itself can fake its own end, and nothing of the next call.
# timeout: 5s
# status: ok|killed|timeout
# session: kept|gone
# next: any
# twin: inside
# twin_stdout: untouched
import os
import struct
import sys
import time


def frame(kind, nonce, body, length=None):
    return struct.pack("<IHHQI", 0x31464243, kind, 0, nonce, len(body) if length is None else length) + body


if sys.argv[1] == "hostile":
    import ctypes

    if ctypes.CDLL(None).syscall(57 if os.uname().machine == "x86_64" else 220, 17, 0, 0, 0, 0) == 0:  # fork without its hooks: the channel stays open
        import socket

        data = socket.socket(fileno=os.dup(3)).recv(20)  # the answer to the display below, which carries the nonce
        nonce = struct.unpack("<IHHQI", data)[3]
        body = b"".join(struct.pack("<HIQ", tag, 8, 0) for tag in (1, 2, 3, 4))
        os.write(3, frame(24, nonce, body))
        time.sleep(60)
    time.sleep(0.3)
    display("asks for an answer")
print("untouched")
