"""Batches of lines, for the formats that are read in Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...data.errors import InputError
from ..batches import BadLines
from ..files import Input, damage_told

MAX_LINE = 2**24  # bytes
BATCH_BYTES = 2**20
BATCH_LINES = 1000
MARK = b"\xef\xbb\xbf"  # the byte order mark


def line_batches(file: Input, max_line: int = MAX_LINE) -> Iterator[tuple[int, list[bytes]]]:
    """Yields lines without their ends (LF or CR LF), after the number of the first one (from 1).

    Complete lines are yielded at once, without waiting for a pipe to bring more. A line longer than `max_line` bytes
    and a damaged compressed file are errors that cannot be skipped.
    """
    number = 1
    with damage_told(file.name, lambda: number - 1), file.opened() as stream:
        held = bytearray()  # an incomplete line
        while file.wait():
            if not (piece := stream.read1(BATCH_BYTES)):
                break
            end = piece.rfind(b"\n")
            if end < 0:
                held += piece
                file.partial = len(held)
                _check_length(file, number, [held], max_line)
                continue
            text = bytes(held + piece[:end])
            held = bytearray(piece[end + 1 :])
            lines = text.split(b"\n")
            file.lines_read, file.partial = number + len(lines) - 1, len(held)
            if len(text) > max_line:
                _check_length(file, number, lines, max_line)
            for batch in _batches(lines, number, b"\r" in text):
                yield number, batch
                number += len(batch)
        else:
            return  # stopped: the last line is incomplete
        if not held or file.is_torn():
            return
        _check_length(file, number, [held], max_line)
        file.partial, file.lines_read = 0, number
        yield number, next(_batches([bytes(held)], number, b"\r" in held))


def _check_length(file: Input, number: int, lines: Sequence[bytes | bytearray], max_line: int) -> None:
    """`number` is that of the first line. The CR of a CR LF does not count."""
    for place, line in enumerate(lines, number):
        if len(line) > max_line + 1 or (len(line) > max_line and not line.endswith(b"\r")):
            raise InputError(too_long(max_line), file=file.name, line=place)


def _batches(lines: list[bytes], number: int, with_returns: bool) -> Iterator[list[bytes]]:
    if number == 1:
        lines[0] = lines[0].removeprefix(MARK)
    if with_returns:
        lines = [line.removesuffix(b"\r") for line in lines]
    for start in range(0, len(lines), BATCH_LINES):
        yield lines[start : start + BATCH_LINES]


def text_batches(file: Input, bad: BadLines, max_line: int = MAX_LINE) -> Iterator[tuple[int, list[str]]]:
    """The same as strings. A line that is not UTF-8 is passed to `bad` and left out; a new batch begins after it."""
    for number, lines in line_batches(file, max_line):
        start = 0
        while start < len(lines):
            try:
                yield number + start, b"\n".join(lines[start:]).decode().split("\n")
                break
            except UnicodeDecodeError as error:
                good = error.object.count(b"\n", 0, error.start)
                column = error.start - (error.object.rfind(b"\n", 0, error.start) + 1) + 1
                if good:
                    yield number + start, [line.decode() for line in lines[start : start + good]]
                start += good
                bad.meet(InputError(not_utf8(error), column=column, file=file.name, line=number + start))
                bad.check()
                start += 1


def not_utf8(error: UnicodeDecodeError) -> str:
    return f"not UTF-8: byte 0x{error.object[error.start]:02x} ({error.reason})"


def too_long(max_line: int) -> str:
    return f"the line is longer than max_line={max_line} bytes"


def shortened(value: object, most: int = 40) -> str:
    """The value in quotes, on one line, for an error."""
    text = str(value)
    text = text if len(text) <= most else text[: most - 3] + "..."
    return '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in text) + '"'
