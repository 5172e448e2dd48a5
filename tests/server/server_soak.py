# Thousands of calls over HTTP, many of which end badly, from many clients at once: what the server holds at the end is what it held before.
# CELLBLOCK_SOAK_CALLS says how many (2,000 when unset). Runs as whoever runs the test; prints the counts before and after.
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from server_test import Server  # noqa: E402

CALLS = int(os.environ.get("CELLBLOCK_SOAK_CALLS", "2000"))
CLIENTS = 12
POLICY = "name: soak\nlimits: {wall: 20s, memory: 160MiB, processes: 32, workspace: 16MiB, tmp: 16MiB, shm: 16MiB, cpu: 20s}\nsession: {queue: 4}\n"
# What a call does, and which statuses it may end with.
ENDINGS = [
    (60, "x = x + 1 if 'x' in dir() else 0; x", {"ok"}),
    (10, "print('y' * 5000); open('f.txt', 'a').write('z' * 1000)", {"ok", "error"}),
    (5, "1 / 0", {"error"}),
    (4, "import os; os._exit(3)", {"exited"}),
    (3, "import ctypes; ctypes.string_at(0)", {"killed"}),
    (4, "while True: pass", {"timeout"}),
    (3, "import time; time.sleep(100)", {"timeout"}),
    (4, "import os\nwhile True:\n    if os.fork() == 0: os.setsid()", {"error", "timeout", "out_of_memory", "killed"}),
    (4, "b = []\nwhile True: b.append(bytearray(b'x' * (8 << 20)))", {"error", "out_of_memory", "killed"}),
    (3, "import mmap\nm = mmap.mmap(-1, 400 << 20)\nfor i in range(0, 400 << 20, 4096): m[i] = 1", {"error", "out_of_memory", "killed"}),
]
ALWAYS = {"rejected"}  # by a session whose interpreter the call before has ended


class Client(threading.Thread):
    """Asks on one connection, with sessions of its own."""

    def __init__(self, server, number, calls):
        super().__init__()
        self.server, self.random, self.calls = server, random.Random(number), calls
        self.connection, self.sessions, self.problems, self.seen = None, [], [], collections.Counter()

    def ask(self, method, path, body=None, headers=None):
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=120)
        self.connection.request(method, path, body if body is None else json.dumps(body), {"Authorization": f"Bearer {self.server.token}", **(headers or {})})
        answer = self.connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if "json" in (answer.headers.get("Content-Type") or "") and content else content

    def run(self):
        try:
            for _ in range(self.calls):
                self.one_call()
            while self.sessions:
                self.close(self.sessions[0])
        except Exception as error:
            self.problems.append(repr(error))
        finally:
            if self.connection is not None:
                self.connection.close()

    def close(self, session):
        self.sessions.remove(session)
        status, body = self.ask("DELETE", f"/v1/sessions/{session}")
        if status != 204:
            self.problems.append(f"close: {status} {body}")

    def session(self):
        if len(self.sessions) < 2 or self.random.random() < 0.02:
            if len(self.sessions) > 2:
                self.close(self.sessions[0])
            status, body = self.ask("POST", "/v1/sessions", {"policy": "soak"})
            if status != 201:
                raise AssertionError(f"create: {status} {body}")
            self.sessions.append(body["id"])
        return self.random.choice(self.sessions)

    def one_call(self):
        session = self.session()
        _, code, expected = self.random.choices(ENDINGS, [ending[0] for ending in ENDINGS])[0]
        wanted = {"code": code} if "timeout" not in expected else {"code": code, "timeout_seconds": 0.3}
        if self.random.random() < 0.05:
            return self.vanish(session, wanted)
        headers = {"Accept": "text/event-stream"} if self.random.random() < 0.1 else {}
        status, body = self.ask("POST", f"/v1/sessions/{session}/execute", wanted, headers)
        if headers and status == 200:
            body = json.loads(body.decode().rsplit("data: ", 1)[1])
        if status != 200 or body.get("status") not in expected | ALWAYS:
            self.problems.append(f"{code!r}: {status} {str(body)[:300]}")
            return
        self.seen[body["status"]] += 1
        if body["session_state"] == "gone":
            if self.random.random() < 0.5:
                self.close(session)
            else:
                status, body = self.ask("POST", f"/v1/sessions/{session}/restart", {})
                if status not in (200, 409):
                    self.problems.append(f"restart: {status} {body}")
                if status == 409:
                    self.close(session)

    def vanish(self, session, wanted):
        """Asks, and is gone before the answer."""
        body = json.dumps(wanted)
        accept = self.random.choice(["application/json", "text/event-stream"])
        head = (f"POST /v1/sessions/{session}/execute HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.server.token}\r\n"
                f"Accept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n")
        with socket.create_connection((self.server.host, self.server.port)) as client:
            client.sendall((head + body)[: self.random.choice([len(head) // 2, len(head) + 3, len(head) + len(body)])].encode())
            time.sleep(self.random.random() * 0.05)
        self.seen["vanished"] += 1


def descendants(pid):
    children = collections.defaultdict(list)
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                children[int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])].append(int(entry.name))
            except OSError:
                pass
    found, open_ones = [], [pid]
    while open_ones:
        open_ones = [child for parent in open_ones for child in children[parent]]
        found += open_ones
    return found


def held(server, state):
    """What the server and all below it hold, by name."""
    processes = descendants(server.process.pid)
    memory = {line.split()[0].rstrip(":"): int(line.split()[1]) for line in pathlib.Path(f"/proc/{server.process.pid}/smaps_rollup").read_text().splitlines()[1:]}
    mounts = 0
    for pid in processes:
        try:
            mounts += len(pathlib.Path(f"/proc/{pid}/mountinfo").read_text().splitlines())
        except OSError:
            pass
    groups = set()
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        where, kind = line.split()[1:3]
        if kind in ("cgroup", "cgroup2"):
            groups |= {os.path.realpath(folder) for folder, _, _ in os.walk(where) if "/cellblock" in folder and ("/s-" in folder or "/r-" in folder)}
    counts = {"descriptors": len(os.listdir(f"/proc/{server.process.pid}/fd")), "processes": len(processes), "mounts": mounts, "cgroups": len(groups),
              "uploads on their way": len(list(pathlib.Path(state).rglob("incoming/*"))), "private memory in KiB": memory["Private_Dirty"] + memory["Private_Clean"]}
    return counts


def settled(server, state, wanted=None):
    """Once nothing ends any more (or what is held is what is wanted). Workers made ahead become fewer within a minute after the demand."""
    end, before = time.monotonic() + 150, None
    while True:
        now = held(server, state)
        still = {name: count for name, count in now.items() if "memory" not in name}
        if still == before and (wanted is None or all(now[name] <= wanted[name] for name in still)) or time.monotonic() > end:
            return now
        before = still
        time.sleep(1)


def run_clients(server, calls, seed):
    clients = [Client(server, seed + number, calls // CLIENTS) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    seen = sum((client.seen for client in clients), collections.Counter())
    return seen, [problem for client in clients for problem in client.problems]


def main():
    seed = int(os.environ.get("CELLBLOCK_SOAK_SEED", random.randrange(1 << 30)))
    state = tempfile.mkdtemp(prefix="cellblock-soak-")
    policies = pathlib.Path(state, "policies")
    policies.mkdir()
    (policies / "soak.yaml").write_text(POLICY)
    log = open(os.path.join(state, "log"), "w")
    server = Server(state, "--policies", str(policies), log=log)
    try:
        _, problems = run_clients(server, 20 * CLIENTS, seed)  # threads, caches and helpers reach their number
        before = settled(server, state)
        seen, more = run_clients(server, CALLS, seed + 1000)
        problems += more
        after = settled(server, state, before)
        print(f"seed {seed}; {sum(seen.values())} calls: {dict(seen)}")
        for name, count in before.items():
            print(f"  {name}: {count} before, {after[name]} after")
        slack = {"descriptors": 8, "private memory in KiB": 32 * 1024}
        problems += [f"{name} grew from {count} to {after[name]}" for name, count in before.items() if after[name] > count + slack.get(name, 0)]
        if server.stop() != 0:
            problems.append(f"the server ended with {server.process.returncode}")
        for problem in problems[:20]:
            print("problem:", problem)
        return 1 if problems else 0
    finally:
        server.stop()
        log.close()
        shutil.rmtree(state, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
