"""Every way of learning and of asking gives the same bits: one by one, dicts, tables, sparse matrices, Arrow, JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse

from fleets import Learners, assert_same, assert_same_learner, bits, numbers
from hinge import Fleet, Learner

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


@pytest.mark.parametrize(
    "given",
    [
        (4, 0, 7, 4),
        range(4),
        np.array([3, 1, 3, 2]),
        np.array([3, 1, 3, 2], dtype=np.uint8),
        np.array([3, 1, 3, 2], dtype=np.uint64),
        np.array([3, -1, 3, 2], dtype=np.int32)[::-1],
        np.array(["a", "b", "a", "ü"]),
        np.array(["a", 2, "a", -1], dtype=object),
        pd.Series(["a", "b", "a", "c"]),
        pd.Series([1, 2, 3, 2]),
        pd.Categorical(["a", "b", "a", "c"]),
        pd.Index([5, 6, 5, 7]),
        pa.array(["a", "b", "a", "c"]),
        pa.chunked_array([[1, 2], [1, 3]]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_keys_in_any_container(given: Any) -> None:
    listed = given.to_pylist() if hasattr(given, "to_pylist") else list(given)
    fleet, single = Fleet("regression"), Fleet("regression")
    fleet.learn_many(given, [{"x": 1.0 + t} for t in range(4)], [1.0, 2.0, 3.0, 4.0])
    for t, key in enumerate(listed):
        single.learn_one(str(key) if isinstance(key, str) else int(key), {"x": 1.0 + t}, 1.0 + t)
    assert list(fleet) == list(single)
    assert set(map(type, fleet)) <= {int, str}
    assert [fleet[key].named_weights() for key in fleet] == [single[key].named_weights() for key in single]
    assert list(fleet.predict_many(given, [{"x": 1.0}] * 4)) == [
        single.predict_one(key, {"x": 1.0}) for key in listed
    ]


FRAMES = {
    "text": pd.DataFrame({"c": ["r", "g", "r"], "v": [1.0, 2.0, 0.0]}),
    "booleans": pd.DataFrame({"b": [True, False, True], "v": [1, 2, 0]}),
    "categories": pd.DataFrame({"c": pd.Categorical(["b", "a", "b"])}),
    "columns that are numbers": pd.DataFrame([[1.0, 2.0], [0.0, 1.0], [1.0, 1.0]], columns=[7, 3]),
    "float32": pd.DataFrame({"a": [0.1, 0.2, 0.3]}, dtype="float32"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_columns_of_frames_are_those_of_learners(name: str) -> None:
    fleet, learner = Fleet("regression", shared=False), Learner("regression")
    fleet.learn_many(["k"] * 3, FRAMES[name], [1.0, -1.0, 2.0])
    learner.learn_many(FRAMES[name], [1.0, -1.0, 2.0])
    weights = {column: weight for column, weight in learner.named_weights().items() if weight != 0}
    assert fleet["k"].named_weights() == pytest.approx(weights)
    assert list(fleet.predict_many(["k"] * 3, FRAMES[name])) == pytest.approx(learner.scores(FRAMES[name]))


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b"],
        ("b", "a", "b"),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"]),
        pd.Series(pd.Categorical(["b", "a", "b"])),
        pa.array(["b", "a", "b"]),
        pa.chunked_array([["b"], ["a", "b"]]),
        np.array([2, 1, 2], dtype=np.int8),
        np.array([True, False, True]),
        np.array([0.5, 0.25, 0.5], dtype=np.float32),
        pd.Series([2, 1, 2]),
        pa.array([True, False, True]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_labels_in_any_container(y: Any) -> None:
    fleet, single = Fleet("classification"), Fleet("classification")
    fleet.learn_many(["k"] * 3, [{"x": 1.0}, {"x": -1.0}, {"x": 0.5}], y)
    listed = y.to_pylist() if hasattr(y, "to_pylist") else list(y)
    for x, label in zip((1.0, -1.0, 0.5), listed, strict=True):
        single.learn_one("k", {"x": x}, label)
    assert fleet.labels == single.labels
    assert set(map(type, fleet.labels)) <= {str, bool, int, float}
    assert fleet.statistics == single.statistics


def test_classes_in_an_array() -> None:
    fleet = Fleet("classification", classes=np.array(["b", "a"]))
    assert fleet.labels == ["b", "a"]
    assert repr(fleet) == "Fleet('classification', classes=['b', 'a'])"
