"""TextClassifier: strings in, labels out."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt

from .._core import Texts
from ..data.errors import of_one_example
from ..data.events import as_list, check_length, is_frame
from ..data.rows import Rows
from ..features.words import LENGTH, check_range
from ..learner import Learner
from ..model import encoding, file
from ..model.explain import Contribution
from ..options import table
from ..options.constructors import constructor
from .base import _FIRST
from .classifier import PAClassifier

if TYPE_CHECKING:
    from ..options.types import TextClassifierOptions

COUNTS = "document_frequencies"  # in a file


@constructor("TextClassifier")
class TextClassifier(PAClassifier):
    """Classification of texts, online: each text is a bag of words, or of sequences of words or characters.

    Give it strings: a list, an array, a Series, or a DataFrame with one column. No fit is needed in advance: the
    vocabulary grows with the stream, or terms are hashed (`hash_bits`), and the weight of a term depends on how many
    texts have had it so far (`weighting`). A text is a vector of length 10 (so that the intercept, a constant feature
    of 1, takes a hundredth of a step, not half of it). So C limits steps if it is less than about 0.02.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import TextClassifier
    >>> texts = ["free money", "call me on monday", "win free money now", "see you on monday"]
    >>> model = TextClassifier().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> model.predict(["money for free", "monday"]).tolist()
    ['spam', 'ham']
    >>> model.explain_one("Lunch for free")[0].feature
    'free'

    A stream, one text after the other, with labels as they come:

    >>> model = TextClassifier()
    >>> for text, label in [("free money", "spam"), ("see you", "ham"), ("the invoice", "bills")]:
    ...     guess = model.predict_one(text)
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("money")
    'spam'
    """

    # Options of PAClassifier that texts do not have.
    batch_tolerance = None
    max_updates = table.default("max_updates")
    classes = None
    cost = None
    w1 = None

    _texts: Texts

    def __init__(self, C: float = table.default("C"), **options: Unpack[TextClassifierOptions]) -> None: ...

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.sparse = False
        return tags

    # ---- from texts to rows -----------------------------------------------------------------------------------

    def _new_texts(self) -> Texts:
        least, most = check_range("ngram_range", self.ngram_range)
        return Texts(
            analyzer=self.analyzer,
            least=least,
            most=most,
            lowercase=bool(self.lowercase),
            weighting=str(self.weighting),
            hash_bits=self.hash_bits or 0,
            max_features=self.max_features,
        )

    def _takes_names(self, X: Any) -> bool:
        return False

    def _first_rows(self, X: Any, sample_weight: Any, together: bool = False) -> Rows:
        """With a new vocabulary. `together`: all texts are counted before the first is weighed."""
        texts = texts_of(X)
        self._texts = self._new_texts()
        weights = _weights_of(sample_weight, len(texts))
        return _read(self._texts, texts, grow=True, together=together, sample_weight=weights)[0]

    def _rows(self, X: Any, *, reset: bool = False) -> Rows:
        """The rows of texts, without changing the vocabulary or the counts."""
        return _read(self._texts, texts_of(X), grow=False)[0]

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        self._fitted()
        return self._scores_of(texts_of(X))

    def _scores_of(self, texts: list[Any]) -> npt.NDArray[np.float64]:
        mine = self.__dict__  # which `fit` replaces as a whole
        learner = mine["_learner"]
        with learner._lock:  # consistent counts, columns and weights
            return learner.scores_of(_read(mine["_texts"], texts, grow=False)[0])

    def _name_features(self, learner: Learner) -> None:
        if self.hash_bits is None:
            learner.name_columns(self._texts.names())

    def _learn_more(self, learner: Learner, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> Self:
        self._learn_texts(learner, texts_of(X), y, sample_weight, grow=False)
        return self

    def _learn_texts(
        self, learner: Learner, texts: list[Any], y: Any, sample_weight: Any, grow: bool
    ) -> None:
        """All of them, or none; `grow`: whether labels may be new, too."""
        weights = _weights_of(sample_weight, len(texts))
        with learner._lock:
            its = self._texts
            known, rounds = its.n_columns, learner._engine.statistics()[0]
            its.begin()
            try:
                rows, names = _read(its, texts, grow=True, sample_weight=weights)
                learner.name_columns(names)
                learner.learn_rows(rows, y, sample_weight, grow=grow)
            except BaseException:
                if learner._engine.statistics()[0] == rounds:  # else an interrupt came right after it
                    its.undo()
                    if self.hash_bits is None:
                        learner._engine.forget(known)
                raise

    # ---- one text ---------------------------------------------------------------------------------------------

    @of_one_example
    def learn_one(self, x: str, y: Any, weight: float = 1.0) -> Self:  # type: ignore[override]
        """One round: a text, and its label."""
        return self._learn_stream([x], [y], [weight])

    def learn_many(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """The rounds of many texts: all of them, or none. Labels may be new."""
        return self._learn_stream(texts_of(X), y, sample_weight)

    def _learn_stream(self, texts: list[Any], y: Any, sample_weight: Any) -> Self:
        if self._current() is None:
            with _FIRST:  # one of several threads creates the learner
                if self._current() is None:
                    new = self._aside()  # what is rejected leaves no trace
                    new._texts, learner = new._new_texts(), new._new_learner()
                    new._learn_texts(learner, texts, y, sample_weight, grow=True)
                    return self._become(new._keep(learner))
        self._learn_texts(self._current(), texts, y, sample_weight, grow=True)
        return self

    @of_one_example
    def predict_one(self, x: str) -> Any:  # type: ignore[override]
        """The label of a text (None before the first label). Never learns."""
        learner = self.__dict__.get("_learner")
        if learner is None or not learner.labels.known:
            return None
        if len(learner.labels.known) == 1:
            return learner.labels.known[0]
        scores = self._scores_of([x])
        place = int(scores.argmax()) if scores.ndim == 2 else int(scores[0] > 0)
        return learner.labels.known[place]

    @of_one_example
    def predict_proba_one(self, x: str) -> dict[Any, float]:  # type: ignore[override]
        """The probability of each label for a text."""
        learner = self._fitted()
        found = learner._task.probabilities(learner, self._scores_of([x]))[0]
        return dict(zip(learner.labels.known, found.tolist(), strict=True))

    @of_one_example
    def score_one(self, x: str) -> Any:  # type: ignore[override]
        """The score of a text; more than two classes: a dict of scores."""
        learner = self._fitted()
        scores = self._scores_of([x])
        if scores.ndim == 1:
            return float(scores[0])
        return dict(zip(learner.labels.known, scores[0].tolist(), strict=True))

    @of_one_example
    def explain_one(self, x: str, label: Any = None) -> list[Contribution]:  # type: ignore[override]
        """What each term of a text contributed to its score (of many classes to that of `label`), the largest first."""
        learner = self._fitted()
        with learner._lock:
            weighed = self._texts.weighed(x)
            return learner.explain_one({term: LENGTH * value for term, value in weighed.items()}, label)

    @property
    def n_ignored_(self) -> int:
        """How often a term was left out because it was new, and the vocabulary was full."""
        self._fitted()
        return self._texts.n_ignored

    # ---- files ------------------------------------------------------------------------------------------------

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        with self._fitted()._lock:
            header, tensors = super().to_parts()
            counts, texts, ignored = self._texts.counts()
        tensors[COUNTS] = counts
        header["texts"] = {"counted": texts, "ignored": ignored}
        return header, tensors

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        model = super().from_parts(header, tensors, functions)
        names = model._learner.feature_names if model.hash_bits is None else []
        its = header["texts"]
        model._texts = model._restored_texts(names, tensors[COUNTS], its["counted"], its["ignored"])
        return model

    def _restored_texts(self, names: list[str], counts: Any, counted: int, ignored: int) -> Texts:
        texts = self._new_texts()
        texts.add_names(names)
        if counts.dtype != np.int64:
            raise ValueError(f"its document frequencies are {counts.dtype}, not int64")
        texts.restore_counts(np.ascontiguousarray(counts), counted, ignored)
        return texts

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        learner, texts = state.get("_learner"), state.pop("_texts", None)
        if learner is not None:
            with learner._lock:  # a consistent pair
                state["_learner"] = copy.copy(learner)
                state["_texts_state"] = (texts.names(), *texts.counts())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = state.pop("_texts_state", None)
        super().__setstate__(state)
        if kept is not None:
            self._texts = self._restored_texts(*kept)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        from ..model.loading import load

        model = load(path)
        if not isinstance(model, cls):
            raise ValueError(f"{path} is a {type(model).__name__}, not a {cls.__name__}")
        return model


def _read(its: Texts, texts: list[Any], **options: Any) -> tuple[Rows, list[str]]:
    """Rows, and the names of new columns."""
    values, columns, starts, names = its.rows(texts, **options)
    values *= LENGTH
    return Rows(values, columns, starts, its.n_columns), names


def _weights_of(sample_weight: Any, count: int) -> npt.NDArray[np.float64] | None:
    """Weights that decide which texts are counted; None: all are. Invalid ones are rejected when texts are learned."""
    if sample_weight is None:
        return None
    try:
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, MemoryError):
        return None
    return weights if weights.shape == (count,) else None


def texts_of(X: Any) -> list[Any]:
    """The texts of a list, an array, a Series, or of a DataFrame's only column."""
    if isinstance(X, (str, bytes)):
        raise ValueError("a list of texts was expected, not one text: [text], or predict_one and learn_one")
    if is_frame(X):
        if X.shape[1] != 1:
            raise ValueError(f"a DataFrame must have one column of texts, not {X.shape[1]}: give that column")
        X = X.iloc[:, 0] if hasattr(X, "iloc") else X[X.columns[0]]
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1:
        X = X[:, 0]
    if getattr(X, "ndim", 1) != 1 or not isinstance(X, Iterable):
        raise ValueError("texts were expected: a list of strings, an array or a Series")
    check_length(X, "X")
    return as_list(X.tolist() if isinstance(X, np.ndarray) else X, "X", "of texts", False)
