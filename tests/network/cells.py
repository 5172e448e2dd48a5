# Runs cells under a policy through `cellblock run`, and gives their records. For the tests of a session's network.
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["CELLBLOCK_PROGRAM"]
PYTHON_ENV = os.environ["CELLBLOCK_PYTHON_ENV"]


def run(policy, cells, *arguments, environment=None):
    """One session; a record for each cell."""
    with tempfile.TemporaryDirectory(prefix="cellblock-network-") as folder:
        policy_file, source = pathlib.Path(folder, "policy.yaml"), pathlib.Path(folder, "cells.py")
        policy_file.write_text(json.dumps({"name": "network-test", **policy}))
        source.write_text("".join(f"# %%\n{cell}\n" for cell in cells))
        command = [PROGRAM, "run", str(source), "--policy", str(policy_file), "--python-env", PYTHON_ENV, "--json", "--keep-going", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **(environment or {})})
    records = [json.loads(line) for line in done.stdout.split("\n") if line]
    if len(records) != len(cells):
        raise AssertionError(f"{len(records)} records of {len(cells)} cells: {done.stdout[-2000:]} {done.stderr[-2000:]}")
    return records


def explain(policy, *arguments):
    """(exit code, text) of `cellblock policy explain`."""
    with tempfile.TemporaryDirectory(prefix="cellblock-network-") as folder:
        policy_file = pathlib.Path(folder, "policy.yaml")
        policy_file.write_text(json.dumps({"name": "network-test", **policy}))
        done = subprocess.run([PROGRAM, "policy", "explain", str(policy_file), *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


class Case(unittest.TestCase):
    """With a folder of its own, and what a record should be."""

    def folder(self):
        path = tempfile.mkdtemp(prefix="cellblock-network-")
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def printed(self, record):
        self.assertEqual(record["status"], "ok", record.get("error") or record.get("reason"))
        return record["stdout"].strip()

    def refused(self, record, rule, subject=None):
        """The call ended with an error, quickly, and says which rule refused what."""
        self.assertEqual(record["status"], "error", record["stdout"])
        self.assertLess(record["receipt"]["wall_seconds"], 5)
        self.assertIn(rule, [denial["rule"].split(":")[0].split("[")[0] for denial in record["denials"] if denial["kind"] == "network"], record["denials"])
        if subject:
            self.assertTrue(any(subject in denial["subject"] for denial in record["denials"]), record["denials"])
