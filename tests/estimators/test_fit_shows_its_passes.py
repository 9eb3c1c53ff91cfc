"""`fit`: its history, early stopping on rows that are held back, what `verbose` shows; and `explain` of many rows."""

import io
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csr_matrix
from sklearn.exceptions import ConvergenceWarning

import hinge
from hinge import (
    PAClassifier,
    PAMultilabel,
    PAOneClass,
    PAOrdinal,
    PARanker,
    PARegressor,
    PASequence,
    PAStructured,
)
from hinge.estimators import progress

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
NOISY = X[:, 0] + RNG.normal(size=300) > 0
TARGETS = {
    PAClassifier: NOISY,
    PARegressor: 3 * X[:, 1] + RNG.normal(size=300),
    PAOrdinal: np.digitize(X[:, 0] + RNG.normal(size=300), [-0.5, 0.5]),
    PAMultilabel: (X[:, :3] + RNG.normal(size=(300, 3)) > 0).astype(int),
    PAOneClass: None,
}
estimators = pytest.mark.parametrize("estimator", list(TARGETS), ids=lambda cls: cls.__name__)
FORMS = [
    np.asarray,
    csr_matrix,
    coo_matrix,
    np.ndarray.tolist,
    lambda X: pd.DataFrame(X, columns=list("abcd")),
]


def fitted(estimator, X=X, **options):
    options = {"random_state": 0, "max_iter": 6, "tol": None, **options}
    return estimator(**options).fit(X, TARGETS[estimator])


@estimators
def test_history_adds_up_to_the_statistics(estimator):
    model = fitted(estimator)
    assert len(model.history_) == model.n_iter_ == 6
    assert set(model.history_[0]) == {"mean_loss", "mistakes", "updates", "seconds"}
    for name in ("mistakes", "updates"):
        assert sum(entry[name] for entry in model.history_) == getattr(model.stats_, name)
    rounds = [300 - (number == 0 and estimator is PAOneClass) for number in range(6)]
    losses = [entry["mean_loss"] * count for entry, count in zip(model.history_, rounds, strict=True)]
    assert sum(losses) == pytest.approx(model.stats_.loss)
    assert all(entry["seconds"] >= 0 for entry in model.history_)


def test_history_of_the_batch_conversion():
    model = PAClassifier(step="pa", batch_tolerance=0.01).fit(X, X[:, 0] > 0)
    assert len(model.history_) == model.n_iter_ == model.batch_report_.passes > 1
    assert sum(entry["updates"] for entry in model.history_) == model.stats_.updates


@estimators
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("error::UserWarning")
def test_early_stopping_keeps_the_best_model(estimator, form):
    options = {"early_stopping": True, "validation_fraction": 0.2, "average": False}
    options |= {} if estimator is PAOneClass else {"scaling": None}  # a fit of one pass does not scale
    options |= {"threshold": "learned"} if estimator is PAMultilabel else {}
    model = fitted(estimator, form(X), **options)
    scores = [entry["validation_score"] for entry in model.history_]
    best = int(np.argmax(scores))
    shorter = fitted(estimator, form(X), **options, max_iter=best + 1)
    np.testing.assert_array_equal(model.predict(form(X)), shorter.predict(form(X)))
    assert model.stats_.rounds == (best + 1) * 240 - (estimator is PAOneClass)


def test_validation_scores_are_those_of_rows_that_were_not_learned():
    model = fitted(PAClassifier, early_stopping=True, shuffle=False, max_iter=1)
    held = model._hold_back(X, NOISY, None, 300)
    learned = PAClassifier(max_iter=1, shuffle=False).fit(X[held.others], NOISY[held.others])
    assert sorted([*held.others, *(np.flatnonzero((X[:, None] == held.X).all(2).any(1)))]) == list(range(300))
    np.testing.assert_array_equal(model.coef_, learned.coef_)
    assert model.history_[0]["validation_score"] == learned.score(held.X, held.y)
    assert len(held.y) == 30
    assert held.y.mean() == pytest.approx(NOISY.mean(), abs=0.03)


def test_early_stopping_stops_on_the_validation_score():
    model = PAClassifier(early_stopping=True, n_iter_no_change=3, random_state=0).fit(X, NOISY)
    scores = [entry["validation_score"] for entry in model.history_]
    assert 3 < model.n_iter_ < 1000
    assert max(scores[:-3]) + 1e-3 > max(scores[-3:])


def test_without_early_stopping_nothing_is_held_back():
    model = fitted(PAClassifier, shuffle=False, max_iter=1)
    np.testing.assert_array_equal(
        model.coef_, PAClassifier().partial_fit(X, NOISY, classes=[False, True]).coef_
    )


def test_rows_of_weight_0_are_not_held_back():
    weights = np.zeros(300)
    weights[:20] = 1
    model = PAClassifier(early_stopping=True, max_iter=3, tol=None, random_state=0)
    model.fit(X, NOISY, sample_weight=weights)
    assert model.stats_.rounds % 18 == 0
    assert model._hold_back(X, NOISY, weights, 300).sample_weight.tolist() == [1, 1]


def test_rare_classes_can_be_held_back():
    y = np.array(["a"] * 290 + ["b"] * 9 + ["only one"])
    assert (
        "only one"
        in PAClassifier(early_stopping=True, random_state=0, max_iter=3, tol=None).fit(X, y).classes_
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"early_stopping": 1}, "early_stopping must be True or False"),
        (
            {"early_stopping": True, "validation_fraction": 1.0},
            "validation_fraction must be a number between 0 and 1",
        ),
        (
            {"early_stopping": True, "batch_tolerance": 0.1, "step": "pa"},
            "early_stopping does not go with batch_tolerance",
        ),
    ],
)
def test_invalid_early_stopping_is_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        PAClassifier(**options).fit(X, NOISY)


def test_too_few_rows_to_hold_back_are_rejected():
    with pytest.raises(ValueError, match="early_stopping cannot hold back rows"):
        PARegressor(early_stopping=True).fit(X[:1], [1.0])


def test_the_warning_says_what_was_still_improving():
    with pytest.warns(
        ConvergenceWarning, match="2 passes .* the loss still fell; raise max_iter or tol"
    ) as caught:
        PARegressor(max_iter=2, tol=1e-3).fit(X, TARGETS[PARegressor])
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="the validation score still rose"):
        PARegressor(max_iter=2, tol=1e-3, early_stopping=True).fit(X, TARGETS[PARegressor])


def sentences():
    rng = np.random.default_rng(1)
    codes = [rng.integers(3, size=5).tolist() for _ in range(40)]
    return [[[f"w={code}"] for code in its] for its in codes], [
        ["ABC"[code] for code in its] for its in codes
    ]


def candidates():
    rng = np.random.default_rng(2)
    inputs = [[{"v": float(v), "l": float(rng.normal())} for v in rng.permutation(2)] for _ in range(40)]
    model = PAStructured(
        lambda x, y: x[y],
        lambda w, x: max(range(2), key=lambda place: w.dot(x[place])),
        lambda y, other: float(y != other),
        early_stopping=True,
        random_state=0,
    )
    return model, inputs, [max(range(2), key=lambda place: x[place]["v"]) for x in inputs]


def test_sequences_and_structures_stop_early_too():
    sequence, (S, tags) = PASequence(early_stopping=True, random_state=0), sentences()
    structure, inputs, outputs = candidates()
    for model, its_X, its_y in ((sequence, S, tags), (structure, inputs, outputs)):
        model.fit(its_X, its_y)
        assert len(model.history_) == model.n_iter_
        assert model.history_[-1]["validation_score"] == pytest.approx(model.score(its_X, its_y))
        assert model.stats_.rounds % 36 == 0


def test_a_ranker_has_a_history():
    model = PARanker(max_iter=3).fit(["good film", "bad film", "good book", "bad book"], ["+", "-", "+", "-"])
    assert len(model.history_) == model.n_iter_
    assert sum(entry["updates"] for entry in model.history_) == model.stats_.updates


# ---- what is shown --------------------------------------------------------------------------------------------


def test_verbose_prints_a_line_for_each_pass(capsys):
    fitted(PAClassifier, max_iter=2)
    assert capsys.readouterr().out == ""
    model = fitted(PAClassifier, max_iter=2, verbose=1, early_stopping=True)
    lines = capsys.readouterr().out.splitlines()
    first = model.history_[0]
    assert len(lines) == 2
    assert lines[0] == (
        f"pass 1: mean loss {first['mean_loss']:.6g}, {first['mistakes']} mistakes, {first['updates']} updates, "
        f"validation score {first['validation_score']:.6g}"
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("has_rich", [True, False])
def test_verbose_shows_a_bar_on_a_terminal(monkeypatch, has_rich):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    if not has_rich:
        monkeypatch.setattr(progress, "_new_bar", lambda: None)
    fitted(PAClassifier, max_iter=2, verbose=1)
    shown = terminal.getvalue()
    assert "pass 2: mean loss" in shown
    assert ("━" in shown) == has_rich


# ---- explain --------------------------------------------------------------------------------------------------


@estimators
@pytest.mark.parametrize("form", FORMS)
def test_explain_is_explain_one_of_each_row(estimator, form):
    model = fitted(estimator, form(X), max_iter=2)
    frame = model.explain(form(X[:5]))
    assert frame.columns.tolist() == ["row", "feature", "value", "weight", "contribution"]
    names = list("abcd") if hasattr(form(X), "columns") else range(4)
    for row in range(5):
        parts = model.explain_one(dict(zip(names, X[row].tolist(), strict=True)))
        lines = frame[frame.row == row]
        assert lines.feature.tolist() == [part.feature for part in parts]
        np.testing.assert_allclose(lines.contribution, [part.contribution for part in parts], rtol=1e-12)


def test_explain_takes_a_label_and_keeps_the_index():
    y = np.array(list("xyz"))[np.digitize(X[:, 0], [-0.5, 0.5])]
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"r{i}" for i in range(300)])
    model = PAClassifier(max_iter=3, tol=None, random_state=0).fit(frame, y)
    parts = model.explain(frame[:4], label="z")
    sums = parts.groupby("row", sort=False).contribution.sum()
    assert sums.index.tolist() == ["r0", "r1", "r2", "r3"]
    np.testing.assert_allclose(sums, model.decision_function(frame[:4])[:, 2])
    with pytest.raises(ValueError, match="'w' is not one of the labels"):
        model.explain(frame[:4], label="w")


def test_explain_adds_up_for_events_sentences_and_inputs():
    model = PAClassifier().learn_one({"free": 1.0}, "spam").learn_one({"monday": 1.0}, "ham")
    assert model.explain([{"free": 1.0}, {}]).feature.tolist()[0] == "free"
    S, tags = sentences()
    sequence = PASequence(random_state=0).fit(S, tags)
    parts = sequence.explain(S[:2])
    assert parts.contribution.sum() == pytest.approx(sum(sequence.score_one(s) for s in S[:2]))
    structure, inputs, outputs = candidates()
    parts = structure.fit(inputs, outputs).explain(inputs[:2], outputs[:2])
    assert parts.contribution.sum() == pytest.approx(
        sum(structure.score_one(x, y) for x, y in zip(inputs[:2], outputs[:2], strict=True))
    )


def test_explain_rejects_kernels():
    with pytest.raises(AttributeError, match="there are no weights with the kernel"):
        PAClassifier(kernel="rbf").fit(X, NOISY).explain(X[:2])


# ---- the defaults of a covariance -----------------------------------------------------------------------------


@pytest.mark.parametrize("geometry", ["diagonal", "mahalanobis"])
@pytest.mark.parametrize("size", [1e-2, 1.0, 1e4])
def test_regression_with_a_covariance_reaches_targets_of_any_size(geometry, size):
    """With steps of at most C = 1 it stayed at 0: R2 of -209 for targets around 80."""
    y = size * (80 + 5 * X[:, 0])
    options = {"geometry": geometry, "epsilon": 0.01 * size, "random_state": 0}
    assert PARegressor(**options, tol=1e-3 * size).fit(X, y).score(X, y) > 0.9
    assert PARegressor(**options, intercept_value=1.0).partial_fit(X, y).score(X, y) > 0.5
    assert hinge.Learner("regression", geometry=geometry).step == "pa2"


def test_steps_that_cannot_reach_the_targets_are_reported():
    with pytest.warns(ConvergenceWarning, match="steps of at most C=1 do not reach the targets"):
        PARegressor(step="pa1", geometry="diagonal", max_iter=20, tol=None).fit(X, 80 + 5 * X[:, 0])


@pytest.mark.parametrize("name", ["arow", "pam2"])
def test_one_large_row_does_not_freeze_a_diagonal_covariance(name):
    """The published update adds x_i^2/r to the inverse: after a row times 1000 nothing moves any more."""
    rows = np.random.default_rng(3).normal(size=(2000, 10))
    y = rows @ np.arange(10) > 0
    rows[50] *= 1000
    y[50] = not y[50]
    published = hinge.make(name, geometry="diagonal")
    ours = published.__class__(**{**published.get_params(), "covariance_update": "drop"})
    assert published.covariance_update == "precision"
    assert PAClassifier().covariance_update == "drop"
    errors = [
        1 - model.partial_fit(rows, y, classes=[False, True]).score(rows, y) for model in (ours, published)
    ]
    assert errors[0] < 0.15
    assert errors[0] < errors[1] - 0.05


# ---- the picture ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("early_stopping", [False, True])
def test_the_history_can_be_plotted(tmp_path, early_stopping):
    pytest.importorskip("matplotlib")
    from hinge.plots import plot_history

    model = fitted(PAClassifier, early_stopping=early_stopping)
    plot_history(model.history_, tmp_path / "passes.svg")
    drawn = (tmp_path / "passes.svg").read_text()
    best = 1 + int(np.argmax([entry.get("validation_score", 0) for entry in model.history_]))
    assert "6 passes" in drawn
    assert (f"kept: pass {best}" in drawn) == early_stopping
    with pytest.raises(ValueError, match="no passes"):
        plot_history([], tmp_path / "none.svg")


def test_texts_are_held_back_too():
    texts = ["free money", "call me on monday", "win free money now", "see you on monday"] * 10
    model = hinge.TextClassifier(early_stopping=True, max_iter=3, random_state=0).fit(
        texts, ["spam", "ham"] * 20
    )
    assert [entry["validation_score"] for entry in model.history_][-1] == 1.0
