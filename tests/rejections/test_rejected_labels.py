"""Labels, sets of labels and ranks: invalid ones, unknown ones, and labels that cannot join."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import hinge
from rejection import INF, NAN, rejects

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

# ---- classes -------------------------------------------------------------------------------------------------------

INVALID_LABELS = [
    None, [1], (1,), {}, b"x", NAN, 1j, np.nan, np.datetime64("2020-01-01"), object(), pd.NA, np.float32("nan"),
    np.ones(2),
]  # fmt: skip


@pytest.mark.parametrize("label", INVALID_LABELS, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("known", [[], ["z"], ["y", "z"]], ids=str)
def test_invalid_label_is_rejected(label, known):
    of_events, of_arrays = (hinge.Learner("classification", average=True) for _ in range(2))
    for k, one in enumerate(known):
        of_events.learn_one({f"f{k}": 1.0}, one)
        of_arrays.learn(np.eye(3)[k : k + 1], [one])
    is_nan = isinstance(label, (float, np.floating)) and label != label
    message = "the label is NaN" if is_nan else "a label must be a string, a boolean or a number"
    rejects(of_events, message).learn_one({"f0": 1.0, "new": 1.0}, label)
    y = np.empty(3, dtype=object)
    y[:2], y[2] = "z", label
    error = rejects(of_events, "row 2: .*label")
    error.learn_many([{"f0": 1.0}, {"new": 1.0}, {"f0": 2.0}], y)
    error.learn_many([{"f0": 1.0}, {"new": 1.0}, {"f0": 2.0}], y, [1.0, 1.0, 0.0])
    rejects(of_arrays, "row 2: .*label").learn(np.eye(3), y)


@pytest.mark.parametrize("known", [0, 1, 2])
def test_third_label_joins_unless_the_classes_are_given(known):
    events, y = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}], ["y", "x", "z"]
    model, one_by_one = (hinge.Learner("classification", average=True) for _ in range(2))
    for each in (model, one_by_one):
        for event, label in zip(events[:known], y, strict=False):
            each.learn_one(event, label)
    model.learn_many(events, y)
    for event, label in zip(events, y, strict=True):
        one_by_one.learn_one(event, label)
    assert model.labels.known == ["x", "y", "z"]
    assert model.to_bytes() == one_by_one.to_bytes()

    closed = hinge.Learner("classification", average=True, classes=["x", "y"])
    if known:
        closed.learn_many(events[:known], y[:known])
    message = "the label 'z' is not one of the classes 'x' and 'y'"
    rejects(closed, message).learn_one(events[2], "z")
    rejects(closed, f"row 2: {message}").learn_many(events, y)
    rejects(closed, f"row 0: {message}").learn_many(events[2:], y[2:], [0.0])
    rejects(closed, "row 0: the label 5 is not").learn_many(events, [5, 6, 7])
    rejects(closed, "the label 5 is not").learn_one(events[2], 5)

    fitted = hinge.PAClassifier(average=True).partial_fit(np.eye(3)[:2], y[:2], classes=["x", "y"])
    rejects(fitted, f"row 2: {message}").partial_fit(np.eye(3), y)
    fitted.learn_many(np.eye(3), y)  # a stream may bring it
    assert fitted.classes_.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("known", ["", "m", "mn", "mno"])
@pytest.mark.parametrize("label", ["a", "z"])
def test_label_of_a_rejected_event_is_not_known(known, label):
    """Neither the first nor the second one, nor one before which the weights would change sides."""
    model = hinge.Learner("classification", average=True)
    for one in known:
        model.learn_one({"a": 1.0, "b": -1.0}, one)
    bad = {"a": 1.0, "new": NAN}
    rejects(model, "NaN").learn_one(bad, label)
    rejects(model, "NaN").learn_many([{"n": 1.0}, bad], [label, label])
    rejects(model, "NaN").learn_many(pd.DataFrame([[1.0], [NAN]]), [label, label])
    rejects(model, "the sample weight is -1").learn_one({"a": 1.0}, label, -1.0)
    assert model.labels.known == list(known)


def test_labels_must_be_known_with_a_start_vector():
    model = hinge.Learner("classification", w1=[1.0, 2.0])
    error = rejects(model, "with a start vector w1 the labels must be known ahead")
    error.learn_one({0: 1.0}, "a")
    error.learn(np.eye(2), ["a", "b"])


def test_signed_classes_are_closed():
    """Without signs the second class has the positive scores: a third one is rejected."""
    model = hinge.Learner("classification", classes=[0, 1], geometry="entropy", scale=5.0, signed=False)
    model.learn(X, [0, 1, 0, 1, 0, 1])
    rejects(model, "the label 2 is not one of the classes").learn_one({0: 1.0}, 2)


def test_labels_cannot_join_where_a_cost_or_nu_is_fixed():
    matrix = hinge.Learner(
        "classification", selection="simproj", nu=np.ones((3, 3)) - np.eye(3), classes=list("abc")
    )
    matrix.closed = False  # as after fit
    matrix.learn_many(EVENTS, list("abcabc"))
    rejects(matrix, "nu must have a row and a column for each of the 4 labels").learn_one({0: 1.0}, "d")
    rejects(matrix, "nu must have a row and a column").learn_many(EVENTS, list("abcdef"))
    costly = hinge.PAClassifier(cost={"a": {"b": 1.0}, "b": {"a": 2.0}}).fit(X, list("ababab"))
    rejects(costly, "'c' is not one of the classes 'a' and 'b'").learn_one({0: 1.0}, "c")


# ---- sets ----------------------------------------------------------------------------------------------------------


def trained(closed, **options):
    model = hinge.Learner("multilabel", **({"classes": list("abc")} if closed else {}), **options)
    model.learn(X, SETS)
    return model


NOT_INDICATOR = "an indicator matrix must hold 0 and 1 only"
INVALID_SETS = [
    ("abcabc", "^y must be a list of sets of labels, one per row, not str"),
    (["a", "b", "c", "a", "b", "c"], "row 0: y must be a set of labels .*, not 'a'"),
    ([*SETS[:5], "ab"], "row 5: y must be a set of labels .*, not 'ab'"),
    ([*SETS[:5], 3], "row 5: y must be a set of labels .*, not 3"),
    ([*SETS[:5], None], "row 5: y must be a set of labels .*, not None"),
    ([*SETS[:5], {"a": 1}], "row 5: y must be a set of labels .*, not {'a': 1}"),
    ([*SETS[:5], [["a"]]], r"row 5: a label must be a string, .*, not \['a'\]"),
    ([*SETS[:5], [None]], "row 5: a label must be a string"),
    ([*SETS[:5], {NAN}], "row 5: the label is NaN"),
    ([*SETS[:5], {b"a"}], "row 5: a label must be"),
    (SETS[:5], "y has 5 entries for 6 rows"),
    ([*SETS, set()], "y has 7 entries for 6 rows"),
    (None, "multilabel needs a target: y is None"),
    (MATRIX[:5], "y has 5 entries for 6 rows"),
    (MATRIX[:, :2], "y has 2 columns for 3 labels"),
    (np.hstack([MATRIX, MATRIX]), "y has 6 columns for 3 labels"),
    (2 * MATRIX, f"{NOT_INDICATOR}, not .*2"),
    (MATRIX - 1, f"{NOT_INDICATOR}, not .*-1"),
    (MATRIX / 2, f"{NOT_INDICATOR}, not .*0.5"),
    (np.where(MATRIX, NAN, 0.0), f"{NOT_INDICATOR}, not .*nan"),
    (np.where(MATRIX, INF, 0.0), f"{NOT_INDICATOR}, not .*inf"),
    (MATRIX.astype(str), NOT_INDICATOR),
    (MATRIX[:, :, None], "not an array of 3 dimensions"),
    (np.arange(6), "y must be an indicator matrix .* not an array of 1 dimensions"),
    (scipy.sparse.csr_matrix(3 * MATRIX), f"{NOT_INDICATOR}, not .*3"),
    (scipy.sparse.csr_matrix(MATRIX[:, :2]), "y has 2 columns for 3 labels"),
    (scipy.sparse.csc_matrix(MATRIX[:4]), "y has 4 entries for 6 rows"),
    (pd.DataFrame(MATRIX, columns=["a", "b", "a"]), "the columns of y must be different labels"),
    (pd.DataFrame(MATRIX, columns=["a", "b", None]), "a label must be a string|the label is NaN"),
]


@every_option
@pytest.mark.parametrize("closed", [True, False])
def test_invalid_sets_are_rejected(closed, options):
    model = trained(closed, **options)
    frame = pd.DataFrame(np.hstack([X, X[:, :1]]), columns=[0, 1, 2, "new"])
    for y, message in INVALID_SETS:
        error = rejects(model, message)
        error.learn(X, y)
        error.learn(scipy.sparse.csr_matrix(X), y, np.ones(6))
        error.learn_many([{**x, "new": 1.0} for x in EVENTS], y)
        error.learn_many(frame, y)


@every_option
def test_invalid_set_of_one_event_is_rejected(options):
    for model in (
        trained(True, **options),
        trained(False, **options),
        hinge.Learner("multilabel", **options),
    ):
        error = rejects(model, "y must be a set of labels|a label must be|the label is NaN")
        for y in ("abc", b"a", 3, None, {"a": True}, [["a"]], [None], {NAN}, 1.5, [{}], object()):
            error.learn_one({0: 1.0, "new": 2.0}, y)
            error.learn_one({0: 1.0, "new": 2.0}, y, 0.0)


@every_option
def test_unknown_label_is_rejected_if_the_labels_are_given(options):
    message = "the label 'z' is not one of the (labels|classes) 'a', 'b' and 'c'"
    model, bad = trained(True, **options), [*SETS[:5], {"a", "z"}]
    rejects(model, f"row 5: {message}").learn(X, bad)
    rejects(model, f"row 5: {message}").learn_many(EVENTS, bad)
    rejects(model, message).learn_one({0: 1.0, "new": 1.0}, {"a", "z"})
    frame = pd.DataFrame(np.hstack([MATRIX, MATRIX[:, :1]]), columns=list("abcz"))
    rejects(model, f"row 0: {message}").learn(X, frame)
    rejects(model, "not one of the labels").explain_one({0: 1.0}, label="z")
    fitted = hinge.PAMultilabel(**options).partial_fit(X, SETS, classes=list("abc"))
    rejects(fitted, f"row 5: {message}").partial_fit(X, bad)
    fitted.learn_many(X, bad)
    assert fitted.classes_.tolist() == ["a", "b", "c", "z"]


ONLY_FIT = (
    "only 1 class",
    "two labels are needed",
    "must hold 0 and 1 only",
)  # partial_fit is given the classes


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed"),
        ([{"a"}] * 6, "only 1 class"),
        ([set()] * 6, "two labels are needed"),
        (np.ones((6, 1)), "only 1 class"),
        (np.full(6, 0.5), "Unknown label type"),
        (np.full((6, 2), 0.5), "Unknown label type"),
        (np.array([1.0, NAN, 1, 2, 1, 2]), "NaN"),
        (MATRIX + 1, "must hold 0 and 1 only"),
        (np.zeros((6, 2, 2)), "dimensions"),
        (SETS[:4], "y has 4 entries for 6 rows"),
        (["a", "b"], "y has 2 entries for 6 rows"),
    ],
)
def test_invalid_sets_are_rejected_by_the_estimator(y, message):
    model = hinge.PAMultilabel()
    rejects(model, message).fit(X, y)
    assert not model.__sklearn_is_fitted__()
    if message not in ONLY_FIT:
        rejects(model, message).partial_fit(X, y, classes=["a", "b"])
        assert not model.__sklearn_is_fitted__()


# ---- ranks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selection", ["simproj", "simperc", "conproj", "max"])
@pytest.mark.parametrize("average", [False, True])
def test_invalid_rank_is_rejected(selection, average):
    model = hinge.Learner("ordinal", classes=[1, 2, 4], selection=selection, average=average)
    y = np.array([1, 2, 4, 4, 2, 1])
    model.learn(X, y)
    unknown = [(rank, "is not one of") for rank in (3, 0, 2.5, "2", INF)]
    for bad, message in (*unknown, (None, "label"), (NAN, "label"), ([1], "label")):
        rejects(model, message).learn_one({0: 1.0, "new": 1.0}, bad)
        truth = np.empty(6, dtype=object)
        truth[:], truth[5] = y, bad
        rejects(model, "row 5: ").learn(X, truth)
        rejects(model, "row 5: ").learn_many([{**x, "new": 1.0} for x in EVENTS], truth)
    rejects(model, "row 2: the label 9").learn(X, [1, 2, 9, 1, 2, 1])
    rejects(model, "y has 5 entries for 6 rows").learn(X, y[:5])
    rejects(model, "needs a target").learn(X, None)
    rejects(model, "one-dimensional").learn(X, y[:, None])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.5, 2, 3, 1, 2, 3], "ranks must be whole numbers, not 1.5|Unknown label type"),
        (["bad", "good", "bad", "good", "bad", "good"], "ranks must be whole numbers, not 'bad'.*classes="),
        ([1, 2, NAN, 1, 2, 1], "NaN"),
        ([1, 2, INF, 1, 2, 1], "infinity"),
        (None, "requires y to be passed"),
        ([1, 2, 3], "y has 3 entries for 6 rows"),
        (np.ones((6, 2)), "1d array|shape"),
    ],
)
def test_invalid_ranks_are_rejected_by_the_estimator(y, message):
    for model, method, classes in (
        (hinge.PAOrdinal(), "fit", {}), (hinge.PAOrdinal(), "partial_fit", {"classes": [1, 2, 3]}),
    ):  # fmt: skip
        getattr(rejects(model, message), method)(X, y, **classes)
        assert not model.__sklearn_is_fitted__()


def test_ranks_must_be_known_ahead():
    rejects(hinge.PAOrdinal(), "two ranks are needed, the data has only 1 class").fit(X, [1] * 6)
    message = r"needs its ranks ahead, .* give classes=\[...\]"
    with pytest.raises(ValueError, match=message):
        hinge.Learner("ordinal")
    rejects(hinge.PAOrdinal(), message).learn_one({"a": 1.0}, 1)
    rejects(hinge.PAOrdinal(), message).learn_many([{"a": 1.0}], [1])
    y = [1, 2, 3, 1, 2, 3]
    rejects(hinge.PAOrdinal(), "classes must be passed on the first call").partial_fit(X, y)
    model = hinge.PAOrdinal().partial_fit(X, y, classes=[1, 2, 3])
    rejects(model, "not the same as on last call").partial_fit(X, y, classes=[1, 2, 3, 4])
    message = "row 2: the label 4 is not one of the classes 1, 2 and 3"
    rejects(model, message).partial_fit(X, [1, 2, 4, 1, 2, 3])
