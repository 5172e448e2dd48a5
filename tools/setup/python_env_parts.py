"""The parts of tools/setup/build-python-env that need Python: fonts and matplotlib's font list, byte code, manifest.

Runs at build time with the system's interpreter, as whoever builds. Trusts the lock (hashes) and Debian's font packages. The first
argument names the part: fonts | compile | manifest.
"""

import argparse
import compileall
import dataclasses
import hashlib
import importlib.metadata
import json
import os
import pathlib
import platform
import py_compile
import re
import shutil
import subprocess
import sys
import time
import tomllib

# Where the folder stands inside a jail: the file names in byte code, hence in tracebacks, name this place.
JAIL_PATH = "/opt/cellblock/env"

MATPLOTLIBRC = """\
# Written by tools/setup/build-python-env. Charts are drawn without a screen; a glyph that the chosen font lacks is looked for in the
# other fonts of this list. "sans-serif" stands first so that setting font.sans-serif works as everywhere.
backend: agg
font.family: sans-serif, {fallback}
"""

# What packages without a licence expression write, in lower case, to SPDX. "BSD" alone says too little and stays out.
SPDX = {
    "2-clause bsd": "BSD-2-Clause",
    "apache 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "bsd 3-clause license": "BSD-3-Clause",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit": "MIT",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "mpl-2.0": "MPL-2.0",
    "mpl-2.0 and mit": "MPL-2.0 AND MIT",
}

# Read from the licence files of packages whose metadata is ambiguous or holds only the text. NumPy's and SciPy's wheels carry
# OpenBLAS and GCC's run-time libraries.
SPDX_BY_PACKAGE = {
    "cycler": "BSD-3-Clause",
    "ipython-pygments-lexers": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "matplotlib": "PSF-2.0",
    "mpmath": "BSD-3-Clause",
    "numpy": "BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1 AND LGPL-2.1-or-later",
    "prompt-toolkit": "BSD-3-Clause",
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",
    "python-dateutil": "Apache-2.0 OR BSD-3-Clause",
    "reportlab": "BSD-3-Clause",
    "scipy": "BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1 AND LGPL-2.1-or-later",
    "seaborn": "BSD-3-Clause",
    "sympy": "BSD-3-Clause",
    "xlrd": "BSD-3-Clause AND LicenseRef-Giffin",
}


def fail(message):
    sys.exit(f"build-python-env: {message}")


def load_fonts(path):
    with open(path, "rb") as file:
        return tomllib.load(file)["font"]


def copy_fonts(fonts, target):
    """Copies each font file from where its Debian package put it. Returns {family: [path, …]}."""
    target.mkdir()
    copied = {}
    for font in fonts:
        for candidates in font["files"]:
            source = next((pathlib.Path(p) for p in candidates if os.path.exists(p)), None)
            if source is None:
                fail(f"font file {candidates[0]} is missing: install the Debian package {font['package']} (tools/setup/install-packages)")
            copied.setdefault(font["family"], []).append(pathlib.Path(shutil.copyfile(source, target / source.name)))
    return copied


def write_font_list(env, fonts, copied):
    """Builds matplotlib's font list from its own fonts and ours alone, so that charts look alike on every host."""
    from matplotlib import font_manager, get_data_path

    find_fonts = font_manager.findSystemFonts
    font_manager.findSystemFonts = lambda fontpaths=None, fontext="ttf": find_fonts(fontpaths, fontext) if fontpaths else []
    manager = font_manager.FontManager()
    for font in fonts:
        for path in copied[font["family"]]:
            manager.addfont(path)
            entry = manager.ttflist[-1]
            if entry.name != font["family"]:
                fail(f"{path.name} calls itself '{entry.name}', python_env/fonts.toml says '{font['family']}'")
            # Relative to matplotlib's own data, which is how matplotlib stores its own fonts: the folder can then stand anywhere.
            relative = os.path.relpath(path, get_data_path())
            manager.ttflist[-1] = dataclasses.replace(entry, fname=relative)
            manager.ttflist.extend(dataclasses.replace(entry, fname=relative, name=alias) for alias in font["aliases"])
    (env / "mpl").mkdir()
    font_manager.json_dump(manager, env / "mpl" / f"fontlist-v{font_manager.FontManager.__version__}.json")
    fallback = ", ".join(font["family"] for font in fonts if font["fallback"])
    (env / "mpl" / "matplotlibrc").write_text(MATPLOTLIBRC.format(fallback=fallback), encoding="utf-8")
    return len(manager.ttflist)


def part_fonts(args):
    sys.path.insert(0, os.fspath(args.env / "site-packages"))
    fonts = load_fonts(args.fonts)
    copied = copy_fonts(fonts, args.env / "fonts")
    names = write_font_list(args.env, fonts, copied)
    files = sum(len(paths) for paths in copied.values())
    print(f"  {files} font files, {names} entries in matplotlib's font list", file=sys.stderr)


def part_compile(args):
    """Byte code that is never checked against its source: a read-only folder then costs no stat and never rewrites it."""
    site = args.env / "site-packages"
    entries = sorted(site.iterdir())
    shown = time.monotonic()
    for number, entry in enumerate(entries, 1):
        options = {
            "quiet": 2, "stripdir": os.fspath(args.env), "prependdir": JAIL_PATH,
            "invalidation_mode": py_compile.PycInvalidationMode.UNCHECKED_HASH,
        }
        if entry.is_dir():
            # A source that no interpreter of this version can read (templates, samples of bad syntax) stays without byte code.
            compileall.compile_dir(entry, maxlevels=50, workers=args.jobs, **options)
        elif entry.suffix == ".py":
            compileall.compile_file(entry, **options)
        if time.monotonic() - shown > 3 or number == len(entries):
            print(f"  [{number}/{len(entries)}] byte code up to {entry.name}", file=sys.stderr, flush=True)
            shown = time.monotonic()


def licence_of(name, meta):
    """The SPDX name of a distribution's licence. Unknown words fail the build: the manifest must not guess."""
    if meta.get("License-Expression"):
        return meta["License-Expression"]
    if name in SPDX_BY_PACKAGE:
        return SPDX_BY_PACKAGE[name]
    classifiers = [c.split("::")[-1].strip() for c in meta.get_all("Classifier", []) if c.startswith("License ::")]
    words = [(meta.get("License") or "").strip().split("\n")[0].strip(), *classifiers]
    for word in words:
        if word.lower() in SPDX:
            return SPDX[word.lower()]
    fail(f"the licence of {name} is not known by its words {words}: add them to SPDX, or the package to SPDX_BY_PACKAGE, in {pathlib.Path(__file__).name}")


def modules_of(dist):
    """What a program imports from this distribution: its top-level packages, modules and extension modules."""
    modules = set()
    for file in dist.files or ():
        head = file.parts[0]
        if file.suffix == ".py" or file.name.endswith(".so"):
            modules.add(head.split(".")[0])
    return sorted(name for name in modules if name.isidentifier() and not name.startswith("_"))


def packages_of(site):
    packages = []
    for dist in importlib.metadata.distributions(path=[os.fspath(site)]):
        meta = dist.metadata
        name = re.sub(r"[-_.]+", "-", meta["Name"]).lower()
        packages.append({"name": name, "version": dist.version, "licence": licence_of(name, meta),
                         "summary": (meta.get("Summary") or "").strip(), "modules": modules_of(dist)})
    return sorted(packages, key=lambda package: package["name"])


def locked_versions(lock):
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock.read_text(encoding="utf-8"), flags=re.MULTILINE))


def package_version(name):
    command = ["dpkg-query", "-W", "-f=${Version}", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def fonts_of(path):
    return [
        {
            "family": font["family"], "licence": font["licence"], "covers": font["covers"], "aliases": font["aliases"],
            "files": [os.path.basename(candidates[0]) for candidates in font["files"]],
            "debian_package": font["package"], "debian_version": package_version(font["package"]),
        }
        for font in load_fonts(path)
    ]


def part_manifest(args):
    site = args.env / "site-packages"
    packages = packages_of(site)
    installed = {package["name"]: package["version"] for package in packages}
    locked = locked_versions(args.lock)
    if installed != locked:
        differing = sorted(dict(installed.items() ^ locked.items()))
        fail(f"installed packages differ from {args.lock.name}: {', '.join(differing)}")
    manifest = {
        "set": args.set,
        "python": {"implementation": platform.python_implementation(), "version": platform.python_version(), "machine": platform.machine()},
        "lock_sha256": hashlib.sha256(args.lock.read_bytes()).hexdigest(),
        "packages": packages,
        "fonts": fonts_of(args.fonts) if (args.env / "fonts").is_dir() else [],
    }
    (args.env / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"  {len(packages)} packages, {len(manifest['fonts'])} font families", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["fonts", "compile", "manifest"])
    parser.add_argument("--env", type=pathlib.Path, required=True)
    parser.add_argument("--fonts", type=pathlib.Path)
    parser.add_argument("--lock", type=pathlib.Path)
    parser.add_argument("--set")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    {"fonts": part_fonts, "compile": part_compile, "manifest": part_manifest}[args.part](args)


if __name__ == "__main__":
    main()
