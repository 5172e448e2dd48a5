#!/usr/bin/python3
"""Runs the hostile cells with each layer switched off in turn, and shows which of them notice.

Usage: tests/escape/layers.py BUILD_FOLDER [ROW]...     (of a build with -DCELLBLOCK_TEST_LAYER_SWITCHES=ON)

A layer that no cell would miss is either held up by another one as well, which ROWS must say, or is not tested: then this fails.
Runs on the host, as root or as an ordinary user, with as many rows at once as there are processors; a row needs about a minute.
"""

import concurrent.futures
import os
import re
import subprocess
import sys

# What is switched off (host/confine/test_layer_switches.h) → why no cell may notice, where another layer holds alone.
ROWS = {
    "": "",
    # Each layer of docs/threat-model.md, and its parts. A jail without these three is none: no session starts, which is a refusal.
    "user_namespace": "",
    "pid_namespace": "",
    "mount_namespace": "",
    "network_namespace": "",
    "ipc_namespace": "",
    "uts_namespace": "",
    "old_root": "",
    "read_only_root": "the root belongs to a user that is not mapped, and Landlock refuses writes",
    "proc_masks": "",
    "capabilities": "",
    "no_new_privileges": "",
    "landlock": "",
    "seccomp": "",
    "descriptors,descriptors_proof": "",
    "rlimits": "",
    "sized_files": "",
    "cgroup,watch": "",
    # Where two layers hold the same, both off.
    "seccomp,network_namespace": "",
    "network_namespace,landlock": "",
    "seccomp,uts_namespace,capabilities": "",
    "read_only_root,landlock": "",
}
FAILED = re.compile(r"^\[  FAILED  \] Cells/HostileCellTest\.\w+/(\w+)", re.MULTILINE)


def noticed(build, layers):
    """Names of the cells whose expectation fails."""
    command = [os.path.join(build, "tests/escape_test"), "--gtest_filter=Cells/HostileCellTest.*"]
    done = subprocess.run(command, env={**os.environ, "CELLBLOCK_TEST_LAYERS_OFF": layers}, capture_output=True, text=True, errors="replace")
    if re.search("could not be locked down|the jail could not be made|^no session: ", done.stdout + done.stderr, re.MULTILINE):
        return ["(no session starts without it)"]
    ran = re.search(r"^\[==========\] (\d+) tests", done.stdout, re.MULTILINE)
    if ran is None or int(ran.group(1)) < 40:
        raise RuntimeError(f"the hostile cells did not run with {layers or 'all layers'!r}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return sorted(set(FAILED.findall(done.stdout)))


def main():
    chosen = sys.argv[2:] or list(ROWS)
    if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]) or not set(chosen) <= set(ROWS):
        sys.exit(__doc__)
    missed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as rows:
        for layers, cells in zip(chosen, rows.map(lambda layers: noticed(sys.argv[1], layers), chosen)):
            reason = ROWS[layers]
            print(f"{layers or '(nothing)'}: {len(cells)} notice{': ' + ' '.join(cells) if cells else ''}{f' [{reason}]' if reason and not cells else ''}", flush=True)
            if bool(cells) != bool(layers) and not (layers and reason):
                missed.append(layers or "(nothing)")
    if missed:
        sys.exit(f"not as it must be: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
