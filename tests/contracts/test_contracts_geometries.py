"""What only the geometries have: a covariance, its uncertainty, and a simplex; kept like all else.

The other contracts run on them as well (cases.py, GEOMETRIES).
"""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hinge
from cases import (
    CLASSES,
    GEOMETRIES,
    LABELS,
    NAMES,
    WITH_COVARIANCE,
    as_dict,
    as_dicts,
    covariance_by_name,
    csr,
    name,
    named_first,
    new,
    number,
    numbers,
    one,
    part,
    rows_for,
    state,
    stream,
    weights_by_name,
)

every_geometry = pytest.mark.parametrize(("task", "options"), GEOMETRIES, ids=name)
with_covariance = pytest.mark.parametrize(("task", "options"), WITH_COVARIANCE, ids=name)
VOCABULARY = [(task, options) for task, options in GEOMETRIES if options["hash_bits"] is None]
with_vocabulary = pytest.mark.parametrize(("task", "options"), VOCABULARY, ids=name)


def tolerance(options):
    return {"rtol": 1e-4, "atol": 1e-6} if options["dtype"] == "float32" else {"rtol": 1e-9, "atol": 1e-12}


def has_intercept(learner):
    return learner.parameters["fit_intercept"] and learner.task != "ordinal"


def whole_covariance(learner):
    """With the coordinate of the intercept, which is the first one then."""
    d, upper = learner._engine.factors()
    return np.diag(d) if upper is None else (upper * d) @ upper.T


# ---- the covariance and the uncertainty -------------------------------------------------------------------


@with_covariance
def test_the_uncertainty_is_that_of_the_covariance(task, options):
    """x'Sx, with the constant feature of an intercept; of arrays, CSR matrices, frames and events."""
    X, y, weights = stream(task)
    rows = rows_for(options, X)
    model = new(task, options)
    assert model.covariance.size in (0, 64, 64**2)
    model.learn(rows, y, weights)
    S, ones = whole_covariance(model), np.ones((len(X), int(has_intercept(model))))
    expected = np.einsum("ti,ij,tj->t", np.hstack([ones, rows]), S, np.hstack([ones, rows]))
    np.testing.assert_allclose(model.uncertainty(rows), expected, rtol=1e-9)
    np.testing.assert_allclose(model.uncertainty(csr(rows)), expected, rtol=1e-9)
    if options["hash_bits"] is None:
        np.testing.assert_allclose(
            [model.uncertainty_one(dict(enumerate(x))) for x in X.tolist()], expected, rtol=1e-9
        )
    inner = S[ones.shape[1] :, ones.shape[1] :]
    np.testing.assert_allclose(
        model.covariance, np.diag(inner) if options["geometry"] == "diagonal" else inner, rtol=1e-12
    )
    start = options.get("initial_variance", 1.0)
    whole = model.covariance if options["geometry"] == "diagonal" else np.linalg.eigvalsh(model.covariance)
    assert (whole > 0).all()
    assert (whole <= start * (1 + 1e-12)).all()
    assert whole.min() < start / 2  # something was learned


@with_covariance
def test_what_was_never_seen_is_as_unsure_as_at_the_start(task, options):
    X, y, _ = stream(task)
    start, extra = options.get("initial_variance", 1.0), int(options.get("fit_intercept", False))
    model = new(task, options)
    unseen = {"new": 3.0, "color": "red", "flag": True, "zero": 0.0}
    assert model.uncertainty_one({}) == pytest.approx(start * extra)
    if options["hash_bits"] is None:
        assert model.uncertainty_one(unseen) == pytest.approx(start * (11 + extra))
    model.learn_many(as_dicts(X), y)
    before = state(model)
    nothing, known = model.uncertainty_one({}), as_dict(X[1])
    assert nothing <= start * extra
    if options["hash_bits"] is None:
        assert model.uncertainty_one(unseen) == pytest.approx(nothing + 11 * start)
        assert model.uncertainty_one({**known, **unseen}) == pytest.approx(
            model.uncertainty_one(known) + 11 * start
        )
        frame = pd.DataFrame([{**known, "new": 3.0}, {"new": -1.0}]).fillna(0.0)
        np.testing.assert_allclose(
            model.uncertainty(frame),
            [model.uncertainty_one(known) + 9 * start, nothing + start],
            rtol=1e-12,
        )
    assert state(model) == before


@with_covariance
def test_learning_makes_surer(task, options):
    """Round by round no direction becomes less sure; and only updates make it surer."""
    X, y, _ = stream(task)
    rows = rows_for(options, X)
    model = new(task, options)
    model.learn(rows[:1], part(y, slice(1)))
    sizes, surer = model.uncertainty(rows), 0
    for i in range(1, len(X)):
        updates = model.statistics.updates
        model.learn(rows[i : i + 1], part(y, slice(i, i + 1)))
        after = model.uncertainty(rows)
        if model.statistics.updates == updates:
            np.testing.assert_array_equal(after, sizes)
        else:
            assert (after <= sizes * (1 + 1e-9)).all()
            surer += after[i] < sizes[i] * (1 - 1e-9)
        sizes = after
    assert surer > 3


@with_covariance
def test_the_covariance_of_a_file_is_the_same(task, options, tmp_path):
    X, y, _ = stream(task)
    model = new(task, options)
    model.learn_many(as_dicts(X), y)
    model.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model")
    assert model.covariance.tobytes() == again.covariance.tobytes()
    for x in as_dicts(X):
        assert model.uncertainty_one(x) == again.uncertainty_one(x)
    rows = rows_for(options, X)
    if options["hash_bits"]:
        assert model.uncertainty(rows).tobytes() == again.uncertainty(rows).tobytes()


@pytest.mark.parametrize("geometry", ["mahalanobis", "diagonal"])
def test_the_file_of_thresholds_with_a_small_variance(geometry):
    model = hinge.Learner("ordinal", classes=[0, 1, 2], geometry=geometry, initial_variance=1e-3, step="pa")
    model.learn_one({"a": 1.0}, 0)
    assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@with_covariance
def test_the_order_of_keys_and_columns_does_not_matter(task, options):
    X, y, weights = stream(task)
    first, second, mirrored = (new(task, options) for _ in range(3))
    first.learn_many(as_dicts(X), y, weights)
    event = as_dict(X[4])
    assert first.uncertainty_one(event) == first.uncertainty_one(dict(reversed(event.items())))
    if options["hash_bits"] is None:
        second.learn(X, y, weights)
        mirrored.learn(X[:, ::-1], y, weights)
        np.testing.assert_allclose(covariance_by_name(first), second.covariance, **tolerance(options))
        back = (slice(None, None, -1),) * second.covariance.ndim
        np.testing.assert_allclose(mirrored.covariance[back], second.covariance, **tolerance(options))
        np.testing.assert_allclose(
            mirrored.uncertainty(X[:, ::-1]), second.uncertainty(X), **tolerance(options)
        )


# ---- all or nothing ----------------------------------------------------------------------------------------

BAD_LAST = {
    "a value": lambda x, w: ({**x, "alpha": float("nan")}, w),
    "a new value": lambda x, w: ({**x, "newest": float("inf")}, w),
    "a square": lambda x, w: ({**x, "newest": 1e200}, w),
    "no number": lambda x, w: ({**x, "newest": object()}, w),
    "a weight": lambda x, w: (x, -1.0),
    "no weight": lambda x, w: (x, float("inf")),
}


def updating(task, count=60):
    """All rows matter, and the events bring new features."""
    X, y, _ = stream(task, count)
    events = as_dicts(X)
    for i, event in enumerate(events):
        event[f"new{i // 4}"] = 0.5
    return events, y


@every_geometry
@pytest.mark.parametrize("known", [0, 1, 25])
def test_a_refused_batch_of_events_leaves_no_trace(task, options, known):
    """It fails in its last row, after updates of the covariance and new columns; also as its only row."""
    events, y = updating(task)
    for bad, start in itertools.product(BAD_LAST, (known, 59)):
        model = new(task, options)
        model.learn_many(events[:known], part(y, slice(known)))
        before = state(model)
        last, weight = BAD_LAST[bad](events[59], 1.0)
        with pytest.raises((ValueError, TypeError), match="row"):
            model.learn_many(
                [*events[start:59], last], part(y, slice(start, 60)), [*[1.0] * (59 - start), weight]
            )
        assert state(model) == before
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(last, one(y, 59), weight)
        assert state(model) == before
    other = hinge.Learner.from_bytes(before)
    for m in (model, other):
        m.learn_many(events[known:], part(y, slice(known, None)))
    assert state(model) == state(other)
    assert model.statistics.updates > 5


@every_geometry
@pytest.mark.parametrize("container", [np.asarray, csr], ids=["dense", "csr"])
@pytest.mark.parametrize("width", [7, 300])
def test_a_refused_batch_of_rows_leaves_no_trace(task, options, container, width):
    """Wide models note what they overwrite, narrow ones keep a copy; fresh ones have neither."""
    if width == 300 and (options["hash_bits"] or container is np.asarray):
        return
    X, y, weights = stream(task)
    wide = rows_for(options, X) if options["hash_bits"] else np.pad(X, ((0, 0), (0, width - 7)))
    for known, bad in itertools.product((0, 1, 30), (np.nan, 1e200)):
        model = new(task, options)
        if known:
            model.learn(container(wide[:known]), part(y, slice(known)))
        before = state(model)
        spoiled = wide.copy()
        spoiled[59, 3] = bad
        with pytest.raises(ValueError, match="row 59, column 3"):
            model.learn(container(spoiled), y)
        assert state(model) == before
        spoiled_weights = np.where(np.arange(60) == 59, -1.0, weights)
        with pytest.raises(ValueError, match="row 59: the sample weight"):
            model.learn(container(wide), y, spoiled_weights)
        assert state(model) == before
    other = hinge.Learner.from_bytes(before)
    for m in (model, other):
        m.learn(container(wide), y)
    assert state(model) == state(other)


@every_geometry
def test_a_weight_of_zero_changes_nothing(task, options):
    X, y, _ = stream(task)
    model = new(task, options)
    for k in range(3):
        before = state(model)
        model.learn_many([{"fresh": 1.0, **as_dict(X[3])}], part(y, slice(3, 4)), [0.0])
        model.learn_one({"fresh": 1e30}, one(y, 2), 0.0)
        assert state(model) == before
        model.learn_many(as_dicts(X[20 * k : 20 * k + 20]), part(y, slice(20 * k, 20 * k + 20)))


# ---- what comes with the stream ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "options"), [c for c in VOCABULARY if c[1]["geometry"] != "entropy"], ids=name
)
def test_growing_is_the_same_as_having_known(task, options):
    events, y = updating(task)
    grown, known = new(task, options), new(task, options)
    known.name_columns([f"new{k}" for k in range(15)] + NAMES[::-1])
    for i, event in enumerate(events):
        np.testing.assert_allclose(
            number(grown.score_one(event)), number(known.score_one(event)), rtol=1e-4, atol=1e-5
        )
        assert grown.uncertainty_one(event) == pytest.approx(known.uncertainty_one(event), rel=1e-5)
        grown.learn_one(event, one(y, i))
        known.learn_one(event, one(y, i))
    np.testing.assert_allclose(weights_by_name(grown), weights_by_name(known), **tolerance(options))
    np.testing.assert_allclose(covariance_by_name(grown), covariance_by_name(known), **tolerance(options))
    assert grown.n_features == known.n_features == 22


@pytest.mark.parametrize(
    ("task", "options"), [c for c in VOCABULARY if c[1]["geometry"] == "entropy"], ids=name
)
def test_a_simplex_grows_with_the_vocabulary(task, options):
    """A new feature takes its part of what is to be shared: the weights of the others shrink by one factor.

    So events are not arrays unless the columns are named before (or the first event has all of them).
    """
    X, y, _ = stream(task)
    X[0] = 0.5 + np.arange(7)
    named, arrays, events, surprised = (new(task, options) for _ in range(4))
    named_first(named).learn_many(as_dicts(X), y)
    arrays.learn(X, y)
    events.learn_many(as_dicts(X), y)
    rest = X.copy()
    rest[0, 1:] = 0.0
    surprised.learn_many(as_dicts(rest), y)
    for same in (named, events):
        np.testing.assert_allclose(weights_by_name(same), weights_by_name(arrays), **tolerance(options))
    assert not np.allclose(weights_by_name(surprised), weights_by_name(arrays), rtol=1e-3)
    before = [model.last_weights.astype(float) for model in (arrays, named)]
    for model, was in zip((arrays, named), before, strict=True):
        model.name_columns(NAMES if model is arrays else ["more"])
        if model is arrays:
            model.name_columns(["more"])
        factors = (model.last_weights.astype(float)[..., :7] / was).ravel()
        np.testing.assert_allclose(factors, factors[0], rtol=1e-5)
        assert 0 < factors[0] < 1  # the new one has the weight that all had at the start, before Z
    total = np.abs(arrays.last_weights).sum() + np.abs(arrays.last_intercept).sum()
    assert total <= options["scale"] * (1 + 1e-6)
    if not options.get("signed", True):
        assert total == pytest.approx(options["scale"])


@pytest.mark.parametrize(
    "options",
    [
        {"geometry": "mahalanobis"},
        {"geometry": "mahalanobis", "step": "cw"},
        {"geometry": "diagonal", "step": "perceptron"},
        {"geometry": "diagonal", "covariance_update": "drop", "step": "pa2"},
    ],
    ids=str,
)
@pytest.mark.parametrize("average", [False, True])
def test_two_classes_become_three_with_the_same_covariance(options, average):
    X, y, _ = stream("classification")
    two, three = (
        hinge.Learner("classification", fit_intercept=False, average=average, **options) for _ in range(2)
    )
    events = as_dicts(X)
    for model in (two, three):
        model.learn_many(events, y)
    two.learn_one({}, "ham")  # no feature: nothing moves
    three.learn_one({}, "zebra")
    assert three.labels.known == [*LABELS.tolist(), "zebra"]
    assert three.covariance.tobytes() == two.covariance.tobytes()
    np.testing.assert_array_equal(three.weights, np.outer([-0.5, 0.5, 0.0], two.weights))
    for event in events:
        assert three.uncertainty_one(event) == two.uncertainty_one(event)
    three.learn_one(events[1], "zebra")
    assert three.uncertainty_one(events[1]) < two.uncertainty_one(events[1])
    for event, label in zip(events, itertools.cycle(["zebra", "ham", "spam"]), strict=False):
        three.learn_one(event, label)
    again = hinge.Learner.from_bytes(three.to_bytes())
    assert state(again) == state(three)
    assert (numbers(three, events) == numbers(again, events)).all()


@pytest.mark.parametrize("average", [False, True])
def test_two_classes_become_three_on_a_simplex(average):
    """Each of the two gets half of the weights, and the new one its part: the scores keep their proportions."""
    X, y, _ = stream("classification")
    model = hinge.Learner("classification", geometry="entropy", scale=6.0, average=average)
    events = as_dicts(X)
    model.learn_many(events, y)
    before, w, said = model.last_weights, model.last_intercept, [model.predict_one(x) for x in events]
    model.learn_one({}, "zebra", 1e-12)  # so small a weight: C of nothing
    three = model.last_weights
    np.testing.assert_allclose(three[0], -three[1], rtol=1e-9)
    factors = np.append(three[1] / before, model.last_intercept[1] / w)
    np.testing.assert_allclose(factors, factors[0], rtol=1e-6)
    assert 0.2 < factors[0] < 0.5
    assert np.abs(three[2]).max() < 1e-9
    for event, its in zip(events, said, strict=True):
        scores = model.score_one(event)
        if max(abs(scores["ham"]), abs(scores["spam"])) > 1e-3 and not average:
            assert model.predict_one(event) == its
    model.learn_many(events, np.array(CLASSES)[np.arange(60) % 4])
    assert len(model.labels.known) == 7
    assert np.abs(model.last_weights).sum() + np.abs(model.last_intercept).sum() <= 6.0 * (1 + 1e-9)


# ---- the average ---------------------------------------------------------------------------------------------


@with_vocabulary
def test_the_average_is_that_of_the_vectors(task, options):
    """Of those that predicted; on a simplex kept through sums of exponentials, and the columns known from the start."""
    X, y, _ = stream(task)
    every, last = (new(task, {**options, "average": average}) for average in (True, False))
    seen = []
    for i in range(len(X)):
        row = slice(i, i + 1)
        rounds = last.statistics.rounds
        weights, intercept = last.last_weights.astype(float), np.array(last.last_intercept, dtype=float)
        every.learn(X[row], part(y, row))
        last.learn(X[row], part(y, row))
        if last.statistics.rounds > rounds:
            if weights.size == 0:  # the columns come with the first row
                fresh = new(task, {**options, "average": False})
                fresh.learn(X[row], part(y, row), [0.0])
                weights = fresh.last_weights.astype(float)
                intercept = np.array(fresh.last_intercept, dtype=float)
            seen.append(np.append(weights.ravel(), intercept.ravel()))
    found = np.append(np.asarray(every.weights, dtype=float).ravel(), np.ravel(every.intercept))
    np.testing.assert_allclose(found, np.mean(seen, axis=0), **tolerance(options))
    np.testing.assert_array_equal(every.last_weights, last.last_weights)
    if options["geometry"] != "entropy":
        assert every.covariance.tobytes() == last.covariance.tobytes()


# ---- the paper's step, which takes values of 0 and more --------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
@pytest.mark.parametrize("average", [False, True])
def test_the_papers_step(task, average):
    X, y, weights = stream(task)
    X = np.abs(X)
    options = {"geometry": "entropy", "step": "pa", "signed": False, "entropy_step": "paper", "scale": 3.0}
    options = {**options, "average": average, **({} if task == "uniclass" else {"fit_intercept": False})}
    whole, rows, sparse, events = (new(task, options) for _ in range(4))
    whole.learn(X, y, weights)
    for i in range(len(X)):
        rows.learn(X[i : i + 1], part(y, slice(i, i + 1)), weights[i : i + 1])
        if i == 30:
            rows = hinge.Learner.from_bytes(rows.to_bytes())
    assert state(whole) == state(rows)
    sparse.learn(csr(X), y, weights)
    named_first(events).learn_many(as_dicts(X), y, weights)
    for other in (sparse, events):
        np.testing.assert_allclose(other.weights, whole.weights, rtol=1e-9)
    assert whole.statistics.updates > 5
    before = state(whole)
    bad = X.copy()
    bad[59, 2] = -1e-9
    with pytest.raises(
        ValueError, match="row 59, column 2: entropy_step='paper' is for values of 0 and more"
    ):
        whole.learn(bad, y)
    assert state(whole) == before


# ---- scikit-learn's ways -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("geometry", ["mahalanobis", "diagonal"])
def test_clones_are_fresh_and_frames_have_uncertainty(geometry):
    X, y, _ = stream("classification")
    frame = pd.DataFrame(X, columns=NAMES)
    model = hinge.PAClassifier(geometry=geometry, initial_variance=2.0, random_state=0).fit(frame, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "covariance_")
    assert fresh.fit(frame, y).covariance_.tobytes() == model.covariance_.tobytes()
    sizes = model.uncertainty(frame)
    np.testing.assert_allclose(sizes, [model.uncertainty_one(as_dict(x)) for x in X], rtol=1e-9)
    assert model.covariance_.shape == ((7, 7) if geometry == "mahalanobis" else (7,))
