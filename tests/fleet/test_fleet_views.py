"""What can be seen of a fleet: views, the worst keys, sums, iteration, forgetting a key, and forms compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from fleets import assert_same_learner, events, numbers, state
from hinge import Fleet
from hinge.fleet import Share, View, compare_forms
from hinge.fleet.fleet import COLUMNS

KEYS = ["ann", "bob", 7, ""]
FORMS = pytest.mark.parametrize("shared", [False, True])
X = {"x": 1.0, "y": 0.5}


def new(shared: bool, count: int = 80, **options: Any) -> Fleet:
    fleet = Fleet("classification", shared=shared, **options)
    for event in events(count, 1, ["q", "p", "r"], KEYS, ["x", "y", 3, "z"], weighted=False):
        fleet.learn_one(*event)
    return fleet


# ---- views -------------------------------------------------------------------------------------------------------


@FORMS
def test_a_view_shows_the_present(shared: bool) -> None:
    fleet = Fleet("regression", shared=shared)
    fleet.learn_one("a", {"x": 1.0}, 1.0)
    view = fleet["a"]
    assert isinstance(view, View)
    assert (view.key, view.fleet, view.n_features, view.n_ignored) == ("a", fleet, 1, 0)
    assert repr(view) == "View('a': 1 rounds, 1 mistakes, 1 features)"
    small = view.nbytes
    fleet.learn_one("a", {f"f{i}": 1.0 for i in range(100)}, 2.0)
    assert view.statistics.rounds == 2
    assert view.n_features == 101
    assert small < view.nbytes < 6000
    assert view.predict_one({"x": 2.0}) == fleet.predict_one("a", {"x": 2.0})
    assert view.score_one({"x": 2.0}) == fleet.score_one("a", {"x": 2.0})
    assert view.labels == []
    del fleet["a"]
    for look in (
        lambda: view.statistics,
        lambda: view.named_weights(),
        lambda: view.learner(),
        lambda: view.n_features,
    ):
        with pytest.raises(KeyError):
            look()
    assert repr(view) == "View('a': not in the fleet)"
    assert view.predict_one({"x": 1.0}) == fleet.predict_one("another one", {"x": 1.0})


@FORMS
def test_statistics_of_keys_add_up_to_those_of_the_fleet(shared: bool) -> None:
    fleet = new(shared, average=True)
    whole = fleet.statistics
    of_keys = [fleet[key].statistics for key in fleet]
    for name in ("rounds", "mistakes", "updates", "capped", "weighted"):
        assert sum(getattr(s, name) for s in of_keys) == getattr(whole, name)
    for name in ("loss", "squared_loss", "cost"):
        assert sum(getattr(s, name) for s in of_keys) == pytest.approx(getattr(whole, name))
    assert whole.rounds == 80


def test_names_that_were_not_kept_are_shown_as_hashes() -> None:
    fleet, named = (Fleet("regression", shared=False, max_names=limit) for limit in (2, 100))
    for each in (fleet, named):
        each.learn_one("a", {"first": 1.0, 5: 1.0, "third": 1.0, "": 2.0, 9: 1.0}, 3.0)
    names = list(fleet["a"].named_weights())
    assert names[:2] == ["first", 5]
    assert all(str(name).startswith("#") and len(name) == 9 for name in names[2:])
    assert len(set(names)) == 5
    assert list(named["a"].named_weights()) == ["first", 5, "third", "", 9]
    assert list(fleet["a"].named_weights().values()) == list(named["a"].named_weights().values())
    assert fleet.predict_one("a", {"third": 1.0}) == named.predict_one("a", {"third": 1.0}) != 0


def test_a_key_that_has_not_met_a_label_has_weights_for_it() -> None:
    fleet = Fleet("classification", average=2)
    fleet.learn_one("old", {"x": 1.0}, "p")
    fleet.learn_one("old", {"x": -2.0}, "q")
    two = fleet["old"].named_weights()
    fleet.learn_one("new", {"x": 1.0}, "r")
    three = fleet["old"].named_weights()
    assert list(three) == fleet["old"].labels == ["p", "q", "r"]
    assert three["q"]["x"] == pytest.approx(-three["p"]["x"])
    assert three["r"] == {"x": 0}
    assert np.sign(three["q"]["x"]) == np.sign(two["x"]) != 0


@FORMS
@pytest.mark.parametrize("labels", ["pq", "pqr"])
def test_a_view_of_a_new_key_explains_its_predictions(shared: bool, labels: str) -> None:
    fleet = Fleet("classification", shared=shared)
    for t, label in enumerate(labels * 3):
        fleet.learn_one("a", {"x": 1.0 + t, label: 1.0}, label)
    view = View(fleet, "new")
    parts = view.explain_one({"x": 1.0, "p": 1.0})
    assert parts == fleet.explain_one("new", {"x": 1.0, "p": 1.0})
    score = view.score_one({"x": 1.0, "p": 1.0})
    highest = max(score.values()) if isinstance(score, dict) else score
    assert sum(part.contribution for part in parts) == pytest.approx(highest)
    assert all(part.personal == 0 for part in parts)
    with pytest.raises(KeyError):
        view.learner()


def test_a_share_is_shared_and_personal() -> None:
    fleet = Fleet("regression", personal=0.5, fit_intercept=False, step="pa", epsilon=0.0)
    fleet.learn_one("a", {"x": 1.0}, 5.0)  # shared 4, personal 1
    [share] = fleet["a"].explain_one({"x": 3.0})
    assert share == Share("x", 3.0, pytest.approx(12.0), pytest.approx(3.0))
    assert share.contribution == pytest.approx(15.0)
    assert fleet.score_one("a", {"x": 3.0}) == pytest.approx(15.0)
    assert fleet.score_one("b", {"x": 3.0}) == pytest.approx(12.0)
    assert fleet["a"].named_weights() == {"x": pytest.approx(1.0)}


@pytest.mark.parametrize("personal", [0.5, 1.0])
def test_an_event_without_known_features_has_the_score_of_both_intercepts(personal: float) -> None:
    fleet = Fleet("regression", personal=personal, epsilon=0.0)
    for i in range(9):
        fleet.learn_one("ab"[i % 2], {"x": float(i % 3 + 1)}, 4.0 + i)
    shared, its = fleet._core.intercepts("a", 0)
    assert its != 0
    assert fleet.score_one("a", {}) == fleet.score_one("a", {"new": 1.0}) == pytest.approx(shared + its)
    assert fleet.score_one("c", {}) == pytest.approx(shared)


# ---- keys --------------------------------------------------------------------------------------------------------


@FORMS
def test_a_key_is_forgotten(shared: bool) -> None:
    fleet = new(shared)
    others = {key: state_of(fleet, key) for key in KEYS if key != "bob"}
    statistics, size = fleet.statistics, fleet._core.record_bytes
    of_bob = fleet["bob"].nbytes
    del fleet["bob"]
    assert "bob" not in fleet
    assert list(fleet) == [key for key in fleet if key != "bob"]
    assert len(fleet) == 3
    assert fleet._core.record_bytes == size - of_bob
    assert {key: state_of(fleet, key) for key in others} == others
    if shared:
        assert fleet.statistics == statistics  # what all keys share has learned from it
    else:
        assert fleet.statistics.rounds < statistics.rounds
    with pytest.raises(KeyError):
        fleet["bob"]
    with pytest.raises(KeyError):
        del fleet["bob"]
    assert fleet.score_one("bob", X) == fleet.score_one("nobody", X)
    assert "bob" not in dict(fleet.top(10))
    assert len(fleet.summary()["rounds"]) == 3


def state_of(fleet: Fleet, key: Any) -> Any:
    view = fleet[key]
    return view.statistics, view.named_weights(), view.labels, view.nbytes


@FORMS
def test_a_key_that_returns_starts_anew(shared: bool) -> None:
    fleet = new(shared)
    del fleet["ann"]
    fleet.learn_one("ann", {"x": 2.0}, "q")
    view = fleet["ann"]
    assert view.statistics.rounds == 1
    assert view.n_features == 1
    if not shared:
        fresh = Fleet("classification", shared=False)
        fresh.learn_one("k", {"x": 2.0}, "q")
        assert_same_learner(view.learner(), fresh["k"].learner())


@FORMS
def test_all_keys_are_forgotten_and_others_come(shared: bool) -> None:
    fleet = Fleet("classification", shared=shared)
    for start in range(0, 400, 50):
        keys = list(range(start, start + 50))
        fleet.learn_many(keys, [X] * 50, ["p", "q"] * 25)
        assert list(fleet) == keys if start == 0 else set(fleet) == set(keys)
        for key in np.random.default_rng(start).permutation(keys):
            del fleet[int(key)]
            assert key not in fleet
        assert len(fleet) == len(list(fleet)) == 0
    assert sum(fleet.summary()["bytes"]) == 0
    assert fleet.top() == []


@FORMS
def test_keys_are_iterated_in_the_order_of_arrival(shared: bool) -> None:
    fleet = Fleet("classification", shared=shared)
    for t in range(100):
        fleet.learn_one(t if t % 2 else f"k{t}", X, "p")
    assert list(fleet) == [t if t % 2 else f"k{t}" for t in range(100)]


@FORMS
def test_a_fleet_may_learn_and_forget_while_it_is_iterated(shared: bool) -> None:
    fleet = new(shared)
    seen = []
    for key in fleet:
        fleet.learn_one(f"new {key}", X, "p")
        del fleet[key]
        seen.append(key)
    assert set(seen) == set(KEYS)
    assert set(fleet) == {f"new {key}" for key in KEYS}


@FORMS
def test_what_is_in_a_fleet(shared: bool) -> None:
    fleet = new(shared)
    assert "ann" in fleet
    assert 7 in fleet
    assert np.int64(7) in fleet
    assert "" in fleet
    for key in ("7", 7.0, None, True, 2**70, b"ann", (), ["ann"], {}, "k" * 5000, "\ud800"):
        assert key not in fleet
    fleet.learn_one(np.int32(-4), X, "p")
    assert -4 in fleet
    assert [type(key) for key in fleet if key == -4] == [int]


# ---- top and summary ---------------------------------------------------------------------------------------------


@FORMS
def test_summary_has_the_numbers_of_all_keys(shared: bool) -> None:
    fleet = new(shared)
    del fleet["bob"]
    summary = fleet.summary()
    assert tuple(summary) == COLUMNS
    for place, key in enumerate(fleet):
        view = fleet[key]
        s = view.statistics
        expected = (view.n_features, s.rounds, s.mistakes, s.updates, s.cost, s.loss, view.nbytes)
        assert tuple(column[place] for column in summary.values()) == expected
    assert all(len(column) == 3 for column in summary.values())
    assert all(len(column) == 0 for column in Fleet("regression", shared=shared).summary().values())


@FORMS
@pytest.mark.parametrize("by", COLUMNS)
def test_top_has_the_keys_with_the_most(shared: bool, by: str) -> None:
    fleet = new(shared)
    numbers_of = dict(zip(fleet, fleet.summary()[by].tolist(), strict=True))
    order = sorted(numbers_of, key=lambda key: -numbers_of[key])
    for n in (0, 1, 3, 4, 100):
        found = fleet.top(n, by=by)
        assert [number for _, number in found] == [numbers_of[key] for key in order[:n]]
        assert all(numbers_of[key] == number for key, number in found)
    assert fleet.top(by=by) == fleet.top(10, by=by)


def test_sizes() -> None:
    fleet = Fleet("classification", shared=False)
    empty = fleet.__sizeof__()
    for t in range(100):
        fleet.learn_one(t, {f"f{i}": 1.0 for i in range(100)}, "p")
    assert fleet._core.record_bytes == sum(fleet[key].nbytes for key in fleet)
    assert 100 * 1400 < fleet.__sizeof__() - empty < 100 * 2400
    assert fleet.n_ignored == 0


def test_repr_says_what_is_not_the_default() -> None:
    assert repr(Fleet("classification")) == "Fleet('classification')"
    assert repr(Fleet("regression")) == "Fleet('regression')"
    assert repr(Fleet("classification", step="pa1")) == "Fleet('classification')"
    fleet = Fleet("classification", step="pa", shared=False, C=2.0, classes=["a", "b"], max_keys=5)
    text = repr(fleet)
    assert text.startswith("Fleet('classification', ")
    for part in ("step='pa'", "shared=False", "C=2.0", "classes=['a', 'b']", "max_keys=5"):
        assert part in text
    again = eval(text, {"Fleet": Fleet})
    assert again.parameters == fleet.parameters


def test_labels_are_those_of_all_keys() -> None:
    fleet = Fleet("classification", shared=False)
    fleet.learn_many(["a", "b", "b"], [X] * 3, ["q", "p", "r"])
    assert fleet.labels == ["q", "p", "r"]
    assert (fleet["a"].labels, fleet["b"].labels) == (["q"], ["p", "r"])
    fleet.labels.append("mine")
    assert fleet.labels == ["q", "p", "r"]
    assert fleet.predict_one("nobody", X) is None
    assert Fleet("classification", classes=["u", "v"]).labels == ["u", "v"]


def test_the_clock_counts_changes() -> None:
    fleet = new(True, 10)
    clock = fleet._core.clock
    fleet.learn_one("a", X, "p")
    assert fleet._core.clock > clock
    before = state(fleet)
    fleet.learn_one("a", X, "p", 0.0)
    fleet.predict_one("a", X)
    assert state(fleet) == before


# ---- forms -------------------------------------------------------------------------------------------------------


def keyed_stream(same: bool) -> tuple[list[int], Any, list[str]]:
    """20 keys that agree about what the labels mean, or do not."""
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 20, 3000).tolist()
    X = rng.normal(size=(3000, 4))
    signs = np.ones(20) if same else rng.choice([-1, 1], 20)
    return keys, X, ["pq"[int(s)] for s in X[:, 0] * signs[keys] > 0]


def test_forms_tell_whether_keys_differ() -> None:
    options: Any = {"average": True, "C": 0.1}
    names = {
        same: [
            form.name
            for form in compare_forms("classification", *keyed_stream(same), strengths=(0.5, 2.0), **options)
        ]
        for same in (True, False)
    }
    assert set(names[True]) == {
        "one model for all", "per key", "shared + personal, 0.5", "shared + personal, 2",
        "shuffled keys, 0.5", "shuffled keys, 2",
    }  # fmt: skip
    assert names[False].index("per key") < names[False].index("one model for all")
    assert names[False].index("shared + personal, 2") < names[False].index("shuffled keys, 2")
    assert names[True].index("one model for all") < names[True].index("per key")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_errors_of_forms_are_those_of_fleets(task: str) -> None:
    keys, X, labels = keyed_stream(False)
    keys, X = keys[:300], X[:300]
    y: Any = labels[:300] if task == "classification" else X[:, 0].tolist()
    forms = compare_forms(task, keys, X, y, strengths=[1.0], settings=[{}], C=0.5)
    assert [form.error for form in forms] == sorted(form.error for form in forms)
    found = {form.name: form for form in forms}
    for name, options, used in (
        ("per key", {"shared": False}, keys),
        ("shared + personal, 1", {"personal": 1.0}, keys),
        ("one model for all", {"shared": False}, [0] * 300),
    ):
        fleet, errors, ages, seen = Fleet(task, C=0.5, **options), [], [], dict.fromkeys(keys, 0)
        for key, given, x, truth in zip(keys, used, X, y, strict=True):
            predicted = fleet.round_one(given, dict(enumerate(x.tolist())), truth)
            errors.append(predicted != truth if task == "classification" else abs(predicted - truth))
            ages.append(seen[key])
            seen[key] += 1
        assert found[name].error == pytest.approx(np.mean(errors))
        young = np.array(ages) < 10
        assert found[name].by_age["1-10"] == pytest.approx(np.mean(np.array(errors)[young]))
        assert found[name].by_age["11-100"] == pytest.approx(np.mean(np.array(errors)[~young]))
        assert set(found[name].by_age) == {"1-10", "11-100"}


def test_forms_of_a_stream_in_any_container() -> None:
    keys, X, y = [1, 2] * 40, numbers(80, 3), ["p", "q"] * 40
    expected = list(compare_forms("classification", keys, X, y))
    frame = pd.DataFrame(X, columns=list("abc"))
    for its_keys, table, labels in (
        (np.array(keys), X, np.array(y)),
        (keys, [dict(enumerate(row.tolist())) for row in X], y),
        (keys, frame, pd.Series(y)),
        ("k", frame.assign(k=keys), tuple(y)),
    ):
        assert list(compare_forms("classification", its_keys, table, labels)) == expected


@pytest.mark.parametrize("labels", ["pq", "pqr"])
def test_shared_and_personal_weights_add_up_to_scores(labels: str) -> None:
    fleet = Fleet("classification", fit_intercept=False)
    for t in range(30):
        fleet.learn_one(
            t % 4, {"x": 1.0 + t % 3, labels[t % len(labels)]: 1.0}, labels[t * 7 % 5 % len(labels)]
        )
    shared, personal = fleet.named_weights(), fleet[2].named_weights()
    for name in ("x", "p", "q"):
        score = fleet.score_one(2, {name: 1.0})
        if labels == "pq":
            assert shared[name] + personal.get(name, 0) == pytest.approx(score)
        else:
            for label, its in score.items():
                assert shared[label][name] + personal[label].get(name, 0) == pytest.approx(its)
    with pytest.raises(ValueError, match=r"keys share no weights .*: fleet\[key\].named_weights"):
        Fleet("classification", shared=False).named_weights()


def test_labels_may_be_a_column_of_the_table() -> None:
    frame = pd.DataFrame({"user": ["a", "b", "a"], "x": [1.0, 2.0, 3.0], "label": ["p", "q", "p"]})
    named, given = Fleet("classification"), Fleet("classification")
    named.learn_many("user", frame, "label")
    given.learn_many(["a", "b", "a"], frame[["x"]], ["p", "q", "p"])
    assert named["a"].named_weights() == given["a"].named_weights()
    with pytest.raises(ValueError, match="y: there is no column 'lable' among 'user', 'x', 'label'"):
        named.learn_many("user", frame, "lable")
    with pytest.raises(ValueError, match="y must be a list, not 'label': only a table has columns"):
        named.learn_many(["a"], [{"x": 1}], "label")
    frame["user"] = [1.0, float("nan"), 2.0]
    with pytest.raises(ValueError, match="float64: pandas does that to whole numbers if some are missing"):
        named.learn_many("user", frame, "label")


def test_lines_without_any_label_are_reported() -> None:
    lines = b'{"key": "a", "x": 1, "label": "p"}'
    fleet = Fleet("classification")
    with pytest.warns(UserWarning, match=r"nothing was learned: no line has a field 'lable' \(label=\)"):
        assert fleet.ingest(lines, label="lable") == [None]
    assert fleet.ingest(lines) == [None]
    assert fleet.ingest(b'{"key": "a", "x": 1}') == ["p"]
    with pytest.raises(ValueError, match="since must be a clock of the fleet, a whole number, not -1"):
        fleet.changes(-1)
