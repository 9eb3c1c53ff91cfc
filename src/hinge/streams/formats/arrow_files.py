"""Parquet files, Arrow files and Arrow streams, one batch of rows at a time. Needs pyarrow: hinge[arrow]."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...data.errors import InputError
from ...features.features import CATEGORY, NUMBER
from ..batches import BadLines, Batch
from ..files import PACKED, Input, damage_told
from .lines import shortened
from .tables import Cells, Table

BATCH_ROWS = 1000
BATCH_VALUES = 100_000
PARQUET, ARROW = b"PAR1", b"ARROW1"  # what these files begin with; Arrow streams have no mark


class ArrowFile(Table):
    """A table in a Parquet file, an Arrow file or an Arrow stream. Its options are those of `Table`.

    The types of the columns say which hold numbers (NaN is missing, like null). Booleans, strings and dictionaries are
    categories, and so are numbers in columns that are `categorical`. A label may be a list: several labels.
    Rows are counted from 1.
    """

    def batches(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        _check_pyarrow(file.name)
        row = 1
        features: list[str] | None = None
        with _damage_reported(file.name, lambda: row):
            for records in _records(file):
                records.validate(full=True)  # a damaged file may claim anything
                if features is None:
                    features = self.settle(file.name, 1, records.schema.names)
                    self._check_types(file.name, records.schema, features)
                rows = range(row, row + records.num_rows)
                columns = {name: records.column(name) for name in records.schema.names}
                labels, weights = self.label_and_weight(columns)
                batch = self.batch(
                    file.name,
                    rows,
                    {name: self._cells(name, columns[name]) for name in features},
                    None if labels is None else _labels(labels),
                    None if weights is None else self.checked_weights(_numbers(weights, str(self.weight))),
                    bad,
                    None if self.key is None else self.read_keys({self.key: columns[self.key].to_pylist()}),
                )
                row = rows.stop
                file.lines_read = row - 1
                batch.position = file.position
                yield from bad.up_to_the_end(batch)

    # ---- columns ------------------------------------------------------------------------------------------------

    def _check_types(self, source: str, schema: Any, features: list[str]) -> None:
        """Rejects columns of unknown types, and notes which columns hold numbers."""
        others = [str(name) for name in (self.label, self.weight) if name in schema.names]
        for name in [*features, *others]:
            reason = self._wrong_type(name, schema.field(name).type, name in features)
            if reason:
                raise InputError(f"column {shortened(name)} {reason}", file=source, line=1)

    def _wrong_type(self, name: str, kind: Any, is_feature: bool) -> str:
        """Why a column cannot be of this type; "" if it can."""
        import pyarrow.types as types

        inner = kind.value_type if types.is_dictionary(kind) else kind
        is_text, is_label, is_weight = name in self.features.text, name == self.label, name == self.weight
        if (is_text or is_label) and (types.is_list(inner) or types.is_large_list(inner)):
            inner, is_list = inner.value_type, True
        else:
            is_list = False
        empty, string = types.is_null(inner), _is_string(inner)
        number = types.is_integer(inner) or types.is_floating(inner)
        category = string or (not is_list and (types.is_boolean(inner) or empty))
        if is_label:
            self.label_kind = self.label_kind or (NUMBER if number else CATEGORY)
        elif is_weight:
            category = False
        elif is_text:
            return "" if string or empty else f"is of type {kind}: text or lists of words were expected"
        elif self.kinds.get(name) == NUMBER and not (number or empty):
            return f"held numbers before, now {kind}"
        elif not empty:
            self.kinds.setdefault(name, NUMBER if number else CATEGORY)
        if number or category:
            return ""
        known = "numbers" if is_weight else "numbers, booleans or strings"
        return f"is of type {kind}, not {known}" + (f" (--drop {name} leaves it out)" if is_feature else "")

    def _cells(self, name: str, column: Any) -> Cells:
        if self.kinds.get(name) == NUMBER:
            return _numbers(column, name)
        values = column.to_pylist()
        if name in self.features.text:
            return Cells(values)
        missing = [row for row, value in enumerate(values) if value is None or value != value]
        if values and not isinstance(next((v for v in values if v is not None), ""), (str, bool)):
            values = list(map(str, values))  # numbers that are categories
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
    invalid = {row: f"column {shortened(name)}: {values[row]} is not a finite number" for row in infinite}
    return Cells(values.tolist(), np.flatnonzero(missing).tolist(), invalid)


def _labels(column: Any) -> Cells:
    labels = [
        None if label == "" or label != label else label for label in column.to_pylist()
    ]  # NaN is missing
    invalid = {}
    for row, label in enumerate(labels):
        for one in label if isinstance(label, list) else (label,):
            if isinstance(one, float) and not np.isfinite(one):
                invalid[row] = f"the label {one} is not a finite number"
            elif one in (None, "") and label is not None:
                invalid[row] = f"there is {'a null' if one is None else 'an empty name'} among the labels"
    return Cells(labels, (), invalid)


# ---- files ------------------------------------------------------------------------------------------------------


def _records(file: Input) -> Iterator[Any]:
    """Record batches of at most BATCH_ROWS, and fewer if they are wide."""
    import pyarrow as pa

    first = file.peek(8)
    if not first:
        raise InputError("the file is empty: a table was expected", file=file.name, line=1)
    if not first.startswith((PARQUET, ARROW)):
        with file.opened() as opened:
            stream = _LastBytes(opened)
            with pa.ipc.open_stream(stream) as reader:
                yield from (part for batch in reader for part in _cut(batch))
            if stream.last != b"\xff\xff\xff\xff\0\0\0\0":  # pyarrow accepts a stream cut between two batches
                raise pa.ArrowInvalid("the end-of-stream mark is missing")
        return
    if not os.path.isfile(file.path) or file.path.lower().endswith(PACKED):
        reason = (
            "Parquet and Arrow files are read from their end: it must be an uncompressed file, not a pipe"
        )
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


class _LastBytes:
    """A stream that remembers the last bytes read from it."""

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
def _damage_reported(name: str, row: Any) -> Iterator[None]:
    import pyarrow as pa

    what = "the compressed file" if name.lower().endswith(PACKED) else "the file"
    try:
        with damage_told(name, lambda: row() - 1, what):  # pyarrow raises OSError, too
            yield
    except (pa.ArrowException, UnicodeDecodeError, OverflowError, MemoryError) as error:
        # A damaged file may have names that are not text, and sizes beyond all memory.
        reason = " ".join(str(error).split())
        raise InputError(f"damaged, or neither Parquet nor Arrow: {reason}", file=name, line=row()) from None


def _check_pyarrow(name: str) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(f"reading {name} needs pyarrow: pip install 'hinge[arrow]'") from None
