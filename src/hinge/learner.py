"""Learner: the engine with labels, named features, statistics and files. No scikit-learn in sight."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import model_file, parameters
from ._core import Engine
from .labels import Labels, in_order, plain

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Statistics:
    """What a learner has been through. Losses are those suffered before each update."""

    rounds: int
    mistakes: int  # margin <= 0; outside of the tube; outside of the ball
    updates: int
    loss: float
    squared_loss: float
    largest_q: float  # the largest squared norm of an instance: R^2 of the bounds
    progress: float  # sum of tau (2 l - tau q), the left side of J06's Lemma 1

    @property
    def error(self) -> float:
        """Mistakes a round: the progressive error."""
        return self.mistakes / self.rounds if self.rounds else 0.0

    @property
    def mean_loss(self) -> float:
        return self.loss / self.rounds if self.rounds else 0.0


class Contribution(NamedTuple):
    """What one feature added to a score."""

    feature: str | int
    value: float
    weight: float
    contribution: float


class Learner:
    """One online learner: sees an example, predicts, is told the truth, moves just far enough.

    `task` is 'classification' (two classes), 'regression' or 'uniclass' (one-class learning).

    >>> from hinge import Learner
    >>> learner = Learner("classification", C=0.5)
    >>> learner.learn_one({"free": 1.0, "money": 2.0}, "spam")
    >>> learner.learn_one({"meeting": 1.0, "monday": True}, "ham")
    >>> learner.predict_one({"money": 1.0})
    'spam'
    """

    def __init__(
        self,
        task: str,
        *,
        step: str = parameters.default("step"),
        C: float = parameters.default("C"),
        margin: float = parameters.default("margin"),
        epsilon: float = parameters.default("epsilon"),
        radius: float = parameters.default("radius"),
        max_radius: float | None = parameters.default("max_radius"),
        fit_intercept: bool = parameters.default("fit_intercept"),
        w1: str | npt.ArrayLike | Mapping[str, float] | None = parameters.default("w1"),
        average: bool | int = parameters.default("average"),
        classes: Sequence[Any] | None = parameters.default("classes"),
        class_weight: Mapping[Any, float] | None = parameters.default("class_weight"),
        hash_bits: int | None = parameters.default("hash_bits"),
        max_features: int = parameters.default("max_features"),
        dtype: Any = parameters.default("dtype"),
    ) -> None:
        if task not in parameters.TASKS:
            raise ValueError(f"task must be one of {', '.join(map(repr, parameters.TASKS))}, not {task!r}")
        given = locals()
        self.task = task
        self.parameters: dict[str, Any] = {name: given[name] for name in parameters.OF_LEARNER}
        parameters.check(task, self.parameters)
        if isinstance(class_weight, str):
            raise ValueError("class_weight='balanced' needs all data at once: it works in `fit` only")
        self.labels = Labels(classes if classes is not None else ())
        self.averaged = bool(average)
        self._class_weight = dict(class_weight) if class_weight else None
        self._engine = self._new_engine()
        self._named = False  # whether every column is known to have a name

    def _new_engine(self) -> Engine:
        p = self.parameters
        uniclass = self.task == "uniclass"
        learned = uniclass and p["max_radius"] is not None
        w1 = p["w1"]
        engine = Engine(
            self.task,
            step=p["step"],
            C=float(p["C"]),
            margin=float(p["margin"]),
            epsilon=float(p["epsilon"]),
            radius=float(p["max_radius"] if learned else p["radius"]),
            learned_radius=learned,
            fit_intercept=bool(p["fit_intercept"]) and not uniclass,
            start_at_first=uniclass and (w1 is None or isinstance(w1, str) and w1 == "first"),
            single=np.dtype(p["dtype"]) == np.float32,
            average_from=int(p["average"]),
            hash_bits=p["hash_bits"] or 0,
            max_features=int(p["max_features"]),
        )
        if isinstance(w1, Mapping):
            engine.name_columns(list(w1))
            w1 = list(w1.values())
        if w1 is not None and not isinstance(w1, str):
            start = np.ascontiguousarray(w1, dtype=np.float64)
            if p["hash_bits"] and start.shape != (engine.n_columns,):
                raise ValueError(f"w1 has {len(start)} weights for {engine.n_columns} hashed columns")
            engine.start_at(start, float(p["max_radius"]) if learned else 0.0)
        return engine

    # ---- one event ------------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: Any = None, weight: float = 1.0) -> None:
        """One round: learns from the features `x`, a dict of names and values, and the truth `y`.

        Numbers are values, strings and booleans are indicators ({"color": "red"} is the feature "color=red").
        A weight of 0 changes nothing; others scale C.
        """
        if self.task != "classification":
            self._events()
            self._engine.learn_one(x, 0.0 if y is None else self._number(y), weight)
            return
        sign = self._sign(y)
        if sign is None:
            self._learn_new_label(x, y, weight)
            return
        if self._class_weight is not None:
            weight *= self._class_weight.get(plain(y), 1.0)
        self._events()
        self._engine.learn_one(x, sign, weight)

    def score_one(self, x: dict[Any, Any]) -> float:
        """w.x (with the intercept), or for uniclass radius - |x - w|. Features never seen count nothing."""
        self._events()
        score = self._engine.score_one(x, self.averaged)
        return self.radius - score if self.task == "uniclass" else score

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The label (None before the first one), the number, or for uniclass 1 (inside) or -1 (outside)."""
        score = self.score_one(x)
        if self.task == "classification":
            return self.labels.of(score)
        if self.task == "uniclass":
            return 1 if score >= 0 else -1
        return score

    def explain_one(self, x: dict[Any, Any]) -> list[Contribution]:
        """What each feature contributed to the score, the largest first.

        The contributions add up to the score. For uniclass they add up to the squared distance from the
        centre; what the centre has in features that x has not stands under '(other features)'.
        """
        self._events()
        found = self._engine.look_up(x, self.averaged)
        if self.task == "uniclass":
            parts = self._explain_distance(found)
        else:
            parts = [Contribution(name, value, weight, value * weight) for name, value, _, weight in found]
            if self.parameters["fit_intercept"]:
                parts.append(Contribution("(intercept)", 1.0, self.intercept, self.intercept))
        return sorted(parts, key=lambda part: -abs(part.contribution))

    def _explain_distance(self, found: list[tuple[str, float, int | None, float]]) -> list[Contribution]:
        shares: dict[Any, tuple[str, float, float]] = {}  # hashed names may share a column
        for name, value, column, weight in found:
            key = name if column is None else column
            if key in shares:
                name, value = f"{shares[key][0]}, {name}", shares[key][1] + value
            shares[key] = (name, value, weight)
        parts = [Contribution(n, value, w, (value - w) ** 2) for n, value, w in shares.values()]
        seen = [column for column in shares if isinstance(column, int)]
        rest = self.weights.astype(np.float64)
        rest[seen] = 0.0
        if rest.any():
            parts.append(Contribution("(other features)", 0.0, float(np.sqrt(rest @ rest)), float(rest @ rest)))
        return parts

    # ---- many -----------------------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> None:
        """The rounds of a list of dicts, a DataFrame, an array or a CSR matrix: all of them, or none."""
        if is_frame(X):
            columns = self.n_features
            try:
                self._learn_rows(self._named_rows(X), y, sample_weight)
            except BaseException:
                self._engine.forget(columns)
                raise
        elif isinstance(X, np.ndarray) or is_csr(X):
            self.learn(X, y, sample_weight)
        else:
            events = [x if isinstance(x, dict) else dict(x) for x in X]
            self._events()
            labels = self.labels.known
            try:
                targets, _ = self._targets(y, len(events), as_signs=True)
                self._engine.learn_dicts(events, targets, self._weights(y, sample_weight))
            except BaseException:
                self._back_to(labels)
                raise

    def learn(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        order: npt.ArrayLike | None = None,
        tolerance: float | None = None,
        max_updates: int | None = None,
    ) -> int:
        """One pass over the rows of an array or a CSR matrix, read in place: all of it, or none.

        `order` names the rows to visit. With `tolerance` only rows whose squared loss is larger are presented
        (S21 of the batch conversion). Returns how many were presented.
        """
        return self._learn_rows(rows_of(X), y, sample_weight, order, tolerance, max_updates)

    def _learn_rows(
        self,
        rows: Rows,
        y: Any,
        sample_weight: npt.ArrayLike | None = None,
        order: npt.ArrayLike | None = None,
        tolerance: float | None = None,
        max_updates: int | None = None,
    ) -> int:
        options: dict[str, Any] = {}
        if order is not None:
            options["order"] = np.ascontiguousarray(order, dtype=np.int64)
        if tolerance is not None:
            options["tolerance"] = float(tolerance)
        if max_updates is not None:
            options["max_updates"] = int(max_updates)
        learn = self._engine.learn_dense if rows.indptr is None else self._engine.learn_sparse
        labels = self.labels.known
        try:
            targets, classes = self._targets(y, rows.count)
            weights = self._weights(y, sample_weight)
            return learn(*rows.arrays, targets, classes=classes, weights=weights, **options)
        except BaseException:
            self._back_to(labels)
            raise
        finally:
            self._named = False

    def scores(self, X: Any) -> Doubles:
        """The score of each row: w.x, or for uniclass radius - |x - w|."""
        return self.scores_of(self._named_rows(X, learning=False) if is_frame(X) else rows_of(X))

    def scores_of(self, rows: Rows) -> Doubles:
        engine = self._engine
        score = engine.score_dense if rows.indptr is None else engine.score_sparse
        scores: Doubles = score(*rows.arrays, averaged=self.averaged)
        return self.radius - scores if self.task == "uniclass" else scores

    # ---- what has been learned ------------------------------------------------------------------------

    @property
    def weights(self) -> npt.NDArray[Any]:
        """w (the average, if `average`), one number a column; for uniclass the centre."""
        return self._engine.weights(self.averaged).astype(self.parameters["dtype"], copy=False)

    @property
    def last_weights(self) -> npt.NDArray[Any]:
        """w as it is now, not averaged."""
        return self._engine.weights(False).astype(self.parameters["dtype"], copy=False)

    @property
    def intercept(self) -> float:
        return 0.0 if self.task == "uniclass" else self._engine.extra(self.averaged)

    @property
    def last_intercept(self) -> float:
        return 0.0 if self.task == "uniclass" else self._engine.extra(False)

    @property
    def radius(self) -> float:
        """The radius of the ball: fixed, or sqrt(B^2 - c^2) as learned so far (S7)."""
        bound = self.parameters["max_radius"]
        if bound is None:
            return float(self.parameters["radius"])
        c = self._engine.extra(self.averaged)
        return float(np.sqrt((bound - c) * (bound + c)))

    @property
    def statistics(self) -> Statistics:
        return Statistics(*self._engine.statistics())

    @property
    def n_features(self) -> int:
        return self._engine.n_columns

    @property
    def feature_names(self) -> list[Any]:
        """The names of the columns, in their order (none if hashed, or learned from arrays)."""
        return self._engine.names()

    def named_weights(self) -> dict[Any, float]:
        names = self.feature_names
        return dict(zip(names, self.weights[: len(names)].tolist(), strict=True))

    def name_columns(self, names: Iterable[str]) -> None:
        """Names the columns of arrays that are to come, so that dicts can be learned too."""
        self._engine.name_columns(list(names))

    def change(self, **changes: Any) -> None:
        """Goes on with another `step`, `C`, `margin` or `epsilon`; what was learned stays."""
        fixed = [n for n in changes if n not in ("step", "C", "margin", "epsilon")]
        if fixed:
            raise ValueError(f"{', '.join(fixed)} cannot change once learning has begun; start anew with `fit`")
        changed = {**self.parameters, **changes}
        parameters.check(self.task, changed)
        self._engine.change_rule(
            changed["step"], float(changed["C"]), float(changed["margin"]), float(changed["epsilon"])
        )
        self.parameters = changed

    # ---- labels, targets, rows --------------------------------------------------------------------------

    def _sign(self, y: Any) -> float | None:
        try:
            return self.labels.signs.get(y)
        except TypeError:
            raise ValueError(f"a label must be a string, a boolean or a number, not {y!r}") from None

    def _learn_new_label(self, x: dict[Any, Any], y: Any, weight: float) -> None:
        """The first or second label of a stream. If its place is before the known one's, w changes sign."""
        before = self.labels.known
        self._extend_labels([plain(y)])
        try:
            self.learn_one(x, y, weight)
        except BaseException:
            self._back_to(before)
            raise

    def _extend_labels(self, fresh: list[Any]) -> None:
        known = self.labels.known
        if len(known) == 2:
            raise ValueError(f"the label {fresh[0]!r} is not one of the two classes {known[0]!r} and {known[1]!r}")
        if self.parameters["w1"] is not None and self.task == "classification":
            raise ValueError("with a start vector w1 the two labels must be known ahead: give classes=[...]")
        self._move_to(in_order([*known, *fresh]))

    def _move_to(self, labels: list[Any]) -> None:
        """One label alone is the negative class. If it becomes the positive one, or back, w changes sign."""
        known = self.labels.known
        self.labels.set(labels)
        alone = min(known, labels, key=len)
        if len(alone) == 1 and max(known, labels, key=len).index(alone[0]) == 1:
            self._engine.negate()

    def _back_to(self, labels: list[Any]) -> None:
        if len(labels) != len(self.labels.known):
            self._move_to(labels)

    def set_classes(self, classes: Iterable[Any]) -> None:
        """Fixes the two labels, the negative one first, before anything is learned."""
        self.labels.set([plain(label) for label in classes])

    def _number(self, y: Any) -> float:
        try:
            return float(y)
        except (TypeError, ValueError):
            raise ValueError(f"the target must be a number, not {y!r}") from None

    def _targets(
        self, y: Any, count: int, as_signs: bool = False
    ) -> tuple[npt.NDArray[Any] | None, Doubles | None]:
        if self.task == "uniclass":
            return (np.zeros(count) if as_signs else None), None
        if y is None:
            raise ValueError(f"{self.task} needs a target: y is None")
        if self.task == "regression":
            return as_numbers(y, "y"), None
        y = as_labels(y)
        if len(self.labels.known) < 2:
            met = {plain(label) for label in (y.tolist() if y.dtype.kind == "O" else np.unique(y).tolist())}
            fresh = met - set(self.labels.known)
            if fresh:
                self._extend_labels(sorted(fresh, key=repr))
        targets, classes = self.labels.encode(y)
        if as_signs and classes is not None:
            targets = np.where(targets == classes[1], 1.0, np.where(targets == classes[0], -1.0, np.nan))
        return targets, classes

    def _weights(self, y: Any, sample_weight: npt.ArrayLike | None) -> Doubles | None:
        weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight")
        if self._class_weight is not None:
            labels = as_labels(y)
            factors = np.ones(len(labels))
            for label, factor in self._class_weight.items():
                factors[labels == label] = factor
            weights = factors if weights is None else weights * factors
        return weights

    def _events(self) -> None:
        """Events come with names: columns that were learned from arrays are called by their numbers."""
        if self._named:
            return
        engine = self._engine
        if engine.n_names == 0 and engine.n_columns > 0 and self.parameters["hash_bits"] is None:
            engine.name_columns(list(range(engine.n_columns)))
        self._named = True

    def _named_rows(self, frame: Any, learning: bool = True) -> Rows:
        """A DataFrame's columns, by their names."""
        values = as_values(frame.to_numpy())
        names = list(frame.columns)
        self._events()
        if self.parameters["hash_bits"] is not None:
            raise ValueError("with hash_bits give events as dicts (learn_many takes a list of them)")
        place = {name: column for column, name in enumerate(self.feature_names)}
        if learning:
            fresh = [name for name in names if name not in place]
            self._engine.name_columns(fresh)
            place.update({name: len(place) + k for k, name in enumerate(fresh)})
        kept = sorted((place[name], j) for j, name in enumerate(names) if name in place)
        columns = np.asarray([column for column, _ in kept], dtype=np.int64)
        values = values[:, [j for _, j in kept]]
        indptr = np.arange(len(values) + 1, dtype=np.int64) * len(kept)
        return Rows(np.ascontiguousarray(values).ravel(), np.tile(columns, len(values)), indptr, self.n_features)

    # ---- files ----------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything to one file, whole or not at all. `hinge.load` reads it."""
        model_file.write_whole(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        return model_file.to_bytes(*self.to_parts())

    def to_parts(self) -> tuple[dict[str, Any], model_file.Tensors]:
        tensors = dict(self._engine.state())
        names = self.feature_names
        if names == list(range(len(names))):  # columns that are called by their numbers need no names
            names = []
        tensors["names"] = np.frombuffer(json.dumps(names).encode(), dtype=np.uint8)
        kept = dict(self.parameters)
        if isinstance(kept["w1"], (list, tuple, np.ndarray)):
            tensors["w1"] = np.asarray(kept.pop("w1"), dtype=np.float64)
        header = {
            "kind": "Learner",
            "task": self.task,
            "parameters": {name: model_file.encode_value(value) for name, value in kept.items()},
            "labels": self.labels.known,
        }
        return header, tensors

    @classmethod
    def from_parts(cls, header: dict[str, Any], tensors: model_file.Tensors) -> Learner:
        values = {name: model_file.decode_value(value) for name, value in header["parameters"].items()}
        start = tensors.get("w1", values.get("w1"))
        learner = cls(header["task"], **{**values, "w1": None})
        learner.parameters["w1"] = start
        learner.labels.set(header["labels"])
        learner._engine.name_columns(json.loads(tensors["names"].tobytes()))
        learner._engine.restore(tensors["v"], tensors["u"], tensors["reals"], tensors["counts"])
        return learner

    @classmethod
    def from_bytes(cls, data: bytes) -> Learner:
        return cls.from_parts(*model_file.from_bytes(data))

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return (type(self).from_bytes, (self.to_bytes(),))

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._engine.__sizeof__()

    def __repr__(self) -> str:
        shown = [
            f"{name}={value!r}"
            for name, value in self.parameters.items()
            if not isinstance(value, np.ndarray) and value != parameters.default(name)
        ]
        return f"Learner({', '.join([repr(self.task), *shown])})"


# ---- arrays -------------------------------------------------------------------------------------------


class Rows:
    """The arrays that the core reads: a dense matrix, or the three arrays of CSR."""

    __slots__ = ("arrays", "count", "indptr", "width")

    def __init__(self, values: Any, indices: Any = None, indptr: Any = None, width: int | None = None) -> None:
        self.indptr = indptr
        if indptr is None:
            self.count, self.width = values.shape
            self.arrays: tuple[Any, ...] = (values,)
        else:
            assert width is not None
            self.count, self.width = len(indptr) - 1, width
            self.arrays = (values, indices, indptr, width)


_READ_IN_PLACE = (np.dtype(np.float64), np.dtype(np.float32))


def rows_of(X: Any) -> Rows:
    """An array or a CSR matrix as the core reads it: in place if it is of float32 or float64."""
    if is_csr(X):
        if len(X.indptr) != X.shape[0] + 1:
            raise ValueError(f"indptr has {len(X.indptr)} entries for {X.shape[0]} rows; it must have one more")
        return Rows(as_values(X.data), X.indices, X.indptr, int(X.shape[1]))
    X = as_values(np.asarray(X))
    if X.ndim != 2:
        raise ValueError(f"X must be two-dimensional (rows and columns), not {X.ndim}-dimensional")
    return Rows(X)


def is_csr(X: Any) -> bool:
    return getattr(X, "format", None) == "csr"


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "to_numpy")


def as_values(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if X.dtype in _READ_IN_PLACE and X.dtype.isnative and not any(s % X.itemsize for s in X.strides):
        return X
    if X.dtype.kind not in "biufO":
        raise ValueError(f"X must hold numbers, not {X.dtype}")
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers: {error}") from None


def as_numbers(values: Any, name: str) -> Doubles:
    try:
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from None
    if numbers.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not {numbers.ndim}-dimensional")
    return numbers


def as_labels(y: Any) -> npt.NDArray[Any]:
    labels = np.asarray(y)
    if isinstance(y, (list, tuple)) and labels.dtype.kind in "US" and not all(isinstance(v, str) for v in y):
        labels = np.asarray(y, dtype=object)  # numpy would turn the numbers among the strings into strings
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, not {labels.ndim}-dimensional")
    return labels
