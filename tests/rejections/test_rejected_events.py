"""Invalid events: values, names, what is not a dict, frames. An error names the feature, and the row of a batch."""

from __future__ import annotations

import decimal
import itertools

import numpy as np
import pandas as pd
import pytest

import hinge
from rejection import INF, NAN, Does, Raises, rejects
from rejection_cases import KERNEL, SHAPED, TASKS, Case, one_of_each, parametrize, truth

OPTIONS = [{}, {"average": True}, {"dtype": "float32"}, {"hash_bits": 8, "average": True}]
PLAIN = [Case(task, options) for task in TASKS for options in OPTIONS]
EVERY_CASE = PLAIN + one_of_each(SHAPED) + one_of_each(KERNEL)
every_plain = parametrize(PLAIN)


class Text:
    def __float__(self):
        return "1.0"


class Silent:
    """Not even its repr can be had."""

    def __repr__(self):
        raise RuntimeError("no repr")


def repeated(case, count):
    """The targets of that many events."""
    return None if case.task == "uniclass" else [truth(case.task)] * count


VALUES = [
    (NAN, "feature 'x': the value is NaN"),
    (INF, "feature 'x': the value is infinity"),
    (-INF, "feature 'x': the value is infinity"),
    (np.float32("nan"), "feature 'x': the value is NaN"),
    (decimal.Decimal("nan"), "feature 'x': the value is NaN"),
    ([1.0, "a"], "feature 'x': a list of numbers or of strings was expected, there is 'a' in it"),
    ([1.0, None, NAN], r"feature 'x\[2\]': the value is NaN"),
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
VALUES_FOR_ALL = [*VALUES[:3], *VALUES[11:13]]


@parametrize(EVERY_CASE)
@pytest.mark.parametrize("fresh", [False, True], ids=["trained", "fresh"])
def test_invalid_value_is_rejected_with_its_feature(case, fresh):
    model, target = case.new() if fresh else case.trained_on_events(), truth(case.task)
    good = [{"a": 1.0, f"f{k}": 1.0} for k in range(20)]
    if case.kernel:  # supports are removed or merged before the invalid event comes
        good = [dict(zip("abcde", row, strict=True)) for row in case.stream()[0][: case.bad].tolist()]
    y = None if case.task == "uniclass" else [target] * (len(good) + 2)
    for value, message in VALUES if case.plain else VALUES_FOR_ALL:
        for name, event in (
            ("x", {"a": 1.0, "new": 2.0, "x": value}),
            ("x", {"x": value}) if case.plain else ("a", {"new": 2.0, "a": value}),
        ):
            message = message.replace("feature 'x", f"feature '{name}")
            alone = rejects(model, f"^{message}")
            alone.learn_one(event, target)
            alone.learn_one(event, target, 0.0)
            alone.score_one(event)
            alone.predict_one(event)
            if not case.kernel:
                alone.explain_one(event)
            if case.covariance:
                alone.uncertainty_one(event)
            separator = "," if message.startswith("feature") else ":"
            error = rejects(model, f"^row {len(good)}{separator} {message}")
            error.learn_many([*good, event, {"b": 1.0}], y)


@parametrize(EVERY_CASE)
@pytest.mark.parametrize("value", [1e308, -1e200])
def test_squares_that_overflow_are_rejected(case, value):
    model, target = case.trained_on_events(), truth(case.task)
    place = "column [0-9]+" if "hash_bits" in case.options else "feature '(a|new)'"
    for event in ({"b": 1.0, "new": value}, {"a": value}):
        rejects(model, f"^{place}: the value is too large").learn_one(event, target)
        error = rejects(model, f"^row 3, {place}")
        error.learn_many([{"b": 1.0}, {"n": 2.0}, {"c": 1.0}, event, {}], repeated(case, 5))
        rejects(model, "too large|squared norm").learn_one(event, target, 0.0)
    if case.plain and case.task == "uniclass":
        rejects(model, "overflows").score_one({"never": value})
        rejects(model, "overflows").score_one({"a": value})
    elif not case.options:
        assert model.score_one({"never": value}) == model.intercept  # features never seen count nothing


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_interrupts_are_raised_unchanged(error):
    model = Case("regression").trained_on_events()
    event, raised = {"new": 1.0, "x": Raises(error())}, rejects(model, error=error)
    raised.learn_one(event, 1.0)
    raised.score_one(event)
    raised.explain_one(event)
    raised.learn_many([{"a": 1.0}, event], [1.0, 2.0])


def test_value_without_a_repr_raises_its_error():
    error = rejects(Case("regression").trained_on_events(), error=RuntimeError)
    error.learn_one({"new": 1.0, "x": Silent()}, 1.0)
    error.score_one({"x": Silent()})


CHANGES = [
    lambda x: x.clear(),
    lambda x: x.update({f"more{k}": 1.0 for k in range(500)}),
    lambda x: x.pop("a"),
    lambda x: [x.pop(k) for k in list(x)[1:]],
    lambda x: x.setdefault("other", 5.0),
]


@every_plain
def test_event_that_changes_while_it_is_read_is_rejected(case):
    model, target = case.trained_on_events(), truth(case.task)

    def changing(change, size):
        x = {"first": 2.0}
        x["value"] = Does(lambda: change(x))
        x.update({"a": 1.0, **{f"n{k}": 1.0 for k in range(size)}})
        return x

    error = rejects(model, "x changed while it was read")
    for size, change in itertools.product((3, 200), CHANGES):
        error.learn_one(changing(change, size), target)
        error.score_one(changing(change, size))
        error.explain_one(changing(change, size))
        error.learn_many([changing(change, size)], repeated(case, 1))
    swapped = {"b": 1.0}
    swapped["a"] = Does(lambda: (swapped.pop("b"), swapped.update({"d": 4.0})))
    model.score_one(swapped)  # of the same size again: some of it is read, and nothing breaks


# ---- names ---------------------------------------------------------------------------------------------------------


@every_plain
def test_invalid_name_is_rejected(case):
    model, target = case.trained_on_events(), truth(case.task)
    message = "the name of a feature must be a string"
    for name in (None, 1.5, (1, 2), b"bytes", frozenset(), object(), NAN, 1j, np.float64(2.0)):
        event, error = {"a": 1.0, "new": 1.0, name: 1.0}, rejects(model, message)
        error.learn_one(event, target)
        error.score_one(event)
        error.explain_one(event)
        rejects(model, f"row 1: {message}").learn_many([{"n": 1.0}, event], repeated(case, 2))
        if "hash_bits" not in case.options:
            error.name_columns(["fine", name])
            frame = pd.DataFrame([[1.0, 2.0]], columns=pd.Index(["fine", name], dtype=object))
            error.learn_many(frame, repeated(case, 1))


def test_names_of_many_kinds_are_kept():
    class Name(str):
        __slots__ = ()

        def __hash__(self):
            return 1234567

        def __eq__(self, other):
            raise RuntimeError("never asked")

    model = hinge.Learner("regression")
    model.learn_one({"a": 1.0, "b": 2.0, "c": "red"}, 1.0)
    model.learn_one({Name("a"): 1.0, np.str_("b"): 2.0, np.int64(7): 1.0, True: 2.0, "": 1.0, "\0": 1.0}, 1.0)
    assert model.feature_names == ["a", "b", "c=red", 7, 1, "", "\0"]
    assert {type(name) for name in model.feature_names} == {str, int}
    again = hinge.Learner.from_bytes(model.to_bytes())
    assert again.feature_names == model.feature_names
    lone = "\ud800"  # half of a surrogate pair: a string, but not text
    model.learn_one({lone: 1.0, "x": lone}, 1.0)
    assert hinge.Learner.from_bytes(model.to_bytes()).feature_names[-2:] == [lone, f"x={lone}"]
    rejects(Case("regression", {"hash_bits": 4}).trained_on_events(), "surrogates").learn_one(
        {lone: 1.0}, 1.0
    )


# ---- what is not an event, and frames ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x",
    [None, [("a", 1.0)], "a", 5, np.ones(3), pd.Series({"a": 1.0}), {1.0}, object()],
    ids=lambda v: type(v).__name__,
)
@pytest.mark.parametrize("task", TASKS)
def test_what_is_not_a_dict_is_rejected(x, task):
    case = Case(task)
    model, error = case.trained_on_events(), "must be a dict"
    rejects(model, error, TypeError).learn_one(x, truth(task))
    rejects(model, error, TypeError).score_one(x)
    rejects(model, error, TypeError).explain_one(x)
    error = rejects(model, "row 2: an event must be a dict", TypeError)
    error.learn_many([{}, {"n": 1.0}, x], repeated(case, 3))


def test_invalid_frame_is_rejected():
    model = Case("regression").trained_on_events()
    good = {"a": [1.0, 2.0], "new": [1.0, 3.0]}
    for frame, message in [
        ({**good, "c": [1.0, NAN]}, "row 1, feature 'c': the value is NaN"),
        ({**good, "c": [INF, 1.0]}, "row 0, feature 'c': the value is infinity"),
        ({**good, "c": [1.0, 1e200]}, "row 1.*too large"),
        ({**good, "c": [1.0, object()]}, "row 1, feature 'c'"),
        ({**good, "c": [1.0, None]}, "row 1, feature 'c': the value is NaN"),
        (pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["n", "n"]), "different names"),
        (pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=["a", "a"]), "different names"),
    ]:
        rejects(model, message).learn_many(pd.DataFrame(frame), [1.0, 2.0])
        if "large" not in message:
            rejects(model, message).scores(pd.DataFrame(frame))
    frame = pd.DataFrame(good)
    rejects(model, "y has 1 entries for 2 rows").learn_many(frame, [1.0])
    rejects(model, "target is NaN").learn_many(frame, [1.0, NAN])
    hashed = Case("regression", {"hash_bits": 4}).trained_on_events()
    rejects(hashed, "give events as dicts").learn_many(frame, [1.0, 2.0])


def test_frame_with_an_unseen_value_too_large_is_rejected():
    model = Case("regression", {"geometry": "diagonal"}).trained()
    rejects(model, "large|overflow").uncertainty(pd.DataFrame({"unseen": [1e200]}))
