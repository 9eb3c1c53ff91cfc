"""Options of learners for the contracts, and small streams for them. (contract_cases.py makes the cases of these.)

"multiclass" is classification with more than two classes: each has its weights.
"""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse

import hinge
from hinge.model import file

WIDTH = 7
NAMES = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
LABELS = np.array(["ham", "spam"])
STEPS = {
    "classification": ("pa", "pa1", "pa2", "perceptron"),
    "regression": ("pa", "pa1", "pa2"),
    "uniclass": ("pa", "pa1", "pa2"),
}
CLASSES = ["ant", "bee", "cat", "dog"]
RANKS = [1, 2, 3, 5]
KNOWN = {"classification": LABELS.tolist(), "multiclass": CLASSES, "multilabel": CLASSES, "ordinal": RANKS}
COST = {"ant": {"bee": 1.0, "cat": 4.0, "dog": 0.5}, "bee": {"ant": 2.0, "dog": 1.0}, "cat": {"dog": 0.25}}
NU = {"ant": {"bee": 2.0, "cat": 0.0}, "dog": {"ant": 0.5}}
MULTICLASS = [
    *({"step": step} for step in ("pa", "pa1", "pa2", "perceptron")),
    {"step": "perceptron", "selection": "uniform"},
    {"step": "pa1", "selection": "prediction"},
    {"step": "pa1", "selection": "simperc"},
    {"step": "pa", "selection": "conproj"},
    {"step": "pa1", "selection": "simproj"},
    {"step": "pa2", "selection": "simproj"},
    {"step": "pa1", "selection": "mira"},
    {"step": "pa", "selection": "mira", "beta": 0.5},
    {"step": "pa1", "cost": COST},
    {"step": "pa2", "cost": COST, "selection": "prediction"},
    {"step": "pa1", "selection": "simproj", "nu": NU},
    {"step": "pa1", "selection": "conproj", "nu": [NU, {"bee": {"ant": 3.0}}]},
]
MULTILABEL = [
    {**rule, "threshold": threshold}
    for rule in (
        {"step": "pa1"},
        {"step": "perceptron"},
        {"step": "perceptron", "selection": "uniform"},
        {"step": "pa", "selection": "prediction"},
        {"step": "pa1", "selection": "simperc"},
        {"step": "pa2", "selection": "conproj"},
        {"step": "pa1", "selection": "simproj", "nu": NU},
        {"step": "pa1", "selection": "mira"},
    )
    for threshold in ("learned", 0.1)
]
ORDINAL = [
    {"step": "pa", "selection": "max"},
    {"step": "pa1", "selection": "simperc"},
    {"step": "pa1", "selection": "simperc", "sort_thresholds": False},
    {"step": "pa1", "selection": "simproj"},
    {"step": "pa2", "selection": "conproj"},
    {"step": "pa1", "selection": "conproj", "nu": [2.0, 0.0, 0.5]},
]
RULES = {"multiclass": MULTICLASS, "multilabel": MULTILABEL, "ordinal": ORDINAL}
# The place of a rule chooses its other options, and golden/numbers.json has what each learns: append here.
ADDED: list[tuple[str, list[dict]]] = []


def _learners():
    for task, steps in STEPS.items():
        last = ("max_radius", (None, 2.5)) if task == "uniclass" else ("fit_intercept", (False, True))
        for step, average, dtype, hash_bits, value in itertools.product(
            steps, (False, True, 9), ("float64", "float32"), (None, 6), last[1]
        ):
            if average == 9 and (step != "pa1" or hash_bits):  # an average that starts late: enough is enough
                continue
            yield (
                task,
                {
                    "C": 0.3,
                    "step": step,
                    "average": average,
                    "dtype": dtype,
                    "hash_bits": hash_bits,
                    last[0]: value,
                },
            )


def _labelled():
    """Each rule with two ways to count and to keep, one of them with a vocabulary."""
    ways = [
        (False, "float64", None, 6),
        (True, "float32", 6, None),
        (True, "float64", None, 6),
        (9, "float32", 6, None),
    ]
    number = 0
    for task, rules in (*RULES.items(), *ADDED):
        for rule in rules:
            average, dtype, *bits = ways[number % 4]
            number += 1
            for k, hash_bits in enumerate(bits):
                more = {"average": average if k == 0 else not average, "dtype": dtype, "hash_bits": hash_bits}
                if task != "ordinal":
                    more["fit_intercept"] = bool(k) ^ (number % 3 == 0)
                yield task, {"C": 0.3, **rule, **more}


# The geometries: each shape with each step, and the tasks with some of their selections.
SHAPED = [
    *(("classification", "mahalanobis", {"step": step}) for step in ("pa", "pa1", "pa2", "perceptron", "cw")),
    *(("classification", "diagonal", {"step": step}) for step in ("pa", "pa1", "pa2", "perceptron", "cw")),
    ("classification", "diagonal", {"step": "pa2", "covariance_update": "drop"}),
    ("classification", "diagonal", {"step": "cw", "covariance_update": "drop"}),
    ("classification", "mahalanobis", {"step": "pa1", "selection": "conproj"}),
    ("regression", "mahalanobis", {"step": "pa"}),
    ("regression", "mahalanobis", {"step": "pa2", "covariance_regularizer": 0.3, "initial_variance": 4.0}),
    ("regression", "diagonal", {"step": "pa1"}),
    ("regression", "diagonal", {"step": "pa", "covariance_update": "drop"}),
    *(("multiclass", "mahalanobis", {"step": step}) for step in ("pa1", "pa2", "perceptron", "cw")),
    ("multiclass", "mahalanobis", {"step": "pa1", "selection": "simproj", "nu": NU}),
    ("multiclass", "mahalanobis", {"step": "pa1", "selection": "mira"}),
    ("multiclass", "mahalanobis", {"step": "pa2", "cost": COST, "selection": "prediction"}),
    ("multiclass", "diagonal", {"step": "cw"}),
    ("multiclass", "diagonal", {"step": "perceptron", "selection": "uniform"}),
    ("multiclass", "diagonal", {"step": "pa1", "selection": "simperc", "covariance_update": "drop"}),
    ("multiclass", "diagonal", {"step": "pa", "selection": "conproj"}),
    ("multilabel", "mahalanobis", {"step": "pa1", "threshold": "learned"}),
    ("multilabel", "mahalanobis", {"step": "cw", "threshold": 0.1}),
    ("multilabel", "mahalanobis", {"step": "pa2", "selection": "simproj", "threshold": "learned"}),
    ("multilabel", "diagonal", {"step": "perceptron", "threshold": "learned"}),
    ("multilabel", "diagonal", {"step": "pa1", "selection": "mira", "threshold": 0.1}),
    ("ordinal", "mahalanobis", {"step": "pa", "selection": "max"}),
    ("ordinal", "mahalanobis", {"step": "pa1", "selection": "simproj"}),
    ("ordinal", "diagonal", {"step": "pa1", "selection": "simperc"}),
    ("ordinal", "diagonal", {"step": "pa2", "selection": "conproj", "covariance_update": "drop"}),
    *(("classification", "entropy", {"step": step}) for step in ("pa", "pa1", "pa2")),
    ("classification", "entropy", {"step": "pa1", "signed": False}),
    ("regression", "entropy", {"step": "pa"}),
    ("regression", "entropy", {"step": "pa2", "signed": False}),
    ("uniclass", "entropy", {"step": "pa"}),
    ("uniclass", "entropy", {"step": "pa1", "signed": False}),
    ("multiclass", "entropy", {"step": "pa"}),
    ("multiclass", "entropy", {"step": "pa2", "selection": "prediction"}),
    ("multiclass", "entropy", {"step": "pa1", "cost": COST}),
    ("multiclass", "entropy", {"step": "pa1", "selection": "simproj"}),
    (
        "multiclass",
        "entropy",
        {"step": "pa1", "selection": "conproj", "nu": {"ant": {"bee": 2.0, "cat": 0.5}}},
    ),
    ("multilabel", "entropy", {"step": "pa1", "threshold": "learned"}),
    ("multilabel", "entropy", {"step": "pa1", "selection": "simperc", "threshold": 0.1}),
    ("ordinal", "entropy", {"step": "pa", "selection": "max"}),
    ("ordinal", "entropy", {"step": "pa1", "selection": "simproj"}),
]


def _shaped():
    """With ways to count and to keep, in turns."""
    ways = [
        (False, "float64", None, True),
        (True, "float64", None, False),
        (True, "float32", 6, True),
        (9, "float64", None, True),
        (False, "float32", None, False),
        (True, "float64", 6, False),
        (True, "float64", None, True),
    ]
    for number, (task, geometry, rule) in enumerate(SHAPED):
        average, dtype, hash_bits, fit_intercept = ways[number % 7]
        more = {"average": average, "dtype": dtype, "hash_bits": hash_bits}
        if task not in ("ordinal", "uniclass"):
            more["fit_intercept"] = fit_intercept
        if geometry == "entropy":  # else no margin of 1 is within reach
            more["scale"] = 1.5 if task == "uniclass" else 6.0
        yield task, {"C": 0.3, "geometry": geometry, **rule, **more}


def _growing():
    """Without classes: each rule, with a vocabulary and hashed."""
    rules = [
        {},
        {"step": "pa"},
        {"step": "pa2", "average": True},
        {"step": "perceptron", "average": True},
        {"step": "perceptron", "selection": "uniform"},
        {"selection": "prediction", "average": 9},
        {"selection": "simperc", "dtype": "float32"},
        {"selection": "simproj", "average": True, "dtype": "float32"},
        {"selection": "conproj", "step": "pa2"},
        {"selection": "mira", "average": True},
    ]
    shaped = [
        {"geometry": "mahalanobis"},
        {"geometry": "mahalanobis", "step": "cw", "average": True},
        {"geometry": "mahalanobis", "step": "pa2", "selection": "simproj", "dtype": "float32"},
        {"geometry": "diagonal", "step": "perceptron", "covariance_update": "drop", "average": True},
        {"geometry": "entropy", "scale": 5.0, "average": True},
        {"geometry": "entropy", "scale": 5.0, "selection": "simproj"},
    ]
    sets = [*rules, *({**rule, "threshold": 0.0} for rule in rules[::3]), *shaped[::3]]
    for task, all_rules in (("classification", [*rules, *shaped]), ("multilabel", sets)):
        for rule in all_rules:
            yield from ((task, {**rule, "hash_bits": bits}) for bits in (None, 5))


# Committees: of one lattice, of lists, and of every kind of expert.
EXPERTS = ["pa", "pa1:-1", "pa1=0.3:average", "pa2:0", "pa2:0:average", "arow:0", "arow:-1:average"]
EXPERTS += ["scaled:pa1:0", "scaled:pa1:0:average", "scaled:arow:0", "scaled:pa2=0.7:average"]
R_LIST = {"geometry": "diagonal", "step": "pa2", "covariance_regularizer": [0.1, 1.0, 10.0]}
COMMITTEES = [
    ("classification", {"C": "auto"}),
    ("classification", {"C": "auto", "step": "pa2", "average": True}),
    ("classification", {"experts": EXPERTS}),
    ("classification", {"experts": ["scaled:lattice", "scaled:lattice:average"], "margin": 0.5}),
    ("classification", {**R_LIST, "average": True}),
    ("multiclass", {"C": "auto", "average": True}),
    ("multiclass", {"C": [0.01, 0.1, 1.0, float("inf")]}),
    ("multiclass", {"experts": EXPERTS}),
    ("multiclass", {"C": "auto", "selection": "simproj"}),
    ("regression", {"C": "auto", "step": "pa1"}),
    ("regression", {"experts": EXPERTS}),
    ("regression", {"step": "pa2", "geometry": "diagonal", "covariance_regularizer": "auto"}),
    ("multilabel", {"experts": EXPERTS, "threshold": "learned"}),
    ("multilabel", {"C": "auto", "threshold": 0.1}),
    ("ordinal", {"experts": EXPERTS, "selection": "simproj"}),
    ("ordinal", {"C": "auto", "selection": "max", "sort_thresholds": False}),
]


def _committees():
    """With a vocabulary and hashed, with an intercept and without."""
    for number, (task, options) in enumerate(COMMITTEES):
        for k, hash_bits in enumerate((None, 6) if number % 4 == 2 else (None,)):
            more = {} if task == "ordinal" else {"fit_intercept": bool(k) ^ (number % 3 != 0)}
            yield task, {"average": False, **options, "hash_bits": hash_bits, **more}


def is_committee(options):
    several = (options.get("C"), options.get("covariance_regularizer"), options.get("experts"))
    return any(isinstance(each, (str, list)) for each in several)


LABELLED = list(_labelled())
GROWING = [
    *_growing(),
    ("classification", {"C": "auto", "average": True}),
    ("classification", {"experts": EXPERTS}),
    ("classification", {"experts": EXPERTS, "hash_bits": 5}),
    ("multilabel", {"experts": EXPERTS}),
    ("multilabel", {"C": "auto", "threshold": 0.0}),
]
GEOMETRIES = list(_shaped())
WITH_SEVERAL = list(_committees())
ALL = [*_learners(), *LABELLED, *GEOMETRIES, *WITH_SEVERAL]
# One of each step, and one of each option.
SOME = [
    (task, options)
    for task, options in _learners()
    if (options["average"], options["dtype"], options["hash_bits"])
    in ((False, "float64", None), (True, "float64", None), (True, "float32", 6))
] + [*LABELLED[::5], *GEOMETRIES[::3], *WITH_SEVERAL[::3]]


def name(case):
    """The id of a case: what is not the default."""
    if isinstance(case, str):
        return case
    if isinstance(case, dict):
        return (
            "-".join(
                str(v)
                if k in ("step", "selection", "geometry")
                else k
                if isinstance(v, (dict, list))
                else f"{k}={v}"
                for k, v in case.items()
                if (k != "C" or isinstance(v, (str, list)))
                and (isinstance(v, (dict, list)) or v not in (False, None, "float64"))
            )
            or "plain"
        )
    return None


def new(task, options, **more):
    if task in KNOWN:
        more.setdefault("classes", KNOWN[task])
    if task == "uniclass" and options.get("max_radius") is None:
        more.setdefault("radius", 0.8)
    return hinge.Learner("classification" if task == "multiclass" else task, **{**more, **options})


def starts_at_first(task, options):
    """Whether the first instance is no round, but becomes the centre."""
    return task == "uniclass" and options.get("geometry") != "entropy"


def named_first(learner):
    """Learns from dicts as from arrays that are named: all features are known before the first event.

    That matters on a simplex only. Its weights add up, so a feature that is not known yet takes nothing of them, and
    one that comes takes its part of them from the others; in other geometries it has a weight of 0 until then.
    """
    if learner.parameters["geometry"] == "entropy":
        learner.name_columns(NAMES)
    return learner


def stream(task, count=60, seed=0):
    """Rows with zeros among them, one row of zeros only, targets, and weights with zeros among them."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((count, WIDTH)) < 0.6, rng.normal(size=(count, WIDTH)), 0.0)
    X[count // 2] = 0.0
    w = rng.normal(size=WIDTH)
    scores = X @ w + 0.3 + 0.3 * rng.normal(size=count)
    weights = rng.choice([0.0, 0.4, 1.0, 3.0], size=count)
    if task == "multiclass":
        lanes = X @ rng.normal(size=(WIDTH, 4)) + 0.3 * rng.normal(size=(count, 4))
        return X, np.array(CLASSES)[lanes.argmax(axis=1)], weights
    if task == "multilabel":  # some sets are empty, some are full
        lanes = X @ rng.normal(size=(WIDTH, 4)) + rng.normal(size=(count, 1))
        return X, sets_of(lanes > 0), weights
    y = {
        "classification": LABELS[(scores > 0).astype(int)],
        "regression": scores,
        "uniclass": None,
        "ordinal": np.array(RANKS)[np.digitize(scores, [-1.0, 0.0, 1.5])],
    }[task]
    return X, y, weights


def sets_of(indicator):
    y = np.empty(len(indicator), dtype=object)
    y[:] = [frozenset(itertools.compress(CLASSES, row)) for row in indicator.tolist()]
    return y


def rows_for(options, X):
    """As wide as the model: to a hashed one an array has all of its columns."""
    return np.pad(X, ((0, 0), (0, 2 ** options["hash_bits"] - WIDTH))) if options.get("hash_bits") else X


def numbered(X):
    """Events whose features are called by the numbers of the columns."""
    return [{j: value for j, value in enumerate(row) if value} for row in X.tolist()]


def as_dict(row):
    return {NAMES[j]: float(value) for j, value in enumerate(row) if value != 0}


def as_dicts(X):
    return [as_dict(row) for row in X]


def part(y, rows):
    return None if y is None else y[rows]


def one(y, i):
    """The target of one event, a plain value."""
    if y is None:
        return None
    return y[i].item() if isinstance(y[i], np.generic) else y[i]


def csr(X, index=np.int32):
    matrix = scipy.sparse.csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def weights_by_name(learner):
    """w in the order of NAMES, whatever the order of the columns; many labels: a row each."""
    if learner.feature_names and learner.feature_names[0] != 0:
        known = learner.named_weights()
        lanes = list(known.values()) if learner.many_scores else [known]
        weights = np.array([[lane.get(name, 0.0) for name in NAMES] for lane in lanes])
    else:
        weights = np.atleast_2d(learner.weights.astype(float))
        weights = np.pad(weights, ((0, 0), (0, max(0, WIDTH - learner.n_features))))
    return weights if learner.many_scores else weights[0]


def covariance_by_name(learner):
    """The covariance (or the variances) in the order of NAMES, which must all be known."""
    found = learner.covariance
    if learner.feature_names and learner.feature_names[0] != 0:
        places = [learner.feature_names.index(name) for name in NAMES]
        return found[places] if found.ndim == 1 else found[np.ix_(places, places)]
    return found[:WIDTH] if found.ndim == 1 else found[:WIDTH, :WIDTH]


def number(score):
    """A score, or the scores of all labels in their order."""
    return np.array(list(score.values())) if isinstance(score, dict) else score


def numbers(learner, events):
    return np.array([number(learner.score_one(x)) for x in events])


def tensors(model):
    """All that learning has changed, as bytes: not the options, nor what the labels are called."""
    learner = model if isinstance(model, hinge.Learner) else model._learner
    parts = learner.to_parts()[1].items()
    return {key: value.tobytes() for key, value in parts if key not in ("settings", "labels")}


def state(model):
    """All of a model, as bytes."""
    return model.to_bytes() if isinstance(model, hinge.Learner) else file.to_bytes(*model.to_parts())
