"""Certificates: what was suffered and what was guaranteed, for every kind of learner."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.preprocessing import normalize, scale

import hinge
from hinge import bounds

X, Y = load_breast_cancer(return_X_y=True)
X = normalize(scale(X))
DIGITS, DIGIT = (part[:400] for part in load_digits(return_X_y=True))
DIGITS = DIGITS / 16


def learners():
    for step in ("pa", "pa1", "pa2", "perceptron"):
        for intercept in (False, True):
            yield hinge.PAClassifier(step=step, C=0.5, fit_intercept=intercept), X, Y
    yield hinge.PAClassifier(step="perceptron", beta=0.5), X, Y
    yield hinge.PAClassifier(kernel="linear"), X, Y
    for selection in ("max", "prediction", "simproj", "conproj", "simperc", "mira"):
        yield hinge.PAClassifier(C=0.02, selection=selection), DIGITS, DIGIT
    yield hinge.PAClassifier(step="perceptron", selection="uniform"), DIGITS, DIGIT
    cost = 1.0 - np.eye(10)
    yield hinge.PAClassifier(cost=cost, classes=list(range(10)), C=0.1), DIGITS, DIGIT
    for step in ("pa", "pa1", "pa2"):
        yield hinge.PARegressor(step=step), X, X @ np.arange(30.0) / 30
    for options in ({"radius": 2.0}, {"max_radius": 3.0}, {"radius": 1.0, "w1": "zero"}):
        yield hinge.PAOneClass(step="pa2", **options), DIGITS, None
    for selection in ("max", "simproj", "simperc"):
        yield hinge.PAOrdinal(C=0.1, selection=selection), DIGITS, np.minimum(DIGIT, 4)
    yield hinge.PAMultilabel(C=0.1), DIGITS, np.eye(10)[DIGIT]
    yield hinge.PAMultilabel(C=0.1, threshold=0.0), DIGITS, np.eye(10)[DIGIT]
    few, digit = DIGITS[:120, :20], DIGIT[:120]
    for geometry in ("mahalanobis", "diagonal"):
        for step in ("pa1", "pa2"):
            yield hinge.PAClassifier(geometry=geometry, step=step), X, Y
        yield hinge.PAClassifier(geometry=geometry, step="pa2", selection="simproj"), few, digit
        yield hinge.PARegressor(geometry=geometry, step="pa2"), X, X @ np.arange(30.0) / 30
        yield hinge.PAOrdinal(geometry=geometry, step="pa2"), few, np.minimum(digit, 3)
        yield hinge.PAMultilabel(geometry=geometry, step="pa2"), few, np.eye(10)[digit]
    yield hinge.PAClassifier(geometry="mahalanobis", step="perceptron"), X, Y
    for step in ("pa1", "pa2"):
        yield hinge.PAClassifier(geometry="entropy", step=step), X, Y
        yield hinge.PARegressor(geometry="entropy", step=step), X, X @ np.arange(30.0) / 30
        yield hinge.PAOneClass(geometry="entropy", step=step, radius=2.0), DIGITS, None
    yield hinge.PAClassifier(geometry="entropy", scale=50.0), few, digit
    yield hinge.PAOrdinal(geometry="entropy", scale=50.0), few, np.minimum(digit, 3)
    for options in (
        {"kernel": "rbf"},
        {"kernel": "poly", "degree": 2},
        {"kernel": "linear", "fit_intercept": False},
    ):
        for step in ("pa1", "pa2", "perceptron"):
            yield hinge.PAClassifier(step=step, **options), X, Y
        yield hinge.PARegressor(step="pa2", **options), X, X @ np.arange(30.0) / 30
        yield hinge.PAClassifier(selection="simproj", C=0.1, **options), few, digit
        yield hinge.PAMultilabel(C=0.1, **options), few, np.eye(10)[digit]
        of_ranks = {name: value for name, value in options.items() if name != "fit_intercept"}
        for selection in ("max", "simproj"):
            yield hinge.PAOrdinal(C=0.1, selection=selection, **of_ranks), few, np.minimum(digit, 3)
        for start in ({}, {"w1": "zero"}):
            yield hinge.PAOneClass(step="pa2", radius=0.5, **of_ranks, **start), few, None
        yield hinge.PAOneClass(step="pa2", max_radius=2.0, **of_ranks), few, None
    yield hinge.PAClassifier(kernel=laplacian_kernel), X, Y


CASES = list(learners())


@pytest.mark.parametrize(
    "case", range(len(CASES)), ids=lambda i: " ".join(str(CASES[i][0]).split("<")[0].split())[:80]
)
def test_every_guarantee_holds_and_one_applies(case):
    model, rows, targets = CASES[case]
    options = (
        {}
        if targets is None or targets.ndim == 2 or "Regr" in type(model).__name__
        else {"classes": np.unique(targets)}
    )
    model.partial_fit(rows, **options) if targets is None else model.partial_fit(rows, targets, **options)
    found = model.certificate(rows, targets)
    assert found.holds
    assert found.applicable
    best = found.tightest
    assert best.suffered <= best.guaranteed * (1 + 1e-9)
    assert best.theorem in str(found)
    assert "Against" in str(found)
    sparse = model.certificate(scipy.sparse.csr_matrix(rows), targets)
    assert [g.theorem for g in sparse.guarantees] == [g.theorem for g in found.guarantees]


def test_a_given_comparator_is_that_of_the_bounds():
    model = hinge.PAClassifier(C=0.5).partial_fit(X, Y, classes=[0, 1])
    u, b = np.linspace(-1, 1, 30), 0.25
    c = bounds.comparator("classification", X, 2.0 * Y - 1, u, intercept=b)
    expected = bounds.guarantees("pa1", model.stats_, c, C=0.5)
    found = model.certificate(X, Y, u=u, beside=b)
    assert {(g.theorem, g.quantity, g.guaranteed) for g in found.guarantees} == {
        (g.theorem, g.quantity, g.guaranteed) for g in expected
    }
    assert "given" in str(found)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"kernel": "linear", "budget": 5}, "budget"),
        ({"class_weight": {0: 2.0}}, "weights"),
        ({"step": "cw", "geometry": "diagonal"}, "'cw'"),
        ({"step": "perceptron", "geometry": "diagonal"}, "full covariance"),
        ({"w1": np.ones(30)}, "w1"),
    ],
)
def test_what_does_not_apply_is_no_failure(options, reason):
    model = hinge.PAClassifier(**options).partial_fit(X, Y, classes=[0, 1])
    found = model.certificate(X, Y)
    assert found.holds
    assert not found.applicable
    assert found.tightest is None
    assert reason in str(found)


def test_it_must_be_the_whole_stream():
    model = hinge.PAClassifier().partial_fit(X, Y, classes=[0, 1])
    assert "569 rounds, and here are 10: it must be the whole stream" in str(
        model.certificate(X[:10], Y[:10])
    )


def test_a_stream_of_noise_is_guaranteed_little():
    """The guarantee is a number even where u errs: and what is guaranteed is more than what was suffered."""
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(200, 5)), random.integers(2, size=200)
    model = hinge.PAClassifier(C=0.01).partial_fit(rows, labels, classes=[0, 1])
    best = model.certificate(rows, labels).tightest
    assert best.suffered <= best.guaranteed < np.inf


def lines_of(rows, labels):
    return "".join(
        f"{label} " + " ".join(f"{j + 1}:{value:.6f}" for j, value in enumerate(row)) + "\n"
        for row, label in zip(rows.tolist(), labels.tolist(), strict=True)
    )


def test_the_command_line_certifies(tmp_path, capsys):
    """What it says it suffered is what the learner did, and what it guarantees is a bound of the right theorem."""
    from hinge.cli.app import run

    file = tmp_path / "stream.svm"
    file.write_text(lines_of(X, 2 * Y - 1))
    assert run(["learn", str(file), "--C", "0.5", "--certificate", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = next(event for event in told if event["event"] == "certificate")
    mistakes = next(g for g in found["guarantees"] if g["theorem"] == "J06 Theorem 4")
    assert mistakes["suffered"] == next(event for event in told if event["event"] == "done")["mistakes"]
    assert mistakes["suffered"] <= mistakes["guaranteed"] < 569
    assert found["holds"]


def test_the_command_line_certifies_several(tmp_path, capsys):
    from hinge.cli.app import run

    file = tmp_path / "stream.svm"
    file.write_text(lines_of(X, 2 * Y - 1))
    assert run(["compare", str(file), "pa1:C=0.5", "pa2", "arow", "--certificate", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {event["name"]: event for event in told if event["event"] == "certificate"}
    suffered = {event["name"]: event["mistakes"] for event in told if event["event"] == "learner"}
    assert set(found) == {"pa1:C=0.5", "pa2", "arow"}
    for name in suffered:
        mistakes = next(g for g in found[name]["guarantees"] if g["quantity"] == "mistakes")
        assert suffered[name] == mistakes["suffered"] <= mistakes["guaranteed"]
    assert "AROW guarantees mistakes of at most" in found["arow"]["sentence"]


def test_a_covariance_needs_the_order():
    """What a comparator is measured from is the run: in another order it is another one."""
    model = hinge.PAClassifier(geometry="mahalanobis", step="pa2").partial_fit(X, Y, classes=[0, 1])
    assert model.certificate(X, Y).applicable
    found = model.certificate(X[::-1].copy(), Y[::-1].copy())
    assert not found.applicable
    assert "in the order in which it was learned" in str(found)
