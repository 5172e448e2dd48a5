# claim: Of all kinds of sockets only local ones can be made.
# stdout: 1
# twin: outside
# twin_stdout: 1 2 .*
import socket

made = []
for family in range(64):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
        try:
            socket.socket(family, kind).close()
            made.append(family)
            break
        except OSError:
            pass
print(*made)
