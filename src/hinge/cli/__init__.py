"""The `hinge` command. `command` is its entry point. Each command is a module in `commands`; `app` runs them."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType

__all__ = ["command", "main"]

INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended


def command() -> int:
    """Runs `main`. A Ctrl-C while it ends does not show a traceback, either."""
    sys.unraisablehook = _unraisable
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
        try:
            return main()
        finally:
            _let_signals_kill()
    except KeyboardInterrupt:  # a second one, while the first was being reported
        _let_signals_kill()
        return INTERRUPTED


def _let_signals_kill() -> None:
    """From here on Ctrl-C ends the process at once, and the timer of `_unraisable` has no effect."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)


_interrupted = False  # whether Ctrl-C has come


def _interrupt(number: int, frame: FrameType | None) -> None:
    """As Python does, but remembers it: some native modules turn a KeyboardInterrupt into another error."""
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
    # No command multiplies large matrices, and starting the threads of BLAS takes time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()  # until all modules are loaded: they contain no garbage
    try:
        from .app import run  # here, so that Ctrl-C during the imports is handled, too

        code = run(sys.argv[1:])
        _flush()
    except SystemExit as end:
        code = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        code = _stopped()
    except BrokenPipeError:  # the reader of our output has left
        _discard_output()
        return 0
    except Exception as error:
        if _interrupted:
            return _stopped()
        from .errors import report_error

        code = report_error(error)
        try:
            _flush()
        except OSError:
            _discard_output()
    return code


def _stopped() -> int:
    echoed = sys.stderr is not None and sys.stderr.isatty()  # the terminal has just shown ^C on the line
    print("\nStopped." if echoed else "Stopped.", file=sys.stderr)
    return INTERRUPTED


def _flush() -> None:
    if sys.stdout is not None:  # None: it is closed
        sys.stdout.flush()


def _discard_output() -> None:
    """Python would try again to write the buffered output when it ends, and show a traceback."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
