"""The feature maps that hinge provides: `ClassTfIdf` and `EmailFeatures`. Both count words by label."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.events import as_list
from ...data.shown import shown
from .counts import Counts, WordCounts
from .feature_map import FeatureMap

if TYPE_CHECKING:
    from ...data.types import Doubles


class _CountsWords(FeatureMap):
    """Reads words from texts, and counts them by label."""

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
        self._analyze: Callable[[str], list[str]] | None = None  # scikit-learn's, loaded for the first string
        self._last: tuple[str | None, Counter[str]] = (None, Counter())
        self._counts = WordCounts()

    def options(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        names = ("tokenizer", "token_pattern", "lowercase", "ngram_range", "max_features")
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        defaults = type(self)().options()
        given = [f"{name}={value!r}" for name, value in self.options().items() if value != defaults[name]]
        return f"{type(self).__name__}({', '.join(given)})"

    # ---- words ------------------------------------------------------------------------------------------------

    def _read(self, x: Any) -> Counter[str]:
        """How often each word occurs in x, in the order of their first occurrences."""
        if type(x) is not str:
            return _counted(self._tokens(x))
        if x is not self._last[0]:  # a round reads its text twice, and strings never change
            self._last = (x, _counted(self._tokens(x)))
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

    # ---- features, and what is counted ------------------------------------------------------------------------

    @abstractmethod
    def _values(self, in_x: Doubles, by_label: Counts, totals: Counts, documents_of: Counts) -> Doubles:
        """phi, labels x words, from the counts of the words in x, by label, in all documents, and from the number of
        documents of each label."""

    @abstractmethod
    def _amounts(self, counts: Counter[str]) -> Counts:
        """What a document adds to the count of each of its words."""

    def features(self, x: Any, labels: Sequence[Any]) -> tuple[list[str], Doubles]:
        in_x, counts = self._read(x), self._counts
        names = list(in_x)
        if counts.documents == 0 or not names:
            return names, np.zeros((len(labels), len(names)))
        words, columns = counts.word_places(names), counts.label_places(labels)
        by_label = np.ascontiguousarray(counts.by_label[words].T)[columns]
        numbers = np.fromiter(in_x.values(), np.float64, len(names))
        return names, self._values(numbers, by_label, counts.totals[words], counts.documents_of[columns])

    def learned(self, x: Any, relevant: Collection[Any]) -> None:
        in_x, known = self._read(x), self._counts.words
        room = self.max_features - len(known)
        new = [word for word in in_x if word not in known]
        if len(new) > room:
            raise ValueError(
                f"the word {new[room]!r} is new, and the feature map already has {len(known)} words, its limit "
                "(max_features)"
            )
        self._counts.add(in_x, self._amounts(in_x), relevant)

    def begin(self) -> Any:
        return self._counts.begin()

    def commit(self, before: Any) -> None:
        self._counts.commit()

    def rollback(self, before: Any) -> None:
        self._counts.rollback(before)

    def state(self) -> dict[str, Any]:
        return self._counts.state()

    def restore(self, state: dict[str, Any]) -> None:
        self._counts = WordCounts.from_state(state)


def _counted(tokens: Iterable[str]) -> Counter[str]:
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise ValueError(f"the tokenizer must return a list of words, not {shown(tokens)}")
    words = as_list(tokens, "a text", "of words", False)
    if set(map(type, words)) - {str}:
        for word in words:
            if not isinstance(word, str):
                raise ValueError(f"a word must be a string, not {shown(word)}")
        words = [str(word) for word in words]
    return Counter(words)


class ClassTfIdf(_CountsWords):
    """The class-dependent tf-idf of J06 section 7: phi_j(x, r) = tf_j(x) log(m / df_j(r)).

    tf is how often word j occurs in x. m is the number of earlier documents. df is how often the word occurs in those
    of them that are not labelled r (at least 1). So phi is large for words that are frequent in x and rare in other
    classes.

    A text is a list of words, or a string, which scikit-learn's CountVectorizer splits into words (`token_pattern`,
    `lowercase`, `ngram_range` are its options). A custom `tokenizer` receives x unchanged and returns its words. Files
    cannot contain it: pass it again with `PARanker.load(path, features=...)`.

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
        values: Doubles = in_x * _log(self._counts.documents / elsewhere)
        return values

    def _amounts(self, counts: Counter[str]) -> Counts:
        return np.fromiter(counts.values(), np.int64, len(counts))


# ln 2 as a sum of two numbers. An exponent times the first one is exact.
_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_ODD = [1 / (2 * k + 1) for k in range(11, 0, -1)]


def _log(x: Doubles) -> Doubles:
    """The natural logarithm, to an ulp or two, with the same bits on every processor (numpy's differ): each operation
    is rounded as IEEE 754 says. x = m 2^e with m near 1, and log m = 2 artanh s = 2 (s + s^3/3 + s^5/5 + ...)."""
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


class EmailFeatures(_CountsWords):
    """The features of S06 section 6, for sorting mail into folders.

    Word j occurs c times in the message. f is the fraction of the earlier messages of folder r that contain the word.
    Then phi_j(x, r) is 2c if f >= `often` (0.20), -c if f < `rare` (0.02), and 0 otherwise. For a folder that is still
    empty all features are 0. With scope='all', the f of the second test is the fraction of all earlier messages,
    whatever their folder. With binary=True, c is 1 for every word of the message, so that a long message does not
    outweigh the others.

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
        own = {name: getattr(self, name) for name in ("often", "rare", "scope", "binary")}
        return {**own, **super().options()}

    def _values(self, in_x: Doubles, by_label: Counts, totals: Counts, documents_of: Counts) -> Doubles:
        fractions = by_label / np.maximum(documents_of, 1)[:, np.newaxis]
        low = fractions if self.scope == "folder" else totals / self._counts.documents
        signs = np.where(fractions >= self.often, 2.0, np.where(low < self.rare, -1.0, 0.0))
        signs[documents_of == 0] = 0.0
        return signs if self.binary else signs * in_x

    def _amounts(self, counts: Counter[str]) -> Counts:
        return np.ones(len(counts), dtype=np.int64)
