"""What the tests of threads, interrupts and calls from within share."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from cases import WIDTH, stream

TASKS = ("classification", "regression", "uniclass")
SHAPED = [
    ("classification", {"geometry": "mahalanobis"}),
    ("multiclass", {"geometry": "diagonal", "step": "cw"}),
    ("ordinal", {"geometry": "mahalanobis"}),
    ("regression", {"geometry": "entropy", "scale": 5.0}),
    ("uniclass", {"geometry": "entropy"}),
    ("multilabel", {"geometry": "entropy", "scale": 5.0, "selection": "simproj"}),
]
PLAIN = [(task, {}) for task in (*TASKS, "multiclass", "multilabel", "ordinal")]
LONG_CLASSES = {"classification": {"classes": [0, 1]}, "multiclass": {"classes": [0, 1, 2]}}


def long_stream(task: str, count: int) -> tuple[Any, Any]:
    """Many rows; all the same one, so that they take no memory."""
    X, _, _ = stream(task)
    y = {"regression": np.full(count, 0.5), "uniclass": None}.get(task, np.ones(count))
    return np.broadcast_to(X[1], (count, WIDTH)), y


def run(*jobs: Callable[[], Any]) -> None:
    """In one thread each, all at once; errors are raised here."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(jobs))

    def guarded(job: Callable[[], Any]) -> None:
        try:
            start.wait()
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=[job], daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


def run_while(write: Callable[[], Any], *readers: Callable[[], Any]) -> None:
    """The readers again and again, each in its thread, until `write` is done."""
    done = threading.Event()

    def writer() -> None:
        try:
            write()
        finally:
            done.set()

    def reader(read: Callable[[], Any]) -> Callable[[], Any]:
        def repeat() -> None:
            while not done.wait(1e-4):
                read()

        return repeat

    run(writer, *map(reader, readers))


@contextmanager
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


class Calls:
    """A value that calls back when it is read."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call

    def __float__(self) -> float:
        self.call()
        return 1.0


@contextmanager
def ticks(function: Callable[..., Any]) -> Iterator[None]:
    """Calls a function every 5 ms of this process's work; Ctrl-C does what it usually does."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    old = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGVTALRM)]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGVTALRM, function)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.005, 0.005)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        for number, handler in old:
            signal.signal(number, handler)


def interrupt(act: Callable[[], Any], ask: Callable[[], Any] | None) -> None:
    """Presses Ctrl-C when `ask` finds the model busy, in the middle of a batch. (None: at the first tick.)"""
    busy: list[str] = []

    def press(_number: int, _frame: Any) -> None:
        if busy:
            return
        try:
            if ask is None:
                raise RuntimeError("called from within")
            ask()
        except RuntimeError as error:
            busy.append(str(error))
            signal.raise_signal(signal.SIGINT)

    with ticks(press), pytest.raises(KeyboardInterrupt):
        act()
    assert "called from within" in busy[0]
