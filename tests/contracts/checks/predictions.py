"""Predictions, scores and explanations agree, and asking changes nothing."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from cases import CLASSES, LABELS, RANKS, as_dicts, number, numbers, stream
from checks import check
from contract_case import in_form
from contract_cases import UNSEEN


@check()
def check_asking_changes_nothing(case):
    """And the same question about a sentence has the same answer."""
    for form in ("dense", "events") if "dense" in case.forms else ("events",):
        if form not in case.forms:
            continue
        model = case.learned(case.data(form))
        before = case.snapshot(model)
        answers = str([question(model) for question in case.questions(form)])
        if case.is_sequence:
            assert str([question(model) for question in case.questions(form)]) == answers
        assert case.snapshot(model) == before


@check(lambda case: case.sampled)
def check_asking_unlearned_model_changes_nothing(case):
    """It answers, or says that it has not learned. Then it learns as if it had not been asked."""
    for form in ("dense", case.forms[-1]):
        if form not in case.forms:
            continue
        asked, new = case.new(), case.new()
        before = case.snapshot(asked)
        for question in case.questions(form):
            with contextlib.suppress(ValueError, AttributeError):  # NotFittedError is both
                question(asked)
        assert case.snapshot(asked) == before
        for model in (asked, new):
            case.learn(model, case.data(form))
        assert case.state(asked) == case.state(new)


@check(lambda case: case.is_learner)
def check_unlearned_model_predicts_events(case):
    model = case.new()
    before = case.state(model)
    for x in (UNSEEN, {}, {"alpha": 1.0}):
        model.predict_one(x)
    assert case.state(model) == before
    # Weights on a simplex are positive, and experts without weights vote, too.
    has_zeros = case.options.get("signed", True) and not case.is_committee
    if has_zeros and not case.grows and case.kernel is None:
        assert np.all(number(model.score_one({})) == (model.radius if case.task == "uniclass" else 0.0))
    if case.kernel is not None:
        assert (model.n_support, len(model.support), model.dual_coef.shape[-1]) == (0, 0, 0)


@check(lambda case: case.is_learner and "frame" in case.forms and not case.grows)
def check_event_scores_equal_row_scores(case):
    X = stream(case.task, case.count)[0][:60]
    model = case.learned()
    frame = in_form("frame", X)
    if case.kernel is None:
        np.testing.assert_allclose(numbers(model, as_dicts(X)), model.scores(frame), rtol=1e-9, atol=1e-12)
        return
    np.testing.assert_array_equal(numbers(model, as_dicts(X)), model.scores(frame))
    frame["new"], frame["newer"] = np.linspace(-1, 1, len(X)), np.linspace(3, 0.1, len(X))
    events = [
        {**x, "new": float(row.new), "newer": float(row.newer)}
        for x, row in zip(as_dicts(X), frame.itertuples(), strict=True)
    ]
    np.testing.assert_array_equal(numbers(model, events), model.scores(frame), "features never seen")
    frame["newer"] = 1e200
    if case.kernel == "rbf":
        with pytest.raises(ValueError, match="row 0: the values are too large"):
            model.scores(frame)


def predicts_by_score(case):
    return (
        case.is_learner
        and case.is_exact
        and not case.grows
        and not (case.is_committee and case.task == "ordinal")
    )


@check(predicts_by_score)
def check_prediction_follows_from_score(case):
    model = case.learned()
    for x in as_dicts(stream(case.task)[0]):
        assert model.predict_one(x) == prediction(case, model, x)


def prediction(case, model, x):
    """What the score means."""
    score = model.score_one(x)
    if case.task == "multilabel":
        threshold = case.options["threshold"]
        if threshold == "learned":  # the score before those of the labels
            threshold = model._engine.scores_one(x, model.averaged)[0]
        return {label for label, its in score.items() if its > threshold}
    if case.task == "ordinal":
        return RANKS[next((j for j, b in enumerate(model.thresholds) if score < b), len(RANKS) - 1)]
    if isinstance(score, dict):
        return {"multiclass": CLASSES, "classification": LABELS}[case.task][int(np.argmax(number(score)))]
    return {
        "classification": LABELS[int(score > 0)],
        "regression": score,
        "uniclass": 1 if score >= 0 else -1,
    }[case.task]


@check(lambda case: case.is_learner and case.kernel is None and not case.grows and not case.is_committee)
def check_explanations_add_up(case):
    data = case.data()
    model = case.learned(data[:40])
    for event in [*data.X, {"alpha": 1.0, "never seen": 2.0, "color": "red"}, {}]:
        parts = model.explain_one(event)
        total, score = sum(p.contribution for p in parts), np.max(number(model.score_one(event)))
        if case.task == "uniclass":
            total = model.radius - np.sqrt(total)
        sizes = [abs(p.contribution) for p in parts]
        # The core sums many labels of float32 weights in float32: 6e-8 of the terms an addition.
        rounding = 1e-6 if model.many_scores and case.is_single else 0.0
        slack = (1e-7 if case.task == "uniclass" else 1e-12) + rounding * sum(sizes)
        assert total == pytest.approx(score, rel=1e-9, abs=slack)
        assert sizes == sorted(sizes, reverse=True)
        if case.task != "uniclass":
            assert all(p.value * p.weight == p.contribution for p in parts)
            assert ("(intercept)" in [p.feature for p in parts]) == case.options.get("fit_intercept", False)
        if model.many_scores:
            for label, its in model.score_one(event).items():
                found = [p.contribution for p in model.explain_one(event, label)]
                slack = 1e-12 + rounding * sum(map(abs, found))
                assert sum(found) == pytest.approx(its, rel=1e-9, abs=slack)
