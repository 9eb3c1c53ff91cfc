"""What a learner has learned, and its file: everything of a `Learner` but learning and predicting."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from ._core import Engine
from ._numpy import is_array, np, npt
from .data.labels import Labels, plain
from .data.rows import Doubles, as_array, as_values, check_length
from .model import covariance, encoding, explain, file, supports
from .model.explain import Contribution
from .model.guard import Guard
from .model.statistics import Statistics
from .options import table
from .tasks import growth

if TYPE_CHECKING:
    from .theory.certificate import Certificate


class Learned:
    """The base of `Learner`: its parts, views of them, and its file."""

    task: str
    parameters: dict[str, Any]
    averaged: bool
    closed: bool  # whether the labels are known ahead, and others refused
    notes: dict[str, Any]  # whatever JSON can hold, kept in the file: where the data came from, say
    _engine: Engine
    _guard: Guard
    _named: bool  # whether every column is known to have a name
    _arrays_fit: bool  # whether the names were given in the order of an array's columns

    def __init__(self, task: str, **options: Any) -> None:
        raise NotImplementedError

    def _set_up(self, task: str, values: Mapping[str, Any], checked: bool = False) -> None:
        raise NotImplementedError

    def _new_engine(self, labels: Labels) -> Engine:
        raise NotImplementedError

    @property
    def step(self) -> str:
        """The step that is taken; the option may leave it open (None)."""
        step: str = table.step_of(self.task, self.parameters)
        return step

    @property
    def _lock(self) -> Any:
        """Held while labels or names may change."""
        return self._guard.lock

    @property
    def labels(self) -> Labels:
        """The labels, in their order. The core has them: what was learned of a label, and its name, come together."""
        labels = self._engine.labels
        assert isinstance(labels, Labels)
        return labels

    def _lanes_one(self, x: dict[Any, Any]) -> Doubles:
        lanes: Any = self._engine.scores_one(x, self.averaged)
        return np.asarray(lanes)

    @property
    def many_scores(self) -> bool:
        """Whether each label has a score (two classes have one for both, unless `selection` or `cost` asks)."""
        return self.task == "multilabel" or (self.task == "classification" and self.labels.lanes)

    @property
    def _beside(self) -> int:
        """How many lanes come before those of the labels: 1 for a learned threshold."""
        return int(self.task == "multilabel" and self.parameters["threshold"] == "learned")

    @property
    def _has_intercept(self) -> bool:
        return bool(self.parameters["fit_intercept"] and self.task in table.PARAMETERS["fit_intercept"].tasks)

    def _events(self) -> None:
        """Events come with names: columns that were learned from arrays are called by their numbers."""
        if self._named:
            return
        self._named = True
        self._engine.number_columns()

    # ---- what has been learned ------------------------------------------------------------------------

    @property
    def weights(self) -> npt.NDArray[Any]:
        """w (the average, if `average`), one number a column; many labels: a row each; for uniclass the centre."""
        return self._weights_of(self.averaged)

    @property
    def last_weights(self) -> npt.NDArray[Any]:
        """w as it is now, not averaged."""
        return self._weights_of(False)

    def _weights_of(self, averaged: bool) -> npt.NDArray[Any]:
        supports.check_has_weights(self.parameters["kernel"])
        return self._of_labels(self._engine.weights(averaged))

    def _of_labels(self, weights: Any) -> npt.NDArray[Any]:
        """The weights of the core without those of a learned threshold."""
        if self.many_scores:
            weights = weights[self._beside : self._beside + len(self.labels.known)]
        return np.asarray(weights, dtype=self.parameters["dtype"])

    @property
    def intercept(self) -> Any:
        """A number; many labels: one each."""
        return self._intercept_of(self.averaged)

    @property
    def last_intercept(self) -> Any:
        return self._intercept_of(False)

    def _intercept_of(self, averaged: bool) -> Any:
        if self.task in ("uniclass", "ordinal"):
            return 0.0
        if self.many_scores:
            return self._extras(averaged)[self._beside : self._beside + len(self.labels.known)]
        return self._engine.extra(0, averaged)

    def _extras(self, averaged: bool) -> Doubles:
        extras: Any = self._engine.extras(averaged)
        return np.asarray(extras)

    @property
    def thresholds(self) -> Doubles:
        """Ordinal: the thresholds b between the ranks."""
        return self._extras(self.averaged)

    @property
    def radius_by_quantile(self) -> bool:
        p = self.parameters
        return self.task == "uniclass" and p["radius"] is None and p["max_radius"] is None

    @property
    def radius(self) -> float:
        """The radius of the ball: fixed, the quantile of the distances so far, or sqrt(B^2 - c^2) as learned (S7)."""
        if self.task != "uniclass":
            raise AttributeError(f"there is no radius: the task is {self.task}, not uniclass")
        bound = self.parameters["max_radius"]
        if self.radius_by_quantile:
            return self._engine.tracked_radius()
        if bound is None:
            return float(self.parameters["radius"])
        c = self._engine.extra(0, self.averaged)
        return float(np.sqrt(max(0.0, (bound - c) * (bound + c))))  # an average of c may be rounded up

    @property
    def covariance(self) -> Doubles:
        """S: a matrix, or for geometry='diagonal' the variances; without the coordinate of the intercept."""
        covariance.check_has_covariance(self.parameters["geometry"])
        variances, upper = self._engine.factors()
        return covariance.covariance(variances, upper, self._has_intercept)

    def uncertainty_one(self, x: dict[Any, Any]) -> float:
        """x'Sx (with the constant feature of an intercept): how unsure the model is in the direction of x, the
        squared size of x in its geometry. Features never seen count with the variance of the start."""
        covariance.check_has_covariance(self.parameters["geometry"])
        return self._engine.uncertainty_one(x)

    @property
    def n_support(self) -> int:
        """How many supports there are."""
        supports.check_has_kernel(self.parameters["kernel"])
        return self._engine.n_support

    @property
    def supports(self) -> supports.SupportSet:
        """The supports, as they are cached: the numbers of the examples, their coefficients and vectors."""
        supports.check_has_kernel(self.parameters["kernel"])
        with self._lock:
            return supports.SupportSet(self._engine.supports(self.averaged), self.n_features)

    @property
    def support(self) -> npt.NDArray[np.int64]:
        """The numbers of the examples that are supports: as they came, from 0; after `fit` the rows of X."""
        return self.supports.numbers

    @property
    def dual_coef(self) -> Doubles:
        """The coefficients of the supports (of the average, if `average`); many labels: a row each."""
        coefficients = self.supports.coefficients
        if not self.many_scores:
            return coefficients[:, 0]
        return coefficients[:, self._beside : self._beside + len(self.labels.known)].T

    @property
    def support_vectors(self) -> Any:
        """The supports themselves, a row each: an array, or a CSR matrix if they came sparse."""
        return self.supports.vectors

    @property
    def statistics(self) -> Statistics:
        return Statistics(*self._engine.statistics())

    @property
    def n_features(self) -> int:
        return self._engine.n_columns

    @property
    def n_ignored(self) -> int:
        """How often a feature was left out because it was new, and there were `max_features` already."""
        return self._engine.n_ignored

    @property
    def feature_names(self) -> list[Any]:
        """The names of the columns, in their order (none if hashed, or learned from arrays)."""
        return self._engine.names()

    @property
    def _column_names(self) -> list[Any]:
        """The same of all columns: those that were learned from arrays are called by their numbers."""
        names = self.feature_names
        return names + list(range(len(names), self.n_features))

    def named_weights(self) -> dict[Any, Any]:
        """The weights by the names of their features; many labels: for each label."""
        supports.check_has_weights(self.parameters["kernel"])
        with self._lock:  # labels, names and weights of one moment
            (names, held), labels = self._engine.named_weights(self.averaged), self.labels.known
            weights = self._of_labels(held)
        if self.parameters["hash_bits"] is None:  # columns of arrays are called by their numbers
            names += range(len(names), weights.shape[-1])
        if not self.many_scores:
            return dict(zip(names, weights[: len(names)].tolist(), strict=True))
        return {
            label: dict(zip(names, its[: len(names)].tolist(), strict=True))
            for label, its in zip(labels, weights, strict=True)
        }

    def explain_one(self, x: dict[Any, Any], label: Any = None) -> list[Contribution]:
        """What each feature contributed to the score, the largest first.

        The contributions add up to the score; of many labels to that of `label` (of the one with the highest
        score). For uniclass they add up to the squared distance from the centre; what the centre has in features
        that x has not stands under '(other features)'.
        """
        supports.check_has_weights(self.parameters["kernel"])
        lane = 0
        if self.many_scores and self.labels.known:
            if label is None:
                lane = self._beside + int(np.argmax(self._lanes_one(x)[self._beside :]))
            else:
                lane = self.lane_of(label)
        found = self._engine.look_up(x, lane, self.averaged)
        if self.task == "uniclass":
            parts = explain.of_distance(found, self.weights)
        else:
            intercept = self._engine.extra(lane, self.averaged) if self._has_intercept else None
            parts = explain.of_product(found, intercept)
        return sorted(parts, key=lambda part: -abs(part.contribution))

    def lane_of(self, label: Any) -> int:
        """The place of the score of a label among all scores."""
        if self.labels.code(plain(label)) is None:
            raise ValueError(f"the label {label!r} is not one of the labels {self.labels.listed()}")
        return self._beside + int(self.labels.codes[plain(label)])

    def certificate(self, X: Any, y: Any = None, u: Any = None, intercept: Any = None) -> Certificate:
        """What was suffered on the stream of the rows of X, learned once in their order, and what was guaranteed.

        `u` are the weights of a comparator and `intercept` its intercept(s) or thresholds; None finds some.
        """
        from .theory.hindsight.rows import certificate

        check_length(X, "X")
        if self.task not in table.PARAMETERS["kernel"].tasks:  # those that have one vector an example
            raise ValueError(
                "the model around this learner has the certificate: it knows the features of outputs"
            )
        u, intercept = _comparator(u, "u"), _comparator(intercept, "intercept")
        try:
            return certificate(self, X, y, u, intercept)  # type: ignore[arg-type]
        except MemoryError:
            raise ValueError(
                "a certificate of X, and of its comparators, needs more memory than there is"
            ) from None

    # ---- files ----------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything to one file, whole or not at all. `hinge.load` reads it."""
        file.save(path, *self._parts())

    def to_bytes(self) -> bytes:
        return file.to_bytes(*self._parts())

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        """What its file has: a header of JSON, and arrays."""
        header, tensors = self._parts()
        return header, {name: np.asarray(tensor) for name, tensor in tensors.items()}

    def _parts(self) -> tuple[dict[str, Any], file.Tensors]:
        """The same with buffers, without numpy."""
        with self._lock:
            tensors, labels = self._engine.state(), self.labels
        file.check_state(tensors)
        header = {
            "kind": "Learner",
            "task": self.task,
            "parameters": encoding.encoded(self.parameters, tensors),
            "lanes": labels.lanes,
            "closed": self.closed,
            "arrays_fit": self._arrays_fit,
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
        values = encoding.decoded(header["parameters"], tensors, functions)
        learner = cls.__new__(cls)
        learner._set_up(header["task"], values)
        labels = Labels(json.loads(tensors["labels"].tobytes()), header["lanes"])
        growth.check_saved(labels, learner.labels, learner.parameters["max_labels"])
        learner.closed, learner._arrays_fit = bool(header["closed"]), bool(header["arrays_fit"])
        learner.notes = file.notes_of(header)
        learner._engine = learner._new_engine(labels)
        learner._engine.restore(tensors)
        return learner

    @classmethod
    def from_bytes(cls, data: bytes, kernel: Any = None) -> Self:
        header, tensors = file.from_bytes(data)
        try:
            return cls.from_parts(header, tensors, {} if kernel is None else {"kernel": kernel})
        except file.ABSURD as error:
            raise file.ModelFileError(f"the data does not describe a learner: {error}") from error

    def __reduce__(self) -> tuple[Any, tuple[bytes, Any]]:
        kernel = self.parameters["kernel"]
        return (type(self).from_bytes, (self.to_bytes(), kernel if callable(kernel) else None))

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._engine.__sizeof__() + sys.getsizeof(self.labels)

    def __repr__(self) -> str:
        shown = [
            f"{name}={value!r}"
            for name, value in self.parameters.items()
            if not is_array(value)
            and value != table.default(name)
            and not (name == "step" and value is None)
            and len(repr(value)) < 200  # hundreds of classes are not shown
        ]
        return f"Learner({', '.join([repr(self.task), *shown])})"


def _comparator(given: Any, name: str) -> Any:
    """The numbers of a comparator."""
    return None if given is None else as_values(as_array(given, name), name)
