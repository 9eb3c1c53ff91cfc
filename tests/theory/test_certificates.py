"""Certificates: what was suffered and what was guaranteed, for every kind of learner."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.preprocessing import normalize, scale

import hinge
from hinge import theory

X, Y = load_breast_cancer(return_X_y=True)
X = normalize(scale(X))
DIGITS, DIGIT = (part[:400] for part in load_digits(return_X_y=True))
DIGITS = DIGITS / 16
COVARIANCES = (
    {"geometry": "mahalanobis"},
    {"geometry": "diagonal", "covariance_update": "precision"},
    {"geometry": "diagonal", "covariance_update": "drop"},
)


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
    for covariance in COVARIANCES:
        for step in ("pa1", "pa2"):
            yield hinge.PAClassifier(step=step, **covariance), X, Y
        yield hinge.PAClassifier(step="pa2", selection="simproj", **covariance), few, digit
        yield hinge.PARegressor(step="pa2", **covariance), X, X @ np.arange(30.0) / 30
        yield hinge.PAOrdinal(step="pa2", **covariance), few, np.minimum(digit, 3)
        yield hinge.PAMultilabel(step="pa2", **covariance), few, np.eye(10)[digit]
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


def test_guarantees_against_a_given_comparator_equal_those_of_the_functions():
    model = hinge.PAClassifier(C=0.5).partial_fit(X, Y, classes=[0, 1])
    u, b = np.linspace(-1, 1, 30), 0.25
    c = theory.comparator("classification", X, 2.0 * Y - 1, u, intercept=b, intercept_value=model.constant_)
    expected = theory.guarantees("pa1", model.stats_, c, C=0.5)
    found = model.certificate(X, Y, u=u, intercept=b)
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
def test_theorems_that_do_not_apply_are_not_failures(options, reason):
    model = hinge.PAClassifier(**options).partial_fit(X, Y, classes=[0, 1])
    found = model.certificate(X, Y)
    assert found.holds
    assert not found.applicable
    assert found.tightest is None
    assert reason in str(found)


def test_a_part_of_the_stream_has_no_certificate():
    model = hinge.PAClassifier().partial_fit(X, Y, classes=[0, 1])
    assert "569 rounds, and here are 10: it must be the whole stream" in str(
        model.certificate(X[:10], Y[:10])
    )


def test_noise_has_a_finite_guarantee():
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


def test_learn_prints_the_certificate(tmp_path, capsys):
    """What it says it suffered is what the learner did, and what it guarantees is a bound of the right theorem."""
    from hinge.cli.app import run

    file = tmp_path / "stream.svm"
    file.write_text(lines_of(X, 2 * Y - 1))
    assert run(["learn", str(file), "--C", "0.5", "--certificate", "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = next(event for event in events if event["event"] == "certificate")
    mistakes = next(g for g in found["guarantees"] if g["theorem"] == "J06 Theorem 4")
    assert mistakes["suffered"] == next(event for event in events if event["event"] == "done")["mistakes"]
    assert mistakes["suffered"] <= mistakes["guaranteed"] < 569
    assert found["holds"]


def test_another_order_has_no_certificate_with_a_covariance():
    """What a comparator is measured from is the run: in another order it is another one."""
    model = hinge.PAClassifier(geometry="mahalanobis", step="pa2").partial_fit(X, Y, classes=[0, 1])
    assert model.certificate(X, Y).applicable
    found = model.certificate(X[::-1].copy(), Y[::-1].copy())
    assert not found.applicable
    assert "in the order in which it was learned" in str(found)


def learned(task, rows, targets=None, **options):
    learner = hinge.Learner(task, **options)
    learner.learn_many(rows, targets)
    return learner


NOISE = np.random.default_rng(1).normal(size=(40, 3))
SIGNS = (NOISE[:, 0] > 0).astype(int)
LETTERS = np.array(list("abc"))[np.random.default_rng(2).integers(3, size=40)]


def test_a_perceptron_with_a_beta_above_the_margin_has_no_lemma_1():
    """It moves where there is no loss: 50 steps up and 50 down made a progress of 2552, and 200 was guaranteed."""
    rows, signs = np.ones((100, 1)), np.repeat([1, -1], 50)
    options = {"step": "perceptron", "fit_intercept": False, "classes": [-1, 1]}
    found = learned("classification", rows, signs, beta=100.0, **options).certificate(rows, signs, u=[0.0])
    assert found.holds
    assert "beta" in next(g.reason for g in found.guarantees if g.quantity == "progress")
    small = learned("classification", rows, signs, beta=0.5, **options).certificate(rows, signs, u=[0.0])
    assert {g.quantity for g in small.applicable} >= {"progress", "mistakes"}


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
def test_guarantees_hold_for_tiny_numbers(step):
    """Squares of them are 0."""
    rows = np.array([[1.0, 0.0], [1e-200, 0.0]])
    options = {"step": step, "fit_intercept": False, "classes": [-1, 1]}
    assert learned("classification", rows, [1, 1], **options).certificate(rows, [1, 1]).holds
    for tiny in ({"margin": 1e-200}, {"margin": 1e-160}, {"C": 1e-310}, {"C": 5e-324}):
        found = learned("classification", NOISE, 2 * SIGNS - 1, **options, **tiny)
        assert found.certificate(NOISE, 2 * SIGNS - 1).holds
        assert found.certificate(NOISE, 2 * SIGNS - 1, u=np.zeros(3)).holds


def test_a_bound_that_is_infinite_guarantees_nothing():
    model = learned("classification", NOISE, LETTERS, C=np.inf, selection="mira", classes=list("abc"))
    found = model.certificate(NOISE, LETTERS, u=np.zeros((3, 3)))
    assert all(np.isfinite(g.guaranteed) for g in found.applicable)
    assert "not a finite number" in str(found)


def test_guarantees_allow_for_the_rounding_of_float32():
    """A stream that is as bad as can be: orthogonal instances."""
    random = np.random.default_rng(0)
    rows, signs = 3.3 * np.linalg.qr(random.normal(size=(30, 30)))[0], np.sign(random.normal(size=30))
    for step in ("pa", "pa1"):
        options = {"step": step, "margin": 0.3, "C": 10.0, "fit_intercept": False, "classes": [-1, 1]}
        model = learned("classification", rows, signs, dtype=np.float32, **options)
        assert model.certificate(rows, signs, u=0.3 * signs @ rows / 3.3**2).holds


@pytest.mark.parametrize(
    "geometry",
    [{"geometry": "euclidean"}, *COVARIANCES, {"geometry": "entropy"}],
    ids=lambda g: " ".join(g.values()),
)
def test_costs_and_nu_by_name_have_guarantees(geometry):
    of_pairs = {"a": {"b": 2.0, "c": 1.0}, "b": {"a": 1.0, "c": 4.0}, "c": {"a": 3.0, "b": 1.0}}
    costly = learned("classification", NOISE, LETTERS, cost=of_pairs, **geometry)
    assert costly.certificate(NOISE, LETTERS).applicable
    options = {**geometry, "selection": "simproj", "classes": list("abc")}
    for nu in (of_pairs, [of_pairs, of_pairs]):
        model = learned("classification", NOISE, LETTERS, nu=nu, **options)
        assert model.certificate(NOISE, LETTERS).applicable
    ranks = learned("ordinal", NOISE, LETTERS, nu=[[1.0, 2.0], [2.0, 1.0]], **options)
    assert ranks.certificate(NOISE, LETTERS).applicable


def test_another_order_with_as_many_mistakes_is_detected():
    """Two orders of these rows have as many mistakes and updates: the guarantees of one are not those of the other."""
    rows, signs = np.array([[1.0], [2.0], [3.0]]), np.array([1, -1, 1])
    options = {"geometry": "mahalanobis", "classes": [-1, 1], "fit_intercept": False, "C": 100.0}
    model = learned("classification", rows, signs, **options)
    turned = learned("classification", rows[::-1], signs[::-1], **options)
    assert model.statistics.mistakes == turned.statistics.mistakes == 3
    assert model.certificate(rows, signs).applicable
    assert "goes another way" in str(model.certificate(rows[::-1].copy(), signs[::-1].copy()))


@pytest.mark.parametrize("geometry", ["euclidean", "entropy", "mahalanobis"])
def test_weights_and_changed_options_are_detected(geometry):
    weighted = hinge.Learner("classification", C=0.001, geometry=geometry)
    weighted.learn(NOISE, SIGNS, sample_weight=np.full(40, 50.0))
    assert "without weights" in str(weighted.certificate(NOISE, SIGNS))
    changed = hinge.Learner("classification", C=100.0, geometry=geometry)
    changed.learn(NOISE[:15], SIGNS[:15])
    changed.change(C=0.001)
    changed.learn(NOISE[15:], SIGNS[15:])
    assert "goes another way" in str(changed.certificate(NOISE, SIGNS))


def test_late_labels_and_thresholds_on_the_simplex_have_no_theorem():
    targets = [[letter] for letter in LETTERS]
    threshold = learned("multilabel", NOISE, targets, geometry="entropy", classes=list("abc"))
    assert "learned threshold" in str(threshold.certificate(NOISE, targets))
    number = learned("multilabel", NOISE, targets, geometry="entropy", classes=list("abc"), threshold=0.0)
    assert number.certificate(NOISE, targets).applicable
    grown = learned("classification", NOISE, LETTERS, geometry="entropy", selection="simproj")
    assert "new labels appeared" in str(grown.certificate(NOISE, LETTERS))


def test_a_third_class_after_two_has_no_theorem():
    model = hinge.PAClassifier().partial_fit(NOISE, SIGNS, classes=[0, 1])
    model.learn_one(dict(enumerate(NOISE[0].tolist())), 2)
    found = model.certificate(np.vstack([NOISE, NOISE[:1]]), [*SIGNS, 2])
    assert "until a third one came" in str(found)


@pytest.mark.parametrize("options", [{}, {"selection": "simproj"}, {"geometry": "mahalanobis"}])
def test_a_stream_of_one_class_has_guarantees(options):
    found = learned("classification", NOISE, ["a"] * 40, **options).certificate(NOISE, ["a"] * 40)
    assert found.holds
    assert found.applicable
    simperc = learned("classification", NOISE, ["a"] * 40, selection="simperc")
    assert simperc.certificate(NOISE, ["a"] * 40).holds


def test_streams_without_examples_or_labels_report_the_reason():
    for task, options in (("regression", {}), ("uniclass", {"radius": 1.0})):
        assert "there are no examples" in str(hinge.Learner(task, **options).certificate(NOISE[:0], []))
    for geometry in ("euclidean", "mahalanobis", "entropy"):
        learner = hinge.Learner("classification", geometry=geometry, classes=[0, 1])
        assert "there are no examples" in str(learner.certificate(NOISE[:0], []))
    empty: list[list[str]] = [[]] * 40
    assert "no label was ever learned" in str(learned("multilabel", NOISE, empty).certificate(NOISE, empty))
    named = learned("multilabel", NOISE, empty, kernel="rbf", gamma=0.5, classes=["a", "b"])
    assert named.certificate(NOISE, empty).holds  # it has no supports


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({}, {"u": [np.nan, 0.0, 0.0]}, "finite weights"),
        ({}, {"u": [1.0, 0.0, 0.0], "intercept": np.inf}, "finite weights"),
        ({}, {"u": [1.0, 0.0, 0.0], "intercept": [1.0, 2.0]}, "intercept has 2 numbers"),
        ({"fit_intercept": False}, {"u": [1.0, 0.0, 0.0], "intercept": 5.0}, "has no intercept"),
    ],
)
def test_invalid_comparators_are_rejected(options, given, message):
    model = learned("regression", NOISE, NOISE[:, 0], step="pa2", **options)
    with pytest.raises(ValueError, match=message):
        model.certificate(NOISE, NOISE[:, 0], **given)
    with pytest.raises(ValueError, match="finite numbers"):
        model.certificate(NOISE * np.nan, NOISE[:, 0], u=np.ones(3))


def test_the_default_intercept_of_a_comparator_is_that_of_its_task():
    labels = learned("classification", NOISE, LETTERS, classes=list("abc"))
    zeros = labels.certificate(NOISE, LETTERS, u=np.ones((3, 3)), intercept=np.zeros(3))
    assert labels.certificate(NOISE, LETTERS, u=np.ones((3, 3))) == zeros
    ball = learned("uniclass", NOISE, step="pa2", max_radius=3.0)
    assert ball.certificate(NOISE, u=np.ones(3)) == ball.certificate(NOISE, u=np.ones(3), intercept=3.0)
    ranks = learned("ordinal", NOISE, LETTERS, classes=list("abc"))
    with pytest.raises(ValueError, match="thresholds"):
        ranks.certificate(NOISE, LETTERS, u=np.ones(3))


def test_columns_of_a_frame_are_found_by_name():
    frame = pd.DataFrame(NOISE, columns=list("abc"))
    for model in (
        learned("classification", frame, SIGNS),
        hinge.PAClassifier().partial_fit(frame, SIGNS, [0, 1]),
    ):
        expected = model.certificate(frame, SIGNS, u=[1.0, 2.0, 3.0])
        assert expected.applicable
        assert model.certificate(frame[["c", "a", "b"]], SIGNS, u=[1.0, 2.0, 3.0]) == expected
        with pytest.raises(ValueError, match="never learned"):
            model.certificate(frame.rename(columns={"a": "z"}), SIGNS)
        with pytest.raises(ValueError, match="X has 2 features"):
            hinge.PAClassifier().partial_fit(NOISE, SIGNS, [0, 1]).certificate(NOISE[:, :2], SIGNS)


@pytest.mark.parametrize("options", [{}, {"hash_bits": 4}, {"geometry": "mahalanobis"}, {"kernel": "linear"}])
def test_events_have_a_certificate_also_after_loading(options):
    events = [{"a": a, "warm": b > 0, "color": "red" if c > 0 else "blue"} for a, b, c in NOISE.tolist()]
    model = learned("classification", events, SIGNS, **options)
    before = model.to_bytes()
    found = model.certificate(events, SIGNS)
    assert found.applicable
    assert found.holds
    assert model.to_bytes() == before
    again = hinge.Learner.from_bytes(before)
    assert again.certificate(events, SIGNS) == found


def test_sparse_formats_have_the_same_guarantees():
    """Squares of int8 and of float32 overflow in their own type."""
    whole = (30 * NOISE).astype(np.int8)
    expected = learned("classification", whole, SIGNS, step="pa").certificate(whole, SIGNS)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_matrix, scipy.sparse.csc_array):
        found = learned("classification", kind(whole), SIGNS, step="pa").certificate(kind(whole), SIGNS)
        assert [g.guaranteed for g in found.guarantees] == pytest.approx(
            [g.guaranteed for g in expected.guarantees]
        )
    large = scipy.sparse.csr_matrix((1e25 * NOISE).astype(np.float32))
    assert learned("classification", large, SIGNS, step="pa").certificate(large, SIGNS).applicable
    assert learned("uniclass", NOISE, radius=1.0).certificate(scipy.sparse.coo_matrix(NOISE)).applicable


@pytest.mark.parametrize("kind", ["PAClassifier", "PAOrdinal", "PAMultilabel"])
def test_a_kernel_has_theorems_in_a_fresh_interpreter(kind):
    code = f"""
import numpy as np, hinge
random = np.random.default_rng(0)
X, y = random.normal(size=(60, 3)), random.integers(3, size=60)
model = hinge.{kind}(kernel="rbf", gamma=0.5, C=0.1)
y = np.eye(3)[y] if "Multi" in {kind!r} else y
model.partial_fit(X, y, **({{}} if y.ndim == 2 else {{"classes": [0, 1, 2]}}))
assert model.certificate(X, y).applicable
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("classes", [[True, False], [2, 1], [1.5, -1.5]])
def test_certificates_of_classes_that_are_numbers_in_descending_order(classes):
    """The first one is the negative class, although it is larger."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = [classes[int(x[0] > 0)] for x in X]
    names = ["no" if label == classes[0] else "yes" for label in y]
    learner, named = (
        hinge.Learner("classification", classes=classes),
        hinge.Learner("classification", classes=["no", "yes"]),
    )
    learner.learn(X, y)
    named.learn(X, names)
    found, expected = learner.certificate(X, y), named.certificate(X, names)
    assert found.applicable
    assert found.holds
    assert [g.guaranteed for g in found.guarantees] == [g.guaranteed for g in expected.guarantees]
