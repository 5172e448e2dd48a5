# The rows of CASES (what users of such servers ran into) that need a server. Over real sockets; runs as whoever runs the test.
import concurrent.futures
import http.client
import json
import pathlib
import sys
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import server_test  # noqa: E402


class ServerCasesTest(server_test.Fixture):
    def value(self, session, code):
        record = self.server.execute(session, code)
        self.assertEqual(record["status"], "ok", record["error"])
        return record["results"][0]["mime"]["text/plain"]

    def put(self, session, name, content):
        answer, body = self.server.ask("PUT", f"/v1/sessions/{session}/files/" + urllib.parse.quote(name), content)
        self.assertEqual(answer.status, 201, body)

    def test_row_10_sessions_of_one_warm_interpreter_draw_other_numbers(self):
        code = "import random, secrets, tempfile, uuid, numpy\n[random.random(), numpy.random.rand(), uuid.uuid4().hex, tempfile.mktemp(), secrets.token_hex()]"
        drawn = [eval(self.value(self.server.session(), code)) for _ in range(3)]
        for same in zip(*drawn):
            self.assertEqual(len(set(same)), 3, same)

    def test_row_19_a_table_with_times_is_strict_json(self):
        session = self.server.session()
        record = self.server.execute(session, "import pandas as pd, numpy as np\npd.DataFrame({'t': [pd.Timestamp('2024-01-01', tz='UTC'), pd.NaT], 'n': [np.nan, np.inf]})")
        mime = record["results"][0]["mime"]
        self.assertIn("2024-01-01", mime["text/plain"])
        self.assertIn("2024-01-01", mime["text/html"])

    def test_rows_34_to_36_files_keep_their_names_and_places(self):
        session = self.server.session()
        names = ["Données – été (1).csv", "数据.csv", "a'b.csv", "📈 \"x\".csv", "a b/c d.csv"]
        for name in names:
            self.put(session, name, name.encode())
        for _ in range(3):
            listed = self.value(session, "import os; sorted(os.path.relpath(os.path.join(at, name)) for at, _, files in os.walk('.') for name in files)")
            self.assertEqual(eval(listed), sorted(names))
        for name in names:
            self.assertEqual(self.value(session, f"open({name!r}).read()"), repr(name))
            self.assertEqual(self.server.ask("GET", f"/v1/sessions/{session}/files/" + urllib.parse.quote(name))[1], name.encode())
        self.put(session, "数据.csv", b"again")
        self.assertEqual(self.value(session, "open('数据.csv').read()"), "'again'")
        listed = [file["path"] for file in self.server.ask("GET", f"/v1/sessions/{session}/files")[1]["files"]]
        self.assertEqual(listed, sorted(names))

    def test_row_51_never_ran_ran_and_unknown_are_told_apart(self):
        policies = pathlib.Path(self.state, "policies")
        policies.mkdir()
        (policies / "default.yaml").write_text("name: default\nsession: {queue: 0}\n")
        self.server.stop()
        self.server = self.start("--policies", str(policies))
        session = self.server.session()
        path = f"/v1/sessions/{session}/execute"
        ended = self.server.execute(session, "import os; os.kill(os.getpid(), 9)")
        self.assertEqual((ended["status"], ended["session_state"]), ("killed", "gone"))  # started, and how it ended
        refused = self.server.execute(session, "1")
        self.assertEqual(refused["status"], "rejected")  # never ran
        self.server.ask("POST", f"/v1/sessions/{session}/restart", {})
        detached = self.server.ask("POST", path, {"code": "import time; time.sleep(100)", "detach": True})[1]["execution_id"]
        self.wait(lambda: self.server.ask("GET", f"/v1/executions/{detached}")[1]["status"] == "running")
        answer, _ = self.server.ask("POST", path, {"code": "1"})
        self.assertEqual((answer.status, int(answer.headers["Retry-After"]) >= 1), (429, True))  # never ran, try again
        self.server.stop(9)
        self.server = self.start("--policies", str(policies))
        lost = self.server.ask("GET", f"/v1/executions/{detached}")
        self.assertEqual(lost[1]["status"], "lost")  # started, and nobody knows how it ended
        self.assertIn("how far it came is not known", lost[1]["reason"])

    def test_row_77_sessions_made_one_after_the_other_share_nothing(self):
        for _ in range(50):
            session = self.server.session()
            self.assertEqual(self.server.execute(session, "assert 'v' not in globals(); v = 1; open('/tmp/v', 'x').close(); open('v', 'x').close()")["status"], "ok")
            self.server.ask("DELETE", f"/v1/sessions/{session}")

    def test_row_79_an_open_connection_keeps_no_idle_session(self):
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=60)
        self.addCleanup(connection.close)
        headers = {"Authorization": f"Bearer {self.server.token}"}

        def ask(method, path, body=None):
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

        session = ask("POST", "/v1/sessions", {"idle_timeout_seconds": 1})[1]["id"]
        end = time.monotonic() + 60
        while ask("GET", f"/v1/sessions/{session}")[0] == 200 and time.monotonic() < end:
            time.sleep(0.5)
        status, problem = ask("POST", f"/v1/sessions/{session}/execute", {"code": "1"})
        self.assertEqual((status, problem["code"]), (410, "session_expired"))
        self.assertRegex(problem["detail"], r"\d{4}-\d\d-\d\d.*idle")

    def test_sixty_four_spinning_sessions_keep_nobody_from_an_answer(self):
        spinning = [self.server.session() for _ in range(64)]
        for session in spinning:
            self.server.ask("POST", f"/v1/sessions/{session}/execute", {"code": "while True: pass", "detach": True, "timeout_seconds": 120})
        session = self.server.session()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(self.server.execute, session, "1 + 1") for _ in range(4)] + [pool.submit(self.server.ask, "GET", f"/v1/sessions/{one}") for one in spinning[:8]]
            for call in calls[:4]:
                self.assertEqual(call.result(60)["results"][0]["mime"]["text/plain"], "2")
            for call in calls[4:]:
                self.assertEqual(call.result(60)[1]["state"], "busy")


if __name__ == "__main__":
    unittest.main(verbosity=2)
