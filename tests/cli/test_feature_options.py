"""Which features are read on the command line (keep, drop, interactions, the cap), explanations, and the task."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import hinge
from command_line import table_of
from hinge import Learner
from hinge.streams.batches import BadLines, Batch
from hinge.streams.files import Input
from hinge.streams.formats.text import Svmlight, VowpalText
from hinge.streams.guessing import guess_task
from stream_files import rejection, written


def events(source, path):
    """The features of each row by name or number."""
    names, found = [], []
    for batch in source.batches(Input(path), BadLines()):
        names += batch.X.new_names
        values, columns, starts, _ = batch.X.csr()
        for start, stop in pairwise(starts):
            keys = [names[c] if names else int(c) + batch.first_index for c in columns[start:stop]]
            found.append(dict(zip(keys, values[start:stop].tolist(), strict=True)))
    return found


# ---- svmlight ---------------------------------------------------------------------------------------------------

SVM = "1 1:1 2:2 5:5 9:9\n-1 2:4\n1 9:1 10:2\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"keep": ["2-5"]}, [{2: 2, 5: 5}, {2: 4}, {}]),
        ({"drop": ["2", "9-20"]}, [{1: 1, 5: 5}, {}, {}]),
        ({"keep": ["1-5", "9"], "drop": ["5"]}, [{1: 1, 2: 2, 9: 9}, {2: 4}, {9: 1}]),
        ({"max_features": 5, "at_max_features": "ignore"}, [{1: 1, 2: 2, 5: 5}, {2: 4}, {}]),
    ],
)
def test_svmlight_columns_are_selected_by_index(tmp_path, options, expected):
    source = Svmlight(**options)
    assert events(source, written(tmp_path, SVM, "a.svm")) == expected
    assert source.n_ignored == (3 if "max_features" in options else 0)


@pytest.mark.parametrize("text", ["a", "5-2", "0", "-3", "1-"])
def test_invalid_ranges_of_indices_are_rejected(text):
    with pytest.raises(ValueError, match=r"indices count from 1|an index or a range"):
        Svmlight(keep=[text])


def test_max_features_rejects_new_features_by_default(tmp_path):
    path = written(tmp_path, SVM, "a.svm")
    assert 'index "9" is over the limit of 5 features' in rejection(Svmlight(max_features=5), path)
    text = written(tmp_path, "1 |a x y z\n", "a.vw")
    assert "is new, and there are already 2 features" in rejection(VowpalText(max_features=2), text)


# ---- VW ---------------------------------------------------------------------------------------------------------

VW = "1 |user ann |item x:2 y |ad z |u2 q\n-1 |user bob |item y:3\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"keep": ["item"]}, [{"item^x": 2, "item^y": 1}, {"item^y": 3}]),
        ({"keep": ["u"]}, [{"user^ann": 1, "u2^q": 1}, {"user^bob": 1}]),
        ({"drop": ["u", "item^y"]}, [{"item^x": 2, "ad^z": 1}, {}]),
        ({"keep": ["ad", "item^y"]}, [{"item^y": 1, "ad^z": 1}, {"item^y": 3}]),
        ({"keep": ["user", "item"], "interactions": ["user*item"]}, [
            {"user^ann": 1, "item^x": 2, "item^y": 1, "user^ann*item^x": 2, "user^ann*item^y": 1},
            {"user^bob": 1, "item^y": 3, "user^bob*item^y": 3}]),
        ({"keep": ["item"], "interactions": ["i*i"]}, [
            {"item^x": 2, "item^y": 1, "item^x*item^x": 4, "item^x*item^y": 2, "item^y*item^y": 1},
            {"item^y": 3, "item^y*item^y": 9}]),
        ({"max_features": 2, "at_max_features": "ignore"}, [{"user^ann": 1, "item^x": 2}, {}]),
    ],
)  # fmt: skip
def test_vw_features_are_selected_and_multiplied(tmp_path, options, expected):
    source = VowpalText(**options)
    assert events(source, written(tmp_path, VW, "a.vw")) == expected
    assert source.n_ignored == (5 if "max_features" in options else 0)
    if "max_features" not in options:  # hashed, the same names fall into the columns of the learner
        (batch,) = VowpalText(hash_bits=18, **options).batches(Input(tmp_path / "a.vw"), BadLines())
        learner = Learner("regression", hash_bits=18, fit_intercept=False)
        values, _, starts, _ = batch.X.csr()
        for event, (start, stop) in zip(expected, pairwise(starts), strict=True):
            found = sorted((part.value, part.feature) for part in learner.explain_one(event))
            assert sorted(values[start:stop].tolist()) == [value for value, _ in found]


def test_products_have_the_same_name_in_any_order(tmp_path):
    path = written(tmp_path, "1 |a x y\n1 |a y x\n", "a.vw")
    first, second = events(VowpalText(interactions=["all"]), path)
    assert first == second
    assert set(first) == {"a^x", "a^y", "a^x*a^x", "a^x*a^y", "a^y*a^y"}


def test_the_number_of_interactions_of_a_line_is_limited(tmp_path):
    path = written(tmp_path, "1 |a " + " ".join(f"f{i}" for i in range(500)) + "\n", "a.vw")
    assert "make more than 100000 features of this line" in rejection(VowpalText(interactions=["all"]), path)
    tiny = written(tmp_path, "1 |a x:1e300 y:1e300\n", "a.vw")
    assert "too large for float64" in rejection(VowpalText(interactions=["all"]), tiny)
    with pytest.raises(ValueError, match="an interaction is two names"):
        VowpalText(interactions=["ab"])


# ---- the cap ----------------------------------------------------------------------------------------------------


def test_new_features_are_ignored_and_counted_at_max_features(tmp_path):
    learner = Learner("classification", max_features=2, at_max_features="ignore")
    learner.learn_one({"a": 1.0, "b": 1.0, "c": 1.0}, "p")
    learner.learn_many([{"c": 1.0, "a": 1.0}, {"d": "x", "b": 2.0}], ["n", "p"])
    assert learner.feature_names == ["a", "b"]
    assert learner.n_ignored == 3
    other = Learner("classification")
    other.learn_many([{"a": 1.0, "b": 1.0}, {"a": 1.0}, {"b": 2.0}], ["p", "n", "p"])
    assert learner.named_weights() == other.named_weights()
    with pytest.raises(ValueError, match="NaN"):
        learner.learn_many([{"e": 1.0}, {"a": float("nan")}], ["p", "n"])
    assert learner.n_ignored == 3  # a batch that is rejected leaves no trace
    learner.save(tmp_path / "m.hinge")
    again = hinge.load(tmp_path / "m.hinge")
    again.learn_one({"z": 1.0}, "p")
    assert again.n_ignored == 4
    model = hinge.PAClassifier(max_features=1, at_max_features="ignore").learn_one({"a": 1.0, "b": 1.0}, 1)
    assert model.n_ignored_ == 1


def test_new_columns_of_a_frame_are_ignored_at_max_features():
    pd = pytest.importorskip("pandas")
    learner = Learner("regression", max_features=2, at_max_features="ignore")
    learner.learn_many(pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 1.0], "c": [5.0, 5.0]}), [1.0, 2.0])
    assert learner.feature_names == ["a", "b"]
    assert learner.n_ignored == 2


def test_sequences_ignore_new_features_at_max_features():
    model = hinge.PASequence(max_features=2, at_max_features="ignore")
    model.learn_one([["a", "b"], ["c"]], ["X", "Y"])
    assert model.predict_one([["c"], ["a"]])
    assert len(model._learner.feature_names) == 2


@pytest.mark.parametrize("format", ["svm", "vw", "jsonl", "csv"])
def test_learning_continues_at_max_features(run, tmp_path, format):
    rows = [(1 if i % 2 else -1, f"w{i % 20}") for i in range(200)]
    lines = {
        "svm": [f"{y} {int(w[1:]) + 1}:1" for y, w in rows],
        "vw": [f"{y} | {w}" for y, w in rows],
        "jsonl": [json.dumps({"label": y, "w": w}) for y, w in rows],
        "csv": ["label,w", *(f"{y},{w}" for y, w in rows)],
    }[format]
    (tmp_path / f"d.{format}").write_text("\n".join(lines) + "\n")
    options = ("learn", f"d.{format}", "--max-features", "10", "-q")
    assert run(*options).code == 2
    done = run(*options, "--at-max-features", "ignore")
    assert done.code == 0, done.err
    assert "200 examples" in done.out
    assert "100 features" in done.out
    assert "were ignored" in done.out


# ---- keep and drop in the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "text", "options", "names"),
    [
        ("vw", VW, ["--keep", "item"], {"item^x", "item^y"}),
        (
            "jsonl",
            '{"label": 1, "a": {"b": 1, "c": 2}, "d": 3}\n{"label": 2, "d": 1}\n',
            ["--keep", "a.b"],
            {"a.b"},
        ),
        ("jsonl", '{"label": 1, "ax": 1, "ay": 2, "d": 3}\n{"label": 2, "d": 1}\n', ["--drop", "a*"], {"d"}),
        ("csv", "label,ax,ay,d\n1,1,2,3\n2,3,4,5\n", ["--keep", "a*"], {"ax", "ay"}),
        ("csv", "label,id,d\n1,1,2\n2,3,4\n", [], {"d"}),
        ("csv", "label,id,d\n1,1,2\n2,3,4\n", ["--categorical", "id"], {"d", "id=1", "id=3"}),
    ],
)
def test_keep_and_drop_on_the_command_line(run, tmp_path, format, text, options, names):
    (tmp_path / f"d.{format}").write_text(text)
    done = run("learn", f"d.{format}", *options, "-m", "m.hinge", "-q", "--task", "classification")
    assert done.code == 0, done.err
    assert set(hinge.load("m.hinge").feature_names) == names
    assert run("predict", f"d.{format}", "-m", "m.hinge", "-q").code == 0  # reads it in the same way
    assert ("'id' identifies the example" in done.out) == (names == {"d"} and format == "csv")


def test_an_unknown_column_is_rejected(run, tmp_path):
    (tmp_path / "d.csv").write_text("label,size\n1,1\n2,2\n")
    for option in ("--keep", "--drop", "--text"):
        done = run("learn", "d.csv", option, "siz", "-q")
        assert done.code == 2
        assert f'there is no column "siz" ({option}): did you mean "size"?' in done.err


# ---- explanations -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["svm", "vw", "jsonl", "csv"])
def test_predictions_are_explained(run, tmp_path, format):
    rng = np.random.RandomState(0)
    rows = [[round(v, 2) for v in (rng.rand(3) + 0.1).tolist()] for _ in range(40)]
    labels = ["abc"[int(np.argmax(row))] for row in rows]
    if format in ("svm", "vw"):
        labels = ["abc".index(label) + 1 for label in labels]
    (tmp_path / f"d.{format}").write_text(table_of(format, rows, labels))
    assert run("learn", f"d.{format}", "-m", "m.hinge", "-q", "--step", "pa1").code == 0
    done = run("predict", f"d.{format}", "-m", "m.hinge", "-q", "--explain", "9", "--scores", "--json")
    for record in done.records:
        total = sum(value for _, value in record["contributions"])
        assert total == pytest.approx(record["scores"][str(record["prediction"])])
        features = {name for name, _ in record["contributions"]}
        names = {"svm": ["1", "2", "3"], "vw": ["f^x0", "f^x1", "f^x2"]}.get(format, ["x0", "x1", "x2"])
        assert features == {*names, "(intercept)"}
    text = run("predict", f"d.{format}", "-m", "m.hinge", "-q", "--explain").out.splitlines()
    assert all(line.count("\t") == 1 and line.count("=") == 4 for line in text)
    two = run("predict", f"d.{format}", "-m", "m.hinge", "-q", "--explain", "2").out.splitlines()
    assert two[0].count("=") == 2


def test_explaining_hashed_features_is_rejected(run, tmp_path):
    (tmp_path / "d.vw").write_text(VW)
    run("learn", "d.vw", "-m", "m.hinge", "-q", "--hash-bits", "8")
    done = run("predict", "d.vw", "-m", "m.hinge", "-q", "--explain")
    assert done.code == 2
    assert "--explain needs names" in done.err


# ---- the task ---------------------------------------------------------------------------------------------------


def guess(labels):
    return guess_task(Batch([{"x": 1.0}] * len(labels), list(labels), range(len(labels))))


rng = np.random.RandomState(0)
GUESSES = [
    ([i % 100 for i in range(5000)], "regression", "classification"),
    ([i % 10 for i in range(5000)], "classification", ""),
    ([i % 26 for i in range(5000)], "classification", "regression"),
    ([1 + i % 20 for i in range(1000)], "classification", "regression"),
    (rng.poisson(9, 4000).clip(1, 29).tolist(), "regression", "classification"),
    (rng.randint(17, 91, 5000).tolist(), "regression", "classification"),
    (list(range(12)), "regression", "classification"),
    (list(range(500)), "regression", ""),
    ([1, 2], "classification", ""),
    ([3, 4, 5, 6, 7, 8] * 50, "classification", ""),
]


@pytest.mark.parametrize(("labels", "task", "or_else"), GUESSES, ids=range(len(GUESSES)))
def test_whole_numbers_are_classes_or_quantities(labels, task, or_else):
    found = guess(labels)
    assert (found.task, found.or_else) == (task, or_else)


def test_an_uncertain_task_is_reported_even_with_quiet(run, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i % 100 / 100},{i % 100}\n" for i in range(5000)))
    done = run("learn", "d.csv", "--label", "y", "-q")
    assert done.code == 0
    assert done.out.startswith("regression")
    assert "The task regression is a guess" in done.err
    assert "It may be classification: set --task." in done.err
    assert run("learn", "d.csv", "--label", "y", "-q", "--task", "regression").err == ""
