"""PAStructured against a twin in NumPy, and as other learners do it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from hinge import Learner, PAClassifier
from reference_structured import Twin
from structured_problems import COST, KINDS, Outputs, stream

STEPS = {
    "prediction": ("pa", "pa1", "pa2", "perceptron"),
    "max": ("pa", "pa1", "pa2"),
    "max-additive": ("pa", "pa1", "pa2"),
}
SELECTIONS = [(selection, step) for selection, steps in STEPS.items() for step in steps]
GEOMETRIES = [
    {},
    {"geometry": "mahalanobis", "covariance_regularizer": 0.7, "initial_variance": 2.0},
    {"geometry": "diagonal", "covariance_update": "precision", "covariance_regularizer": 0.7},
    {"geometry": "diagonal", "covariance_update": "drop"},
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=lambda g: "-".join(map(str, g.values())) or "euclidean")
@pytest.mark.parametrize(("selection", "step"), SELECTIONS)
def test_structures_equal_the_twin(selection, step, geometry, kind):
    for average, C, margin in [(False, 0.05, 0.5), (True, 0.7, 1.0)]:
        options = {"C": C, **geometry}
        X, y, weights = stream(50)
        twin = Twin(5, step, selection, margin=margin, **options)
        ours = Outputs(kind, selection, margin).model(step=step, average=average, **options)
        for x, output, weight in zip(X, y, weights, strict=True):
            ours.learn_one(x, output, weight)
            twin.learn(x, output, weight)
            if not twin.copies:
                continue
            named = ours.named_weights()
            w = [named.get(f"f{j}", 0.0) if kind == "dict" else named[j] for j in range(5)]
            np.testing.assert_allclose(w, twin.average if average else twin.w, rtol=1e-9, atol=1e-12)
        s, t = ours.stats_, twin.statistics
        assert (s.rounds, s.mistakes, s.updates) == (t.rounds, t.mistakes, t.updates)
        assert s.updates > 0
        np.testing.assert_allclose(
            [s.loss, s.squared_loss, s.largest_q, s.progress, s.cost],
            [t.loss, t.squared_loss, t.largest_q, t.progress, twin.cost],
            rtol=1e-9,
        )
        if geometry and kind != "dict":
            diagonal = geometry["geometry"] == "diagonal"
            S = twin.S.variances if diagonal else twin.S.matrix
            np.testing.assert_allclose(ours.covariance_, S, rtol=1e-8, atol=1e-12)
            np.testing.assert_allclose(ours.uncertainty_one(x, 2), twin.S.of(x[2]), rtol=1e-8)
            np.testing.assert_allclose(
                ours.uncertainty(X, y), [twin.S.of(x[z]) for x, z in zip(X, y, strict=True)]
            )


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("selection", ["prediction", "max"])
def test_classes_with_costs_equal_structures_with_blocks(selection, step):
    """Phi(x, r) is x in block r: the same as PAClassifier with a cost."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 6))
    y = (X[:, :4] + 0.5 * rng.normal(size=(200, 4))).argmax(axis=1)
    theirs = PAClassifier(
        C=0.3, step=step, cost=COST, selection=selection, classes=[0, 1, 2, 3], fit_intercept=False
    )
    theirs.partial_fit(X, y)
    ours = Outputs("array", selection).model(C=0.3, step=step)
    ours.learn_many([np.kron(np.eye(4), x) for x in X], y)
    np.testing.assert_allclose(ours.coef_.reshape(4, 6), theirs.coef_, rtol=1e-9, atol=1e-12)
    assert ours.stats_.updates == theirs.stats_.updates
    assert ours.stats_.cost == theirs.stats_.cost > 0
    assert ours.predict([np.kron(np.eye(4), x) for x in X]) == theirs.predict(X).tolist()


def test_the_core_learns_constraints_from_rows_dicts_and_files():
    """`Learner("structured")`, which is below: rows, dicts, files; and no intercept anywhere."""
    X, wanted = np.array([[1.0, -2.0], [0.5, 0.0]]), [1.0, 2.0]
    rows, sparse, events = (Learner("structured", geometry="diagonal", C=0.1) for _ in range(3))
    rows.learn(X, wanted)
    sparse.learn(scipy.sparse.csr_array(X), wanted)
    events.learn_many([{"a": 1.0, "b": -2.0}, {"a": 0.5}], wanted)
    assert rows.weights.tolist() == sparse.weights.tolist() == events.weights.tolist()
    assert rows.weights[0] > 0 > rows.weights[1]
    assert len(rows.covariance) == 2
    assert [part.feature for part in events.explain_one({"a": 1.0})] == ["a"]
    with pytest.raises(ValueError, match="y must hold numbers"):
        rows.learn(X, ["a", "b"])
