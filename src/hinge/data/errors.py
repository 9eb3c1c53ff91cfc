"""Input that is rejected: what is wrong with it, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from .._core import EventPart

_P = ParamSpec("_P")
_R = TypeVar("_R")


class InputError(ValueError):
    """Input was rejected, and nothing has changed.

    `reason` says why. The others say where; what is not known is None. `row` is the row of an array, or the place of
    an event, a sentence or a text in its list, from 0. `column` is the column of an array, or the name of a feature.
    In a stream `file` and `line` (from 1) say where, and a `column` that is a number counts bytes of the line, from 1.
    """

    def __init__(
        self,
        reason: str,
        row: int | None = None,
        column: int | str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(reason)  # the rest goes with __dict__ when it is pickled
        self.reason, self.row, self.column, self.file = reason, row, column, file
        self.line: Any = line  # an int, if there is a file

    def __str__(self) -> str:
        column = f"feature {self.column!r}" if isinstance(self.column, str) else self.column
        if self.file is not None:
            place = f"{self.file}:{self.line}"
            return f"{place}: {self.reason}" if column is None else f"{place}: {column}: {self.reason}"
        places = [] if self.row is None else [f"row {self.row}"]
        if column is not None:
            places.append(column if isinstance(column, str) else f"column {column}")
        return f"{', '.join(places)}: {self.reason}" if places else self.reason


class InputTypeError(InputError, TypeError):
    """Input of another type than was expected. (scikit-learn asks for a ValueError or a TypeError, case by case.)"""


def in_row(error: Exception, row: int | None) -> InputError:
    """An error of one example as that of a batch in which it is row `row` (None: there is no batch)."""
    if not isinstance(error, InputError):
        error = (InputTypeError if isinstance(error, TypeError) else InputError)(str(error))
    error.row = row
    return error


def of_one_example(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """For a method that takes one example, and makes a batch of it: its errors have no row."""

    @wraps(function)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except InputError as error:
            error.row = None
            raise

    return wrapped


def for_each(function: Callable[[Any], _R], examples: Iterable[Any] | EventPart) -> list[_R]:
    """What a function returns for each of the examples. Its errors have the row."""
    row, found = 0, []
    events: Any = examples
    try:
        for row, x in enumerate(events):  # noqa: B007 (the handler reads it)
            found.append(function(x))
    except InputError as error:
        error.row = row
        raise
    return found


@contextmanager
def rows_from(first: int) -> Iterator[None]:
    """Rows of a part of a batch become those of the batch, in which the part begins at row `first`."""
    try:
        yield
    except InputError as error:
        if error.row is not None:
            error.row += first
        raise
