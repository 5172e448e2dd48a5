# Installing packages from an index that the policy names, into the session's own folder; and what is said without one.
import base64
import hashlib
import pathlib
import threading
import unittest
import http.server
import ssl
import zipfile

import servers
from cells import Case, run


def wheel(folder, name, version, code, requires=()):
    """A wheel with one module; its path."""
    path = pathlib.Path(folder, f"{name}-{version}-py3-none-any.whl")
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {each}\n" for each in requires),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip('=')},{len(text)}\n" for file, text in files.items())
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            archive.writestr(file, text)
    return path


class Index(http.server.BaseHTTPRequestHandler):
    """PEP 503 over a folder of wheels."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        if parts[0] == "simple" and len(parts) == 2:
            found = sorted(self.server.folder.glob(f"{parts[1].replace('-', '_')}-*.whl"))
            body = "".join(f'<a href="/files/{file.name}">{file.name}</a>' for file in found).encode()
            kind = "text/html"
        else:
            file = self.server.folder / parts[-1]
            body, kind = (file.read_bytes(), "application/zip") if file.exists() else (b"", "text/plain")
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class PackagesTest(Case):
    def setUp(self):
        folder = pathlib.Path(self.folder())
        authority = servers.Authority(folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
        self.server.folder = folder
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority.certificate("index.test"))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        wheel(folder, "tinylib", "1.2", "def answer():\n    import numpy\n    return int(numpy.int64(42))\n", ["numpy", "tinydep"])
        wheel(folder, "tinydep", "0.1", "x = 1\n")
        wheel(folder, "pandas", "0.1", "x = 1\n")
        self.policy = {"network": {"packages": {"url": f"https://index.test:{self.server.server_address[1]}/simple/", "addresses": ["127.0.0.1"], "authorities": authority.path}}}

    def test_what_is_installed_can_be_imported_at_once_and_by_programs(self):
        cells = ["%pip install -q tinylib", "import tinylib, tinydep\nprint(tinylib.answer(), tinylib.__file__)", "!python3 -c 'import tinylib; print(tinylib.answer())'", "!pip install tinydep"]
        installed, used, program, again = run(self.policy, cells)
        self.assertEqual(installed["status"], "ok", installed)
        self.assertTrue(self.printed(used).startswith("42 /workspace/.local/"), used["stdout"])
        self.assertEqual(self.printed(program), "42")
        self.assertIn("already satisfied", self.printed(again))
        self.assertEqual({entry["host"] for entry in installed["egress"]}, {"index.test"})
        self.assertEqual(installed["artifacts"], [])

    def test_what_is_preinstalled_stays_as_it_is(self):
        refused, still = run(self.policy, ["%pip install pandas==0.1\nprint(_exit_code)", "import pandas\nprint(pandas.__version__ != '0.1')"])
        self.assertIn("1", refused["stdout"].splitlines()[-1:])
        self.assertEqual(self.printed(still), "True")

    def test_without_an_index_it_is_said_at_once(self):
        (off,) = run({}, ["%pip install tinylib"])
        self.assertIn("the network is off", off["stderr"])
        (rules,) = run({"network": {"allow": ["api.test"]}}, ["%pip install tinylib"])
        self.assertIn("no package index (network.packages)", rules["stderr"])
        self.assertLess(rules["receipt"]["wall_seconds"], 3)

    def test_a_missing_module_says_how_to_get_it(self):
        for policy, words in ((self.policy, "%pip install"), ({}, "the network is off"), ({"network": {"allow": ["api.test"]}}, "network.packages")):
            (record,) = run(policy, ["import tinylib"])
            self.assertIn(words, record["error"]["hint"])

    def test_the_index_alone_is_reached(self):
        (record,) = run(self.policy, ["import requests\nrequests.get('https://other.test/')"])
        self.refused(record, "network.packages", "other.test")


if __name__ == "__main__":
    unittest.main()
