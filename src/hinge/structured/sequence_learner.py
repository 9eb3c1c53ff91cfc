"""SequenceLearner: the engine for sequences of tags, with labels, named features, statistics and files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
import numpy.typing as npt

from .._core import Sentences, SequenceEngine
from ..data import sparse, target_arrays
from ..data.errors import InputError, in_row, of_one_example
from ..data.events import as_list, is_sparse
from ..data.labels import Labels, plain
from ..data.rows import as_array, as_numbers, too_large
from ..data.shown import shown
from ..model import encoding, file
from ..model.engine import is_single
from ..model.explain import Contribution
from ..model.guard import Guard
from ..model.statistics import Statistics
from ..options import table, validators
from ..options.classes import CLASSES
from ..options.constructors import signature
from ..tasks import TASKS

if TYPE_CHECKING:
    from ..data.types import Doubles, Indices
    from ..options.types import SequenceLearnerOptions
    from ..theory.certificate import Certificate


@dataclass(frozen=True)
class Lesson:
    """Sentences with their tags, read and packed: what the passes of `fit` go over."""

    sentences: Sentences
    tags: Indices
    weights: Doubles | None

    @property
    def count(self) -> int:
        return len(self.sentences)


class SequenceLearner:
    """First-order sequence labelling, one sentence after the other (J06 section 9). `PASequence` is its estimator.

    A sentence is a list of tokens; a token is a list of strings, or a dict of features, or a row of an array.
    """

    task = "sequence"
    _task = TASKS[task]

    @signature("SequenceLearner")
    def __init__(self, **options: Unpack[SequenceLearnerOptions]) -> None:
        self._set_up(options)

    @classmethod
    def _from_checked(cls, task: str, options: Mapping[str, Any]) -> Self:
        """A learner with options that an estimator has checked."""
        learner = cls.__new__(cls)
        learner._set_up(options, checked=True)
        return learner

    def _set_up(self, values: Mapping[str, Any], checked: bool = False) -> None:
        self.parameters: dict[str, Any] = CLASSES["SequenceLearner"].completed(values)
        if not checked:
            table.check("sequence", self.parameters)
        self.notes: dict[str, Any] = {}  # whatever JSON can hold, kept in the file
        cost = self.parameters["cost"]
        self._labels = self._first_labels()
        # Whether tags are known ahead, and others refused.
        self.closed = self.parameters["classes"] is not None or _is_matrix(cost)
        self.averaged = bool(self.parameters["average"])
        self._guard = Guard()  # held while tags may change; the core has its own
        self._engine = self._new_engine()

    def _first_labels(self) -> Labels:
        classes, cost = self.parameters["classes"], self.parameters["cost"]
        if classes is None and isinstance(cost, Mapping):
            classes = list(dict.fromkeys([*cost, *(tag for row in cost.values() for tag in row)]))
        elif classes is None and cost is not None and not callable(cost):
            raise ValueError(
                "a cost matrix needs the tags in order: give classes=[...], or cost as a dict of dicts"
            )
        labels = Labels(() if classes is None else classes, True)
        self._check_limit(labels)
        return labels

    def _check_limit(self, labels: Labels) -> None:
        limit = self.parameters["max_labels"]
        if len(labels.known) > limit:
            raise ValueError(f"there would be {len(labels.known)} tags, the limit is {limit} (max_labels)")

    def _new_engine(self) -> SequenceEngine:
        p, cost = self.parameters, self.parameters["cost"]
        matrix = None
        if _is_matrix(cost):
            matrix = target_arrays.square_matrix(cost, self._labels.known, "cost", 0.0).ravel()
        return SequenceEngine(
            step=p["step"],
            C=float(p["C"]),
            margin=float(p["margin"]),
            selection=p["selection"],
            cost=matrix,
            labels=list(self._labels.known),
            single=is_single(p["dtype"]),
            average_from=int(p["average"]),
            geometry=p["geometry"],
            regularizer=float(p["covariance_regularizer"]),
            variance=float(p["initial_variance"]),
            drop=p["covariance_update"] == "drop",
            hash_bits=p["hash_bits"] or 0,
            max_features=min(int(p["max_features"]), 2**31 - 1),
            ignore_new=p["at_max_features"] == "ignore",
            max_weights=float(p["max_weights"]),
        )

    @property
    def _lock(self) -> Any:
        """Held while tags may change."""
        return self._guard.lock

    @property
    def labels(self) -> Labels:
        """The tags, in their order. The core has them: what was learned of a tag, and its name, come together."""
        if len(self._labels.known) != self._engine.n_tags:
            self._labels = Labels(self._engine.labels(), True)
        return self._labels

    def know(self, tags: Sequence[Any]) -> None:
        """These tags, before anything was learned."""
        labels = Labels(tags, True)
        self._check_limit(labels)
        self._engine.set_labels(list(labels.known))

    # ---- learning -------------------------------------------------------------------------------------

    @of_one_example
    def learn_one(self, x: Any, y: Sequence[Any], weight: float = 1.0) -> None:
        """One round: the sentence `x`, and the tags of its tokens. A weight of 0 changes nothing; others scale C."""
        self.learn_many([x], [y], [weight])

    def learn_many(
        self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None, *, grow: bool = True
    ) -> None:
        """The rounds of all sentences, or none. `grow`: whether tags may be new."""
        sentences = _sentences(X)
        weights = checked_weights(sentences, sample_weight)
        self._engine.check_free()  # before the lock, for which another thread of the same learner may wait
        with self._lock:
            tags, known, labels = self._encode(sentences, y, weights, grow)
            cost = self._cost(labels)
            self._engine.learn(sentences, tags, known, list(labels.known), weights, cost)

    def read(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Lesson:
        """Sentences for several passes. Their tags must be known already; their features are known from here on."""
        sentences = _sentences(X)
        weights = checked_weights(sentences, sample_weight)
        with self._lock:
            tags, _, _ = self._encode(sentences, y, weights, grow=False)
            return Lesson(self._engine.read(sentences, weights), tags, weights)

    def learn_rows(
        self, lesson: Lesson, y: Any, sample_weight: Any, order: Indices | None = None, repeats: bool = False
    ) -> None:
        """A pass over what was read; `order` names the sentences to visit."""
        with self._lock:
            cost = self._cost(self.labels)
            self._engine.learn_read(lesson.sentences, lesson.tags, lesson.weights, order, cost)

    def _encode(
        self, sentences: list[Any], y: Any, weights: Doubles | None, grow: bool
    ) -> tuple[Indices, Indices, Labels]:
        """The tags as numbers; how many there are once a sentence is met; and all of them."""
        y = as_list(y, "y", "with the tags of each sentence")
        if len(y) != len(sentences):
            raise ValueError(f"y has {len(y)} entries for {len(sentences)} sentences")
        places = {label: place for place, label in enumerate(self.labels.known)}
        codes: list[int] = []
        known: list[int] = []
        for row, (sentence, given) in enumerate(zip(sentences, y, strict=True)):
            tags = _checked_tags(sentence, given, row)
            try:
                codes += [places[tag] for tag in tags]
            except (KeyError, TypeError):
                weighs = weights is None or weights[row] != 0
                codes += [self._place(tag, places, grow, weighs, row) for tag in tags]
            known.append(len(places))
        labels = self.labels
        if len(places) > len(labels.known):
            labels = Labels(list(places), True)
            self._check_limit(labels)
        return np.asarray(codes, dtype=np.int64), np.asarray(known, dtype=np.int64), labels

    def _place(self, tag: Any, places: dict[Any, int], grow: bool, weighs: bool, row: int) -> int:
        try:
            label = plain(tag)
            if label in places or not weighs:
                return places.get(label, 0)
        except (TypeError, ValueError):
            what = type(tag).__name__ if isinstance(tag, int) else shown(tag)
            raise InputError(f"a tag must be a string, a boolean or a number, not {what}", row) from None
        if not grow or self.closed:
            among = (
                f"one of the classes {self.labels.listed()}" if self.labels.known else "known: no tag is, yet"
            )
            raise InputError(f"the tag {label!r} is not {among}", row)
        places[label] = len(places)
        return places[label]

    def _cost(self, labels: Labels) -> Callable[[int, list[int], list[int]], float] | None:
        """The custom cost, of tags by their numbers."""
        given = self.parameters["cost"]
        if not callable(given):
            return None

        def cost(row: int, truth: list[int], predicted: list[int]) -> float:
            tags = [[labels.known[place] for place in path] for path in (truth, predicted)]
            value = given(*tags)
            try:
                number = float(value) if validators.is_real(value) or validators.is_bool(value) else np.nan
            except OverflowError:
                number = np.nan
            if not 0 <= number < np.inf:
                raise InputError(
                    f"the cost must be a number of 0 or more, not {value!r}, of {tags[0]!r} and {tags[1]!r}",
                    row,
                )
            return number

        return cost

    def change(self, **changes: Any) -> None:
        """Goes on with another `step`, `C` or `margin`; what was learned stays."""
        changed = {**self.parameters, **changes}
        table.check("sequence", changed)
        try:
            self._change_rule(changed)
            self.parameters = changed
        except BaseException:  # an interrupt may come between the two
            self._change_rule(self.parameters)
            raise

    def _change_rule(self, options: Mapping[str, Any]) -> None:
        self._engine.change_rule(options["step"], float(options["C"]), float(options["margin"]))

    # ---- predicting -----------------------------------------------------------------------------------

    @of_one_example
    def predict_one(self, x: Any) -> list[Any]:
        """The best tags of a sentence (None before the first one is known). Never learns."""
        return self.predict_many([x])[0]

    def predict_many(self, X: Any) -> list[list[Any]]:
        tagged: list[list[Any]] = self._engine.tag(_sentences(X), self.averaged)
        return tagged

    @of_one_example
    def score_one(self, x: Any, y: Sequence[Any] | None = None) -> float:
        """w.Phi(x, y): the score of the tags `y`, or of the best ones."""
        sentences = _sentences([x])
        if y is None:
            return self._engine.score(sentences, None, self.averaged)
        self._engine.check_free()
        with self._lock:
            tags, _, _ = self._encode(sentences, [y], None, grow=False)
            return self._engine.score(sentences, tags, self.averaged)

    @of_one_example
    def explain_one(self, x: Any, y: Sequence[Any] | None = None) -> list[list[Contribution]]:
        """For each token, what its features and the tag before it contributed to the score of its tag (of `y`, or of
        the best ones), the largest first. All of them add up to `score_one`."""
        sentences = _sentences([x])
        self.score_one(x, y)  # refuses what must be refused
        if not isinstance(sentences[0], (list, tuple)):
            sentences = [[dict(enumerate(row)) for row in _dense(sentences[0])]]
        with self._lock:
            path = self.predict_one(x) if y is None else y
            codes = self._encode(sentences, [path], None, grow=False)[0].tolist() if self.labels.known else []
            steps = {
                (before, after): weight for before, after, weight in self._engine.transitions(self.averaged)
            }
            parts: list[list[Contribution]] = [] if self.labels.known else [[] for _ in sentences[0]]
            for place, tag in enumerate(codes):
                before = self.labels.known[codes[place - 1]] if place else None
                step = steps.get((before, self.labels.known[tag]), 0.0)
                name = f"(after {before})" if place else "(start)"
                its = [Contribution(name, 1.0, step, step)]
                for feature, value, weights in self._engine.look_up(sentences[0][place], self.averaged):
                    weight = float(weights[tag])
                    its.append(Contribution(feature, value, weight, value * weight))
                parts.append(sorted(its, key=lambda part: -abs(part.contribution)))
        return parts

    # ---- what has been learned ------------------------------------------------------------------------

    @property
    def statistics(self) -> Statistics:
        return Statistics(*self._engine.statistics())

    @property
    def n_features(self) -> int:
        return self._engine.n_columns

    @property
    def feature_names(self) -> list[Any]:
        return self._engine.names()

    def suffered(self, X: Any, y: Any, margin: float, additive: bool = False) -> Doubles:
        """What the weights suffer from their worst rivals, a sentence each: the largest of margin sqrt(cost), or
        (`additive`) of margin cost, less the lead of the true tags. Roots are for costs that are whole numbers."""
        sentences = _sentences(X)
        self._engine.check_free()
        with self._lock:
            tags, _, _ = self._encode(sentences, y, None, grow=False)
            losses: Any = self._engine.suffered(sentences, tags, margin, additive, self.averaged)
        return np.asarray(losses, dtype=np.float64)

    def certificate(self, X: Any, y: Any, u: SequenceLearner | None = None) -> Certificate:
        """What was suffered on the sentences X, learned once in their order, and what was guaranteed against another
        learner `u`, or against some that are found."""
        from ..theory.hindsight.sentences import certificate, check_comparator

        check_comparator(self, u)
        X, y = as_list(X, "X", "of sentences"), as_list(y, "y", "with the tags of each sentence")
        return certificate(self, X, y, u)

    def transitions(self) -> dict[tuple[Any, Any], float]:
        """The weights of tags that follow each other, if not 0; the first one after None."""
        return {(before, after): weight for before, after, weight in self._engine.transitions(self.averaged)}

    def emissions(self) -> dict[tuple[Any, Any], float]:
        """The weights of features (hashed: of columns) for tags, if not 0."""
        return {(feature, tag): weight for feature, tag, weight in self._engine.emissions(self.averaged)}

    # ---- files ----------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything to one file, whole or not at all. `hinge.load` reads it."""
        file.save(path, *self.to_parts())

    def to_bytes(self) -> bytes:
        return file.to_bytes(*self.to_parts())

    @staticmethod
    def defaults() -> dict[str, Any]:
        """The defaults of the options, which a file omits."""
        return CLASSES["SequenceLearner"].completed({})

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        self._engine.check_free()  # before the lock, as in learn_many
        with self._lock:
            state = self._engine.state()
        file.check_state(state)
        tensors: file.Tensors = {name: np.asarray(tensor) for name, tensor in state.items()}
        header = {
            "kind": "SequenceLearner",
            "parameters": encoding.without_defaults(
                encoding.encoded(self.parameters, tensors), self.defaults()
            ),
            "closed": self.closed,
            "notes": file.checked_notes(self.notes),
        }
        return header, tensors

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        learner = cls(**encoding.decoded(header["parameters"], tensors, functions))
        first, learner._labels = learner._labels.known, Labels(json.loads(tensors["labels"].tobytes()), True)
        if learner._labels.known[: len(first)] != first:
            raise ValueError(f"its tags {learner._labels.listed()} are not those of its parameters")
        learner._check_limit(learner._labels)
        learner.closed = bool(header["closed"]) or _is_matrix(learner.parameters["cost"])
        learner.notes = file.notes_of(header)
        learner._engine = learner._new_engine()
        learner._engine.restore(tensors)
        return learner

    @classmethod
    def from_bytes(cls, data: bytes, cost: Callable[..., float] | None = None) -> Self:
        header, tensors = file.from_bytes(data)
        try:
            return cls.from_parts(header, tensors, {} if cost is None else {"cost": cost})
        except file.ABSURD as error:
            raise file.ModelFileError(f"the data does not describe a learner: {error}") from error

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        cost = self.parameters["cost"]
        return (type(self).from_bytes, (self.to_bytes(), cost if callable(cost) else None))

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._engine.__sizeof__() + sys.getsizeof(self.labels)


def _is_matrix(cost: Any) -> bool:
    return cost is not None and not callable(cost)


def _sentences(X: Any) -> list[Any]:
    """A list of sentences as the core reads them: lists of tokens, or float arrays."""
    sentences = as_list(X, "X", "of sentences")
    for row, sentence in enumerate(sentences):
        if not isinstance(sentence, (list, tuple)):
            try:
                sentences[row] = _array(sentence)
            except (TypeError, ValueError) as error:
                raise in_row(error, row) from None
    return sentences


def _array(sentence: Any) -> Any:
    if is_sparse(sentence):
        if sentence.ndim != 2:
            raise ValueError(f"an array of tokens must have two dimensions, not {sentence.ndim}")
        if sentence.dtype.kind not in "biuf":
            raise ValueError(f"an array of tokens must hold numbers, not {sentence.dtype}")
        is_csr = sentence.format == "csr"  # the core checks its rows, and names the token
        matrix = sentence if is_csr else sparse.to_csr(sentence, "the array")
        if any(part.dtype not in (np.int32, np.int64) for part in (matrix.indices, matrix.indptr)):
            raise ValueError("the indices and indptr of a CSR matrix must be int32 or int64")
        if any(
            part.ndim != 1 or not part.flags.c_contiguous
            for part in (matrix.data, matrix.indices, matrix.indptr)
        ):
            raise ValueError("the arrays of a CSR matrix must be one-dimensional and contiguous")
        if len(matrix.indptr) != matrix.shape[0] + 1:
            raise ValueError(f"indptr has {len(matrix.indptr)} entries for {matrix.shape[0]} rows")
        return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)
    if not hasattr(sentence, "__array__"):
        raise ValueError(
            f"a sentence must be a list of tokens, or an array with a row for each, not {type(sentence).__name__}"
        )
    array = as_array(sentence, "a sentence")
    if array.ndim != 2:
        raise ValueError(f"an array of tokens must have two dimensions, not {array.ndim}")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"an array of tokens must hold numbers, not {array.dtype}")
    in_place = array.dtype in (np.float32, np.float64) and array.flags.aligned and array.dtype.isnative
    if in_place and not any(stride % array.itemsize for stride in array.strides):
        return array
    try:
        return array.astype(np.float32 if array.dtype == np.float32 else np.float64)
    except MemoryError:
        raise too_large("a sentence", array.shape) from None


def _dense(sentence: Any) -> list[list[float]]:
    rows: list[list[float]] = (
        sparse.to_csr(sentence, "the array").toarray() if is_sparse(sentence) else sentence
    ).tolist()
    return rows


def _checked_tags(sentence: Any, given: Any, row: int) -> list[Any]:
    """The tags of a sentence, one for each token."""
    try:
        tags = as_list(given, "y", "of tags")
    except TypeError:
        raise InputError(
            f"there must be a list of tags, one for each token, not {shown(given)}", row
        ) from None
    length = len(sentence) if isinstance(sentence, (list, tuple)) else sentence.shape[0]
    if length != len(tags):
        raise InputError(f"there are {length} tokens and {len(tags)} tags", row)
    if length == 0:
        raise InputError("the sentence is empty", row)
    return tags


def checked_weights(X: Any, sample_weight: npt.ArrayLike | None) -> Doubles | None:
    if sample_weight is None:
        return None
    weights = as_numbers(sample_weight, "sample_weight")
    if len(weights) != len(X):
        raise ValueError(f"sample_weight has {len(weights)} entries for {len(X)} sentences")
    for row, weight in enumerate(weights.tolist()):
        if not 0 <= weight < np.inf:
            raise InputError(f"the sample weight is {weight}; it must be 0 or more, and finite", row)
    return weights
