"""The oracle: a key of a fleet that shares nothing equals, to the bit, a `Learner` of its own that has learned the same
events."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import hinge
from fleets import KEYS, LABELS, RULES, SETTINGS, assert_same_learner, events, numbers
from hinge import Fleet, Learner


class Learners:
    """One learner for each key: what a fleet is compared with."""

    def __init__(self, task: str, **options: Any) -> None:
        self.new = lambda: Learner(task, **options)
        self.of: dict[Any, Learner] = {}

    def learn(self, key: Any, x: Any, y: Any, weight: float = 1.0) -> Any:
        """Returns the prediction before."""
        learner = self.of.get(key) or self.new()
        predicted = learner.predict_one(x)
        learner.learn_one(x, y, weight)
        if weight > 0:
            self.of[key] = learner
        return predicted

    def one(self, key: Any) -> Learner:
        return self.of.get(key) or self.new()


def assert_same(fleet: Fleet, learners: Learners) -> None:
    assert set(fleet) == set(learners.of)
    assert len(fleet) == len(learners.of)
    for key, learner in learners.of.items():
        view = fleet[key]
        assert view.statistics == learner.statistics
        assert view.labels == learner.labels.known
        assert list(map(type, view.labels)) == list(map(type, learner.labels.known))
        assert view.n_features == learner.n_features
        assert_same_learner(view.learner(), learner)
        if len(view.labels) != 1 or fleet.task == "regression":
            assert view.named_weights() == learner.named_weights()
    rounds = [learner.statistics.rounds for learner in learners.of.values()]
    assert fleet.statistics.rounds == sum(rounds)
    assert fleet.statistics.mistakes == sum(learner.statistics.mistakes for learner in learners.of.values())


def bits(number: Any) -> Any:
    return (
        {label: s.hex() for label, s in number.items()} if isinstance(number, dict) else float(number).hex()
    )


def label_lists(task: str) -> list[list[Any] | None]:
    return [None] if task == "regression" else list(LABELS.values())


def name_of(rule: tuple[str, dict[str, Any]]) -> str:
    return " ".join([rule[0], *map(str, rule[1].values())])


def options_for(task: str, options: dict[str, Any]) -> dict[str, Any]:
    unused = "margin" if task == "regression" else "epsilon"
    return {name: value for name, value in options.items() if name != unused}


# ---- one by one ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_each_key_equals_a_learner_of_its_own(rule: tuple[str, dict[str, Any]]) -> None:
    task, of_rule = rule
    lists = label_lists(task)
    for number, setting in enumerate(SETTINGS):
        options = {**of_rule, **options_for(task, setting)}
        labels = lists[number % len(lists)]
        fleet, learners = Fleet(task, shared=False, **options), Learners(task, **options)
        for key, x, y, weight in events(90, number, labels, KEYS[:3]):
            assert bits(fleet.score_one(key, x)) == bits(learners.one(key).score_one(x))
            assert fleet.predict_one(key, x) == learners.one(key).predict_one(x)
            if weight == 1:
                assert fleet.round_one(key, x, y) == learners.learn(key, x, y)
            else:
                fleet.learn_one(key, x, y, weight)
                learners.learn(key, x, y, weight)
        assert_same(fleet, learners)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("average", [False, True, 4])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_labels_that_appear_in_any_order(labels: str, average: Any, dtype: str) -> None:
    for seed, geometry in enumerate(("euclidean", "diagonal")):
        options = {"average": average, "dtype": dtype, "geometry": geometry, "C": 0.7}
        fleet, learners = (
            Fleet("classification", shared=False, **options),
            Learners("classification", **options),
        )
        for key, x, y, weight in events(120, seed, LABELS[labels], KEYS[:4]):
            predicted = fleet.round_one(key, x, y, weight)
            expected = learners.learn(key, x, y, weight)
            assert (predicted, type(predicted)) == (expected, type(expected))
        assert_same(fleet, learners)


@pytest.mark.parametrize("classes", [["b", "a"], [1, 0, 5], [False, True], ["x", 2, 0.5, "w"]], ids=repr)
@pytest.mark.parametrize("average", [False, 3])
def test_closed_classes(classes: list[Any], average: Any) -> None:
    options = {"classes": classes, "average": average}
    fleet, learners = Fleet("classification", shared=False, **options), Learners("classification", **options)
    for key, x, y, weight in events(100, 1, classes, KEYS[:3]):
        assert fleet.round_one(key, x, y, weight) == learners.learn(key, x, y, weight)
        assert bits(fleet.score_one(key, x)) == bits(learners.one(key).score_one(x))
    assert_same(fleet, learners)
    assert fleet.score_one("nobody", {"age": 1.0}) == Learner("classification", **options).score_one(
        {"age": 1.0}
    )
    assert fleet.predict_one("nobody", {}) == Learner("classification", **options).predict_one({})


def test_labels_that_python_takes_for_equal_are_one() -> None:
    fleet, learners = Fleet("classification", shared=False), Learners("classification")
    for y in (1, 1.0, 0, False, np.int8(1), np.float64(0), True):
        for key in ("a", "b"):
            x = {"f": 1.0 + len(str(y))}
            assert fleet.round_one(key, x, y) == learners.learn(key, x, y)
    assert_same(fleet, learners)
    assert fleet.labels == [1, 0]
    big = [2**62, 2.0**62, -(2**63), -(2.0**63)]
    for way in (lambda f: [f.learn_one("a", {"x": 1.0}, y) for y in big], lambda f: f.ingest(_lines(big))):
        fleet = Fleet("classification", shared=False)
        way(fleet)
        assert fleet.labels == [2**62, -(2**63)]


def _lines(labels: list[Any]) -> bytes:
    return "\n".join(json.dumps({"key": "a", "label": y, "x": 1}) for y in labels).encode()


@pytest.mark.parametrize("label", ["\ud800", "a\0b", "", "ü" * 300])
def test_strange_strings_are_labels(label: str) -> None:
    fleet = Fleet("classification")
    fleet.learn_one("k", {"x": 1.0}, label)
    fleet.learn_many(["k"], [{"x": -1.0}], ["other"])
    assert fleet.labels == [label, "other"]
    assert set(fleet["k"].labels) == {label, "other"}
    assert fleet.predict_one("k", {"x": 1.0}) == label


@pytest.mark.parametrize(
    "key", ["", "\ud800", "a\0b", "k" * 1024, "ü" * 512, 0, -(2**63), 2**63 - 1, np.int8(-3)]
)
def test_strange_keys(key: Any) -> None:
    fleet = Fleet("classification")
    fleet.learn_one(key, {"x": 1.0}, "y")
    fleet.learn_many([key], [{"x": 1.0}], ["y"])
    assert list(fleet) == [key]
    assert key in fleet
    assert fleet[key].statistics.rounds == 2
    del fleet[key]
    assert list(fleet) == []


def test_a_number_and_its_text_are_two_keys_and_two_features() -> None:
    fleet = Fleet("regression", shared=False)
    fleet.learn_one(5, {5: 1.0}, 1.0)
    fleet.learn_one("5", {"5": 1.0}, -1.0)
    assert list(fleet) == [5, "5"]
    assert fleet[5].named_weights().keys() == {5}
    assert fleet["5"].named_weights().keys() == {"5"}


# ---- every way of learning -------------------------------------------------------------------------------------

WIDTH = 6
KEYED = ["ann", 7, "bob"]


def keyed(count: int, seed: int = 5) -> tuple[list[Any], Any, list[str], list[float]]:
    rng = np.random.default_rng(seed)
    keys = [KEYED[i] for i in rng.integers(0, 3, count)]
    y = [["c", "a", "b"][i] for i in np.minimum(rng.integers(0, 3, count), np.arange(count) // 8)]
    return keys, numbers(count, WIDTH, seed), y, rng.choice([0.0, 0.5, 1.0, 2.0], count).tolist()


def as_dicts(X: Any, name: Any = int) -> list[dict[Any, float]]:
    return [{name(j): float(row[j]) for j in np.flatnonzero(row)} for row in X]


def unsorted_csr(X: Any, seed: int = 0) -> tuple[Any, list[dict[int, float]]]:
    """Rows in any order, with columns that occur twice and explicit zeros; and the dicts of the same features."""
    rng = np.random.default_rng(seed)
    data, indices, indptr, dicts = [], [], [0], []
    for row in X:
        x: dict[int, float] = {}
        for j in rng.permutation(len(row)):
            whole = [float(row[j])]
            stored = [whole[0] - 0.5, 0.5] if rng.random() < 0.3 and whole[0] not in (0, 0.5) else whole
            if whole[0] == 0 and rng.random() < 0.5:
                continue
            data += stored
            indices += [int(j)] * len(stored)
            if whole[0] != 0:
                x[int(j)] = whole[0]
        indptr.append(len(data))
        dicts.append(x)
    matrix = scipy.sparse.csr_matrix(X.shape)
    matrix.data, matrix.indices, matrix.indptr = np.array(data), np.array(indices), np.array(indptr)
    return matrix, dicts


def json_lines(keys: list[Any], rows: list[dict[Any, float]], y: list[Any], weights: list[float]) -> bytes:
    lines = [
        json.dumps({"key": k, "label": t, "w": w, "x": x})
        for k, x, t, w in zip(keys, rows, y, weights, strict=True)
    ]
    return "\n".join(lines).encode()


def arrow(X: Any) -> Any:
    """A table whose nulls are no features."""
    return pa.table({f"f{j}": [None if v == 0 else float(v) for v in X[:, j]] for j in range(X.shape[1])})


WAYS = [
    "learn_one", "round_one", "dicts", "tuples", "pandas", "key column", "polars", "arrow", "arrow key column",
    "arrow map", "float64", "float32", "int16", "fortran", "csr", "csr int64", "unsorted csr", "json",
]  # fmt: skip


def learn_by(way: str, fleet: Fleet, keys: Any, X: Any, y: Any, w: Any) -> tuple[list[dict[Any, float]], Any]:
    """Learns a part of the stream, and returns its events as dicts, and what was predicted (None: nothing)."""
    named = as_dicts(X, "f{}".format)
    columns = [f"f{j}" for j in range(WIDTH)]
    frame = pd.DataFrame(X, columns=columns)
    if way in ("learn_one", "round_one"):
        one = getattr(fleet, way)
        found = [one(*event) for event in zip(keys, named, y, w, strict=True)]
        return named, found if way == "round_one" else None
    if way == "dicts":
        return named, fleet.round_many(keys, named, y, w)
    if way == "tuples":
        return named, fleet.learn_many(tuple(keys), tuple(named), tuple(y), tuple(w))
    if way == "pandas":
        return named, fleet.round_many(pd.Series(keys, dtype=object), frame, pd.Series(y), pd.Series(w))
    if way == "key column":
        return named, fleet.round_many(
            "k", frame.assign(k=pd.Series(keys, dtype=object)), np.array(y), np.array(w)
        )
    if way == "polars":
        polars = pytest.importorskip("polars")
        return named, fleet.round_many(
            keys, polars.DataFrame(X, schema=columns), polars.Series(y), polars.Series(w)
        )
    if way == "arrow":
        return named, fleet.round_many(keys, arrow(X), y, w)
    if way == "arrow key column":
        texts = pa.array(map(str, keys))
        return named, fleet.round_many("k", arrow(X).append_column("k", texts), y, w)
    if way == "arrow map":
        maps = pa.array([list(x.items()) for x in named], type=pa.map_(pa.string(), pa.float64()))
        rows = [{f"m.{name}": value for name, value in x.items()} for x in named]
        return rows, fleet.round_many(keys, pa.table({"m": maps}), y, w)
    if way in ("float64", "float32", "int16"):
        X = X if way != "int16" else 8 * X
        return as_dicts(X), fleet.round_many(keys, X.astype(way), y, w)
    if way == "fortran":
        return as_dicts(X), fleet.round_many(keys, np.asfortranarray(X), y, w)
    if way.startswith("csr"):
        matrix = scipy.sparse.csr_matrix(X)
        if way == "csr int64":
            matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
        return as_dicts(X), fleet.round_many(keys, matrix, y, w)
    if way == "unsorted csr":
        matrix, dicts = unsorted_csr(X)
        return dicts, fleet.round_many(keys, matrix, y, w)
    assert way == "json"
    return named, fleet.ingest(json_lines(keys, named, y, w), weight="w")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("geometry", ["euclidean", "diagonal"])
def test_every_way_of_learning_gives_the_same_bits(way: str, geometry: str) -> None:
    keys, X, y, w = keyed(120)
    if way == "arrow key column":
        keys = list(map(str, keys))
    for dtype, chunk in (("float64", 13), ("float32", 120)):
        options = {"geometry": geometry, "average": 3, "dtype": dtype}
        fleet, learners = (
            Fleet("classification", shared=False, **options),
            Learners("classification", **options),
        )
        for start in range(0, len(y), chunk):
            part = slice(start, start + chunk)
            rows, predicted = learn_by(way, fleet, keys[part], X[part], y[part], w[part])
            events = zip(keys[part], rows, y[part], w[part], strict=True)
            expected = [learners.learn(*event) for event in events]
            assert predicted in (None, expected)
        assert_same(fleet, learners)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_learning_a_shared_fleet_gives_the_same_bits(way: str) -> None:
    keys, X, y, w = keyed(90, 6)
    if way == "arrow key column":
        keys = list(map(str, keys))
    fleet, single = (Fleet("classification", average=3, personal=0.75) for _ in range(2))
    for start in range(0, len(y), 31):
        part = slice(start, start + 31)
        rows, predicted = learn_by(way, fleet, keys[part], X[part], y[part], w[part])
        expected = [
            single.round_one(*event) for event in zip(keys[part], rows, y[part], w[part], strict=True)
        ]
        assert predicted in (None, expected)
    assert fleet.statistics == single.statistics
    for key in single:
        assert fleet[key].statistics == single[key].statistics
        assert fleet[key].named_weights() == single[key].named_weights()
        assert_same_learner(fleet[key].learner(), single[key].learner())


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("shared", [False, True])
def test_scores_of_many_are_those_of_one(task: str, shared: bool) -> None:
    keys, X, y, _ = keyed(80)
    truths: Any = y if task == "classification" else X[:, 0].tolist()
    fleet = Fleet(task, shared=shared, average=True)
    fleet.learn_many(keys[:60], X[:60], truths[:60])
    keys = [*keys[:78], "new", "newer"]
    matrix, dicts = unsorted_csr(X)
    for table, rows in (
        (X, as_dicts(X)),
        (scipy.sparse.csr_matrix(X), as_dicts(X)),
        (matrix, dicts),
        (dicts, dicts),
    ):
        one = [fleet.score_one(key, x) for key, x in zip(keys, rows, strict=True)]
        assert [bits(score) for score in fleet.score_many(keys, table)] == [bits(score) for score in one]
        predicted = [fleet.predict_one(key, x) for key, x in zip(keys, rows, strict=True)]
        assert list(fleet.predict_many(keys, table)) == predicted


def test_scores_of_keys_with_two_and_with_more_labels() -> None:
    fleet = Fleet("classification", shared=False)
    for key, labels in (("two", "pq"), ("three", "pqr")):
        for label in labels:
            fleet.learn_one(key, {label: 1.0}, label)
    keys = ["two", "three", "new"]
    found = fleet.score_many(keys, [{"p": 1.0}] * 3)
    assert found == [fleet.score_one(key, {"p": 1.0}) for key in keys]
    assert isinstance(found[0], float)
    assert set(found[1]) == set("pqr")
    assert found[2] == 0


def test_nothing_is_learned_from_no_rows() -> None:
    fleet = Fleet("classification")
    fleet.learn_many([], [], [])
    fleet.learn_many([], np.zeros((0, 3)), [])
    assert fleet.round_many([], [], []) == []
    assert fleet.predict_many([], []) == []
    assert fleet.ingest(b"") == []
    assert fleet.ingest(b"\n \n") == []
    assert len(fleet) == 0
    assert len(Fleet("regression").predict_many([], [])) == 0


def test_lines_without_a_label_are_predicted_only() -> None:
    fleet = Fleet("classification")
    lines = (
        b'{"key":"a","label":"l","x":1}\n\n{"key":"a","x":1}\r\n{"key":"b","label":null,"x":1}\n'
        b'{"key":"b","label":"","x":1}\n{"key":"b","label":"m","x":-1}'
    )
    assert fleet.ingest(lines) == [None, "l", "l", "l", "l"]
    assert [view.statistics.rounds for view in map(fleet.__getitem__, fleet)] == [1, 1]
    before = fleet.statistics
    assert fleet.ingest(lines, learn=False) == ["l", "l", "l", "l", "m"]
    assert fleet.statistics == before


# ---- it resumes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES[::3], ids=name_of)
def test_the_learner_of_a_key_resumes_as_one_that_was_always_alone(rule: tuple[str, dict[str, Any]]) -> None:
    task, options = rule
    options = {**options, "average": 5}
    labels = None if task == "regression" else LABELS["many strings"]
    fleet, learners = Fleet(task, shared=False, **options), Learners(task, **options)
    stream = list(events(160, 3, labels, KEYS[:2]))
    for key, x, y, weight in stream[:40]:
        fleet.learn_one(key, x, y, weight)
        learners.learn(key, x, y, weight)
    exported = {key: fleet[key].learner() for key in fleet}
    exported["ann"] = Learner.from_bytes(exported["ann"].to_bytes())
    for key, x, y, weight in stream[40:]:
        exported[key].learn_one(x, y, weight)
        learners.learn(key, x, y, weight)
    for key, learner in learners.of.items():
        assert_same_learner(exported[key], learner)
    assert fleet.statistics.rounds < sum(learner.statistics.rounds for learner in exported.values())


def test_a_fleet_does_not_notice_what_an_exported_learner_learns() -> None:
    fleet = Fleet("classification", shared=False)
    fleet.learn_one("a", {"x": 1.0}, "p")
    before = fleet["a"].named_weights()
    fleet["a"].learner().learn_one({"x": 1.0, "new": 1.0}, "q")
    assert fleet["a"].named_weights() == before
    assert fleet["a"].labels == ["p"]


# ---- the sizes of records --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [254, 255, 256, 65534, 65535, 65536])
@pytest.mark.parametrize("shared", [False, True])
def test_records_grow_across_the_widths_of_their_index(size: int, shared: bool) -> None:
    rng = np.random.default_rng(size)
    fleet = Fleet("regression", shared=shared, fit_intercept=False, max_features=200_000, max_names=0)
    learner = Learner("regression", fit_intercept=False, C=1.25 if shared else 1.0)  # 1 + personal^2
    first = dict(enumerate(rng.normal(size=size).tolist(), 1))
    more = [{size + 1 + t // 2: 1.0, int(rng.integers(1, size)): -2.0, "x": 0.5} for t in range(12)]
    for x in (first, *more):
        y = float(rng.normal())
        assert fleet.round_one("k", x, y) == pytest.approx(learner.predict_one(x), rel=1e-9 if shared else 0)
        learner.learn_one(x, y)
        fleet.learn_one("small", {"of its own": 1.0}, 0.0)
    assert fleet["k"].n_features == learner.n_features == size + 7
    assert fleet["k"].statistics.rounds == 13
    assert fleet.score_one("k", first) == pytest.approx(learner.score_one(first), rel=1e-9 if shared else 0)


@pytest.mark.parametrize("step", [1, 3, 7])
def test_records_grow_feature_by_feature(step: int) -> None:
    fleet, learners = (
        Fleet("classification", shared=False, average=True),
        Learners("classification", average=True),
    )
    for t in range(0, 700, step):
        x = {f"f{i}": 1.0 + i % 5 for i in range(t, t + step)} | {f"f{t // 2}": 0.5}
        for key in ("a", t % 11):
            assert fleet.round_one(key, x, t % 3) == learners.learn(key, x, t % 3)
    assert_same(fleet, learners)


def test_many_labels_and_many_keys() -> None:
    fleet, learners = Fleet("classification", shared=False), Learners("classification")
    rng = np.random.default_rng(0)
    for t in range(600):
        key, x, y = (
            int(rng.integers(0, 90)),
            {f"f{rng.integers(0, 30)}": 1.0, "b": 0.5},
            f"label {rng.integers(0, 40)}",
        )
        assert fleet.round_one(key, x, y) == learners.learn(key, x, y), t
    assert_same(fleet, learners)


# ---- random streams --------------------------------------------------------------------------------------------

some_keys = st.sampled_from(["a", "b", 1, -1])
some_names = st.sampled_from(["x", "y", "z", "", 0, 1, "x.y"])
values = (
    st.floats(-1e3, 1e3, allow_nan=False) | st.integers(-3, 3) | st.booleans() | st.sampled_from(["u", "v"])
)
records = st.dictionaries(some_names, values | st.dictionaries(some_names, values, max_size=2), max_size=5)
# (0 and False would be one label of the whole fleet.)
some_labels = st.sampled_from(["b", "a", "c", True, False, 2, 1.5, -7])
rules = st.fixed_dictionaries(
    {
        "step": st.sampled_from(["pa", "pa1", "pa2", "perceptron"]),
        "C": st.sampled_from([0.01, 1.0, 100.0]),
        "geometry": st.sampled_from(["euclidean", "diagonal"]),
        "covariance_update": st.sampled_from(["precision", "drop"]),
        "average": st.sampled_from([False, True, 3]),
        "fit_intercept": st.booleans(),
        "dtype": st.sampled_from(["float64", "float32"]),
    }
)


def valid(options: dict[str, Any]) -> dict[str, Any]:
    return (
        options
        if options["geometry"] == "diagonal"
        else {name: value for name, value in options.items() if name != "covariance_update"}
    )


@settings(max_examples=120, deadline=None)
@given(
    rules, st.lists(st.tuples(some_keys, records, some_labels, st.sampled_from([0.0, 0.5, 1.0])), max_size=25)
)
def test_random_streams_of_classes(options: dict[str, Any], stream: list[Any]) -> None:
    options = valid(options)
    fleet, learners = Fleet("classification", shared=False, **options), Learners("classification", **options)
    for event in stream:
        assert fleet.round_one(*event) == learners.learn(*event)
    assert_same(fleet, learners)
    batch = Fleet("classification", shared=False, **options)
    batch.learn_many(*map(list, zip(*stream, strict=True))) if stream else None
    assert_same(batch, learners)


@settings(max_examples=80, deadline=None)
@given(rules, st.lists(st.tuples(some_keys, records, st.floats(-1e3, 1e3)), max_size=20))
def test_random_streams_of_numbers(options: dict[str, Any], stream: list[Any]) -> None:
    options = {**valid(options), "step": "pa2" if options["step"] == "perceptron" else options["step"]}
    fleet, learners = Fleet("regression", shared=False, **options), Learners("regression", **options)
    for event in stream:
        assert bits(fleet.round_one(*event)) == bits(learners.learn(*event))
    assert_same(fleet, learners)


# ---- what has no influence -------------------------------------------------------------------------------------


def test_the_order_of_the_events_of_other_keys_does_not_matter() -> None:
    stream = list(events(120, 4, LABELS["many strings"], KEYS[:4]))
    together, apart = (Fleet("classification", shared=False, average=True) for _ in range(2))
    for event in stream:
        together.learn_one(*event)
    for event in sorted(stream, key=lambda event: KEYS.index(event[0])):
        apart.learn_one(*event)
    for key in together:
        assert_same_learner(together[key].learner(), apart[key].learner())


def test_the_package_has_fleets() -> None:
    assert hinge.Fleet is Fleet
