"""Rows of a table as examples: which column is the label, which are numbers, which are categories, what is missing.

What the options leave open is decided once, by the first rows, and kept in `settings`: later files are read alike.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...data.errors import InputError
from ...features.features import CATEGORY, IDS, IS_MISSING, NUMBER, Features
from ...features.names import escaped, matcher
from ...features.values import MISSING, RecordError
from ..batches import BadLines, Batch
from .lines import shortened

LABELS = ("label", "y", "target", "class")  # the default label, in upper or lower case: the first that exists


class Cells(NamedTuple):
    """A column of a batch. Where a cell is missing or invalid, its value is arbitrary."""

    values: Sequence[Any]
    missing: Sequence[int] = ()  # rows
    invalid: Mapping[int, str] = {}  # row -> reason


class Table:
    """How the rows of a table become examples. The base class of the formats that have columns.

    `label` is the column to be learned; None: the first of "label", "y", "target", "class" that exists; False: none.
    `weight` is the column with the weights of examples, `key` that with the keys of a fleet, which no row may lack. The
    others are features; `options` are those of
    `hinge.Features`. A column that is neither `text`, `categorical` nor `numeric` is numeric if the first batch has
    only numbers in it.

    A missing value is the feature "age is missing" (missing="indicator"), no feature ("omit") or an error ("error");
    `missing_counts` counts them for each column. Once the table is `settled`, a file may lack the label, the weight
    and other columns, whose values are then missing. Before, a column that is named but absent is an error.
    """

    def __init__(
        self,
        *,
        label: str | bool | None = None,
        weight: str | None = None,
        key: str | None = None,
        missing: str = "indicator",
        label_kind: str | None = None,
        settled: bool = False,
        **options: Any,
    ) -> None:
        if label is True:
            raise ValueError("label must be the name of a column, None or False, not True")
        self.label, self.weight, self.key = label, weight, key
        self.features = Features(missing=missing, **options)
        self.label_kind, self.settled = label_kind, settled
        self.missing_counts: Counter[str] = Counter()
        self.ids: list[str] = []  # columns that identify an example, and so are not features
        self.features.set_aside(self.label, self.weight, self.key)

    @property
    def kinds(self) -> dict[str, str]:
        return self.features.kinds

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "label": self.label, "weight": self.weight, "label_kind": self.label_kind, "settled": self.settled,
            **({} if self.key is None else {"key": self.key}), **self.features.options,
        }  # fmt: skip

    # ---- the header ---------------------------------------------------------------------------------------------

    def settle(self, source: str, line: int, names: Sequence[str], headed: bool = False) -> list[str]:
        """Checks the columns of a file and returns those that are features."""

        def fail(reason: str) -> InputError:
            return InputError(reason, file=source, line=line)

        no_header = headed and any(map(_is_number, names))
        hint = " (or is there no header? then --no-header)" if no_header else ""
        for place, name in enumerate(names, 1):
            if not name:
                raise fail(f"column {place} of the header has no name")
        for name, count in Counter(names).items():
            if count > 1:
                raise fail(f"the header has {shortened(name)} {count} times: names must be different{hint}")
        if self.label is None:
            self.label = next((name for want in LABELS for name in names if name.lower() == want), None)
            if self.label is None:
                raise fail(f"which column is the label? --label NAME, one of {_listed(names)}{hint}")
        self.features.set_aside(self.label, self.weight, self.key)
        if self.key is not None and self.key not in names:
            raise fail(f"there is no column {shortened(self.key)} (--key): {_nearest(self.key, names)}")
        if not self.settled:
            present = set(names)
            for option, name in self._named_columns():
                if name not in present and not ("*" in name and any(map(matcher([name]), names))):
                    raise fail(f"there is no column {shortened(name)} (--{option}): {_nearest(name, names)}")
        self.settled = True
        self.ids = [
            name for name in names if name in self.features.aside and name in IDS and name != self.key
        ]
        if self.features.missing == "error" and (absent := self._absent(names)):
            raise fail(f"there is no column {_listed(absent)}, as there was before: {_listed(names)}")
        return list(filter(self.features.is_feature, names))

    def _named_columns(self) -> Iterable[tuple[str, str]]:
        """Each column that an option names, after the name of the option."""
        label = [self.label] if isinstance(self.label, str) else []
        weight = [] if self.weight is None else [self.weight]
        features = self.features
        for option, names in (
            ("label", label), ("weight", weight), ("text", features.text), ("keep", features.keep),
            ("drop", features.drop), ("categorical", self.kinds),
        ):  # fmt: skip
            for name in names:
                yield option, name

    def label_and_weight(self, columns: Mapping[str, Any]) -> tuple[Any, Any]:
        """The columns of the label and of the weight; None if they are absent."""
        label = columns.get(self.label) if isinstance(self.label, str) else None
        return label, None if self.weight is None else columns.get(self.weight)

    def _absent(self, names: Iterable[str]) -> list[str]:
        """Features of earlier files that are not among these columns."""
        present = set(names)  # there may be very many
        return [name for name in self.kinds if name not in present and self.features.is_feature(name)]

    # ---- text ---------------------------------------------------------------------------------------------------

    def read(self, name: str, texts: Sequence[str]) -> Cells:
        """A column of features whose cells are text."""
        kind = CATEGORY if name in self.features.text else self.kinds.get(name)
        if kind is None:
            present = [text for text in texts if text not in MISSING]
            if present:  # otherwise later rows decide
                kind = self.kinds[name] = NUMBER if all(map(_is_number, present)) else CATEGORY
        if kind == NUMBER:
            return _numbers(texts, name)
        if MISSING.isdisjoint(texts):
            return Cells(texts)
        return Cells(texts, [row for row, text in enumerate(texts) if text in MISSING])

    def read_labels(self, texts: Sequence[str]) -> Cells:
        """Labels that are text: numbers if all of the first rows have numbers, otherwise strings. Empty: no label."""
        if self.label_kind is None:
            present = [text for text in texts if text]
            if present:
                self.label_kind = NUMBER if all(map(_is_number, present)) else CATEGORY
        if self.label_kind != NUMBER:
            return Cells([text or None for text in texts])
        try:
            if "_" not in "".join(texts):
                return Cells(list(map(int, texts)))
        except ValueError:
            pass
        labels = [_label_of(text) if text else None for text in texts]
        invalid = {
            row: f"the label {shortened(text)} is not a number, as those before were"
            for row, text in enumerate(texts) if text and labels[row] is None
        }  # fmt: skip
        return Cells(labels, (), invalid)

    def read_weights(self, texts: Sequence[str]) -> Cells:
        return self.checked_weights(_numbers(texts, str(self.weight)), texts)

    def checked_weights(self, cells: Cells, shown: Sequence[Any] | None = None) -> Cells:
        """Weights must be present and not negative. `shown`: the cells as they are in the file, if they are text."""
        reason = f"the weight is missing (column {shortened(self.weight)})"
        invalid = {**cells.invalid, **dict.fromkeys(cells.missing, reason)}
        for row, value in enumerate(cells.values):
            if value < 0:
                cell = value if shown is None else shortened(shown[row])
                invalid[row] = f"a weight of 0 or more was expected, there is {cell}"
        return Cells(cells.values, (), invalid)

    def read_keys(self, columns: Mapping[str, Sequence[Any]]) -> Cells | None:
        """The keys of a fleet: strings, or whole numbers in formats that have them. In text they are strings."""
        if self.key is None:
            return None
        keys, invalid = list(columns[self.key]), {}
        for row, key in enumerate(keys):
            if key in ("", None):
                invalid[row] = f"the key is missing (column {shortened(self.key)})"
            elif isinstance(key, bool) or not isinstance(key, (str, int)):
                expected = f"a key, a string or a whole number, was expected in column {shortened(self.key)}"
                invalid[row] = f"{expected}, there is {shortened(str(key))}"
        return Cells(keys, (), invalid)

    # ---- rows ---------------------------------------------------------------------------------------------------

    def batch(
        self,
        source: str,
        lines: Sequence[int],
        features: dict[str, Cells],
        labels: Cells | None,
        weights: Cells | None,
        bad: BadLines,
        keys: Cells | None = None,
    ) -> Batch:
        """The examples of columns that have been read. Invalid rows are passed to `bad`, and left out."""
        invalid: dict[int, str] = {}
        for cells in (*features.values(), *(cells for cells in (labels, weights, keys) if cells is not None)):
            invalid = {**cells.invalid, **invalid}
        if self.features.missing == "error":
            for name, cells in features.items():
                for row in cells.missing:
                    invalid.setdefault(row, f"the value of column {shortened(name)} is missing")
        for row in sorted(invalid):
            bad.meet(InputError(invalid[row], file=source, line=lines[row]))
        X = self._events(features, len(lines), invalid)
        if self.features.text or self.features.interactions:
            for row, reason in self._add_texts_and_products(X, features).items():
                if row not in invalid:
                    invalid[row] = reason
                    bad.meet(InputError(reason, file=source, line=lines[row]))
        given: list[Any] = [None] * len(lines) if labels is None else list(labels.values)
        weighed = None if weights is None else np.array(weights.values, dtype=np.float64)
        its_keys = None if keys is None else list(keys.values)
        if invalid:
            kept = [row for row in range(len(lines)) if row not in invalid]
            X, given = [X[row] for row in kept], [given[row] for row in kept]
            lines = [lines[row] for row in kept]
            weighed = None if weighed is None else weighed[kept]
            its_keys = None if its_keys is None else [its_keys[row] for row in kept]
        return Batch(X, given, lines, weighed, keys=its_keys)

    def _events(
        self, columns: dict[str, Cells], count: int, invalid: Mapping[int, str]
    ) -> list[dict[str, Any]]:
        """What `Features.event` makes of each row, without texts and products. By column, which is faster."""
        features = {name: cells for name, cells in columns.items() if name not in self.features.text}
        names = list(map(escaped, features))
        rows: Iterable[Any] = zip(*(cells.values for cells in features.values()), strict=True)
        X: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
        if not names:
            X = [{} for _ in range(count)]
        missing = {name: cells.missing for name, cells in features.items() if cells.missing}
        for name, places in {**missing, **dict.fromkeys(self._absent(columns), range(count))}.items():
            feature = escaped(name)
            for row in places:
                X[row].pop(feature, None)
                if self.features.missing == "indicator":
                    X[row][feature + IS_MISSING] = 1.0
            self.missing_counts[name] += sum(row not in invalid for row in places)
        return X

    def _add_texts_and_products(self, X: list[Any], columns: dict[str, Cells]) -> dict[int, str]:
        """Returns the rows that are invalid, and why."""
        features, invalid = self.features, {}
        texts = {name: cells.values for name, cells in columns.items() if name in features.text}
        for row, event in enumerate(X):
            record = {name: values[row] for name, values in texts.items()}
            try:
                if features.only_words:
                    X[row] = features.event(record)
                    continue
                bag = features.bag(record) if texts else {}
                X[row] = features.multiplied(event, bag) if features.interactions else {**event, **bag}
            except RecordError as error:
                invalid[row] = str(error)
        return invalid


def _is_number(text: str) -> bool:
    """Whether it is a number, finite or not. (Python reads 1_000 as one; a file does not mean it.)"""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _floats(texts: Sequence[str]) -> list[float] | None:
    """All of them, if all are finite numbers."""
    try:
        values = list(map(float, texts))
    except ValueError:
        return None
    return values if math.isfinite(sum(values)) and "_" not in "".join(texts) else None


def _numbers(texts: Sequence[str], name: str) -> Cells:
    values = _floats(texts)
    if values is not None:
        return Cells(values)
    missing = [row for row, text in enumerate(texts) if text in MISSING]
    known = list(texts)
    for row in missing:
        known[row] = "0"
    values = _floats(known)
    if values is not None:
        return Cells(values, missing)
    values, invalid = [], {}
    for row, text in enumerate(known):
        values.append(float(text) if _is_number(text) else 0.0)
        if not _is_number(text):
            hint = f" (--categorical {name}, if it is a category)"
            invalid[row] = f"column {shortened(name)}: {shortened(text)} is not a number{hint}"
        elif not math.isfinite(values[-1]):
            invalid[row] = f"column {shortened(name)}: {shortened(text)} is not a finite number"
    return Cells(values, missing, invalid)


def _label_of(text: str) -> int | float | None:
    """A finite number, as an int if it is whole; None if it is not one."""
    if not _is_number(text) or not math.isfinite(value := float(text)):
        return None
    try:
        return int(text)
    except ValueError:
        return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _listed(names: Sequence[str]) -> str:
    more = f", ... ({len(names)} of them)" if len(names) > 20 else ""
    return ", ".join(map(shortened, names[:20])) + more


def _nearest(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, 3)
    return f"did you mean {' or '.join(map(shortened, near))}?" if near else f"there are {_listed(names)}"
