"""Tables as examples: which column is the label, which are numbers, which name things, and what is missing.

What is not said is decided once, by what the first rows have, and kept in `settings`: later files are read alike.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...data.errors import InputError
from ...features.pipeline import (
    CATEGORY,
    IDS,
    IS_MISSING,
    MISSING,
    NUMBER,
    Features,
    RecordError,
    escaped,
    matcher,
)
from ..batches import BadLines, Batch
from .lines import shortened

LABELS = ("label", "y", "target", "class")  # the columns that are the label, if none is named, in any case


class Cells(NamedTuple):
    """A column of a batch: its values, any at all in rows where they are missing or refused."""

    values: Sequence[Any]
    missing: Sequence[int] = ()
    refused: Mapping[int, str] = {}  # and why


class Table:
    """How the rows of a table become examples.

    `label` is the column to be learned; None: the first of "label", "y", "target", "class" that there is; False: none.
    `weight` is the column with the weights of examples. The others are features, as `options` say, those of
    `hinge.Features`. Columns that are neither `text`, `categorical` nor `numeric` are numeric if they have nothing but
    numbers in the first batch.

    What is missing is the feature "age is missing" (missing="indicator"), no feature ("omit") or an error ("error").
    `missing_counts` has how often it was so in each column. Once `settled` a file may lack the label, the weight and
    other columns (their values are missing then); before, it is taken for an error in writing.
    """

    def __init__(
        self,
        *,
        label: str | bool | None = None,
        weight: str | None = None,
        missing: str = "indicator",
        label_kind: str | None = None,
        settled: bool = False,
        **options: Any,
    ) -> None:
        if label is True:
            raise ValueError("label must be the name of a column, None or False, not True")
        self.label, self.weight = label, weight
        self.features = Features(missing=missing, **options)
        self.label_kind, self.settled = label_kind, settled
        self.missing_counts: Counter[str] = Counter()
        self.ids: list[str] = []  # columns that name an example, and so are no features
        self.features.set_aside(self.label, self.weight)

    @property
    def kinds(self) -> dict[str, str]:
        return self.features.kinds

    @property
    def missing(self) -> str:
        return self.features.missing

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "label": self.label, "weight": self.weight, "label_kind": self.label_kind, "settled": self.settled,
            **self.features.options,
        }  # fmt: skip

    # ---- the header ---------------------------------------------------------------------------------------------

    def settle(self, source: str, line: int, names: Sequence[str], headed: bool = False) -> list[str]:
        """The columns that are features, of those that a file has; whatever is wrong with them is raised."""

        def fail(reason: str) -> InputError:
            return InputError(reason, file=source, line=line)

        # Numbers are no names.
        odd = headed and any(map(_is_number, names))
        hint = " (or is there no header? then --no-header)" if odd else ""
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
        self.features.set_aside(self.label, self.weight)
        if not self.settled:
            there = set(names)
            for option, wanted in (
                ("label", [self.label] if isinstance(self.label, str) else []),
                ("weight", [self.weight] if self.weight is not None else []),
                ("text", self.features.text),
                ("keep", self.features.keep),
                ("drop", self.features.drop),
                ("categorical", list(self.kinds)),
            ):
                for name in wanted:
                    if name not in there and not ("*" in name and any(map(matcher([name]), names))):
                        raise fail(
                            f"there is no column {shortened(name)} (--{option}): {_nearest(name, names)}"
                        )
        self.settled = True
        self.ids = [name for name in names if name in self.features.aside and name in IDS]
        features = list(filter(self.features.is_feature, names))
        if self.missing == "error" and (absent := self.absent(names)):
            raise fail(f"there is no column {_listed(absent)}, as there was before: {_listed(names)}")
        return features

    def aside(self, columns: Mapping[str, Any]) -> tuple[Any, Any]:
        """Those of the label and of the weight, if they are there."""
        label = columns.get(self.label) if isinstance(self.label, str) else None
        return label, None if self.weight is None else columns.get(self.weight)

    def absent(self, names: Iterable[str]) -> list[str]:
        """Columns that were there before, and are not among these."""
        there = set(names)  # there may be very many
        return [name for name in self.kinds if name not in there and self.features.is_feature(name)]

    # ---- text ---------------------------------------------------------------------------------------------------

    def read(self, name: str, texts: Sequence[str]) -> Cells:
        """A column of features of a table that has nothing but text."""
        kind = CATEGORY if name in self.features.text else self.kinds.get(name)
        if kind is None:
            there = [text for text in texts if text not in MISSING]
            if there:  # else it is left to the rows to come
                kind = self.kinds[name] = NUMBER if all(map(_is_number, there)) else CATEGORY
        if kind == NUMBER:
            return _numbers(texts, name)
        if MISSING.isdisjoint(texts):
            return Cells(texts)
        return Cells(texts, [row for row, text in enumerate(texts) if text in MISSING])

    def read_labels(self, texts: Sequence[str]) -> Cells:
        """Labels of a table of text: numbers if all are, in the first rows; else strings. Empty: there is none."""
        if self.label_kind is None:
            there = [text for text in texts if text]
            if there:
                self.label_kind = NUMBER if all(map(_is_number, there)) else CATEGORY
        if self.label_kind != NUMBER:
            return Cells([text or None for text in texts])
        try:
            if "_" not in "".join(texts):
                return Cells(list(map(int, texts)))
        except ValueError:
            pass
        labels: list[Any] = []
        refused = {}
        for row, text in enumerate(texts):
            labels.append(_label_of(text) if text else None)
            if text and labels[-1] is None:
                refused[row] = f"the label {shortened(text)} is not a number, as those before were"
        return Cells(labels, (), refused)

    def read_weights(self, texts: Sequence[str]) -> Cells:
        values, missing, refused = _numbers(texts, str(self.weight))
        refused = {
            **refused,
            **dict.fromkeys(missing, f"the weight is missing (column {shortened(self.weight)})"),
        }
        for row, value in enumerate(values):
            if value < 0:
                refused[row] = f"a weight of 0 or more was expected, there is {shortened(texts[row])}"
        return Cells(values, (), refused)

    # ---- rows ---------------------------------------------------------------------------------------------------

    def batch(
        self,
        source: str,
        lines: Sequence[int],
        features: dict[str, Cells],
        labels: Cells | None,
        weights: Cells | None,
        bad: BadLines,
    ) -> Batch:
        """The examples of columns that have been read; rows that are refused are told to `bad`, and left out."""
        refused: dict[int, str] = {}
        for cells in (*features.values(), *(cells for cells in (labels, weights) if cells is not None)):
            refused = {**cells.refused, **refused}
        for name, cells in features.items():
            if self.missing == "error":
                for row in cells.missing:
                    refused.setdefault(row, f"the value of column {shortened(name)} is missing")
        for row in sorted(refused):
            bad.meet(InputError(refused[row], file=source, line=lines[row]))
        X = self._events(features, len(lines), refused)
        if self.features.text or self.features.interactions:
            for row, reason in self._finish(X, features).items():
                if row not in refused:
                    refused[row] = reason
                    bad.meet(InputError(reason, file=source, line=lines[row]))
        given: list[Any] = [None] * len(lines) if labels is None else list(labels.values)
        weighed = None if weights is None else np.array(weights.values, dtype=np.float64)
        if refused:
            kept = [row for row in range(len(lines)) if row not in refused]
            X, given = [X[row] for row in kept], [given[row] for row in kept]
            lines = [lines[row] for row in kept]
            weighed = None if weighed is None else weighed[kept]
        return Batch(X, given, lines, weighed)

    def _events(
        self, columns: dict[str, Cells], count: int, refused: Mapping[int, str]
    ) -> list[dict[str, Any]]:
        """What `Features.event` says of each row, but for texts and products: a column at a time, which is faster."""
        features = {name: cells for name, cells in columns.items() if name not in self.features.text}
        names = list(map(escaped, features))
        rows: Iterable[Any] = zip(*(cells.values for cells in features.values()), strict=True)
        X: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
        if not names:
            X = [{} for _ in range(count)]
        missing = {name: cells.missing for name, cells in features.items() if cells.missing}
        absent = self.absent(columns)
        for name, places in {**missing, **dict.fromkeys(absent, range(count))}.items():
            its = escaped(name)
            for row in places:
                X[row].pop(its, None)
                if self.missing == "indicator":
                    X[row][its + IS_MISSING] = 1.0
            self.missing_counts[name] += sum(row not in refused for row in places)
        return X

    def _finish(self, X: list[Any], columns: dict[str, Cells]) -> dict[int, str]:
        """Adds texts and products; returns the rows that are rejected, and why."""
        features, refused = self.features, {}
        texts = {name: cells.values for name, cells in columns.items() if name in features.text}
        for row, event in enumerate(X):
            its = {name: values[row] for name, values in texts.items()}
            try:
                if features.only_words:
                    X[row] = features.event(its)
                    continue
                bag = features.bag(its) if texts else {}
                X[row] = features.multiplied(event, bag) if features.interactions else {**event, **bag}
            except RecordError as error:
                refused[row] = str(error)
        return refused


def _is_number(text: str) -> bool:
    """Whether it is written as one, though it may be infinite. (Python's 1_000 is none.)"""
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
    values, refused = [], {}
    for row, text in enumerate(known):
        values.append(float(text) if _is_number(text) else 0.0)
        if not _is_number(text):
            hint = f" (--categorical {name}, if it names things)"
            refused[row] = f"column {shortened(name)}: {shortened(text)} is not a number{hint}"
        elif not math.isfinite(values[-1]):
            refused[row] = f"column {shortened(name)}: {shortened(text)} is not a finite number"
    return Cells(values, missing, refused)


def _label_of(text: str) -> int | float | None:
    """A whole number if it is one; None if it is no finite number at all."""
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
