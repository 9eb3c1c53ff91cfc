"""PASequence: sequence labelling that learns online, with the calling conventions of sklearn-crfsuite."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt

from ..data.errors import InputError, for_each, in_row, of_one_example
from ..data.events import as_list, check_length
from ..data.labels import in_order, plain
from ..data.weights import warn_if_ineffective
from ..model import explain
from ..model.explain import Contribution
from ..options import table
from ..options.constructors import constructor
from .base import StructuredEstimator
from .inputs import checked_weights, one_for_each
from .sequence_learner import SequenceLearner

if TYPE_CHECKING:
    from ..options.types import PASequenceOptions
    from ..theory.certificate import Certificate


@constructor("PASequence")
class PASequence(StructuredEstimator):
    """First-order sequence labelling (J06 section 9): tags for the tokens of a sentence.

    X is a list of sentences. A sentence is a list of tokens. A token is a list of strings (its features) or a dict of
    features; or the sentence is an array with one row per token. y has a list of tags for each sentence. The score of a
    sequence of tags is the sum of the weights of each token's features for its tag, of each pair of successive tags,
    and of the first tag. Viterbi's algorithm finds the best sequence.

    It learns online: `learn_one(sentence, tags)` is one round. New tags and features may appear at any time.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import PASequence
    >>> X = [[["w=the"], ["w=old"], ["w=man"]], [["w=the"], ["w=man"], ["w=sleeps"]]]
    >>> y = [["DET", "ADJ", "NOUN"], ["DET", "NOUN", "VERB"]]
    >>> model = PASequence(random_state=0).fit(X, y)
    >>> model.predict([[["w=the"], ["w=old"], ["w=man"], ["w=sleeps"]]])
    [['DET', 'ADJ', 'NOUN', 'VERB']]

    Online, without averaging, so that predictions use the latest weights:

    >>> model = PASequence(average=False).learn_one([["w=she"], ["w=sleeps"]], ["PRON", "VERB"])
    >>> model.predict_one([["w=she"]])
    ['PRON']
    """

    _task: ClassVar[str] = "sequence"
    _of_learner: ClassVar[tuple[str, ...]] = table.OF_SEQUENCE
    _learner: Any
    _learner_class: ClassVar[Any] = SequenceLearner

    def __init__(self, C: float = table.default("C"), **options: Unpack[PASequenceOptions]) -> None: ...

    def _new_learner(self, **replaced: Any) -> Any:
        learner = super()._new_learner(**replaced)
        learner.closed = self.classes is not None or (self.cost is not None and not callable(self.cost))
        return learner

    def _fitted(self) -> Any:
        return super()._fitted()

    def _asked(self) -> Any:
        return super()._asked()

    # ---- learning -------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns from scratch, in up to `max_iter` passes over the sentences. Stops after a pass without updates."""
        self._check_options()
        X, y = as_list(X, "X", "of sentences"), as_list(y, "y", "with the tags of each sentence")
        tags = self._tags_of(X, y, sample_weight)
        learner = self._new_learner(
            **({"classes": in_order(tags)} if isinstance(self.cost, Mapping) and tags else {})
        )
        if not learner.closed:
            learner.know(in_order(tags))
        lesson: Any = learner.read(X, y, sample_weight)
        if lesson.count == 0:
            raise ValueError("there are no sentences to learn from")
        held = self._hold_back(X, y, sample_weight, lesson.count)
        learner, history = self._pass_over(learner, lesson, None, None, held)
        warn_if_ineffective(learner, sample_weight, stacklevel=3)
        return self._keep(learner, n_iter_=len(history), history_=history)

    def _tags_of(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> set[Any]:
        """The tags of the data and of the cost. Invalid tags are rejected later, with their row."""
        if self.classes is not None:
            return set()
        weights = checked_weights(sample_weight, len(X), "sentences")
        tags: set[Any] = set()
        for row, its in enumerate(y):
            if (weights is None or (row < len(weights) and weights[row])) and hasattr(its, "__len__"):
                with contextlib.suppress(TypeError, ValueError):
                    check_length(its, "y")
                    tags.update([plain(tag) for tag in its])
        if isinstance(self.cost, Mapping):
            tags.update(self.cost, *self.cost.values())
        return tags

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: Sequence[Any] | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """One pass over the sentences in their order: learns all or none. The first call needs `classes`; other tags
        are rejected (`learn_one` and `learn_many` accept new tags)."""
        learner = self._current()
        if learner is None:
            self._check_options()
            learner = self._new_learner(classes=self._first_classes(classes))
            learner.learn_many(X, y, sample_weight, grow=False)
            return self._keep(learner)
        self._check_same_classes(classes)
        learner.learn_many(X, y, sample_weight, grow=False)
        return self

    def learn_one(self, x: Any, y: Sequence[Any], weight: float = 1.0) -> Self:
        """One round: the sentence `x` and the tags of its tokens."""
        return self._learn(lambda learner: learner.learn_one(x, y, weight))

    def learn_many(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns all sentences, or none. The result is that of one `learn_one` after the other."""
        return self._learn(lambda learner: learner.learn_many(X, y, sample_weight))

    # ---- predicting -----------------------------------------------------------------------------------------

    def predict(self, X: Any) -> list[list[Any]]:
        """The best tags of each sentence."""
        tagged: list[list[Any]] = self._fitted().predict_many(X)
        return tagged

    @of_one_example
    def predict_single(self, x: Any) -> list[Any]:
        """The best tags of one sentence (sklearn-crfsuite's name for `predict_one`)."""
        return self.predict([x])[0]

    def score_one(self, x: Any, y: Sequence[Any] | None = None) -> float:
        """The score of the tags `y`, or of the best ones."""
        return float(self._asked().score_one(x, y))

    def explain_one(self, x: Any, y: Sequence[Any] | None = None) -> list[list[Contribution]]:  # type: ignore[override]
        """For each token, what its features and the previous tag contributed to the score of its tag (in `y`, default:
        the best tags), the largest first. All contributions add up to `score_one`."""
        parts: list[list[Contribution]] = self._asked().explain_one(x, y)
        return parts

    def explain(self, X: Any, y: Any = None) -> Any:
        """`explain_one` of each sentence, as a pandas DataFrame with one line per token and feature. A `row` is a pair
        (sentence, token). `y` has the tags whose scores are explained (default: the best ones)."""
        sentences = as_list(X, "X", "of sentences")
        tags = [None] * len(sentences)
        if y is not None:
            y = as_list(y, "y", "with the tags of each sentence")
            tags = one_for_each(y, len(sentences), "sentences")
        explained = for_each(lambda pair: self.explain_one(*pair), zip(sentences, tags, strict=True))
        rows = [(row, token) for row, tokens in enumerate(explained) for token in range(len(tokens))]
        return explain.as_frame([parts for tokens in explained for parts in tokens], rows)

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """The fraction of the tags that are right (as in sklearn-crfsuite)."""
        X = as_list(X, "X", "of sentences")
        tagged = self.predict(X)
        truths = one_for_each(as_list(y, "y", "with the tags of each sentence"), len(tagged), "sentences")
        weights = checked_weights(sample_weight, len(tagged), "sentences")
        if weights is None:
            weights = np.ones(len(tagged))
        right = total = 0.0
        for row, (tags, its, weight) in enumerate(zip(tagged, truths, weights.tolist(), strict=True)):
            try:
                truth = as_list(its, "y", "of tags")
            except ValueError as error:
                raise in_row(error, row) from None
            if len(tags) != len(truth):
                raise InputError(f"there are {len(tags)} tokens and {len(truth)} tags", row)
            right += weight * sum(a == b for a, b in zip(tags, truth, strict=True))
            total += weight * len(tags)
        return right / total if total else 0.0

    def certificate(self, X: Any, y: Any, u: PASequence | None = None) -> Certificate:  # type: ignore[override]
        """The loss on the sentences X, learned once in their order (`learn_many`, or `fit` with max_iter=1 and
        shuffle=False), and the bound that the theorems guarantee against the model `u`. None: comparators are
        fitted."""
        from ..theory.hindsight.sentences import check_comparator

        check_comparator(self, u)
        found: Certificate = self._fitted().certificate(X, y, None if u is None else u._fitted())
        return found

    # ---- what has been learned ------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[Any]:
        """The tags, in order."""
        return list(self._fitted().labels.known)

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """{(tag, next tag): weight}, without zeros."""
        every = self._fitted().transitions()
        return {pair: weight for pair, weight in every.items() if pair[0] is not None}

    @property
    def start_features_(self) -> dict[Any, float]:
        """{tag: weight} of the first tag of a sentence, without zeros."""
        every = self._fitted().transitions()
        return {after: weight for (before, after), weight in every.items() if before is None}

    @property
    def state_features_(self) -> dict[tuple[Any, Any], float]:
        """{(feature, tag): weight}, without zeros. (Hashed features have their columns as names.)"""
        weights: dict[tuple[Any, Any], float] = self._fitted().emissions()
        return weights

    def named_weights(self) -> dict[Any, dict[Any, float]]:
        """For each tag the weights of its features, without zeros."""
        weights: dict[Any, dict[Any, float]] = {tag: {} for tag in self.classes_}
        for (feature, tag), weight in self.state_features_.items():
            weights[tag][feature] = weight
        return weights

    # Properties of the base class: here each pair of feature and tag has its own variance.
    @property
    def covariance_(self) -> Any:
        raise AttributeError("PASequence has no covariance_")

    @property
    def uncertainty(self) -> Any:
        raise AttributeError("PASequence has no uncertainty")

    @property
    def uncertainty_one(self) -> Any:
        raise AttributeError("PASequence has no uncertainty_one")

    @property
    def attributes_(self) -> list[Any]:
        """The names of the features (sklearn-crfsuite's name for them)."""
        names: list[Any] = self._fitted().feature_names
        return names

    # ---- files ----------------------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | os.PathLike[str], cost: Callable[..., float] | None = None) -> Self:
        """Like `hinge.load`, for a model with a custom cost function."""
        return cls._load_file(path, {} if cost is None else {"cost": cost})
