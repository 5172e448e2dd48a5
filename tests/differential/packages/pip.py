import os
import pathlib
import zipfile

import pip
from pip._internal.cli.main import main

print(pip.__version__)
folder = pathlib.Path("wheels")
folder.mkdir(exist_ok=True)
info = "tinylib-1.0.dist-info"
with zipfile.ZipFile(folder / "tinylib-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tinylib.py", "answer = 42\n")
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinylib\nVersion: 1.0\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/RECORD", f"tinylib.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
print(main(["install", "-q", "--no-index", "--find-links", str(folder), "--target", "packages", "tinylib"]))
print(sorted(name for name in os.listdir("packages") if not name.startswith("__")))
