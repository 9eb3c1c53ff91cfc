"""From sentences to features: features that read the same slots are computed together, and cached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .parser import Column, Feature, Value

CACHED = 2**17  # strings that a group of features keeps for later sentences, twice


class _Cache(dict[Any, tuple[str | None, ...]]):
    """The features of the values of a group's slots, computed when they first occur.

    Words and their neighbours recur, and a look-up is faster than building the strings; equal strings are then one
    object. Values that have not occurred for long are dropped.
    """

    def __init__(self, makers: list[tuple[Value, list[str]]], single: bool) -> None:
        self.makers, self.single = makers, single
        self.most = max(CACHED // sum(len(starts) for _, starts in makers), 1)
        self.older: dict[Any, tuple[str | None, ...]] = {}

    def __missing__(self, values: Any) -> tuple[str | None, ...]:
        features = self.older.get(values)
        if features is None:
            slots = (values,) if self.single else values
            strings: list[str | None] = []
            for value, starts in self.makers:
                text = value(slots)
                strings += [None] * len(starts) if text is None else [start + text for start in starts]
            features = tuple(strings)
        if len(self) >= self.most:
            self.older = dict(self)
            self.clear()
        self[values] = features
        return features


class Group:
    """Features with the same slots, at any base: one look-up serves all of them.

    With n tokens and slots that span s + 1 positions, n - s positions lie within the sentence. The feature with base b
    of token i is the one that was computed at position i + b.
    """

    def __init__(self, features: list[tuple[int, Feature]]) -> None:
        self.slots, self.bounded = features[0][1].slots, features[0][1].bounded
        self.rows: list[tuple[int, int]] = []  # (row, base), in the order in which the cache has the features
        makers: list[tuple[Value, list[str]]] = []
        for key in dict.fromkeys(feature.key for _, feature in features):
            alike = [(row, feature) for row, feature in features if feature.key == key]
            makers.append((alike[0][1].value, [feature.start for _, feature in alike]))
            self.rows += [(row, feature.base) for row, feature in alike]
        self.cache = _Cache(makers, single=len(self.slots) == 1)

    def fill(
        self, rows: list[Sequence[str | None]], read: Callable[[Column], Sequence[str]], count: int
    ) -> None:
        """Sets the rows of these features; a row has one string, or None, per token."""
        if self.bounded:
            values = [read(column)[offset:] for offset, column in self.slots]
        else:
            values = [_continued(read(column), offset, count) for offset, column in self.slots]
        keys: Iterable[Any] = values[0] if len(values) == 1 else zip(*values, strict=False)
        found = list(map(self.cache.__getitem__, keys))
        computed: list[tuple[str | None, ...]] = list(zip(*found, strict=True)) or [()] * len(self.rows)
        for (number, base), row in zip(self.rows, computed, strict=True):
            if base < 0:
                row = (None,) * min(-base, count) + row[: max(count + base, 0)]
            elif base > 0:
                row = row[base:]
            rows[number] = row if len(row) == count else row + (None,) * (count - len(row))


def _continued(values: Sequence[str], offset: int, count: int) -> list[str]:
    """The values at i + offset; outside of the sentence the _B-1, _B-2, ... and _B+1, _B+2, ... of CRF++."""
    if offset < 0:
        return [*[f"_B{place}" for place in range(offset, 0)], *values][:count]
    return [*values, *[f"_B+{place}" for place in range(1, offset + 1)]][offset:]
