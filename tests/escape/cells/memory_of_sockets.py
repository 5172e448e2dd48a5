# claim: What waits in unix sockets counts where a cgroup sees it, and their buffers cannot be enlarged where none does.
# policy: limits: {memory: 256MiB}
# timeout: 60s
# status: out_of_memory|ok|error
# session: gone|kept
# stdout: .*refused.*|
# twin: inside
# twin_stdout: small
import socket
import sys

count = 0 if sys.argv[1] == "twin" else 400
one, other = socket.socketpair()
one.send(b"x" * 1000)
pairs = []
try:
    for i in range(count):
        pairs.append(socket.socketpair())
        one = pairs[-1][0]
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        one.setblocking(False)
        try:
            while True:
                one.send(bytes(1 << 16))
        except BlockingIOError:
            pass
except PermissionError:
    print("refused")
else:
    print("kept" if count else "small")
