# What the guest's Python side computes for a cell and for a hand-out, over and over, for a counter of instructions.
# Usage: /usr/bin/python3 counted_cells.py cell|hand_out TIMES

import os
import shutil
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests", "unit", "guest_python"))

import support  # noqa: E402


def main():
    name, times = sys.argv[1], int(sys.argv[2])
    support.PRELOAD = ["IPython"]  # what a plain cell needs; the others only take time to import
    support.zygote()
    folder = tempfile.mkdtemp(prefix="guest-counts-")
    os.chdir(folder)
    from cellblock_guest import worker

    def start():
        worker.start(lambda kind, fields: None, support.OPTIONS)

    start()
    options = {"call": 2}
    for _ in range(times):
        if name == "cell":
            worker.run("1+1", options)
        else:
            start()
    shutil.rmtree(folder)
    os._exit(0)


if __name__ == "__main__":
    main()
