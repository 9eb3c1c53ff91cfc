"""Word counts by label, which roll back cheaply."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]


class WordCounts:
    """How often each word occurred in the documents of each label, and in all documents.

    Arrays grow by doubling. Their last row and column stay zero: the place -1, of an unknown word or label, reads them.
    """

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.labels: dict[Any, int] = {}
        self.by_label: Counts = np.zeros((16, 4), dtype=np.int64)
        self.totals: Counts = np.zeros(16, dtype=np.int64)
        self.documents_of: Counts = np.zeros(4, dtype=np.int64)
        self.documents = 0
        self._overwritten: list[tuple[str, Any, Counts]] | None = (
            None  # array, index and values, since `begin`
        )

    def word_places(self, words: Collection[str]) -> Places:
        return np.fromiter(map(self.words.get, words, itertools.repeat(-1)), np.intp, len(words))

    def label_places(self, labels: Collection[Any]) -> Places:
        return np.fromiter(map(self.labels.get, labels, itertools.repeat(-1)), np.intp, len(labels))

    def add(self, words: Collection[str], amounts: Counts, relevant: Collection[Any]) -> None:
        """Counts a document with these labels. `amounts`: what it adds to the count of each word."""
        relevant = dict.fromkeys(relevant)
        new_words = [word for word in words if word not in self.words]
        new_labels = [label for label in relevant if label not in self.labels]
        self._reserve(len(self.words) + len(new_words), len(self.labels) + len(new_labels))
        for word in new_words:
            self.words[word] = len(self.words)
        for label in new_labels:
            self.labels[label] = len(self.labels)
        rows, columns = self.word_places(words), self.label_places(relevant)
        self._add_to("by_label", np.ix_(rows, columns), amounts[:, np.newaxis])
        self._add_to("totals", rows, amounts)
        self._add_to("documents_of", columns, 1)
        self.documents += 1

    def _add_to(self, name: str, index: Any, amounts: Any) -> None:
        array = getattr(self, name)
        old = array[index]
        if self._overwritten is not None:
            self._overwritten.append((name, index, old))
        array[index] = old + amounts

    def _reserve(self, words: int, labels: int) -> None:
        rows, columns = self.by_label.shape
        if words < rows and labels < columns:
            return
        more_rows = 0 if words < rows else max(rows, words + 1 - rows)
        more_columns = 0 if labels < columns else max(columns, labels + 1 - columns)
        self.by_label, self.totals, self.documents_of = (
            np.pad(self.by_label, ((0, more_rows), (0, more_columns))),
            np.pad(self.totals, (0, more_rows)),
            np.pad(self.documents_of, (0, more_columns)),
        )

    def begin(self) -> tuple[int, int, int]:
        self._overwritten = []
        return len(self.words), len(self.labels), self.documents

    def commit(self) -> None:
        self._overwritten = None

    def rollback(self, before: tuple[int, int, int]) -> None:
        for name, index, old in reversed(self._overwritten or []):
            getattr(self, name)[index] = old
        self._overwritten = None
        words, labels, self.documents = before
        while len(self.words) > words:
            self.words.popitem()
        while len(self.labels) > labels:
            self.labels.popitem()

    def state(self) -> dict[str, Any]:
        words, labels = len(self.words), len(self.labels)
        by_label = self.by_label[:words, :labels].ravel()
        counted = by_label != 0
        return {
            "words": list(self.words),
            "labels": list(self.labels),
            "documents": self.documents,
            # One bit per count, set if it is not 0: the table in memory is not much larger than the file.
            "counted": np.packbits(counted),
            "by_label": by_label[counted],
            "totals": self.totals[:words].copy(),
            "documents_of": self.documents_of[:labels].copy(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The counts of a `state`, which may come from an untrusted file."""
        made = cls()
        made.words = {str(word): place for place, word in enumerate(state["words"])}
        made.labels = {label: place for place, label in enumerate(state["labels"])}
        made.documents = int(state["documents"])
        by_label, totals, documents_of = (
            np.asarray(state[name]) for name in ("by_label", "totals", "documents_of")
        )
        bits, words, labels = np.asarray(state["counted"]), len(state["words"]), len(state["labels"])
        cells = words * labels
        valid = (
            bits.dtype == np.uint8
            and bits.shape == ((cells + 7) // 8,)
            and all(
                array.dtype == np.int64 and (array >= 0).all() for array in (by_label, totals, documents_of)
            )
            and (totals.shape, documents_of.shape) == ((words,), (labels,))
            and (len(made.words), len(made.labels)) == (words, labels)
            and not np.unpackbits(bits)[cells:].any()
            and made.documents >= 0
        )
        counted = np.unpackbits(bits, count=cells).view(bool).reshape(words, labels) if valid else None
        if counted is None or by_label.shape != (np.count_nonzero(counted),):
            raise ValueError("the state is not one that this feature map can be in")
        made._reserve(words, labels)
        made.by_label[:words, :labels][counted] = by_label
        made.totals[:words] = totals
        made.documents_of[:labels] = documents_of
        return made
