# Randomness: a worker forked from the zygote must not draw what its siblings draw. The zygote lists every generator that is alive
# and refuses to start with one that is not on the reviewed list (`audit`); the worker seeds them all anew, from fresh entropy or, with a
# session seed, deterministically (`reseed`). Trusts the kernel's random numbers alone.

import gc
import os
import random
import sys
import uuid

SEED_BITS = 64
# Where a preloaded module keeps a generator of its own, as module:attribute. Reviewed: reseeding it is right and enough.
REVIEWED = (
    "random:_inst",
    "numpy.random.mtrand:_rand",
    "sympy.core.random:rng",
    "sympy.core.random:_assumptions_rng",
    "sympy.core.symbol:Dummy._prng",
    "sklearn.ensemble._hist_gradient_boosting.grower:TreeGrower.__init__.__defaults__",
    "tempfile:_name_sequence",
    "multiprocessing.synchronize:SemLock._rand",
    "joblib.externals.loky.backend.synchronize:SemLock._rand",
    "joblib._multiprocessing_helpers:_rand",
)
# Generators that are the default of a compiled function's parameter, where no Python path leads: (module, type name), one each.
ANONYMOUS = (("sklearn.ensemble._hist_gradient_boosting.splitting", "RandomState"),)
_found = []  # generators to reseed, noted by audit() before the collector is frozen (frozen objects cannot be found any more)


def _numpy_kinds():
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is None:
        return (), (), ()
    return (numpy_random.RandomState,), (numpy_random.Generator,), (numpy_random.BitGenerator,)


def _kinds():
    states, generators, bits = _numpy_kinds()
    return (random.Random, *states, *generators, *bits)


def _generators():
    """Every generator object alive. random.SystemRandom draws from the kernel and needs nothing."""
    kinds = _kinds()
    return [o for o in gc.get_objects() if isinstance(o, kinds) and not isinstance(o, random.SystemRandom)]


def _lookup(path):
    module, _, attributes = path.partition(":")
    value = sys.modules.get(module)
    for name in attributes.split("."):
        value = getattr(value, name, None)
    return value


def _parts(generator):
    """A generator and the bit generator inside it: seeding one seeds the other."""
    inner = getattr(generator, "_bit_generator", None) or getattr(generator, "bit_generator", None)
    return [generator] if inner is None else [generator, inner]


def _describe(generator):
    holders = []
    for module in list(sys.modules.values()):
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if value is generator:
                holders.append(f"{getattr(module, '__name__', '?')}.{name}")
    where = ", ".join(holders[:4]) if holders else "held by no module"
    return f"{type(generator).__module__}.{type(generator).__qualname__} ({where})"


def _anonymous(unknown):
    """Those of the unknown ones that ANONYMOUS speaks of: of that type, and held by no module."""
    allowed = [kind for module, kind in ANONYMOUS if module in sys.modules]
    for generator in unknown:
        kind = type(generator).__name__
        if kind in allowed and "held by no module" in _describe(generator):
            allowed.remove(kind)
            yield generator


def audit():
    """Names of live generators that nobody reviewed; also notes the reviewed ones for the workers to reseed."""
    reviewed = {}
    kinds = _kinds()
    for path in REVIEWED:
        value = _lookup(path)
        value = getattr(value, "_rng", value)  # of tempfile's name sequences, once they were used
        for one in value if isinstance(value, tuple) else (value,):  # a tuple: defaults of a function's parameters
            for part in _parts(one) if isinstance(one, kinds) else ():
                reviewed[id(part)] = part
    unknown = [generator for generator in _generators() if id(generator) not in reviewed]
    for generator in _anonymous(unknown):
        reviewed.update((id(part), part) for part in _parts(generator))
    unknown = [generator for generator in unknown if id(generator) not in reviewed]
    _found[:] = list(reviewed.values())
    inner = {id(part) for generator in unknown for part in _parts(generator)[1:]}
    return sorted(_describe(generator) for generator in unknown if id(generator) not in inner)


def note(generators):
    """Adds generators to the reviewed ones; for preloaded modules of an environment that the list above does not know."""
    _found.extend(generators)


def reseed(seed=None):
    """Seeds everything anew. With a seed, random and NumPy are the same in each session of that seed; uuid, secrets and temporary names
    never are."""
    draw = random.Random(f"cellblock {int(seed)}").getrandbits if seed is not None else _entropy
    random.seed(int(seed) if seed is not None else None)
    _reseed_numpy(seed, draw)
    seen = {id(random._inst)} | _numpys_own()  # seeded above; doing it twice would only copy pages
    for generator in _found:
        if id(generator) not in seen:
            seen.add(id(generator))
            _reseed_one(generator, draw)
    _refresh_names()
    _refresh_openssl()


def _entropy(bits):
    return int.from_bytes(os.urandom((bits + 7) // 8), "little") >> (-bits % 8)


def _reseed_numpy(seed, draw):
    mtrand = sys.modules.get("numpy.random.mtrand")
    if mtrand is None:
        _late_numpy(seed, draw)
        return
    mtrand._rand.seed(int(seed) % (1 << 32) if seed is not None else draw(32))
    if seed is not None:
        # default_rng() without a seed asks this for its entropy
        sys.modules["numpy.random.bit_generator"].randbits = draw


def _numpys_own():
    state = getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)
    return set() if state is None else {id(part) for part in _parts(state)}


def _late_numpy(seed, draw):
    """NumPy was not preloaded: with a seed it is seeded when the session imports it; without, it seeds itself."""
    if seed is None:
        return
    from . import imports

    imports.after("numpy.random", lambda module: _reseed_numpy(seed, draw))


def _reseed_one(generator, draw):
    if isinstance(generator, random.Random):
        generator.seed(draw(SEED_BITS))
        return
    states, generators, bits = _numpy_kinds()
    if isinstance(generator, states):
        inner = generator._bit_generator
        if type(inner).__name__ == "MT19937" and hasattr(inner, "_legacy_seeding"):
            generator.seed(draw(32))
            return
        generator = inner
    elif isinstance(generator, generators):
        generator = generator.bit_generator
    _reseed_bits(generator, draw)


def _reseed_bits(bit_generator, draw):
    """In place: other generators may hold this one. Its seed sequence too, from which spawn() makes children."""
    entropy = draw(128)
    kind = type(bit_generator)
    bit_generator.state = kind(entropy).state
    sequence = getattr(bit_generator, "seed_seq", None)
    if sequence is not None and type(sequence).__name__ == "SeedSequence":
        sequence.__init__(entropy)


def _refresh_names():
    """State that is random but no generator object, or that keeps one by process number (two workers may have the same one)."""
    uuid._node = uuid._last_timestamp = None
    tempfile = sys.modules.get("tempfile")
    if tempfile is not None:
        tempfile._name_sequence = None
        helpers = sys.modules.get("joblib._multiprocessing_helpers")
        if hasattr(helpers, "_rand"):
            helpers._rand = tempfile._RandomNameSequence()
        for name in ("multiprocessing.synchronize", "joblib.externals.loky.backend.synchronize"):
            synchronize = sys.modules.get(name)
            if synchronize is not None:
                synchronize.SemLock._rand = tempfile._RandomNameSequence()
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        process._current_process.authkey = os.urandom(32)
        process.ORIGINAL_DIR = os.getcwd()


def settle():
    """In the zygote: first uses that would else set up library state, and so copy hundreds of pages, in each worker."""
    _refresh_openssl()
    ssl = sys.modules.get("ssl")
    if ssl is not None:
        ssl.RAND_bytes(16)


def _refresh_openssl():
    """OpenSSL tells a fork by the process number, which may be the same in each jail."""
    ssl = sys.modules.get("ssl")
    if ssl is not None:
        ssl.RAND_add(os.urandom(64), 64.0)
