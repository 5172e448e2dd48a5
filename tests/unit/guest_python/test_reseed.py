# Randomness: workers of one zygote never draw the same, unless a seed is set; nothing random is forgotten. CASES rows 10, 11.

import os
import random
import subprocess
import sys
import unittest

import support
from support import Session

DRAWS = (
    "random.random()", "numpy.random.rand()", "numpy.random.default_rng().random()", "uuid.uuid4()", "uuid.uuid1()", "tempfile.mktemp()", "secrets.token_hex()", "os.urandom(8)", "ssl.RAND_bytes(16)",
    "random.SystemRandom().random()", "numpy.random.randint(10**9)", "multiprocessing.current_process().authkey", "next(tempfile._get_candidate_names())", "random.Random().random()", "numpy.random.RandomState().rand()",
)
SEEDED = ("random.random()", "numpy.random.rand()", "numpy.random.default_rng().random()", "numpy.random.randint(10**9)", "random.sample(range(100), 5)", "numpy.random.permutation(20).tolist()")
IMPORTS = "import random, numpy, uuid, tempfile, secrets, os, ssl, multiprocessing"


def draw(expressions, **options):
    with Session(**options) as session:
        return [session.run(f"{IMPORTS}\n{expression}").result for expression in expressions]


class ReseedTest(unittest.TestCase):
    def test_two_sessions_draw_differently(self):
        import ssl

        support.zygote()
        ssl.RAND_bytes(1)  # the generator exists before the fork
        first, second = draw(DRAWS), draw(DRAWS)
        for expression, one, other in zip(DRAWS, first, second):
            with self.subTest(expression=expression):
                self.assertIsNotNone(one)
                self.assertNotEqual(one, other)

    def test_twenty_sessions_give_twenty_first_draws(self):
        self.assertEqual(len({draw(["random.random()"])[0] for _ in range(20)}), 20)

    def test_a_seed_makes_random_and_numpy_equal_and_nothing_else(self):
        first, second = draw(SEEDED, seed=7), draw(SEEDED, seed=7)
        self.assertEqual(first, second)
        self.assertNotEqual(first, draw(SEEDED, seed=8))
        others = ("uuid.uuid4()", "secrets.token_hex()", "tempfile.mktemp()")
        self.assertFalse(set(draw(others, seed=7)) & set(draw(others, seed=7)))

    def test_a_seed_is_what_random_seed_and_numpy_seed_give(self):
        generator = random.Random(7)
        self.assertEqual(draw(["random.random()"], seed=7)[0], repr(generator.random()))

    def test_large_seeds(self):
        for seed in (0, 2**32, 2**64 - 1):
            self.assertEqual(draw(SEEDED, seed=seed), draw(SEEDED, seed=seed))


class AuditTest(unittest.TestCase):
    """In processes of their own: a zygote with generators in its modules."""

    def run_zygote(self, code):
        done = subprocess.run([sys.executable, "-c", "import support\n" + code], capture_output=True, text=True, timeout=120, cwd=os.path.dirname(os.path.abspath(__file__)))
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_unreviewed_generators_are_named(self):
        output = self.run_zygote(
            "import types, random, sys\nfrom cellblock_guest import zygote\nzygote.preload(['numpy'])\nimport numpy\n"
            "m = sys.modules['mine'] = types.ModuleType('mine')\nm.rng = numpy.random.default_rng(1)\nm.old = random.Random(1)\nm.state = numpy.random.RandomState(1)\nm.holder = [numpy.random.PCG64(1)]\n"
            "class Sub(random.Random): pass\nm.sub = Sub()\nm.system = random.SystemRandom()\nprint('\\n'.join(zygote.audit_generators()))"
        )
        for expected in ("Generator (mine.rng)", "random.Random (mine.old)", "RandomState (mine.state)", "PCG64 (held by no module)", "Sub (mine.sub)"):
            self.assertIn(expected, output)
        self.assertNotIn("system", output)

    def test_the_usual_preload_has_none(self):
        self.assertEqual(self.run_zygote("from cellblock_guest import zygote\nzygote.preload(support.PRELOAD)\nzygote.warm_up()\nprint(zygote.audit_generators())"), "[]\n")

    def test_reviewed_generators_of_modules_are_reseeded_after_the_freeze(self):
        code = (
            "import types, random, sys\nfrom cellblock_guest import zygote, reseed\nzygote.preload(['numpy'])\nimport numpy\n"
            "m = sys.modules['mine'] = types.ModuleType('mine')\nm.rng = numpy.random.default_rng(1)\nm.old = random.Random(1)\nm.state = numpy.random.RandomState(1)\nm.mt = numpy.random.Generator(numpy.random.MT19937(1))\n"
            "reseed.REVIEWED += ('mine:rng', 'mine:old', 'mine:state', 'mine:mt')\nassert zygote.audit_generators() == []\nzygote.freeze()\nsupport._zygote = zygote\n"
            "def draw(**o):\n    with support.Session(**o) as s:\n        return s.run('import mine\\n[mine.rng.random(), mine.old.random(), mine.state.rand(), mine.mt.random(), mine.rng.spawn(1)[0].random()]').result\n"
            "a, b = eval(draw()), eval(draw())\nprint(all(x != y for x, y in zip(a, b)), draw(seed=5) == draw(seed=5), draw(seed=5) != draw(seed=6))"
        )
        self.assertEqual(self.run_zygote(code), "True True True\n")

    def test_the_list_of_places_is_looked_up(self):
        support.zygote()
        from cellblock_guest import reseed

        self.assertIs(reseed._lookup("random:_inst"), random._inst)
        self.assertIsNone(reseed._lookup("no.such.module:x"))
        self.assertIsNone(reseed._lookup("random:nothing.there"))


if __name__ == "__main__":
    unittest.main()
