# Servers on loopback for the tests of a session's network: HTTP and HTTPS that tell what they were asked, a server that speaks first, one
# that echoes. They stand for the world outside. Run by tests, as whoever runs those.
import gzip
import http.server
import json
import pathlib
import socket
import socketserver
import ssl
import subprocess
import threading

BIG_BYTES = 8 << 20


class _Teller(http.server.BaseHTTPRequestHandler):
    """Answers every request with what it was; some paths do more."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def _body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self):
        body = self._body()
        told = {"method": self.command, "path": self.path, "headers": self.headers.items(), "body": len(body), "text": body[:200].decode("latin-1")}
        self.server.asked.append(told)
        plain = self.path.partition("?")[0]
        special = getattr(self, "_answer_" + plain.strip("/").replace("-", "_"), None)
        if special:
            return special(told)
        self._send(200, json.dumps(told).encode(), "application/json")

    def _send(self, status, body, kind="text/plain", **fields):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _answer_table(self, told):
        self._send(200, b"a,b\n1,2\n3,4\n", "text/csv")

    def _answer_big(self, told):
        self._send(200, bytes(range(256)) * (BIG_BYTES // 256), "application/octet-stream")

    def _answer_missing(self, told):
        self._send(404, b"no such page")

    def _answer_elsewhere(self, told):
        self._send(302, b"", Location="http://elsewhere.test/secret")

    def _answer_inside(self, told):
        self._send(302, b"", Location="http://169.254.169.254/latest/meta-data/")

    def _answer_chunks(self, told):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (b"one ", b"two ", b"three"):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def _answer_cut(self, told):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"only this")
        self.close_connection = True

    def _answer_broken_head(self, told):
        """A head that is no HTTP, with the Authorization field in the broken line."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Echo: " + (self.headers.get("Authorization") or "").encode() + b"\x01\r\n\r\n")
        self.close_connection = True

    def _answer_broken_trailer(self, told):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n" + (self.headers.get("Authorization") or "").encode() + b"\r\n\r\n")
        self.close_connection = True

    def _answer_compressed(self, told):
        self._send(200, gzip.compress((self.headers.get("Authorization") or "").encode()), Content_Encoding="gzip")

    def _answer_once(self, told):
        """Says that it keeps the connection, and ends it."""
        self._send(200, b"once")
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def _answer_until_close(self, told):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"to the end")
        self.close_connection = True

    def _answer_echo_in_pieces(self, told):
        """The Authorization field, a few bytes at a time."""
        value = (self.headers.get("Authorization") or "").encode()
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("X-Echo", value.decode())
        self.end_headers()
        for i in range(0, len(value), 3):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(value[i : i + 3]), value[i : i + 3]))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = _answer


class _Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)


class _Banner(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"220 ready\r\n")
        self.request.sendall(b"you said " + self.request.recv(1000))


def _start(server):
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def teller():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Teller)
    server.asked = []
    return _start(server)


def secure_teller(certificate, key):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Teller)
    server.asked = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return _start(server)


def _stream(handler):
    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True

    return _start(Server(("127.0.0.1", 0), handler))


def echo():
    return _stream(_Echo)


def banner():
    return _stream(_Banner)


def silent():
    """Takes connections and says nothing."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(64)
    return listening


class Authority:
    """A certificate authority of the tests' own, and certificates from it. By the openssl program."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.path = self._file("ca.pem")
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self._file("ca.key"), "-out", self.path, "-subj", "/CN=tests", "-days", "2")

    def certificate(self, host):
        key, request, certificate, names = (self._file(f"{host}.{kind}") for kind in ("key", "csr", "pem", "names"))
        pathlib.Path(names).write_text(f"subjectAltName=DNS:{host}\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={host}")
        self._openssl("x509", "-req", "-in", request, "-CA", self.path, "-CAkey", self._file("ca.key"), "-CAcreateserial", "-out", certificate, "-days", "2", "-extfile", names)
        return certificate, key

    def _file(self, name):
        return str(self.folder / name)

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)
