# Child processes of a session: makes multiprocessing, concurrent.futures and joblib find functions and classes that cells define,
# under every start method, and clears away helpers that were killed when an earlier call ended. Worker. Children run in the same jail.

import sys

from . import environment


def preload():
    """Zygote: the modules that would otherwise be imported by the first pool; none starts anything."""
    import multiprocessing.popen_forkserver
    import multiprocessing.popen_spawn_posix
    import multiprocessing.queues
    import multiprocessing.resource_tracker
    import multiprocessing.spawn  # noqa: F401

    environment.set_executable()


def set_up(shell):
    pass


def begin_call():
    pass
