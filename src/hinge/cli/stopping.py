"""Ctrl-C, SIGTERM and SIGHUP: what is under way is finished, and nothing is lost."""

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
    """Ctrl-C, SIGTERM and SIGHUP end the run after the examples under way; a second one ends it at once."""
    stop = Stop()

    def ask(number: int, frame: Any) -> None:
        if stop.number is not None:
            raise KeyboardInterrupt
        stop.number = number
        run.stopped = True
        if run.waiting:
            raise Stopped

    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # else: nohup
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, ask) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
