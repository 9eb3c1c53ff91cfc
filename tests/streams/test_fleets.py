"""A fleet on a stream: keys of batches, what it counts by the age of a key, cuts for predictions."""

from __future__ import annotations

import pytest

from hinge import Fleet
from hinge.streams.batches import BadLines, Batch, joined, part, taken
from hinge.streams.files import Input
from hinge.streams.fleets import AGES, ByAge, FleetStudy
from hinge.streams.formats.csv_files import CsvFile
from hinge.streams.formats.json_lines import JsonLines
from keyed_files import as_csv, as_json, parted, records

ROWS = records(300)


def batches(folder, form="by the core"):
    if form == "csv":
        (folder / "a.csv").write_text(as_csv(ROWS))
        return list(CsvFile(key="user").batches(Input(folder / "a.csv"), BadLines()))
    (folder / "a.jsonl").write_text(as_json(ROWS))
    source = JsonLines(key="user", lazy=form == "by the core")
    return list(source.batches(Input(folder / "a.jsonl"), BadLines()))


@pytest.mark.parametrize("form", ["by the core", "by Python", "csv"])
def test_batches_have_keys_which_follow_their_rows(tmp_path, form):
    all_of = joined(batches(tmp_path, form))
    keys = [row["user"] for row in ROWS]
    assert all_of.keys == keys
    assert part(all_of, 10, 20).keys == keys[10:20]
    assert taken(all_of, [7, 3]).keys == [keys[7], keys[3]]
    assert list(taken(part(all_of, 5, 50), [2]).X[0]) == list(all_of.X[7])
    assert not any("user" in x for x in list(all_of.X)[:20])
    again = joined([taken(all_of, [4, 5]), part(all_of, 0, 2)])
    assert again.keys == [keys[4], keys[5], keys[0], keys[1]]


def test_keys_of_the_core_are_those_of_python(tmp_path):
    texts = [
        '{"user":"ä\\u00e9","y":1}',
        '{"user":-5,"y":2}',
        '{"user":"","y":1}',
        '{"user":9223372036854775807,"y":1}',
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(texts) + "\n")
    for lazy in (True, False):
        source = JsonLines(key="user", lazy=lazy)
        (batch,) = source.batches(Input(tmp_path / "a.jsonl"), BadLines())
        assert batch.keys == ["äé", -5, "", 2**63 - 1]


def test_the_score_by_age_counts_each_example_once(tmp_path):
    study, seen, expected = FleetStudy(Fleet("classification")), {}, {}
    fleet = Fleet("classification")
    for batch in batches(tmp_path):
        study.learn(batch, "a", BadLines())
    for key, x, y in zip(*parted(ROWS), strict=True):
        before = fleet.statistics.mistakes
        fleet.learn_one(key, x, y)
        age = seen.get(key, 0)
        seen[key] = age + 1
        group = max(first for first in AGES if first <= age)
        counts = expected.setdefault(group, [0, 0.0])
        counts[0] += 1
        counts[1] += fleet.statistics.mistakes - before
    assert {first: one for first, one in zip(AGES, study.by_age.counts, strict=True) if one[0]} == expected
    assert (study.score.rounds, study.score.cost) == (300, fleet.statistics.mistakes)
    assert study.by_age.score(0, 10).rounds + study.by_age.score(10).rounds == 300
    assert dict(study.by_age.groups())["3-5"].rounds == expected[2][0]


@pytest.mark.parametrize("shared", [True, False])
def test_statistics_of_a_study_are_those_of_the_fleet(tmp_path, shared):
    study = FleetStudy(Fleet("classification", shared=shared))
    for batch in batches(tmp_path):
        for start in range(0, len(batch), 30):
            study.learn(part(batch, start, start + 30), "a", BadLines())
    for name in ("rounds", "mistakes", "updates", "cost", "capped"):
        assert getattr(study.statistics, name) == getattr(study.fleet.statistics, name), name
    assert study.statistics.loss == pytest.approx(study.fleet.statistics.loss)


@pytest.mark.parametrize("average", [False, True])
def test_predictions_come_from_before_each_example(tmp_path, average):
    study, fleet = (
        FleetStudy(Fleet("classification", average=average)),
        Fleet("classification", average=average),
    )
    found = []
    for batch in batches(tmp_path):
        for start, stop in study.runs(batch, True):
            learned = []
            study.learn(part(batch, start, stop), "a", BadLines(), scored=learned)
            for some, lanes in learned:
                found += zip(some.keys, study.predicted(lanes), study.scored(lanes), strict=True)
    wrong = 0
    for (key, label, score), x, y in zip(found, *parted(ROWS)[1:], strict=True):
        assert (label, score) == (fleet.predict_one(key, x), fleet.score_one(key, x))
        fleet.learn_one(key, x, y)
        wrong += label != y
    assert len(found) == 300
    if average:  # the core counts the mistakes of the weights, which are others
        assert study.score.cost == wrong


def test_examples_without_a_label_are_alone():
    study = FleetStudy(Fleet("classification"))
    labels = ["a", "b", None, None, "a", "b", "a"]
    batch = Batch([{"x": 1.0}] * 7, labels, range(1, 8), keys=[1] * 7)
    assert list(study.runs(batch, False)) == [(0, 2), (2, 3), (3, 4), (4, 7)]
    done = study.learn(batch, "a", BadLines())
    assert (done.rows, done.unlabelled, study.fleet.statistics.rounds) == (7, 2, 5)


def test_a_rejected_example_leaves_no_trace(tmp_path):
    study, bad = FleetStudy(Fleet("classification", max_keys=2, at_max_keys="error")), BadLines(skip=True)
    batch = Batch([{"x": 1.0}] * 4, list("abab"), [1, 2, 5, 9], keys=["u", "v", "w", "u"])
    done = study.learn(batch, "a.csv", bad)
    assert (done.rows, done.rejected, bad.count) == (4, 1, 1)
    assert str(bad.first[0]).startswith("a.csv:5: the key 'w' is new")
    assert (study.score.rounds, len(study.fleet), study.by_age.score(0).rounds) == (3, 2, 3)
    with pytest.raises(ValueError, match="a fleet needs a key for each example: --key FIELD"):
        study.learn(Batch([{"x": 1.0}], ["a"], [1]), "a", BadLines())


def test_examples_without_weight_are_not_counted():
    import numpy as np

    study = FleetStudy(Fleet("classification"))
    batch = Batch([{"x": 1.0}] * 3, ["a", "b", "a"], [1, 2, 3], np.array([1.0, 0.0, 2.0]), keys=[1, 1, 1])
    study.learn(batch, "a", BadLines())
    assert (study.score.rounds, study.by_age.counts[0][0], study.by_age.counts[1][0]) == (2, 1, 1)


def test_counts_of_another_length_in_notes_are_left_out():
    assert ByAge([[1, 2.0]]).counts == [[0, 0.0] for _ in AGES]
    counts = [[place, 0.5] for place in range(len(AGES))]
    assert ByAge(counts).counts == counts
