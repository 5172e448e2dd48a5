# Keys that code can use and never read: the value reaches the one server that it is for, and nothing else anywhere.
import base64
import json
import pathlib
import unittest

import servers
from cells import Case, run

VALUE = "sk-live-7Hq2zV9pX4mN8bT1"


class SecretsTest(Case):
    def setUp(self):
        folder = pathlib.Path(self.folder())
        authority = servers.Authority(folder)
        self.web = servers.secure_teller(*authority.certificate("api.test"))
        self.other = servers.secure_teller(*authority.certificate("other.test"))
        self.port, self.other_port = (server.server_address[1] for server in (self.web, self.other))
        self.key = folder / "key"
        self.key.write_text(VALUE + "\n")
        self.key.chmod(0o600)
        self.authorities = authority.path

    def rule(self, host, port, **more):
        return {"host": host, "ports": [port], "addresses": ["127.0.0.1"], "authorities": self.authorities, **more}

    def policy(self, **secret):
        about = {"name": "API_KEY", "host": "api.test", "port": self.port, "header": "Authorization", "format": "Bearer {secret}", "source": f"file:{self.key}", **secret}
        if "query" in secret:
            del about["header"]
        return {"network": {"allow": [self.rule("api.test", self.port), self.rule("other.test", self.other_port, methods=["GET"])], "secrets": [about]}}

    def asked(self, server, name="Authorization"):
        return [value for told in server.asked for field, value in told["headers"] if field.lower() == name.lower()]

    def test_reaches_its_server_in_its_header(self):
        code = f"import os, requests\nr = requests.get('https://api.test:{self.port}/x', headers={{'Authorization': 'Bearer ' + os.environ['API_KEY']}})\nprint(r.status_code)"
        (record,) = run(self.policy(), [code])
        self.assertEqual(self.printed(record), "200")
        self.assertEqual(self.asked(self.web), [f"Bearer {VALUE}"])
        self.assertEqual((record["egress"][-1]["protocol"], record["egress"][-1]["secrets"]), ("https", ["API_KEY"]))

    def test_is_put_in_whatever_the_code_sends(self):
        for fields in ("{}", "{'authorization': 'mine'}", "{'Authorization': 'x', 'Connection': 'Authorization'}"):
            self.printed(run(self.policy(), [f"import requests\nprint(requests.get('https://api.test:{self.port}/x', headers={fields}).status_code)"])[0])
        self.assertEqual(self.asked(self.web), [f"Bearer {VALUE}"] * 3)

    def test_works_with_every_client(self):
        code = f"""
import urllib.request, httpx, requests, socket, ssl, subprocess
url = 'https://api.test:{self.port}/x'
print(urllib.request.urlopen(url).status, httpx.get(url).status_code, requests.get(url).status_code)
s = ssl.create_default_context().wrap_socket(socket.create_connection(('api.test', {self.port})), server_hostname='api.test')
s.sendall(b'GET /x HTTP/1.0\\r\\nHost: api.test\\r\\n\\r\\n')
print(s.recv(15))"""
        (record,) = run(self.policy(), [code])
        self.assertEqual(self.printed(record), "200 200 200\nb'HTTP/1.1 200 OK'")
        self.assertEqual(self.asked(self.web), [f"Bearer {VALUE}"] * 4)

    def test_the_end_of_an_answer_is_no_cut(self):
        code = f"""
import socket, ssl
for version, more in (('1.0', ''), ('1.1', 'Connection: close\\r\\n')):
    s = ssl.create_default_context().wrap_socket(socket.create_connection(('api.test', {self.port})), server_hostname='api.test', suppress_ragged_eofs=False)
    s.sendall(f'GET /x HTTP/{{version}}\\r\\nHost: api.test\\r\\n{{more}}\\r\\n'.encode())
    text = b''
    while piece := s.recv(1000):
        text += piece
    print(text[:15])"""
        (record,) = run(self.policy(), [code])
        self.assertEqual(self.printed(record), "b'HTTP/1.1 200 OK'\nb'HTTP/1.1 200 OK'")

    def test_may_be_a_query_parameter(self):
        (record,) = run(self.policy(query="key", format="{secret}"), [f"import requests\nprint(requests.get('https://api.test:{self.port}/x?a=1&key=mine&b=2&%6bey=mine;key=mine').status_code)"])
        self.assertEqual(self.printed(record), "200")
        self.assertEqual(self.web.asked[0]["path"], f"/x?a=1&b=2&key={VALUE}")
        self.assertNotIn(VALUE, json.dumps(record))

    def test_may_come_from_the_environment(self):
        code = f"import requests\nprint(requests.get('https://api.test:{self.port}/x').status_code)"
        (record,) = run(self.policy(source="env:OUTER_KEY"), [code], environment={"OUTER_KEY": VALUE})
        self.assertEqual(self.printed(record), "200")
        self.assertEqual(self.asked(self.web), [f"Bearer {VALUE}"])

    def test_may_be_a_systemd_credential(self):
        (record,) = run(self.policy(source="credential:key"), [f"import requests\nprint(requests.get('https://api.test:{self.port}/x').status_code)"], environment={"CREDENTIALS_DIRECTORY": str(self.key.parent)})
        self.assertEqual(self.printed(record), "200")
        self.assertEqual(self.asked(self.web), [f"Bearer {VALUE}"])

    def test_never_enters_the_session(self):
        look = f"""
import glob, requests
requests.get('https://api.test:{self.port}/any')
needle = bytes(b ^ 1 for b in {bytes(ord(c) ^ 1 for c in VALUE)!r})
found = []
for path in [*glob.glob('/proc/[0-9]*/environ'), *glob.glob('/run/*'), *glob.glob('/etc/*'), *glob.glob('/tmp/**', recursive=True)]:
    try:
        if needle in open(path, 'rb').read(): found.append(path)
    except OSError: pass
places = 0
with open('/proc/self/mem', 'rb', 0) as memory:
    for line in open('/proc/self/maps').read().splitlines():
        start, end = (int(x, 16) for x in line.split()[0].split('-'))
        while start < end and line.split()[1][0] == 'r':
            try:
                memory.seek(start)
                piece = memory.read(min(end - start, 1 << 20))
            except (OSError, ValueError, OverflowError): break
            places += piece.count(needle)
            start += len(piece) or end
print(found, places)"""
        (record,) = run(self.policy(), [look])
        found, places = self.printed(record).rsplit(" ", 1)
        self.assertEqual(found, "[]")
        self.assertLessEqual(int(places), 2)  # the needle itself, and what was read with it in it
        self.assertNotIn(VALUE, json.dumps(record))

    def test_goes_to_no_other_server(self):
        code = f"import requests\nprint(requests.get('https://other.test:{self.other_port}/x', headers={{'Authorization': 'cellblock-placeholder-for-API_KEY'}}).status_code)"
        (record,) = run(self.policy(), [code])
        self.assertEqual(self.printed(record), "200")
        self.assertEqual(self.asked(self.other), ["cellblock-placeholder-for-API_KEY"])

    def test_an_echo_is_redacted(self):
        code = f"""
import requests
r = requests.get('https://api.test:{self.port}/echo-in-pieces')
print(r.text, r.headers['X-Echo'])
print(requests.get('https://api.test:{self.port}/any').json()['headers'])"""
        (record,) = run(self.policy(), [code])
        self.assertIn("Bearer *** Bearer ***", self.printed(record))
        self.assertNotIn(VALUE, json.dumps(record))
        self.assertNotIn(base64.b64encode(VALUE.encode()).decode()[:16], json.dumps(record))

    def test_an_echo_in_an_answer_that_is_broken_or_compressed_is_not_told(self):
        for path in ("broken-head", "broken-trailer", "compressed"):
            code = f"import requests\nr = requests.get('https://api.test:{self.port}/{path}')\nprint(r.status_code, r.text, r.reason, dict(r.headers))"
            (record,) = run(self.policy(), [code])
            self.assertTrue(record["egress"][-1]["reason"], path)
            for piece in (VALUE, VALUE[4:14], VALUE[-10:]):
                self.assertNotIn(piece, json.dumps(record), path)

    def test_a_client_that_begins_late_is_held_to_the_same(self):
        late = f"""
import socket, ssl, time
def speak(name):
    raw = socket.create_connection(('api.test', {self.port}))
    time.sleep(0.6)
    s = ssl.create_default_context().wrap_socket(raw, server_hostname=name)
    s.sendall(b'GET /any HTTP/1.0\\r\\n\\r\\n')
    return b''.join(iter(lambda: s.recv(100000), b''))
print(b'***' in speak('api.test'))
try:
    speak('other.test')
except (OSError, ssl.SSLError) as error:
    print('refused')"""
        (record,) = run(self.policy(), [late])
        self.assertEqual(self.printed(record), "True\nrefused")
        self.assertEqual(self.asked(self.web), [f"Bearer {VALUE}"])
        self.assertNotIn(VALUE, json.dumps(record))

    def test_fields_that_some_servers_take_for_the_same_are_left_out(self):
        (record,) = run(self.policy(header="X-Api-Key", format="{secret}"), [f"import requests\nprint(requests.get('https://api.test:{self.port}/x', headers={{'X_Api_Key': 'mine', 'x-api-key': 'mine'}}).status_code)"])
        self.assertEqual(self.printed(record), "200")
        self.assertEqual([(name, value) for name, value in self.web.asked[0]["headers"] if "api" in name.lower()], [("X-Api-Key", VALUE)])

    def test_trace_and_ranges_do_not_help(self):
        code = f"""
import http.client, ssl
c = http.client.HTTPSConnection('api.test', {self.port})
c.request('TRACE', '/')
r = c.getresponse(); print(r.status); r.read()
c = http.client.HTTPSConnection('api.test', {self.port})
c.request('GET', '/any', headers={{'Range': 'bytes=0-10', 'Accept-Encoding': 'gzip'}})
print(c.getresponse().status)"""
        (record,) = run(self.policy(), [code])
        self.assertEqual(self.printed(record), "403\n200")
        self.assertEqual(self.asked(self.web, "Range"), [])
        self.assertEqual(self.asked(self.web, "Accept-Encoding"), ["identity"])

    def test_the_server_must_be_who_it_says(self):
        stranger = servers.Authority(self.folder())
        policy = self.policy()
        policy["network"]["allow"][0]["authorities"] = stranger.path
        (record,) = run(policy, [f"import requests\nr = requests.get('https://api.test:{self.port}/x')\nprint(r.status_code, r.text)"])
        self.assertIn("502", self.printed(record))
        self.assertIn("not trusted", record["egress"][-1]["reason"])
        self.assertEqual(self.asked(self.web), [])

    def test_a_server_with_another_name_is_told_so(self):
        policy = self.policy()
        policy["network"]["allow"].append(self.rule("third.test", self.other_port, methods=["GET"]))
        (record,) = run(policy, [f"import requests\nprint(requests.get('https://third.test:{self.other_port}/x').status_code)"])
        self.assertEqual(self.printed(record), "502")
        self.assertIn("hostname mismatch", record["egress"][-1]["reason"].lower())

    def test_the_session_trusts_its_authority_for_these_hosts_alone(self):
        code = """
import subprocess
for text in open('/run/certificates.pem').read().split('-----BEGIN CERTIFICATE-----')[-3:]:
    pem = '-----BEGIN CERTIFICATE-----' + text
    print(subprocess.run(['openssl', 'x509', '-noout', '-subject', '-ext', 'nameConstraints'], input=pem, capture_output=True, text=True).stdout)
open('/run/certificates.pem', 'a')"""
        (record,) = run(self.policy(), [code])
        self.assertIn("DNS:api.test", record["stdout"])
        self.assertIn("DNS:other.test", record["stdout"])
        self.assertIn(record["error"]["name"], ("OSError", "PermissionError"))

    def test_a_file_that_others_can_read_is_refused(self):
        self.key.chmod(0o644)
        with self.assertRaisesRegex(AssertionError, "can be read by others"):
            run(self.policy(), ["1"])
        self.key.chmod(0o400)
        self.assertEqual(run(self.policy(), ["1"])[0]["status"], "ok")

    def test_what_is_missing_is_named_before_anything_runs(self):
        for source, words in (("env:NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE"), (f"file:{self.key}.gone", "No such file"), ("credential:gone", "CREDENTIALS_DIRECTORY")):
            with self.assertRaisesRegex(AssertionError, words):
                run(self.policy(source=source), ["1"])


if __name__ == "__main__":
    unittest.main()
