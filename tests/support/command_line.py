"""Running the `hinge` command in tests: in this process, or in a process of its own."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from typing import NamedTuple

import pytest

from hinge.cli import main


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def records(self):
        """The lines of the output, of a command with --json."""
        return [json.loads(line) for line in self.out.splitlines()]


def called(capfd, monkeypatch):
    """A function that runs the command in this process."""

    def hinge(*arguments):
        monkeypatch.setattr(sys, "argv", ["hinge", *map(str, arguments)])
        capfd.readouterr()
        code = main()
        return Done(code, *capfd.readouterr())

    return hinge


def started(*arguments, folder, before="", **options):
    """The command in a new process. `before` is code that runs just before the command."""
    # Both signals may be ignored where the tests run: in the background of a shell, under nohup.
    program = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "signal.signal(signal.SIGHUP, signal.SIG_DFL); sys.argv[0] = 'hinge'; "
        f"from hinge.cli import command; {before}\nsys.exit(command())"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], cwd=folder, **pipes)


def shown_on_a_terminal(*arguments, folder, columns):
    """What a successful command prints on a terminal, with its control sequences."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "COLUMNS": str(columns),
        "PYTHONIOENCODING": "utf-8",
    }
    process = started(*arguments, folder=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    output = b""
    with suppress(OSError):  # on Linux, when the other side is closed
        while piece := os.read(ours, 2**16):
            output += piece
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return output.decode()


def feed(process, text, examples=None):
    """Writes into the standard input of a process; waits until it reports so many `examples`."""
    process.stdin.write(text.encode() if isinstance(text, str) else text)
    process.stdin.flush()
    if examples is not None:
        wait_for_examples(process, examples)


def wait_for_examples(process, examples):
    """Reads the progress of `hinge learn` up to the line of so many examples, or of more."""
    for line in process.stderr:
        found = re.match(rb" +([\d,]+) ", line)
        if found and int(found[1].replace(b",", b"")) >= examples:
            return


def wait_until(condition, seconds=60):
    """Waits until the condition holds, and fails if it never does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def table_of(form, rows, labels):
    """A file with these dense rows, in columns x0, x1, ... (svmlight: 1, 2, ...). Several labels are a list."""
    lines = [",".join([*(f"x{j}" for j in range(len(rows[0]))), "label"])] if form == "csv" else []
    for x, label in zip(rows, labels, strict=True):
        y = ",".join(map(str, label)) if isinstance(label, list) else str(label)
        if form == "svm":
            lines.append(f"{y} " + " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(x)))
        elif form == "vw":
            lines.append(f"{y} |f " + " ".join(f"x{j}:{v:g}" for j, v in enumerate(x)))
        elif form == "csv":
            lines.append(",".join([*(f"{v:g}" for v in x), y]))
        else:
            lines.append(json.dumps({"label": label, **{f"x{j}": v for j, v in enumerate(x)}}))
    return "\n".join(lines) + "\n"
