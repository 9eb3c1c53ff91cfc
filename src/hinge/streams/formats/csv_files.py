"""CSV and TSV: one row per line, the names of the columns in the first line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...data.errors import InputError
from ..batches import BadLines, Batch
from ..files import Input, ending_of
from .lines import MAX_LINE, shortened, text_batches
from .tables import Table

SEPARATORS = (",", "\t", ";", "|")
MAX_RECORD = 2**20  # characters of a row that spans several lines


class CsvFile(Table):
    """A table with the names of its columns in the first line. If there is no such line, `header` is False (the
    columns are called "0", "1", ...) or a list of names.

    The default `separator` is a comma or a tab if the file ends with .csv or .tsv, otherwise the one of , tab ; | that
    is most frequent in the first line. Fields may be in quotation marks, with separators and line breaks within.
    Spaces after a separator are ignored. The other options are those of `Table`.
    """

    def __init__(
        self,
        *,
        separator: str | None = None,
        header: bool | Sequence[str] = True,
        max_line: int = MAX_LINE,
        **options: Any,
    ) -> None:
        if separator is not None and (len(separator) != 1 or separator in '\r\n" '):
            raise ValueError(f"separator must be one character, as ',' or ';', not {separator!r}")
        super().__init__(strings=True, **options)
        self.separator, self.max_line = separator, max_line
        self.header = header if isinstance(header, bool) else list(header)

    @property
    def settings(self) -> dict[str, Any]:
        ours = {"separator": self.separator, "header": self.header, "max_line": self.max_line}
        return {**ours, **super().settings}

    def batches(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        names: list[str] | None = None if isinstance(self.header, bool) else self.header
        features: list[str] | None = None
        for lines, rows in self._records(file, bad):
            if rows and features is None:
                line = lines[0]
                if self.header is True:
                    names, rows, lines = [name.strip() for name in rows[0]], rows[1:], lines[1:]
                elif names is None:
                    names = list(map(str, range(len(rows[0]))))
                features = self.settle(file.name, line, names, headed=self.header is True)
            if rows and names is not None:
                lines, rows = _of_width(names, lines, rows, file.name, bad)
            if not rows or names is None or features is None:
                bad.check()
                continue
            columns = dict(zip(names, zip(*rows, strict=True), strict=True))
            labels, weights = self.label_and_weight(columns)
            batch = self.batch(
                file.name,
                lines,
                {name: self.read(name, columns[name]) for name in features},
                None if labels is None else self.read_labels(labels),
                None if weights is None else self.read_weights(weights),
                bad,
                self.read_keys(columns),
            )
            batch.position = file.position
            yield from bad.up_to_the_end(batch)
        if features is None and not file.stopped and not file.may_be_empty:
            raise InputError("the file is empty: a table was expected", file=file.name, line=1)

    def _records(self, file: Input, bad: BadLines) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
        """Rows, and the lines where they begin. An incomplete row is held back until its other lines arrive."""
        parser: _Parser | None = None
        held: list[str] = []  # lines of an incomplete row, and their numbers
        numbers: list[int] = []
        for first, lines in text_batches(file, bad, self.max_line):
            if parser is None:
                separator = self.separator or separator_of(file.path, next(filter(None, lines), ""))
                parser = _Parser(file.name, separator, self.max_line, bad)
            quoted = any('"' in line for line in lines)
            if not held and not quoted:
                yield parser.plain(first, lines)
                continue
            held += lines
            numbers += range(first, first + len(lines))
            if quoted or sum(map(len, held)) > MAX_RECORD:
                yield parser.quoted(held, numbers, end=False)
        if file.stopped:
            file.held = len(held)
        elif held and parser is not None:
            yield parser.quoted(held, numbers, end=True)


def separator_of(path: str, line: str) -> str:
    """The separator of a file whose first line is `line`."""
    ending = ending_of(path)
    if ending in (".tsv", ".tab"):
        return "\t"
    unquoted = "".join(line.split('"')[::2])
    if ending == ".csv" and "," in unquoted:
        return ","
    return max(SEPARATORS, key=unquoted.count)


def _of_width(
    names: Sequence[str], lines: Sequence[int], rows: list[list[str]], source: str, bad: BadLines
) -> tuple[Sequence[int], list[list[str]]]:
    """The rows that have one field for each column."""
    if set(map(len, rows)) <= {len(names)}:
        return lines, rows
    kept = []
    for place, (line, row) in enumerate(zip(lines, rows, strict=True)):
        if len(row) == len(names):
            kept.append(place)
        else:
            reason = f"{len(names)} fields were expected, there {'is' if len(row) == 1 else 'are'} {len(row)}"
            bad.meet(InputError(reason, file=source, line=line))
    return [lines[place] for place in kept], [rows[place] for place in kept]


# ---- from lines to rows -----------------------------------------------------------------------------------------


class _Parser:
    """Makes rows of lines. Returns the numbers of the lines where they begin, and the rows."""

    def __init__(self, source: str, separator: str, max_line: int, bad: BadLines) -> None:
        self.source, self.separator, self.max_line, self.bad = source, separator, max_line, bad

    def plain(self, first: int, lines: list[str]) -> tuple[Sequence[int], list[list[str]]]:
        """Lines without a quotation mark: each is a row."""
        numbers: Sequence[int] = range(first, first + len(lines))
        try:
            with self._field_limit():
                rows = list(self._reader(lines))
        except csv.Error:
            return self.quoted(lines, list(numbers), end=True)
        if [] in rows:  # blank lines
            numbers = [number for number, row in zip(numbers, rows, strict=True) if row]
            rows = [row for row in rows if row]
        return numbers, rows

    def _reader(self, lines: Iterable[str]) -> Any:
        return csv.reader(lines, delimiter=self.separator, strict=True, skipinitialspace=True)

    @contextmanager
    def _field_limit(self) -> Iterator[None]:
        """The csv module has one limit for the whole process: it is ours only while we read."""
        before = csv.field_size_limit(self.max_line)
        try:
            yield
        finally:
            csv.field_size_limit(before)

    def quoted(self, lines: list[str], numbers: list[int], end: bool) -> tuple[list[int], list[list[str]]]:
        """Lines with quotation marks: a row may span several of them.

        Removes the lines of all complete rows from `lines`, or all lines if this is the end, and returns the rows.

        After a quotation mark without a counterpart, everything up to the next one would be one row. So only the first
        line of such a row is left out, and reading resumes with its second line.
        """
        found: list[list[str]] = []
        starts: list[int] = []
        while lines:
            with self._field_limit():
                taken, reason = self._read(lines, numbers, found, starts)
            del lines[:taken], numbers[:taken]
            if not reason and (not lines or (not end and sum(map(len, lines)) <= MAX_RECORD)):
                break
            within = "" if end else f" within {MAX_RECORD} characters"
            reason = reason or f"a quotation mark in this row has no counterpart{within}"
            self.bad.meet(InputError(reason, file=self.source, line=numbers[0]))
            del lines[:1], numbers[:1]
        return starts, found

    def _read(
        self, lines: list[str], numbers: list[int], found: list[list[str]], starts: list[int]
    ) -> tuple[int, str]:
        """Adds the complete rows up to an invalid one. Returns the number of their lines, and what is wrong after."""
        reader = self._reader(line + "\n" for line in lines)
        start = 0
        try:
            for row in reader:
                if row:
                    found.append(row)
                    starts.append(numbers[start])
                start = reader.line_num
        except csv.Error as error:
            what = str(error)
            if "end of data" in what:
                return start, ""
            if "new-line" in what:
                what = "there is a carriage return within the line"
            return start, f"{what}; the row begins with {shortened(lines[start])}"
        return start, ""
