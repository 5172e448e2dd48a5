# claim: There is no network, not even the machine's own loopback, and the refusal is an error in Python.
# stdout: interfaces: lo; TCP: PermissionError; UDP: PermissionError; names: gaierror
# twin: outside
# twin_stdout: interfaces: .*; TCP: (ConnectionRefusedError|connected); UDP: connected; names: .*
import os
import socket


def attempt(kind):
    try:
        with socket.socket(socket.AF_INET, kind) as s:
            s.settimeout(5)
            s.connect(("127.0.0.1", 9))
        return "connected"
    except OSError as error:
        return type(error).__name__


def resolve():
    try:
        socket.getaddrinfo("example.invalid", 443)
        return "resolved"
    except OSError as error:
        return type(error).__name__


interfaces = [line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line]
print(f"interfaces: {' '.join(interfaces)}; TCP: {attempt(socket.SOCK_STREAM)}; UDP: {attempt(socket.SOCK_DGRAM)}; names: {resolve()}")
