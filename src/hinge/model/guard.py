"""The lock of a learner: held while its labels or names may change. (The core has its own for the numbers.)"""

from __future__ import annotations

import os
import threading
from typing import Any

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

    @property
    def lock(self) -> Any:
        """For `with`. (Not a context manager in Python: an interrupt between its last instruction and the block would
        leave the lock taken.)"""
        if self._forks != _forks:
            if not self._lock.acquire(blocking=False):
                raise RuntimeError(
                    "the process was forked while another thread was learning: this copy of the model is half-written. "
                    "Fork while nobody learns, or load the model in the new process"
                )
            self._lock.release()
            self._forks = _forks
        return self._lock
