"""Parquet and Arrow's own files and streams, a batch of rows at a time. Needs pyarrow: hinge[arrow]."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...data.errors import InputError
from ...features.pipeline import CATEGORY, NUMBER, Features
from ..batches import BadLines, Batch
from ..files import PACKED, Input, damage_told
from .lines import shortened
from .tables import Cells, Table

BATCH_ROWS = 1000
BATCH_VALUES = 100_000
PARQUET, ARROW = b"PAR1", b"ARROW1"  # what such files begin with; streams of Arrow have no mark


class ArrowFile:
    """A table in a file of Parquet or Arrow (or a stream of the latter, from anywhere): as `Table` has it.

    The types of the columns say which hold numbers (NaN is missing, as null is). Booleans, strings and dictionaries
    name things, as do numbers in columns that are `categorical`. A label may be a list: several labels.
    Rows are counted from 1.
    """

    def __init__(
        self,
        *,
        label: str | bool | None = None,
        weight: str | None = None,
        label_kind: str | None = None,
        settled: bool = False,
        **features: Any,
    ) -> None:
        self.table = Table(label=label, weight=weight, label_kind=label_kind, settled=settled, **features)

    @property
    def settings(self) -> dict[str, Any]:
        return self.table.settings

    @property
    def features(self) -> Features:
        return self.table.features

    @property
    def ids(self) -> list[str]:
        return self.table.ids

    @property
    def missing_counts(self) -> dict[str, int]:
        return dict(self.table.missing_counts)

    def batches(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        _pyarrow(file.name)
        table, row = self.table, 1
        features: list[str] | None = None
        with _damage_told(file.name, lambda: row):
            for records in _records(file):
                records.validate(full=True)  # else whatever a damaged file says would be believed
                if features is None:
                    features = table.settle(file.name, 1, records.schema.names)
                    self._check(file.name, records.schema, features)
                rows = range(row, row + records.num_rows)
                columns = {name: records.column(name) for name in records.schema.names}
                labels, weights = table.aside(columns)
                batch = table.batch(
                    file.name,
                    rows,
                    {name: self._read(name, columns[name]) for name in features},
                    None if labels is None else _labels(labels),
                    None if weights is None else _weights(weights, str(table.weight)),
                    bad,
                )
                row = rows.stop
                file.lines_read = row - 1
                batch.position = file.position
                yield from bad.up_to_the_end(batch)

    def _check(self, source: str, schema: Any, features: list[str]) -> None:
        """That all columns are of types that we know; what is a number is noted."""
        import pyarrow.types as types

        others = [str(n) for n in (self.table.label, self.table.weight) if n in schema.names]
        for name in [*features, *others]:
            kind = schema.field(name).type
            inner = kind.value_type if types.is_dictionary(kind) else kind
            number = types.is_integer(inner) or types.is_floating(inner)
            thing = _is_string(inner) or types.is_boolean(inner) or types.is_null(inner)
            if name == self.table.label:
                if types.is_list(inner) or types.is_large_list(inner):
                    inner = inner.value_type
                    number, thing = types.is_integer(inner) or types.is_floating(inner), _is_string(inner)
                self.table.label_kind = self.table.label_kind or (NUMBER if number else CATEGORY)
            elif name == self.table.weight:
                thing = False
            elif name in self.table.features.text:
                if types.is_list(inner) or types.is_large_list(inner):
                    inner = inner.value_type
                if not _is_string(inner) and not types.is_null(inner):
                    reason = (
                        f"column {shortened(name)} is of type {kind}: text or lists of words were expected"
                    )
                    raise InputError(reason, file=source, line=1)
                continue
            elif self.table.kinds.get(name) == NUMBER and not (number or types.is_null(inner)):
                raise InputError(
                    f"column {shortened(name)} held numbers before, now {kind}", file=source, line=1
                )
            elif not types.is_null(inner):
                self.table.kinds.setdefault(name, NUMBER if number else CATEGORY)
            if not number and not thing:
                known = "numbers" if name == self.table.weight else "numbers, booleans or strings"
                hint = f" (--drop {name} leaves it out)" if name in features else ""
                raise InputError(
                    f"column {shortened(name)} is of type {kind}, not {known}{hint}", file=source, line=1
                )

    def _read(self, name: str, column: Any) -> Cells:
        if self.table.kinds.get(name) == NUMBER:
            return _numbers(column, name)
        values = column.to_pylist()
        if name in self.table.features.text:
            return Cells(values)
        missing = [row for row, value in enumerate(values) if value is None or value != value]
        if values and not isinstance(next((v for v in values if v is not None), ""), (str, bool)):
            values = list(map(str, values))  # numbers that name things
        return Cells(values, missing)


def _is_string(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _numbers(column: Any, name: str) -> Cells:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    numbers = column.cast(pa.float64(), safe=False)
    missing = numbers.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    values = numbers.fill_null(0.0).to_numpy(zero_copy_only=False)
    infinite = np.flatnonzero(np.isinf(values)).tolist()
    refused = {row: f"column {shortened(name)}: {values[row]} is not a finite number" for row in infinite}
    return Cells(values.tolist(), np.flatnonzero(missing).tolist(), refused)


def _labels(column: Any) -> Cells:
    labels = [
        None if label == "" or label != label else label for label in column.to_pylist()
    ]  # NaN is missing
    refused = {}
    for row, label in enumerate(labels):
        for one in label if isinstance(label, list) else (label,):
            if isinstance(one, float) and not np.isfinite(one):
                refused[row] = f"the label {one} is not a finite number"
            elif one in (None, "") and label is not None:
                refused[row] = f"there is {'a null' if one is None else 'an empty name'} among the labels"
    return Cells(labels, (), refused)


def _weights(column: Any, name: str) -> Cells:
    values, missing, refused = _numbers(column, name)
    refused = {**refused, **dict.fromkeys(missing, f"the weight is missing (column {shortened(name)})")}
    for row, value in enumerate(values):
        if value < 0:
            refused[row] = f"a weight of 0 or more was expected, there is {value}"
    return Cells(values, (), refused)


# ---- files ------------------------------------------------------------------------------------------------------


def _records(file: Input) -> Iterator[Any]:
    """Record batches of at most BATCH_ROWS, and fewer if they are wide."""
    import pyarrow as pa

    first = file.peek(8)
    if not first:
        raise InputError("the file is empty: a table was expected", file=file.name, line=1)
    if not first.startswith((PARQUET, ARROW)):
        with file.opened() as opened:
            stream = _Remembering(opened)
            with pa.ipc.open_stream(stream) as reader:
                yield from (part for batch in reader for part in _cut(batch))
            if stream.last != b"\xff\xff\xff\xff\0\0\0\0":  # it may well be cut between two batches
                raise pa.ArrowInvalid("the mark of the end of the stream is not there")
        return
    if not os.path.isfile(file.path) or file.path.lower().endswith(PACKED):
        reason = "Parquet and Arrow files are read from their end: it must be a file, not packed, not a pipe"
        raise InputError(reason, file=file.name, line=1)
    with file.opened() as stream:
        if first.startswith(PARQUET):
            import pyarrow.parquet as parquet

            whole = parquet.ParquetFile(stream, page_checksum_verification=True)
            yield from whole.iter_batches(batch_size=_rows(whole.schema_arrow))
        else:
            with pa.ipc.open_file(stream) as reader:
                for place in range(reader.num_record_batches):
                    yield from _cut(reader.get_batch(place))


class _Remembering:
    """A stream, and the last bytes that were read of it."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self.stream, self.last = stream, b""

    def read(self, size: int = -1) -> bytes:
        piece = bytes(self.stream.read(size))
        self.last = (self.last + piece[-8:])[-8:]
        return piece

    def close(self) -> None:
        self.closed = True


def _rows(schema: Any) -> int:
    return max(1, min(BATCH_ROWS, BATCH_VALUES // max(1, len(schema.names))))


def _cut(batch: Any) -> Iterator[Any]:
    size = _rows(batch.schema)
    for start in range(0, batch.num_rows, size):
        yield batch.slice(start, size)


@contextmanager
def _damage_told(name: str, row: Any) -> Iterator[None]:
    import pyarrow as pa

    try:
        what = (
            "the compressed file" if name.lower().endswith(PACKED) else "the file"
        )  # pyarrow raises OSError, too
        with damage_told(name, lambda: row() - 1, what):
            yield
    except (pa.ArrowException, UnicodeDecodeError, OverflowError, MemoryError) as error:
        # Names that are none, and sizes beyond all memory, are what a damaged file says.
        reason = " ".join(str(error).split())
        raise InputError(f"damaged, or neither Parquet nor Arrow: {reason}", file=name, line=row()) from None


def _pyarrow(name: str) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(f"reading {name} needs pyarrow: pip install 'hinge[arrow]'") from None
