# The server over real sockets: started as a user starts it, asked as a client asks. Runs `cellblock serve` (CELLBLOCK_PROGRAM) with a
# state folder of its own for each test, as whoever runs the test.
import ast
import concurrent.futures
import hashlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse
import warnings

PROGRAM = os.environ["CELLBLOCK_PROGRAM"]
PYTHON_ENV = os.environ["CELLBLOCK_PYTHON_ENV"]


class Server:
    """One server; its address and token as it prints them."""

    def __init__(self, state, *arguments, log=subprocess.PIPE):
        command = [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--state", state, "--python-env", PYTHON_ENV, *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.process.stdout.readline()
        if "serves on" not in line:
            raise AssertionError(line + (self.process.communicate()[1] or ""))
        self.address = line.split()[-1]
        self.host, port = urllib.parse.urlparse(self.address).netloc.split(":")
        self.port = int(port)
        self.token = pathlib.Path(state, "token").read_text().strip()

    def ask(self, method, path, body=None, headers=None, token=None):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=120)
        body = json.dumps(body) if isinstance(body, dict) else body
        connection.request(method, path, body, {"Authorization": f"Bearer {token or self.token}", **(headers or {})})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        is_json = "json" in (answer.headers.get("Content-Type") or "")
        return answer, json.loads(content) if is_json and content else content

    def session(self, **wanted):
        answer, body = self.ask("POST", "/v1/sessions", wanted)
        assert answer.status == 201, body
        return body["id"]

    def execute(self, session, code, **more):
        answer, body = self.ask("POST", f"/v1/sessions/{session}/execute", {"code": code, **more})
        assert answer.status == 200, body
        return body

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.communicate(timeout=60)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return self.process.returncode


class Fixture(unittest.TestCase):
    """One server for each test; what it is started with is its class's to say."""

    arguments = ()

    def setUp(self):
        self.state = tempfile.mkdtemp(prefix="cellblock-server-")
        self.addCleanup(shutil.rmtree, self.state, ignore_errors=True)
        self.server = self.start(*self.arguments)

    def start(self, *arguments):
        server = Server(self.state, *arguments)
        self.addCleanup(server.stop)
        return server

    def problem(self, answered, status, code):
        answer, body = answered
        self.assertEqual((answer.status, body["code"]), (status, code), body)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")

    def wait(self, is_so):
        end = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), end, "it did not become so")
            time.sleep(0.05)

    def raw(self, *pieces, family=socket.AF_INET, address=None):
        """What comes back until the server closes, for bytes that no client library would send."""
        with socket.socket(family) as client:
            client.settimeout(30)
            client.connect(address or (self.server.host, self.server.port))
            try:
                for piece in pieces:
                    client.sendall(piece)
            except OSError:  # it may close before it has all
                pass
            answer = b""
            while True:
                try:
                    more = client.recv(65536)
                except ConnectionError:
                    more = b""
                if not more:
                    return answer
                answer += more


class ServerTest(Fixture):
    def test_calls_share_variables_and_files_and_leave_artifacts(self):
        ask, session = self.server.ask, self.server.session()
        content = "a,b\n1,2\n3,4\n".encode()
        answer, entry = ask("PUT", f"/v1/sessions/{session}/files/" + urllib.parse.quote("Données – été (1) 数据's.csv"), content)
        self.assertEqual((answer.status, entry["size_bytes"], entry["sha256"]), (201, len(content), hashlib.sha256(content).hexdigest()))
        self.server.execute(session, "import os, pandas as pd; name = os.listdir('.')[0]; t = pd.read_csv(name)")
        self.assertEqual(self.server.execute(session, "int(t.b.sum())")["results"][0]["mime"]["text/plain"], "6")
        self.server.execute(session, "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.savefig('c.png')")
        artifact = ask("GET", f"/v1/sessions/{session}/artifacts")[1]["artifacts"][0]
        answer, png = ask("GET", f"/v1/artifacts/{artifact['id']}")
        self.assertEqual((png[:4], hashlib.sha256(png).hexdigest()), (b"\x89PNG", artifact["sha256"]))
        answer, part = ask("GET", f"/v1/artifacts/{artifact['id']}", headers={"Range": "bytes=1-3"})
        self.assertEqual((answer.status, part), (206, b"PNG"))
        answer, _ = ask("GET", f"/v1/artifacts/{artifact['id']}", headers={"If-None-Match": answer.headers["ETag"]})
        self.assertEqual(answer.status, 304)
        notebook = ask("GET", f"/v1/sessions/{session}/transcript?format=ipynb")[1]
        self.assertEqual([cell["execution_count"] for cell in notebook["cells"] if cell["cell_type"] == "code"], [1, 2, 3])
        variables = {entry["name"]: entry for entry in ask("GET", f"/v1/sessions/{session}/variables")[1]["variables"]}
        self.assertEqual((variables["t"]["type"], variables["t"]["shape"]), ("pandas.DataFrame", [2, 2]))
        self.assertEqual(self.server.execute(session, "1")["call"], 4)

    def test_events_come_in_the_order_of_the_record(self):
        session = self.server.session()
        headers = {"Accept": "text/event-stream"}
        text = self.server.ask("POST", f"/v1/sessions/{session}/execute", {"code": "print(1)\n2"}, headers)[1].decode()
        kinds = [line[7:] for line in text.splitlines() if line.startswith("event: ")]
        self.assertEqual(kinds, ["started", "stdout", "result", "done"])

    def test_a_detached_call_is_fetched_by_its_id(self):
        session = self.server.session()
        answer, body = self.server.ask("POST", f"/v1/sessions/{session}/execute", {"code": "print('x'); 5", "detach": True})
        self.assertEqual(answer.status, 202)
        self.wait(lambda: self.server.ask("GET", answer.headers["Location"])[1]["status"] not in ("waiting", "running"))
        record = self.server.ask("GET", answer.headers["Location"])[1]
        self.assertEqual((record["id"], record["status"], record["stdout"]), (body["execution_id"], "ok", "x\n"))

    def test_a_repeated_request_with_a_key_runs_once(self):
        session = self.server.session()
        self.server.execute(session, "n = 0")
        path, key = f"/v1/sessions/{session}/execute", {"Idempotency-Key": "once"}
        first, second = (self.server.ask("POST", path, {"code": "n += 1; n"}, key)[1] for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual(self.server.execute(session, "n")["results"][0]["mime"]["text/plain"], "1")
        self.problem(self.server.ask("POST", path, {"code": "n"}, key), 422, "idempotency_key_reused")

    def test_a_client_that_goes_away_interrupts_its_call(self):
        session = self.server.session()
        code = "import time\ntry:\n    open('started', 'w').close()\n    while True: time.sleep(0.01)\nexcept KeyboardInterrupt:\n    stopped = 'by its client'"
        body = json.dumps({"code": code})
        client = socket.create_connection((self.server.host, self.server.port))
        head = f"POST /v1/sessions/{session}/execute HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.server.token}\r\nContent-Length: {len(body)}\r\n\r\n"
        client.sendall((head + body).encode())
        self.wait(lambda: self.server.ask("GET", f"/v1/sessions/{session}/files/started")[0].status == 200)
        client.close()
        self.assertEqual(self.server.execute(session, "stopped")["results"][0]["mime"]["text/plain"], "'by its client'")

    def test_others_answer_while_sessions_spin(self):
        sessions = [self.server.session() for _ in range(8)]
        spin = [threading.Thread(target=self.server.execute, args=(session, "while True: pass"), kwargs={"timeout_seconds": 4}) for session in sessions]
        other = self.server.session()
        for thread in spin:
            thread.start()
        self.assertEqual(self.server.execute(other, "1 + 1")["status"], "ok")
        self.assertEqual(self.server.ask("GET", f"/v1/sessions/{sessions[0]}")[1]["state"], "busy")
        for thread in spin:
            thread.join()

    def test_variables_of_a_call_are_gone_after_it(self):
        session = self.server.session(env={"A": "session"})
        shown = self.server.execute(session, "import os; os.environ['A'], os.environ['B']", env={"A": "call", "B": "2"})
        self.assertEqual(shown["results"][0]["mime"]["text/plain"], "('call', '2')")
        self.assertEqual(self.server.execute(session, "echo $A$B", language="bash", env={"B": "3"})["stdout"], "session3\n")
        self.assertEqual(self.server.execute(session, "os.environ['A'], 'B' in os.environ")["results"][0]["mime"]["text/plain"], "('session', False)")

    def test_files_and_folders_can_be_removed(self):
        session = self.server.session()
        self.server.execute(session, "import os; os.makedirs('d/e'); open('d/e/f', 'w').write('x'); open('g', 'w').write('y')")
        for path in ("g", "d"):
            self.assertEqual(self.server.ask("DELETE", f"/v1/sessions/{session}/files/{path}")[0].status, 204)
        self.assertEqual(self.server.ask("GET", f"/v1/sessions/{session}/files")[1]["files"], [])
        self.problem(self.server.ask("DELETE", f"/v1/sessions/{session}/files/g"), 404, "file_not_found")

    def test_a_shared_file_is_read_by_many_sessions_without_a_copy(self):
        ask, content = self.server.ask, b"a,b\n" + b"1,2\n" * 500_000
        path = "/v1/shared-files/" + urllib.parse.quote("été 数据.csv")
        answer, entry = ask("PUT", path, content)
        self.assertEqual((answer.status, entry["size_bytes"], entry["sha256"]), (201, len(content), hashlib.sha256(content).hexdigest()))
        self.assertEqual([file["name"] for file in ask("GET", "/v1/shared-files")[1]["shared_files"]], ["été 数据.csv"])
        sessions = [self.server.session(attach={"data/big.csv": "été 数据.csv"}) for _ in range(3)]
        inodes = {self.server.execute(session, "import os; os.stat('data/big.csv').st_ino")["results"][0]["mime"]["text/plain"] for session in sessions}
        self.assertEqual(len(inodes), 1)
        self.assertIn(self.server.execute(sessions[0], "open('data/big.csv', 'a')")["error"]["name"], ("OSError", "PermissionError"))
        self.problem(ask("PUT", f"/v1/sessions/{sessions[0]}/files/data/big.csv", b"x"), 409, "file_read_only")
        self.assertTrue(ask("GET", f"/v1/sessions/{sessions[0]}/files")[1]["files"][0]["read_only"])
        self.assertEqual(ask("GET", f"/v1/sessions/{sessions[0]}/files/data/big.csv")[1], content)
        self.assertEqual(ask("GET", f"/v1/sessions/{sessions[0]}/preview/data/big.csv?rows=1")[1]["columns"][0]["name"], "a")
        self.assertEqual(ask("GET", f"/v1/sessions/{sessions[0]}/files/data/big.csv", headers={"Range": "bytes=2-2"})[1], b"b")
        self.assertEqual(ask("DELETE", path)[0].status, 204)
        self.assertEqual(ask("GET", f"/v1/sessions/{sessions[0]}/files/data/big.csv")[1], content)
        self.problem(ask("DELETE", path), 404, "shared_file_not_found")
        self.problem(ask("POST", "/v1/sessions", {"attach": {"x": "été 数据.csv"}}), 404, "shared_file_not_found")
        self.assertEqual(self.server.execute(sessions[0], "len(open('data/big.csv').read())")["results"][0]["mime"]["text/plain"], str(len(content)))
        self.problem(ask("PUT", "/v1/shared-files/..%2Fx", b"x"), 400, "file_name_refused")
        blobs = pathlib.Path(self.state, "journal/blobs")
        self.assertEqual(len([path for path in blobs.rglob("*") if path.is_file()]), 1)  # sessions have it still
        for session in sessions:
            ask("DELETE", f"/v1/sessions/{session}")
        self.wait(lambda: not [path for path in blobs.rglob("*") if path.is_file()])

    def test_shared_files_outlive_the_server(self):
        self.server.ask("PUT", "/v1/shared-files/a.csv", b"a\n1\n")
        self.server.stop(signal.SIGKILL)
        self.server = self.start()
        session = self.server.session(attach={"a.csv": "a.csv"})
        self.assertEqual(self.server.execute(session, "open('a.csv').read()")["results"][0]["mime"]["text/plain"], "'a\\n1\\n'")

    def test_a_preview_tells_what_an_uploaded_file_is(self):
        ask, session = self.server.ask, self.server.session()
        ask("PUT", f"/v1/sessions/{session}/files/" + urllib.parse.quote("ä 1.csv"), "naïve;preis\nx;1,5\ny;2,25\n;3\n".encode("latin-1"))
        self.server.execute(session, "import sys, builtins; builtins.open = None; sys.modules['pandas'] = None; x = 1")
        answer, preview = ask("GET", f"/v1/sessions/{session}/preview/" + urllib.parse.quote("ä 1.csv") + "?rows=2")
        self.assertEqual(answer.status, 200, preview)
        self.assertEqual((preview["delimiter"], [column["name"] for column in preview["columns"]], len(preview["first_rows"])), (";", ["naïve", "preis"], 2))
        self.assertEqual(self.server.execute(session, "x")["results"][0]["mime"]["text/plain"], "1")
        self.problem(ask("GET", f"/v1/sessions/{session}/preview/missing.csv"), 404, "file_not_found")
        self.problem(ask("GET", f"/v1/sessions/{session}/preview/..%2Fx"), 400, "file_name_refused")
        self.problem(ask("GET", f"/v1/sessions/{session}/preview/x?rows=101"), 400, "invalid_request")

    def test_an_address_in_use_is_told(self):
        command = [PROGRAM, "serve", "--listen", f"127.0.0.1:{self.server.port}", "--state", self.state + "-2", "--python-env", PYTHON_ENV]
        self.addCleanup(shutil.rmtree, self.state + "-2", ignore_errors=True)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("Address already in use", done.stderr)

    def test_a_stop_interrupts_what_runs_when_its_time_is_over(self):
        self.server.stop()
        self.server = self.start("--drain", "1s")
        session = self.server.session()
        records = []
        call = threading.Thread(target=lambda: records.append(self.server.execute(session, "while True: pass")))
        call.start()
        self.wait(lambda: self.server.ask("GET", f"/v1/sessions/{session}")[1]["state"] == "busy")
        self.assertEqual(self.server.stop(), 0)
        call.join()
        self.assertEqual((records[0]["status"], records[0]["session_state"]), ("interrupted", "gone"))
        self.assertIn("the server was stopped", records[0]["reason"])

    def test_a_session_says_what_it_holds_and_what_was_done_about_it(self):
        session = self.server.session()
        self.server.execute(session, "x = b'x' * (50 << 20)")
        memory = lambda: self.server.ask("GET", f"/v1/sessions/{session}")[1]["memory"]
        self.assertIn(memory()["level"], ("in_use", "given_back"))
        self.assertGreaterEqual(memory()["swapped_bytes"], 0)
        self.wait(lambda: memory()["bytes"] > 50 << 20)
        self.wait(lambda: memory()["level"] == "given_back")

    def test_an_idle_session_expires_and_says_when_and_why(self):
        session = self.server.session(idle_timeout_seconds=1)
        self.wait(lambda: self.server.ask("GET", f"/v1/sessions/{session}")[1].get("code") == "session_expired")
        answered = self.server.ask("POST", f"/v1/sessions/{session}/execute", {"code": "1"})
        self.problem(answered, 410, "session_expired")
        self.assertRegex(answered[1]["detail"], r"expired at 20\d\d-.*session\.idle")

    def test_what_is_wrong_with_a_request_is_told(self):
        session = self.server.session()
        self.problem(self.server.ask("GET", "/v1/sessions", token="wrong"), 401, "unauthenticated")
        self.problem(self.server.ask("GET", "/v1/nothing"), 404, "no_such_path")
        self.problem(self.server.ask("PUT", "/v1/sessions"), 405, "method_not_allowed")
        self.problem(self.server.ask("POST", "/v1/sessions", "{"), 400, "invalid_request")
        self.problem(self.server.ask("POST", "/v1/sessions", {"polcy": "x"}), 400, "invalid_request")
        self.problem(self.server.ask("POST", "/v1/sessions", {"policy": "x"}), 404, "unknown_policy")
        self.problem(self.server.ask("GET", "/v1/sessions/s-0"), 404, "session_not_found")
        self.problem(self.server.ask("PUT", f"/v1/sessions/{session}/files/..%2Fx", b"1"), 400, "file_name_refused")
        self.problem(self.server.ask("GET", f"/v1/sessions/{session}/files/x"), 404, "file_not_found")
        self.problem(self.server.ask("GET", "/healthz", headers={"Host": "evil.example"}), 421, "host_not_served")
        self.problem(self.server.ask("GET", "/healthz", headers={"Origin": "https://evil.example"}), 403, "origin_not_allowed")

    def test_bytes_that_are_no_good_request_are_refused(self):
        head = b"Host: localhost\r\nAuthorization: Bearer " + self.server.token.encode() + b"\r\n"
        last = b"Connection: close\r\n\r\n"
        for pieces, status in (
            ([b"hello\r\n\r\n"], b"400"),
            ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"], b"400"),
            ([b"GET /healthz HTTP/1.1\r\n" + last], b"400"),
            ([b"GET /healthz HTTP/1.1\r\n" + b"X: " + b"x" * 40_000 + b"\r\n\r\n"], b"431"),
            ([b"POST /v1/sessions HTTP/1.1\r\n" + head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"], b"400"),
            ([b"POST /v1/sessions HTTP/1.1\r\n" + head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n"], b"400"),
            ([b"POST /v1/sessions HTTP/1.1\r\n" + head + b"Content-Length: 99999999999\r\n\r\n"], b"413"),
            ([b"POST /v1/sessions HTTP/1.1\r\n" + head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"], b"400"),
            ([b"GET /v1/sessions/%zz HTTP/1.1\r\n" + head + last], b"404"),
            ([b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + last], b"200"),
            ([b"POST /v1/sessions HTTP/1.1\r\n" + head + b"Transfer-Encoding: chunked\r\n" + last, b"2\r\n{}\r\n", b"0\r\n\r\n"], b"201"),
        ):
            answer = self.raw(*pieces)
            self.assertEqual(answer.split(b" ", 2)[1:2], [status], (pieces, answer))
        self.assertEqual(self.server.ask("GET", "/healthz")[0].status, 200)

    def test_a_unix_socket_serves_as_well(self):
        path = os.path.join(self.state, "socket")
        state = tempfile.mkdtemp(prefix="cellblock-server-")
        self.addCleanup(shutil.rmtree, state, ignore_errors=True)
        process = subprocess.Popen([PROGRAM, "serve", "--unix", path, "--no-token", "--state", state, "--python-env", PYTHON_ENV], stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.terminate)
        self.assertIn(b"serves on unix:", process.stdout.readline())
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        answer = self.raw(b"POST /v1/run HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 14\r\n\r\n{\"code\":\"1+1\"}", family=socket.AF_UNIX, address=path)
        self.assertIn(b'"text/plain":"2"', answer)

    def test_a_closed_session_is_gone(self):
        session = self.server.session()
        self.assertEqual(self.server.ask("DELETE", f"/v1/sessions/{session}")[0].status, 204)
        self.problem(self.server.ask("GET", f"/v1/sessions/{session}"), 410, "session_closed")

    def test_helper_processes_that_were_killed_are_started_anew(self):
        session = self.server.session()
        self.assertEqual(self.server.execute(session, "1+1")["status"], "ok")
        children = [pid for task in pathlib.Path(f"/proc/{self.server.process.pid}/task").iterdir() for pid in (task / "children").read_text().split()]
        (nest,) = [int(pid) for pid in children if pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[1] == b"nest"]
        os.kill(nest, signal.SIGKILL)
        self.wait(lambda: self.server.ask("GET", f"/v1/sessions/{session}")[0].status == 410)
        self.problem(self.server.ask("GET", f"/v1/sessions/{session}"), 410, "session_died")
        self.wait(lambda: self.server.ask("GET", "/readyz")[0].status == 200)
        self.assertEqual(self.server.execute(self.server.session(), "1+1")["status"], "ok")

    def test_nothing_answered_is_lost_when_the_server_is_killed(self):
        session = self.server.session()
        record = self.server.execute(session, "open('kept.txt', 'w').write('kept'); 1")
        self.server.stop(signal.SIGKILL)
        self.server = self.start()
        self.assertEqual(self.server.ask("GET", f"/v1/executions/{record['id']}")[1], record)
        self.assertEqual(self.server.ask("GET", f"/v1/artifacts/{record['artifacts'][0]['id']}")[1], b"kept")
        self.problem(self.server.ask("GET", f"/v1/sessions/{session}"), 410, "session_died")

    def test_files_come_as_multipart_and_a_run_keeps_no_session(self):
        boundary = "b"
        parts = [('name="request"', json.dumps({"code": "open('in/a.csv').read()"})), ('name="in/a.csv"; filename="a.csv"', "1,2")]
        body = "".join(f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n{text}\r\n" for head, text in parts) + f"--{boundary}--\r\n"
        answer, record = self.server.ask("POST", "/v1/run", body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})
        self.assertEqual((answer.status, record["results"][0]["mime"]["text/plain"]), (200, "'1,2'"))
        self.problem(self.server.ask("GET", f"/v1/sessions/{record['session_id']}"), 410, "session_closed")

    def test_large_outputs_of_many_at_once_leave_the_server_small(self):
        def kilobytes(name):
            return int(next(line for line in pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text().splitlines() if line.startswith(name)).split()[1])

        code = "import sys\nfor stream in (sys.stdout, sys.stderr):\n    stream.write(chr(1) * (1 << 20))"  # each byte has six in JSON
        with concurrent.futures.ThreadPoolExecutor(16) as crowd:
            sizes = list(crowd.map(lambda _: len(self.server.ask("POST", "/v1/run", {"code": code})[1]["stdout"]), range(16)))
        self.assertEqual(sizes, [1 << 20] * 16)
        self.assertLess(kilobytes("VmHWM:"), 256 * 1024)  # 16 answers have 400 MiB
        self.wait(lambda: kilobytes("VmRSS:") < 64 * 1024)

    def test_every_route_is_described(self):
        description = self.server.ask("GET", "/v1/openapi.json")[1]
        self.assertEqual(description["openapi"], "3.1.0")
        for path, operations in description["paths"].items():
            for method in operations:
                answer, _ = self.server.ask(method.upper(), path.replace("{", "").replace("}", ""), None if method == "get" else "{}")
                self.assertNotIn(answer.status, (405, 500, 501), f"{method} {path}")

    def test_an_upload_reaches_the_call_that_runs(self):
        session = self.server.session()
        code = "import os, time\nend = time.monotonic() + 60\nwhile not os.path.exists('go') and time.monotonic() < end: time.sleep(0.01)\nopen('go').read()"
        records = []
        call = threading.Thread(target=lambda: records.append(self.server.execute(session, code)))
        call.start()
        self.wait(lambda: self.server.ask("GET", f"/v1/sessions/{session}")[1]["state"] == "busy")
        self.assertEqual(self.server.ask("PUT", f"/v1/sessions/{session}/files/go", b"came")[0].status, 201)
        call.join()
        self.assertEqual((records[0]["results"][0]["mime"]["text/plain"], records[0]["artifacts"]), ("'came'", []))

    def test_a_poll_says_that_it_shows_the_first_events_alone(self):
        session = self.server.session()
        large = "class Large:\n    def _repr_html_(self): return 'x' * 1_500_000\n"
        code = large + "import time\nfor i in range(8): display(Large())\nprint('last', flush=True)\nopen('printed', 'w').close()\ntime.sleep(600)"
        answer, body = self.server.ask("POST", f"/v1/sessions/{session}/execute", {"code": code, "detach": True})
        poll = lambda: self.server.ask("GET", answer.headers["Location"])[1]
        self.wait(lambda: poll()["events_truncated"])
        self.assertTrue(poll()["events"])
        self.wait(lambda: self.server.ask("GET", f"/v1/sessions/{session}/files/printed")[0].status == 200)
        self.server.ask("POST", f"/v1/executions/{body['execution_id']}/interrupt", "{}")
        self.wait(lambda: poll()["status"] == "interrupted")
        self.assertIn("last", poll()["stdout"])
        answer, _ = self.server.ask("POST", f"/v1/sessions/{session}/execute", {"code": "import time; time.sleep(600)", "detach": True})
        self.wait(lambda: poll()["status"] == "running")
        self.assertFalse(poll()["events_truncated"])

    def test_options_that_contradict_each_other_are_told_before_anything_is_made(self):
        for arguments, told in (
            (["--listen", "0.0.0.0:0", "--no-token"], "--no-token lets whoever reaches the server run code"),
            (["--tls-cert", "c.pem"], "come together"),
            (["--tokens", "t.yaml", "--no-token"], "contradict"),
        ):
            done = subprocess.run([PROGRAM, "serve", "--state", self.state + "-none", *arguments], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(told, done.stderr)
            self.assertFalse(os.path.exists(self.state + "-none"))

    def test_a_stop_right_after_the_start_is_one_too(self):
        for _ in range(5):
            self.assertEqual(self.server.stop(), 0)
            self.server = self.start()

    def test_it_ends_in_order(self):
        self.server.session()
        self.assertEqual(self.server.stop(), 0)


class TlsTest(Fixture):
    """The server with a certificate of its own, which only who was given it trusts."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="cellblock-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.certificate, cls.key = os.path.join(cls.folder, "cert.pem"), os.path.join(cls.folder, "key.pem")
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1"
        subprocess.run([*command.split(), "-keyout", cls.key, "-out", cls.certificate], check=True, capture_output=True)
        cls.arguments = ("--tls-cert", cls.certificate, "--tls-key", cls.key)

    def ask(self, context, name="127.0.0.1"):
        """A call, over a connection whose other end must prove to be `name`."""
        body = b'{"code":"1+1"}'
        head = f"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.server.token}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        with socket.create_connection((self.server.host, self.server.port), timeout=60) as plain, context.wrap_socket(plain, server_hostname=name) as client:
            client.sendall(head.encode() + body)
            answer = b""
            while more := client.recv(65536):
                answer += more
            return answer

    def test_who_trusts_the_certificate_is_served(self):
        self.assertTrue(self.server.address.startswith("https://127.0.0.1:"))
        context = ssl.create_default_context(cafile=self.certificate)
        for name in ("127.0.0.1", "localhost"):
            answer = self.ask(context, name)
            self.assertTrue(answer.startswith(b"HTTP/1.1 200"), answer)
            self.assertIn(b'"text/plain":"2"', answer)

    def test_another_name_and_another_authority_are_refused_by_the_client(self):
        with self.assertRaisesRegex(ssl.SSLCertVerificationError, "not valid for 'other.example'"):
            self.ask(ssl.create_default_context(cafile=self.certificate), "other.example")
        with self.assertRaisesRegex(ssl.SSLCertVerificationError, "self.signed certificate"):
            self.ask(ssl.create_default_context(), "localhost")
        self.assertIn(b"HTTP/1.1 200", self.ask(ssl.create_default_context(cafile=self.certificate)))

    def test_old_versions_of_tls_are_refused(self):
        context = ssl.create_default_context(cafile=self.certificate)
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.ask(context)
        context.maximum_version = context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.assertIn(b"HTTP/1.1 200", self.ask(context))

    def test_plain_http_is_told_to_use_tls(self):
        answer = self.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 400"), answer)
        self.assertIn(b"https://", answer)
        self.assertEqual(self.raw(b"\x00\x01nonsense that is neither\r\n\r\n")[:4] == b"HTTP", False)
        self.assertIn(b"HTTP/1.1 200", self.ask(ssl.create_default_context(cafile=self.certificate)))

    def test_a_certificate_that_cannot_be_used_is_named(self):
        other = os.path.join(self.folder, "other.pem")
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", other], check=True, capture_output=True)
        for certificate, key, told in ((os.path.join(self.folder, "none.pem"), self.key, "none.pem"), (self.certificate, other, "other.pem"), (self.key, self.key, "key.pem")):
            command = [PROGRAM, "serve", "--listen", "127.0.0.1:0", "--state", self.state + "-2", "--python-env", PYTHON_ENV, "--tls-cert", certificate, "--tls-key", key]
            self.addCleanup(shutil.rmtree, self.state + "-2", ignore_errors=True)
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (4, ""))
            self.assertIn(told, done.stderr)


class CurlTest(Fixture):
    """A tour as a shell makes it."""

    def curl(self, path, *arguments, status=200):
        """The body; the headers stand in self.headers by their lower-case names."""
        head = os.path.join(self.state, "head")
        command = ["curl", "-sS", "--max-time", "60", "-D", head, "-H", f"Authorization: Bearer {self.server.token}", *arguments, self.server.address + path]
        done = subprocess.run(command, capture_output=True, timeout=90)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = pathlib.Path(head).read_text().strip().split("\n\n")[-1].splitlines()
        self.assertEqual(int(lines[0].split()[1]), status, done.stdout)
        self.headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:] if ":" in line)}
        return done.stdout

    def test_files_of_any_name_come_back_whole_and_in_parts(self):
        session = self.server.session()
        files = f"/v1/sessions/{session}/files"
        names = ["two  spaces.csv", "été à Zoë.csv", "数据.csv", "📈 plan.csv", "it's \"quoted\".csv", "100%.csv", "a&b=c;d+e.csv", "-rf"]
        local = os.path.join(self.state, "local")
        for number, name in enumerate(names):
            content = f"content {number} of {name}".encode()
            pathlib.Path(local).write_bytes(content)
            quoted = urllib.parse.quote(name)
            if number % 2:
                entry = json.loads(self.curl(f"{files}/{quoted}", "-T", local, status=201))
            else:
                shown = name.replace("\\", "\\\\").replace('"', '\\"')
                entry = json.loads(self.curl(files, "-F", f'file=@{local};filename="{shown}"', status=201))["files"][0]
            self.assertEqual((entry["path"], entry["size_bytes"], entry["sha256"]), (name, len(content), hashlib.sha256(content).hexdigest()))
            self.assertEqual(self.curl(f"{files}/{quoted}"), content)
            self.assertIn("filename*=UTF-8''" + urllib.parse.quote(name, safe="-._~"), self.headers["content-disposition"])
            self.assertEqual(self.curl(f"{files}/{quoted}", "-r", "0-6", status=206), b"content")
            self.assertEqual(self.headers["content-range"], f"bytes 0-6/{len(content)}")
        listed = [entry["path"] for entry in json.loads(self.curl(files))["files"]]
        self.assertEqual(sorted(listed), sorted(names))
        shown = self.server.execute(session, "import os; sorted(os.listdir('.'))")["results"][0]["mime"]["text/plain"]
        self.assertEqual(ast.literal_eval(shown), sorted(names))

    def test_what_a_client_has_is_not_sent_again(self):
        session = self.server.session()
        self.server.execute(session, "open('a.txt', 'w').write('0123456789')")
        artifact = json.loads(self.curl(f"/v1/sessions/{session}/artifacts"))["artifacts"][0]["id"]
        path, tag = f"/v1/artifacts/{artifact}", os.path.join(self.state, "tag")
        self.assertEqual(self.curl(path, "--etag-save", tag), b"0123456789")
        self.assertEqual(self.curl(path, "--etag-compare", tag, status=304), b"")
        self.assertEqual(self.curl(path, "-r", "-3", status=206), b"789")
        self.assertEqual(self.curl(path, "-r", "2-4", "-H", "If-Range: " + self.headers["etag"], status=206), b"234")
        self.assertEqual(self.curl(path, "-r", "2-4", "-H", 'If-Range: "another"'), b"0123456789")
        self.assertEqual(json.loads(self.curl(path, "-r", "10-", status=416))["code"], "range_not_satisfiable")
        self.assertEqual(self.curl(path, "-I").count(b"0123456789"), 0)
        self.assertEqual(self.headers["content-length"], "10")

    def test_events_come_as_they_happen(self):
        session = self.server.session()
        text = self.curl(f"/v1/sessions/{session}/execute", "-N", "-H", "Accept: text/event-stream", "--json", '{"code":"print(1)\\n2"}').decode()
        self.assertEqual([line[7:] for line in text.splitlines() if line.startswith("event: ")], ["started", "stdout", "result", "done"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
