"""scikit-learn's own estimator checks, and what its users rely on beyond them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

import hinge
from hinge import PAClassifier, PAMultilabel, PAOneClass, PAOrdinal, PARegressor, expected_failed_checks

# step='pa' is not among the classifiers: class_weight scales C, and the hard step has none. Nor is 'mira' with its
# small beta, whose steps never reach C; nor would those of 'entropy' with a larger one.
ESTIMATORS = [
    PAClassifier(),
    PAClassifier(step="pa2", average=True),
    PAClassifier(dtype="float32", margin=0.5),
    PAClassifier(step="perceptron"),
    PAClassifier(step="perceptron", selection="uniform"),
    PAClassifier(selection="prediction", average=True),
    PAClassifier(selection="simperc"),
    PAClassifier(selection="simproj"),
    PAClassifier(selection="conproj", step="pa2", dtype="float32", intercept_value=1.0),
    PAClassifier(selection="mira", beta=1.0),
    PAMultilabel(),
    PAMultilabel(step="pa2", average=True, threshold=0.0),
    PAMultilabel(selection="simproj", dtype="float32"),
    PAMultilabel(selection="mira"),
    PAMultilabel(step="perceptron", selection="uniform"),
    PAOrdinal(),
    PAOrdinal(selection="simperc", average=True),
    PAOrdinal(selection="conproj", step="pa2", dtype="float32"),
    PAOrdinal(selection="max", step="pa"),
    PARegressor(),
    PARegressor(step="pa2", average=True),
    PARegressor(step="pa", dtype="float32"),
    PAOneClass(),
    PAOneClass(contamination=0.2, step="pa2", average=True),
    PAOneClass(radius=1.0),
    PAOneClass(max_radius=20.0, C=0.5),
    PAOneClass(step="pa", radius=5.0, w1="zero", average=True),
    PAClassifier(geometry="mahalanobis", average=True),
    PAClassifier(geometry="diagonal", step="pa2", C=0.5, covariance_update="drop"),
    PAClassifier(geometry="mahalanobis", step="cw"),
    PAClassifier(geometry="entropy", C=1e-3),
    PAMultilabel(geometry="mahalanobis", step="pa2"),
    PAOrdinal(geometry="diagonal"),
    PARegressor(geometry="mahalanobis", step="pa2"),
    PARegressor(geometry="entropy", scale=100.0),
    PAOneClass(geometry="entropy", scale=2.0, radius=1.0),
    PAClassifier(kernel="rbf"),
    PAClassifier(kernel="poly", degree=2, coef0=1.0, budget=100),
    PAMultilabel(kernel="rbf"),
    PAMultilabel(kernel="rbf", budget="adaptive"),
    PAOrdinal(kernel="rbf"),
    PAOrdinal(kernel="linear", budget=50, removal="oldest"),
    PARegressor(kernel="rbf"),
    PARegressor(kernel="rbf", gamma=0.1, budget=50),
    PAOneClass(kernel="rbf"),
    PAOneClass(kernel="rbf", radius=0.5),
    PAOneClass(kernel="rbf", radius=0.5, budget=20),
    hinge.AutoClassifier(),
    hinge.AutoRegressor(),
    hinge.AutoOrdinal(),
    hinge.AutoMultilabel(),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failed_checks)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::hinge.IneffectiveWeights")
def test_estimators_pass_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore")
def test_check_estimator_passes_with_the_expected_failures() -> None:
    model = PAClassifier(max_iter=5)
    results = check_estimator(model, expected_failed_checks=expected_failed_checks(model), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "xfail", "skipped"}


def test_a_vector_y_means_one_label_per_row() -> None:
    """PAMultilabel with a vector of labels ranks, and predicts the label on top; with sets it predicts sets."""
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    one, sets, matrix = (PAMultilabel(random_state=0, max_iter=20, tol=None) for _ in range(3))
    one.fit(X, names)
    sets.fit(X, [{name} for name in names])
    matrix.fit(X, np.eye(3)[y])
    np.testing.assert_array_equal(one.coef_, sets.coef_)
    np.testing.assert_array_equal(one.coef_, matrix.coef_)
    np.testing.assert_array_equal(one.classes_, np.unique(names))
    scores = one.decision_function(X)
    np.testing.assert_array_equal(one.predict(X), one.classes_[scores.argmax(axis=1)])
    np.testing.assert_array_equal(sets.predict(X), scores > 0)
    assert one.predict_sets(X) == sets.predict_sets(X)
    assert one.score(X, names) > 0.9
    assert sets.score(X, [{name} for name in names]) == sets.score(X, np.eye(3)[y])
    assert one.ranking_report(X, names) == pytest.approx(sets.ranking_report(X, np.eye(3)[y]))
    assert one.ranking_report(X, names)["one_error"] == pytest.approx(1 - one.score(X, names))
    one.learn_many(X[:5], [{"new"}] * 5)  # from here on they are sets
    assert one.predict(X).shape == (150, 4)


def test_indicators_of_any_kind_fit_the_same() -> None:
    X, Y = make_multilabel_classification(80, 10, n_classes=5, random_state=1)
    expected = PAMultilabel(random_state=0, max_iter=5, tol=None).fit(X, Y)
    for way in (list(Y), Y.tolist(), Y.astype(bool), Y.astype(float), scipy.sparse.csr_matrix(Y)):
        model = PAMultilabel(random_state=0, max_iter=5, tol=None).fit(X, way)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        assert model.score(X, way) == expected.score(X, Y)
    np.testing.assert_array_equal(expected.predict(X), expected.decision_function(X) > 0)
    thresholds = expected.thresholds(X)
    scores = X @ expected.coef_.T + expected.intercept_
    np.testing.assert_allclose(
        expected.decision_function(X), scores - thresholds[:, None], rtol=1e-9, atol=1e-9
    )


def test_grid_search_and_cross_validation_work() -> None:
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        PAClassifier(random_state=0, max_iter=20, average=True, tol=None),
        {"selection": ["max", "simproj", "mira"], "C": [0.01, 0.1]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    assert (
        cross_val_score(PAOrdinal(average=True, random_state=0, max_iter=50, tol=None), X, y, cv=3).mean()
        > 0.95
    )
    X, Y = make_multilabel_classification(200, 10, n_classes=4, random_state=1)
    assert (
        cross_val_score(PAMultilabel(random_state=0, average=True, max_iter=20, tol=None), X, Y, cv=3).mean()
        > 0.3  # that of the most frequent set is 0.15, of perceptrons one against all 0.34
    )


def test_grid_search_over_kernels_and_budgets_works() -> None:
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        PAClassifier(random_state=0, max_iter=10, tol=None),
        {"kernel": ["linear", "rbf", "poly"], "budget": [None, 40, "adaptive"], "C": [1.0]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["mean_test_score"]) == 9
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
