# Charts: each figure once, in order, finished, closed; fonts; plotly, Pillow, seaborn, pandas. CASES rows 8, 9, 12 to 18.

import io
import json
import struct
import unittest

from support import Session, run


def size(png):
    return struct.unpack(">II", png[16:24])


class FigureTest(unittest.TestCase):
    def setUp(self):
        self.session = Session()
        self.addCleanup(self.session.close)
        self.session.run("import numpy as np\nimport pandas as pd\nimport matplotlib.pyplot as plt")

    def images(self, code):
        outcome = self.session.run(code)
        self.assertEqual((outcome.status, outcome.stderr), ("ok", ""), outcome.events)
        for image in outcome.images:
            self.assertEqual(image[:8], b"\x89PNG\r\n\x1a\n")
        return outcome.images

    def test_several_figures_come_in_the_order_of_their_creation(self):
        outcome = self.session.run("for n in (3, 1, 4, 2):\n    plt.figure(n, figsize=(n, 1)); plt.plot([1, n]); plt.title(str(n))\nplt.figure(3);")
        titles = [c["metadata"]["image/png"]["chart"]["axes"][0]["title"] for c in outcome.of("display")]
        self.assertEqual((titles, outcome.status), (["3", "1", "4", "2"], "ok"))

    def test_each_figure_comes_once_whatever_way_it_is_shown(self):
        for code in ("fig, ax = plt.subplots(); ax.plot([1])\nfig", "plt.plot([1]); plt.show(); plt.show()", "plt.plot([1]); plt.savefig('a.png'); plt.show()", "plt.plot([1]); plt.show(); plt.savefig('b.png')",
                     "def p():\n    f = plt.figure(); plt.plot([1]); return f\np()", "plt.plot([1])", "plt.plot([1]);", "fig, ax = plt.subplots()\nax.plot([1])\nax", "fig, ax = plt.subplots(); ax.plot([1])\ndisplay(fig)",
                     "fig, ax = plt.subplots(); ax.plot([1])\ndisplay(fig)\nfig", "fig, ax = plt.subplots(); ax.plot([1]); fig.show()", "fig, ax = plt.subplots(); ax.plot([1]); fig.show(); plt.show()",
                     "from matplotlib.figure import Figure\nf = Figure(); f.subplots().plot([1])\nf", "plt.ion(); plt.plot([1]); plt.show(); plt.ioff();", "plt.plot([1]); plt.show(block=False); plt.pause(0.01)",
                     "import matplotlib\nmatplotlib.use('Agg')\nplt.plot([1]); plt.show()", "%matplotlib inline\nplt.plot([1])\nplt.show()", "plt.switch_backend('svg'); plt.plot([1]); plt.show(); plt.switch_backend('agg')",
                     "fig, ax = plt.subplots(); ax.plot([1])\nfig.canvas.draw()\nfig.savefig('c.svg')", "fig, ax = plt.subplots(); ax.plot([1])\n_ = [display(fig) for _ in range(1)]\nplt.close(fig)"):
            with self.subTest(code=code):
                self.assertEqual(len(self.images(code)), 1)

    def test_show_in_a_loop_gives_one_image_each_time(self):
        self.assertEqual(len(self.images("for i in range(3):\n    plt.plot([i]); plt.show()")), 3)

    def test_a_figure_that_changed_after_it_was_shown_is_shown_again(self):
        images = self.images("fig, ax = plt.subplots(); ax.plot([1, 2])\ndisplay(fig)\nax.set_title('new')")
        self.assertEqual(len(images), 2)
        self.assertNotEqual(images[0], images[1])
        self.assertEqual(len(self.images("fig, ax = plt.subplots(); ax.plot([1, 2])\ndisplay(fig)\nax.set_title('')")), 1)

    def test_closed_and_empty_figures_are_not_shown(self):
        for code in ("plt.plot([1]); plt.savefig('x.png'); plt.close()", "plt.plot([1]); plt.close('all')", "plt.figure();", "plt.show()", "plt.figure(); plt.show()"):
            with self.subTest(code=code):
                self.assertEqual(self.images(code), [])
        self.assertEqual(len(self.images("fig = plt.figure(); fig.text(0.5, 0.5, 'only text');")), 1)

    def test_figures_do_not_pile_up_over_calls(self):
        for _ in range(10):
            self.session.run("plt.figure()\nplt.plot([1]);")
        self.assertEqual(self.session.run("plt.get_fignums()").result, "[]")

    def test_a_figure_kept_in_a_variable_can_be_shown_later(self):
        self.images("fig, ax = plt.subplots(); ax.plot([1]);")
        self.assertEqual(len(self.images("ax.set_title('later')\nfig")), 1)

    def test_a_figure_before_an_error_is_finished_and_comes_with_it(self):
        outcome = self.session.run("plt.plot([0, 2], [0, 2]); raise ValueError")
        self.assertEqual(outcome.kinds(), ["display", "error"])
        self.assertGreater(len(outcome.images[0]), 5000)
        self.assertEqual(len(self.images("plt.bar([1], [2]);")), 1)

    def test_an_error_in_drawing_is_the_cells(self):
        outcome = self.session.run("plt.plot([1]); plt.title('$\\\\bad{$');")
        self.assertEqual((outcome.status, outcome.images), ("error", []))
        self.assertIn("ParseFatalException", outcome.error["traceback"])
        self.assertEqual(self.session.run("plt.get_fignums()").result, "[]")

    def test_number_of_figures_is_bounded(self):
        from cellblock_guest import figures

        outcome = self.session.run(f"plt.rcParams['figure.max_open_warning'] = 0\nfor i in range({figures.FIGURES_MAX + 3}):\n    plt.figure(figsize=(1, 1)); plt.plot([i])")
        self.assertEqual(len(outcome.images), figures.FIGURES_MAX)
        self.assertIn("3 more figures were not shown", outcome.stderr)

    def test_pixels_are_bounded(self):
        from cellblock_guest import figures

        image = self.images("plt.figure(figsize=(100, 100)); plt.plot([1]);")[0]
        width, height = size(image)
        self.assertLess(width * height, figures.PIXELS_MAX * 1.1)

    def test_size_and_labels_are_in_the_metadata(self):
        outcome = self.session.run("fig, ax = plt.subplots()\nax.plot([1, 2], [3, 4], label='s'); ax.set_xlabel('x'); ax.set_ylabel('y'); ax.set_title('t'); fig.suptitle('all')\nax.bar(['a', 'b'], [1, float('nan')], label='b');")
        metadata = outcome.of("display")[0]["metadata"]["image/png"]
        self.assertEqual((metadata["width"], metadata["height"]), size(outcome.images[0]))
        chart = metadata["chart"]
        axes = chart["axes"][0]
        self.assertEqual((chart["title"], axes["title"], axes["x_label"], axes["y_label"]), ("all", "t", "x", "y"))
        self.assertEqual(axes["series"][0], {"kind": "line", "label": "s", "points": 2, "x": [1, 2], "y": [3, 4]})
        self.assertEqual(axes["series"][1]["y"], [1, None])

    def test_metadata_is_bounded(self):
        from cellblock_guest import values

        outcome = self.session.run("fig, axs = plt.subplots(6, 6)\nfor a in axs.flat:\n    a.set_title('t' * 5000)\n    for i in range(40): a.plot(range(90), label='l' * 3000)")
        self.assertLess(len(json.dumps(outcome.of("display")[0]["metadata"])), values.METADATA_BYTES_MAX * 1.2)
        self.assertEqual(len(outcome.images), 1)

    def test_resolution_option_and_the_figures_own(self):
        small = size(run("import matplotlib.pyplot as plt\nplt.plot([1]);", figure_dpi=50).images[0])
        large = size(run("import matplotlib.pyplot as plt\nplt.plot([1]);", figure_dpi=200).images[0])
        self.assertAlmostEqual(large[0] / small[0], 4, delta=0.2)
        own = size(self.images("plt.figure(dpi=50); plt.plot([1]);")[0])
        self.assertAlmostEqual(own[0] / small[0], 1, delta=0.05)
        self.images("%config InlineBackend.figure_format = 'retina'")
        self.assertAlmostEqual(size(self.images("plt.plot([1]);")[0])[0] / small[0], 4, delta=0.2)

    def test_savefig_is_not_changed_by_the_resolution_option(self):
        with Session(figure_dpi=200) as session:
            self.assertEqual(session.run("import matplotlib.pyplot as plt\nfig, ax = plt.subplots(); ax.plot([1]); fig.savefig('a.png'); plt.close()\nfrom PIL import Image\nImage.open('a.png').size").result, "(640, 480)")

    def test_svg_option(self):
        outcome = run("import matplotlib.pyplot as plt\nplt.plot([1]);", figure_svg=True)
        self.assertIn("<svg", outcome.of("display")[0]["mime"]["image/svg+xml"])
        self.assertNotIn("image/svg+xml", self.session.run("plt.plot([1]);").of("display")[0]["mime"])

    def test_clear_output_and_display_make_an_animation(self):
        outcome = self.session.run("from IPython.display import clear_output\nfig, ax = plt.subplots()\nfor i in range(3):\n    ax.plot([i]); clear_output(wait=True); display(fig)")
        self.assertEqual(outcome.kinds(), ["clear", "display"] * 3)

    def test_an_interrupted_cell_shows_what_it_drew(self):
        outcome = self.session.run("plt.plot([1, 2])\nwhile True: pass", interrupt_after=0.5)
        self.assertEqual((outcome.status, len(outcome.images)), ("interrupted", 1))

    def test_seaborn_and_pandas_plots(self):
        self.assertEqual(len(self.images("pd.DataFrame({'a': [1, 2], 'b': [2, 3]}).plot()")), 1)
        self.assertEqual(len(self.images("pd.Series([1, 2]).hist();")), 1)
        self.assertEqual(len(self.images("import seaborn as sns\nsns.set_theme()\nsns.lineplot(x=[1, 2], y=[3, 4])")), 1)
        self.assertEqual(len(self.images("g = sns.pairplot(pd.DataFrame({'a': [1., 2, 3], 'b': [2., 3, 5]}))\ng")), 1)

    def test_capture_takes_figures_along(self):
        self.assertEqual(self.images("%%capture out\nplt.plot([1])"), [])
        self.assertEqual(self.session.run("[list(o.data) for o in out.outputs]").result, "[['text/plain'], ['text/plain', 'image/png']]")


class FontTest(unittest.TestCase):
    def test_east_asian_text_is_drawn_without_a_word(self):
        outcome = run("import matplotlib.pyplot as plt\nplt.title('销售额 売上 매출')\nplt.plot([1]);\nplt.show()")
        self.assertEqual((outcome.stderr, len(outcome.images)), ("", 1))

    def test_missing_glyphs_are_one_short_line_a_call(self):
        outcome = run("import matplotlib.pyplot as plt\nfor i in range(3):\n    plt.title('\\U00013080\\U00013081 \\u2212'); plt.plot([1]); plt.savefig('a.png'); plt.show()")
        self.assertEqual(outcome.stderr.count("\n"), 1, outcome.stderr)
        self.assertLess(len(outcome.stderr), 300)
        self.assertIn("U+13080", outcome.stderr)

    def test_missing_families_are_one_short_line_a_call(self):
        outcome = run("import matplotlib.pyplot as plt\nplt.rcParams['font.family'] = ['NoSuchFont', 'SimHei']\nplt.title('中文 \\u2212'); plt.plot([-1, 1], label='l'); plt.legend(); plt.show()\nplt.plot([1]); plt.savefig('x.png')")
        self.assertLessEqual(outcome.stderr.count("\n"), 1, outcome.stderr)
        self.assertIn("NoSuchFont", outcome.stderr)

    def test_cache_folder_is_writable_and_the_sessions_own(self):
        outcome = run("import matplotlib.pyplot as plt, matplotlib, os\nd = matplotlib.get_cachedir()\nprint(d)\nos.access(d, os.W_OK), os.environ['MPLCONFIGDIR'] == d")
        self.assertEqual((outcome.result, outcome.stderr), ("(True, True)", ""))

    def test_child_interpreters_draw_without_a_warning(self):
        outcome = run("import subprocess, sys\nr = subprocess.run([sys.executable, '-c', 'import matplotlib.pyplot as plt; plt.plot([1]); plt.savefig(\"c.png\"); plt.show()'], capture_output=True, text=True)\nr.returncode, r.stdout, r.stderr")
        self.assertEqual(outcome.result, "(0, '', '')")


class OtherLibrariesTest(unittest.TestCase):
    def test_plotly_gives_html_and_json_and_never_a_browser(self):
        with Session() as session:
            for show in ("fig.show()", "fig", "display(fig)", "fig.show(renderer='browser')", "import plotly.io as pio\npio.show(fig)", "pio.renderers.default = 'notebook'\nfig.show()", "fig.show('iframe')"):
                with self.subTest(show=show):
                    outcome = session.run(f"import plotly.express as px\nfig = px.line(x=[1, 2, 3], y=[1, float('nan'), 2], title='T')\n{show}")
                    self.assertEqual((outcome.status, outcome.stderr), ("ok", ""))
                    events = outcome.of("display") + outcome.of("result")
                    self.assertEqual(len(events), 1)
                    bundle = events[0]["mime"]
                    self.assertEqual(json.loads(bundle["application/vnd.plotly.v1+json"])["data"][0]["type"], "scatter")
                    self.assertIn("plotly", bundle["text/html"])
                    self.assertEqual(bundle["text/plain"], "<plotly figure with 1 trace (scatter): T>")
            self.assertEqual(session.run("import os; os.path.exists('iframe_figures')").result, "False")

    def test_pillow_images_are_png(self):
        from PIL import Image

        for show in ("im", "display(im)", "im.show()"):
            with self.subTest(show=show):
                outcome = run(f"from PIL import Image\nim = Image.new('RGB', (8, 4), 'red')\n{show}")
                self.assertEqual(Image.open(io.BytesIO(outcome.images[0])).size, (8, 4))
                self.assertEqual(len(outcome.images), 1)

    def test_ipython_images(self):
        outcome = run("from IPython.display import Image, SVG\nimport io\nfrom PIL import Image as P\nb = io.BytesIO(); P.new('L', (3, 2)).save(b, 'png')\ndisplay(Image(b.getvalue()))\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')")
        self.assertEqual(size(outcome.of("display")[0]["mime"]["image/png"]), (3, 2))
        self.assertIn("<svg", outcome.bundle()["image/svg+xml"])


if __name__ == "__main__":
    unittest.main()
