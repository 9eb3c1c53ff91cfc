"""Bad events: dicts with invalid values, names and labels, and models that cannot hold what is asked.

An error names the feature (and the row of a batch); the model is what it was, to the byte.
"""

from __future__ import annotations

import decimal
import itertools

import numpy as np
import pandas as pd
import pytest

import hinge

TASKS = ("classification", "regression", "uniclass")
TRUTH = {"classification": 1, "regression": 0.5, "uniclass": None}
OPTIONS = [{}, {"average": True}, {"dtype": "float32"}, {"hash_bits": 8, "average": True}]


def refused(model, match, call, error=ValueError):
    before = model.to_bytes()
    with pytest.raises(error, match=match):
        call()
    assert model.to_bytes() == before


def trained(task, **options):
    model = hinge.Learner(task, **options)
    truth = {"classification": [0, 1, 1], "regression": [0.1, 2.0, -1.0], "uniclass": None}[task]
    model.learn_many([{"a": 1.0, "b": 2.0}, {"b": -1.0, "c": 3.0}, {"a": -2.0, "c": "red"}], truth)
    return model


class Raises:
    def __init__(self, error):
        self.error = error

    def __float__(self):
        raise self.error


class Text:
    def __float__(self):
        return "1.0"


class Silent:
    """Not even its repr can be had."""

    def __repr__(self):
        raise RuntimeError("no repr")


BAD_VALUES = [
    (float("nan"), "feature 'x': the value is NaN"),
    (float("inf"), "feature 'x': the value is infinity"),
    (-float("inf"), "feature 'x': the value is infinity"),
    (np.float32("nan"), "feature 'x': the value is NaN"),
    (decimal.Decimal("nan"), "feature 'x': the value is NaN"),
    ([1.0, "a"], "feature 'x': a list of numbers or of strings was expected, there is 'a' in it"),
    ([1.0, None, float("nan")], r"feature 'x\[2\]': the value is NaN"),
    ({"y": {"z": object}}, "feature 'x.y.z': <class 'object'> is not a number"),
    ((True,), "feature 'x': a list of numbers or of strings was expected, there is True in it"),
    ({"y": {3.5: 1.0}}, "the name of a feature must be a string .*, not 3.5"),
    (b"1", "feature 'x': b'1' is not a number"),
    (1j, "feature 'x': 1j is not a number"),
    (object, "feature 'x': <class 'object'> is not a number"),
    (np.datetime64("2020-01-01"), "feature 'x'"),
    (pd.NA, "feature 'x': <NA> is not a number"),
    (10**400, "feature 'x': the value is too large"),
    (Text(), "feature 'x': .* is not a number"),
    (Raises(ValueError("bad luck")), r"feature 'x': the value cannot be read: ValueError\('bad luck'\)"),
    (Raises(KeyError("k")), "feature 'x': the value cannot be read: KeyError"),
    (Raises(OverflowError("o")), "feature 'x': the value is too large"),
]


@pytest.mark.parametrize("place", range(len(BAD_VALUES)))
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_bad_values(place, task, options):
    value, message = BAD_VALUES[place]
    model, truth = trained(task, **options), TRUTH[task]
    fresh = hinge.Learner(task, **options)
    for m, event in itertools.product((model, fresh), ({"a": 1.0, "new": 2.0, "x": value}, {"x": value})):
        refused(m, f"^{message}", lambda m=m, e=event: m.learn_one(e, truth))
        refused(m, f"^{message}", lambda m=m, e=event: m.learn_one(e, truth, 0.0))
        refused(m, f"^{message}", lambda m=m, e=event: m.score_one(e))
        refused(m, f"^{message}", lambda m=m, e=event: m.predict_one(e))
        refused(m, f"^{message}", lambda m=m, e=event: m.explain_one(e))
        events = [*[{"a": 1.0, f"f{k}": 1.0} for k in range(20)], event, {"b": 1.0}]
        y = None if truth is None else [truth] * 22
        separator = "," if message.startswith("feature") else ":"
        refused(m, f"^row 20{separator} {message}", lambda m=m, e=events, y=y: m.learn_many(e, y))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("value", [1e308, -1e200])
def test_squares_that_overflow(task, options, value):
    model, truth = trained(task, **options), TRUTH[task]
    place = "column [0-9]+" if "hash_bits" in options else "feature '(a|new)'"
    for event in ({"b": 1.0, "new": value}, {"a": value}):
        refused(model, f"^{place}: the value is too large", lambda e=event: model.learn_one(e, truth))
        y = None if truth is None else [truth] * 5
        events = [{"b": 1.0}, {"n": 2.0}, {"c": 1.0}, event, {}]
        refused(model, f"^row 3, {place}", lambda e=events, y=y: model.learn_many(e, y))
        refused(model, "too large|squared norm", lambda e=event: model.learn_one(e, truth, 0.0))
    if task == "uniclass":
        refused(model, "overflows", lambda: model.score_one({"never": value}))
        refused(model, "overflows", lambda: model.score_one({"a": value}))
    elif not options:
        assert model.score_one({"never": value}) == model.intercept  # features never seen count nothing


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_interrupts_go_on_as_they_are(error):
    model = trained("regression")
    for call in (
        lambda x: model.learn_one(x, 1.0),
        lambda x: model.score_one(x),
        lambda x: model.explain_one(x),
        lambda x: model.learn_many([{"a": 1.0}, x], [1.0, 2.0]),
    ):
        refused(model, None, lambda c=call: c({"new": 1.0, "x": Raises(error())}), error)


def test_a_value_that_cannot_be_shown():
    model = trained("regression")
    refused(model, None, lambda: model.learn_one({"new": 1.0, "x": Silent()}, 1.0), RuntimeError)
    refused(model, None, lambda: model.score_one({"x": Silent()}), RuntimeError)


class Changes:
    """Changes the event while it is read."""

    def __init__(self, change):
        self.change = change

    def __float__(self):
        self.change()
        return 1.0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_events_that_change_while_they_are_read(task, options):
    model, truth = trained(task, **options), TRUTH[task]
    for size in (3, 200):
        changes = [
            lambda x: x.clear(),
            lambda x: x.update({f"more{k}": 1.0 for k in range(500)}),
            lambda x: x.pop("a"),
            lambda x: [x.pop(k) for k in list(x)[1:]],
            lambda x: x.setdefault("other", 5.0),
        ]
        for change, call in itertools.product(
            changes,
            (
                lambda x: model.learn_one(x, truth),
                lambda x: model.score_one(x),
                lambda x: model.explain_one(x),
                lambda x: model.learn_many([x], None if truth is None else [truth]),
            ),
        ):
            x = {"first": 2.0}
            x["value"] = Changes(lambda x=x, change=change: change(x))
            x.update({"a": 1.0, **{f"n{k}": 1.0 for k in range(size)}})
            refused(model, "x changed while it was read", lambda c=call, x=x: c(x))
    swapped = {"b": 1.0}
    swapped["a"] = Changes(lambda: (swapped.pop("b"), swapped.update({"d": 4.0})))
    model.score_one(swapped)  # of the same size again: some of it is read, and nothing breaks


BAD_NAMES = [None, 1.5, (1, 2), b"bytes", frozenset(), object(), float("nan"), 1j, np.float64(2.0)]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_bad_names(task, options):
    model, truth = trained(task, **options), TRUTH[task]
    for bad in BAD_NAMES:
        event = {"a": 1.0, "new": 1.0, bad: 1.0}
        message = "the name of a feature must be a string"
        refused(model, message, lambda e=event: model.learn_one(e, truth))
        refused(model, message, lambda e=event: model.score_one(e))
        refused(model, message, lambda e=event: model.explain_one(e))
        y = None if truth is None else [truth] * 2
        refused(model, f"row 1: {message}", lambda e=event, y=y: model.learn_many([{"n": 1.0}, e], y))
        if "hash_bits" not in options:
            refused(model, message, lambda b=bad: model.name_columns(["fine", b]))
            frame = pd.DataFrame([[1.0, 2.0]], columns=pd.Index(["fine", bad], dtype=object))
            refused(model, message, lambda f=frame, y=y: model.learn_many(f, y and y[:1]))


def test_names_of_many_kinds():
    class Name(str):
        __slots__ = ()

        def __hash__(self):
            return 1234567

        def __eq__(self, other):
            raise RuntimeError("never asked")

    model = trained("regression")
    model.learn_one({Name("a"): 1.0, np.str_("b"): 2.0, np.int64(7): 1.0, True: 2.0, "": 1.0, "\0": 1.0}, 1.0)
    assert model.feature_names == ["a", "b", "c", "c=red", 7, 1, "", "\0"]
    assert {type(name) for name in model.feature_names} == {str, int}
    again = hinge.Learner.from_bytes(model.to_bytes())
    assert again.feature_names == model.feature_names
    lone = "\ud800"  # half of a surrogate pair: a string, but not text
    model.learn_one({lone: 1.0, "x": lone}, 1.0)
    assert hinge.Learner.from_bytes(model.to_bytes()).feature_names[-2:] == [lone, f"x={lone}"]
    hashed = trained("regression", hash_bits=4)
    refused(hashed, "surrogates", lambda: hashed.learn_one({lone: 1.0}, 1.0))


@pytest.mark.parametrize(
    "x",
    [None, [("a", 1.0)], "a", 5, np.ones(3), pd.Series({"a": 1.0}), {1.0}, object()],
    ids=lambda v: type(v).__name__,
)
@pytest.mark.parametrize("task", TASKS)
def test_what_is_no_event(x, task):
    model, truth = trained(task), TRUTH[task]
    y = None if truth is None else [truth] * 3
    refused(model, "must be a dict", lambda: model.learn_one(x, truth), TypeError)
    refused(model, "must be a dict", lambda: model.score_one(x), TypeError)
    refused(model, "must be a dict", lambda: model.explain_one(x), TypeError)
    refused(
        model, "row 2: an event must be a dict", lambda: model.learn_many([{}, {"n": 1.0}, x], y), TypeError
    )


@pytest.mark.parametrize("X", [None, 5, {"a": 1.0}, "text"])
def test_what_is_no_batch(X):
    model = trained("regression")
    refused(model, None, lambda: model.learn_many(X, [1.0]), (TypeError, ValueError))


def test_bad_frames():
    model = trained("regression")
    good = {"a": [1.0, 2.0], "new": [1.0, 3.0]}
    for frame, message in [
        (pd.DataFrame({**good, "c": [1.0, np.nan]}), "row 1, feature 'c': the value is NaN"),
        (pd.DataFrame({**good, "c": [np.inf, 1.0]}), "row 0, feature 'c': the value is infinity"),
        (pd.DataFrame({**good, "c": [1.0, 1e200]}), "row 1.*too large"),
        (pd.DataFrame({**good, "c": [1.0, object()]}), "row 1, feature 'c'"),
        (pd.DataFrame({**good, "c": [1.0, None]}), "row 1, feature 'c': the value is NaN"),
        (pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["n", "n"]), "different names"),
        (pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"]), "different names"),
    ]:
        refused(model, message, lambda f=frame: model.learn_many(f, [1.0, 2.0]))
        if "large" not in message:
            refused(model, message, lambda f=frame: model.scores(f))
    refused(model, "y has 1 entries for 2 rows", lambda: model.learn_many(pd.DataFrame(good), [1.0]))
    refused(model, "target is NaN", lambda: model.learn_many(pd.DataFrame(good), [1.0, np.nan]))
    hashed = trained("regression", hash_bits=4)
    refused(hashed, "give events as dicts", lambda: hashed.learn_many(pd.DataFrame(good), [1.0, 2.0]))


# ---- labels, targets, weights --------------------------------------------------------------------------

BAD_LABELS = [
    None,
    [1],
    (1,),
    {},
    b"x",
    float("nan"),
    1j,
    np.nan,
    np.datetime64("2020-01-01"),
    object(),
    pd.NA,
    np.float32("nan"),
    np.ones(2),
]


@pytest.mark.parametrize("label", BAD_LABELS, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("known", [[], ["z"], ["y", "z"]], ids=str)
def test_bad_labels(label, known):
    model = hinge.Learner("classification", average=True)
    for k, one in enumerate(known):
        model.learn_one({f"f{k}": 1.0}, one)
    message = "a label must be a string, a boolean or a number"
    refused(model, message, lambda: model.learn_one({"f0": 1.0, "new": 1.0}, label))
    truth = np.empty(3, dtype=object)
    truth[:] = ["z", "z", None]
    truth[2] = label
    events = [{"f0": 1.0}, {"new": 1.0}, {"f0": 2.0}]
    refused(model, "row 2: .*label", lambda: model.learn_many(events, truth))
    refused(model, "row 2: .*label", lambda: model.learn_many(events, truth, [1.0, 1.0, 0.0]))
    other = hinge.Learner("classification", average=True)
    for k, one in enumerate(known):
        other.learn(np.eye(3)[k : k + 1], [one])
    refused(other, "row 2: .*label", lambda: other.learn(np.eye(3), truth))


@pytest.mark.parametrize("known", [0, 1, 2])
def test_a_third_label(known):
    """Without classes it is learned; with them, and in partial_fit, it is refused."""
    events, truth = [{"a": 1.0}, {"b": 1.0}, {"c": 1.0}], ["y", "x", "z"]
    model, one_by_one = (hinge.Learner("classification", average=True) for _ in range(2))
    for m in (model, one_by_one):
        for event, label in zip(events[:known], truth, strict=False):
            m.learn_one(event, label)
    model.learn_many(events, truth)
    for event, label in zip(events, truth, strict=True):
        one_by_one.learn_one(event, label)
    assert model.labels.known == ["x", "y", "z"]
    assert model.to_bytes() == one_by_one.to_bytes()

    closed = hinge.Learner("classification", average=True, classes=["x", "y"])
    if known:
        closed.learn_many(events[:known], truth[:known])
    message = "the label 'z' is not one of the classes 'x' and 'y'"
    refused(closed, message, lambda: closed.learn_one(events[2], "z"))
    refused(closed, f"row 2: {message}", lambda: closed.learn_many(events, truth))
    refused(closed, f"row 0: {message}", lambda: closed.learn_many(events[2:], truth[2:], [0.0]))
    refused(closed, "row 0: the label 5 is not", lambda: closed.learn_many(events, [5, 6, 7]))
    refused(closed, "the label 5 is not", lambda: closed.learn_one(events[2], 5))

    fitted = hinge.PAClassifier(average=True).partial_fit(np.eye(3)[:2], truth[:2], classes=["x", "y"])
    before = fitted._learner.to_bytes()
    with pytest.raises(ValueError, match=f"row 2: {message}"):
        fitted.partial_fit(np.eye(3), truth)
    assert fitted._learner.to_bytes() == before
    fitted.learn_many(np.eye(3), truth)  # a stream may bring it
    assert fitted.classes_.tolist() == ["x", "y", "z"]


def test_a_refused_event_leaves_no_label():
    """Neither the first nor the second one, nor a turn of the weights."""
    for known in ([], ["m"], ["m", "n"], ["m", "n", "o"]):
        model = hinge.Learner("classification", average=True)
        for one in known:
            model.learn_one({"a": 1.0, "b": -1.0}, one)
        for label in ("a", "z"):
            bad = {"a": 1.0, "new": float("nan")}
            refused(model, "NaN", lambda m=model, x=bad, y=label: m.learn_one(x, y))
            refused(model, "NaN", lambda m=model, x=bad, y=label: m.learn_many([{"n": 1.0}, x], [y, y]))
            X = np.array([[1.0], [np.nan]])
            refused(model, "NaN", lambda m=model, X=X, y=label: m.learn_many(pd.DataFrame(X), [y, y]))
            refused(
                model, "the sample weight is -1", lambda m=model, y=label: m.learn_one({"a": 1.0}, y, -1.0)
            )
            assert model.labels.known == known
    model = hinge.Learner("classification", w1=[1.0, 2.0])
    message = "with a start vector w1 the labels must be known ahead"
    refused(model, message, lambda: model.learn_one({0: 1.0}, "a"))
    refused(model, message, lambda: model.learn(np.eye(2), ["a", "b"]))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "the target must be a number"),
        ("1.0", "the target must be a number"),
        (b"1", "must be a number"),
        ([1.0, 2.0], "must be a number"),
        (1j, "must be a number"),
        (10**400, "must be a number"),
        (float("nan"), "the target is NaN"),
        (float("inf"), "the target is infinity"),
        (1e308, "too large"),
        (-1e200, "too large"),
        (object(), "must be a number"),
    ],
    ids=lambda v: repr(v)[:12],
)
def test_bad_numbers(target, message):
    for options in OPTIONS:
        model = trained("regression", **options)
        refused(model, message, lambda m=model: m.learn_one({"a": 1.0, "new": 2.0}, target))
    fresh = hinge.Learner("regression")
    refused(fresh, message, lambda: fresh.learn_one({"a": 1.0, "new": 2.0}, target))


@pytest.mark.parametrize(
    ("weight", "message", "error"),
    [
        (-1.0, "the sample weight is -1", ValueError),
        (float("nan"), "the sample weight is -?nan", ValueError),
        (float("inf"), "the sample weight is inf", ValueError),
        (-float("inf"), "sample weight is -inf", ValueError),
        ("1", "weight|float", TypeError),
        (None, "weight|float", TypeError),
        ([1.0], "weight|float", TypeError),
        (1j, "weight|float", TypeError),
    ],
    ids=lambda v: repr(v)[:12],
)
@pytest.mark.parametrize("task", TASKS)
def test_bad_weights_of_one_event(weight, message, error, task):
    model, fresh = trained(task), hinge.Learner(task)
    for m in (model, fresh):
        refused(m, message, lambda m=m: m.learn_one({"a": 1.0, "new": 2.0}, TRUTH[task], weight), error)


# ---- what a model cannot hold --------------------------------------------------------------------------


@pytest.mark.parametrize("average", [False, True])
def test_weights_that_float32_cannot_hold(average):
    small, large = (
        hinge.Learner("regression", step="pa", dtype=d, average=average) for d in ("float32", "float64")
    )
    for model in (small, large):
        model.learn_one({"a": 1.0}, 1.0)
    event = {"b": 1e-3, "new": 1e36}
    refused(small, "larger than the model can hold", lambda: small.learn_one({"b": 1e-20}, 1e38))
    refused(small, "row 1: .*larger than", lambda: small.learn_many([event, {"n": 1e-20}], [1.0, 1e38]))
    large.learn_one({"b": 1e-20}, 1e38)
    assert np.isfinite(large.weights).all()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("average", [False, True])
def test_weights_that_grow_until_they_overflow(task, dtype, average):
    """Then an event is refused; the weights are finite at every moment, and so is what they say."""
    model = hinge.Learner(task, step="pa", dtype=dtype, average=average, fit_intercept=False, radius=1.0)
    refusals, size = 0, 1.0
    for k in range(330):
        size *= 8.0
        event = {"a": size if task == "uniclass" else 1 / size, f"f{k}": 1e-3 / size}
        truth = {"classification": k % 2, "regression": size, "uniclass": None}[task]
        before = model.to_bytes()
        try:
            model.learn_one(event, truth)
        except ValueError as error:
            refusals += 1
            assert "large" in str(error) or "overflow" in str(error)  # noqa: PT017
            assert model.to_bytes() == before
        assert np.isfinite(model.weights).all()
        assert np.isfinite(model.last_weights).all()
        assert np.isfinite(list(vars(model.statistics).values())).all()
    # (Values that small have no square left before a float64 weight overflows: no step, and no refusal.)
    assert refusals > 10 or (task, dtype) == ("classification", "float64")
    assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


def test_a_long_list_of_new_features_is_refused_whole():
    model = hinge.Learner("regression", max_features=1000)
    model.learn_one({"a": 1.0}, 1.0)
    events = [{f"f{k}-{j}": 1.0 for j in range(10)} for k in range(101)]
    refused(model, "row 99, feature 'f99-9': it is new", lambda: model.learn_many(events, np.ones(101)))
    model.learn_many(events[:99], np.ones(99))
    assert model.n_features == 991
