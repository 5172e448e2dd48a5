# claim: Services of the host, on loopback or under an abstract name, are not reached.
# needs: host services
# stdout: TCP: PermissionError; abstract: (ConnectionRefusedError|PermissionError)
# twin: outside
# twin_stdout: TCP: connected; abstract: connected
import socket
import sys


def attempt(family, address):
    try:
        with socket.socket(family) as s:
            s.settimeout(5)
            s.connect(address)
        return "connected"
    except OSError as error:
        return type(error).__name__


print(f"TCP: {attempt(socket.AF_INET, ('127.0.0.1', int(sys.argv[2])))}; abstract: {attempt(socket.AF_UNIX, chr(0) + sys.argv[3])}")
