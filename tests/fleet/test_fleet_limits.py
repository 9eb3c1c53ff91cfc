"""Limits of keys, features and labels, which reject, ignore or evict; and options that are rejected."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fleets import assert_same_state, events, state
from hinge import Fleet
from hinge.data.errors import InputError
from python_runs import run_python

NAN = float("nan")
OK = {"x": 0.5}
COLUMNS = ["x", "y", "fresh", "fresher"]


# ---- limits ------------------------------------------------------------------------------------------------------


def limited(shared: bool, **options: Any) -> Fleet:
    fleet = Fleet("classification", shared=shared, **options)
    fleet.learn_one("a", {"x": 1.0, "y": -3.0}, "p")
    fleet.learn_one("b", {"x": -1.0}, "q")
    return fleet


def one_by_one_and_as_a_batch(fleet: Fleet, error: Any, match: str, key: Any, x: Any, y: Any) -> None:
    before = state(fleet)
    for call in (
        lambda: fleet.learn_one(key, x, y),
        lambda: fleet.round_one(key, x, y),
        lambda: fleet.learn_many(["b", "a", key], [{"x": 1.0}, {"y": 1.0}, x], ["p", "q", y]),
        lambda: fleet.round_many([key], [x], [y]),
        lambda: fleet.ingest(json.dumps({"key": key, "label": y, **x}).encode()),
    ):
        with pytest.raises(error, match=match):
            call()
        assert_same_state(fleet, before)


@pytest.mark.parametrize("shared", [False, True])
def test_limits_that_reject(shared: bool) -> None:
    for options, key, x, y, message in (
        ({"max_keys": 2}, "c", {"x": 1.0}, "p", r"the key 'c' is new, .* has 2 keys, .*\(max_keys\)"),
        ({"max_keys": 2}, 5, {"x": 1.0}, "p", "the key 5 is new"),
        ({"max_features": 2}, "a", {"x": 1.0, "n": 1.0}, "p", r"'n': it is new, .* 2 features, .*\(max_features"),
        ({"max_features": 2, "max_names": 0}, "a", {"n": 1.0}, "p", "feature '#[0-9a-f]{8}': it is new"),
        ({"max_features": 2}, "new", {"u": 1.0, "v": 1.0, "w": 1.0}, "p", "feature 'w': it is new"),
        ({"max_labels": 2}, "a", {"x": 1.0}, "third", None),
        ({"classes": ["p", "q"]}, "a", {"x": 1.0}, "z", "the label 'z' is not one of the classes"),
    ):  # fmt: skip
        fleet = limited(shared, **options)
        if message is None:
            fleet.learn_one("a", {"x": 1.0}, "q")
            message = r"the label 'third' is new, and the model has 2 labels, its limit \(max_labels\)"
        one_by_one_and_as_a_batch(fleet, InputError, message, key, x, y)
    if shared:
        fleet = limited(shared, max_shared_features=2)
        message = (
            r"feature 'n': it is new, and the fleet already has 2 features, its limit \(max_shared_features\)"
        )
        one_by_one_and_as_a_batch(fleet, InputError, message, "b", {"n": 1.0}, "p")


@pytest.mark.parametrize("shared", [False, True])
def test_a_limit_of_a_table_names_the_column(shared: bool) -> None:
    fleet = Fleet("classification", shared=shared, max_features=2)
    with pytest.raises(InputError, match="row 1, feature 'fresh': it is new"):
        fleet.learn_many(
            ["a", "a"], pd.DataFrame([[1.0, 1, 0, 0], [0, 0, 1, 0]], columns=COLUMNS), ["p", "q"]
        )
    with pytest.raises(InputError, match="row 1, column 2: it is new"):
        fleet.learn_many(["a", "a"], np.array([[1.0, 1, 0, 0], [0, 0, 1, 0]]), ["p", "q"])
    assert len(fleet) == 0
    assert fleet.labels == []


@pytest.mark.parametrize("shared", [False, True])
def test_a_full_fleet_ignores_new_keys(shared: bool) -> None:
    fleet, small = (
        Fleet("classification", shared=shared, max_keys=2, at_max_keys="ignore") for _ in range(2)
    )
    for key, x, y, _ in events(60, 0, ["q", "p", "r"], ["a", "b", "c", "d"]):
        known = len(fleet) < 2 or key in fleet
        ignored, predicted = fleet.n_ignored, fleet.predict_one(key, x)
        assert fleet.round_one(key, x, y) == predicted
        assert fleet.n_ignored == ignored + (not known)
        if known:
            small.learn_one(key, x, y)
    assert len(fleet) == 2
    assert fleet.statistics == small.statistics
    assert {**state(fleet), "ignored": 0, "clock": 0} == {**state(small), "ignored": 0, "clock": 0}
    with pytest.raises(InputError, match="feature 'x': the value is NaN"):
        fleet.learn_one("e", {"x": NAN}, "p")


@pytest.mark.parametrize("shared", [False, True])
def test_a_full_key_ignores_new_features(shared: bool) -> None:
    fleet = Fleet("regression", shared=shared, max_features=3, at_max_features="ignore")
    small = Fleet("regression", shared=shared)
    names = ["x", "y", "z", "u", "v"]
    for _, x, y, _ in events(60, 0, None, ["a"], names):
        known = set(fleet["a"].named_weights()) if "a" in fleet else set()
        flat = {name: value for name, value in x.items() if name in names}
        for name, value in flat.items():
            if value and len(known) < 3:
                known.add(name)
        fleet.learn_one("a", flat, y)
        if not shared:
            small.learn_one("a", {name: value for name, value in flat.items() if name in known}, y)
    assert fleet["a"].n_features == 3
    assert fleet["a"].n_ignored == fleet.n_ignored > 10
    if not shared:
        assert fleet["a"].named_weights() == small["a"].named_weights()
        assert fleet["a"].statistics == small["a"].statistics


@pytest.mark.parametrize("shared", [False, True])
def test_a_full_fleet_ignores_new_shared_features(shared: bool) -> None:
    fleet = Fleet("regression", max_shared_features=1, at_max_features="ignore", personal=1.0)
    fleet.learn_one("a", {"x": 1.0}, 1.0)
    fleet.learn_one("a", {"y": 1.0}, 1.0)
    assert set(fleet["a"].named_weights()) == {"x", "y"}
    assert fleet.n_ignored == 1
    shared_names = fleet._core.weights(None)[0]
    assert shared_names == ["x"]


@pytest.mark.parametrize("geometry", ["euclidean", "diagonal"])
@pytest.mark.parametrize("shared", [False, True])
def test_a_full_key_evicts_its_smallest_weight(shared: bool, geometry: str) -> None:
    options = {"shared": shared, "geometry": geometry, "average": True, "fit_intercept": False}
    fleet = Fleet("regression", max_features=3, at_max_features="evict", **options)
    for name, y in (("small", 0.5), ("large", 5.0), ("middle", 2.0)):
        fleet.learn_one("a", {name: 1.0}, y)
    before = fleet._core.weights(None) if shared else None
    fleet.learn_one("a", {"new": 1.0, "middle": 0.0}, -4.0)
    assert set(fleet["a"].named_weights()) == {"large", "middle", "new"}
    fleet.learn_one("a", {"newer": 1.0, "middle": 1.0}, -3.0)
    assert set(fleet["a"].named_weights()) == {"large", "middle", "newer"} or shared
    assert "newer" in fleet["a"].named_weights()
    assert "middle" in fleet["a"].named_weights()  # it is in the event
    fleet.learn_one("a", {"1": 1.0, "2": 1.0, "3": 1.0, "4": 1.0}, 1.0)
    assert set(fleet["a"].named_weights()) == {"1", "2", "3"}
    assert fleet.n_ignored == 1
    if before is not None:
        assert {"small", "4"} <= set(fleet._core.weights(None)[0])
    # An evicted feature returns with a weight of 0.
    fleet.learn_one("a", {"small": 1.0}, 1e-3)
    assert "small" in fleet["a"].named_weights()


def test_a_full_fleet_evicts_a_key_that_has_not_learned_for_long() -> None:
    fleet = Fleet("classification", max_keys=10, at_max_keys="evict")
    for t in range(500):
        fleet.learn_one("always", {"x": 1.0}, "p")
        fleet.learn_one(t, {"x": 1.0}, "q")
        assert "always" in fleet
        assert t in fleet
        assert len(fleet) == min(t + 2, 10)
    assert fleet["always"].statistics.rounds == 500


def test_a_rejected_batch_does_not_change_which_keys_are_evicted_next() -> None:
    for count in range(1, 30):
        fleets = [Fleet("classification", max_keys=6, at_max_keys="evict") for _ in range(2)]
        for fleet in fleets:
            for event in events(40, 1, ["p", "q"], list(range(9)), weighted=False):
                fleet.learn_one(*event)
        with pytest.raises(InputError, match=f"row {count}"):
            fleets[0].learn_many([*range(100, 100 + count), None], [OK] * (count + 1), ["q"] * (count + 1))
        for event in events(40, 2, ["p", "q"], list(range(12)), weighted=False):
            for fleet in fleets:
                fleet.learn_one(*event)
            assert list(fleets[0]) == list(fleets[1])
        assert_same_state(fleets[0], state(fleets[1]))


# ---- options -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"foo": 1}, TypeError, "Fleet has no option 'foo': there are C, "),
        ({"selection": "max"}, TypeError, "Fleet has no option 'selection'"),
        ({"personal": -0.1}, ValueError, "personal must be a number from 0 to 100, not -0.1"),
        ({"personal": 101}, ValueError, "personal must be a number from 0 to 100, not 101"),
        ({"personal": NAN}, ValueError, "personal must be a number from 0 to 100, not nan"),
        ({"personal": "much"}, ValueError, "personal must be a number from 0 to 100, not 'much'"),
        ({"shared": "yes"}, ValueError, "shared must be True or False, not 'yes'"),
        ({"max_keys": 0}, ValueError, "max_keys must be a whole number from 1"),
        ({"max_keys": 2**32}, ValueError, "max_keys must be a whole number from 1"),
        ({"max_keys": 1.5}, ValueError, "max_keys must be a whole number from 1"),
        (
            {"at_max_keys": "explode"},
            ValueError,
            "at_max_keys must be 'error', 'ignore' or 'evict', not 'explode'",
        ),
        ({"max_features": 0}, ValueError, "max_features must be a whole number from 1"),
        (
            {"at_max_features": None},
            ValueError,
            "at_max_features must be 'error', 'ignore' or 'evict', not None",
        ),
        ({"max_shared_features": -1}, ValueError, "max_shared_features must be"),
        ({"max_labels": 1}, ValueError, "max_labels must be a whole number from 2"),
        ({"max_names": -1}, ValueError, "max_names must be a whole number from 0"),
        ({"memory": "lots"}, ValueError, "memory must be"),
        ({"C": 0}, ValueError, "C must be a number greater than 0"),
        ({"C": "auto"}, ValueError, "C of a fleet must be a number, not 'auto'"),
        ({"C": [0.1, 1]}, ValueError, r"C of a fleet must be a number, not \[0.1, 1\]"),
        (
            {"step": "cw", "geometry": "diagonal"},
            ValueError,
            "the step of a fleet must be one of pa, pa1, pa2, percep",
        ),
        ({"step": "pa3"}, ValueError, "step must be"),
        (
            {"geometry": "mahalanobis"},
            ValueError,
            "the geometry of a fleet must be 'euclidean' or 'diagonal'",
        ),
        ({"dtype": "float16"}, ValueError, "dtype must be"),
        ({"margin": -1}, ValueError, "margin must be"),
        ({"average": -1}, ValueError, "average must be"),
        ({"classes": ["a"]}, ValueError, "classes"),
        ({"classes": ["a", "a"]}, ValueError, "classes|different"),
        ({"intercept_value": 0}, ValueError, "intercept_value must be"),
    ],
)
def test_bad_options(options: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        Fleet("classification", **options)


def test_bad_tasks() -> None:
    for task in ("ordinal", "uniclass", "multilabel", 3, None):
        with pytest.raises(
            ValueError, match=f"a fleet is for 'classification' or 'regression', not for {task!r}"
        ):
            Fleet(task)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="perceptron"):
        Fleet("regression", step="perceptron")


@pytest.mark.parametrize("shared", [False, True])
def test_bad_arguments_of_other_methods(shared: bool) -> None:
    fleet = limited(shared)
    before = state(fleet)
    for n in (-1, 2.5, "3", None):
        with pytest.raises(ValueError, match=f"n must be a whole number, 0 or more, not {n!r}"):
            fleet.top(n)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"by must be one of features, rounds, .*, not 'size'"):
        fleet.top(1, by="size")
    for key in ("nobody", 12345):
        with pytest.raises(KeyError) as caught:
            fleet[key]
        assert caught.value.args == (key,)
        with pytest.raises(KeyError) as caught:
            del fleet[key]
        assert caught.value.args == (key,)
    fleet.learn_one("a", {"x": 1.0}, "r")
    fleet.learn_one("a", {"x": 1.0}, "q")
    with pytest.raises(ValueError, match=r"the label 'zz' is not one of the labels 'p', '[qr]' and '[qr]'"):
        fleet["a"].explain_one({"x": 1.0}, "zz")
    del fleet["a"], fleet["b"]
    assert len(fleet) == 0
    assert before["length"] == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.skipif("ASAN_OPTIONS" in os.environ, reason="the sanitizer keeps memory that is free")
def test_many_labels_do_not_leave_memory_behind() -> None:
    """A batch runs on a desk for its number of labels: those of earlier numbers are given up."""
    done = run_python("""
        from hinge import Fleet
        fleet = Fleet("classification", shared=False)
        x = {f"f{i}": 1.0 for i in range(1000)}
        for label in range(200):
            fleet.learn_one("a", x, label)
        print(open("/proc/self/statm").read().split()[1])
        """)
    assert int(done) < 45_000  # pages of 4 kB: 20,000; with a desk for each number of labels, 72,000


def test_a_key_that_is_full_is_copied_once_per_event() -> None:
    fleet = Fleet("regression", shared=False, max_features=500, at_max_features="evict")
    fleet.learn_one("a", {f"old {i}": 1.0 for i in range(500)}, 1.0)
    before = state(fleet)
    rows = [{f"new {t} {i}": 1.0 for i in range(100)} for t in range(5)]
    with pytest.raises(InputError):
        fleet.learn_many(["a"] * 6, [*rows, {"x": float("nan")}], [1.0] * 6)
    assert state(fleet) == before
    fleet.learn_many(["a"] * 5, rows, [1.0] * 5)
    assert fleet["a"].n_features == 500
    assert sum(name.startswith("new") for name in fleet["a"].named_weights()) == 500


@pytest.mark.parametrize("shared", [True, False])
def test_an_ignored_example_must_have_one_of_the_classes(shared: bool) -> None:
    fleet = Fleet("classification", shared=shared, classes=["p", "q"], max_keys=1, at_max_keys="ignore")
    fleet.learn_one("a", {"x": 1.0}, "p")
    fleet.learn_one("b", {"x": 1.0}, "q")
    before = state(fleet)
    with pytest.raises(InputError, match="the label 'r' is not one of the classes"):
        fleet.learn_one("b", {"x": 1.0}, "r")
    assert state(fleet) == before
    assert fleet.n_ignored == 1
