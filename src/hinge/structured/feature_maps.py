"""Features that depend on the label, phi(x, r): what single-prototype ranking (`PARanker`) scores with its one w.

A map sees an example before its labels are known, and is told them after the round: what it counts is of earlier
rounds only.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..data.events import as_list
from ..data.shown import shown

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Places = npt.NDArray[np.intp]


class FeatureMap(ABC):
    """Class-dependent features phi(x, r). One's own map is a class that says them:

    >>> from hinge import FeatureMap, PARanker
    >>> class Shared(FeatureMap):
    ...     '''How many words of a text the earlier texts of a label had, and how many they had not.'''
    ...
    ...     def __init__(self):
    ...         self.seen = {}
    ...
    ...     def features(self, x, labels):
    ...         words = set(x.split())
    ...         shared = [len(words & self.seen.get(label, set())) for label in labels]
    ...         return ["shared", "other"], [[n, len(words) - n] for n in shared]
    ...
    ...     def learned(self, x, relevant):
    ...         for label in relevant:
    ...             self.seen.setdefault(label, set()).update(x.split())
    ...
    ...     def state(self):
    ...         return {"seen": [[label, sorted(words)] for label, words in self.seen.items()]}
    ...
    ...     def restore(self, state):
    ...         self.seen = {label: set(words) for label, words in state["seen"]}

    >>> model = PARanker(features=Shared())
    >>> for text, label in [("free money", "spam"), ("lunch on monday", "ham")] * 2:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("money on monday")
    'ham'
    >>> {name: round(weight, 2) for name, weight in model.named_weights().items()}
    {'other': -0.25, 'shared': 0.25}

    A map without memory needs `features` only. One that has a memory needs `learned`, `state` and `restore`; then
    files keep it, and a round that is refused is taken back, in the map too.
    """

    @abstractmethod
    def features(self, x: Any, labels: Sequence[Any]) -> tuple[Sequence[str], npt.ArrayLike]:
        """The names of the features of x, each once, and their values: a row for each label, a column for each
        name. Changes nothing; raises ValueError if x makes no sense."""

    def learned(self, x: Any, relevant: Collection[Any]) -> None:  # noqa: B027 (a map may have no memory)
        """Called in each round with the true labels of x, after `features` was asked for the round."""

    def state(self) -> dict[str, Any]:
        """All that `learned` has changed: by name, what JSON can hold, and numpy arrays of numbers."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Goes back to what `state` said."""

    # Refused input leaves no trace. These work for every map; they cost what `state` costs, in each round. A map
    # with a large memory does better to note what it overwrites.

    def begin(self) -> Any:
        """Before rounds that may be taken back: what `rollback` will need."""
        return copy.deepcopy(self.state())

    def commit(self, before: Any) -> None:  # noqa: B027
        """They will not be taken back."""

    def rollback(self, before: Any) -> None:
        """Takes them back."""
        self.restore(before)


def checked_features(feature_map: FeatureMap, x: Any, labels: list[Any]) -> tuple[list[str], Doubles]:
    """phi(x, r) of each label, if it is what a map may say. Features that are 0 for all labels are none."""
    said: Any = feature_map.features(x, list(labels))
    try:
        names, values = list(said[0]), np.ascontiguousarray(said[1], dtype=np.float64)
        if len(said) != 2:
            raise ValueError(f"it gave {len(said)} things")
    except (TypeError, ValueError, LookupError) as error:
        raise ValueError(f"{_of(feature_map)} must give names and an array of numbers: {error}") from None
    if not labels:
        return [], np.zeros((0, 0))
    if values.shape != (len(labels), len(names)):
        raise ValueError(
            f"{_of(feature_map)} must give a row of values for each of the {len(labels)} labels and a column for "
            f"each of the {len(names)} names, not {values.shape}"
        )
    if set(map(type, names)) - {str}:
        odd = next(name for name in names if type(name) is not str)
        raise ValueError(f"{_of(feature_map)} must give strings as names, not {odd!r}")
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"{_of(feature_map)} must give each name once: {twice!r} occurs twice")
    if not np.isfinite(values).all():
        label, j = np.argwhere(~np.isfinite(values))[0].tolist()
        what = "NaN" if np.isnan(values[label, j]) else "infinity (inf)"
        raise ValueError(
            f"{_of(feature_map)}, label {labels[label]!r}, feature {names[j]!r}: the value is {what}"
        )
    used = np.flatnonzero(values.any(axis=0))
    if len(used) < len(names):
        names = [names[j] for j in used.tolist()]
        values = np.ascontiguousarray(values[:, used])
    return names, values


def _of(feature_map: FeatureMap) -> str:
    return f"the feature map {type(feature_map).__name__}"


# ---- files: the arrays of a state as they are, the rest as JSON -----------------------------------------------


def pack(prefix: str, feature_map: FeatureMap, tensors: dict[str, npt.NDArray[Any]]) -> None:
    state = feature_map.state()
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    try:
        rest = json.dumps({name: value for name, value in state.items() if name not in arrays})
    except (TypeError, ValueError) as error:
        raise TypeError(f"the state of {_of(feature_map)} is not what a file can hold: {error}") from None
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise TypeError(f"the state of {_of(feature_map)}: {name!r} must hold numbers, not {array.dtype}")
        tensors[f"{prefix}.{name}"] = array
    tensors[prefix] = np.frombuffer(rest.encode(), dtype=np.uint8)


def unpack(prefix: str, tensors: dict[str, npt.NDArray[Any]]) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(tensors[prefix].tobytes())
    for name, tensor in tensors.items():
        if name.startswith(f"{prefix}."):
            state[name.removeprefix(f"{prefix}.")] = tensor.copy()  # the map may keep it, and change it
    return state


# ---- the two that come with it --------------------------------------------------------------------------------


class _Overwritten(NamedTuple):
    """What a round has overwritten."""

    words: Places
    labels: Places
    by_label: Counts
    totals: Counts
    documents_of: Counts


class _Counting(FeatureMap):
    """Counts of words: by label, and in all.

    Arrays grow by doubling; their last row and column are never used, so that the place -1 of what is not known
    holds zeros.
    """

    def __init__(
        self,
        *,
        tokenizer: Callable[[Any], Iterable[str]] | None = None,
        token_pattern: str = r"(?u)\b\w\w+\b",
        lowercase: bool = True,
        ngram_range: tuple[int, int] = (1, 1),
        max_features: int = 2**24,
    ) -> None:
        if tokenizer is not None and not callable(tokenizer):
            raise ValueError(f"tokenizer must be None or a function from x to its tokens, not {tokenizer!r}")
        try:
            if re.compile(token_pattern).groups > 1:
                raise ValueError("it has more than one group")
        except (TypeError, ValueError, re.error) as error:
            raise ValueError(f"token_pattern must be a regular expression: {error}") from None
        if not isinstance(lowercase, bool):
            raise ValueError(f"lowercase must be True or False, not {lowercase!r}")
        lengths = tuple(ngram_range) if isinstance(ngram_range, (tuple, list)) else ()
        if not (
            len(lengths) == 2 and all(isinstance(n, int) for n in lengths) and 1 <= lengths[0] <= lengths[1]
        ):
            raise ValueError(f"ngram_range must be two whole numbers, 1 <= low <= high, not {ngram_range!r}")
        if isinstance(max_features, bool) or not isinstance(max_features, int) or max_features < 1:
            raise ValueError(f"max_features must be a whole number of 1 or more, not {max_features!r}")
        self.tokenizer = tokenizer
        self.token_pattern = token_pattern
        self.lowercase = lowercase
        self.ngram_range = (lengths[0], lengths[1])
        self.max_features = max_features
        self._analyze: Callable[[str], list[str]] | None = None  # scikit-learn's, once there is a string
        self._last: tuple[str | None, Counter[str]] = (None, Counter())
        self._clear()

    def _clear(self) -> None:
        self._words: dict[str, int] = {}
        self._labels: dict[Any, int] = {}
        self._by_label: Counts = np.zeros((16, 4), dtype=np.int64)
        self._totals: Counts = np.zeros(16, dtype=np.int64)
        self._documents_of: Counts = np.zeros(4, dtype=np.int64)
        self._documents = 0
        self._journal: list[_Overwritten] | None = None  # of rounds that may be taken back

    def options(self) -> dict[str, Any]:
        """What the constructor was given."""
        return {
            "tokenizer": self.tokenizer,
            "token_pattern": self.token_pattern,
            "lowercase": self.lowercase,
            "ngram_range": self.ngram_range,
            "max_features": self.max_features,
        }

    def __repr__(self) -> str:
        usual = type(self)().options()
        given = [f"{name}={value!r}" for name, value in self.options().items() if value != usual[name]]
        return f"{type(self).__name__}({', '.join(given)})"

    # ---- words ------------------------------------------------------------------------------------------------

    def _read(self, x: Any) -> Counter[str]:
        """How often each word occurs in x, in the order of their first occurrences."""
        if type(x) is not str:
            return self._counted(self._tokens(x))
        if x is not self._last[0]:  # a round reads its text twice, and strings never change
            self._last = (x, self._counted(self._tokens(x)))
        return self._last[1]

    def _tokens(self, x: Any) -> Iterable[str]:
        if self.tokenizer is not None:
            return self.tokenizer(x)
        if isinstance(x, str):
            if self._analyze is None:
                from sklearn.feature_extraction.text import CountVectorizer

                self._analyze = CountVectorizer(
                    token_pattern=self.token_pattern, lowercase=self.lowercase, ngram_range=self.ngram_range
                ).build_analyzer()
            return self._analyze(x)
        if isinstance(x, (list, tuple)) or (isinstance(x, np.ndarray) and x.ndim == 1):
            return x
        raise ValueError(f"a text must be a string or a list of words, not {type(x).__name__}")

    @staticmethod
    def _counted(tokens: Iterable[str]) -> Counter[str]:
        if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
            raise ValueError(f"the tokenizer must give a list of words, not {shown(tokens)}")
        words = as_list(tokens, "a text", "of words", False)
        if set(map(type, words)) - {str}:
            for word in words:
                if not isinstance(word, str):
                    raise ValueError(f"a word must be a string, not {shown(word)}")
            words = [str(word) for word in words]
        return Counter(words)

    # ---- features ---------------------------------------------------------------------------------------------

    def features(self, x: Any, labels: Sequence[Any]) -> tuple[list[str], Doubles]:
        counts = self._read(x)
        names = list(counts)
        if self._documents == 0 or not names:
            return names, np.zeros((len(labels), len(names)))
        in_x = np.fromiter(counts.values(), np.float64, len(names))
        words = np.fromiter(map(self._words.get, names, itertools.repeat(-1)), np.intp, len(names))
        columns = self._columns(labels)
        by_label = np.ascontiguousarray(self._by_label[words].T)[columns]
        return names, self._values(in_x, by_label, self._totals[words], self._documents_of[columns])

    def _columns(self, labels: Collection[Any]) -> Places:
        return np.fromiter(map(self._labels.get, labels, itertools.repeat(-1)), np.intp, len(labels))

    @abstractmethod
    def _values(self, in_x: Doubles, by_label: Counts, totals: Counts, documents_of: Counts) -> Doubles:
        """phi, labels x words, from the counts of the words in x, by label, in all, and of the documents."""

    @abstractmethod
    def _amounts(self, counts: Counter[str]) -> Counts:
        """How much a document adds to the count of each of its words."""

    # ---- counts -----------------------------------------------------------------------------------------------

    def learned(self, x: Any, relevant: Collection[Any]) -> None:
        counts = self._read(x)
        fresh = [word for word in counts if word not in self._words]
        if len(self._words) + len(fresh) > self.max_features:
            raise ValueError(
                f"the word {fresh[self.max_features - len(self._words)]!r} is new, and the feature map already has "
                f"{self.max_features} words, its limit (max_features)"
            )
        relevant = dict.fromkeys(relevant)
        new_labels = [label for label in relevant if label not in self._labels]
        self._reserve(len(self._words) + len(fresh), len(self._labels) + len(new_labels))
        for word in fresh:
            self._words[word] = len(self._words)
        for label in new_labels:
            self._labels[label] = len(self._labels)
        words = np.fromiter(map(self._words.__getitem__, counts), np.intp, len(counts))
        labels = self._columns(relevant)
        block = np.ix_(words, labels)
        old = _Overwritten(
            words, labels, self._by_label[block], self._totals[words], self._documents_of[labels]
        )
        amounts = self._amounts(counts)
        if self._journal is not None:
            self._journal.append(old)
        self._by_label[block] = old.by_label + amounts[:, np.newaxis]
        self._totals[words] = old.totals + amounts
        self._documents_of[labels] = old.documents_of + 1
        self._documents += 1

    def _reserve(self, words: int, labels: int) -> None:
        rows, columns = self._by_label.shape
        if words < rows and labels < columns:
            return
        rows = rows if words < rows else max(2 * rows, words + 1)
        columns = columns if labels < columns else max(2 * columns, labels + 1)
        by_label = np.zeros((rows, columns), dtype=np.int64)
        totals, documents_of = np.zeros(rows, dtype=np.int64), np.zeros(columns, dtype=np.int64)
        by_label[: self._by_label.shape[0], : self._by_label.shape[1]] = self._by_label
        totals[: len(self._totals)] = self._totals
        documents_of[: len(self._documents_of)] = self._documents_of
        self._by_label, self._totals, self._documents_of = by_label, totals, documents_of

    def begin(self) -> Any:
        self._journal = []
        return len(self._words), len(self._labels), self._documents

    def commit(self, before: Any) -> None:
        self._journal = None

    def rollback(self, before: Any) -> None:
        for old in reversed(self._journal or []):
            self._by_label[np.ix_(old.words, old.labels)] = old.by_label
            self._totals[old.words] = old.totals
            self._documents_of[old.labels] = old.documents_of
        self._journal = None
        words, labels, self._documents = before
        while len(self._words) > words:
            self._words.popitem()
        while len(self._labels) > labels:
            self._labels.popitem()

    # ---- files --------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        words, labels = len(self._words), len(self._labels)
        by_label = self._by_label[:words, :labels].ravel()
        counted = by_label != 0
        return {
            "words": list(self._words),
            "labels": list(self._labels),
            "documents": self._documents,
            # Which counts are not 0, a bit each: a file is never much smaller than the table that it asks for.
            "counted": np.packbits(counted),
            "by_label": by_label[counted],
            "totals": self._totals[:words].copy(),
            "documents_of": self._documents_of[:labels].copy(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        words = {str(word): place for place, word in enumerate(state["words"])}
        labels = {label: place for place, label in enumerate(state["labels"])}
        arrays = [np.asarray(state[name]) for name in ("by_label", "totals", "documents_of")]
        by_label, totals, documents_of = arrays
        bits, cells, documents = (
            np.asarray(state["counted"]),
            len(words) * len(labels),
            int(state["documents"]),
        )
        if (
            bits.dtype != np.uint8
            or bits.shape != ((cells + 7) // 8,)
            or [array.shape for array in arrays[1:]] != [(len(state["words"]),), (len(state["labels"]),)]
            or any(array.dtype != np.int64 or (array < 0).any() for array in arrays)
            or (len(words), len(labels)) != (len(totals), len(documents_of))
            or np.unpackbits(bits[-1:])[cells - 8 * len(bits) or 8 :].any()
            or documents < 0
        ):
            raise ValueError("the state is not one that this feature map can be in")
        counted = np.unpackbits(bits, count=cells).view(bool).reshape(len(words), len(labels))
        if by_label.shape != (np.count_nonzero(counted),):
            raise ValueError("the state is not one that this feature map can be in")
        self._clear()
        self._reserve(len(words), len(labels))
        self._by_label[: len(words), : len(labels)][counted] = by_label
        self._totals[: len(words)] = totals
        self._documents_of[: len(labels)] = documents_of
        self._words, self._labels, self._documents = words, labels, documents


# ln 2 in two parts: times an exponent, the first one is exact.
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_ODD = [1 / (2 * k + 1) for k in range(11, 0, -1)]


def _log(x: Doubles) -> Doubles:
    """The natural logarithm, to an ulp or two. numpy's has other bits on other processors; here each operation is
    rounded as IEEE 754 says. x = m 2^e with m near 1, and log m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...)."""
    m, e = np.frexp(x)
    low = m < math.sqrt(0.5)
    m, e = np.where(low, 2 * m, m), e - low
    s = (m - 1) / (m + 1)
    z = s * s
    series = np.zeros_like(z)
    for factor in _ODD:
        series = (series + factor) * z
    logs: Doubles = e * _LN2_HIGH + (e * _LN2_LOW + 2 * (s * series) + 2 * s)
    return logs


class ClassTfIdf(_Counting):
    """The class-dependent tf-idf of J06 section 7: phi_j(x, r) = tf_j(x) log(m / df_j(r)).

    tf is how often word j occurs in x, m the number of earlier documents, and df how often the word occurs in those
    of them that are not labelled r (at least 1): large for words that are frequent here and rare in other classes.

    A text is a list of words, or a string, which scikit-learn's CountVectorizer takes apart (`token_pattern`,
    `lowercase`, `ngram_range` are its options). A `tokenizer` of one's own gets x as it is, whatever it is, and
    gives its words; files cannot keep it: `PARanker.load(path, features=...)` wants it again.

    >>> from hinge import ClassTfIdf
    >>> words = ClassTfIdf()
    >>> for text, label in [("a goal in the game", "sport"), ("the vote, the vote", "politics")]:
    ...     words.learned(text, {label})
    >>> names, values = words.features("vote vote game", ["sport", "politics"])
    >>> names
    ['vote', 'game']
    >>> values.round(2)
    array([[0.  , 0.69],
           [1.39, 0.69]])
    """

    def _values(self, in_x: Doubles, by_label: Counts, totals: Counts, documents_of: Counts) -> Doubles:
        elsewhere = np.maximum(totals - by_label, 1)
        values: Doubles = in_x * _log(self._documents / elsewhere)
        return values

    def _amounts(self, counts: Counter[str]) -> Counts:
        return np.fromiter(counts.values(), np.int64, len(counts))


class EmailFeatures(_Counting):
    """The features for sorting mail into folders of S06 section 6.

    Word j occurs c times in the message; f is the fraction of the earlier messages of folder r with the word. Then
    phi_j(x, r) is 2c if f >= `often` (0.20), -c if f < `rare` (0.02), else 0; for a folder that is empty as yet all
    is 0. With scope='all' f of the second test is the fraction of all earlier messages, whatever their folder. With
    binary=True c is 1 for every word of the message: then a long message does not outweigh the others.

    Texts are read as in `ClassTfIdf`.

    >>> from hinge import EmailFeatures
    >>> words = EmailFeatures()
    >>> words.learned(["lunch", "monday"], {"personal"})
    >>> words.learned(["invoice"], {"bills"})
    >>> words.features(["invoice", "monday", "monday"], ["personal", "bills", "travel"])
    (['invoice', 'monday'], array([[-1.,  4.],
           [ 2., -2.],
           [ 0.,  0.]]))
    """

    def __init__(
        self,
        *,
        often: float = 0.20,
        rare: float = 0.02,
        scope: str = "folder",
        binary: bool = False,
        **text: Any,
    ) -> None:
        super().__init__(**text)
        for name, value in (("often", often), ("rare", rare)):
            if not isinstance(value, (int, float)) or not math.isfinite(value) or not 0 <= value <= 1:
                raise ValueError(f"{name} must be a fraction from 0 to 1, not {value!r}")
        if rare > often:
            raise ValueError(f"rare must not be more than often, not {rare!r} and {often!r}")
        if scope not in ("folder", "all"):
            raise ValueError(f"scope must be 'folder' or 'all', not {scope!r}")
        if not isinstance(binary, bool):
            raise ValueError(f"binary must be True or False, not {binary!r}")
        self.often, self.rare, self.scope, self.binary = float(often), float(rare), scope, binary

    def options(self) -> dict[str, Any]:
        own = {"often": self.often, "rare": self.rare, "scope": self.scope, "binary": self.binary}
        return {**own, **super().options()}

    def _values(self, in_x: Doubles, by_label: Counts, totals: Counts, documents_of: Counts) -> Doubles:
        fractions = by_label / np.maximum(documents_of, 1)[:, np.newaxis]
        low = fractions if self.scope == "folder" else totals / self._documents
        signs = np.where(fractions >= self.often, 2.0, np.where(low < self.rare, -1.0, 0.0))
        signs[documents_of == 0] = 0.0
        return signs if self.binary else signs * in_x

    def _amounts(self, counts: Counter[str]) -> Counts:
        return np.ones(len(counts), dtype=np.int64)
