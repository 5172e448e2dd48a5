#!/usr/bin/python3 -I
"""Prints what the server adds to the library, and how it holds many sessions and clients, as JSON: name, figure, unit.

Usage: tests/perf/http_bench.py CELLBLOCK LIBRARY_BENCH [SECONDS]      SECONDS: of the crowd of clients (60)

What is compared with the library is measured in rounds, the library's figure just before the server's, since a machine's speed drifts. The
client is as thin as Python allows, a socket and two system calls a request; `healthz` shows what it and the connection cost alone.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS = 7
IDLE_SESSIONS = 1000
HAND_OUTS = 300
CROWD, CROWD_SESSIONS = 200, 64
POLICY = "name: crowd\nlimits: {workspace: 16MiB, tmp: 16MiB, shm: 16MiB}\nsession: {queue: 16}\n"


class Connection:
    def __init__(self, port, token):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = f"Host: localhost\r\nAuthorization: Bearer {token}\r\n"

    def request(self, method, path, body=""):
        return f"{method} {path} HTTP/1.1\r\n{self.head}Content-Length: {len(body)}\r\n\r\n{body}".encode()

    def send(self, request):
        """The status, and the body."""
        self.socket.sendall(request)
        answer = self.socket.recv(1 << 16)
        while (end := answer.find(b"\r\n\r\n")) < 0:
            answer += self.receive()
        head = answer[:end].lower()
        at = head.find(b"content-length:")
        length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        while len(answer) < end + 4 + length:
            answer += self.receive()
        return int(head[9:12]), answer[end + 4 :]

    def receive(self):
        more = self.socket.recv(1 << 20)
        if not more:
            raise ConnectionError("the server has closed the connection")
        return more

    def session(self, policy="default"):
        status, body = self.send(self.request("POST", "/v1/sessions", json.dumps({"policy": policy})))
        if status != 201:
            raise RuntimeError(f"no session: {status} {body[:300]}")
        return json.loads(body)["id"]

    def execute(self, session):
        return self.request("POST", f"/v1/sessions/{session}/execute", '{"code":"1+1"}')


def laps(connection, request, count, status=200):
    times = []
    for _ in range(count):
        began = time.perf_counter()
        got, body = connection.send(request)
        times.append(time.perf_counter() - began)
        if got != status:
            raise RuntimeError(f"{got} {body[:300]}")
    return times


def create_laps(connection, count, with_cell):
    times = []
    for _ in range(count):
        began = time.perf_counter()
        session = connection.session()
        if with_cell:
            connection.send(connection.execute(session))
        times.append(time.perf_counter() - began)
        connection.send(connection.request("DELETE", f"/v1/sessions/{session}"))
    return times


def library(bench, name, iterations):
    """The median lap, in seconds."""
    command = [bench, "--benchmark_format=json", f"--benchmark_filter=^BM_{name}/"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ, CELLBLOCK_BENCH_ITERATIONS=str(iterations)))
    return json.loads(done.stdout)["benchmarks"][0]["median_us"] * 1e-6


def metric(connection, name):
    """The sum of what the server's metrics say of it."""
    _, text = connection.send(connection.request("GET", "/metrics"))
    return sum(float(line.split()[-1]) for line in text.decode().splitlines() if line.startswith(name))


def own_steps(connection):
    """Seconds that sessions' own steps have taken so far, which are the library's: namespaces, fork, lock-down."""
    return metric(connection, "cellblock_session_start_step_seconds_sum")


def against_library(connection, bench):
    """What the server adds: (name, seconds), the median of the rounds."""
    session = connection.session()
    cell, health = connection.execute(session), connection.request("GET", "/healthz")
    create_laps(connection, 5, True)
    laps(connection, cell, 200)
    rounds = []
    for _ in range(ROUNDS):
        figures = {}
        for name, with_cell in (("NewSession", False), ("NewSessionWithItsFirstCell", True)):
            figures["library: " + name] = library(bench, name, 50)
            before = own_steps(connection)
            times = create_laps(connection, 50, with_cell)
            figures[name] = statistics.median(times)
            if not with_cell:
                figures["NewSession, mean without the session's own steps"] = statistics.mean(times) - (own_steps(connection) - before) / len(times)
        figures["library: 1+1"] = library(bench, "Cell/OnePlusOne", 1000)
        figures |= {"1+1": statistics.median(laps(connection, cell, 1000)), "healthz": statistics.median(laps(connection, health, 1000))}
        for name in ("NewSession", "NewSessionWithItsFirstCell", "1+1"):
            figures[name + ", more than through the library"] = figures[name] - figures.pop("library: " + name)
        figures["1+1, more than through the library and healthz"] = figures["1+1, more than through the library"] - figures["healthz"]
        rounds.append(figures)
    for name in rounds[0]:
        yield name, statistics.median(figures[name] for figures in rounds)


def crowd(port, token, seconds):
    """CROWD clients on CROWD_SESSIONS sessions: laps, and what went wrong."""
    first = Connection(port, token)
    sessions = [first.session("crowd") for _ in range(CROWD_SESSIONS)]
    until, all_laps, problems, lock = time.perf_counter() + seconds, [], [], threading.Lock()

    def one(number):
        own, refused = [], []
        try:
            connection = Connection(port, token)
            request = connection.execute(sessions[number % CROWD_SESSIONS])
            while time.perf_counter() < until:
                began = time.perf_counter()
                status, body = connection.send(request)
                own.append(time.perf_counter() - began)
                if status != 200 or b'"status":"ok"' not in body:
                    refused.append(f"{status} {body[:200]}")
        except Exception as error:
            refused.append(repr(error))
        with lock:
            all_laps.extend(own)
            problems.extend(refused)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(CROWD)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for session in sessions:
        first.send(first.request("DELETE", f"/v1/sessions/{session}"))
    return all_laps, problems


def upload(connection, mebibytes):
    """Seconds until a body of that size is kept, and until the same bytes are in a file without any server."""
    block = b"2026-01-01T00:00:00,17.25\n" * ((1 << 20) // 26)
    count = (mebibytes << 20) // len(block)
    began = time.monotonic()
    connection.socket.sendall(f"PUT /v1/shared-files/large.csv HTTP/1.1\r\n{connection.head}Content-Length: {len(block) * count}\r\n\r\n".encode())
    for _ in range(count):
        connection.socket.sendall(block)
    status, body = connection.send(b"")
    sent = time.monotonic() - began
    if status not in (200, 201):
        raise RuntimeError(f"{status} {body[:300]!r}")
    connection.send(connection.request("DELETE", "/v1/shared-files/large.csv"))
    began = time.monotonic()
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(count):
            file.write(block)
    return sent, time.monotonic() - began


@contextlib.contextmanager
def serving(program, pool):
    """The port and the token of a server; `pool`: how many workers it may make ahead."""
    state = tempfile.mkdtemp(prefix="cellblock-perf-")
    pathlib.Path(state, "crowd.yaml").write_text(POLICY)
    pathlib.Path(state, "default.yaml").write_text("name: default\n")
    command = [program, "serve", "--listen", "127.0.0.1:0", "--state", f"{state}/state", "--policies", state, "--sessions", str(IDLE_SESSIONS + 100), "--pool", str(pool)]
    with open(f"{state}/log", "w") as log:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        line = server.stdout.readline()
        if "serves on" not in line:
            raise RuntimeError(line + pathlib.Path(state, "log").read_text())
        yield int(line.split()[-1].rstrip("/").rsplit(":", 1)[1]), pathlib.Path(state, "state/token").read_text().strip()
    finally:
        server.terminate()
        server.wait(60)
        shutil.rmtree(state, ignore_errors=True)


def handed_out(program):
    """Seconds of sessions from the pool with their first cell, asked for one at a time."""
    times = []
    with serving(program, 16) as (port, token):
        connection = Connection(port, token)
        for _ in range(HAND_OUTS):
            while metric(connection, "cellblock_pool_ready") < 1:
                time.sleep(0.01)
            time.sleep(0.02)  # until it is quiet
            times += create_laps(connection, 1, True)
        if metric(connection, 'cellblock_pool_sessions_total{from="pool"}') < HAND_OUTS:
            raise RuntimeError("not every session came from the pool")
    return times


def main():
    program, bench, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 60
    with serving(program, 0) as (port, token):
        connection = Connection(port, token)
        rows = []

        def row(name, figure, unit="s"):
            rows.append({"name": name, "figure": figure, "unit": unit})

        for name, figure in against_library(connection, bench):
            row(name, figure)
        session = connection.session()
        request = connection.execute(session)
        laps(connection, request, 200)
        alone = laps(connection, request, 2000)
        idle = [connection.session("crowd") for _ in range(IDLE_SESSIONS)]
        among = laps(connection, request, 2000)
        row(f"1+1 beside {IDLE_SESSIONS} idle sessions", statistics.median(among))
        row(f"1+1 beside {IDLE_SESSIONS} idle sessions, against alone", statistics.median(among) / statistics.median(alone), "times")
        for one in idle:
            connection.send(connection.request("DELETE", f"/v1/sessions/{one}"))
        crowd_laps, problems = crowd(port, token, seconds)
        row(f"{CROWD} clients on {CROWD_SESSIONS} sessions, calls", len(crowd_laps) / seconds, "a second")
        row(f"{CROWD} clients on {CROWD_SESSIONS} sessions, median", statistics.median(crowd_laps))
        row(f"{CROWD} clients on {CROWD_SESSIONS} sessions, 99th of 100", sorted(crowd_laps)[int(len(crowd_laps) * 0.99)])
        row(f"{CROWD} clients on {CROWD_SESSIONS} sessions, errors", len(problems), "")
        mebibytes = 1024 if seconds >= 30 else 128
        sent, written = upload(connection, mebibytes)
        row(f"upload of {mebibytes} MiB", mebibytes / sent, "MiB/s")
        row(f"upload of {mebibytes} MiB, against writing a file", sent / written, "times")
    times = handed_out(program)
    row("HandedOutSessionWithItsFirstCell", statistics.median(times))
    row("HandedOutSessionWithItsFirstCell, 99th of 100", sorted(times)[int(len(times) * 0.99)])
    print(json.dumps({"rows": rows, "problems": problems[:10]}))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
