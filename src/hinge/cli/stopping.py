"""Signals: Ctrl-C, SIGTERM and SIGHUP end a run without losing examples; SIGUSR1 saves the model."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


class Stop:
    """The signal that arrived, and what it does. Nothing is raised, so that the current examples are finished."""

    def __init__(self) -> None:
        self.number: int | None = None  # of the first signal
        self.save: Callable[[], None] = lambda: None  # what SIGUSR1 does
        self._end: Callable[[], None] = lambda: None

    def then(self, end: Callable[[], None]) -> None:
        """Calls `end` when a signal arrives; immediately, if one has arrived already."""
        self._end = end
        if self.number is not None:
            end()

    def handle(self, number: int, frame: Any) -> None:
        if self.number is not None:  # the second signal: end at once
            with suppress(OSError):
                os.write(2, b"Stopped at once.\n")
            os._exit(128 + number)
        self.number = number
        self._end()


@contextmanager
def stopping() -> Iterator[Stop]:
    """Ctrl-C, SIGTERM and SIGHUP end a run after the current examples; a second one ends it at once. SIGHUP stays
    ignored under nohup."""
    stop = Stop()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, stop.handle) for number in numbers}
    if hasattr(signal, "SIGUSR1"):
        before[signal.SIGUSR1] = signal.signal(signal.SIGUSR1, lambda number, frame: stop.save())
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
