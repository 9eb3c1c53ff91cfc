"""`hinge learn -p` predicts and learns batches in the core: to the bit what one example after the other gives."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hinge
from hinge.data.rows import Rows
from hinge.streams import evaluation
from hinge.streams.session import Session
from hinge.tasks.batch import learn_scored

RANDOM = np.random.default_rng(3)
COUNT = 400


def events():
    """Features and labels that come on the way, in rows of many lengths: sums of 1 to 20 terms."""
    for i in range(COUNT):
        known = 5 + i // 10
        names = RANDOM.choice(known, size=min(known, int(RANDOM.integers(1, 20))), replace=False)
        x = {f"f{name}": round(float(RANDOM.normal()), 3) or 1.0 for name in sorted(names.tolist())}
        yield x, sum(x.values()) + 0.3 * float(RANDOM.normal())


EVENTS = list(events())
LABELS = {
    "two": lambda i, score: "yes" if score > 0 else "no",
    "many": lambda i, score: f"c{min(int(abs(score) * 2), 2 + i // 40)}",
    "sets": lambda i, score: [name for name, least in zip("abcd", (-1, 0, 1, 2), strict=True) if score > least],
    "numbers": lambda i, score: round(score, 3),
    "ranks": lambda i, score: int(np.digitize(score, [-1, 1])),
}  # fmt: skip


def labelled(kind):
    return [(x, LABELS[kind](i, score)) for i, (x, score) in enumerate(EVENTS)]


def json_lines(kind):
    """Every 50th example has no label."""
    lines = [{"label": None if i % 50 == 49 else y, **x} for i, (x, y) in enumerate(labelled(kind))]
    return "".join(json.dumps(line) + "\n" for line in lines)


def svmlight(kind):
    number = {"yes": 1, "no": -1}
    lines = []
    for x, y in labelled(kind):
        label = ",".join(str("abcd".index(one)) for one in y) if kind == "sets" else number.get(y, y)
        label = label[1:] if kind == "many" else label
        lines.append(
            f"{label} " + " ".join(f"{i + 1}:{v}" for i, v in sorted((int(n[1:]), v) for n, v in x.items()))
        )
    return "\n".join(lines) + "\n"  # fmt: skip


def vw(kind):
    number = {"yes": 1, "no": -1}
    lines = []
    for x, y in labelled(kind):
        label = y[1:] if kind == "many" else number.get(y, y)
        lines.append(f"{label} |f " + " ".join(f"{name}:{value}" for name, value in x.items()))
    return "\n".join(lines) + "\n"


FORMATS = {"jsonl": json_lines, "svm": svmlight, "vw": vw}
TASKS = {"two": "classification", "many": "classification", "sets": "multilabel", "numbers": "regression",
         "ranks": "ordinal"}  # fmt: skip
CASES = [
    (ending, kind, options)
    for ending in FORMATS
    for kind in LABELS
    for options in (
        [],
        ["--step", "pa1"],
        ["--average", "yes", "--step", "pa2"],
        ["--geometry", "diagonal", "--dtype", "float32"],
    )
    if (ending, kind) != ("vw", "sets")
] + [
    ("jsonl", "many", ["--selection", "simproj", "--no-fit-intercept"]),
    ("jsonl", "many", ["--hash-bits", "5"]),
    ("jsonl", "sets", ["--threshold", "learned"]),
    ("jsonl", "two", ["--max-features", "30", "--at-max-features", "ignore"]),
    ("jsonl", "two", ["--kernel", "rbf", "--gamma", "0.1"]),
    ("jsonl", "two", ["--geometry", "entropy", "--scale", "5"]),
    ("jsonl", "two", ["--save-every", "30"]),
    ("jsonl", "two", ["--passes", "2"]),
]


@pytest.mark.parametrize("more", [[], ["--scores"], ["--scores", "--json"]], ids=["labels", "scores", "json"])
@pytest.mark.parametrize(("ending", "kind", "options"), CASES, ids=str)
def test_predictions_of_batches_equal_those_of_single_examples(
    run, tmp_path, monkeypatch, ending, kind, options, more
):
    (tmp_path / f"data.{ending}").write_text(FORMATS[ending](kind))
    ranks = ["--classes", "0,1,2"] if kind == "ranks" else []
    command = ["learn", f"data.{ending}", "--task", TASKS[kind], "-q", *ranks, *options, *more]
    done = run(*command, "-p", "batches.txt", "-m", "batches.hinge")
    assert done.code == 0, done.err
    monkeypatch.setattr(evaluation, "has_scores", lambda learner: False)
    done = run(*command, "-p", "singles.txt", "-m", "singles.hinge")
    assert done.code == 0, done.err
    made = (tmp_path / "batches.txt").read_bytes()
    assert made == (tmp_path / "singles.txt").read_bytes()
    assert made.count(b"\n") == COUNT
    ours, theirs = (hinge.load(tmp_path / f"{name}.hinge") for name in ("batches", "singles"))
    ours, theirs = (getattr(model, "model", model) for model in (ours, theirs))
    assert ours.statistics == theirs.statistics
    ours, theirs = ours._engine.state(), theirs._engine.state()
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        np.testing.assert_array_equal(tensor, theirs[name])


@pytest.mark.parametrize("kind", ["two", "many", "numbers"])
@pytest.mark.parametrize("options", [{"experts": "auto"}, {"step": "pa1"}], ids=str)
def test_predictions_equal_those_of_the_library(run, tmp_path, kind, options):
    (tmp_path / "data.jsonl").write_text(json_lines(kind))
    flags = [word for name, value in options.items() for word in (f"--{name}", value)]
    done = run("learn", "data.jsonl", "--task", TASKS[kind], "-q", "-p", "out.txt", "--json", *flags)
    assert done.code == 0, done.err
    told = [json.loads(line)["prediction"] for line in (tmp_path / "out.txt").read_text().splitlines()]
    learner = hinge.Learner(TASKS[kind], **options)
    expected = []
    for i, (x, y) in enumerate(labelled(kind)):
        expected.append(learner.predict_one(x))
        if i % 50 != 49:
            learner.learn_one(x, y)
    assert told == expected


def test_batches_are_cut_at_new_labels_only(run, tmp_path, monkeypatch):
    """Counted, not timed: after the first examples, whose error is looked at one by one."""
    sizes = []
    original = Session._predict_and_learn

    def counted(self, study, predictions, piece, costs, passing):
        sizes.append(len(piece.batch))
        return original(self, study, predictions, piece, costs, passing)

    monkeypatch.setattr(Session, "_predict_and_learn", counted)
    lines = [f"{1 if i % 2 else -1} {i % 7 + 1}:1" for i in range(20_000)]
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    assert run("learn", "data.svm", "-q", "-p", "out.txt").code == 0
    assert sum(sizes) == 20_000
    assert len(sizes) < 250  # steps of a twentieth


@pytest.mark.parametrize("at", [0, 57, 399])
def test_a_rejected_example_has_no_prediction(run, tmp_path, at):
    """Skipped or not, the lines before it are predicted, once."""
    lines = json_lines("two").splitlines()
    (tmp_path / "good.jsonl").write_text("\n".join(lines[:at] + lines[at + 1 :]) + "\n")
    bad = {"label": "yes", "f0": 1e200}
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines[:at], json.dumps(bad), *lines[at + 1 :]]) + "\n")
    assert run("learn", "good.jsonl", "-q", "-p", "good.txt").code == 0
    done = run("learn", "bad.jsonl", "-q", "-p", "skipped.txt", "--on-error", "skip")
    assert done.code == 0, done.err
    assert (tmp_path / "skipped.txt").read_text() == (tmp_path / "good.txt").read_text()
    done = run("learn", "bad.jsonl", "-q", "-p", "stopped.txt", "-m", "model.hinge")
    assert done.code == 2
    good = (tmp_path / "good.txt").read_text().splitlines()
    assert (tmp_path / "stopped.txt").read_text().splitlines() == good[:at]


# ---- the core -----------------------------------------------------------------------------------------------------


def rows_of(X):
    starts, columns = np.arange(len(X) + 1) * X.shape[1], np.tile(np.arange(X.shape[1]), len(X))
    return Rows(X.ravel().astype(np.float64), columns, starts, X.shape[1])


def test_a_batch_that_is_rejected_leaves_no_trace():
    learner = hinge.Learner("regression")
    X = RANDOM.normal(size=(20, 4))
    learn_scored(learner, rows_of(X), X.sum(axis=1))
    before = learner.to_bytes()
    X[13, 2] = np.nan
    with pytest.raises(ValueError, match="row 13, column 2: the value is NaN"):
        learn_scored(learner, rows_of(X), X.sum(axis=1) * 0)
    assert learner.to_bytes() == before


def test_an_invalid_array_for_scores_is_rejected():
    engine = hinge.Learner("regression")._engine
    with pytest.raises(ValueError, match="scores must have 2 rows of 1"):
        engine.learn_dicts([{"a": 1}, {"a": 2}], np.zeros(2), scores=np.empty((3, 1)))
    with pytest.raises(TypeError):
        engine.learn_dicts([{"a": 1}], np.zeros(1), scores=np.empty((1, 1), dtype=np.float32))
    kernel = hinge.Learner("regression", kernel="rbf", gamma=1.0)._engine
    with pytest.raises(ValueError, match="kernel"):
        kernel.learn_dicts([{"a": 1}], np.zeros(1), scores=np.empty((1, 1)))


def test_columns_in_any_order_are_scored_as_they_are():
    """Rows that are not sorted, some with repeated columns."""
    one, other = (
        hinge.Learner("classification", classes=[-1, 1]),
        hinge.Learner("classification", classes=[-1, 1]),
    )
    values = RANDOM.normal(size=300)
    columns = np.concatenate([RANDOM.choice(12, size=10, replace=i % 3 == 0) for i in range(30)])
    rows, y = Rows(values, columns, np.arange(31) * 10, 12), np.where(RANDOM.random(30) > 0.5, 1, -1)
    lanes = learn_scored(one, rows, y)
    for i in range(30):
        its = slice(10 * i, 10 * i + 10)
        single = Rows(values[its], columns[its], np.array([0, 10]), 12)
        known = single if i else Rows(values[:0], columns[:0], np.array([0, 0]), 0)
        assert lanes[i] == other.lanes_of(known)[0]
        other.learn_rows(single, y[i : i + 1])
    assert one.to_bytes() == other.to_bytes()
