# What an operator sees of a server, and how it is stopped: metrics, logs, the service manager's notifications. Runs `cellblock serve`
# (CELLBLOCK_PROGRAM) with a state folder of its own for each test, as whoever runs the test.
import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import server_test  # noqa: E402

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
OF_HISTOGRAMS = ("_bucket", "_sum", "_count")


class Metrics:
    """Prometheus' text exposition format, version 0.0.4, read strictly."""

    def __init__(self, text):
        self.samples, self.types, self.helps = {}, {}, {}
        assert text.endswith("\n")
        for line in text[:-1].split("\n"):
            if line.startswith("#"):
                _, kind, name, rest = line.split(" ", 3)
                known = {"HELP": self.helps, "TYPE": self.types}[kind]
                assert name not in known, f"two of {line}"
                known[name] = rest
                self.family = name
                continue
            match = SAMPLE.fullmatch(line)
            assert match, f"no sample: {line!r}"
            name, labels, value = match.groups()
            family = name
            for end in OF_HISTOGRAMS:
                if name.endswith(end) and self.types.get(name[: -len(end)]) == "histogram":
                    family = name[: -len(end)]
            assert family == self.family, f"{name} stands among {self.family}"
            key = (name, frozenset(LABEL.findall(labels or "")))
            assert key not in self.samples, f"twice: {line}"
            self.samples[key] = float(value)

    def __call__(self, name, **labels):
        return self.samples.get((name, frozenset(labels.items())), 0.0)

    def label_values(self, name, label):
        return {dict(labels).get(label) for found, labels in self.samples if found == name}

    def check(self):
        assert set(self.types) == set(self.helps), set(self.types) ^ set(self.helps)
        histograms = {}
        for (name, labels), value in self.samples.items():
            if name.endswith("_bucket"):
                rest = frozenset(item for item in labels if item[0] != "le")
                histograms.setdefault((name[:-7], rest), []).append((float(dict(labels)["le"]), value))
        for (name, rest), buckets in histograms.items():
            counts = [count for _, count in sorted(buckets)]
            assert counts == sorted(counts), name
            assert max(buckets) == (float("inf"), self.samples[(name + "_count", rest)]), name


class WatchingTest(server_test.Fixture):
    # What a request adds is counted when its reply has gone out: its client may ask before that.
    def metrics(self, token=None):
        answer, text = self.server.ask("GET", "/metrics", token=token)
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"), text)
        metrics = Metrics(text.decode())
        metrics.check()
        return metrics

    def restart(self, *arguments):
        self.server.stop()
        self.server = self.start(*arguments)

    def test_metrics_are_text_that_prometheus_reads(self):
        self.restart("--pool", "0")
        self.server.execute(self.server.session(), "1")
        metrics = self.metrics()
        for name, kind in (("cellblock_calls_total", "counter"), ("cellblock_sessions", "gauge"), ("cellblock_call_duration_seconds", "histogram"), ("process_open_fds", "gauge")):
            self.assertEqual(metrics.types[name], kind)
        for name in metrics.types:
            self.assertRegex(name, r"^(cellblock|process)_[a-z_]+$")
            self.assertEqual(name.endswith("_total"), metrics.types[name] == "counter", name)
        self.assertEqual(metrics.label_values("cellblock_session_start_step_seconds_count", "step"), {"cgroup", "jail", "workspace", "zygote", "fork", "lock_down", "interpreter"})
        self.wait(lambda: self.metrics()("cellblock_ready") == 1)

    def test_sessions_from_the_pool_are_counted_apart(self):
        self.wait(lambda: self.metrics()("cellblock_pool_ready") >= 1)
        self.assertGreater(self.metrics()("cellblock_pool_memory_bytes"), 1 << 20)
        self.assertEqual(self.server.execute(self.server.session(), "6 * 7")["results"][0]["mime"]["text/plain"], "42")
        metrics = self.metrics()
        self.assertEqual(metrics("cellblock_pool_sessions_total", **{"from": "pool"}), 1)
        self.assertEqual(metrics.label_values("cellblock_session_start_step_seconds_count", "step"), {"hand_out"})

    def test_calls_are_counted_by_how_they_ended(self):
        session = self.server.session()
        self.server.execute(session, "echo hello", language="bash")
        for code in ("1", "1/0", "exit(3)", "open('/etc/x', 'w')", "print('x' * 99)"):
            self.server.execute(session, code)
        self.server.execute(session, "while True: pass", timeout_seconds=0.3)  # the last: on a busy machine it may not get the time to stop, and be killed
        metrics = self.metrics()

        def calls(language, status):
            return metrics("cellblock_calls_total", language=language, status=status)

        self.assertEqual([calls("python", status) for status in ("ok", "error", "exited", "timeout", "killed")], [2, 2, 1, 1, 0])
        self.assertEqual(calls("bash", "ok"), 1)
        self.assertEqual(metrics("cellblock_denials_total", kind="file", rule="only /workspace, /tmp and /dev/shm can be written"), 1)
        self.assertEqual(metrics("cellblock_limits_hit_total", limit="wall"), 1)
        self.assertEqual(metrics("cellblock_call_duration_seconds_count", language="python"), 6)
        self.assertGreaterEqual(metrics("cellblock_output_bytes_total"), 100 + 6)
        self.assertGreater(metrics("cellblock_call_cpu_seconds_total"), 0.01)

    def test_sessions_are_counted_by_state_and_by_why_they_ended(self):
        self.assertEqual(self.metrics()("cellblock_sessions", state="idle"), 0)
        sessions = [self.server.session() for _ in range(2)]
        now = self.metrics()
        self.assertEqual((now("cellblock_sessions", state="idle"), now("cellblock_sessions_created_total"), now("cellblock_session_start_seconds_count")), (2, 2, 2))
        self.wait(lambda: self.metrics()("cellblock_zygotes") == 1)
        self.server.execute(sessions[0], "held = bytearray(50 << 20)")
        self.wait(lambda: self.metrics()("cellblock_sessions_memory_bytes") > 50 << 20)
        call = threading.Thread(target=self.server.execute, args=(sessions[0], "while True: pass"), kwargs={"timeout_seconds": 5})
        call.start()
        self.wait(lambda: self.metrics()("cellblock_sessions", state="busy") == 1 and self.metrics()("cellblock_calls_running") == 1)
        call.join()
        self.server.ask("DELETE", f"/v1/sessions/{sessions[1]}")
        self.server.session(idle_timeout_seconds=1)
        self.wait(lambda: self.metrics()("cellblock_sessions_closed_total", cause="idle") == 1)
        now = self.metrics()
        self.assertEqual((now("cellblock_sessions_closed_total", cause="closed"), now("cellblock_sessions", state="idle")), (1, 1))

    def test_what_came_too_many_is_counted_by_reason(self):
        self.restart("--sessions", "1")
        session = self.server.session()
        self.problem(self.server.ask("POST", "/v1/sessions", {}), 429, "too_many_sessions")
        self.problem(self.server.ask("POST", "/v1/sessions", {"policy": "none"}), 404, "unknown_policy")
        self.problem(self.server.ask("GET", f"/v1/sessions/{session}/files/nothing"), 404, "file_not_found")
        metrics = self.metrics()
        self.assertEqual(metrics("cellblock_rejected_total", reason="too_many_sessions"), 1)
        self.assertEqual(metrics("cellblock_rejected_total", reason="queue_full"), 0)
        self.assertEqual(metrics("cellblock_refused_total", verb="create_session", code="unknown_policy"), 1)
        self.assertEqual(metrics("cellblock_refused_total", verb="get_file", code="file_not_found"), 1)
        self.wait(lambda: self.metrics()("cellblock_http_requests_total", method="POST", route="/v1/sessions", code="429") == 1)
        self.assertEqual(metrics("cellblock_sessions_max"), 1)

    def test_bytes_are_counted_where_they_pass(self):
        session = self.server.session()
        path = f"/v1/sessions/{session}/files/a.bin"
        self.server.ask("PUT", path, b"x" * 5000)
        self.server.ask("GET", path)
        self.server.execute(session, "open('b.bin', 'wb').write(bytes(700)); None")
        self.server.ask("POST", f"/v1/sessions/{session}/execute", {"code": "print('y' * 3000)"}, {"Accept": "text/event-stream"})
        metrics = self.metrics()
        self.assertEqual([metrics("cellblock_file_bytes_total", direction=direction) for direction in ("in", "out")], [5000, 5000])
        self.assertEqual((metrics("cellblock_artifacts_total"), metrics("cellblock_artifact_bytes_total"), metrics("cellblock_journal_content_bytes")), (1, 700, 700))
        route = "/v1/sessions/{id}/files/{path...}"
        self.wait(lambda: self.metrics()("cellblock_http_request_bytes_total", route=route) == 5000)
        self.wait(lambda: self.metrics()("cellblock_http_response_bytes_total", route=route) >= 5000)
        self.wait(lambda: self.metrics()("cellblock_http_response_bytes_total", route="/v1/sessions/{id}/execute") > 6000)
        self.assertGreater(metrics("cellblock_journal_database_bytes"), 1000)

    def test_no_label_holds_what_a_client_chose(self):
        session = self.server.session()
        for i in range(60):
            self.server.ask("GET", f"/odd-path-{i}")
            self.server.ask("GET", f"/v1/sessions/odd-session-{i}")
            self.server.ask("PUT", f"/v1/sessions/{session}/files/odd-file-{i}", b"1")
            self.server.ask(f"ODDMETHOD{i}", "/v1/sessions")
            self.server.ask("GET", f"/v1/sessions/{session}/files/odd-none-{i}?odd-query={i}", headers={"X-Request-Id": f"odd-request-{i}"})
        self.wait(lambda: self.metrics()("cellblock_http_requests_total", method="GET", route="none", code="404") == 60)
        text = self.server.ask("GET", "/metrics")[1].decode()
        self.assertNotIn("odd", text.lower())
        self.assertNotIn(session, text)
        metrics = Metrics(text)
        self.assertEqual(metrics.label_values("cellblock_http_requests_total", "method"), {"GET", "POST", "PUT", "other"})
        self.assertLess(len(metrics.samples), 1000)

    def test_metrics_ask_for_a_token_that_may_see_them(self):
        self.problem(self.server.ask("GET", "/metrics", token="wrong"), 401, "unauthenticated")
        self.assertIn(b" 401 ", self.raw(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").split(b"\r\n")[0])
        secrets = {"tenant": "a-tenants-secret", "operator": "an-operators-secret", "scraper": "the-scrapers-secret"}
        tokens = pathlib.Path(self.state, "tokens.yaml")
        lines = [f"  - {{name: {name}, sha256: {hashlib.sha256(secret.encode()).hexdigest()}{more}}}"
                 for (name, secret), more in zip(secrets.items(), ("", ", metrics: yes", ", metrics: only"))]
        tokens.write_text("tokens:\n" + "\n".join(lines) + "\n")
        self.restart("--tokens", str(tokens))
        self.problem(self.server.ask("GET", "/metrics", token=secrets["tenant"]), 403, "metrics_not_allowed")
        self.metrics(secrets["operator"])
        self.metrics(secrets["scraper"])
        self.assertEqual(self.server.ask("GET", "/v1/sessions", token=secrets["operator"])[0].status, 200)
        self.problem(self.server.ask("POST", "/v1/run", {"code": "1"}, token=secrets["scraper"]), 403, "metrics_only")
        self.problem(self.server.ask("GET", "/v1/sessions", token=secrets["scraper"]), 403, "metrics_only")

    def test_metrics_are_open_when_the_operator_says_so(self):
        self.restart("--metrics-open")
        self.assertIn(b" 200 ", self.raw(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").split(b"\r\n")[0])
        self.problem(self.server.ask("GET", "/v1/sessions", token="wrong"), 401, "unauthenticated")

    def test_every_line_of_a_json_log_is_an_object(self):
        self.restart("--log-format", "json", "--log", "-", "--audit", "-")
        session = self.server.session()
        self.server.ask("POST", f"/v1/sessions/{session}/execute", {"code": "print('{')"}, {"X-Request-Id": "mine-1"})
        self.server.ask("GET", "/v1/sessions/" + "s" * 3000)
        self.server.process.send_signal(signal.SIGHUP)
        text = iter(self.server.process.stderr.readline, "")
        lines = []
        while not lines or "read again" not in lines[-1].get("message", ""):
            lines.append(json.loads(next(text)))
        self.server.process.terminate()
        lines += [json.loads(line) for line in text]
        self.server.process.wait(timeout=60)
        own = [line["message"] for line in lines if "level" in line]
        self.assertRegex("\n".join(own), r"(?s)^serves on http://.*\npolicies were read again: \d+\nstopping; .*\nstopped$")
        for line in lines:
            self.assertRegex(line["time"], r"^20\d\d-\d\d-\d\dT[\d:.]+Z$")
        request = next(line for line in lines if line.get("request_id") == "mine-1" and "route" in line)
        self.assertEqual((request["session_id"], request["route"], request["status"]), (session, "/v1/sessions/{id}/execute", 200))
        self.assertTrue(any(line.get("event") == "call_ended" and line["request_id"] == "mine-1" for line in lines))
        self.assertLess(max(len(json.dumps(line)) for line in lines), 4096)

    def test_a_service_manager_is_told_of_start_reload_and_stop(self):
        path = os.path.join(self.state, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(30)
            os.environ["NOTIFY_SOCKET"] = path
            try:
                self.restart()
            finally:
                del os.environ["NOTIFY_SOCKET"]

            def told(key):
                while True:
                    lines = manager.recv(4096).decode().split("\n")
                    if lines[0] != "WATCHDOG=1":
                        self.assertEqual(lines[0], f"{key}=1")
                        return dict(line.split("=", 1) for line in lines)

            self.assertEqual(told("READY")["STATUS"], f"serves on http://{self.server.host}:{self.server.port}")
            self.assertEqual(manager.recv(4096), b"WATCHDOG=1")
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
            self.server.process.send_signal(signal.SIGHUP)
            self.assertGreaterEqual(int(told("RELOADING")["MONOTONIC_USEC"]), before)
            told("READY")
            self.assertEqual(self.server.stop(), 0)
            self.assertIn("stopping", told("STOPPING")["STATUS"])

    def test_a_stop_does_not_wait_for_connections_that_wait_for_nothing(self):
        self.wait(lambda: self.server.ask("GET", "/readyz")[0].status == 200)  # the start of the first interpreter is waited for
        idle = [http.client.HTTPConnection(self.server.host, self.server.port, timeout=30) for _ in range(3)]
        for connection in idle:
            connection.request("GET", "/healthz")
            connection.getresponse().read()
        silent = socket.create_connection((self.server.host, self.server.port))
        self.wait(lambda: self.metrics()("cellblock_http_connections") >= 5)
        self.server.process.terminate()
        began = time.monotonic()
        self.server.process.wait(timeout=30)
        took = time.monotonic() - began
        for connection in (*(connection.sock for connection in idle), silent):
            self.assertEqual(connection.recv(1), b"")
            connection.close()
        self.assertLess(took, 4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
