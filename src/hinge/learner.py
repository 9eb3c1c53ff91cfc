"""`Learner`: one online learner. Start here.

A `Learner` connects four parts and does little itself:

* the engine (`_core.Engine`, C++) holds the weights, names and labels, and runs the rounds: predict, suffer a loss,
  update;
* the task (`self._task`, tasks/) knows how a label is encoded, how scores become a prediction, what a mistake costs;
* the parameters (options/) are the options of the learner, checked once, when it is made;
* the readers (data/, model/columns.py) turn dicts, arrays, sparse matrices and DataFrames into rows for the engine.

So nothing here tests the name of a task. A batch is learned completely or not at all: see tasks/batch.py. Weights,
explanations, covariances, supports and files are read off a learner in model/. The scikit-learn estimators
(estimators/) are built on `Learner`; this module does not depend on scikit-learn.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

from .data import targets
from .data.events import as_events, as_list, event_list, is_frame, is_numpy, is_sparse
from .data.labels import Labels, plain
from .data.weights import check_weight
from .model import covariance, encoding, engine, experts, explain, file, learner_file, supports, weights
from .model.explain import Contribution
from .model.guard import Guard
from .model.statistics import Statistics
from .options import table
from .options.classes import CLASSES
from .options.constructors import signature
from .tasks import learner_tasks, task_named
from .tasks.task import Task

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._core import Engine, TextPart
    from .data.rows import Rows
    from .data.types import Doubles
    from .options.types import LearnerOptions
    from .theory.certificate import Certificate


class Learner:
    """An online learner: for each example it predicts, gets the true label, and updates its weights just enough.

    `task` is 'classification' (two or more classes), 'multilabel' (sets of labels), 'ordinal' (ranks),
    'regression' or 'uniclass' (one-class learning). The options are those of the task (docs/reference/options.md).

    Examples come one at a time, as dicts of named features (`learn_one`, `predict_one`, `round_one`), or many at a
    time (`learn_many`, `learn`, `scores`). New features and new labels may appear at any time. Invalid input raises
    `InputError` and changes nothing. A learner can be saved, pickled and shared by threads; a saved one resumes
    bit-identically (`hinge.load`).

    >>> from hinge import Learner
    >>> learner = Learner("classification", C=0.5)
    >>> learner.learn_one({"free": 1.0, "money": 2.0}, "spam")
    >>> learner.learn_one({"meeting": 1.0, "monday": True}, "ham")
    >>> learner.learn_one({"invoice": 1.0, "money": 1.0}, "bills")
    >>> learner.predict_one({"meeting": 1.0})
    'ham'
    """

    _engine: Engine

    @signature("Learner")
    def __init__(self, task: str, **options: Unpack[LearnerOptions]) -> None:
        self._begin(task, options)

    @classmethod
    def _from_checked(cls, task: str, options: Mapping[str, Any]) -> Self:
        """A new learner whose options an estimator has already checked."""
        learner = cls.__new__(cls)
        learner._begin(task, options, checked=True)
        return learner

    def _begin(self, name: str, options: Mapping[str, Any], checked: bool = False) -> None:
        """Sets up a learner that has not learned anything yet."""
        task = task_named(name, learner_tasks())
        parameters = _completed(task, options, checked)
        self._set_up(task, parameters)
        self._engine = engine.new_engine(task, parameters, task.first_labels(parameters))
        engine.start(self)

    def _set_up(self, task: Task, parameters: dict[str, Any]) -> None:
        """Everything but the engine: for a new learner, and for one from a file."""
        self._task, self.task = task, task.name
        self.parameters = parameters
        self.notes: dict[str, Any] = {}  # JSON that is saved with the model, such as where the data came from
        self.closed = task.is_closed(parameters)  # whether unknown labels are rejected
        # The vote of a committee decides which averages count.
        self.averaged = bool(parameters["average"]) and not experts.words_of(task, parameters)
        factors = parameters["class_weight"]
        self._class_weight: dict[Any, float] | None = dict(factors) if factors else None
        # Whether the core learns and predicts labels without an encoding by the task: the fast path of one event.
        self._predicts_labels = task.core_knows_labels
        self.by_label = task.core_knows_labels and self._class_weight is None
        self._guard = Guard()  # held while labels or names may change; the core has its own
        self._named = False  # whether every column is known to have a name
        self._arrays_fit = False  # whether the names were given in the order of an array's columns

    @property
    def step(self) -> str:
        """The update rule. If the option `step` is None, the task chooses it."""
        return self._task.step_of(self.parameters)

    @property
    def _lock(self) -> Any:
        """Held while labels or names may change."""
        return self._guard.lock

    @property
    def labels(self) -> Labels:
        """The labels, in order. The core holds them together with their weights."""
        labels = self._engine.labels
        assert isinstance(labels, Labels)
        return labels

    # ---- one event ------------------------------------------------------------------------------------

    def learn_one(self, x: dict[Any, Any], y: Any = None, weight: float = 1.0) -> None:
        """Learns from one example: the features `x`, a dict of names and values, and the truth `y`.

        Numbers are values; strings and booleans are indicators ({"color": "red"} is the feature "color=red").
        The weight scales C; an example of weight 0 is not learned.
        """
        try:
            if self.by_label and self._engine.learn_label(x, y, weight):
                return
            if not self._named:
                self._events()
            self._task.learn_one(self, x, y, weight)
        except TypeError:
            check_weight(weight)
            raise

    def round_one(self, x: dict[Any, Any], y: Any = None, weight: float = 1.0) -> Any:
        """Predicts, then learns, and returns the prediction. Faster than `predict_one` and `learn_one`."""
        if self.by_label:
            predicted = self._engine.round_label(x, y, weight, self.averaged)
            if predicted is not NotImplemented:
                return predicted
        predicted = self.predict_one(x)
        self.learn_one(x, y, weight)
        return predicted

    def score_one(self, x: dict[Any, Any]) -> Any:
        """w.x with the intercept; for uniclass radius - |x - w|; for many labels a dict of scores.

        Unknown features have the weight 0.
        """
        return self._task.score_one(self, x)

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The label (None before the first one), the set of labels, the rank, the number, or for uniclass 1
        (inside) or -1 (outside)."""
        if self._predicts_labels:
            return self._engine.predict_label(x, self.averaged)
        return self._task.predict_one(self, x)

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """Classification: the probability of each label, the highest of them for the label that is predicted.

        They are calibrated online, on scores that were computed before their labels were seen."""
        lanes = self._lanes_one(x)
        found = self._task.probabilities(self, lanes.reshape(1, -1))[0]
        return dict(zip(self.labels.known, found.tolist(), strict=True))

    def _lanes_one(self, x: dict[Any, Any]) -> Doubles:
        lanes: Any = self._engine.scores_one(x, self.averaged)
        return lanes  # type: ignore[no-any-return]

    def _events(self) -> None:
        """Names the columns that were learned from arrays by their numbers: events need names."""
        if self._named:
            return
        self._named = True
        self._engine.number_columns()

    # ---- learning from many ---------------------------------------------------------------------------

    def learn_many(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> None:
        """Learns a list of dicts, a DataFrame, an array or a CSR matrix: all of it, or nothing if it is invalid."""
        from .tasks import batch

        X = as_events(X)
        if is_frame(X):
            batch.learn_frame(self, X, y, sample_weight)
        elif is_numpy(X) or is_sparse(X):
            self.learn(X, y, sample_weight)
        else:
            batch.learn_events(self, event_list(X), y, sample_weight)

    def learn(
        self,
        X: Any,
        y: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        order: npt.ArrayLike | None = None,
        tolerance: float | None = None,
        max_updates: int | None = None,
    ) -> int:
        """One pass over the rows of an array or a CSR matrix, without copying: all of it, or nothing if it is invalid.

        `order` lists the rows to visit. With `tolerance`, only rows whose squared loss exceeds it are learned (S21,
        the batch conversion), at most `max_updates` of them. Returns how many were learned.
        """
        from .model import columns
        from .tasks import batch

        rows = columns.unnamed(self, X)
        return batch.learn_rows(
            self, rows, y, sample_weight, order=order, tolerance=tolerance, max_updates=max_updates
        )

    def learn_rows(
        self, rows: Rows, y: Any, sample_weight: npt.ArrayLike | None = None, **passing: Any
    ) -> int:
        """Like `learn`, for rows of a stream: their number of columns may differ from that of earlier rows."""
        from .tasks import batch

        return batch.learn_rows(self, rows, y, sample_weight, **passing)

    def learn_text(self, text: TextPart) -> bool:
        """Learns rows of a text natively: numbers, or two classes. False, and nothing is done, if the targets need the
        encoding by the task (`learn_rows`)."""
        task = self._task
        if self._class_weight or not (task.core_knows_labels or task.reads_numbers or not task.needs_labels):
            return False
        grows = not self.closed and self.parameters["w1"] is None and self.parameters["max_labels"] >= 2
        with self._lock:
            self._named = False
            return self._engine.learn_text(text, grows)

    def read_events(self, events: Iterable[Any]) -> Rows:
        """Converts events to rows, for several passes over them. Their features become columns of the model."""
        from .data.rows import Rows

        with self._lock:
            self._events()
            return Rows(*self._engine.read_dicts(event_list(events)))

    def set_first_visit(self, first: bool) -> None:
        """Whether the rows to come are new. Probabilities are calibrated on new rows only."""
        self._engine.set_observes_outcomes(first)

    def forget_rows(self) -> None:
        """Drops what is cached between several passes over the same rows."""
        self._engine.forget_rows()

    # ---- scores of many -------------------------------------------------------------------------------

    def scores(self, X: Any) -> Doubles:
        """The score of each row or event: see `score_one`. For many labels, one column per label."""
        return self._task.scores(self, self.lanes(X))

    def scores_of(self, rows: Rows, unseen: Doubles | None = None) -> Doubles:
        return self._task.scores(self, self.lanes_of(rows, unseen))

    def predict_proba(self, X: Any) -> Doubles:
        """The probabilities of the labels, one row per example: see `predict_proba_one`."""
        return self._task.probabilities(self, self.scores(X))

    def lanes(self, X: Any) -> Doubles:
        """The raw scores of the core, one per lane (ordinal: w.x less each threshold; uniclass: |x - w|)."""
        from .model import scoring

        return scoring.lanes(self, X)

    def lanes_of(self, rows: Rows, unseen: Doubles | None = None) -> Doubles:
        """The same for rows. `unseen`, with a kernel: the squared values of each row's features without a column."""
        from .model import scoring

        return scoring.lanes_of(self, rows, unseen)

    @property
    def _sees_unseen(self) -> bool:
        """Whether features that no support has change the kernel values, as they do in distances."""
        kernel = self.parameters["kernel"]
        return isinstance(kernel, str) and (kernel == "rbf" or self._task.measures_distance)

    def uncertainty_one(self, x: dict[Any, Any]) -> float:
        """x'Sx, with the constant feature of an intercept: the variance of the score of x. Unknown features have the
        initial variance."""
        covariance.check_has_covariance(self)
        return self._engine.uncertainty_one(x)

    def uncertainty(self, X: Any) -> Doubles:
        """x'Sx of each row (see `uncertainty_one`)."""
        from .model import scoring

        return scoring.uncertainty(self, X)

    def uncertainty_of(self, rows: Rows) -> Doubles:
        from .model import scoring

        return scoring.uncertainty_of(self, rows)

    # ---- changes --------------------------------------------------------------------------------------

    def name_columns(self, names: Iterable[str]) -> None:
        """Names the columns of arrays, so that dicts can be learned too."""
        self._engine.name_columns(as_list(names, "names", "of names", False))
        self._arrays_fit = True

    def set_radius(self, radius: float) -> None:
        """Sets a radius by quantile, for data whose distances are all known; learning continues from it."""
        self._engine.set_tracked_radius(targets.number(radius, "the radius"))

    def change(self, **changes: Any) -> None:
        """Changes `step`, `C`, `margin`, `beta` or `epsilon`. The weights stay."""
        fixed = [n for n in changes if n not in ("step", "C", "margin", "beta", "epsilon")]
        if fixed:
            names = ", ".join(fixed)
            raise ValueError(f"{names} cannot change once learning has begun; start anew with `fit`")
        changed = {**self.parameters, **changes}
        table.check(self.task, changed)
        if experts.words_of(self._task, changed) or experts.is_committee(self):
            raise ValueError(
                f"{', '.join(changes)} of a committee cannot change once learning has begun; start anew with `fit`"
            )
        try:
            engine.change_rule(self, changed)
            self.parameters = changed
        except BaseException:  # an interrupt may arrive between the two lines
            engine.change_rule(self, self.parameters)
            raise

    # ---- what has been learned ------------------------------------------------------------------------

    @property
    def many_scores(self) -> bool:
        """Whether each label has a score. Two classes share one, unless `selection` or `cost` needs two."""
        return self._task.many_scores(self.labels)

    @property
    def _first_lane(self) -> int:
        """The number of lanes before those of the labels: 1 with a learned threshold."""
        return self._task.first_lane(self.parameters)

    @property
    def _has_intercept(self) -> bool:
        return engine.has_intercept(self._task, self.parameters)

    def lane_of(self, label: Any) -> int:
        """The index of a label's score among all lanes."""
        code = self.labels.code(plain(label))
        if code is None:
            raise ValueError(f"the label {label!r} is not one of the labels {self.labels.listed()}")
        return self._first_lane + int(code)

    @property
    def weights(self) -> npt.NDArray[Any]:
        """w (the average, if `average`), one number per column; many labels: one row each; uniclass: the centre."""
        return weights.weights_of(self, self.averaged)

    @property
    def last_weights(self) -> npt.NDArray[Any]:
        """w after the last round, not averaged."""
        return weights.weights_of(self, False)

    def named_weights(self) -> dict[Any, Any]:
        """The weights by feature name; many labels: a dict for each label."""
        return weights.named(self)

    @property
    def intercept(self) -> Any:
        """A number; many labels: one per label."""
        return self._task.intercept(self, self.averaged)

    @property
    def last_intercept(self) -> Any:
        return self._task.intercept(self, False)

    def _extras(self, averaged: bool) -> Doubles:
        extras: Any = self._engine.biases(averaged)
        return extras  # type: ignore[no-any-return]

    @property
    def constant(self) -> float:
        """The value of the constant feature of the intercept: `intercept_value`, or what 'auto' made of the first
        example. 0 without an intercept, and before that example."""
        return self._engine.constant

    @property
    def thresholds(self) -> Doubles:
        """Ordinal: the thresholds b between the ranks."""
        return self._extras(self.averaged)

    @property
    def radius_by_quantile(self) -> bool:
        return self._task.radius_by_quantile(self.parameters)

    @property
    def radius(self) -> float:
        """Uniclass: the radius of the ball."""
        return self._task.radius(self)

    @property
    def covariance(self) -> Doubles:
        """S: a matrix, or for geometry='diagonal' the variances; without the coordinate of the intercept."""
        covariance.check_has_covariance(self)
        variances, upper = self._engine.factors()
        return covariance.covariance(variances, upper, self._has_intercept)

    @property
    def supports(self) -> supports.SupportSet:
        """The supports: the numbers of their examples, their coefficients and their vectors."""
        supports.check_has_kernel(self.parameters["kernel"])
        with self._lock:
            return supports.SupportSet(self._engine.supports(self.averaged), self.n_features)

    @property
    def n_support(self) -> int:
        """How many supports there are."""
        supports.check_has_kernel(self.parameters["kernel"])
        return self._engine.n_support

    @property
    def support(self) -> npt.NDArray[np.int64]:
        """The examples that are supports, numbered from 0 in the order of arrival; after `fit` the rows of X."""
        return self.supports.numbers

    @property
    def dual_coef(self) -> Doubles:
        """The coefficients of the supports (of the average, if `average`); many labels: one row each."""
        coefficients = self.supports.coefficients
        return weights.of_labels(self, coefficients.T) if self.many_scores else coefficients[:, 0]

    @property
    def support_vectors(self) -> Any:
        """The support vectors, one per row: an array, or a CSR matrix if the examples were sparse."""
        return self.supports.vectors

    @property
    def statistics(self) -> Statistics:
        return Statistics(*self._engine.statistics())

    @property
    def n_features(self) -> int:
        return self._engine.n_columns

    @property
    def n_ignored(self) -> int:
        """How often a new feature was ignored because the model already had `max_features`."""
        return self._engine.n_ignored

    @property
    def feature_names(self) -> list[Any]:
        """The names of the columns, in order; empty if features are hashed or were learned from arrays."""
        return self._engine.names()

    @property
    def _column_names(self) -> list[Any]:
        """The names of all columns; columns that were learned from arrays have their numbers as names."""
        names = self.feature_names
        return names + list(range(len(names), self.n_features))

    def explain_one(self, x: dict[Any, Any], label: Any = None) -> list[Contribution]:
        """What each feature contributed to the score, the largest first.

        The contributions add up to the score of `label` (default: the label with the highest score). For uniclass
        they add up to the squared distance from the centre, where '(other features)' are those that x does not have.
        """
        return explain.of_event(self, x, label)

    def certificate(self, X: Any = None, y: Any = None, u: Any = None, intercept: Any = None) -> Certificate:
        """What the learner suffered on the rows of X, learned once in this order, and what the theorems guaranteed.

        `u` are the weights of a comparator and `intercept` its intercepts or thresholds. None: some are fitted. A
        committee needs no data: what is guaranteed relative to its experts was observed.
        """
        if experts.is_committee(self):
            from .theory import committees

            return committees.certificate(self, X, y, u, intercept)
        from .theory.hindsight.rows import certificate

        return certificate(self, X, y, u, intercept)

    # ---- committees -----------------------------------------------------------------------------------

    @property
    def experts(self) -> experts.Experts:
        """The experts of a committee: the weight of each in the vote, its error so far, its statistics."""
        return experts.experts_of(self)

    def leader(self) -> Learner:
        """The expert of a committee that has the largest weight, as a plain learner: it continues by itself, and its
        statistics and certificates are its own."""
        return experts.leader_of(self)

    # ---- files ----------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file, atomically. `hinge.load` reads it."""
        file.save(path, *self._parts())

    def to_bytes(self) -> bytes:
        return file.to_bytes(*self._parts())

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        """The content of its file: a JSON header, and arrays."""
        import numpy as np

        header, tensors = self._parts()
        return header, {name: np.asarray(tensor) for name, tensor in tensors.items()}

    @staticmethod
    def defaults() -> dict[str, Any]:
        """The defaults of the options, which a file omits."""
        return CLASSES["Learner"].completed({})

    def _parts(self) -> tuple[dict[str, Any], file.Tensors]:
        """The same with buffers, which do not need numpy."""
        return learner_file.parts_of(self, self.defaults())

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        """A learner from the content of its file."""
        task = task_named(header["task"], learner_tasks())
        parameters = _completed(task, encoding.decoded(header["parameters"], tensors, functions))
        learner = cls.__new__(cls)
        learner_file.restore(learner, task, parameters, header, tensors)
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
        plain = {name: value for name, value in self.parameters.items() if not is_numpy(value)}
        changed = {name: value for name, value in plain.items() if value != table.default(name)}
        if plain["step"] is None:
            changed.pop("step")
        texts = [f"{name}={value!r}" for name, value in changed.items() if len(repr(value)) < 200]
        return f"Learner({', '.join([repr(self.task), *texts])})"


def _completed(task: Task, values: Mapping[str, Any], checked: bool = False) -> dict[str, Any]:
    """All options of a learner: the given values, and defaults for the others."""
    if values.get("experts") is not None:
        values = {**experts.OPTIONS.get(task.name, {}), **values}
    parameters = table.without_auto(CLASSES["Learner"].completed(values))
    if not task.keeps_open_step:
        parameters["step"] = task.step_of(parameters)
    if not checked:
        table.check(task.name, parameters)
    if isinstance(parameters["class_weight"], str):
        raise ValueError("class_weight='balanced' needs all data at once: it works in `fit` only")
    return parameters
