# claim: Descriptors passed to the supervisor are dropped.
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
    import array
    import socket
    channel = socket.socket(fileno=os.dup(3))
    mine = [os.open("/dev/null", os.O_RDONLY) for i in range(250)]
    for i in range(100):
        channel.sendmsg([frame(23, 7, b"")[:1] if i == 0 else b"C"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", mine))])
    time.sleep(60)
print("untouched")
