"""Ctrl-C and SIGTERM: what is under way is finished, and nothing is lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


class Stopped(Exception):
    """A signal came while nothing was to be done but to wait for data."""


class Stoppable(Protocol):
    stopped: bool  # to be looked at after each step
    waiting: bool  # for data


class Stop:
    number: int | None = None  # of the signal that came


@contextmanager
def stopping(run: Stoppable) -> Iterator[Stop]:
    """Ctrl-C and SIGTERM end the run after the examples under way; a second one ends it at once."""
    stop = Stop()

    def ask(number: int, frame: Any) -> None:
        if stop.number is not None:
            raise KeyboardInterrupt
        stop.number = number
        run.stopped = True
        if run.waiting:
            raise Stopped

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
