"""Errors of input, options and files, in one line. Other exceptions are bugs: they keep their traceback."""

from __future__ import annotations

import os
import sys

from ..data.errors import InputError
from ..streams.files import printable

WRONG_INPUT = 2


def report_error(error: Exception) -> int:
    """Prints an error of input, options or files and returns the exit code; raises other exceptions again."""
    if os.environ.get("HINGE_DEBUG"):
        raise error
    if isinstance(error, InputError) and error.file is not None:
        message = str(error)  # "FILE:LINE: reason"
    elif isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        message = f"hinge: {where}{error.strerror}"
    elif isinstance(error, (ValueError, ImportError, OSError)):
        message = f"hinge: {error}"
    else:
        raise error
    print(printable(message), file=sys.stderr)  # file names and labels may contain control characters
    return WRONG_INPUT
