"""Every estimator with a small stream, all ways to teach it, all ways to ask it, and another value for each option."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import hinge
import hinge.river
from cases import CLASSES, COST, LABELS, RANKS, as_dicts, one, part, state, stream
from hinge.model import file

# Another value for each option, one that could be meant.
OTHER: dict[str, Any] = {
    "step": "pa2",
    "C": 0.01,
    "experts": ["arow:0", "pa1:-2"],
    "margin": 0.5,
    "selection": "simperc",
    "beta": 0.5,
    "cost": {"ham": {"spam": 2.0}, "spam": {"ham": 1.0}},
    "nu": [[1.0, 2.0], [3.0, 4.0]],
    "features": "email",
    "threshold": 0.5,
    "sort_thresholds": True,
    "epsilon": 0.5,
    "radius": 0.3,
    "contamination": 0.2,
    "max_radius": 3.0,
    "fit_intercept": False,
    "intercept_value": 0.25,
    "scaling": "online",
    "geometry": "diagonal",
    "kernel": "rbf",
    "degree": 2,
    "gamma": 0.5,
    "coef0": 1.0,
    "budget": 5,
    "removal": "oldest",
    "max_cache": 2**20,
    "covariance_regularizer": 2.0,
    "initial_variance": 2.0,
    "covariance_update": "precision",
    "max_covariance": 2**20,
    "eta": 0.8,
    "scale": 3.0,
    "signed": False,
    "entropy_step": "paper",
    "w1": {"alpha": 1.0},
    "average": True,
    "classes": ["x", "y"],
    "max_labels": 7,
    "class_weight": {"ham": 2.0},
    "max_iter": 3,
    "tol": 0.5,
    "n_iter_no_change": 2,
    "early_stopping": True,
    "validation_fraction": 0.3,
    "shuffle": False,
    "batch_tolerance": 0.5,
    "max_updates": 7,
    "hash_bits": 4,
    "max_features": 100,
    "at_max_features": "ignore",
    "max_weights": 2**20,
    "dtype": "float32",
    "random_state": 3,
    "verbose": 1,
}
OTHER_OF_TEXTS: dict[str, Any] = {
    "analyzer": "char",
    "ngram_range": (1, 2),
    "lowercase": False,
    "weighting": "binary",
}


@dataclass(frozen=True)
class Case:
    name: str
    new: Callable[..., Any]
    teach: dict[str, Callable[[Any, slice], Any]]  # the learning methods; each learns some of the examples
    ask: dict[str, Callable[[Any], Any]]  # the methods that do not learn
    fit: Callable[[Any], Any] | None = None
    start: Callable[[Any], Any] | None = None  # a first partial_fit with all classes

    def __repr__(self) -> str:
        return self.name

    def learned(self, **options: Any) -> Any:
        """A model in the middle of its stream."""
        model = self.new(**options)
        self.teach["learn_one"](model, slice(0, 30))
        return model


COMMON = (
    "stats_",
    "n_support_",
    "support_",
    "dual_coef_",
    "support_vectors_",
    "covariance_",
    "coef_",
    "intercept_",
)


def _common(event: Any) -> dict[str, Callable[[Any], Any]]:
    return {
        "predict_one": lambda m: m.predict_one(event),
        "score_one": lambda m: m.score_one(event),
        "explain_one": lambda m: m.explain_one(event),
        "uncertainty_one": lambda m: m.uncertainty_one(event),
        "named_weights": lambda m: m.named_weights(),
        "classes_": lambda m: m.classes_,
        "repr": repr,
        "get_params": lambda m: m.get_params(),
        "state": state,
        **{name: functools.partial(_attribute, name) for name in COMMON},
    }


def _attribute(name: str, model: Any) -> Any:
    return getattr(model, name)


def _array_case(cls: type, task: str, known: Any, **options: Any) -> Case:
    X, y, _ = stream(task)
    events = as_dicts(X)
    rows = len(X)

    def learn_one(model: Any, some: slice) -> None:
        for i in range(*some.indices(rows)):
            model.learn_one(events[i]) if y is None else model.learn_one(events[i], one(y, i))

    def learn_many(model: Any, some: slice) -> None:
        model.learn_many(events[some], *([] if y is None else [part(y, some)]))

    def partial_fit(model: Any, some: slice) -> None:
        model.partial_fit(events[some], part(y, some))

    def start(model: Any) -> None:
        model.partial_fit(X, y, **({} if known is None else {"classes": known}))

    ask = {
        **_common(events[3]),
        "predict": lambda m: m.predict(events[:9]),
        "predict of arrays": lambda m: m.predict(X[:9]),
        "score": lambda m: m.score(events[:9], part(y, slice(9))),
        "decision_function": lambda m: m.decision_function(events[:9]),
        "predict_sets": lambda m: m.predict_sets(events[:9]),
        "ranking_report": lambda m: m.ranking_report(events[:9], part(y, slice(9))),
        "latent": lambda m: m.latent(events[:9]),
        "score_report": lambda m: m.score_report(events[:9], part(y, slice(9))),
        "score_samples": lambda m: m.score_samples(events[:9]),
        "uncertainty": lambda m: m.uncertainty(events[:9]),
        "certificate": lambda m: m.certificate(X, y),
    }
    teach = {"learn_one": learn_one, "learn_many": learn_many, "partial_fit": partial_fit}
    given = {"random_state": 0, "max_iter": 3, **({"tol": None} if hasattr(cls(), "C") else {}), **options}
    return Case(
        cls.__name__, lambda **more: cls(**{**given, **more}), teach, ask, lambda m: m.fit(X, y), start
    )


TEXTS = [
    "lunch on monday",
    "your invoice is here",
    "flight to rome",
    "invoice of monday",
    "lunch in rome",
] * 12
FOLDERS = ["personal", "bills", "travel", "bills", "personal"] * 12


def _searched(
    new: Callable[..., Any], X: list[Any], y: list[Any], classes: Any, ask: dict[str, Callable[[Any], Any]]
) -> Case:
    more = {} if classes is None else {"classes": classes}

    def learn_one(model: Any, some: slice) -> None:
        for x, truth in zip(X[some], y[some], strict=True):
            model.learn_one(x, truth)

    teach = {
        "learn_one": learn_one,
        "learn_many": lambda m, some: m.learn_many(X[some], y[some]),
        "partial_fit": lambda m, some: m.partial_fit(X[some], y[some]),
    }
    every = {
        **_common(X[0]),
        "predict": lambda m: m.predict(X[:9]),
        "score": lambda m: m.score(X[:9], y[:9]),
        "uncertainty": lambda m: m.uncertainty(X[:9]),
        "certificate": lambda m: m.certificate(X, y),
        **ask,
    }
    start = lambda m: m.partial_fit(X, y, **more)  # noqa: E731
    return Case(type(new()).__name__, new, teach, every, lambda m: m.fit(X, y), start)


SENTENCES = [
    [["w=the"], ["w=old"], ["w=man"]],
    [["w=the"], ["w=man"], ["w=sleeps"]],
    [["w=old"], ["w=men"]],
] * 20
TAGS = [["DET", "ADJ", "NOUN"], ["DET", "NOUN", "VERB"], ["ADJ", "NOUN"]] * 20


def joint_features(x: Any, y: int) -> dict[str, float]:
    return {f"f{j}": value for j, value in enumerate(x[y].tolist())}


def argmax(w: Any, x: Any) -> int:
    return int(np.argmax([w.dot(joint_features(x, y)) for y in range(len(x))]))


def wrong(y: int, predicted: int) -> float:
    return float(y != predicted)


def twice_wrong(y: int, predicted: int) -> float:
    return 2.0 * (y != predicted)


OUTPUTS = list(np.random.default_rng(0).normal(size=(60, 3, 4)))
RIGHT = [int(np.argmax(x @ [1.0, -1.0, 0.5, 0.0])) for x in OUTPUTS]

RANKER = _searched(
    lambda **options: hinge.PARanker(**{"features": "tfidf", **options}), TEXTS, FOLDERS,
    ["personal", "bills", "travel"], {"decision_function": lambda m: m.decision_function(TEXTS[:9])},
)  # fmt: skip
TEXT = _searched(
    lambda **options: hinge.TextClassifier(**{"random_state": 0, "max_iter": 3, "tol": None, **options}),
    TEXTS, FOLDERS,
    ["personal", "bills", "travel"], {"decision_function": lambda m: m.decision_function(TEXTS[:9])},
)  # fmt: skip
SEQUENCE = _searched(
    lambda **options: hinge.PASequence(**{"random_state": 0, "max_iter": 2, **options}), SENTENCES, TAGS,
    ["ADJ", "DET", "NOUN", "VERB"],
    {
        "predict_single": lambda m: m.predict_single(SENTENCES[0]),
        "score_one of tags": lambda m: m.score_one(SENTENCES[0], TAGS[0]),
        "transition_features_": lambda m: m.transition_features_,
        "start_features_": lambda m: m.start_features_,
        "state_features_": lambda m: m.state_features_,
        "attributes_": lambda m: m.attributes_,
    },
)  # fmt: skip
STRUCTURED = _searched(
    lambda **options: hinge.PAStructured(
        **{"joint_features": joint_features, "argmax": argmax, "cost": wrong, "random_state": 0,
           "max_iter": 2, **options}
    ),
    OUTPUTS, RIGHT, None, {"score_one": lambda m: m.score_one(OUTPUTS[0], 1)},
)  # fmt: skip

ESTIMATORS = [
    _array_case(hinge.PAClassifier, "classification", LABELS.tolist()),
    _array_case(hinge.PARegressor, "regression", None),
    _array_case(hinge.PAOneClass, "uniclass", None, radius=0.8),
    _array_case(hinge.PAMultilabel, "multilabel", CLASSES),
    _array_case(hinge.PAOrdinal, "ordinal", RANKS, classes=RANKS),
    _array_case(hinge.AutoClassifier, "classification", LABELS.tolist()),
    _array_case(hinge.AutoRegressor, "regression", None),
    _array_case(hinge.AutoMultilabel, "multilabel", CLASSES),
    _array_case(hinge.AutoOrdinal, "ordinal", RANKS, classes=RANKS),
    RANKER,
    TEXT,
    SEQUENCE,
    STRUCTURED,
]


# Estimators of rows and events with options of every kind, on which the contracts are checked.
_STEPS = [{}, {"step": "pa2", "C": 0.1, "average": True}, {"step": "pa", "dtype": "float32"}, {"average": 9}]
OF_CONTRACTS: list[tuple[type, dict[str, Any]]] = [
    *((cls, options) for cls in (hinge.PAClassifier, hinge.PARegressor) for options in _STEPS),
    *(
        (hinge.PAOneClass, {**options, "radius": 1.0} if options.get("step") == "pa" else options)
        for options in _STEPS
    ),
    (hinge.PAClassifier, {"step": "perceptron", "fit_intercept": False}),
    (hinge.PAClassifier, {"class_weight": {"ham": 2.0, "spam": 0.5}}),
    (hinge.PARegressor, {"fit_intercept": False, "epsilon": 0.01}),
    (hinge.PAOneClass, {"contamination": 0.3, "average": True}),
    (hinge.PAOneClass, {"max_radius": 2.5}),
    (hinge.PAOneClass, {"radius": 0.5, "w1": "zero"}),
    (hinge.PAClassifier, {"classes": CLASSES}),
    (hinge.PAClassifier, {"classes": CLASSES, "selection": "simproj", "average": True}),
    (hinge.PAClassifier, {"classes": CLASSES, "selection": "mira", "dtype": "float32"}),
    (hinge.PAClassifier, {"classes": CLASSES, "cost": COST, "step": "pa2", "average": 9}),
    (hinge.PAClassifier, {"selection": "conproj"}),  # two classes, each with its weights
    (hinge.PAMultilabel, {}),
    (hinge.PAMultilabel, {"selection": "simproj", "average": True, "dtype": "float32"}),
    (hinge.PAMultilabel, {"selection": "mira", "threshold": 0.1}),
    (hinge.PAMultilabel, {"step": "perceptron", "selection": "uniform", "classes": CLASSES}),
    (hinge.PAOrdinal, {}),
    (hinge.PAOrdinal, {"selection": "simperc", "average": True}),
    (hinge.PAOrdinal, {"selection": "max", "step": "pa", "dtype": "float32", "classes": RANKS}),
    (hinge.PAOrdinal, {"selection": "conproj", "sort_thresholds": False, "average": 9}),
    (hinge.PAClassifier, {"C": "auto"}),
    (hinge.PAClassifier, {"C": "auto", "classes": CLASSES, "average": True}),
    (hinge.PAClassifier, {"C": [0.01, 0.1, 1.0], "step": "pa2"}),
    (
        hinge.PAClassifier,
        {
            "geometry": "diagonal",
            "step": "pa2",
            "covariance_regularizer": "auto",
            "covariance_update": "drop",
        },
    ),
    (hinge.PARegressor, {"C": "auto"}),
    (hinge.PARegressor, {"C": [0.1, 1.0], "average": True}),
    (hinge.PAMultilabel, {"C": "auto", "threshold": "learned"}),
    (hinge.PAOrdinal, {"C": "auto", "average": True}),
    (hinge.PAClassifier, {"geometry": "mahalanobis", "average": True}),
    (hinge.PAClassifier, {"geometry": "mahalanobis", "step": "cw", "classes": CLASSES}),
    (hinge.PAClassifier, {"geometry": "diagonal", "step": "perceptron", "fit_intercept": False}),
    (hinge.PAClassifier, {"geometry": "entropy", "scale": 5.0, "dtype": "float32"}),
    (hinge.PARegressor, {"geometry": "mahalanobis", "step": "pa2", "covariance_regularizer": 0.1}),
    (hinge.PARegressor, {"geometry": "diagonal", "covariance_update": "drop", "dtype": "float32"}),
    (hinge.PARegressor, {"geometry": "entropy", "scale": 5.0, "signed": False, "average": 9}),
    (hinge.PAOneClass, {"geometry": "entropy", "scale": 2.0, "radius": 0.7}),
    (hinge.PAMultilabel, {"geometry": "mahalanobis", "step": "pa2"}),
    (hinge.PAMultilabel, {"geometry": "entropy", "scale": 5.0, "selection": "simproj", "average": True}),
    (hinge.PAOrdinal, {"geometry": "diagonal", "average": True}),
    (hinge.PAOrdinal, {"geometry": "mahalanobis", "selection": "max"}),
    (hinge.AutoClassifier, {}),
    (hinge.AutoClassifier, {"classes": CLASSES}),
    (hinge.AutoClassifier, {"experts": ["pa1:-1", "arow:0", "scaled:pa1:-2:average"]}),
    (hinge.AutoRegressor, {}),
    (hinge.AutoMultilabel, {}),
    (hinge.AutoOrdinal, {"classes": RANKS}),
]
OF_CONTRACTS += [
    (cls, {**options, "classes": RANKS})
    for cls, options in OF_CONTRACTS
    if cls is hinge.PAOrdinal and "classes" not in options
]


def _river_case(cls: type, task: str) -> Case:
    X, y, _ = stream(task)
    events = as_dicts(X)
    truth = [{label: label in its for label in CLASSES} for its in y] if task == "multilabel" else y
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])

    def learn_one(model: Any, some: slice) -> None:
        for i in range(*some.indices(len(X))):
            model.learn_one(events[i], one(truth, i))

    teach = {"learn_one": learn_one}
    if task != "multilabel":
        teach["learn_many"] = lambda m, some: m.learn_many(frame[some], pd.Series(truth[some]))
    ask = {
        "predict_one": lambda m: m.predict_one(events[3]),
        "predict_proba_one": lambda m: m.predict_proba_one(events[3]),
        "predict_many": lambda m: m.predict_many(frame),
        "predict_proba_many": lambda m: m.predict_proba_many(frame),
        "score_one": lambda m: m.score_one(events[3]),
        "explain_one": lambda m: m.explain_one(events[3]),
        "debug_one": lambda m: m.debug_one(events[3]),
        "uncertainty_one": lambda m: m.uncertainty_one(events[3]),
        "weights": lambda m: m.weights,
        "intercept": lambda m: m.intercept,
        "statistics": lambda m: m.statistics,
        "clone": lambda m: m.clone(),
        "repr": repr,
        "state": state,
    }
    return Case(f"river.{cls.__name__}", cls, teach, ask)


RIVER = [
    _river_case(hinge.river.PAClassifier, "classification"),
    _river_case(hinge.river.PARegressor, "regression"),
    _river_case(hinge.river.PAMultilabel, "multilabel"),
    _river_case(hinge.river.AutoClassifier, "classification"),
    _river_case(hinge.river.AutoRegressor, "regression"),
]
EVERY = [*ESTIMATORS, *RIVER]


def options_of(case: Case) -> list[str]:
    model = case.new()
    return sorted(model.get_params() if hasattr(model, "get_params") else model._get_params())


def tensors(model: Any) -> dict[str, bytes]:
    return {key: np.asarray(value).tobytes() for key, value in model._learner.to_parts()[1].items()}


def whole(model: Any) -> bytes:
    """All of a model as its file has it."""
    return file.to_bytes(*model.to_parts())
