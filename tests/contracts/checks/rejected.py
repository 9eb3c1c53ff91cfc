"""A rejected batch leaves no trace: neither numbers nor columns nor labels."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from cases import CLASSES
from checks import check

NAN, INF = float("nan"), float("inf")
BAD_EVENTS = {
    "NaN": {"alpha": NAN},
    "a new infinity": {"newest": INF},
    "a new square that overflows": {"newest": 1e200},
    "not a number": {"newest": object()},
}


def spoiled(data):
    """The data with something invalid in the last example, which is otherwise as it was."""
    if isinstance(data.X, list):
        for what, bad in BAD_EVENTS.items():
            yield what, replace(data, X=[*data.X[:-1], {**data.X[-1], **bad}])
        yield "an infinite weight", replace(data, weights=np.append(data.weights[:-1], INF))
    else:
        yield "NaN", replace(data, X=with_value(data.X, NAN))
        yield "a square that overflows", replace(data, X=with_value(data.X, 1e200))
    yield "a negative weight", replace(data, weights=np.append(data.weights[:-1], -1.0))


def with_value(X, value):
    if scipy.sparse.issparse(X):
        return type(X)(with_value(X.toarray(), value))
    values = np.array(X, dtype=float)
    values[-1, 3] = value
    return pd.DataFrame(values, columns=X.columns) if isinstance(X, pd.DataFrame) else values


def wide(data):
    """Wide models note what they overwrite, narrow ones keep a copy."""
    X = scipy.sparse.csr_matrix(data.X)
    X.resize(X.shape[0], 300)
    return replace(data, X=X)


def streams(case):
    """In every form; the events bring new features."""
    for form in case.forms:
        data = case.data(form)
        if form == "events" and not case.grows:
            for i, event in enumerate(data.X):
                event[f"new{i // 4}"] = 0.5
        yield data
    if not case.hashes and case.geometry != "euclidean":
        yield wide(case.data("csr"))


def known_before(case):
    """How many examples were learned before: none, one, some; new labels come after different ones."""
    if case.grows:
        return (0, 1, 10, case.room, case.room + 10, case.count)
    return (0, 1, 30) if case.geometry != "euclidean" else (30,)


@check(lambda case: case.is_learner and (case.sampled or case.grows or case.geometry != "euclidean"))
def check_rejected_batch_leaves_no_trace(case):
    """It fails in its last row, after updates, new columns and new labels."""
    for data in streams(case):
        for known in known_before(case):
            model = case.learned(data[:known]) if known else case.new()
            before = case.state(model)
            for what, bad in spoiled(data):
                with pytest.raises((ValueError, TypeError), match=rf"^row {len(data) - 1}[:,]"):
                    case.learn(model, bad)
                assert case.state(model) == before, (what, known)
            other = copy.deepcopy(model)
            for each in (model, other):
                case.learn(each, data)
            case.assert_same(model, other)
        assert model.statistics.updates >= case.least_updates


@check(lambda case: case.is_learner and case.is_exact and (case.sampled or case.geometry != "euclidean"))
def check_rejected_example_leaves_no_trace(case):
    """As the only row of a batch, and as an event."""
    *_, data = (data for data in streams(case) if isinstance(data.X, list))
    last = len(data) - 1
    for known in known_before(case):
        model = case.learned(data[:known]) if known else case.new()
        before = case.state(model)
        for what, bad in spoiled(data):
            with pytest.raises((ValueError, TypeError), match="row 0"):
                case.learn(model, bad[last:])
            with pytest.raises((ValueError, TypeError)):
                case.learn_one(model, *bad.one(last))
            assert case.state(model) == before, (what, known)


@check(lambda case: case.grows)
def check_rejected_event_leaves_no_label(case):
    fresh = {"new", "newer"} if case.task == "multilabel" else "new"
    for known in range(4):
        model = case.new()
        for k, label in enumerate(CLASSES[:known]):
            model.learn_one({"a": 1.0 - k, f"f{k}": 1.0}, [label] if case.task == "multilabel" else label)
        before = case.state(model)
        for event, weight in (
            ({"a": 1.0, "n": NAN}, 1.0),
            ({"a": 1e200, "n": 1.0}, 1.0),
            ({"a": 1.0, "n": object()}, 1.0),
            ({"a": 1.0, "n": 1.0}, -1.0),
            ({"a": 1.0, "n": 1.0}, NAN),
            ({"a": 1.0, "n": 1.0}, INF),
        ):
            with pytest.raises(ValueError):
                model.learn_one(event, fresh, weight)
            assert case.state(model) == before
        for event, weight in (({"a": 1.0, "n": 1.0}, "heavy"), (["a"], 1.0)):
            with pytest.raises(TypeError):
                model.learn_one(event, fresh, weight)
            assert case.state(model) == before
        model.learn_one({"a": 1.0, "n": 1.0}, fresh, 0.0)  # teaches nothing
        assert case.state(model) == before
        model.learn_one({"a": 1.0}, fresh)
        assert {"new"} <= set(model.labels.known)


@check(lambda case: case.is_learner and case.geometry != "euclidean" and not case.grows)
def check_rejected_value_is_named_by_row_and_column(case):
    for form in ("dense", "csr"):
        data = case.data(form)
        last = len(data) - 1
        for value in (NAN, 1e200):
            with pytest.raises(ValueError, match=f"row {last}, column 3"):
                case.learned(replace(data, X=with_value(data.X, value)))
        with pytest.raises(ValueError, match=f"row {last}: the sample weight"):
            case.learned(replace(data, weights=np.append(data.weights[:-1], -1.0)))


@check(lambda case: case.is_learner and case.kernel is None)
def check_rejected_round_leaves_no_trace(case):
    data = case.data()
    model = case.learned(data)
    before = case.state(model)
    y = data.one(0)[1]
    for x, weight in (({"alpha": NAN}, 1.0), ({"c": 1e200}, 1.0), ({"alpha": 1.0}, -1.0)):
        with pytest.raises(ValueError):
            model.round_one(x, y, weight)
        assert case.state(model) == before
