# Uploads and shared files between tokens, over real sockets: what does not fit is refused before it is sent, what is on its way is counted
# however it ends, and no file is seen by sessions of two tokens. Runs as whoever runs the test.
import hashlib
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import server_test  # noqa: E402

MEBIBYTE = 1 << 20


class Upload:
    """A PUT whose body comes in the test's own time."""

    def __init__(self, server, path, *headers):
        self.socket = socket.create_connection((server.host, server.port), timeout=60)
        lines = [f"PUT {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {server.token}", "Connection: close", *headers]
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n")

    def send(self, content):
        try:
            self.socket.sendall(content)
        except ConnectionError:  # the server has refused it
            pass

    def chunk(self, size):
        self.send(f"{size:x}\r\n".encode() + b"x" * size + b"\r\n")

    def answer(self):
        """The status of what comes next, and the whole of it; after 100 there is more to come."""
        text = b""
        while not text.startswith(b"HTTP/1.1 100") or b"\r\n\r\n" not in text:
            try:
                more = self.socket.recv(65536)
            except ConnectionError:
                more = b""
            if not more:
                break
            text += more
        return int(text.split(b" ", 2)[1]), text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class UploadsTest(server_test.Fixture):
    """Uploads have 64 MiB together, and a file of policy small has 8 MiB."""

    def setUp(self):
        policies = tempfile.mkdtemp(prefix="cellblock-policies-")
        self.addCleanup(shutil.rmtree, policies, ignore_errors=True)
        pathlib.Path(policies, "default.yaml").write_text("session: {queue: 2}\n")
        pathlib.Path(policies, "small.yaml").write_text("limits: {file_size: 8MiB}\n")
        self.arguments = ("--incoming-bytes", "64MiB", "--policies", policies)
        super().setUp()

    def upload(self, path, *headers):
        return Upload(self.server, path, "Expect: 100-continue", *headers)

    def refused(self, upload, status, code):
        got, text = upload.answer()
        self.assertEqual((got, json.loads(text.split(b"\r\n\r\n", 1)[1])["code"]), (status, code), text)
        return text

    def in_incoming(self):
        """Bytes of the server's open files without a name in its folder for uploads."""
        total = 0
        for link in pathlib.Path(f"/proc/{self.server.process.pid}/fd").iterdir():
            try:
                if f"{self.state}/incoming/" in os.readlink(link):
                    total += link.stat().st_size
            except FileNotFoundError:
                pass
        return total

    def test_a_file_that_its_session_cannot_take_is_refused_before_it_is_sent(self):
        session = self.server.session(policy="small")
        path, largest = f"/v1/sessions/{session}/files/a", 8 * MEBIBYTE
        with self.upload(path, f"Content-Length: {largest + 1}") as upload:
            self.assertIn(b"limits.file_size of policy small allows", self.refused(upload, 413, "file_too_large"))
        with self.upload(path, f"Content-Length: {largest}") as upload:
            self.assertEqual(upload.answer()[0], 100)
        with Upload(self.server, path, "Transfer-Encoding: chunked") as upload:
            for _ in range(largest // MEBIBYTE + 1):
                upload.chunk(MEBIBYTE)
            self.refused(upload, 413, "file_too_large")
        self.server.ask("DELETE", f"/v1/sessions/{session}")
        with self.upload(path, "Content-Length: 1") as upload:
            self.refused(upload, 410, "session_closed")
        self.wait(lambda: self.in_incoming() == 0)

    def test_all_on_their_way_are_bounded_together_and_free_again_when_their_clients_vanish(self):
        path = f"/v1/sessions/{self.server.session()}/files/a"
        with self.upload(path, f"Content-Length: {40 * MEBIBYTE}") as first, self.upload(path, "Transfer-Encoding: chunked") as second:
            self.assertEqual((first.answer()[0], second.answer()[0]), (100, 100))
            first.send(b"x" * MEBIBYTE)
            for _ in range(20):
                second.chunk(MEBIBYTE)
            self.wait(lambda: self.in_incoming() == 21 * MEBIBYTE)
            with self.upload(path, f"Content-Length: {5 * MEBIBYTE}") as third:
                self.assertIn(b"Retry-After: 5", self.refused(third, 429, "too_many_uploads"))
        self.wait(lambda: self.in_incoming() == 0)
        content = b"y" * (64 * MEBIBYTE)

        def put():
            answer, entry = self.server.ask("PUT", path, content)
            return answer.status == 201 and entry["sha256"] == hashlib.sha256(content).hexdigest()

        self.wait(put)
        self.assertTrue(put())


class TokensTest(server_test.Fixture):
    """Two tokens; anna may have 16 bytes of shared files."""

    def setUp(self):
        super().setUp()
        self.server.stop()
        entry = lambda name: f"name: {name}, sha256: {hashlib.sha256(f'cb_the_secret_of_{name}'.encode()).hexdigest()}"
        tokens = pathlib.Path(self.state, "tokens.yaml")
        tokens.write_text(f"tokens:\n- {{{entry('anna')}, shared_bytes: 16}}\n- {{{entry('ben')}}}\n")
        tokens.chmod(0o600)
        self.server = self.start("--tokens", str(tokens))

    def as_token(self, name):
        self.server.token = f"cb_the_secret_of_{name}"
        return self.server

    def test_equal_contents_of_two_tokens_are_two_files(self):
        seen = {}
        for name in ("anna", "ben"):
            server = self.as_token(name)
            self.assertEqual(server.ask("PUT", "/v1/shared-files/a.csv", b"a,b\n1,2\n")[0].status, 201)
            session = server.session(attach={"a.csv": "a.csv"})
            seen[name] = server.execute(session, "import os; os.stat('a.csv').st_ino, open('a.csv').read()")["results"][0]["mime"]["text/plain"]
        self.assertIn("'a,b\\n1,2\\n'", seen["anna"])
        self.assertNotEqual(seen["anna"], seen["ben"])

    def test_a_token_is_told_of_its_own_bound_alone(self):
        self.assertEqual(self.as_token("ben").ask("PUT", "/v1/shared-files/big", b"x" * 1000)[0].status, 201)
        anna = self.as_token("anna")
        self.assertEqual(anna.ask("PUT", "/v1/shared-files/a", b"x" * 16)[0].status, 201)
        answered = anna.ask("PUT", "/v1/shared-files/b", b"y" * 17)
        self.problem(answered, 507, "shared_files_full")
        self.assertIn("16 bytes together (shared_bytes), 16 are taken", answered[1]["detail"])
        self.assertNotIn("10", answered[1]["detail"])
        self.assertEqual(anna.ask("PUT", "/v1/shared-files/a", b"y" * 16)[0].status, 201)


if __name__ == "__main__":
    unittest.main(verbosity=2)
