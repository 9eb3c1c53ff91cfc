"""Learner: the engine with labels, named features, statistics and files. No scikit-learn in sight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

from ._core import Engine, are_among
from ._numpy import np, npt
from .data import targets
from .data.errors import InputTypeError, for_each, rows_from
from .data.labels import Labels, doubles
from .data.rows import (
    Doubles,
    are_events,
    as_events,
    as_list,
    as_numbers,
    as_order,
    by_lane,
    frame_values,
    is_single,
    rows_by_name,
    unseen_norms,
    unseen_squares,
)
from .data.rows import Rows as Rows
from .data.rows import is_csr as is_csr
from .data.rows import is_frame as is_frame
from .data.rows import is_sparse as is_sparse
from .data.rows import rows_of as rows_of
from .data.targets import Encoded
from .learned import Learned
from .model.covariance import check_has_covariance, geometry_options, plus_unseen
from .model.explain import Contribution as Contribution
from .model.guard import Guard
from .model.statistics import Statistics as Statistics
from .model.supports import beta_of, kernel_options, sees_unseen
from .options import table
from .options.classes import CLASSES
from .options.constructors import signature
from .tasks import growth

if TYPE_CHECKING:
    from .options.types import LearnerOptions


class Learner(Learned):
    """One online learner: sees an example, predicts, is told the truth, moves just far enough.

    `task` is 'classification' (two or more classes), 'multilabel' (sets of labels), 'ordinal' (ranks),
    'regression' or 'uniclass' (one-class learning).

    >>> from hinge import Learner
    >>> learner = Learner("classification", C=0.5)
    >>> learner.learn_one({"free": 1.0, "money": 2.0}, "spam")
    >>> learner.learn_one({"meeting": 1.0, "monday": True}, "ham")
    >>> learner.learn_one({"invoice": 1.0, "money": 1.0}, "bills")
    >>> learner.predict_one({"meeting": 1.0})
    'ham'
    """

    @signature("Learner")
    def __init__(self, task: str, **options: Unpack[LearnerOptions]) -> None:
        self._set_up(task, options)
        self._start()

    @classmethod
    def _from_checked(cls, task: str, options: Mapping[str, Any]) -> Self:
        """A learner with options that an estimator has checked."""
        learner = cls.__new__(cls)
        learner._set_up(task, options, checked=True)
        learner._start()
        return learner

    def _set_up(self, task: str, values: Mapping[str, Any], checked: bool = False) -> None:
        """Everything but the start: what a new learner and one from a file have in common."""
        if task not in table.TASKS:
            raise ValueError(f"task must be one of {', '.join(map(repr, table.TASKS))}, not {task!r}")
        self.task = task
        self.notes = {}
        self.parameters: dict[str, Any] = CLASSES["Learner"].completed(values)
        if task != "regression":
            self.parameters["step"] = table.step_of(task, self.parameters)
        if not checked:
            table.check(task, self.parameters)
        p = self.parameters
        classes, cost, class_weight = p["classes"], p["cost"], p["class_weight"]
        if isinstance(class_weight, str):
            raise ValueError("class_weight='balanced' needs all data at once: it works in `fit` only")
        labels = growth.first_labels(task, self.parameters)
        known = labels.known
        if task == "classification" and p["geometry"] == "entropy" and not p["signed"] and len(known) != 2:
            raise ValueError(
                f"signed=False is for two classes, there are {len(known)}: use signed=True"
                if len(known) > 2
                else "signed=False needs the two classes ahead, the negative one first: give classes=[...]"
            )
        # Whether labels are known ahead, and others refused.
        self.closed = classes is not None or cost is not None or task == "ordinal"
        self.averaged = bool(p["average"])
        self._class_weight = dict(class_weight) if class_weight else None
        self._guard = Guard()  # held while labels or names may change; the core has its own
        self._named = False  # whether every column is known to have a name
        self._arrays_fit = False  # whether the names were given in the order of an array's columns
        self._engine = self._new_engine(labels)
        self.by_label = task == "classification" and not self._class_weight  # the core knows the labels

    def _new_engine(self, labels: Labels) -> Engine:
        p, task = self.parameters, self.task
        uniclass = task == "uniclass"
        learned = uniclass and p["max_radius"] is not None
        radius = p["max_radius"] if learned else p["radius"]
        engine = Engine(
            task=task,
            step=self.step,
            C=float(p["C"]),
            margin=float(p["margin"]),
            epsilon=float(p["epsilon"]),
            radius=float(radius or 0),
            learned_radius=learned,
            contamination=float(p["contamination"]) if uniclass and radius is None else 0.0,
            fit_intercept=bool(p["fit_intercept"]) and task in table.PARAMETERS["fit_intercept"].tasks,
            start_at_first=uniclass
            and p["geometry"] != "entropy"
            and (p["w1"] is None or (isinstance(p["w1"], str) and p["w1"] == "first")),
            single=is_single(p["dtype"]),
            average_from=int(p["average"]),
            **geometry_options(p),
            **kernel_options(task, p),
            hash_bits=p["hash_bits"] or 0,
            max_features=int(p["max_features"]),
            ignore_new=p["at_max_features"] == "ignore",
            max_weights=float(p["max_weights"]),
            **growth.engine_options(task, p, labels),
        )
        engine.name_labels(labels)
        return engine

    def _start(self) -> None:
        """At w1, if it is given."""
        p, w1, engine = self.parameters, self.parameters["w1"], self._engine
        if isinstance(w1, Mapping):
            engine.name_columns(list(w1))
            w1 = list(w1.values())
        if w1 is None or isinstance(w1, str):
            return
        start = np.ascontiguousarray(w1, dtype=np.float64)
        rows = (
            len(self.labels.known)
            if self.task in ("classification", "multilabel") and self.labels.lanes
            else None
        )
        if rows is not None and start.shape[:-1] != (rows,):
            raise ValueError(
                f"w1 must have a row of weights for each of the {rows} labels (give classes=[...])"
            )
        if rows is None and start.ndim != 1:
            raise ValueError("w1 must be a vector: there is one w")
        if p["hash_bits"] and start.shape[-1] != engine.n_columns:
            raise ValueError(f"w1 has {start.shape[-1]} weights for {engine.n_columns} hashed columns")
        extras: Any = engine.extras(
            False
        )  # where the intercepts, the thresholds or c of a learned radius begin
        if rows is not None and len(extras) > rows:  # the threshold, which has weights of its own
            start = np.vstack([np.zeros_like(start[:1]), start])
        engine.start_at(start.ravel(), extras)

    # ---- one event ------------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: Any = None, weight: float = 1.0) -> None:
        """One round: learns from the features `x`, a dict of names and values, and the truth `y`.

        Numbers are values, strings and booleans are indicators ({"color": "red"} is the feature "color=red").
        A weight of 0 changes nothing; others scale C.
        """
        try:
            if self.by_label and self._engine.learn_label(x, y, weight):
                return
            self._learn_event(x, y, weight)
        except TypeError:
            growth.check_weight(weight)
            raise

    def round_one(self, x: dict[Any, Any], y: Any = None, weight: float = 1.0) -> Any:
        """Predicts, then learns: what `predict_one` returns before the round. Faster than the two calls."""
        if self.by_label:
            predicted = self._engine.round_label(x, y, weight, self.averaged)
            if predicted is not NotImplemented:
                return predicted
        predicted = self.predict_one(x)
        self.learn_one(x, y, weight)
        return predicted

    def _learn_event(self, x: dict[Any, Any], y: Any, weight: float) -> None:
        if not self._named:
            self._events()
        if self.task == "classification":
            growth.learn_one(self, x, y, weight)
        elif self.task == "multilabel":
            growth.learn_set(self, x, y, weight)
        elif self.task == "ordinal":
            self._engine.learn_one(x, growth.rank(self.labels, y), weight)
        else:
            self._engine.learn_one(x, 0.0 if self.task == "uniclass" else targets.number(y), weight)

    def score_one(self, x: dict[Any, Any]) -> Any:
        """w.x (with the intercept), for uniclass radius - |x - w|, for many labels a dict of scores.

        Features never seen count nothing.
        """
        if self.task == "ordinal":
            return float(self._lanes_one(x)[0] + self._engine.extra(0, self.averaged))
        if self.many_scores:
            scores = self._lanes_one(x)[self._beside :].tolist()
            return dict(zip(self.labels.known, scores, strict=False))
        score = self._engine.score_one(x, self.averaged)
        return self.radius - score if self.task == "uniclass" else score

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The label (None before the first one), the set of labels, the rank, the number, or for uniclass 1
        (inside) or -1 (outside)."""
        if self.task == "classification":
            return self._engine.predict_label(x, self.averaged)
        if self.task in ("multilabel", "ordinal"):
            return growth.predicted(self, self._lanes_one(x))
        score = self.score_one(x)
        if self.task == "uniclass":
            return 1 if score >= 0 else -1
        return score

    # ---- many -----------------------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> None:
        """The rounds of a list of dicts, a DataFrame, an array or a CSR matrix: all of them, or none."""
        X = as_events(X)
        if is_frame(X) and self.parameters["geometry"] == "entropy":
            # A simplex grows with its columns: they come with the first value that is not 0, as in events.
            values, names = frame_values(X)
            self.learn_many([dict(zip(names, row, strict=True)) for row in values.tolist()], y, sample_weight)
        elif is_frame(X):
            with self._lock:
                columns = self.n_features
                rounds = self._engine.statistics()[0]
                try:
                    self._learn_rows(self._named_rows(X), y, sample_weight)
                except BaseException:
                    if self._engine.statistics()[0] == rounds:  # else an interrupt came right after it
                        self._engine.forget(columns)
                    raise
        elif isinstance(X, np.ndarray) or is_sparse(X):
            self.learn(X, y, sample_weight)
        else:
            events = self._event_list(X)
            weights = self._weights(y, len(events), sample_weight)
            with self._lock:
                self._events()

                def learn(rows: slice, encoded: Encoded) -> int:
                    y, _, starts = encoded.part(rows)
                    part = None if weights is None else weights[rows]
                    with rows_from(rows.start):
                        return self._engine.learn_dicts(
                            events[rows], y, classes=encoded.classes, label_starts=starts, weights=part
                        )

                growth.learn_batch(self, y, len(events), weights, learn)

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

    def read_events(self, events: Iterable[Any]) -> Rows:
        """Events as rows, for several passes over them. Their features are known from here on."""
        with self._lock:
            self._events()
            return Rows(*self._engine.read_dicts(self._event_list(events)))

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
                "the features of this model have names, in the order in which events brought them: give a list of "
                "dicts or a DataFrame (or before learning fix the order of an array's columns: Learner.name_columns)"
            )

    def _learn_rows(
        self,
        rows: Rows,
        y: Any,
        sample_weight: npt.ArrayLike | None = None,
        order: npt.ArrayLike | None = None,
        tolerance: float | None = None,
        max_updates: int | None = None,
        grow: bool = True,
        repeats: bool = False,
    ) -> int:
        # `repeats`: the rows may have come before, in an earlier pass.
        options: dict[str, Any] = {"first": 0, "repeats": True} if repeats else {}
        visits = None if order is None else as_order(order, rows.count)
        if visits is not None:
            options["order"] = visits
        if tolerance is not None:
            if not tolerance >= 0:
                raise ValueError(f"tolerance must be 0 or more, not {tolerance!r}")
            options["tolerance"] = float(tolerance)
        if max_updates is not None:
            options["max_updates"] = int(max_updates)
        weights = self._weights(y, rows.count, sample_weight)
        with self._lock:
            self._named = False
            updates, examples = self._engine.statistics()[2], self._engine.n_examples

            def learn(part: slice, encoded: Encoded) -> int:
                engine = self._engine
                learn_rows: Any = engine.learn_dense if rows.indptr is None else engine.learn_sparse
                if part != whole:  # some of the visits
                    options["order"] = np.arange(part.start, part.stop) if visits is None else visits[part]
                    options.setdefault("first", examples)
                    if max_updates is not None:
                        options["max_updates"] = int(max_updates) - (engine.statistics()[2] - updates)
                presented: int = learn_rows(
                    *rows.arrays, encoded.y, classes=encoded.classes, label_starts=encoded.starts, weights=weights,
                    **options,
                )  # fmt: skip
                return presented

            whole = slice(0, rows.count if visits is None else len(visits))
            return growth.learn_batch(self, y, rows.count, weights, learn, grow, visits)

    def learn_rows(
        self, rows: Rows, y: Any, sample_weight: npt.ArrayLike | None = None, **passing: Any
    ) -> int:
        """As `learn`, of rows that may have fewer or more columns than those before: a stream of numbered features."""
        if sample_weight is None and not passing and isinstance(y, memoryview) and self._learn_text(rows, y):
            return len(y)
        return self._learn_rows(rows, y, sample_weight, **passing)

    def _learn_text(self, rows: Rows, y: Any) -> bool:
        """Rows of a text, a number as the label of each, without numpy. False: nothing is done, there is more to it."""
        if self._class_weight is not None:
            return False
        self._named = False
        known = self.labels.as_numbers
        if known is None and self.task == "classification" and rows.count == 1:
            learn: Any = self._engine.learn_sparse
            return growth.learn_first(self, y[0], lambda code: learn(*rows.buffers, doubles([code])))
        if known is not None and not are_among(y, *known):
            return False
        return self.learn_as_is(rows.buffers, y)

    def learn_as_is(self, arrays: tuple[Any, ...], y: Any) -> bool:
        """A batch that the core can read as it is (`Rows.arrays`), with targets that need no encoding: the lane of
        small batches.

        False, and nothing is done, if there is more to it.
        """
        classes = self.labels.as_numbers
        if self._class_weight is not None or (classes is None and self.task != "regression"):
            return False
        try:
            if len(arrays) == 1:
                self._engine.learn_dense(arrays[0], y, classes)
            else:
                data, indices, indptr, width = arrays  # nanobind is slow to take *arrays
                self._engine.learn_sparse(data, indices, indptr, width, y, classes)
        except TypeError:  # of another type, order or alignment: before anything was read
            return False
        return True

    def scores(self, X: Any) -> Doubles:
        """The score of each row: w.x, or for uniclass radius - |x - w|; for many labels one a label. X may be a list
        of events, too."""
        X = as_events(X)
        if are_events(X):
            return self._as_scores(self.lanes(X))
        if not is_frame(X):
            return self.scores_of(self._unnamed_rows(X))
        rows = self._named_rows(X, learning=False)
        if sees_unseen(self.task, self.parameters["kernel"]):
            return self.scores_of(rows, unseen_squares(X, self._column_names))
        scores = self.scores_of(rows)
        if self.task != "uniclass":
            return scores
        # To a ball, features never seen are distance.
        return self.radius - np.hypot(self.radius - scores, unseen_norms(X, self._column_names))

    def scores_of(self, rows: Rows, unseen: Doubles | None = None) -> Doubles:
        return self._as_scores(self.lanes_of(rows, unseen))

    def _as_scores(self, scores: Doubles) -> Doubles:
        if self.task == "uniclass":
            return self.radius - scores
        if self.task == "ordinal":
            return by_lane(scores)[:, 0] + self._engine.extra(0, self.averaged)
        if self.many_scores:
            return by_lane(scores)[:, self._beside : self._beside + len(self.labels.known)]
        return scores

    def uncertainty(self, X: Any) -> Doubles:
        """x'Sx of each row (see `uncertainty_one`)."""
        check_has_covariance(self.parameters["geometry"])
        X = as_events(X)
        if are_events(X):
            return np.asarray(for_each(self.uncertainty_one, self._event_list(X)))
        if not is_frame(X):
            return self.uncertainty_of(self._unnamed_rows(X))
        sizes = self.uncertainty_of(self._named_rows(X, learning=False))
        return plus_unseen(sizes, unseen_norms(X, self._column_names), self.parameters["initial_variance"])

    def uncertainty_of(self, rows: Rows) -> Doubles:
        engine = self._engine
        size: Any = engine.uncertainty_dense if rows.indptr is None else engine.uncertainty_sparse
        sizes: Doubles = size(*rows.arrays)
        return sizes

    def lanes_of(self, rows: Rows, unseen: Doubles | None = None) -> Doubles:
        """What the core says of each row: a score a lane (ordinal: w.x less each threshold).

        `unseen`, with a kernel: of each (sparse) row the squares of features that have no column.
        """
        engine, options = self._engine, {} if unseen is None else {"unseen": unseen}
        score: Any = engine.score_dense if rows.indptr is None else engine.score_sparse
        scores: Doubles = score(*rows.arrays, averaged=self.averaged, **options)
        return scores

    def lanes(self, X: Any) -> Doubles:
        X = as_events(X)
        if are_events(X):
            found = np.asarray(for_each(self._lanes_one, self._event_list(X)))
            return found[:, 0] if found.shape[1] == 1 else found
        if not is_frame(X):
            return self.lanes_of(self._unnamed_rows(X))
        rows, sees = self._named_rows(X, learning=False), sees_unseen(self.task, self.parameters["kernel"])
        return self.lanes_of(rows, unseen_squares(X, self._column_names) if sees else None)

    # ---- single-prototype ranking -----------------------------------------------------------------------

    def learn_block(self, names: list[str], values: Doubles, relevant: Iterable[Any], weight: float) -> None:
        """One round of single-prototype ranking: `values` has a row of features for each label."""
        codes = sorted(int(self.labels.codes[label]) for label in relevant)
        self._engine.learn_block(names, values, labels=np.asarray(codes, dtype=np.int64), weight=weight)

    def score_block(self, names: list[str], values: Doubles) -> Doubles:
        """The score of each label."""
        scores: Any = self._engine.score_block(names, values, self.averaged)
        return np.asarray(scores)

    def name_columns(self, names: Iterable[str]) -> None:
        """Names the columns of arrays that are to come, so that dicts can be learned too."""
        self._engine.name_columns(as_list(names, "names", "of names", False))
        self._arrays_fit = True

    def set_radius(self, radius: float) -> None:
        """Replaces a radius by quantile, where all distances are known; learning goes on from it."""
        self._engine.set_tracked_radius(targets.number(radius, "the radius"))

    def change(self, **changes: Any) -> None:
        """Goes on with another `step`, `C`, `margin`, `beta` or `epsilon`; what was learned stays."""
        fixed = [n for n in changes if n not in ("step", "C", "margin", "beta", "epsilon")]
        if fixed:
            names = ", ".join(fixed)
            raise ValueError(f"{names} cannot change once learning has begun; start anew with `fit`")
        changed = {**self.parameters, **changes}
        table.check(self.task, changed)
        try:
            self._change_rule(changed)
            self.parameters = changed
        except BaseException:  # an interrupt may come between the two
            self._change_rule(self.parameters)
            raise

    def _change_rule(self, options: Mapping[str, Any]) -> None:
        self._engine.change_rule(
            table.step_of(self.task, options), float(options["C"]), float(options["margin"]),
            float(options["epsilon"]), beta_of(options),
        )  # fmt: skip

    # ---- labels, targets, rows --------------------------------------------------------------------------

    def encoded(
        self, y: Any, count: int, sample_weight: npt.ArrayLike | None
    ) -> tuple[Encoded, Doubles | None]:
        """The truth and the weights of rows as the core reads them, with those of the classes: what several passes over
        the same rows take in place of `y` and `sample_weight`. All labels must be known."""
        weights = self._weights(y, count, sample_weight)
        truth = growth.encoded(self.task, self.labels, y, count, None)
        if truth.classes is not None:
            truth = Encoded(self.labels.codes_of(targets.labels_of(y, count), None))
        return truth, weights

    def forget_rows(self) -> None:
        """After several passes over the same rows: what was kept of them for the next one goes."""
        self._engine.forget_rows()

    def _weights(self, y: Any, count: int, sample_weight: npt.ArrayLike | None) -> Doubles | None:
        weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight")
        if weights is not None and len(weights) != count:
            raise ValueError(f"sample_weight has {len(weights)} entries for {count} rows")
        if self._class_weight is not None and y is not None and not isinstance(y, Encoded):
            labels = targets.labels_of(y, count)
            factors = np.ones(count)
            for label, factor in self._class_weight.items():
                factors[labels == label] = factor
            weights = factors if weights is None else weights * factors
        return weights

    def _event_list(self, events: Any) -> list[dict[Any, Any]]:
        listed = as_list(
            events, "X", "of dicts of named features, an array, a sparse matrix or a DataFrame", False
        )
        return [self._event(row, x) for row, x in enumerate(listed)]

    @staticmethod
    def _event(row: int, x: Any) -> dict[Any, Any]:
        if isinstance(x, dict):
            return x
        if isinstance(x, Mapping):
            return dict(x)
        raise InputTypeError(f"an event must be a dict of named features, not {type(x).__name__}", row)

    def _named_rows(self, frame: Any, learning: bool = True) -> Rows:
        """A DataFrame's columns, by their names."""
        if self.parameters["hash_bits"] is not None:
            raise ValueError("with hash_bits give events as dicts (learn_many takes a list of them)")
        values, names = frame_values(frame)
        if learning:
            self._events()
        while learning:
            known = set(self.feature_names)
            fresh = [name for name in names if name not in known]
            if self.parameters["at_max_features"] == "ignore":
                fresh = self._first_of(fresh, values)
            try:
                self._engine.name_columns(fresh)
                break
            except ValueError:
                if set(fresh).isdisjoint(self.feature_names):  # else another thread was quicker with some
                    raise
        return rows_by_name(values, names, self._column_names)

    def _first_of(self, fresh: list[Any], values: Any) -> list[Any]:
        """The new columns that there is room for; values of the others are ignored, and counted."""
        room = max(0, int(self.parameters["max_features"]) - self.n_features)
        if len(fresh) > room:
            self._engine.n_ignored += len(fresh[room:]) * len(values)
        return fresh[:room]
