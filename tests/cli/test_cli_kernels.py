"""The `hinge` command with kernels and budgets."""

from __future__ import annotations

import numpy as np
import pytest

import hinge

RBF = ("--kernel", "rbf", "--gamma", "0.5")


@pytest.fixture
def file(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    y = np.where(np.square(X[:, :2]).sum(axis=1) > 2, 1, -1)
    rows = [
        f"{label} " + " ".join(f"{j + 1}:{value:.5f}" for j, value in enumerate(x))
        for label, x in zip(y, X, strict=True)
    ]
    place = tmp_path / "ring.svm"
    place.write_text("\n".join(rows) + "\n")
    return place


@pytest.mark.parametrize("budget", [(), ("--budget", "40"), ("--budget", "adaptive")], ids=str)
def test_learn_predict_inspect_resume(run, file, tmp_path, budget):
    model, half = tmp_path / "model", tmp_path / "half"
    run("learn", file, *RBF, *budget, "-m", model)
    learner = hinge.load(model)
    assert budget != ("--budget", "40") or learner.n_support <= 40
    scores = learner.scores(np.array([[0.0] * 4, [2.0] * 4]))
    assert np.isfinite(scores).all()
    predicted = run("predict", file, "-m", model).out.split()
    assert len(predicted) == 300
    assert set(predicted) <= {"-1", "1"}

    shown = run("inspect", model).out
    assert f"supports   {learner.n_support}: {learner.statistics.insertions} inserted" in shown
    assert ("nothing is known: supports were removed" in shown) == (learner.statistics.removals > 0)
    (told,) = run("inspect", model, "--json").records
    assert told["weights"] == []
    assert told["statistics"]["insertions"] - told["statistics"]["removals"] == learner.n_support

    (tmp_path / "part.svm").write_text("".join(file.read_text().splitlines(keepends=True)[:130]))
    run("learn", tmp_path / "part.svm", *RBF, *budget, "-m", half)
    run("learn", file, "--initial", half, "-m", tmp_path / "more")
    run("learn", file, "--resume", "-m", model)
    assert hinge.load(model).to_bytes() == learner.to_bytes()


def test_unseen_features_count_as_distance_with_a_kernel(run, file, tmp_path):
    """A row with a column that the model has not: the prediction is that of the event."""
    model, more = tmp_path / "model", tmp_path / "more.svm"
    run("learn", file, *RBF, "-m", model)
    more.write_text("1 1:0.5 9:3\n1 1:0.5\n")
    told = run("predict", more, "-m", model, "--scores", "--json").records
    learner = hinge.load(model)
    expected = [learner.score_one({0: 0.5, "beyond": 3.0}), learner.score_one({0: 0.5})]
    assert [one["score"] for one in told] == pytest.approx(expected)
    assert expected[0] != expected[1]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("--kernel", "rbf"), "give a number"),
        (("--kernel", "cosine", "--gamma", "1"), "--kernel must be"),
        (("--budget", "5"), "give a kernel"),
        ((*RBF, "--budget", "0"), "--budget must be"),
        ((*RBF, "--max-cache", "2000"), "max_cache"),
        ((*RBF, "--geometry", "diagonal"), "euclidean"),
    ],
    ids=str,
)
def test_invalid_kernel_options_are_rejected(run, file, tmp_path, options, match):
    ran = run("learn", file, *options, "-m", tmp_path / "model")
    assert ran.code not in (0, None)
    assert match in " ".join(ran.err.split())
    assert "Traceback" not in ran.err


def test_learners_with_kernels_are_compared(run, file):
    told = run("compare", file, "pa1", "pa1:kernel=rbf,gamma=0.5", "pa1:kernel=rbf,gamma=0.5,budget=30").out
    assert "pa1:kernel=rbf,gamma=0.5,budget=30" in told
    assert "kernel=rbf,gamma=0.5" in next(
        line for line in told.splitlines() if line.rstrip().endswith("best")
    )
