"""Learner: the engine with labels, named features, statistics and files. No scikit-learn in sight."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import explain, model_file, parameters
from ._core import Engine
from .explain import Contribution as Contribution
from .labels import Labels, plain
from .rows import Doubles, as_labels, as_numbers, as_order, frame_values, rows_by_name, unseen_norms
from .rows import Rows as Rows
from .rows import is_csr as is_csr
from .rows import is_frame as is_frame
from .rows import is_sparse as is_sparse
from .rows import rows_of as rows_of
from .statistics import Statistics as Statistics


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
        self._lock = threading.RLock()  # held while labels or names may change; the core has its own
        self._arrays_fit = False  # whether the names were given in the order of an array's columns

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
            start_at_first=uniclass and (w1 is None or (isinstance(w1, str) and w1 == "first")),
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
        if not self._named:
            self._events()
        if self.task == "classification":
            signs = self.labels.signs
            try:
                target = signs.get(y)
            except TypeError:
                target = self.labels.sign(y)  # raises: not a label
            if target is None or len(signs) < 2:
                self._learn_with_labels(x, y, weight)
                return
            if self._class_weight is not None:
                weight *= self._class_weight.get(plain(y), 1.0)
        else:
            target = 0.0 if self.task == "uniclass" else self._number(y)
        self._engine.learn_one(x, target, weight)

    def score_one(self, x: dict[Any, Any]) -> float:
        """w.x (with the intercept), or for uniclass radius - |x - w|. Features never seen count nothing."""
        if not self._named:
            self._events()
        score = self._engine.score_one(x, self.averaged)
        return self.radius - score if self.task == "uniclass" else score

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The label (None before the first one), the number, or for uniclass 1 (inside) or -1 (outside)."""
        if self.task == "classification":
            if not self._named:
                self._events()
            score, known = self._engine.score_one(x, self.averaged), self.labels.known
            if len(known) == 2:  # as labels.of, without the call
                return known[1] if score > 0 else known[0]
            return self.labels.of(score)
        score = self.score_one(x)
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
            parts = explain.of_distance(found, self.weights)
        else:
            parts = explain.of_product(found, self.intercept if self.parameters["fit_intercept"] else None)
        return sorted(parts, key=lambda part: -abs(part.contribution))

    # ---- many -----------------------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> None:
        """The rounds of a list of dicts, a DataFrame, an array or a CSR matrix: all of them, or none."""
        if is_frame(X):
            with self._lock:
                columns = self.n_features
                try:
                    self._learn_rows(self._named_rows(X), y, sample_weight)
                except BaseException:
                    self._engine.forget(columns)
                    raise
        elif isinstance(X, np.ndarray) or is_sparse(X):
            self.learn(X, y, sample_weight)
        else:
            events = [self._event(row, x) for row, x in enumerate(X)]
            weights = self._weights(y, len(events), sample_weight)
            with self._lock:
                self._events()
                targets, classes, labels = self._targets(y, len(events), weights)
                if targets is None:
                    targets = np.zeros(len(events))
                elif classes is not None:
                    targets = self.labels.signs_of(targets, weights)
                self._learn_then_adopt(lambda: self._engine.learn_dicts(events, targets, weights), labels)

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
        return self._learn_rows(self._unnamed_rows(X), y, sample_weight, order, tolerance, max_updates)

    def _unnamed_rows(self, X: Any) -> Rows:
        self.check_arrays_fit()
        rows = rows_of(X)
        if self.n_features and rows.width != self.n_features:
            raise ValueError(f"X has {rows.width} features, the model has {self.n_features}")
        return rows

    def check_arrays_fit(self) -> None:
        """Names that were learned from events have no order that an array could follow."""
        if self._arrays_fit or self.parameters["hash_bits"] is not None or self._engine.n_names == 0:
            return
        if isinstance(self._engine.name_of(0), str):
            raise ValueError(
                "the features of this model have names, in the order in which events brought them: give dicts or a "
                "DataFrame, or call name_columns before learning to fix the order of an array's columns"
            )

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
            options["order"] = as_order(order, rows.count)
        if tolerance is not None:
            if not tolerance >= 0:
                raise ValueError(f"tolerance must be 0 or more, not {tolerance!r}")
            options["tolerance"] = float(tolerance)
        if max_updates is not None:
            options["max_updates"] = int(max_updates)
        weights = self._weights(y, rows.count, sample_weight)
        learn: Any = self._engine.learn_dense if rows.indptr is None else self._engine.learn_sparse
        with self._lock:
            targets, classes, labels = self._targets(y, rows.count, weights)
            self._named = False
            presented: int = self._learn_then_adopt(
                lambda: learn(*rows.arrays, targets, classes=classes, weights=weights, **options), labels
            )
        return presented

    def scores(self, X: Any) -> Doubles:
        """The score of each row: w.x, or for uniclass radius - |x - w|."""
        if not is_frame(X):
            return self.scores_of(self._unnamed_rows(X))
        scores = self.scores_of(self._named_rows(X, learning=False))
        if self.task != "uniclass":
            return scores
        # To a ball, features never seen are distance.
        return self.radius - np.hypot(self.radius - scores, unseen_norms(X, self.feature_names))

    def scores_of(self, rows: Rows) -> Doubles:
        engine = self._engine
        score: Any = engine.score_dense if rows.indptr is None else engine.score_sparse
        scores: Doubles = score(*rows.arrays, averaged=self.averaged)
        return self.radius - scores if self.task == "uniclass" else scores

    # ---- what has been learned ------------------------------------------------------------------------

    @property
    def weights(self) -> npt.NDArray[Any]:
        """w (the average, if `average`), one number a column; for uniclass the centre."""
        return self._weights_of(self.averaged)

    @property
    def last_weights(self) -> npt.NDArray[Any]:
        """w as it is now, not averaged."""
        return self._weights_of(False)

    def _weights_of(self, averaged: bool) -> npt.NDArray[Any]:
        weights: Any = self._engine.weights(averaged)
        return np.asarray(weights, dtype=self.parameters["dtype"])

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
        return float(np.sqrt(max(0.0, (bound - c) * (bound + c))))  # an average of c may be rounded up

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
        self._arrays_fit = True

    def change(self, **changes: Any) -> None:
        """Goes on with another `step`, `C`, `margin` or `epsilon`; what was learned stays."""
        fixed = [n for n in changes if n not in ("step", "C", "margin", "epsilon")]
        if fixed:
            names = ", ".join(fixed)
            raise ValueError(f"{names} cannot change once learning has begun; start anew with `fit`")
        changed = {**self.parameters, **changes}
        parameters.check(self.task, changed)
        self._engine.change_rule(
            changed["step"], float(changed["C"]), float(changed["margin"]), float(changed["epsilon"])
        )
        self.parameters = changed

    # ---- labels, targets, rows --------------------------------------------------------------------------

    def _learn_with_labels(self, x: dict[Any, Any], y: Any, weight: float) -> None:
        """Until two labels are known. If the second one's place is before the first one's, w changes sign."""
        label = plain(y)
        if self._class_weight is not None:
            weight *= self._class_weight.get(label, 1.0)
        with self._lock:
            sign, labels = self.labels.sign(label), None
            if sign is None:
                labels = self.labels.with_new([label])
                self._check_labels(labels)
                sign = 1.0 if self.labels.known else labels.signs[label]
            self._learn_then_adopt(lambda: self._engine.learn_one(x, sign, weight), labels)

    def _learn_then_adopt(self, learn: Callable[[], Any], labels: Labels | None) -> Any:
        """New labels are known once something was learned from them, be it that Ctrl-C came right after."""
        if labels is None:
            return learn()
        rounds = self._engine.statistics()[0]
        try:
            return learn()
        finally:
            if self._engine.statistics()[0] != rounds:
                self._adopt(labels)

    def _check_labels(self, labels: Labels | None) -> None:
        if labels is not None and self.parameters["w1"] is not None:
            raise ValueError("with a start vector w1 the two labels must be known ahead: give classes=[...]")

    def _adopt(self, labels: Labels) -> None:
        """What was learned from new labels is learned: they are known now, and w is that of their order."""
        flips = self.labels.flips(labels)
        self.labels = labels
        if flips:
            self._engine.negate()

    def _number(self, y: Any) -> float:
        try:
            if not isinstance(y, (str, bytes)):
                return float(y)
        except (TypeError, ValueError, OverflowError):
            pass
        raise ValueError(f"the target must be a number, not {y!r}")

    def _targets(
        self, y: Any, count: int, weights: Doubles | None
    ) -> tuple[npt.NDArray[Any] | None, Doubles | None, Labels | None]:
        """What the core takes as targets, with the two classes if they are labels; and the labels if new."""
        if self.task == "uniclass":
            return None, None, None
        if y is None:
            raise ValueError(f"{self.task} needs a target: y is None")
        y = as_numbers(y, "y") if self.task == "regression" else as_labels(y)
        if len(y) != count:
            raise ValueError(f"y has {len(y)} entries for {count} rows")
        if self.task == "regression":
            return y, None, None
        targets, classes, labels = self.labels.targets(y, weights)
        self._check_labels(labels)
        return targets, classes, labels

    def _weights(self, y: Any, count: int, sample_weight: npt.ArrayLike | None) -> Doubles | None:
        weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight")
        if weights is not None and len(weights) != count:
            raise ValueError(f"sample_weight has {len(weights)} entries for {count} rows")
        if self._class_weight is not None and y is not None:
            labels = as_labels(y)
            if len(labels) != count:
                raise ValueError(f"y has {len(labels)} entries for {count} rows")
            factors = np.ones(count)
            for label, factor in self._class_weight.items():
                factors[labels == label] = factor
            weights = factors if weights is None else weights * factors
        return weights

    @staticmethod
    def _event(row: int, x: Any) -> dict[Any, Any]:
        if isinstance(x, dict):
            return x
        if isinstance(x, Mapping):
            return dict(x)
        raise TypeError(f"row {row}: an event must be a dict of named features, not {type(x).__name__}")

    def _events(self) -> None:
        """Events come with names: columns that were learned from arrays are called by their numbers."""
        if self._named:
            return
        self._named = True
        self._engine.number_columns()

    def _named_rows(self, frame: Any, learning: bool = True) -> Rows:
        """A DataFrame's columns, by their names."""
        if self.parameters["hash_bits"] is not None:
            raise ValueError("with hash_bits give events as dicts (learn_many takes a list of them)")
        values, names = frame_values(frame)
        self._events()
        while learning:
            fresh = [name for name in names if name not in set(self.feature_names)]
            try:
                self._engine.name_columns(fresh)
                break
            except ValueError:
                if set(fresh).isdisjoint(self.feature_names):  # else another thread was quicker with some
                    raise
        return rows_by_name(values, names, self.feature_names)

    # ---- files ----------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything to one file, whole or not at all. `hinge.load` reads it."""
        model_file.write_whole(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        return model_file.to_bytes(*self.to_parts())

    def to_parts(self) -> tuple[dict[str, Any], model_file.Tensors]:
        with self._lock:
            (state, names), labels = self._engine.state(), self.labels.known
        tensors: model_file.Tensors = dict(state)
        while names and names[-1] == len(names) - 1:  # columns that are called by their numbers need no names
            names.pop()
        tensors["names"] = np.frombuffer(json.dumps(names).encode(), dtype=np.uint8)
        kept = dict(self.parameters)
        if isinstance(kept["w1"], (list, tuple, np.ndarray)):
            tensors["w1"] = np.asarray(kept.pop("w1"), dtype=np.float64)
        header = {
            "kind": "Learner",
            "task": self.task,
            "parameters": {name: model_file.encode_value(value) for name, value in kept.items()},
            "labels": labels,
            "arrays_fit": self._arrays_fit,
        }
        return header, tensors

    @classmethod
    def from_parts(cls, header: dict[str, Any], tensors: model_file.Tensors) -> Learner:
        values = {name: model_file.decode_value(value) for name, value in header["parameters"].items()}
        start = tensors.get("w1", values.get("w1"))
        learner = cls(header["task"], **{**values, "w1": None})
        learner.parameters["w1"] = start
        learner.labels = Labels(header["labels"])
        learner._arrays_fit = header["arrays_fit"]
        learner._engine.name_columns(json.loads(tensors["names"].tobytes()))
        learner._engine.restore(tensors["v"], tensors["u"], tensors["reals"], tensors["counts"])
        return learner

    @classmethod
    def from_bytes(cls, data: bytes) -> Learner:
        header, tensors = model_file.from_bytes(data)
        try:
            return cls.from_parts(header, tensors)
        except model_file.ABSURD as error:
            raise model_file.ModelFileError(f"the data does not describe a learner: {error}") from error

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
