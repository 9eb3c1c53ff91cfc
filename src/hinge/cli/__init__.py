"""The `hinge` command. `command` is the entry point; the commands are in `app`, each in its own module."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType

__all__ = ["command", "main"]

INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended


def command() -> int:
    """The program: `main`, and no trace of a Ctrl-C that comes while it ends."""
    sys.unraisablehook = _unraisable
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
        try:
            return main()
        finally:
            _raise_no_more()
    except KeyboardInterrupt:  # another one, while the first was being reported
        _raise_no_more()
        return INTERRUPTED


def _raise_no_more() -> None:
    """From here on Ctrl-C just ends the process, and the timer of `_unraisable` has no effect."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)


_interrupted = False  # whether Ctrl-C has come


def _interrupt(number: int, frame: FrameType | None) -> None:
    """As Python does, and remembers it: native modules turn a KeyboardInterrupt into errors of their own."""
    global _interrupted
    _interrupted = True
    raise KeyboardInterrupt


def _unraisable(event: sys.UnraisableHookArgs) -> None:
    """Python swallows a Ctrl-C that arrives in a destructor or a callback: raise it again a moment later."""
    if not issubclass(event.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(event)
    elif hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001)


def main() -> int:
    """Runs the command line and returns the exit code."""
    # Nothing here multiplies matrices on several cores, and the threads of BLAS would take time to begin and to wait.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # until all modules are loaded: nothing of them is garbage
    try:
        from .app import run  # in here, so that Ctrl-C during the imports ends as cleanly as later

        code = run(sys.argv[1:])
        _flush()
    except SystemExit as end:
        code = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        code = _stopped()
    except BrokenPipeError:  # whoever read our output has had enough
        _forget_output()
        return 0
    except Exception as error:
        if _interrupted:
            return _stopped()
        from .errors import told

        code = told(error)
        try:
            _flush()
        except OSError:
            _forget_output()
    return code


def _stopped() -> int:
    print(f"{_after_echo()}Stopped.", file=sys.stderr)
    return INTERRUPTED


def _flush() -> None:
    if sys.stdout is not None:  # None: it is closed
        sys.stdout.flush()


def _forget_output() -> None:
    """What could not be written is not tried again when Python ends: that would end in a trace."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _after_echo() -> str:
    """A terminal has just shown ^C on the line."""
    return "\n" if sys.stderr is not None and sys.stderr.isatty() else ""
