# A session's way out, end to end: policies, the egress proxy, and what clients of every kind get to see. The world outside is servers on
# loopback, which the policies name by fixed addresses.
import json
import os
import signal
import subprocess
import tempfile
import unittest

import servers
from cells import PROGRAM, PYTHON_ENV, Case, explain, run


def rule(host, server, **more):
    return {"host": host, "ports": [server.server_address[1]], "addresses": ["127.0.0.1"], **more}


WITHOUT_PROXY = "import os\nfor name in list(os.environ):\n    if name.lower().endswith('_proxy'): del os.environ[name]"


class AllowedHostsTest(Case):
    """What a policy allows works with every client, with and without the proxy that the environment names."""

    @classmethod
    def setUpClass(cls):
        cls.web = servers.teller()
        cls.port = cls.web.server_address[1]
        cls.policy = {"network": {"allow": [rule("api.test", cls.web)]}}

    def each_way(self, code):
        with_proxy, _, without = run(self.policy, [code, WITHOUT_PROXY, code])
        self.assertEqual(self.printed(with_proxy), self.printed(without))
        return with_proxy, without

    def test_urllib_reads_a_page(self):
        record, _ = self.each_way(f"import urllib.request, json\nprint(json.load(urllib.request.urlopen('http://api.test:{self.port}/x?y=1'))['path'])")
        self.assertEqual(record["stdout"].strip(), "/x?y=1")

    def test_requests_posts_and_reads(self):
        record, _ = self.each_way(f"import requests\nr = requests.post('http://api.test:{self.port}/x', json={{'a': 1}})\nprint(r.status_code, r.json()['method'], r.json()['text'])")
        self.assertEqual(record["stdout"].strip(), '200 POST {"a": 1}')

    def test_a_session_of_requests_keeps_its_connection(self):
        self.each_way(f"import requests\ns = requests.Session()\nprint([s.get(f'http://api.test:{self.port}/{{i}}').json()['path'] for i in range(5)])")

    def test_httpx_reads_a_page(self):
        self.each_way(f"import httpx\nprint(httpx.get('http://api.test:{self.port}/x').json()['path'])")

    def test_pandas_reads_a_table(self):
        record, _ = self.each_way(f"import pandas as pd\nprint(pd.read_csv('http://api.test:{self.port}/table')['b'].sum())")
        self.assertEqual(record["stdout"].strip(), "6")

    def test_curl_reads_a_page(self):
        record, _ = self.each_way(f"import subprocess\nprint(subprocess.run(['curl', '-sS', 'http://api.test:{self.port}/table'], capture_output=True, text=True).stdout)")
        self.assertIn("3,4", record["stdout"])

    def test_a_raw_socket_speaks_http(self):
        (record,) = run(self.policy, [f"import socket\ns = socket.create_connection(('api.test', {self.port}))\ns.sendall(b'GET /raw HTTP/1.0\\r\\nHost: api.test\\r\\n\\r\\n')\nprint(s.recv(100).split(b'\\r\\n')[0].decode())"])
        self.assertEqual(self.printed(record), "HTTP/1.1 200 OK")

    def test_asyncio_reads_a_page(self):
        code = f"""
import asyncio
reader, writer = await asyncio.open_connection('api.test', {self.port})
writer.write(b'GET /async HTTP/1.1\\r\\nHost: api.test:{self.port}\\r\\nConnection: close\\r\\n\\r\\n')
print((await reader.read()).split(b'\\r\\n')[0].decode())"""
        self.assertEqual(self.printed(run(self.policy, [code])[0]), "HTTP/1.1 200 OK")

    def test_bash_reads_a_page(self):
        (record,) = run(self.policy, [f"%%bash\nexec 3<>/dev/tcp/api.test/{self.port}\nprintf 'GET /bash HTTP/1.0\\r\\nHost: api.test\\r\\n\\r\\n' >&3\nhead -1 <&3"])
        self.assertEqual(self.printed(record), "HTTP/1.1 200 OK")

    def test_bodies_come_whole_both_ways(self):
        code = f"""
import requests, hashlib, io
big = requests.get('http://api.test:{self.port}/big').content
print(len(big), hashlib.sha256(big).hexdigest()[:8])
print(requests.put('http://api.test:{self.port}/up', data=io.BytesIO(b'x' * 3_000_000)).json()['body'])
print(requests.put('http://api.test:{self.port}/up', data=(b'y' * 1000 for _ in range(500))).json()['body'])
print(requests.head('http://api.test:{self.port}/table').headers['Content-Length'])
print(requests.get('http://api.test:{self.port}/chunks').text, requests.get('http://api.test:{self.port}/until-close').text)"""
        record, _ = self.each_way(code)
        self.assertEqual(record["stdout"].split()[:2][0], str(servers.BIG_BYTES))
        self.assertIn("3000000\n500000\n12\none two three to the end", record["stdout"])

    def test_a_body_that_is_cut_does_not_look_whole(self):
        record, _ = self.each_way(f"import requests\ntry:\n    requests.get('http://api.test:{self.port}/cut')\n    print('whole')\nexcept requests.exceptions.RequestException:\n    print('cut')")
        self.assertEqual(record["stdout"].strip(), "cut")

    def test_the_record_tells_of_each_request_and_its_bytes(self):
        (record,) = run(self.policy, [f"import requests\nrequests.get('http://api.test:{self.port}/big')\nrequests.post('http://api.test:{self.port}/x?key=hidden', data=b'z' * 1000)"])
        first, second = record["egress"]
        self.assertEqual((first["protocol"], first["host"], first["port"], first["method"], first["path"]), ("http", "api.test", self.port, "GET", "/big"))
        self.assertEqual((first["allowed"], first["rule"], first["status"]), (True, "network.allow[0]: api.test", 200))
        self.assertGreater(first["received_bytes"], servers.BIG_BYTES)
        self.assertLess(first["received_bytes"], servers.BIG_BYTES + 2000)
        self.assertGreater(second["sent_bytes"], 1000)
        self.assertEqual(second["path"], "/x")  # a query may hold what is nobody's business
        self.assertGreater(second["wall_seconds"], 0)
        self.assertGreater(record["receipt"]["egress_bytes"], servers.BIG_BYTES + 1000)
        self.assertEqual([event["index"] for event in record["events"] if event["type"] == "egress"], [0, 1])
        self.assertNotIn("hidden", json.dumps(record["egress"]))

    def test_a_body_in_chunks_that_are_none(self):
        code = f"import socket\ns = socket.create_connection(('api.test', {self.port}))\ns.settimeout(3)\ns.sendall(b'POST /v1/ HTTP/1.1\\r\\nHost: api.test\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nhello\\r\\nZZ\\r\\n')\nprint(s.recv(1000).split(b'\\r\\n')[0].decode())"
        (record,) = run(self.policy, [code])
        self.assertTrue(self.printed(record).startswith("HTTP/1.1 400 Refused by Cellblock"), record["stdout"])
        (told,) = [egress for egress in record["egress"] if egress["protocol"] == "http"]
        self.assertEqual(told["status"], 400)
        self.assertGreater(told["sent_bytes"], 50)  # also of a request that failed

    def test_what_is_not_the_policys_doing_is_not_told_as_such(self):
        missing, own = run(self.policy, [f"import requests\nrequests.get('http://api.test:{self.port}/missing').raise_for_status()", "import requests\nrequests.get('http://127.0.0.1:5000/')"])
        self.assertIn("404", missing["error"]["value"])
        self.assertEqual((missing["error"]["hint"], missing["denials"]), (None, []))
        self.assertIn("this session's own", own["error"]["hint"])

    def test_a_server_that_ends_kept_connections_costs_no_request(self):
        self.each_way(f"import requests, time\ns = requests.Session()\nfor _ in range(3):\n    assert s.get(f'http://api.test:{self.port}/once').text == 'once'\n    time.sleep(0.2)\nprint('fine')")

    def test_what_a_thread_does_between_two_calls_is_told_by_the_next(self):
        code = f"import threading, time, requests\ndef later():\n    time.sleep(0.3)\n    requests.get('http://api.test:{self.port}/later')\nthreading.Thread(target=later).start()"
        first, second = run(self.policy, [code, "import time\ntime.sleep(1)"])
        self.assertEqual([entry["path"] for entry in first.get("egress", []) + second.get("egress", [])], ["/later"])
        self.assertGreater(first["receipt"]["egress_bytes"] + second["receipt"]["egress_bytes"], 100)

    def test_fields_that_stand_for_another_method_or_path_are_left_out(self):
        (record,) = run(self.policy, [f"import requests\nprint(requests.get('http://api.test:{self.port}/x', headers={{'X-HTTP-Method-Override': 'DELETE', 'X_Original_URL': '/admin', 'X-Kept': '1'}}).json()['headers'])"])
        self.assertNotRegex(self.printed(record), "DELETE|admin")
        self.assertIn("X-Kept", record["stdout"])

    def test_a_server_inside_the_session_is_its_own(self):
        code = """
import http.server, threading, urllib.request
server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f'http://127.0.0.1:{server.server_address[1]}/').status)"""
        self.assertEqual(self.printed(run(self.policy, [code])[0]), "200")


class OtherProtocolsTest(Case):
    """Neither HTTP nor TLS."""

    def test_bytes_pass_both_ways(self):
        server = servers.echo()
        port = server.server_address[1]
        (record,) = run({"network": {"allow": [rule("db.test", server)]}}, [
            f"import socket\ns = socket.create_connection(('db.test', {port}))\ns.sendall(b'\\x00\\x01ping')\nprint(s.recv(100))\ns.sendall(b'x' * 1_000_000)\nn = 0\nwhile n < 1_000_000: n += len(s.recv(65536))\nprint(n)\ns.shutdown(1)\nprint(s.recv(10))"])
        self.assertEqual(self.printed(record).split("\n"), ["b'\\x00\\x01ping'", "1000000", "b''"])
        self.assertEqual((record["egress"][0]["protocol"], record["egress"][0]["allowed"]), ("tcp", True))

    def test_a_server_may_speak_first(self):
        server = servers.banner()
        port = server.server_address[1]
        (record,) = run({"network": {"allow": [rule("mail.test", server)]}}, [
            f"import socket\ns = socket.create_connection(('mail.test', {port}))\nprint(s.recv(100))\ns.sendall(b'EHLO me\\r\\n')\nprint(s.recv(100))"])
        self.assertEqual(self.printed(record), "b'220 ready\\r\\n'\nb'you said EHLO me\\r\\n'")

    def test_a_client_that_begins_late_is_still_looked_at(self):
        web = servers.teller()
        port = web.server_address[1]
        for text, expected in (("GET /x HTTP/1.0\\r\\nHost: other.test\\r\\n\\r\\n", "421"), ("\\r\\nTRACE /x HTTP/1.0\\r\\n\\r\\n", "400"), ("GET /x HTTP/1.0\\r\\nHost: db.test\\r\\n\\r\\n", "200")):
            (record,) = run({"network": {"allow": [rule("db.test", web)]}}, [f"import socket, time\ns = socket.create_connection(('db.test', {port}))\ntime.sleep(0.6)\ns.sendall(b'{text}')\nprint(s.recv(100).split()[1].decode())"])
            self.assertEqual(self.printed(record), expected, text)

    def test_a_client_that_gives_up_gives_its_place_back(self):
        silent = servers.silent()
        self.addCleanup(silent.close)
        port = silent.getsockname()[1]
        policy = {"network": {"allow": [{"host": "slow.test", "ports": [port], "addresses": ["127.0.0.1"]}], "connections": 4}}
        code = f"import requests, time\nfor _ in range(8):\n    try: requests.get('http://slow.test:{port}/', timeout=0.3)\n    except requests.exceptions.ReadTimeout: pass\n    time.sleep(0.5)\nprint('fine')"
        (record,) = run(policy, [code])
        self.assertEqual(self.printed(record), "fine")
        self.assertEqual(record["receipt"]["limits_hit"], [])

    def test_a_rule_for_http_lets_nothing_else_pass(self):
        server = servers.echo()
        (record,) = run({"network": {"allow": [rule("db.test", server, protocol="http")]}}, [f"import socket\ns = socket.create_connection(('db.test', {server.server_address[1]}))\ns.sendall(b'\\x00\\x01ping')\ns.recv(100)"])
        self.refused(record, "network.allow", "db.test")


class RefusedTest(Case):
    """Everything else fails at once, and says by which rule."""

    @classmethod
    def setUpClass(cls):
        cls.web, cls.other = servers.teller(), servers.teller()
        cls.port = cls.web.server_address[1]
        cls.policy = {"network": {"allow": [rule("api.test", cls.web, methods=["GET", "HEAD"], paths=["/v1/", "/elsewhere", "/inside"]), rule("*.wide.test", cls.web)]}}

    def check(self, code, rule_name="network.allow", subject=None, hint=None):
        for record in run(self.policy, [code, WITHOUT_PROXY, code])[::2]:
            self.refused(record, rule_name, subject)
            if hint:
                self.assertIn(hint, record["error"]["hint"])

    def test_another_host(self):
        self.check("import urllib.request\nurllib.request.urlopen('http://other.test/')", subject="other.test", hint="other.test")
        self.check("import requests\nrequests.get('https://other.test/')", subject="other.test", hint="other.test")
        self.check("import socket\nsocket.create_connection(('other.test', 80))", subject="other.test", hint="other.test")

    def test_the_refusal_names_what_would_be_allowed(self):
        (record,) = run(self.policy, ["import requests\nrequests.get('https://other.test/')"])
        for word in ("api.test", "*.wide.test", "network.allow"):
            self.assertIn(word, record["error"]["hint"] + record["error"]["value"])

    def test_another_port_of_an_allowed_host(self):
        for record in run(self.policy, ["import socket\nsocket.create_connection(('api.test', 8081), timeout=5)"]):
            self.assertEqual((record["status"], record["error"]["name"]), ("error", "ConnectionRefusedError"))
        (record,) = run(self.policy, ["import requests\nrequests.get('https://api.test:8443/')"])
        self.refused(record, "network.allow", "api.test:8443")

    def test_a_method_and_a_path_that_no_rule_names(self):
        for method, path in (("post", "/v1/x"), ("get", "/v2/x"), ("get", "/v1/../v2"), ("get", "/v1/%2e%2e/v2"), ("get", "/v1x")):
            code = f"import http.client\nc = http.client.HTTPConnection('api.test', {self.port})\nc.request('{method.upper()}', '{path}')\nr = c.getresponse()\nprint(r.status, r.read().decode())"
            (record,) = run(self.policy, [code])
            self.assertTrue(self.printed(record).startswith("403 "), (path, record["stdout"]))
            self.assertIn("network.allow[0]", record["denials"][0]["rule"] + record["egress"][-1]["reason"])
        self.assertEqual(self.printed(run(self.policy, [f"import requests\nprint(requests.get('http://api.test:{self.port}/v1/x').status_code)"])[0]), "200")

    def test_a_wildcard_covers_names_below_alone(self):
        fine = f"import urllib.request\nprint(urllib.request.urlopen('http://a.b.wide.test:{self.port}/').status)"
        self.assertEqual(self.printed(run(self.policy, [fine])[0]), "200")
        self.check(f"import urllib.request\nurllib.request.urlopen('http://wide.test:{self.port}/')", subject="wide.test")
        self.check(f"import urllib.request\nurllib.request.urlopen('http://badwide.test:{self.port}/')", subject="badwide.test")

    def test_an_address_in_any_spelling(self):
        for host in ("127.0.0.1", "10.1.2.3", "169.254.169.254", "8.8.8.8"):
            (record,) = run(self.policy, [WITHOUT_PROXY + f"\nimport socket\nsocket.create_connection(('{host}', 8000), timeout=5)"])
            self.assertEqual(record["status"], "error")
            self.assertLess(record["receipt"]["wall_seconds"], 3)
        for host in ("2130706433", "0x7f.1", "017700000001", "127.1", "[::1]", "%31%32%37.0.0.1"):
            code = f"import socket\ns = socket.create_connection(('198.18.0.1', 3128))\ns.sendall(b'GET http://{host}:{self.port}/ HTTP/1.1\\r\\nHost: {host}:{self.port}\\r\\n\\r\\n')\nprint(s.recv(1000).split(b'\\r\\n')[0].decode())"
            self.assertRegex(self.printed(run(self.policy, [code])[0]), "^HTTP/1.1 (400|403) ")

    def test_an_address_that_the_proxy_is_asked_for_stands_in_the_record(self):
        code = "import requests\nfor url in ('http://169.254.169.254/latest/meta-data', 'http://[fd00:ec2::254]:80/', 'http://2852039166/'):\n    print(requests.get(url).status_code)\nrequests.get('https://169.254.169.254/')"
        (record,) = run(self.policy, [code])
        self.assertEqual(record["stdout"].split(), ["403"] * 3)
        self.assertEqual([(denial["subject"].split(" ")[0], denial["rule"]) for denial in record["denials"] if denial["kind"] == "network"][:3],
                         [(host, "network.allow") for host in ("169.254.169.254", "[fd00:ec2::254]", "2852039166")], record["denials"])

    def test_a_host_field_that_differs_from_the_connection(self):
        code = f"import socket\ns = socket.create_connection(('api.test', {self.port}))\ns.sendall(b'GET /v1/ HTTP/1.1\\r\\nHost: x.wide.test\\r\\n\\r\\n')\nprint(s.recv(1000).split(b'\\r\\n')[0].decode())"
        (record,) = run(self.policy, [code])
        self.assertTrue(self.printed(record).startswith("HTTP/1.1 421 "), record["stdout"])

    def test_redirects_are_new_requests(self):
        self.check(f"import requests\nrequests.get('http://api.test:{self.port}/elsewhere').raise_for_status()", subject="elsewhere.test")
        (record,) = run(self.policy, [f"import requests\nprint(requests.get('http://api.test:{self.port}/inside').status_code)"])
        self.assertRegex(self.printed(record), "^(400|403)$")

    def test_trace(self):
        (record,) = run(self.policy, [f"import http.client\nc = http.client.HTTPConnection('x.wide.test', {self.port})\nc.request('TRACE', '/')\nprint(c.getresponse().status)"])
        self.assertEqual(self.printed(record), "403")

    def test_requests_that_two_readers_could_read_differently(self):
        heads = (
            "POST /v1/ HTTP/1.1\\r\\nHost: api.test\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n",
            "GET /v1/ HTTP/1.1\\r\\nHost: api.test\\r\\nHost: x.wide.test\\r\\n\\r\\n",
            "GET /v1/ HTTP/1.1\\nHost: api.test\\n\\n",
            "GET /v1/ HTTP/1.1\\r\\nHost: api.test\\r\\n folded\\r\\n\\r\\n",
            "GET /v1/ HTTP/1.1\\r\\nHost : api.test\\r\\n\\r\\n",
            "GET /v1/\\x00 HTTP/1.1\\r\\nHost: api.test\\r\\n\\r\\n",
        )
        asked = len(self.web.asked)
        for head in heads:
            code = f"import socket\ns = socket.create_connection(('198.18.0.1', 3128))\ns.settimeout(3)\ns.sendall(b'{head}'.replace(b'GET /', b'GET http://api.test:{self.port}/').replace(b'POST /', b'POST http://api.test:{self.port}/'))\nprint(s.recv(1000).split(b'\\r\\n')[0].decode())"
            (record,) = run(self.policy, [code])
            self.assertTrue(self.printed(record).startswith("HTTP/1.1 400 Refused by Cellblock"), head)
            self.assertTrue(record["denials"], head)
        self.assertEqual(len(self.web.asked), asked)

    def test_other_kinds_of_sockets(self):
        for what in ("socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP", "socket.AF_PACKET, socket.SOCK_RAW", "socket.AF_NETLINK, socket.SOCK_RAW", "socket.AF_VSOCK, socket.SOCK_STREAM"):
            (record,) = run(self.policy, [f"import socket\nsocket.socket({what})"])
            self.assertEqual(record["status"], "error", what)

    def test_without_a_policy_for_it_there_is_no_network(self):
        (record,) = run({}, ["import requests\nrequests.get('http://api.test/')"])
        self.assertEqual((record["status"], record["denials"][0]["rule"]), ("error", "network: off"))


class LimitsTest(Case):
    @classmethod
    def setUpClass(cls):
        cls.web = servers.teller()
        cls.port = cls.web.server_address[1]

    def policy(self, **more):
        return {"network": {"allow": [rule("api.test", self.web)], **more}}

    def hits(self, record):
        return [hit["name"] for hit in record["receipt"]["limits_hit"]]

    def test_bytes_of_a_call(self):
        code = f"import requests\nprint(len(requests.get('http://api.test:{self.port}/big').content))"
        cut, small, = run(self.policy(call_bytes="1MiB"), [code, f"import requests\nprint(requests.get('http://api.test:{self.port}/x').status_code)"])
        self.assertEqual(cut["status"], "error")
        self.assertIn("call_bytes", self.hits(cut))
        self.assertEqual(self.printed(small), "200")  # the next call has its own
        self.assertEqual(self.hits(small), [])

    def test_rate(self):
        (record,) = run(self.policy(rate="4MiB"), [f"import requests, time\nt = time.time()\nrequests.get('http://api.test:{self.port}/big')\nprint(time.time() - t)"])
        self.assertGreater(float(self.printed(record)), 1.2)  # 8 MiB at 4 MiB a second, less what may run ahead
        self.assertEqual(self.hits(record), [])

    def test_connections_at_once(self):
        silent = servers.silent()
        self.addCleanup(silent.close)
        policy = {"network": {"allow": [{"host": "slow.test", "ports": [silent.getsockname()[1]], "addresses": ["127.0.0.1"]}], "connections": 4}}
        code = f"""
import socket
ends = 0
held = [socket.create_connection(('slow.test', {silent.getsockname()[1]})) for _ in range(10)]
for s in held:
    s.settimeout(1)
    try:
        ends += s.recv(1) == b''
    except ConnectionResetError:
        ends += 1
    except TimeoutError:
        pass
print(ends)"""
        (record,) = run(policy, [code])
        self.assertEqual(self.printed(record), "6")
        self.assertIn("connections", self.hits(record))

    def test_requests_of_a_call(self):
        (record,) = run(self.policy(requests=5), [f"import requests\nprint([requests.get('http://api.test:{self.port}/').status_code for _ in range(8)])"])
        self.assertIn("429", self.printed(record))
        self.assertIn("requests", self.hits(record))

    def test_an_idle_connection_is_ended(self):
        silent = servers.silent()
        self.addCleanup(silent.close)
        port = silent.getsockname()[1]
        policy = {"network": {"allow": [{"host": "slow.test", "ports": [port], "addresses": ["127.0.0.1"]}], "idle": "1s"}}
        (record,) = run(policy, [f"import socket, time\ns = socket.create_connection(('slow.test', {port}))\ns.sendall(b'\\x00')\nt = time.time()\nprint(s.recv(1), time.time() - t < 5)"])
        self.assertEqual(self.printed(record), "b'' True")

    def test_ten_thousand_lookups_leave_the_record_small(self):
        (record,) = run(self.policy(), ["import socket\nfor i in range(10_500):\n    try: socket.gethostbyname(f'x{i}.evil.test')\n    except OSError: pass"])
        self.assertLessEqual(len(record["egress"]), 500)
        self.assertGreaterEqual(len(record["egress"]) + record["egress_left_out"], 10_000)
        self.assertLessEqual(len(record["denials"]), 100)
        self.assertIn("requests", self.hits(record))


class ProxyEndsTest(Case):
    """The proxy is killed in the middle: calls end with an error that says so, and the next session has a new one."""

    def test_a_call_says_that_the_proxy_has_ended(self):
        web = servers.teller()
        port = web.server_address[1]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as policy:
            policy.write(json.dumps({"name": "network-test", "network": {"allow": [rule("api.test", web)]}}))
            policy.flush()
            cells = f"# %%\nprint(1)\n# %%\nimport time\ntime.sleep(2)\n# %%\nimport requests\nrequests.get('http://api.test:{port}/')\n"
            command = [PROGRAM, "run", "-", "--policy", policy.name, "--python-env", PYTHON_ENV, "--json", "--keep-going"]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            process.stdin.write(cells)
            process.stdin.close()
            first = process.stdout.readline()
            proxies = [int(pid) for pid in subprocess.run(["pgrep", "-P", str(process.pid), "cellblock-egres"], capture_output=True, text=True).stdout.split()]
            for pid in proxies:
                os.kill(pid, signal.SIGKILL)
            records = [json.loads(line) for line in (first, *process.stdout)]
            process.stdout.close()
            process.wait()
        self.assertEqual(len(proxies), 1)
        self.assertEqual([record["status"] for record in records], ["ok", "ok", "error"])
        self.assertIn("the egress proxy has ended", records[2]["error"]["hint"])
        self.assertLess(records[2]["receipt"]["wall_seconds"], 5)


class ExplainTest(Case):
    policy = {"network": {"allow": [{"host": "api.test", "ports": [443], "methods": ["GET"], "paths": ["/v1/"]}, {"host": "*.wide.test"}, {"host": "db.test", "ports": [5432]}]}}

    def test_says_what_the_proxy_would_decide(self):
        for url, allowed, words in (
            ("https://api.test/v1/x", True, ("network.allow[0]", "TLS ends in the proxy")),
            ("https://api.test/v2/x", False, ("network.allow", "/v1/")),
            ("https://a.wide.test/any", True, ("network.allow[1]", "passed on unread")),
            ("http://a.wide.test/any", True, ("network.allow[1]",)),
            ("https://wide.test/", False, ("network.allow",)),
            ("db.test:5432", True, ("network.allow[2]",)),
            ("db.test:5433", False, ("5432",)),
        ):
            code, text = explain(self.policy, url)
            self.assertEqual(code, 0 if allowed else 1, (url, text))
            for word in words:
                self.assertIn(word, text)
        self.assertEqual(explain(self.policy, "--method", "POST", "https://api.test/v1/x")[0], 1)

    def test_without_a_network_everything_is_refused(self):
        code, text = explain({}, "https://api.test/")
        self.assertEqual(code, 1)
        self.assertIn("network: off", text)

    def test_addresses_are_refused(self):
        for url in ("https://127.0.0.1/", "http://[::1]/", "http://[::1]:80/", "http://169.254.169.254/latest/", "http://2130706433/", "10.0.0.1:22"):
            code, text = explain(self.policy, url)
            self.assertEqual((code, "(network.allow)" in text), (1, True), (url, text))

    def test_methods_are_told_apart_by_case(self):
        code, text = explain(self.policy, "--method", "get", "https://api.test/v1/x")
        self.assertEqual((code, "by case" in text), (2, True), text)

    def test_what_is_no_url(self):
        for url in ("ftp://x.test/", "https://a@b.test/", "x.test", "https://x.test:99999/", "https://api.test/v1/x y", "https://api.test/v1/é"):
            self.assertEqual(explain(self.policy, url)[0], 2, url)


if __name__ == "__main__":
    unittest.main()
