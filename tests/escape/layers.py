#!/usr/bin/python3
"""Runs the hostile cells with each layer switched off in turn, and shows which of them notice.

Usage: tests/escape/layers.py BUILD_FOLDER      (of a build with -DCELLBLOCK_TEST_LAYER_SWITCHES=ON)

A layer that no cell would miss is either held up by another one as well, which ROWS must say, or is not tested: then this fails.
Runs on the host, as root or as an ordinary user; needs about a minute for each row.
"""

import os
import re
import subprocess
import sys

# What is switched off (host/confine/test_layer_switches.h) → why no cell may notice, where another layer holds alone.
ROWS = {
    "": "",
    "seccomp": "",
    "landlock": "",
    "capabilities": "",
    "no_new_privileges": "",
    "rlimits": "",
    "network_namespace": "the filter refuses every socket of the internet",
    "ipc_namespace": "",
    "uts_namespace": "",
    "read_only_root": "the root belongs to a user that is not mapped, and Landlock refuses writes",
    "cgroup,watch": "",
    "seccomp,network_namespace": "",
    "seccomp,uts_namespace,capabilities": "",
    "read_only_root,landlock": "",
}
FAILED = re.compile(r"^\[  FAILED  \] Cells/HostileCellTest\.\w+/(\w+)", re.MULTILINE)


def noticed(build, layers):
    """Names of the cells whose expectation fails."""
    command = [os.path.join(build, "tests/escape_test"), "--gtest_filter=Cells/HostileCellTest.*"]
    done = subprocess.run(command, env={**os.environ, "CELLBLOCK_TEST_LAYERS_OFF": layers}, capture_output=True, text=True, errors="replace")
    if re.search("could not be locked down|the jail could not be made", done.stdout + done.stderr):
        return ["(no session starts without it)"]
    ran = re.search(r"^\[==========\] (\d+) tests", done.stdout, re.MULTILINE)
    if ran is None or int(ran.group(1)) < 40:
        sys.exit(f"the hostile cells did not run with {layers or 'all layers'!r}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return sorted(set(FAILED.findall(done.stdout)))


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    missed = []
    for layers, reason in ROWS.items():
        cells = noticed(sys.argv[1], layers)
        print(f"{layers or '(nothing)'}: {len(cells)} notice{': ' + ' '.join(cells) if cells else ''}{f' [{reason}]' if reason and not cells else ''}", flush=True)
        if bool(cells) != bool(layers) and not (layers and reason):
            missed.append(layers or "(nothing)")
    if missed:
        sys.exit(f"not as it must be: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
