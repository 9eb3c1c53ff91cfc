"""Reading ahead on a thread: pipes that stay silent, consumers that leave, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from hinge.streams.formats.text import read_ahead

START = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored by the parent process
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats.text import Svmlight, VowpalText, read_ahead
batches = read_ahead(Svmlight().batches(Input(sys.argv[1]), BadLines()), 4)
"""


def start(code, path="-"):
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", START + code, path], stdin=pipe, stdout=pipe, stderr=pipe)


def ended(process):
    """What it wrote; its input stays open."""
    try:
        code = process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail("it did not end")
    with process.stdin, process.stdout as out, process.stderr as errors:
        return code, out.read().decode(), errors.read().decode()


@pytest.mark.parametrize(
    "leave",
    [
        "batches.close()",
        "del batches",
        "",  # Python ends with the thread in the middle of it
        "sys.exit(3)",
        "raise SystemExit(3)",
    ],
)
@pytest.mark.parametrize("fifo", [False, True])
def test_closing_does_not_wait_for_input(tmp_path, leave, fifo):
    path = "-"
    if fifo:
        path = str(tmp_path / "fifo")
        os.mkfifo(path)
    process = start(f"print(len(next(batches)), flush=True)\n{leave}\n", path)
    writer = open(path, "wb", buffering=0) if fifo else process.stdin  # noqa: SIM115
    writer.write(b"1 1:1\n1 2:1\n1 3:")
    writer.flush()
    assert ended(process) == (3 if "3" in leave else 0, "2\n", "")
    if fifo:
        writer.close()


def test_python_exits_while_the_thread_reads(tmp_path):
    path = tmp_path / "data.svm"
    path.write_bytes(b"1 1:0.25 22:0.5 333:0.125\n" * 1_000_000)
    code = "batches = read_ahead(Svmlight().batches(Input(sys.argv[1]), BadLines()), 400)\nnext(batches)\n"
    process = start(code + "sys.modules['kept'] = batches", str(path))  # nothing closes them before the end
    assert ended(process) == (0, "", "")


def test_signal_interrupts_waiting_for_a_batch():
    waits = "    print(len(next(batches)), flush=True)\n    next(batches)\n"
    process = start(f"try:\n{waits}except KeyboardInterrupt:\n    print('stopped')")
    process.stdin.write(b"1 1:1\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"1\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (0, "stopped\n", "")


def test_endless_pipe_gives_rows_as_they_come():
    process = start("for batch in batches:\n    print(len(batch), batch.lines[-1], flush=True)")
    for i in range(3):
        process.stdin.write(b"1 1:1\n" * (i + 1))
        process.stdin.flush()
        total = 0
        while total < i + 1:  # a read may end in between
            count, last = process.stdout.readline().split()
            total += int(count)
        assert int(last) == (i + 1) * (i + 2) // 2
    process.stdin.close()
    assert process.wait(timeout=30) == 0
    process.stdout.close()
    process.stderr.close()


def test_full_pipe_is_read_in_few_batches():
    process = start("all = list(batches)\nprint(sum(map(len, all)), all[-1].lines[-1], len(all) < 100)")
    out, errors = process.communicate(b"1 1:0.25 22:0.5 333:0.125\n" * 400_000, timeout=60)
    assert (out, errors) == (b"400000 400000 True\n", b"")


def test_errors_keep_their_place_and_end_the_thread():
    def items():
        yield 1
        yield 2
        raise ValueError("no more")

    batches = read_ahead(items(), 1)
    assert [next(batches), next(batches)] == [1, 2]
    with pytest.raises(ValueError, match="no more"):
        next(batches)
    assert not any(thread.name == "hinge reads ahead" for thread in threading.enumerate())


def test_closing_ends_a_blocked_thread():
    closed = threading.Event()

    def items():
        try:
            while True:
                yield 0
        finally:
            closed.set()

    batches = read_ahead(items(), 1)
    next(batches)
    time.sleep(0.05)
    batches.close()
    assert closed.is_set()  # else `close` has given up waiting for the thread
