"""The `hinge` command. `main` is the entry point; the commands are in `app`, each in its own module."""

from __future__ import annotations

import sys

__all__ = ["main"]

INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended; typer exits with it too


def main() -> int:
    """Runs the command line and returns the exit code."""
    try:
        from .app import app  # in here, so that Ctrl-C during the imports ends as cleanly as later

        app(prog_name="hinge")
    except SystemExit as end:
        code = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        code = INTERRUPTED
    else:
        code = 0
    if code == INTERRUPTED:
        print(f"{_after_echo()}Stopped.", file=sys.stderr)
    return code


def _after_echo() -> str:
    """A terminal has just shown ^C on the line."""
    return "\n" if sys.stderr.isatty() else ""
