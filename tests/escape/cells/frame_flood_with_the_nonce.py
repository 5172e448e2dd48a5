# claim: Asking for answers without end and reading none is a break of the protocol, before the supervisor holds more than a few of them.
# timeout: 20s
# status: killed
# session: gone
# twin: inside
# twin_stdout: untouched
import os
import struct
import sys


def frame(kind, nonce, body):
    return struct.pack("<IHHQI", 0x31464243, kind, 0, nonce, len(body)) + body


def nonce_of_this_call():
    """From the frame that brought this code, which is still in this process's memory."""
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            if "rw" not in rights or "[v" in line:
                continue
            first, end = (int(number, 16) for number in span.split("-"))
            memory.seek(first)
            try:
                data = memory.read(end - first)
            except OSError:
                continue
            at = data.find(b"CBF1\x02\0\0\0")
            while at >= 0:
                if b"nonce_of_this_call" in data[at + 20 : at + 4000]:
                    return struct.unpack("<Q", data[at + 8 : at + 16])[0]
                at = data.find(b"CBF1\x02\0\0\0", at + 1)
    raise LookupError("no nonce")


if sys.argv[1] == "hostile":
    nonce = nonce_of_this_call()
    while True:
        os.write(3, frame(23, nonce, b"") * 3000)
print("untouched")
