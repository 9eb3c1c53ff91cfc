"""JSON lines: one object per line. Its fields are the features, or one of them is a text."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..._core import JsonTextReader
from ...data.errors import InputError
from ...features.features import IDS, Features
from ...features.values import RecordError
from ..batches import BadLines, Batch, part
from ..files import Input
from .lines import BATCH_BYTES, BATCH_LINES, MARK, MAX_LINE, not_utf8, shortened, text_batches, too_long
from .text import read_file

LABELS = ("label", "y", "target", "class")  # the default label: the first of these fields that exists
FEATURES = ("features", "x")  # an object in one of these fields holds all features
MAX_WITHOUT_LABEL = 1000  # objects without the label that --label names, until it is taken for a typing error


class _LineError(RecordError):
    """An invalid line. `constant` is the word in it that the error points at (NaN, say)."""

    def __init__(self, reason: str, field: str = "", constant: str = "") -> None:
        super().__init__(reason, field)
        self.constant = constant


def _column(error: RecordError, line: str) -> int | None:
    """The byte of the line, from 1, that the error points at. Of several fields with that name, the last one."""
    constant = getattr(error, "constant", "")
    if not error.field and not constant:
        return None
    name = re.escape(json.dumps(error.field, ensure_ascii=False))
    pattern = name + r"\s*:" if error.field else r"(?<=[:,\s\[])" + constant
    places = [found.start() for found in re.finditer(pattern, line)]
    return len(line[: places[-1]].encode()) + 1 if places else None


class JsonLines:
    """One object per line.

    `label` is the field with the label, or with a list of labels; None: the first of "label", "y", "target" and
    "class" that an object has; False: there is none. `weight` is the field with the weight, if there is one, and `key`
    that with the key of a fleet, a string or a whole number, which no object may lack. A label
    that is named, but not in the first 1,000 objects, and a weight that is not in the first one, are errors. An object
    without the label, or with null or "" for it, is an example without a label. Once the format is `settled`, an
    object without the weight has the weight 1.

    Features are the fields of the object under "features" or "x", if there is one, otherwise all other fields.
    `features` are the options of `hinge.Features`. Without any, and if `lazy`, the core reads the lines once the format
    is settled, and the events of a batch are an `EventPart`: a sequence of dicts, which learners take as it is, and
    faster.
    """

    def __init__(
        self,
        *,
        label: str | bool | None = None,
        weight: str | None = None,
        key: str | None = None,
        settled: bool = False,
        max_line: int = MAX_LINE,
        lazy: bool = False,
        **features: Any,
    ) -> None:
        if label is True:
            raise ValueError("label must be the name of a field, None or False, not True")
        self.label, self.weight, self.settled, self.max_line = label, weight, settled, max_line
        self.key = key  # the field with the key of a fleet
        self.features = Features(within=FEATURES, **features)
        # What the core does not know: options of `Features`, and fields whose name is empty.
        self._natively = (
            lazy and self.features.options == Features().options and "" not in (label, weight, key)
        )
        self.ids: list[str] = []  # fields that identify an example, and so are not features
        self.features.set_aside(self.label, self.weight, self.key)
        self._without_label = 0  # objects before the first one with a label
        self._no_label: InputError | None = None  # the error to raise if no object has one

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "label": self.label, "weight": self.weight, "settled": self.settled, "max_line": self.max_line,
            **({} if self.key is None else {"key": self.key}), **self.features.options,
        }  # fmt: skip

    def batches(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        if self._natively and (self.settled or self._is_settled_by_first_line(file)):
            return self._read_by_core(file, bad)
        return self._decoded(file, bad)

    def _decoded(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        for first, lines in text_batches(file, bad, self.max_line):
            X: list[Any] = []
            labels: list[Any] = []
            weights: list[float] = []
            keys: list[str | int] = []
            numbers: list[int] = []
            for number, line in enumerate(lines, first):
                if not line or line.isspace():
                    continue
                try:
                    x, label, weight, key = self._example(line, file.name, number)
                except InputError as error:
                    bad.meet(error)
                else:
                    X.append(x)
                    labels.append(label)
                    weights.append(weight)
                    keys.append(key)
                    numbers.append(number)
            weighed = None if self.weight is None else _array(weights)
            whole = Batch(X, labels, numbers, weighed, file.position, keys=None if self.key is None else keys)
            yield from bad.up_to_the_end(whole)
            if self._without_label >= MAX_WITHOUT_LABEL:
                self._check_settled()
        if not file.stopped:
            self._check_settled()

    def _example(self, line: str, source: str, number: int) -> tuple[dict[str, Any], Any, float, str | int]:
        """The features, the label, the weight and the key of a line. An error has its place."""
        try:
            record = _record(line)
            if not self.settled:
                self._settle(record, source, number)
            label, weight, key = self._label(record), self._weight(record), self._key(record)
            return self.features.event(record), label, weight, key
        except json.JSONDecodeError as error:
            reason, column = _not_json(error, line)
            raise InputError(reason, column=column, file=source, line=number) from None
        except RecordError as error:
            raise InputError(str(error), column=_column(error, line), file=source, line=number) from None

    # ---- read by the core ---------------------------------------------------------------------------------------

    def _is_settled_by_first_line(self, file: Input) -> bool:
        """Settles the format if the first line that is not blank does; else nothing changes."""
        complete, _, _ = file.peek().removeprefix(MARK).rpartition(b"\n")
        first = next(filter(bytes.strip, complete.split(b"\n")), b"")
        try:
            record = _record(first.decode())
        except ValueError:  # reported when it is read
            return False
        if self.weight is not None and self.weight not in record:
            return False
        labels = LABELS if self.label is None else (self.label,)
        if self.label is not False and not any(name in record for name in labels):
            return False
        self._settle(record, file.name, 1)
        return True

    def _read_by_core(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        reader = JsonTextReader(
            label=self.label if isinstance(self.label, str) else "", weight=self.weight or "", key=self.key or "",
            aside=self.features.aside, within=self.features.within, max_line=self.max_line,
        )  # fmt: skip

        def told(error: InputError, line: bytes) -> None:
            if not line:
                bad.stop(InputError(too_long(self.max_line), file=file.name, line=error.line))
            elif (found := self._explained(error, line)) is not None:
                bad.meet(found)

        first = 1
        for events in read_file(reader, file, bad, BATCH_BYTES, told=told):
            weights = None if self.weight is None else events.weights()
            keys = None if self.key is None else events.key_list()
            whole = Batch(events, events.label_list(), events.lines, weights, file.position, keys=keys)
            for batch in bad.up_to_the_end(whole):
                yield from _by_lines(batch, first)
            first = reader.lines + 1

    def _explained(self, error: InputError, line: bytes) -> InputError | None:
        """The error of a line that the core has rejected, in our words; None: the line is blank to Python."""
        source, number = str(error.file), int(error.line)
        try:
            text = (line.removesuffix(b"\r") + b"\n").decode().removesuffix("\n")
            if text.isspace():
                return None
            self._example(text, source, number)
        except UnicodeDecodeError as damaged:
            return InputError(not_utf8(damaged), column=damaged.start + 1, file=source, line=number)
        except InputError as found:
            return found
        return error

    # ---- parts of a record --------------------------------------------------------------------------------------

    def _settle(self, record: dict[str, Any], source: str, line: int) -> None:
        """Finds the label, by the first object that has one."""
        if not self._without_label and self.weight is not None and self.weight not in record:
            raise _LineError(f"there is no field {shortened(self.weight)} (--weight): {_fields_of(record)}")
        if isinstance(self.label, str) and self.label not in record:
            reason = f"there is no field {shortened(self.label)} (--label): {_fields_of(record)}"
            self._no_label = self._no_label or InputError(reason, file=source, line=line)
        elif self.label is None:
            self.label = next((name for name in LABELS if name in record), None)
        self.features.set_aside(self.label, self.weight, self.key)
        self.ids = [
            name for name in record if name in self.features.aside and name in IDS and name != self.key
        ]
        self.settled = self.label is False or self.label in record
        self._without_label += not self.settled

    def _check_settled(self) -> None:
        """Raises if no object had the label that is named."""
        if not self.settled and self._no_label is not None:
            raise self._no_label

    def _label(self, record: dict[str, Any]) -> Any:
        if self.label is False:
            return None
        label = record.get(self.label)  # type: ignore[arg-type]
        if label == "":
            return None
        each = label if type(label) is list else (label,)
        for one in each:
            if not (isinstance(one, (str, int)) or _is_finite(one) or (one is None and one is label)):
                expected = "a string, a number, true, false or a list of them was expected for the label"
                raise _LineError(f"{expected}, there is {_shown(one)}", str(self.label))
            if one == "":
                raise _LineError("there is an empty name among the labels", str(self.label))
        return label

    def _weight(self, record: dict[str, Any]) -> float:
        if self.weight is None or self.weight not in record:
            return 1.0
        weight: Any = record[self.weight]
        if not _is_finite(weight) or weight < 0:
            expected = f"a weight of 0 or more was expected in {shortened(self.weight)}"
            raise _LineError(f"{expected}, there is {_shown(weight)}", self.weight)
        return float(weight)

    def _key(self, record: dict[str, Any]) -> str | int:
        if self.key is None:
            return ""
        if self.key not in record:
            raise _LineError(f"there is no field {shortened(self.key)} (--key): {_fields_of(record)}")
        key: Any = record[self.key]
        if isinstance(key, bool) or not isinstance(key, (str, int)):
            expected = f"a key, a string or a whole number, was expected in {shortened(self.key)}"
            raise _LineError(f"{expected}, there is {_shown(key)}", self.key)
        if isinstance(key, int) and not -(2**63) <= key < 2**63:
            raise _LineError(
                f"the key in {shortened(self.key)} is beyond 64 bits: write it as a string", self.key
            )
        return key


def _array(weights: list[float]) -> Any:
    import numpy as np

    return np.array(weights)


def _by_lines(batch: Batch, first: int) -> Iterator[Batch]:
    """A batch as `line_batches` would have cut it: by lines, from the one where it begins."""
    start = 0
    while start < len(batch):
        number = (batch.lines[start] - first) // BATCH_LINES
        stop = bisect_left(batch.lines, first + (number + 1) * BATCH_LINES, start)
        yield part(batch, start, stop)
        start = stop


# ---- from a line to a record ------------------------------------------------------------------------------------

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise _LineError(f"the field {shortened(twice)} occurs {counts[twice]} times", twice)
    return record


def _constant(name: str) -> float:
    raise _LineError(f"{name} is not a finite number: null is for what is missing", constant=name)


_plain = json.JSONDecoder(parse_constant=_constant)
_careful = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_unique)


def _record(line: str) -> dict[str, Any]:
    try:
        record: Any = _plain.decode(line)
        if type(record) is not dict:
            of_objects = isinstance(record, list) and any(isinstance(one, dict) for one in record)
            hint = " (jq -c '.[]' makes lines of an array of objects)" if of_objects else ""
            raise _LineError(f"an object, {{...}}, was expected, there is {_shown(record)}{hint}")
        # A field that occurs twice would be lost. There is none if the line has as many colons as fields. Otherwise
        # (a text may have a colon) the line is decoded again, with a check of each object.
        if (colons := line.count(":")) != len(record) and colons != _fields(record):
            record = _careful.decode(line)
    except RecursionError:
        raise _LineError("objects and lists are nested too deep") from None
    except (json.JSONDecodeError, RecordError):
        raise
    except ValueError:  # Python's limit on the digits of a whole number
        raise _LineError("there is a number with thousands of digits") from None
    if _SURROGATE.search(line):
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _LineError("there is half of a surrogate pair (\\ud800 to \\udfff)") from None
    found: dict[str, Any] = record
    return found


def _fields(value: Any) -> int:
    """The number of fields, with those of nested objects."""
    inner = value.values() if type(value) is dict else value
    return (len(value) if type(value) is dict else 0) + sum(
        _fields(one) for one in inner if type(one) in (dict, list)
    )


def _fields_of(record: dict[str, Any]) -> str:
    more = ", ..." if len(record) > 10 else ""
    return f"there are {', '.join(map(shortened, list(record)[:10])) or 'none'}{more}"


def _not_json(error: json.JSONDecodeError, line: str) -> tuple[str, int]:
    rest = line[error.pos :]
    there = f"there is {shortened(rest, 20)}" if rest else "there is the end of the line"
    return f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}, {there}", len(line[: error.pos].encode()) + 1


# ---- values ------------------------------------------------------------------------------------------------------


def _is_finite(value: Any) -> bool:
    """Whether it is a number, and finite as a float64."""
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is not int:
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _shown(value: Any) -> str:
    """The value as JSON, shortened, for an error."""
    if type(value) is int and abs(value) > 10**30:
        return "a number of more than 30 digits"
    if type(value) is float and not math.isfinite(value):
        return "a number beyond 1.8e308"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 and text.isprintable() else shortened(text)
