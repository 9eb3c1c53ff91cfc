"""The order of a stream: what is said when labels come in runs, and mixing them on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

import hinge
from hinge.cli.app import run
from hinge.streams.order import Order

DIGITS, DIGIT = load_digits(return_X_y=True)


def seen(labels, size=50, as_array=True):
    order = Order()
    for start in range(0, len(labels), size):
        part = labels[start : start + size]
        order.see(np.asarray(part) if as_array else list(part))
    return order


@pytest.mark.parametrize("as_array", [True, False])
@pytest.mark.parametrize("size", [1, 7, 50, 5000])
def test_runs_of_labels_are_found_in_batches_of_any_size(as_array, size):
    labels = [0.0] * 300 + [1.0] * 300 + [2.0] * 300
    order = seen(labels, size, as_array)
    assert order.count == 900
    assert order.changes == 2
    assert order.error == pytest.approx(2 / 899)
    assert order.usual == pytest.approx(2 / 3, abs=0.02)
    assert "predicting the last one again errs 0.22 %" in order.remarks()[0]


def test_random_order_gives_no_remark():
    random = np.random.default_rng(0)
    for share in (0.5, 0.1, 0.01):
        assert seen((random.random(20_000) < share).astype(float)).remarks() == []
    assert seen(["a", "b", "c"] * 200, as_array=False).remarks() == []
    assert seen([1.0] * 1000).remarks() == []  # there is one label only
    assert seen([0.0] * 90 + [1.0] * 90).remarks() == []  # too few examples


def lines(rows, labels):
    return "".join(
        f"{label} " + " ".join(f"{j + 1}:{value:g}" for j, value in enumerate(row) if value) + "\n"
        for row, label in zip(rows.tolist(), labels.tolist(), strict=True)
    )


@pytest.fixture
def by_class(tmp_path):
    file, order = tmp_path / "sorted.svm", np.argsort(DIGIT, kind="stable")
    file.write_text(lines(DIGITS[order] / 16, DIGIT[order]))
    return str(file)


@pytest.mark.parametrize("command", [["learn"], ["compare"], ["tune", "--grid", "C=0.1,1"]])
def test_file_sorted_by_class_gives_a_remark_and_can_be_shuffled(by_class, capsys, command):
    learners = ["pa1:C=0.1"] if command == ["compare"] else []
    assert run([*command, by_class, *learners, "-q"]) == 0
    said = capsys.readouterr().out
    assert "The labels come in runs: predicting the last one again errs 0.5 %, but it would err " in said
    assert run([*command, by_class, *learners, "-q", "--shuffle"]) == 0
    assert "come in runs" not in capsys.readouterr().out


def test_shuffled_examples_are_compared_in_the_order_of_learning(by_class, tmp_path, capsys):
    """The same seed gives the same order and the same error, and the certificate is of that run."""

    def events(*arguments):
        assert run([*arguments, "--json"]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    options = ["--shuffle", "--random-state", "3"]
    learned = events("learn", by_class, "--geometry", "diagonal", "--selection", "mira", *options)
    compared = events("compare", by_class, "mira:geometry=diagonal", *options)
    error = next(event["error"] for event in learned if event["event"] == "done")
    assert next(event["error"] for event in compared if event["event"] == "learner") == error
    model = str(tmp_path / "best.hinge")
    tuned = events("tune", by_class, "--grid", "C=1", "--step", "pa1", "-m", model, *options)
    assert next(event["best"] for event in tuned if event["event"] == "learner")
    assert hinge.load(model).notes["stream"]["position"]["seed"] == 3
    classes = ["--classes", "0,1,2,3,4,5,6,7,8,9"]
    certified = events(
        "compare",
        by_class,
        "pa2:geometry=diagonal,covariance-update=precision",
        "--certificate",
        *classes,
        *options,
    )
    certificate = next(event for event in certified if event["event"] == "certificate")
    assert certificate["guarantees"]
    assert certificate["holds"]


def test_rows_of_unit_length_with_an_intercept_give_a_hint(tmp_path, capsys):
    file = tmp_path / "unit.svm"
    rows = DIGITS / np.linalg.norm(DIGITS, axis=1, keepdims=True)
    file.write_text(lines(rows.round(7), DIGIT))
    run(["learn", str(file), "-q", "--step", "pa1", "--intercept-value", "1"])
    assert "--no-fit-intercept often has a lower error" in capsys.readouterr().out
    run(["learn", str(file), "-q", "--step", "pa1", "--no-fit-intercept"])
    assert "--no-fit-intercept" not in capsys.readouterr().out


def test_field_that_looks_like_text_gives_a_hint(tmp_path, capsys):
    random, file = np.random.default_rng(0), tmp_path / "docs.jsonl"
    texts = [" ".join(random.choice(list("abcdefgh"), 12)) for _ in range(300)]
    file.write_text(
        "".join(json.dumps({"label": i % 2, "body": text, "n": 1}) + "\n" for i, text in enumerate(texts))
    )
    run(["learn", str(file), "-q"])
    assert "If it is text, use --text body" in capsys.readouterr().out
    run(["learn", str(file), "-q", "--no-fit-intercept"])
    assert "If it is text, use --text body" in capsys.readouterr().out
    run(["learn", str(file), "-q", "--text", "body"])
    assert "--text" not in capsys.readouterr().out


def test_unknown_option_is_rejected_before_data_is_read():
    from hinge.cli.options import BadOption

    with pytest.raises(BadOption, match="there is no option 'c'; did you mean 'C'"):
        run(["compare", "there-is-no-such-file.svm", "pa1:c=2"])


def test_taggers_average_by_default_as_in_python(tmp_path):
    file, model = tmp_path / "tags.conll", tmp_path / "model.hinge"
    file.write_text("the D\ndog N\n\na D\ncat N\n\n")
    run(["learn", str(file), "-q", "-m", str(model)])
    assert hinge.load(model).parameters["average"] == hinge.PASequence().average
    run(["learn", str(file), "-q", "-m", str(model), "--force", "--average", "no"])
    assert not hinge.load(model).parameters["average"]


def test_numbers_and_strings_are_different_labels():
    model = (
        hinge.PAClassifier().learn_one({"x": 1.0}, 1).learn_one({"x": -1.0}, "1").learn_one({"y": 1.0}, True)
    )
    assert sorted(map(repr, model.classes_.tolist())) == ["'1'", "1"]
    assert model.predict_one({"x": -1.0}) == "1"
