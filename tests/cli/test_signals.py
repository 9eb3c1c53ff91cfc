"""Signals at any moment, a second Ctrl-C, a closed output: the program ends without a trace of Python."""

from __future__ import annotations

import atexit
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import hinge.cli
from command_line import started
from hinge.streams.formats.text import read_ahead
from stream_files import svmlight


def begun(folder, *arguments):
    """The command, after the start of Python."""
    process = started(*arguments, folder=folder, before="os.write(2, b'R')")
    assert process.stderr.read(1) == b"R"
    return process


COMMANDS = [
    ["learn", "data.svm", "-q"],
    ["learn", "data.svm", "-p", "predictions.txt"],
    ["predict", "data.svm", "-m", "model.hinge"],
    ["compare", "data.svm", "pa1", "pa2", "-q"],
    ["inspect", "model.hinge"],
]
SECONDS = 12.0


def test_signals_at_any_moment_print_no_traceback(tmp_path):
    """While modules are loaded, threads start, examples are learned, and Python ends; one signal or two."""
    (tmp_path / "data.svm").write_text(svmlight(300))
    learned = begun(tmp_path, "learn", "data.svm", "-m", "model.hinge", "-q")
    began = time.monotonic()
    learned.communicate()
    assert learned.returncode == 0
    usual = time.monotonic() - began
    moments, runs = random.Random(7), 0
    while time.monotonic() - began < SECONDS or runs < 3:
        number = moments.choice([signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        process = begun(tmp_path, *moments.choice(COMMANDS))
        time.sleep(moments.uniform(0, 1.5 * usual))
        process.send_signal(number)
        if moments.random() < 0.5:
            time.sleep(moments.uniform(0, 0.02))
            process.send_signal(number)
        _, told = process.communicate(timeout=60)
        # 2: a native module that is interrupted while it is loaded may say that it cannot be imported.
        assert process.returncode in (0, 2, -number, 128 + number), told
        assert b"Traceback" not in told, told.decode()
        assert b"Exception ignored" not in told, told.decode()
        runs += 1


SWALLOWED = """
import signal, sys, time, weakref
import hinge.cli

signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored if the tests run in the background

class Thing:
    pass

def run(arguments):
    thing = Thing()
    watch = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing  # the callback is interrupted: Python cannot raise there
    time.sleep(100)
    return 0

import types
app = types.ModuleType("hinge.cli.app")
app.run = run
sys.modules["hinge.cli.app"] = app
sys.exit(hinge.cli.command())
"""


CONVERTED = SWALLOWED.replace(
    "weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))", "None"
).replace(
    "    time.sleep(100)\n",
    """    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise TypeError("could not export an array") from None  # as nanobind does while numpy is loaded
""",
)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
@pytest.mark.parametrize(
    "program", [SWALLOWED, CONVERTED], ids=["in a callback", "converted to another error"]
)
def test_an_interrupt_that_python_hides_stops_the_program(program):
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, timeout=120)
    assert (done.returncode, done.stderr) == (hinge.cli.INTERRUPTED, b"Stopped.\n")


@pytest.mark.parametrize("thread_runs", [False, True], ids=["before it starts", "just after it has started"])
def test_a_signal_while_the_reading_thread_starts_leaves_nothing_behind(monkeypatch, thread_runs):
    """Nothing is left to be done when Python ends: there a thread that has not started could not be joined."""
    ends, start = [], threading.Thread.start
    monkeypatch.setattr(atexit, "register", ends.append)
    monkeypatch.setattr(atexit, "unregister", ends.remove)

    def interrupted(thread):
        if thread_runs:
            start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    ahead = read_ahead(iter(range(1000)), 4)
    with pytest.raises(KeyboardInterrupt):
        next(ahead)
    for end in ends:
        end()
    assert ends == []
    assert not any(thread.name == "hinge reads ahead" for thread in threading.enumerate())


@pytest.mark.parametrize("moment", ["told", "ended"])
def test_a_second_interrupt_prints_no_traceback(monkeypatch, moment):
    """It comes while `main` tells it, or between its end and that of the program."""
    switch, interrupts = signal.signal, ["ended"] if moment == "ended" else []

    def main():
        if moment == "told":
            raise KeyboardInterrupt
        return 0

    def interrupted(*given):
        if given[1] is signal.SIG_DFL and interrupts and interrupts.pop():
            raise KeyboardInterrupt
        return switch(*given)

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(hinge.cli, "main", main)
    monkeypatch.setattr(signal, "signal", interrupted)
    try:
        assert hinge.cli.command() == 130
        assert (
            signal.getsignal(signal.SIGINT) is signal.SIG_DFL
        )  # what comes now ends the process, without a word
    finally:
        switch(signal.SIGINT, before)


@pytest.mark.parametrize("command", [
    "--help", "learn --help", "algorithms", "version", "completion bash", "inspect model.hinge", "learn data.svm",
    "learn data.svm -q", "learn data.svm --json", "compare data.svm pa1 pa2", "predict data.svm -m model.hinge",
])  # fmt: skip
@pytest.mark.parametrize("output", [">&-", ">/dev/full", "2>&- >&-", "| head -c 1"])
def test_an_output_that_cannot_be_written_prints_no_traceback(tmp_path, command, output):
    (tmp_path / "data.svm").write_text(svmlight(3000))
    hinge.Learner("classification").save(tmp_path / "model.hinge")
    script = f"{sys.executable} -m hinge {command} {output}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=120)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert b"Exception" not in done.stderr, done.stderr.decode()
    assert done.returncode in (0, 2)
