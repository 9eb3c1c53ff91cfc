"""The lock of a learner: held while its labels or names may change. (The core has its own for the numbers.)"""

from __future__ import annotations

import os
import threading

_forks = 0  # that made this process what it is


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class Guard:
    """A lock that its thread may take again, and that a forked process does not wait for in vain.

    A thread that held it when the process was forked does not exist in the child, and what it was changing is
    half-changed for ever: there it raises.
    """

    __slots__ = ("_forks", "_lock")

    def __init__(self) -> None:
        self._lock, self._forks = threading.RLock(), _forks

    def __enter__(self) -> None:
        if self._forks != _forks:
            if not self._lock.acquire(blocking=False):
                raise RuntimeError(
                    "the process was forked while another thread was learning: this copy of the model is half-written. "
                    "Fork while nobody learns, or load the model in the new process"
                )
            self._lock.release()
            self._forks = _forks
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
