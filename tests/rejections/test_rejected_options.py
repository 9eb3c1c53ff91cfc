"""Options out of their range, and options that do not go together, everywhere they can be given."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hinge
from hinge.options import table
from hinge.tasks import learner_tasks
from rejection import BOTH, INF, NAN, rejects
from rejection_cases import SHAPES, Case, is_well, stream

NUMBERS = ["1", None, NAN, -1, True, [1.0], 1j]
# Where 'auto' and lists of numbers are valid, too.
SEVERAL = [
    *(number for number in NUMBERS if number != [1.0]),
    *("Auto", [], [0.0], [1.0, NAN], ["1"], [1.0, 1.0], [[1.0, 2.0]], {"auto"}, [*range(1, 99)]),
]
INVALID = {
    "step": ["pa3", "pa9", 0, 1, "PA", ["pa"], ""],
    "C": [0, *SEVERAL, -INF, -0.0],
    "experts": [
        *(
            ["pa3"],
            ["pa1"],
            ["pa:1"],
            ["pa1:0.5"],
            ["arow=0"],
            ["arow=-1"],
            ["pa1=inf"],
            ["scaled:"],
            ["pa1:200"],
        ),
        *("pa1:0", "all", [], 5, True, [1.0], ["pa1:0 pa1:0"], ["pa1:0:averaged"], [None], {"pa": 1}),
    ],
    "margin": [0, *NUMBERS, INF],
    "selection": ["all", "best", None, 1, "MAX", ["max"], ""],
    "beta": [-0.1, *(v for v in NUMBERS if v is not None), INF],
    "cost": [
        5,
        2.0,
        "matrix",
        "hamming",
        [],
        [1.0, 2.0],
        [[0.0, 1.0]],
        [[0, 1, 1], [1, 0, 1]],
        [[0, -1], [1, 0]],
        [[1, 1], [1, 0]],
        [[0.0, 1.0], [2.0]],
        [[0.0, 1.0], [-1.0, 0.0]],
        [[0.0, 1.0], [1.0, 0.5]],
        [[0.0, NAN], [1.0, 0.0]],
        [[0.0, INF], [1.0, 0.0]],
        [["0", "x"], ["y", "0"]],
        np.zeros((2, 2, 2)),
        {},
        {"a": 1.0},
        {"a": {"b": -1.0}},
        {"a": {"b": NAN}},
        {"a": {"b": "much"}},
        {"a": {"a": 1.0}},
        {"a": {"a": 1.0, "b": 1.0}},
    ],
    "nu": [
        5,
        "matrix",
        [],
        [[1.0, -1.0], [1.0, 1.0]],
        [NAN],
        [INF],
        ["x"],
        {},
        {"a": 1.0},
        {"a": {"b": -1.0}},
        [{"a": {"b": 1.0}}, {"a": {"b": -1.0}}],
        np.zeros((1, 1, 1, 1)),
    ],
    "threshold": ["given", None, NAN, INF, [0.0], True, 1j],
    "sort_thresholds": [1, 0.0, "yes", []],
    "epsilon": [*NUMBERS, INF],
    "radius": [*[v for v in NUMBERS if v is not None], INF],
    "contamination": [0, *NUMBERS, INF, 0.51, 1e-5],
    "max_radius": [0, *[v for v in NUMBERS if v is not None], INF],
    "fit_intercept": [None, 1, 0.0, "yes", []],
    "intercept_value": [0, *NUMBERS, INF, 1e-200, 1e200],
    "scaling": [True, 1, "offline", "Online", ["online"], 2.0],
    "geometry": ["riemann", "round", None, 1, "Diagonal", ["diagonal"], ""],
    "kernel": ["sigmoid", "cosine", 3, "RBF", 5, [], "", ["rbf"], True],
    "degree": [0, -1, 1.5, 2.5, 101, True, "3", None],
    "gamma": [0, *NUMBERS, INF, "auto"],
    "coef0": [*NUMBERS, INF],
    "budget": [0, -1, -3, 2.5, True, "all", "greedy", "Adaptive", [], NAN],
    "removal": ["smallest", "youngest", None, 1, ""],
    "max_cache": [0, *NUMBERS, INF],
    "covariance_regularizer": [0, *SEVERAL, INF, [1.0, INF]],
    "initial_variance": [0, *NUMBERS, INF, 1e-51, 1.1e50],
    "covariance_update": ["full", "exact", None, 1, ""],
    "max_covariance": [0, *NUMBERS, INF],
    "eta": [*NUMBERS, 0, 0.49, 1.0, 1.5, INF],
    "scale": [0, *NUMBERS, INF],
    "signed": [None, 1, 0.0, "yes", []],
    "entropy_step": ["printed", None, 1, ""],
    "w1": [
        "third",
        [[[1.0]]],
        [[NAN]],
        [[1.0, 2.0], [1.0]],
        [NAN],
        [INF],
        ["a"],
        {"a": NAN},
        {"a": "x"},
        5,
        object(),
    ],
    "average": [0, -1, 1.5, "yes", None, [1]],
    "classes": [5, [None, "A"], "AB", ["A"], [1], [], "ab", {1, 2}, 1.5, [[1, 2]], {"a": 1, "b": 2}],
    "max_labels": [0, 1, -1, 2.5, "10", None, True, 2**24 + 1],
    "class_weight": ["other", [1.0], {"a": -1.0}, {"a": NAN}, {"a": "x"}, {"a": None}, 1.0],
    "max_iter": [0, -1, 1.5, "1", None, True],
    "tol": [-1, NAN, INF, "1"],
    "n_iter_no_change": [0, -1, 1.5, None],
    "early_stopping": [None, 1, "yes"],
    "validation_fraction": [0, 1, *NUMBERS, 1.5, INF],
    "shuffle": [None, 1, 0.5, "no"],
    "batch_tolerance": [0, -1, NAN, INF, "1"],
    "max_updates": [0, -1, 1.5, None],
    "hash_bits": [0, -1, 31, 40, 99, 2.5, "8", True],
    "max_features": [0, -1, 2**40 + 1, 1.5, None, "10"],
    "at_max_features": ["skip", "", None, 1, True, ["ignore"]],
    "max_weights": [0, *NUMBERS, INF],
    "dtype": ["int32", "int64", "int", "float16", np.int64, "real", 5, object],
    "random_state": [-1, "x", 2**32, 1.5, "seed", np.random.default_rng()],
    "verbose": [-1, 1.5, None, "loud"],
}
# What the message says after "must be", where it is more than the table of options says anyway.
RANGES = {
    "step": "'pa', 'pa1', 'pa2', .*, not ",
    "selection": ".*'prediction'.*'max-additive', not ",
    "cost": "None, a square matrix or a dict.*with 0 on the diagonal",
    "geometry": ".*'diagonal'.*, not ",
    "covariance_update": "'precision' or 'drop', not ",
    "C": "a number greater than 0",
    "margin": "a finite number greater than 0",
    "average": "True, False, 'auto', or a whole number of 1 or more",
    "classes": "None or two or more different labels",
    "max_labels": "a whole number from 2",
    "hash_bits": "None or a whole number from 1 to 30",
    "max_features": "a whole number from 1",
    "dtype": "'float32' or 'float64'",
    "max_iter": "a whole number of 1 or more",
    "shuffle": "True or False",
}
OF_LEARNER = [(name, value) for name in table.OF_LEARNER for value in INVALID[name]]
OF_KERNELS = ("kernel", "gamma", "degree", "coef0", "budget", "removal", "max_cache", "beta")
ESTIMATORS = {
    "classification": hinge.PAClassifier,
    "regression": hinge.PARegressor,
    "uniclass": hinge.PAOneClass,
    "multilabel": hinge.PAMultilabel,
    "ordinal": hinge.PAOrdinal,
    "sequence": hinge.PASequence,
    "structured": hinge.PAStructured,
    "prototype": hinge.PARanker,
}
TASKS = [task for task in learner_tasks() if task != "prototype"]
LABELLED = ("classification", "multilabel", "ordinal")
RBF = {"kernel": "rbf", "gamma": 0.5}
FUNCTIONS = {"joint_features": lambda x, y: {}, "argmax": lambda w, x: 0, "cost": lambda y, z: 0.0}
SENTENCE, TAGS = [["a"], ["b"]], ["A", "B"]


def test_every_parameter_is_tried():
    assert set(INVALID) == set(table.PARAMETERS) - {"features"}  # which is the PARanker's


@pytest.mark.parametrize(("name", "value"), OF_LEARNER, ids=lambda v: repr(v)[:7])
@pytest.mark.parametrize("task", TASKS)
def test_invalid_value_is_rejected_by_learners(name, value, task):
    message = f"^{name} must be {RANGES.get(name, '')}"
    with pytest.raises(ValueError, match=message):
        hinge.Learner(task, **{name: value})
    if name in OF_KERNELS:
        with pytest.raises(ValueError, match=message):
            hinge.Learner(task, **{**RBF, name: value})


def ways(task, options):
    """Every method that learns, on an estimator with these options."""
    model = ESTIMATORS[task](**{**(FUNCTIONS if task == "structured" else {}), **options})
    X, y, one = np.eye(4), np.array([0, 1, 0, 1]), ({"a": 1.0}, 1)
    classes = {"classes": options.get("classes") or [0, 1]} if task in LABELLED else {}
    if task == "multilabel":
        y, one = np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), ({"a": 1.0}, {1})
    elif task == "uniclass":
        one = one[:1]
    elif task == "sequence":
        X, y, one, classes = [SENTENCE], [TAGS], (SENTENCE, TAGS), {"classes": options.get("classes") or TAGS}
    elif task == "structured":
        X, y, one = [None] * 2, [0, 0], (None, 0)
    elif task == "prototype":
        X, y, one = ["a b", "b"], ["x", "y"], ("a b", "x")
    yield model, model.fit, (X, y), {}
    yield model, model.partial_fit, (X, y), classes
    yield model, model.learn_many, [[each] for each in one], {}
    yield model, model.learn_one, one, {}
    if task == "sequence":
        yield model, model.predict_one, one[:1], {}


def rejected_by_estimator(task, options, message, skip=()):
    for model, call, arguments, more in ways(task, options):
        if call.__name__ not in skip:
            with pytest.raises(ValueError, match=message):
                call(*arguments, **more)
            assert not model.__sklearn_is_fitted__()
            assert vars(model).get("_learner") is None


@pytest.mark.parametrize(
    ("task", "name"),
    [(task, name) for task, cls in ESTIMATORS.items() for name in INVALID if name in cls._get_param_names()],
)
def test_invalid_value_is_rejected_by_estimators(task, name):
    expected = "" if (task, name) == ("structured", "cost") else RANGES.get(name, "")
    for value in INVALID[name]:
        rejected_by_estimator(task, {name: value}, f"^{name} must be {expected}")


# ---- options that do not go together -------------------------------------------------------------------------------

COMBINATIONS = []


def invalid(tasks, message, *variants, **options):
    """For each of the tasks (and each of the variants) these options are rejected with the message."""
    for task, variant in itertools.product(tasks.split(), variants or ({},)):
        given = {**options, **variant}
        COMBINATIONS.append((task, given, message.format(task=task, **given) if "{" in message else message))


def each(name, words):
    return [{name: word} for word in words.split()]


AB, ABC, TWO_RANKS, RANKS = ({"classes": c} for c in (["a", "b"], ["a", "b", "c"], [1, 2], [1, 2, 3]))
COST, COST3, NAMED_COST = [[0.0, 1.0], [2.0, 0.0]], np.ones((3, 3)) - np.eye(3), {"a": {"b": 1.0}}
ENTROPY, DIAGONAL = {"geometry": "entropy"}, {"geometry": "diagonal"}

# cost
CLS = "classification"
invalid(CLS, "needs the labels in order: give classes", cost=COST)
invalid(CLS, r"cost must have a row and a column for each of the 2 labels, not \(3, 3\)", cost=COST3, **AB)
invalid(CLS, "cost names 'z', which is not one of the labels", cost={"a": {"z": 1.0}}, **AB)
invalid(CLS, "cost names 'z', which is not one of the labels", cost={"z": {"a": 1.0}}, **AB)
invalid(CLS, "cost must name two labels or more", cost={"a": {"a": 0.0}})
invalid(CLS, "a label must be a string", cost={"a": {None: 1.0}})
invalid("multilabel", "cost is for classification, not for multilabel", cost=COST, **AB)
invalid("ordinal", "cost is for classification, not for ordinal", cost=COST, **TWO_RANKS)
invalid(
    CLS, "cost goes with selection 'max' or 'prediction'", *each("selection", "simperc simproj conproj mira"),
    cost=COST, **AB,
)  # fmt: skip
invalid(CLS, "cost goes with .* the steps 'pa', 'pa1', 'pa2'", cost=COST, step="perceptron", **AB)

# nu
invalid(
    CLS,
    "nu goes with .*, not '{selection}'",
    *each("selection", "max prediction simperc mira"),
    nu=COST3 + 1,
    **ABC,
)
invalid("ordinal", "nu goes with selection 'simproj'", nu=[1.0], selection="simperc", **TWO_RANKS)
invalid(CLS, "nu needs the labels in order: give classes", nu=COST3, selection="simproj")
invalid("multilabel", "nu needs the labels in order", nu={"a": {"b": 2.0}}, selection="conproj")
PAIRS = "nu must have a row and a column for each of the 2"
invalid(CLS, PAIRS, nu=COST3, selection="simproj", **AB)
invalid("multilabel", PAIRS, nu=[1.0, 2.0], selection="simproj", **AB)
invalid("multilabel", "nu names 'z'", nu={"a": {"z": 1.0}}, selection="simproj", **AB)
invalid("multilabel", "nu must have a row and a column", nu=[COST3, COST3], selection="simproj", **AB)
invalid("ordinal", "nu has 1 entries for 2 thresholds", nu=[1.0], selection="simproj", **RANKS)
invalid("ordinal", "nu must be a vector", nu={1: {2: 1.0}}, selection="simproj", **RANKS)
invalid("ordinal", "nu must be a vector", nu=[COST3], selection="simproj", **RANKS)

# selection and step
invalid(
    "ordinal", "selection='{selection}' is not for ordinal; there are max",
    *each("selection", "prediction mira uniform"), **TWO_RANKS,
)  # fmt: skip
invalid(
    "ordinal",
    "step='perceptron' does not go with selection='max' for ordinal",
    step="perceptron",
    **TWO_RANKS,
)
invalid(
    CLS, "step='perceptron' does not go with selection",
    *each("selection", "prediction simperc simproj conproj mira"), step="perceptron",
)  # fmt: skip
invalid(
    "multilabel",
    "selection='uniform' is for step='perceptron'",
    *each("step", "pa pa1 pa2"),
    selection="uniform",
)
invalid("multilabel", "use step='pa1', not '{step}'", *each("step", "pa pa2"), selection="simperc")
invalid("multilabel", "C must be finite", selection="simperc", C=INF)
invalid(CLS, "'mira' has one linear slack: use step='pa1'", selection="mira", step="pa2")
invalid(CLS, "with beta=0 never moves from 0: give w1", selection="mira", beta=0)
invalid("multilabel", "with beta=0 never moves from 0: give w1", selection="mira", beta=0.0, **AB)
invalid(
    "regression uniclass", "step='perceptron' is not for {task}; use 'pa', 'pa1' or 'pa2'", step="perceptron"
)

# w1
ROWS = "w1 must have a row of weights for each of the "
invalid(CLS, f"{ROWS}3 labels", w1=[1.0, 2.0], **ABC)
invalid(CLS, f"{ROWS}3 labels", w1=[[1.0], [2.0]], **ABC)
invalid(CLS, "w1 must be a vector: there is one w", w1=[[1.0], [2.0]], **AB)
invalid(CLS, f"{ROWS}2", w1=[1.0], selection="simproj", **AB)
invalid("multilabel", r"w1 must have a row of weights .* \(give classes", w1=[[1.0], [2.0]])
invalid("multilabel", f"{ROWS}2 labels", w1=[1.0, 2.0], **AB)
invalid("multilabel", f"{ROWS}2 labels", w1={"x": 1.0}, **AB)
invalid("ordinal", "w1 must be a vector", w1=[[1.0], [2.0]], **TWO_RANKS)
invalid("regression uniclass", "w1 must be a vector", w1=[[1.0], [2.0]])
invalid("multilabel", "w1 is too large", w1=[[1.0], [1e300]], **AB)
invalid("multilabel", "2 features, the limit is 1", w1=[[1.0, 2.0], [1.0, 2.0]], max_features=1, **AB)
invalid("multilabel", "w1 has 1 weights for 8 hashed columns", w1=[[1.0], [2.0]], hash_bits=3, **AB)
invalid("multilabel", "w1='zero' is for uniclass", w1="zero", **AB)
invalid("regression", "w1='first' is for uniclass", w1="first")
invalid(CLS, "w1='zero' is for uniclass", w1="zero")
invalid("regression", "growing vocabulary", w1={"a": 1.0}, hash_bits=4)
invalid("regression", "w1 has 2 weights for 16 hashed columns", w1=[1.0, 2.0], hash_bits=4)
invalid("regression", "hash_bits=5 means 32 columns", hash_bits=5, max_features=31)
invalid("regression", "3 features, the limit is 2", w1=[1.0, 2.0, 3.0], max_features=2)
invalid("regression", "feature 'b': it is new, .* its limit", w1={"a": 1.0, "b": 2.0}, max_features=1)
invalid("regression", "w1 must be None, a vector", w1={"a": 1.0, 2.5: 2.0})
invalid("regression", "w1 is too large: weight 1", w1=[0.0, 1e300])
invalid("uniclass", "w1 is too large: weight 1", w1=[1e154, 1e154])
invalid("regression", "w1 is too large: weight 1", w1=[1.0, 1e38], dtype="float32")

# labels
DIFFERENT = "classes must be None or two or more different labels"
invalid(CLS, r"3 classes, the limit is 2 \(max_labels\)", max_labels=2, **ABC)
invalid(CLS, DIFFERENT, classes=["a", ("b",)])
invalid("multilabel", f"{DIFFERENT}, not", classes=["a", NAN])
invalid(CLS, r"the labels must be different, not \[1, 1\]", classes=[1, 1])
invalid(CLS, DIFFERENT, classes=["a", None])
invalid(CLS, "the labels must be different", classes=[1, True])
invalid("multilabel", "the labels must be different", classes=["a", "b", "a"])
invalid("ordinal", "the labels must be different", classes=[3, 1, 3])
invalid(CLS, "class_weight='balanced' needs all data at once", class_weight="balanced")

# geometries
invalid("uniclass", "geometry='mahalanobis' is not for uniclass; use 'euclidean' or", geometry="mahalanobis")
invalid("uniclass", "geometry='diagonal' is not for uniclass", **DIAGONAL)
invalid(
    "prototype", "geometry='diagonal' is not for prototype; use 'euclidean'", classes=["x", "y"], **DIAGONAL
)
invalid(CLS, "step='cw' needs a covariance: geometry 'diagonal' or 'mahalanobis'", step="cw")
invalid(CLS, "step='cw' needs a covariance", step="cw", **ENTROPY)
invalid("multilabel", "step='cw' needs a covariance", step="cw")
invalid("regression", "step='cw' is not for regression; use 'pa', 'pa1' or 'pa2'", step="cw", **DIAGONAL)
invalid("uniclass", "step='cw' is not for uniclass; use 'pa', 'pa1' or 'pa2'", step="cw")
invalid("regression", "step='perceptron' is not for regression", step="perceptron", **DIAGONAL)
invalid(
    "ordinal", "step='cw' is not for ordinal; use 'pa', 'pa1' or 'pa2'", step="cw", **DIAGONAL, **TWO_RANKS
)
invalid(
    "classification multilabel", "step='cw'|step='pa1'",
    *each("selection", "prediction simproj conproj simperc mira"), step="cw", geometry="mahalanobis",
)  # fmt: skip
invalid(CLS, "step='cw' is for .* without cost", step="cw", cost=NAMED_COST, **DIAGONAL)
NO_MOVE = "step='cw' with eta=0.5 never moves from 0: give w1, or an eta above 0.5"
invalid(CLS, NO_MOVE, step="cw", eta=0.5, **DIAGONAL)
ONE_W = "signed=False is for one w"
invalid("ordinal", ONE_W, signed=False, **ENTROPY, **TWO_RANKS)
invalid("multilabel", ONE_W, signed=False, **ENTROPY)
invalid(CLS, "signed=False is for", signed=False, selection="prediction", **ENTROPY)
invalid(
    CLS,
    f"{ONE_W}: two classes with selection='max', regression, or uniclass",
    signed=False,
    cost=NAMED_COST,
    **ENTROPY,
)
invalid(CLS, "signed=False needs the two classes ahead", signed=False, **ENTROPY)
invalid(CLS, "signed=False is for two classes, there are 3", signed=False, **ENTROPY, **RANKS)
NO_PERCEPTRON = "geometry='entropy' does not go with step='perceptron'; use 'pa', 'pa1' or 'pa2'"
invalid(CLS, NO_PERCEPTRON, step="perceptron", **ENTROPY)
NO_MIRA = "geometry='entropy' does not go with selection='mira'"
invalid("classification multilabel", NO_MIRA, selection="mira", **ENTROPY)
CAP = "selection='{selection}' with geometry='entropy' needs a cap: use step='pa1' with a finite C"
PROJECTIONS = each("selection", "simproj conproj")
for uncapped in ({"step": "pa"}, {"step": "pa2"}, {"C": INF}):
    invalid("multilabel", CAP, *PROJECTIONS, **uncapped, **ENTROPY)
NO_CAP = "nu of 0 means no cap, and geometry='entropy' needs one: give numbers above 0"
invalid(CLS, NO_CAP, *PROJECTIONS, classes=[0, 1], nu=[[1.0, 0.0], [1.0, 1.0]], **ENTROPY)
FIXED = "geometry='entropy' needs a fixed radius"
invalid("uniclass", FIXED, {}, {"max_radius": 2.0}, **ENTROPY)
ON_SIMPLEX = "geometry='entropy' starts on the simplex, not at the first instance: give w1=None"
invalid("uniclass", ON_SIMPLEX, w1="first", radius=1.0, **ENTROPY)
invalid("regression", "entropy_step='paper' needs", entropy_step="paper", step="pa", **ENTROPY)
PAPER = "entropy_step='paper' needs step='pa' and signed=False"
invalid("regression", PAPER, entropy_step="paper", signed=False, **ENTROPY)
LESS = "w1 must add up to less than scale: the intercept has a part of it"
UNSIGNED = {"signed": False, "scale": 1.0, **ENTROPY}
invalid("regression", LESS, w1=[0.5, 0.5], **UNSIGNED)
invalid("regression", "the sum of .w1. must be below scale", w1=[0.7, -0.4], scale=1.0, **ENTROPY)
invalid(
    "regression", "it must be positive, with the sum scale", w1=[0.7, 0.4], fit_intercept=False, **UNSIGNED
)
invalid("regression", "must be positive", w1=[1.5, -0.5], fit_intercept=False, **UNSIGNED)

# kernels
invalid("regression", r"gamma='scale' is measured .* give a number", kernel="rbf")
invalid("regression", r"gamma='scale' is measured", kernel="poly")
for name, values in (("degree", (0, 1.5, 101)), ("coef0", (-1.0, INF))):
    invalid("regression", f"^{name} must be", *({name: value} for value in values), kernel="poly", gamma=1.0)
invalid("regression", "give a kernel", {"budget": 5}, {"budget": "adaptive"})
invalid("regression", "use 'euclidean'", *each("geometry", "diagonal entropy"), **RBF)
invalid("regression", "use w1=None", {"w1": [1.0, 2.0]}, {"w1": {"a": 2.0}}, **RBF)
invalid("uniclass", "use w1=None", w1=[1.0, 2.0], **RBF)
invalid("structured prototype", "not for {task}", **RBF)
invalid("classification", "covariance", step="cw", **RBF)
NO_AVERAGE = "average does not go with a budget"
for budget, average in itertools.product((5, "adaptive"), (True, 7)):
    invalid(
        "classification multilabel regression uniclass", NO_AVERAGE, budget=budget, average=average, **RBF
    )
invalid("ordinal", "average does not go", budget=5, average=True, **RBF, **TWO_RANKS)


@pytest.mark.parametrize(("task", "options", "message"), COMBINATIONS, ids=str)
def test_invalid_combination_is_rejected(task, options, message):
    with pytest.raises(ValueError, match=message):
        hinge.Learner(task, **options)


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [c for c in COMBINATIONS if c[0] in LABELLED and "classes" in c[1]],
    ids=str,
)
def test_invalid_combination_is_rejected_by_estimators(task, options, message):
    cls = ESTIMATORS[task]
    if not set(options) <= set(cls().get_params()):
        pytest.skip("the estimator has no such option")
    if isinstance(options.get("w1"), dict):
        message = "w1 as a dict of names needs features with names"
    classes = [c for c in options["classes"] if isinstance(c, (str, int))]
    y = [classes[k % len(classes)] for k in range(6)]
    model = cls(**{"selection": "max", **options})
    rejects(model, message).fit(np.eye(6, 3), [{label} for label in y] if task == "multilabel" else y)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize("task", ["ranking", "", None, 1, "Classification"])
def test_unknown_task_is_rejected(task):
    with pytest.raises(ValueError, match=r"^task must be one of 'classification', 'regression', 'uniclass'"):
        hinge.Learner(task)


# ---- sequences and structured outputs ------------------------------------------------------------------------------

COSTLY = {"cost": lambda y, z: 1.0}
WHOLE = "whole numbers .*: use 'max-additive'"
IN_ORDER = r"a cost matrix needs the tags in order: give classes=\[...\]"
SEQUENCES = [
    ({"cost": COST3, **AB}, "a row and a column for each of the 2 labels"),
    ({"cost": [[0, 1], [1, 0]]}, IN_ORDER),
    ({"cost": {"a": {"c": 1.0}}, **AB}, "cost names 'c', which is not one of the labels"),
    ({"cost": [[0, 0.5], [1, 0]], "selection": "max", **AB}, f"{WHOLE} or 'prediction'"),
    ({"cost": [[0, 2**21], [1, 0]], "selection": "max", **AB}, WHOLE),
    ({"selection": "max", **COSTLY}, "goes with selection='prediction'"),
    ({"selection": "max-additive", **COSTLY}, "goes with selection='prediction'"),
    ({"selection": "simproj"}, "not for sequence; there are prediction, max, max-additive"),
    ({"step": "cw"}, "step='cw' is not for sequence; use AROW: step='pa2' with geometry='diagonal'"),
    ({"step": "perceptron", "selection": "max"}, "use selection='prediction'"),
    ({"geometry": "mahalanobis"}, "use 'euclidean' or 'diagonal'"),
    (ENTROPY, "use 'euclidean' or 'diagonal'"),
    ({"classes": ["A", "A"]}, "the labels must be different"),
    ({"hash_bits": 20, "max_features": 1000}, "more than max_features"),
]
SEARCH = {"loss_augmented_argmax": lambda w, x, y: 0}
STRUCTURED = [
    ({"joint_features": None}, "joint_features must be a function"),
    ({"argmax": "argmax"}, "argmax must be a function"),
    ({"cost": np.eye(2)}, "cost must be a function"),
    ({"loss_augmented_argmax": 3, "selection": "max"}, "must be a function of w, x and y, or None, not 3"),
    ({"selection": "max"}, "needs loss_augmented_argmax"),
    ({"selection": "max-additive"}, "needs loss_augmented_argmax"),
    (SEARCH, "does not use loss_augmented_argmax"),
    ({"selection": "simproj"}, "there are prediction, max, max-additive"),
    ({"selection": "mira", **SEARCH}, "there are prediction, max, max-additive"),
    ({"step": "cw"}, "step='cw' is not for structured"),
    ({"step": "perceptron", "selection": "max", **SEARCH}, "use selection='prediction'"),
    (ENTROPY, "geometry='entropy' is not for structured; use"),
]


@pytest.mark.parametrize("options, message", SEQUENCES, ids=range(len(SEQUENCES)))  # noqa: PT006
def test_invalid_combination_is_rejected_by_sequences(options, message):
    # partial_fit is given the classes, and so their order.
    rejected_by_estimator("sequence", options, message, skip=("partial_fit",) if message == IN_ORDER else ())


@pytest.mark.parametrize("options, message", STRUCTURED, ids=range(len(STRUCTURED)))  # noqa: PT006
def test_invalid_combination_is_rejected_by_structured_models(options, message):
    rejected_by_estimator("structured", options, message)


def test_classes_of_another_constructor_are_rejected():
    model = hinge.PASequence(classes=["A", "B"])
    for classes in (["A", "C"], ["A"], ["A", "B", "C"]):
        rejects(model, "are not those of the constructor").partial_fit([[["a"]]], [["A"]], classes=classes)
    assert model.partial_fit([[["a"]]], [["A"]], classes=["B", "A"]).classes_ == ["A", "B"]


@pytest.mark.parametrize("estimator", [hinge.PARanker, hinge.PASequence, hinge.PAStructured])
def test_estimators_without_kernels_reject_them(estimator):
    with pytest.raises(TypeError, match="kernel"):
        estimator(kernel="rbf")


def test_ranker_rejects_a_geometry():
    with pytest.raises(BOTH, match="geometry"):
        hinge.PARanker(geometry="diagonal").fit(["a", "b"], ["x", "y"])


@pytest.mark.parametrize(
    "estimator",
    [hinge.PAClassifier, hinge.PARegressor, hinge.PAOneClass, hinge.PAOrdinal, hinge.PAMultilabel],
)
def test_gamma_scale_is_rejected_without_rows(estimator):
    model = estimator(kernel="rbf")
    arguments = ({"a": 1.0},) if estimator is hinge.PAOneClass else ({"a": 1.0}, 1)
    rejects(model, r"give a number|classes=\[\.\.\.\]").learn_one(*arguments)
    assert not hasattr(model, "_learner") or model._learner is None


# ---- changes -------------------------------------------------------------------------------------------------------


def test_invalid_change_of_a_rule_is_rejected():
    events = [{"a": float(k), "b": 1.0} for k in range(6)]
    model = hinge.Learner("classification", selection="mira")
    model.learn_many(events, list("abcabc"))
    error = rejects(model, "mira|beta|perceptron|selection")
    for changes in (
        {"step": "pa2"}, {"beta": 0}, {"beta": -1.0}, {"step": "perceptron"}, {"selection": "max"},
    ):  # fmt: skip
        error.change(**changes)
    model.change(beta=1.0, C=0.5)
    model.learn_many(events, list("abcabd"))
    assert model.labels.known == list("abcd")


@pytest.mark.parametrize("shape", SHAPES)
def test_change_of_a_geometry_is_rejected(shape):
    model = Case("classification", SHAPES[shape]).trained()
    for name, value in {"geometry": "euclidean", "initial_variance": 2.0, "scale": 2.0, "eta": 0.6}.items():
        rejects(model, f"^{name} cannot change").change(**{name: value})
    if shape == "simplex":
        rejects(model, "step='perceptron'").change(step="perceptron")
        rejects(model, "step='cw' needs a covariance").change(step="cw")
        model.change(step="pa2", C=0.5)
        model.learn(*stream("classification"))
        is_well(model)


def test_change_of_a_kernel_is_rejected_and_of_a_step_accepted():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 5)), random.choice([0, 1], 60)
    model = hinge.PAClassifier(**RBF, budget=8).partial_fit(X, y, classes=[0, 1])
    model.set_params(C=0.1).partial_fit(X, y)
    changes = {"budget": 9, "kernel": "linear", "gamma": 0.6, "removal": "oldest", "degree": 4}
    for name, value in changes.items():
        kept = getattr(model, name)
        model.set_params(**{name: value})
        rejects(model, f"{name} cannot change once learning has begun").partial_fit(X, y)
        model.set_params(**{name: kept}).predict(X)
    model.set_params(budget=3).fit(X, y)
    assert model.n_support_ <= 3


# ---- values that are valid -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"C": np.float32(0.5)},
        {"C": 2},
        {"C": INF},
        {"average": np.int64(3)},
        {"fit_intercept": np.True_},
        {"dtype": np.float32},
        {"dtype": np.dtype("f8")},
        {"hash_bits": np.int8(4)},
        {"classes": np.array(["a", "b"])},
        {"classes": (1, 2)},
        {"class_weight": {np.str_("a"): np.float64(2)}},
        {"average": np.False_},
    ],
    ids=str,
)
def test_words_and_numbers_of_other_types_are_accepted(options):
    model = hinge.Learner("classification", **options)
    model.learn_one({"x": 1.0}, (options.get("classes", ["a"]))[0])
    assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("C", [5e-324, 1e-300, 1e300, 1.7e308, INF])
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("task", TASKS)
def test_extreme_C_is_right_by_definition(C, step, task, labels):
    """Hardly a step for small C, as PA for large C."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.digitize(X[:, 0], np.linspace(-0.5, 0.5, labels + 1)[1:-1])
    classes = {"classes": list(range(labels))} if task in LABELLED else {}
    y = [{label} for label in y.tolist()] if task == "multilabel" else y
    model, pa = (hinge.Learner(task, step=s, **classes, C=c, radius=1.0) for s, c in ((step, C), ("pa", 1.0)))
    for weights in (None, np.full(50, 1e3)):
        model.learn(X, y, weights)
        pa.learn(X, y)
    if C > 1 or step == "pa":
        np.testing.assert_allclose(model.weights, pa.weights, rtol=1e-9)
    elif task != "uniclass":
        assert np.abs(model.weights).max() < 1e-290


def test_gamma_scale_is_that_of_the_rows():
    import scipy.sparse
    from sklearn.svm import SVC

    random = np.random.default_rng(0)
    X, y = random.normal(5.0, 3.0, size=(40, 4)), random.choice([0, 1], 40)
    expected = SVC(gamma="scale").fit(X, y)._gamma
    sparse = scipy.sparse.csr_matrix
    for data in (X, sparse(X), X.astype(np.float32), X + 1e7, sparse(X + 1e7)):
        for model in (hinge.PAClassifier(kernel="rbf").fit(data, y), hinge.PAClassifier(kernel="rbf")):
            model.partial_fit(data, y, classes=[0, 1])
            assert model._learner.parameters["gamma"] == pytest.approx(expected, rel=1e-5)
    same = hinge.PARegressor(kernel="rbf").fit(np.ones((3, 2)), [1.0, 2, 3])
    assert same._learner.parameters["gamma"] == 1.0
