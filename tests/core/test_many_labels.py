"""Very many labels and very many columns cost no square of their number. Operations are counted, not timed."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import hinge
from hinge.data.labels import Labels
from hinge.streams.batches import BadLines
from hinge.streams.formats.json_lines import _careful
from hinge.streams.formats.tables import Table
from hinge.tasks import new_labels

# ---- columns ------------------------------------------------------------------------------------------------------


class Counted(str):
    """A name that counts how often it is compared with another one."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


@pytest.mark.parametrize("named", [False, True], ids=["found", "named by options"])
def test_columns_of_a_table_are_not_compared_with_each_other(named):
    count = 2000
    names = [Counted(f"c{i}") for i in range(count)]
    options = {"categorical": [str(name) for name in names]} if named else {}
    table = Table(label=False, missing="indicator", **options)
    Counted.compared = 0
    for _ in range(2):  # the second time all are known
        features = table.settle("x.csv", 1, names)
        cells = {name: table.read(name, ["1", "2"]) for name in features}
        batch = table.batch("x.csv", [1, 2], cells, None, None, BadLines())
    assert len(batch.X[0]) == count
    assert Counted.compared < 30 * count


def test_absent_columns_are_missing_values():
    table = Table(label=False, missing="indicator")
    for names in (["a", "b", "c"], ["a", "c"]):
        cells = {name: table.read(name, ["1"]) for name in table.settle("x.csv", 1, names)}
        batch = table.batch("x.csv", [1], cells, None, None, BadLines())
    assert batch.X == [{"a": 1.0, "c": 1.0, "b is missing": 1.0}]
    with pytest.raises(ValueError, match=r"no column .z\*. \(--keep\)"):
        Table(label=False, keep=["z*"]).settle("x.csv", 1, ["a"])
    assert Table(label=False, keep=["a*"]).settle("x.csv", 1, ["ab", "b"]) == ["ab"]


def test_a_field_that_occurs_twice_is_found_in_one_pass():
    count = 2000
    pairs = [(Counted(f"c{i}"), i) for i in range(count)]
    Counted.compared = 0
    with pytest.raises(ValueError, match='"last" occurs 3 times'):
        _careful.object_pairs_hook([*pairs, *[(Counted("last"), 0)] * 3])
    assert Counted.compared < 10 * count
    with pytest.raises(ValueError, match='"a" occurs 2 times'):
        _careful.decode(json.dumps({"b": 1, "a": 2})[:-1] + ', "a": 3}')


# ---- labels -------------------------------------------------------------------------------------------------------


@pytest.fixture
def copied(monkeypatch):
    """How many labels were copied, by making other `Labels` of them."""
    counted = [0]
    new, followed = Labels.__init__, Labels._followed_by

    def init(self, labels=(), lanes=False):
        labels = list(labels)
        counted[0] += len(labels)
        new(self, labels, lanes)

    def followed_by(self, fresh):
        counted[0] += len(self.known) + len(fresh)
        return followed(self, fresh)

    monkeypatch.setattr(Labels, "__init__", init)
    monkeypatch.setattr(Labels, "_followed_by", followed_by)
    return counted


@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_a_batch_of_new_labels_names_them_once(copied, task):
    count = 1500
    learner = hinge.Learner(task)
    labels = [f"l{i}" if task == "classification" else {f"l{i}"} for i in range(count)]
    learner.learn_many([{"x": 1.0}] * count, labels)
    assert copied[0] < 10 * count
    assert learner.labels.known == [f"l{i}" for i in range(count)]
    single = hinge.Learner(task)
    for label in labels:
        single.learn_one({"x": 1.0}, label)
    assert single.to_bytes() == learner.to_bytes()


@pytest.mark.parametrize("nu", [None, np.full((4, 4), 2.0)], ids=["plain", "nu"])
def test_weights_of_constraints_grow_with_the_labels(nu):
    """The weights of constraints are given for all labels: they come as a matrix, and nothing is left out of it."""
    options = {"selection": "simproj", "nu": nu, "classes": None if nu is None else list("abcd")}
    one, other = hinge.Learner("classification", **options), hinge.Learner("classification", **options)
    events, labels = [{"x": 1.0, f"f{i % 3}": i} for i in range(12)], [*"abcdabcdabcd"]
    one.learn_many(events, labels)
    for x, y in zip(events, labels, strict=True):
        other.learn_one(x, y)
    assert one.to_bytes() == other.to_bytes()


def test_a_single_row_with_a_new_label_copies_no_state(monkeypatch):
    copies = []
    original = new_labels.or_back
    monkeypatch.setattr(new_labels, "or_back", lambda *given: copies.append(1) or original(*given))
    learner, twin = hinge.Learner("classification"), hinge.Learner("classification")
    for i in range(100):
        learner.learn_many([{"x": 1.0, f"f{i}": 1.0}], [f"l{i}"])
        twin.learn_one({"x": 1.0, f"f{i}": 1.0}, f"l{i}")
    assert len(copies) <= 2  # from one w to lanes there is no other way back; learn_one has it, too
    assert learner.to_bytes() == twin.to_bytes()


def test_a_single_row_that_is_rejected_leaves_no_trace():
    learner = hinge.Learner("classification")
    learner.learn_many([{"x": 1.0}] * 3, ["a", "b", "c"])
    before = learner.to_bytes()
    with pytest.raises(ValueError, match="NaN"):
        learner.learn_many([{"x": 1.0, "new": float("nan")}], ["d"])
    assert learner.to_bytes() == before
    assert learner.labels.known == ["a", "b", "c"]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("average", [False, True])
def test_room_for_lanes_grows_geometrically(dtype, average):
    learner = hinge.Learner("classification", selection="simproj", dtype=dtype, average=average)
    learner.learn_many([{"x": 1.0, "y": 2.0}], ["l0"])
    sizes = []
    for count in range(2, 3000):
        learner._engine.set_labels(count)
        sizes.append(learner._engine.__sizeof__())
    reallocations = sum(one != other for one, other in itertools.pairwise(sizes))
    assert reallocations < 30  # log(3000, 1.5) = 20


def test_limits_hold_within_a_batch():
    events = [{"x": 1.0, f"f{i}": 1.0} for i in range(50)]
    labels = [f"l{i}" for i in range(50)]
    few = hinge.Learner("classification", max_labels=20)
    with pytest.raises(ValueError, match="max_labels"):
        few.learn_many(events, labels)
    assert few.statistics.rounds == 0
    small = hinge.Learner("classification", max_weights=5000)
    small.learn_many(events[:5], labels[:5])
    before = small.to_bytes()
    with pytest.raises(ValueError, match="max_weights"):
        small.learn_many(events[5:], labels[5:])
    assert small.to_bytes() == before


def test_labels_without_a_name_are_not_predicted(monkeypatch):
    """A prediction during a batch with new labels is a known label."""
    learner, made = hinge.Learner("classification"), []
    learner.learn_many([{"x": 1.0}] * 3, ["a", "b", "c"])
    original = new_labels._make_room

    def make_room(*given):
        original(*given)
        made.append(learner.predict_one({"x": -1.0}))
        made.append(max(learner.score_one({"x": -1.0})))

    monkeypatch.setattr(new_labels, "_make_room", make_room)
    learner.learn_many([{"x": 1.0}, {"x": -1.0}, {"x": -3.0}], ["d", "e", "f"])
    assert len(made) == 6
    assert set(made) <= set("abc")
    assert learner.predict_one({"x": -1.0}) in "def"
