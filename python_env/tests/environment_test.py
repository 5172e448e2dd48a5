"""Checks a built Python environment as a session would find it: packages, fonts, byte code, manifest.

Runs on the host with the system's interpreter: /usr/bin/python3 -I environment_test.py ENV_DIR [unittest options]. Each test that
imports starts an interpreter of its own, so that none sees what another one loaded or configured.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENV = None  # set by main
EVERY_SCRIPT = "销售额 売上 매출 Ελληνικά Русский − ✓ → ≤ €"

# Draws a title in every output format with each warning an error; the font manager's own log goes to stdout.
DRAW = """
import io, logging, os, sys, warnings
warnings.simplefilter("error")
import cellblock_fonts
cellblock_fonts.prepare_config_dir(os.environ["MPLCONFIGDIR"])
os.environ.update(cellblock_fonts.environment(os.environ["MPLCONFIGDIR"]))
log = logging.getLogger("matplotlib")
log.addHandler(logging.StreamHandler(sys.stdout))
import matplotlib.pyplot as plt
def draw(title, formats=("png", "svg", "pdf"), **font):
    figure, axes = plt.subplots()
    axes.plot([-1, 2])
    axes.set_title(title, **font)
    for kind in formats:
        figure.savefig(io.BytesIO(), format=kind)
    plt.close(figure)
title = %r
""" % EVERY_SCRIPT


class EnvironmentTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def run_python(self, code, check=True):
        environment = {
            "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(self.scratch), "PYTHONDONTWRITEBYTECODE": "1",
            "MPLCONFIGDIR": str(self.scratch / "mpl"), "MPLBACKEND": "agg", "PYTHONPATH": str(ENV / "site-packages"),
        }
        done = subprocess.run(
            [sys.executable, "-s", "-c", code], env=environment, cwd=self.scratch, capture_output=True, text=True, timeout=300, check=False)
        if check and done.returncode != 0:
            self.fail(f"{code[-300:]}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done

    def manifest(self):
        return json.loads((ENV / "manifest.json").read_text(encoding="utf-8"))

    def test_manifest_names_the_lock_it_was_built_from(self):
        manifest = self.manifest()
        tag = "cp%d%d" % sys.version_info[:2]
        lock = ROOT / "python_env" / "locks" / f"{tag}-{manifest['set']}.txt"
        self.assertEqual(manifest["lock_sha256"], hashlib.sha256(lock.read_bytes()).hexdigest())
        for package in manifest["packages"]:
            self.assertTrue(package["licence"], package["name"])

    def test_every_font_of_the_manifest_is_there_with_a_licence(self):
        fonts = self.manifest()["fonts"]
        self.assertTrue(fonts)
        for font in fonts:
            self.assertTrue(font["licence"], font["family"])
            for name in font["files"]:
                self.assertGreater((ENV / "fonts" / name).stat().st_size, 10_000, name)

    def test_every_module_of_every_package_can_be_imported(self):
        # Programs with a main of their own, a star import of pyplot, and a driver for a manager that is not in the environment.
        no_import = {"pypdfium2_cli", "isympy", "pylab", "adbc_driver_duckdb"}
        modules = [m for package in self.manifest()["packages"] for m in package["modules"] if m not in no_import]
        self.assertGreater(len(modules), 30)
        done = self.run_python(
            "import importlib, pathlib\n"
            f"for name in {modules!r}:\n"
            "    module = importlib.import_module(name)\n"
            "    print(name, getattr(module, '__file__', None) or list(module.__path__)[0], sep='\\t')\n")
        places = dict(line.split("\t") for line in done.stdout.splitlines() if "\t" in line)
        self.assertEqual(sorted(places), sorted(set(modules)))
        for name, place in places.items():
            self.assertTrue(place.startswith(str(ENV)), f"{name} comes from {place}")

    def test_the_prebuilt_font_list_is_used_and_every_script_is_drawn(self):
        done = self.run_python("import logging; logging.getLogger('matplotlib').setLevel(logging.DEBUG)\n" + DRAW + "draw(title)\n")
        self.assertIn("Using fontManager instance from " + str(self.scratch / "mpl"), done.stdout)
        self.assertNotIn("generated new fontManager", done.stdout)

    def test_a_glyph_that_no_font_has_is_reported(self):
        # The twin of the test above: it proves that a missing glyph would have failed it.
        done = self.run_python(DRAW + "draw('\\U0001F9FF \\u1200')\n", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("missing from font(s)", done.stderr)

    def test_the_fallback_survives_whatever_font_a_chart_asks_for(self):
        self.run_python(DRAW + (
            "assert cellblock_fonts.install_fallback() == cellblock_fonts.install_fallback()\n"
            "draw(title + ' 📈💰')\n"
            "draw(title, family='SimHei', weight='bold')\n"
            "plt.rcParams['font.sans-serif'] = ['SimHei']; draw(title)\n"
            "plt.rcParams['font.family'] = 'Times New Roman'; draw(title)\n"
            "plt.rcdefaults(); draw(title)\n"
            "for style in plt.style.available:\n"
            "    with plt.style.context(style): draw(title, formats=('png',))\n"))

    def test_seaborn_themes_keep_the_fallback(self):
        if "seaborn" not in {package["name"] for package in self.manifest()["packages"]}:
            self.skipTest("the core set has no seaborn")
        self.run_python(DRAW + "cellblock_fonts.install_fallback()\nimport seaborn\nseaborn.set_theme()\ndraw(title)\n")

    def test_an_unknown_font_family_is_said_once(self):
        done = self.run_python(DRAW + "cellblock_fonts.install_fallback()\nfor size in range(8, 20): draw(title, family='No Such Font', fontsize=size)\n")
        self.assertEqual(done.stdout.count("'No Such Font' not found"), 1, done.stdout)

    def test_byte_code_is_never_checked_against_its_source(self):
        seen = 0
        for source in (ENV / "site-packages" / "pandas").rglob("*.py"):
            code = source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"
            with open(code, "rb") as file:
                header = file.read(8)
            self.assertEqual(int.from_bytes(header[4:8], "little"), 0b01, f"{code}: not an unchecked hash")
            seen += 1
        self.assertGreater(seen, 1000)

    def test_tracebacks_name_the_place_inside_the_jail(self):
        done = self.run_python("import marshal\nfrom pandas import __file__ as f\nimport importlib.util\n"
                               "code = marshal.loads(open(importlib.util.cache_from_source(f), 'rb').read()[16:])\nprint(code.co_filename)\n")
        self.assertEqual(done.stdout.strip(), "/opt/cellblock/env/site-packages/pandas/__init__.py")

    def test_others_can_read_and_nobody_else_can_write(self):
        for directory, _, files in os.walk(ENV):
            mode = os.stat(directory).st_mode
            self.assertEqual(mode & 0o027, 0o005, directory)
            for name in files:
                mode = os.lstat(os.path.join(directory, name)).st_mode
                self.assertEqual(mode & 0o024, 0o004, os.path.join(directory, name))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: environment_test.py ENV_DIR [unittest options]")
    ENV = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
