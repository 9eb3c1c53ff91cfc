"""CONTRIBUTING.md, "Add a task": the task of its example, as it stands there, is a whole task."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import hinge
from command_line import called
from hinge.tasks import TASKS

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
RATES = np.array([0.5, -0.3, 0.2])


@pytest.fixture
def task():
    """Runs the code of the page, the file of the task and the line that registers it."""
    section = re.search(r"^## Add a task\n(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    file, line = re.findall(r"^```python\n(.*?)^```", section[1], re.S | re.M)
    known = dict(TASKS)
    exec(compile(file + line, str(PAGE), "exec"), {"TASKS": TASKS, "__name__": "positive"})
    (name,) = TASKS.keys() - known.keys()
    yield name
    TASKS.clear()
    TASKS.update(known)


def stream(count=400):
    X = np.random.default_rng(0).normal(size=(count, 3))
    return X, np.exp(X @ RATES)


def test_it_learns_rows_and_events(task):
    X, y = stream()
    rows, events = (hinge.Learner(task, C=0.5, epsilon=0.01, fit_intercept=False) for _ in range(2))
    rows.learn(X, y)
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        events.learn_one(dict(enumerate(x)), target)
    np.testing.assert_array_equal(rows.weights, events.weights)
    np.testing.assert_allclose(rows.weights, RATES, atol=0.02)
    assert rows.predict_one({0: 1.0}) == pytest.approx(np.exp(0.5), rel=0.02)
    assert rows.score_one({0: 1.0}) == pytest.approx(0.5, abs=0.02)


def test_its_file_resumes(task, tmp_path):
    X, y = stream()
    learner = hinge.Learner(task)
    learner.learn(X[:200], y[:200])
    learner.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model")
    for one in (learner, again):
        one.learn(X[200:], y[200:])
    assert again.task == task
    assert again.to_bytes() == learner.to_bytes()


def test_it_has_the_options_of_regression(task):
    assert hinge.Learner(task, geometry="diagonal").step == "pa2"
    with pytest.raises(ValueError, match="step='perceptron' is not for positive"):
        hinge.Learner(task, step="perceptron")
    assert "arow" in [algorithm.name for algorithm in hinge.algorithms(task)]


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan")])
def test_a_target_that_is_not_positive_leaves_no_trace(task, bad):
    X, y = stream(10)
    learner = hinge.Learner(task)
    learner.learn(X, y)
    before = learner.to_bytes()
    for learn in (
        lambda: learner.learn(X, [*y[:-1], bad]),
        lambda: learner.learn_many([{0: 1.0}], [bad]),
        lambda: learner.learn_one({0: 1.0}, bad),
    ):
        with pytest.raises(ValueError, match="above 0"):
            learn()
        assert learner.to_bytes() == before


def test_the_command_line_has_it(task, tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = called(capfd, monkeypatch)
    X, y = stream()
    lines = [
        f"{target} " + " ".join(f"{i + 1}:{v}" for i, v in enumerate(x))
        for x, target in zip(X, y, strict=True)
    ]
    Path("data.svm").write_text("\n".join(lines) + "\n")
    done = run(
        "learn", "data.svm", "--task", task, "--epsilon", "0.01", "-m", "m.hinge", "-q", "-p", "made.txt"
    )
    assert done.code == 0, done.err
    assert "positive" in done.out + done.err
    assert "off (logarithm)" in done.out + done.err
    made = np.loadtxt("made.txt")
    assert (made > 0).all()
    assert np.abs(np.log(made[200:] / y[200:])).mean() < 0.1
    done = run("predict", "data.svm", "-m", "m.hinge", "-o", "out.txt")
    assert done.code == 0, done.err
    assert "off (logarithm)" in done.err
    Path("bad.svm").write_text("1 1:1\n-1 1:1\n")
    done = run("learn", "bad.svm", "--task", task, "-q")
    assert done.code != 0
    assert "bad.svm:2: " in done.err
    assert "above 0" in done.err
