# What preloaded modules want done around os.fork() (random seeds itself, logging and threading make their locks anew) is registered in
# each worker, and not in the zygote: its forks are of one thread that holds no lock, a worker is reseeded anyway, and each hook would
# cost every session some twenty copied pages. Zygote: keep() before any other module is imported. Worker: register().

import os

_register_at_fork = os.register_at_fork
_kept = []


def keep():
    """From here on hooks are kept, in their order."""
    os.register_at_fork = _keep


def _keep(**hooks):
    _kept.append(hooks)


def let_be():
    """The end of keep(): sessions find os as it is."""
    os.register_at_fork = _register_at_fork


def register():
    for hooks in _kept:
        _register_at_fork(**hooks)
