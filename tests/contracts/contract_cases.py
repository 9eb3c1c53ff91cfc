"""The one list of cases: every kind of model.

Their options are in cases.py, kernel_cases.py, sequence_cases.py and estimator_cases.py; `checks` has what is promised.
"""

from __future__ import annotations

import copy
import functools
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

import cases
import hinge
import kernel_cases
import sequence_cases
from cases import CLASSES, LABELS, NAMES, RANKS, as_dict, as_dicts, csr
from contract_case import Case, Data, answers, attribute, in_form
from estimator_cases import OF_CONTRACTS
from hinge.structured.sequence_learner import SequenceLearner

UNSEEN = {"alpha": 1.0, "never seen": 2.0, "color": "red", "flag": True}


class LearnerCase(Case):
    is_learner = True

    def new(self, **more: Any) -> hinge.Learner:
        return cases.new(self.task, {**self.options, **more})

    def data(self, form: str = "events", seed: int = 0) -> Data:
        X, y, weights = cases.stream(self.task, self.count, seed)
        return Data(self.in_form(form, X), y, weights)

    def in_form(self, form: str, X: np.ndarray) -> Any:
        """An array is as wide as a model that hashes."""
        return in_form(form, cases.rows_for(self.options, X) if form in ("dense", "csr") else X)

    @property
    def forms(self) -> tuple[str, ...]:
        return ("dense", "csr", "events") if self.hashes else ("dense", "csr", "events", "frame")

    def learn(self, model: Any, data: Data) -> None:
        rows = isinstance(data.X, np.ndarray) or scipy.sparse.issparse(data.X)
        (model.learn if rows else model.learn_many)(data.X, data.y, data.weights)

    def scores(self, model: Any, X: Any) -> Any:
        return cases.numbers(model, X) if isinstance(X, list) else model.scores(X)

    def snapshot(self, model: Any) -> Any:
        return self.state(model)

    @property
    def ways(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "bytes": lambda model: hinge.Learner.from_bytes(model.to_bytes(), **self.functions),
            **super().ways,
            "pickle, protocol 2": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
            "copy": copy.copy,
        }

    @property
    def functions(self) -> dict[str, Any]:
        """What no file holds."""
        return {} if self.is_exact else {"kernel": self.kernel}

    def load(self, path: Path) -> Any:
        return hinge.load(path, **self.functions)

    def questions(self, form: str) -> Iterator[Callable[[Any], Any]]:
        X = cases.stream(self.task, self.count)[0]
        rows = self.in_form("dense", X)
        for event in (UNSEEN, as_dict(X[0]), {}):
            yield answers("predict_one", event)
            yield answers("score_one", event)
            if self.kernel is None:
                yield answers("explain_one", event)
            if self.has_covariance:
                yield answers("uncertainty_one", event)
        if form in ("dense", "csr"):
            yield answers("scores", rows)
            yield answers("scores", csr(rows))
            if self.has_covariance:
                yield answers("uncertainty", csr(rows))
        elif not self.hashes and len(NAMES) == X.shape[1]:
            yield answers("scores", in_form("frame", X).assign(new=1.0))
        views = ["statistics", "n_features", "feature_names"]
        views += (
            ["n_support", "support", "dual_coef", "support_vectors"]
            if self.kernel
            else ["weights", "intercept"]
        )
        views += ["covariance"] if self.has_covariance else []
        views += {"uniclass": ["radius"], "ordinal": ["thresholds"]}.get(self.task, [])
        yield from map(attribute, views)
        yield from (repr, copy.deepcopy, sys.getsizeof)


class KernelCase(LearnerCase):
    count = kernel_cases.COUNT
    batches = (13, 65)
    stages = (40, 70)

    @property
    def tolerance(self) -> tuple[float, float]:
        return (1e-3, 1e-4) if self.is_single else (1e-9, 1e-10)

    @property
    def forms(self) -> tuple[str, ...]:
        return super().forms if self.is_exact else ("dense", "csr")

    batch_forms = ("dense", "csr")

    def assert_same(self, ours: Any, theirs: Any, what: str = "") -> None:
        if self.is_exact:
            return super().assert_same(ours, theirs, what)
        X = self.in_form("dense", cases.stream(self.task, self.count)[0])
        self.close(ours.scores(X), theirs.scores(X), what)
        np.testing.assert_array_equal(ours.support, theirs.support, what)
        return None


class LabelCase(LearnerCase):
    """Labels that come with the stream: two at first, the others in the middle of a batch, with new features."""

    grows = True
    room = 24  # where a new label comes first
    stages = (1, 7, room, room + 10, room + 11)
    least_updates = 6

    @property
    def batch_forms(self) -> tuple[str, ...]:
        return self.forms

    def new(self, **more: Any) -> hinge.Learner:
        return hinge.Learner(self.task, **{"C": 0.3, **self.options, **more})

    def data(self, form: str = "events", seed: int = 0) -> Data:
        X, y, weights = cases.stream(
            "multiclass" if self.task == "classification" else self.task, self.count, seed
        )
        rng = np.random.default_rng(seed + 1)
        late = slice(self.room + 9, self.room + 12)
        if self.task == "classification":
            early = np.isin(y, CLASSES[2:]) & (np.arange(self.count) < self.room)
            y[early] = rng.choice(CLASSES[:2], early.sum())
            y[late] = CLASSES[3], CLASSES[2], CLASSES[3]
        else:
            y[: self.room] = [its - set(CLASSES[2:]) for its in y[: self.room]]
            y[self.room + 9] = frozenset(CLASSES[1:])
        weights[:2], weights[late] = 1.0, 1.0
        given = self.in_form(form, X)
        if form == "events":
            for i, event in enumerate(given):
                event[f"new{i // 5}"] = 0.5
        return Data(given, y, weights)


class EstimatorCase(Case):
    is_estimator = True
    batches = (7,)
    batch_forms = ("dense", "csr")
    stages = (20, 40)

    @functools.cached_property
    def cls(self) -> Any:
        return getattr(hinge, self.task)

    def new(self, **more: Any) -> Any:
        return self.cls(**{**self.options, **more})

    @property
    def known(self) -> list[Any] | None:
        """The labels in order, of all that have some."""
        if issubclass(self.cls, hinge.PAClassifier):
            return self.options.get("classes", LABELS.tolist())
        known = {hinge.PAMultilabel: CLASSES, hinge.PAOrdinal: RANKS}
        return next((labels for cls, labels in known.items() if issubclass(self.cls, cls)), None)

    def data(self, form: str = "events", seed: int = 0) -> Data:
        task = (
            "multiclass"
            if issubclass(self.cls, hinge.PAClassifier) and "classes" in self.options
            else self.cls._task
        )
        X, y, weights = cases.stream(task, self.count, seed)
        if self.geometry == "entropy" and form in (
            "events",
            "frame",
        ):  # all features are known before they are learned
            X[0] = 0.5 + np.arange(len(NAMES))
        return Data(in_form(form, X), y, weights)

    @property
    def forms(self) -> tuple[str, ...]:
        """Ranks must be known before events are learned; partial_fit has the classes."""
        rows = ("dense", "csr")
        return (
            rows
            if issubclass(self.cls, hinge.PAOrdinal) and "classes" not in self.options
            else (*rows, "events", "frame")
        )

    def learn(self, model: Any, data: Data) -> None:
        if isinstance(data.X, (list, pd.DataFrame)):
            model.learn_many(data.X, *([] if data.y is None else [data.y]), sample_weight=data.weights)
        else:
            more = {} if self.known is None else {"classes": self.known}
            model.partial_fit(data.X, data.y, sample_weight=data.weights, **more)

    def learn_one(self, model: Any, x: Any, y: Any, weight: float = 1.0) -> None:
        model.learn_one(x, *([] if y is None else [y]), weight=weight)

    def scores(self, model: Any, X: Any) -> Any:
        return cases.numbers(model, X) if isinstance(X, list) else model._learner.scores(X)

    def questions(self, form: str) -> Iterator[Callable[[Any], Any]]:
        X, y, _ = cases.stream("multiclass" if self.known == CLASSES else self.cls._task)
        if issubclass(self.cls, hinge.PAMultilabel):
            y = cases.stream("multilabel")[1]
        asked = [X, csr(X)] if form in ("dense", "csr") else [as_dicts(X), in_form("frame", X)]
        for given in asked:
            yield answers("predict", given)
            if hasattr(self.cls, "decision_function"):
                yield answers("decision_function", given)
            if y is not None:
                yield answers("score", given, y)
            if self.has_covariance:
                yield answers("uncertainty", given)
        for event in (dict(enumerate(X[3].tolist())), {"unseen": 1.0}):
            yield from (answers(name, event) for name in ("predict_one", "score_one", "explain_one"))
            if self.has_covariance:
                yield answers("uncertainty_one", event)
        views = ["stats_", "covariance_"] if self.has_covariance else ["stats_"]
        yield from map(attribute, [*views, *(["n_features_in_"] if form == "dense" else [])])
        yield from (repr, copy.deepcopy, answers("get_params"))


class SequenceCase(Case):
    is_sequence = True
    count = 48
    batches = (7,)
    batch_forms = ("events", "strings")
    least_updates = 6

    def new(self, **more: Any) -> hinge.PASequence:
        return sequence_cases.new(self.options, **more)

    def data(self, form: str = "events", seed: int = 0) -> Data:
        if form == "matrices":
            X, y = sequence_cases.matrices()
            return Data(X, y, np.ones(len(X)))
        make = sequence_cases.strings if form == "strings" else sequence_cases.stream
        return Data(*make(self.count, *([seed] if seed else [])))

    @property
    def forms(self) -> tuple[str, ...]:
        return ("events", "strings") if self.hashes else ("events", "strings", "matrices")

    @property
    def is_open(self) -> bool:
        """Whether tags may come with the stream: a cost by tags names them."""
        return sequence_cases.is_open(self.options)

    @property
    def is_custom(self) -> bool:
        return callable(self.options.get("cost"))

    @property
    def tolerance(self) -> tuple[float, float]:
        return (sequence_cases.tolerance(self.options),) * 2

    def state(self, model: Any) -> bytes:
        return sequence_cases.state(model)

    def learn(self, model: Any, data: Data) -> None:
        model.learn_many(data.X, data.y, data.weights)

    def load(self, path: Path) -> Any:
        return hinge.PASequence.load(path, cost=self.options["cost"]) if self.is_custom else hinge.load(path)

    def learner_from_bytes(self, data: bytes) -> SequenceLearner:
        return SequenceLearner.from_bytes(data, self.options["cost"] if self.is_custom else None)

    def scores(self, model: Any, X: Any) -> Any:
        return [model.score_one(x) for x in X]

    def questions(self, form: str) -> Iterator[Callable[[Any], Any]]:
        X, y, _ = sequence_cases.stream(self.count)
        unseen: list[Any] = [{"never": 1.0, "w0": 2.0}, {}, {"shape": "never"}]
        for sentences in (X, [unseen], [], [[]]):
            yield answers("predict", sentences)
        yield answers("score", X, y)
        for x in (X[3], unseen, tuple(X[3])):
            yield from (
                answers(name, x) for name in ("predict_one", "predict_single", "score_one", "explain_one")
            )
        views = (
            "classes_",
            "attributes_",
            "stats_",
            "transition_features_",
            "start_features_",
            "state_features_",
        )
        yield from map(attribute, views)
        yield from (repr, copy.deepcopy, answers("get_params"))


def _cases() -> Iterator[Case]:
    for task, options in cases.ALL:
        yield LearnerCase(f"{task}-{cases.name(options)}", task, options, (task, options) in cases.SOME)
    for task, options in kernel_cases.KERNELS:
        sampled = (task, options) in kernel_cases.SOME_KERNELS
        yield KernelCase(f"{task}-{kernel_cases.name(options)}", task, options, sampled)
    for task, options in kernel_cases.OWN:
        yield KernelCase(f"{task}-{kernel_cases.name(options)}", task, options)
    for number, (task, options) in enumerate(cases.GROWING):
        shown = {**options, "threshold": "0.0"} if "threshold" in options else options
        yield LabelCase(f"{task}-new-labels-{cases.name(shown)}", task, options, number % 5 == 0)
    for cls, options in OF_CONTRACTS:
        yield EstimatorCase(f"{cls.__name__}-{cases.name(options)}", cls.__name__, options)
    for options in sequence_cases.CASES:
        name = f"sequence-{sequence_cases.name(options)}"
        yield SequenceCase(name, "sequence", options, options in sequence_cases.SOME)


CASES = list(_cases())
LEARNERS = [case for case in CASES if case.is_learner]
SEQUENCES = [case for case in CASES if case.is_sequence]
