"""Bad label sets, ranks, costs and selections: an error that says what and where, and the model is what it was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import hinge
from bad_models import refused

X = np.random.default_rng(0).normal(size=(6, 3))
EVENTS = [dict(enumerate(row)) for row in X.tolist()]
SETS = [{"a"}, {"b", "c"}, set(), {"a", "b", "c"}, {"c"}, {"a", "c"}]
MATRIX = np.array([[label in its for label in "abc"] for its in SETS]).astype(int)
OPTIONS = [
    {},
    {"average": True, "threshold": 0.5},
    {"selection": "simproj", "dtype": "float32"},
    {"selection": "mira", "step": "pa"},
]
every_option = pytest.mark.parametrize("options", OPTIONS, ids=str)


def trained(closed, **options):
    model = hinge.Learner("multilabel", **({"classes": list("abc")} if closed else {}), **options)
    model.learn(X, SETS)
    return model


# ---- sets --------------------------------------------------------------------------------------------------

BAD_SETS = [
    (lambda: "abcabc", "^y must be a list of sets of labels, one per row, not str"),
    (lambda: ["a", "b", "c", "a", "b", "c"], "row 0: y must be a set of labels .*, not 'a'"),
    (lambda: [*SETS[:5], "ab"], "row 5: y must be a set of labels .*, not 'ab'"),
    (lambda: [*SETS[:5], 3], "row 5: y must be a set of labels .*, not 3"),
    (lambda: [*SETS[:5], None], "row 5: y must be a set of labels .*, not None"),
    (lambda: [*SETS[:5], {"a": 1}], "row 5: y must be a set of labels .*, not {'a': 1}"),
    (lambda: [*SETS[:5], [["a"]]], r"row 5: a label must be a string, .*, not \['a'\]"),
    (lambda: [*SETS[:5], [None]], "row 5: a label must be a string"),
    (lambda: [*SETS[:5], {float("nan")}], "row 5: a label must be a string, .* not nan"),
    (lambda: [*SETS[:5], {b"a"}], "row 5: a label must be"),
    (lambda: SETS[:5], "y has 5 entries for 6 rows"),
    (lambda: [*SETS, set()], "y has 7 entries for 6 rows"),
    (lambda: None, "multilabel needs a target: y is None"),
    (lambda: MATRIX[:5], "y has 5 entries for 6 rows"),
    (lambda: MATRIX[:, :2], "y has 2 columns for 3 labels"),
    (lambda: np.hstack([MATRIX, MATRIX]), "y has 6 columns for 3 labels"),
    (lambda: 2 * MATRIX, "an indicator matrix must hold 0 and 1 only, not .*2"),
    (lambda: MATRIX - 1, "an indicator matrix must hold 0 and 1 only, not .*-1"),
    (lambda: MATRIX / 2, "an indicator matrix must hold 0 and 1 only, not .*0.5"),
    (lambda: np.where(MATRIX, np.nan, 0.0), "an indicator matrix must hold 0 and 1 only, not .*nan"),
    (lambda: np.where(MATRIX, np.inf, 0.0), "an indicator matrix must hold 0 and 1 only, not .*inf"),
    (lambda: MATRIX.astype(str), "an indicator matrix must hold 0 and 1 only"),
    (lambda: MATRIX[:, :, None], "not an array of 3 dimensions"),
    (lambda: np.arange(6), "y must be an indicator matrix .* not an array of 1 dimensions"),
    (lambda: scipy.sparse.csr_matrix(3 * MATRIX), "an indicator matrix must hold 0 and 1 only, not .*3"),
    (lambda: scipy.sparse.csr_matrix(MATRIX[:, :2]), "y has 2 columns for 3 labels"),
    (lambda: scipy.sparse.csc_matrix(MATRIX[:4]), "y has 4 entries for 6 rows"),
    (
        lambda: pd.DataFrame(MATRIX, columns=["a", "b", "a"]),
        "the columns of y must be different labels",
    ),
    (lambda: pd.DataFrame(MATRIX, columns=["a", "b", None]), "a label must be a string"),
]


@every_option
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("place", range(len(BAD_SETS)))
def test_bad_sets(place, closed, options):
    change, message = BAD_SETS[place]
    model = trained(closed, **options)
    refused(model, message, lambda: model.learn(X, change()))
    refused(model, message, lambda: model.learn(scipy.sparse.csr_matrix(X), change(), np.ones(6)))
    refused(model, message, lambda: model.learn_many([{**x, "new": 1.0} for x in EVENTS], change()))
    frame = pd.DataFrame(np.hstack([X, X[:, :1]]), columns=[0, 1, 2, "new"])
    refused(model, message, lambda: model.learn_many(frame, change()))


@pytest.mark.parametrize(
    "y", ["abc", b"a", 3, None, {"a": True}, [["a"]], [None], {float("nan")}, 1.5, [{}], object()]
)
@every_option
def test_bad_sets_of_one_event(y, options):
    for model in (
        trained(True, **options),
        trained(False, **options),
        hinge.Learner("multilabel", **options),
    ):
        message = "y must be a set of labels|a label must be"
        refused(model, message, lambda m=model: m.learn_one({0: 1.0, "new": 2.0}, y))
        refused(model, message, lambda m=model: m.learn_one({0: 1.0, "new": 2.0}, y, 0.0))


@every_option
def test_an_unknown_label(options):
    """Rejected with the row, if the labels are known ahead; else welcome."""
    message = "the label 'z' is not one of the (labels|classes) 'a', 'b' and 'c'"
    model = trained(True, **options)
    bad = [*SETS[:5], {"a", "z"}]
    refused(model, f"row 5: {message}", lambda: model.learn(X, bad))
    refused(model, f"row 5: {message}", lambda: model.learn_many(EVENTS, bad))
    refused(model, message, lambda: model.learn_one({0: 1.0, "new": 1.0}, {"a", "z"}))
    frame = pd.DataFrame(np.hstack([MATRIX, MATRIX[:, :1]]), columns=list("abcz"))
    refused(model, f"row 0: {message}", lambda: model.learn(X, frame))
    fitted = hinge.PAMultilabel(**options).partial_fit(X, SETS, classes=list("abc"))
    before = fitted._learner.to_bytes()
    with pytest.raises(ValueError, match=f"row 5: {message}"):
        fitted.partial_fit(X, bad)
    assert fitted._learner.to_bytes() == before
    fitted.learn_many(X, bad)
    assert fitted.classes_.tolist() == ["a", "b", "c", "z"]
    with pytest.raises(ValueError, match="not one of the labels"):
        model.explain_one({0: 1.0}, label="z")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ([{"a"}] * 6, "only 1 class"),
        ([set()] * 6, "two labels are needed"),
        (np.ones((6, 1)), "only 1 class"),
        (np.full(6, 0.5), "Unknown label type"),
        (np.full((6, 2), 0.5), "Unknown label type"),
        (np.array([1.0, np.nan, 1, 2, 1, 2]), "NaN"),
        (MATRIX + 1, "must hold 0 and 1 only"),
        (np.zeros((6, 2, 2)), "dimensions"),
        (SETS[:4], "y has 4 entries for 6 rows"),
        (["a", "b"], "y has 2 entries for 6 rows"),
    ],
)
def test_bad_sets_of_the_estimator(y, message):
    model = hinge.PAMultilabel()
    for learn in (model.fit, lambda X, y: model.partial_fit(X, y, classes=["a", "b"])):
        if learn != model.fit and message in (
            "only 1 class",
            "two labels are needed",
            "must hold 0 and 1 only",
        ):
            continue  # there the classes say it
        with pytest.raises(ValueError, match=message):
            learn(X, y)
        assert not model.__sklearn_is_fitted__()


# ---- ranks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["simproj", "simperc", "conproj", "max"])
@pytest.mark.parametrize("average", [False, True])
def test_bad_ranks(selection, average):
    model = hinge.Learner("ordinal", classes=[1, 2, 4], selection=selection, average=average)
    y = np.array([1, 2, 4, 4, 2, 1])
    model.learn(X, y)
    for bad, message in (
        (3, "is not one of"),
        (0, "is not one of"),
        (2.5, "is not one of"),
        ("2", "is not one of"),
        (None, "label"),
        (float("nan"), "label"),
        ([1], "label"),
        (float("inf"), "is not one of"),
    ):
        refused(model, message, lambda b=bad: model.learn_one({0: 1.0, "new": 1.0}, b))
        truth = np.empty(6, dtype=object)
        truth[:] = y
        truth[5] = bad
        refused(model, "row 5: ", lambda t=truth: model.learn(X, t))
        refused(model, "row 5: ", lambda t=truth: model.learn_many([{**x, "new": 1.0} for x in EVENTS], t))
    refused(model, "row 2: the label 9", lambda: model.learn(X, [1, 2, 9, 1, 2, 1]))
    refused(model, "y has 5 entries for 6 rows", lambda: model.learn(X, y[:5]))
    refused(model, "needs a target", lambda: model.learn(X, None))
    refused(model, "one-dimensional", lambda: model.learn(X, y[:, None]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.5, 2, 3, 1, 2, 3], "ranks must be whole numbers, not 1.5|Unknown label type"),
        (["bad", "good", "bad", "good", "bad", "good"], "ranks must be whole numbers, not 'bad'.*classes="),
        ([1, 2, np.nan, 1, 2, 1], "NaN"),
        ([1, 2, np.inf, 1, 2, 1], "infinity"),
        (None, "requires y to be passed"),
        ([1, 2, 3], "y has 3 entries for 6 rows"),
        (np.ones((6, 2)), "1d array|shape"),
    ],
)
def test_bad_ranks_of_the_estimator(y, message):
    for fit in (lambda m: m.fit(X, y), lambda m: m.partial_fit(X, y, classes=[1, 2, 3])):
        model = hinge.PAOrdinal()
        with pytest.raises(ValueError, match=message):
            fit(model)
        assert not model.__sklearn_is_fitted__()


def test_ranks_must_be_known_ahead():
    with pytest.raises(ValueError, match="two ranks are needed, the data has only 1 class"):
        hinge.PAOrdinal().fit(X, [1] * 6)
    for call in (
        lambda: hinge.Learner("ordinal"),
        lambda: hinge.PAOrdinal().learn_one({"a": 1.0}, 1),
        lambda: hinge.PAOrdinal().learn_many([{"a": 1.0}], [1]),
    ):
        with pytest.raises(ValueError, match=r"needs its ranks ahead, .* give classes=\[...\]"):
            call()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        hinge.PAOrdinal().partial_fit(X, [1, 2, 3, 1, 2, 3])
    model = hinge.PAOrdinal().partial_fit(X, [1, 2, 3, 1, 2, 3], classes=[1, 2, 3])
    before = model._learner.to_bytes()
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, [1, 2, 3, 1, 2, 3], classes=[1, 2, 3, 4])
    with pytest.raises(ValueError, match="row 2: the label 4 is not one of the classes 1, 2 and 3"):
        model.partial_fit(X, [1, 2, 4, 1, 2, 3])
    assert model._learner.to_bytes() == before


# ---- what does not go together -----------------------------------------------------------------------------

AB, ABC = {"classes": ["a", "b"]}, {"classes": ["a", "b", "c"]}
COST, COST3 = [[0.0, 1.0], [2.0, 0.0]], np.ones((3, 3)) - np.eye(3)
COMBINATIONS = [
    # cost
    ("classification", {"cost": COST}, "needs the labels in order: give classes"),
    (
        "classification",
        {"cost": COST3, **AB},
        r"cost must have a row and a column for each of the 2 labels, not \(3, 3\)",
    ),
    ("classification", {"cost": {"a": {"z": 1.0}}, **AB}, "cost names 'z', which is not one of the labels"),
    ("classification", {"cost": {"z": {"a": 1.0}}, **AB}, "cost names 'z', which is not one of the labels"),
    ("classification", {"cost": {"a": {"a": 0.0}}}, "cost must name two labels or more"),
    ("classification", {"cost": {"a": {None: 1.0}}}, "a label must be a string"),
    ("multilabel", {"cost": COST, **AB}, "cost is for classification, not for multilabel"),
    ("ordinal", {"cost": COST, "classes": [1, 2]}, "cost is for classification, not for ordinal"),
    *(
        (
            "classification",
            {"cost": COST, "selection": selection, **AB},
            "cost goes with selection 'max' or 'prediction'",
        )
        for selection in ("simperc", "simproj", "conproj", "mira")
    ),
    (
        "classification",
        {"cost": COST, "step": "perceptron", **AB},
        "cost goes with .* the steps 'pa', 'pa1', 'pa2'",
    ),
    # nu
    *(
        (
            "classification",
            {"nu": COST3 + 1, "selection": selection, **ABC},
            f"nu goes with .*, not '{selection}'",
        )
        for selection in ("max", "prediction", "simperc", "mira")
    ),
    ("ordinal", {"nu": [1.0], "selection": "simperc", "classes": [1, 2]}, "nu goes with selection 'simproj'"),
    ("classification", {"nu": COST3, "selection": "simproj"}, "nu needs the labels in order: give classes"),
    ("multilabel", {"nu": {"a": {"b": 2.0}}, "selection": "conproj"}, "nu needs the labels in order"),
    (
        "classification",
        {"nu": COST3, "selection": "simproj", **AB},
        "nu must have a row and a column for each of the 2",
    ),
    (
        "multilabel",
        {"nu": [1.0, 2.0], "selection": "simproj", **AB},
        "nu must have a row and a column for each of the 2",
    ),
    ("multilabel", {"nu": {"a": {"z": 1.0}}, "selection": "simproj", **AB}, "nu names 'z'"),
    ("multilabel", {"nu": [COST3, COST3], "selection": "simproj", **AB}, "nu must have a row and a column"),
    (
        "ordinal",
        {"nu": [1.0], "selection": "simproj", "classes": [1, 2, 3]},
        "nu has 1 entries for 2 thresholds",
    ),
    ("ordinal", {"nu": {1: {2: 1.0}}, "selection": "simproj", "classes": [1, 2, 3]}, "nu must be a vector"),
    ("ordinal", {"nu": [COST3], "selection": "simproj", "classes": [1, 2, 3]}, "nu must be a vector"),
    # selection and step
    *(
        (
            "ordinal",
            {"selection": selection, "classes": [1, 2]},
            f"selection='{selection}' is not for ordinal; there are max",
        )
        for selection in ("prediction", "mira", "uniform")
    ),
    (
        "ordinal",
        {"step": "perceptron", "classes": [1, 2]},
        "step='perceptron' does not go with selection='max' for ordinal",
    ),
    *(
        (
            "classification",
            {"step": "perceptron", "selection": selection},
            "step='perceptron' does not go with selection",
        )
        for selection in ("prediction", "simperc", "simproj", "conproj", "mira")
    ),
    *(
        ("multilabel", {"step": step, "selection": "uniform"}, "selection='uniform' is for step='perceptron'")
        for step in ("pa", "pa1", "pa2")
    ),
    *(
        ("multilabel", {"step": step, "selection": "simperc"}, f"use step='pa1', not '{step}'")
        for step in ("pa", "pa2")
    ),
    ("multilabel", {"selection": "simperc", "C": float("inf")}, "C must be finite"),
    ("classification", {"selection": "mira", "step": "pa2"}, "'mira' has one linear slack: use step='pa1'"),
    ("classification", {"selection": "mira", "beta": 0}, "with beta=0 never moves from 0: give w1"),
    ("multilabel", {"selection": "mira", "beta": 0.0, **AB}, "with beta=0 never moves from 0: give w1"),
    # w1
    ("classification", {"w1": [1.0, 2.0], **ABC}, "w1 must have a row of weights for each of the 3 labels"),
    (
        "classification",
        {"w1": [[1.0], [2.0]], **ABC},
        "w1 must have a row of weights for each of the 3 labels",
    ),
    ("classification", {"w1": [[1.0], [2.0]], **AB}, "w1 must be a vector: there is one w"),
    (
        "classification",
        {"w1": [1.0], "selection": "simproj", **AB},
        "w1 must have a row of weights for each of the 2",
    ),
    ("multilabel", {"w1": [[1.0], [2.0]]}, r"w1 must have a row of weights .* \(give classes"),
    ("multilabel", {"w1": [1.0, 2.0], **AB}, "w1 must have a row of weights for each of the 2 labels"),
    ("multilabel", {"w1": {"x": 1.0}, **AB}, "w1 must have a row of weights for each of the 2 labels"),
    ("ordinal", {"w1": [[1.0], [2.0]], "classes": [1, 2]}, "w1 must be a vector"),
    ("regression", {"w1": [[1.0], [2.0]]}, "w1 must be a vector"),
    ("uniclass", {"w1": [[1.0], [2.0]]}, "w1 must be a vector"),
    ("multilabel", {"w1": [[1.0], [1e300]], **AB}, "w1 is too large"),
    ("multilabel", {"w1": [[1.0, 2.0], [1.0, 2.0]], "max_features": 1, **AB}, "2 features, the limit is 1"),
    ("multilabel", {"w1": [[1.0], [2.0]], "hash_bits": 3, **AB}, "w1 has 1 weights for 8 hashed columns"),
    ("multilabel", {"w1": "zero", **AB}, "w1='zero' is for uniclass"),
    # labels
    ("classification", {"max_labels": 2, **ABC}, r"3 classes, the limit is 2 \(max_labels\)"),
    ("classification", {"classes": ["a", ("b",)]}, "classes must be None or two or more different labels"),
    (
        "multilabel",
        {"classes": ["a", float("nan")]},
        "classes must be None or two or more different labels, not",
    ),
]


@pytest.mark.parametrize(("task", "options", "message"), COMBINATIONS, ids=str)
def test_combinations_that_make_no_sense(task, options, message):
    with pytest.raises(ValueError, match=message):
        hinge.Learner(task, **options)


ESTIMATORS = {
    "classification": hinge.PAClassifier,
    "multilabel": hinge.PAMultilabel,
    "ordinal": hinge.PAOrdinal,
}


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [c for c in COMBINATIONS if c[0] in ESTIMATORS and "classes" in c[1]],
    ids=str,
)
def test_estimators_refuse_the_same(task, options, message):
    cls = ESTIMATORS[task]
    if not set(options) <= set(cls().get_params()):
        return
    if isinstance(options.get("w1"), dict):
        message = "w1 as a dict of names needs features with names"
    classes = [c for c in options["classes"] if isinstance(c, (str, int))]
    y = [classes[k % len(classes)] for k in range(6)]
    model = cls(**{"selection": "max", **options})
    with pytest.raises(ValueError, match=message):
        model.fit(X, [{label} for label in y] if task == "multilabel" else y)
    assert not model.__sklearn_is_fitted__()


def test_a_change_that_makes_no_sense():
    model = hinge.Learner("classification", selection="mira")
    model.learn_many(EVENTS, list("abcabc"))
    for changes in (
        {"step": "pa2"},
        {"beta": 0},
        {"beta": -1.0},
        {"step": "perceptron"},
        {"selection": "max"},
    ):
        refused(model, "mira|beta|perceptron|selection", lambda c=changes: model.change(**c))
    model.change(beta=1.0, C=0.5)
    model.learn_many(EVENTS, list("abcabd"))
    assert model.labels.known == list("abcd")


def test_labels_cannot_join_where_they_are_fixed():
    matrix = hinge.Learner("classification", selection="simproj", nu=COST3, **ABC)
    matrix.closed = False  # as after fit
    matrix.learn_many(EVENTS, list("abcabc"))
    refused(
        matrix,
        "nu must have a row and a column for each of the 4 labels",
        lambda: matrix.learn_one({0: 1.0}, "d"),
    )
    refused(matrix, "nu must have a row and a column", lambda: matrix.learn_many(EVENTS, list("abcdef")))
    costly = hinge.PAClassifier(cost={"a": {"b": 1.0}, "b": {"a": 2.0}}).fit(X, list("ababab"))
    before = costly._learner.to_bytes()
    with pytest.raises(ValueError, match="'c' is not one of the classes 'a' and 'b'"):
        costly.learn_one({0: 1.0}, "c")
    assert costly._learner.to_bytes() == before
