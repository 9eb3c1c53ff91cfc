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
from ..data import target_arrays
from ..data.errors import InputError, of_one_example
from ..data.events import as_list
from ..data.labels import Labels, plain
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
from .inputs import checked_weights, one_for_each
from .sentences import dense_rows, sentence_list, tag_list

if TYPE_CHECKING:
    from ..data.types import Doubles, Indices
    from ..options.types import SequenceLearnerOptions
    from ..theory.certificate import Certificate


@dataclass(frozen=True)
class Lesson:
    """Sentences with their tags as the core stores them, for the passes of `fit`."""

    sentences: Sentences
    tags: Indices
    weights: Doubles | None

    @property
    def count(self) -> int:
        return len(self.sentences)


class SequenceLearner:
    """First-order sequence labelling (J06 section 9). `PASequence` is its estimator.

    A sentence is a list of tokens. A token is a list of strings, a dict of features, or a row of an array.
    """

    task = "sequence"
    _task = TASKS[task]

    @signature("SequenceLearner")
    def __init__(self, **options: Unpack[SequenceLearnerOptions]) -> None:
        self._set_up(options)

    @classmethod
    def _from_checked(cls, task: str, options: Mapping[str, Any]) -> Self:
        """A learner with options that an estimator has already checked."""
        learner = cls.__new__(cls)
        learner._set_up(options, checked=True)
        return learner

    def _set_up(self, values: Mapping[str, Any], checked: bool = False) -> None:
        self.parameters: dict[str, Any] = CLASSES["SequenceLearner"].completed(values)
        if not checked:
            table.check("sequence", self.parameters)
        self.notes: dict[str, Any] = {}  # any JSON values, saved in the file
        cost = self.parameters["cost"]
        self._labels = self._first_labels()
        # Whether all tags are known in advance, so that others are rejected.
        self.closed = self.parameters["classes"] is not None or _is_matrix(cost)
        self.averaged = bool(self.parameters["average"])
        self._guard = Guard()  # the core has a lock of its own
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
        """The tags, in order. The core keeps them, so that the name and the weights of a new tag appear together."""
        if len(self._labels.known) != self._engine.n_tags:
            self._labels = Labels(self._engine.labels(), True)
        return self._labels

    def know(self, tags: Sequence[Any]) -> None:
        """Sets the tags before anything is learned."""
        labels = Labels(tags, True)
        self._check_limit(labels)
        self._engine.set_labels(list(labels.known))

    # ---- learning -------------------------------------------------------------------------------------

    @of_one_example
    def learn_one(self, x: Any, y: Sequence[Any], weight: float = 1.0) -> None:
        """One round: the sentence `x` and the tags of its tokens. The weight scales C; 0 changes nothing."""
        self.learn_many([x], [y], [weight])

    def learn_many(
        self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None, *, grow: bool = True
    ) -> None:
        """Learns all sentences, or none. `grow`: whether tags may be new."""
        sentences = sentence_list(X)
        weights = checked_weights(sample_weight, len(sentences), "sentences")
        self._engine.check_free()  # before waiting for the lock
        with self._lock:
            tags, known, labels = self._encode(sentences, y, weights, grow)
            cost = self._cost(labels)
            self._engine.learn(sentences, tags, known, list(labels.known), weights, cost)

    def read(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Lesson:
        """Reads sentences for several passes. Their tags must be known; their features become features of the model."""
        sentences = sentence_list(X)
        weights = checked_weights(sample_weight, len(sentences), "sentences")
        with self._lock:
            tags, _, _ = self._encode(sentences, y, weights, grow=False)
            return Lesson(self._engine.read(sentences, weights), tags, weights)

    def learn_rows(
        self, lesson: Lesson, y: Any, sample_weight: Any, order: Indices | None = None, repeats: bool = False
    ) -> None:
        """One pass over sentences that were read. `order` lists the sentences to visit."""
        with self._lock:
            cost = self._cost(self.labels)
            self._engine.learn_read(lesson.sentences, lesson.tags, lesson.weights, order, cost)

    def _encode(
        self, sentences: list[Any], y: Any, weights: Doubles | None, grow: bool
    ) -> tuple[Indices, Indices, Labels]:
        """The tags as numbers, how many tags are known after each sentence, and all tags."""
        y = one_for_each(as_list(y, "y", "with the tags of each sentence"), len(sentences), "sentences")
        places = {label: place for place, label in enumerate(self.labels.known)}
        codes: list[int] = []
        known: list[int] = []
        for row, (sentence, given) in enumerate(zip(sentences, y, strict=True)):
            tags = tag_list(sentence, given, row)
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
        """The custom cost as a function of tag numbers."""
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
        """Changes `step`, `C` or `margin`. The weights stay."""
        changed = {**self.parameters, **changes}
        table.check("sequence", changed)
        try:
            self._change_rule(changed)
            self.parameters = changed
        except BaseException:  # an interrupt may arrive between the two lines
            self._change_rule(self.parameters)
            raise

    def _change_rule(self, options: Mapping[str, Any]) -> None:
        self._engine.change_rule(options["step"], float(options["C"]), float(options["margin"]))

    # ---- predicting -----------------------------------------------------------------------------------

    @of_one_example
    def predict_one(self, x: Any) -> list[Any]:
        """The best tags of a sentence (None before any tag is known). Never learns."""
        return self.predict_many([x])[0]

    def predict_many(self, X: Any) -> list[list[Any]]:
        tagged: list[list[Any]] = self._engine.tag(sentence_list(X), self.averaged)
        return tagged

    @of_one_example
    def score_one(self, x: Any, y: Sequence[Any] | None = None) -> float:
        """w.Phi(x, y): the score of the tags `y`, or of the best ones."""
        sentences = sentence_list([x])
        if y is None:
            return self._engine.score(sentences, None, self.averaged)
        self._engine.check_free()
        with self._lock:
            tags, _, _ = self._encode(sentences, [y], None, grow=False)
            return self._engine.score(sentences, tags, self.averaged)

    @of_one_example
    def explain_one(self, x: Any, y: Sequence[Any] | None = None) -> list[list[Contribution]]:
        """For each token, what its features and the previous tag contributed to the score of its tag (in `y`, default:
        the best tags), the largest first. All contributions add up to `score_one`."""
        sentences = sentence_list([x])
        self.score_one(x, y)  # rejects invalid input
        if not isinstance(sentences[0], (list, tuple)):
            sentences = [[dict(enumerate(row)) for row in dense_rows(sentences[0])]]
        with self._lock:
            path = self.predict_one(x) if y is None else y
            codes = self._encode(sentences, [path], None, grow=False)[0].tolist() if self.labels.known else []
            steps = self.transitions()
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
        """The loss of the weights on each sentence: the largest margin * sqrt(cost), or with `additive` margin * cost,
        minus the lead of the true tags over these rivals. The square root needs costs that are whole numbers."""
        sentences = sentence_list(X)
        self._engine.check_free()
        with self._lock:
            tags, _, _ = self._encode(sentences, y, None, grow=False)
            losses: Any = self._engine.suffered(sentences, tags, margin, additive, self.averaged)
        return np.asarray(losses, dtype=np.float64)

    def certificate(self, X: Any, y: Any, u: SequenceLearner | None = None) -> Certificate:
        """The loss on the sentences X, learned once in their order, and the bound that the theorems guarantee against
        the learner `u`. None: comparators are fitted."""
        from ..theory.hindsight.sentences import certificate, check_comparator

        check_comparator(self, u)
        X, y = as_list(X, "X", "of sentences"), as_list(y, "y", "with the tags of each sentence")
        return certificate(self, X, y, u)

    def transitions(self) -> dict[tuple[Any, Any], float]:
        """{(tag, next tag): weight}, without zeros. None precedes the first tag of a sentence."""
        return {(before, after): weight for before, after, weight in self._engine.transitions(self.averaged)}

    def emissions(self) -> dict[tuple[Any, Any], float]:
        """{(feature, tag): weight}, without zeros. Hashed features have their columns as names."""
        return {(feature, tag): weight for feature, tag, weight in self._engine.emissions(self.averaged)}

    # ---- files ----------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file, atomically. `hinge.load` reads it."""
        file.save(path, *self.to_parts())

    def to_bytes(self) -> bytes:
        return file.to_bytes(*self.to_parts())

    @staticmethod
    def defaults() -> dict[str, Any]:
        """The defaults of the options, which a file omits."""
        return CLASSES["SequenceLearner"].completed({})

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        self._engine.check_free()  # before waiting for the lock
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
