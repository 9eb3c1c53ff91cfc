"""Lines of a text, as many at a time as are there: for the sources that are read in Python."""

from __future__ import annotations

from collections.abc import Iterator

from ...data.errors import InputError
from ..batches import BadLines
from ..files import Input, damage_told

MAX_LINE = 2**24  # bytes
BATCH_BYTES = 2**20
BATCH_LINES = 1000
_MARK = b"\xef\xbb\xbf"  # the byte order mark that some programs put at the beginning


def line_batches(file: Input, max_line: int = MAX_LINE) -> Iterator[tuple[int, list[bytes]]]:
    """The number of a line (from 1) and it with those that follow, without their ends, LF or CR LF.

    Lines that are complete are given at once: a pipe is not waited for. A line longer than `max_line` bytes is an
    error that cannot be skipped, as is a packed file that is damaged.
    """
    number = 1

    def checked(line: bytes) -> None:
        if len(line) > max_line + 1 or (len(line) > max_line and not line.endswith(b"\r")):
            raise InputError(
                f"the line is longer than max_line={max_line} bytes", file=file.name, line=number
            )

    with damage_told(file.name, lambda: number - 1), file.opened() as stream:
        pieces: list[bytes] = []  # of a line whose end has not come: joined once, as it may be long
        size = 0
        while file.wait():
            if not (piece := stream.read1(BATCH_BYTES)):
                break
            end = piece.rfind(b"\n")
            if end < 0:
                pieces.append(piece)
                size += len(piece)
                file.partial = size
                if size > max_line + 1:
                    checked(b"".join(pieces))
                continue
            text = b"".join([*pieces, piece[:end]])
            pieces = [piece[end + 1 :]]
            size = len(pieces[0])
            lines = text.split(b"\n")
            file.lines_read, file.partial = number + len(lines) - 1, size
            if len(text) > max_line:
                for line in lines:
                    checked(line)
                    number += 1
                number -= len(lines)
            for batch in _batches(lines, number, b"\r" in text):
                yield number, batch
                number += len(batch)
        else:
            return  # told to stop: the end of the last line has not come
        rest = b"".join(pieces)
        if rest and file.is_torn():
            return
        checked(rest)
        file.partial = 0
        if rest:
            file.lines_read = number
            yield number, next(_batches([rest], number, b"\r" in rest))


def _batches(lines: list[bytes], number: int, with_returns: bool) -> Iterator[list[bytes]]:
    if number == 1:
        lines[0] = lines[0].removeprefix(_MARK)
    if with_returns:
        lines = [line.removesuffix(b"\r") for line in lines]
    for start in range(0, len(lines), BATCH_LINES):
        yield lines[start : start + BATCH_LINES]


def text_batches(file: Input, bad: BadLines, max_line: int = MAX_LINE) -> Iterator[tuple[int, list[str]]]:
    """The same as strings. Lines that are not UTF-8 are left out: those on each side of them are batches apart."""
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
                byte = error.object[error.start]
                reason = f"not UTF-8: byte 0x{byte:02x} ({error.reason})"
                bad.meet(InputError(reason, column=column, file=file.name, line=number + start))
                bad.check()
                start += 1


def shortened(value: object, most: int = 40) -> str:
    """What was wrong, in quotes, fit for one line of an error."""
    text = str(value)
    text = text if len(text) <= most else text[: most - 3] + "..."
    return '"' + "".join(c if c.isprintable() else repr(c)[1:-1] for c in text) + '"'
