# claim: A session that seeds every generator seeds its own alone.
# stdout: seeded
# after_stdout: fresh fresh fresh
# twin: again
# twin_stdout: seeded seeded fresh
import random
import sys

import numpy as np

if sys.argv[1] == "hostile":
    random.seed(7)
    np.random.seed(7)
    print("seeded")
else:
    import secrets

    draws = random.random(), np.random.rand(), secrets.token_bytes(8)
    known = random.Random(7).random(), np.random.RandomState(7).rand(), random.Random(7).randbytes(8)
    print(*["seeded" if draw == value else "fresh" for draw, value in zip(draws, known)])
