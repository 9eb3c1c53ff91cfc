"""Running the `hinge` command in tests: in this process, or in one of its own."""

import subprocess
import sys
from typing import NamedTuple

from hinge.cli import main


class Done(NamedTuple):
    code: int
    out: str
    err: str


def called(capfd, monkeypatch):
    """A function that runs the command in this process."""

    def hinge(*arguments):
        monkeypatch.setattr(sys, "argv", ["hinge", *map(str, arguments)])
        capfd.readouterr()
        code = main()
        return Done(code, *capfd.readouterr())

    return hinge


def started(*arguments, folder, **options):
    """The command in a process of its own."""
    # Ctrl-C may be ignored where the tests run (in the background of a shell), so it is switched on.
    program = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); sys.argv[0] = 'hinge'; " \
        "from hinge.cli import command; sys.exit(command())"  # fmt: skip
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], cwd=folder, **pipes)
