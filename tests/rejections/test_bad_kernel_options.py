"""Options of kernels that make no sense, and what a kernel does not have: refused in words."""

from __future__ import annotations

import numpy as np
import pytest

import hinge
from bad_models import refused

RBF = {"kernel": "rbf", "gamma": 0.5}


@pytest.mark.parametrize(
    ("task", "options", "match"),
    [
        ("regression", {"kernel": "cosine"}, "kernel must be"),
        ("regression", {"kernel": 3}, "kernel must be"),
        ("regression", {"kernel": "rbf", "gamma": 0.0}, "gamma"),
        ("regression", {"kernel": "rbf", "gamma": -1.0}, "gamma"),
        ("regression", {"kernel": "rbf", "gamma": np.nan}, "gamma"),
        ("regression", {"kernel": "rbf", "gamma": np.inf}, "gamma"),
        ("regression", {"kernel": "rbf", "gamma": "auto"}, "gamma"),
        ("regression", {"kernel": "rbf"}, r"gamma='scale' is measured .* give a number"),
        ("regression", {"kernel": "poly"}, r"gamma='scale' is measured"),
        ("regression", {"kernel": "poly", "gamma": 1.0, "degree": 0}, "degree"),
        ("regression", {"kernel": "poly", "gamma": 1.0, "degree": 1.5}, "degree"),
        ("regression", {"kernel": "poly", "gamma": 1.0, "degree": 101}, "degree"),
        ("regression", {"kernel": "poly", "gamma": 1.0, "coef0": -1.0}, "coef0"),
        ("regression", {"kernel": "poly", "gamma": 1.0, "coef0": np.inf}, "coef0"),
        ("regression", {**RBF, "budget": 0}, "budget"),
        ("regression", {**RBF, "budget": -3}, "budget"),
        ("regression", {**RBF, "budget": 2.5}, "budget"),
        ("regression", {**RBF, "budget": True}, "budget"),
        ("regression", {**RBF, "budget": "greedy"}, "budget"),
        ("regression", {**RBF, "removal": "youngest"}, "removal"),
        ("regression", {**RBF, "max_cache": 0}, "max_cache"),
        ("regression", {**RBF, "max_cache": np.nan}, "max_cache"),
        ("regression", {"budget": 5}, "give a kernel"),
        ("regression", {"budget": "adaptive"}, "give a kernel"),
        ("regression", {**RBF, "geometry": "diagonal"}, "use 'euclidean'"),
        ("regression", {**RBF, "geometry": "entropy"}, "use 'euclidean'"),
        ("regression", {**RBF, "w1": [1.0, 2.0]}, "use w1=None"),
        ("regression", {**RBF, "w1": {"a": 2.0}}, "use w1=None"),
        ("uniclass", {**RBF, "w1": [1.0, 2.0]}, "use w1=None"),
        ("structured", {**RBF}, "not for structured"),
        ("prototype", {**RBF}, "not for prototype"),
        ("classification", {**RBF, "beta": -0.1}, "beta"),
        ("classification", {**RBF, "step": "cw"}, "covariance"),
        *(
            (task, {**RBF, "budget": budget, "average": average}, "average does not go with a budget")
            for task in ("classification", "multilabel", "regression", "uniclass")
            for budget in (5, "adaptive")
            for average in (True, 7)
        ),
        ("ordinal", {**RBF, "budget": 5, "average": True, "classes": [1, 2]}, "average does not go"),
    ],
)
def test_options_that_make_no_sense(task, options, match):
    with pytest.raises((ValueError, TypeError), match=match):
        hinge.Learner(task, **options)


@pytest.mark.parametrize("estimator", [hinge.PARanker, hinge.PASequence, hinge.PAStructured])
def test_estimators_without_kernels(estimator):
    with pytest.raises(TypeError, match="kernel"):
        estimator(kernel="rbf")


@pytest.mark.parametrize(
    "estimator",
    [hinge.PAClassifier, hinge.PARegressor, hinge.PAOneClass, hinge.PAOrdinal, hinge.PAMultilabel],
)
def test_scale_needs_rows(estimator):
    model = estimator(kernel="rbf")
    arguments = ({"a": 1.0},) if estimator is hinge.PAOneClass else ({"a": 1.0}, 1)
    with pytest.raises(ValueError, match=r"give a number|classes=\[\.\.\.\]"):
        model.learn_one(*arguments)
    assert not hasattr(model, "_learner") or model._learner is None


def test_scale_is_that_of_the_rows():
    import scipy.sparse
    from sklearn.svm import SVC

    random = np.random.default_rng(0)
    X, y = random.normal(5.0, 3.0, size=(40, 4)), random.choice([0, 1], 40)
    expected = SVC(gamma="scale").fit(X, y)._gamma
    for data in (
        X,
        scipy.sparse.csr_matrix(X),
        X.astype(np.float32),
        X + 1e7,
        scipy.sparse.csr_matrix(X + 1e7),
    ):
        for model in (hinge.PAClassifier(kernel="rbf").fit(data, y), hinge.PAClassifier(kernel="rbf")):
            model.partial_fit(data, y, classes=[0, 1])
            assert model._learner.parameters["gamma"] == pytest.approx(expected, rel=1e-5)
    assert (
        hinge.PARegressor(kernel="rbf").fit(np.ones((3, 2)), [1.0, 2, 3])._learner.parameters["gamma"] == 1.0
    )


# ---- what a kernel has not ------------------------------------------------------------------------------


def test_there_are_no_weights():
    model = hinge.PAClassifier(**RBF).fit(np.eye(4), [0, 1, 0, 1])
    for look in (
        lambda: model.coef_,
        lambda: model.named_weights(),
        lambda: model.explain_one({0: 1.0}),
        lambda: model._learner.weights,
        lambda: model._learner.last_weights,
    ):
        with pytest.raises(AttributeError, match=r"no weights with the kernel 'rbf': see dual_coef"):
            look()
    own = hinge.Learner("regression", kernel=lambda X, Z: X @ Z.T)
    with pytest.raises(AttributeError, match="no weights with the kernel"):
        _ = own.weights
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="covariance"):
        _ = model.covariance_


def test_there_are_no_supports_without_a_kernel():
    model = hinge.PAClassifier().fit(np.eye(4), [0, 1, 0, 1])
    for name in ("support_", "support_vectors_", "dual_coef_", "n_support_"):
        with pytest.raises(AttributeError, match="no supports without a kernel"):
            getattr(model, name)
        with pytest.raises(AttributeError, match="no supports without a kernel"):
            getattr(model._learner, name[:-1])


def test_a_linear_kernel_explains():
    model = hinge.Learner("classification", kernel="linear", classes=["ham", "spam"])
    plain = hinge.Learner("classification", classes=["ham", "spam"])
    for learner in (model, plain):
        learner.learn_many([{"a": 1.0, "b": 2.0}, {"b": -1.0}, {"c": 3.0}], ["spam", "ham", "ham"])
    ours, theirs = model.explain_one({"a": 1.0, "c": 2.0}), plain.explain_one({"a": 1.0, "c": 2.0})
    assert [part.feature for part in ours] == [part.feature for part in theirs]
    np.testing.assert_allclose([p.contribution for p in ours], [p.contribution for p in theirs])
    assert model.named_weights() == pytest.approx(plain.named_weights())


# ---- max_cache -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["regression", "uniclass"])
@pytest.mark.parametrize(
    "options", [{}, {"budget": 1000}, {"budget": "adaptive"}, {"dtype": "float32"}], ids=str
)
def test_max_cache_is_reached_in_the_middle(task, options):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 5)), random.normal(size=300) if task == "regression" else None
    more = {"epsilon": 0.0} if task == "regression" else {"radius": 0.1}
    model = hinge.Learner(task, **RBF, max_cache=20_000, **options, **more)
    model.learn(X[:20], None if y is None else y[:20])
    refused(
        model,
        r"row \d+: the supports would take more than 20000 bytes \(max_cache\)",
        lambda: model.learn(X, y),
    )
    full = next(x for x in map(dict, map(enumerate, X.tolist())) if not learned(model, x))
    refused(model, "max_cache", lambda: model.learn_one(full, 5.0))


def learned(model, x):
    try:
        model.learn_one(x, 5.0)
    except ValueError:
        return False
    return True


def test_max_cache_does_not_stop_a_full_budget():
    random = np.random.default_rng(0)
    model = hinge.Learner("regression", **RBF, max_cache=10_000, budget=10, epsilon=0.0)
    model.learn(random.normal(size=(2000, 5)), random.normal(size=2000))
    assert model.n_support == 10


# ---- changes -----------------------------------------------------------------------------------------------


def test_what_may_change_between_batches():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 5)), random.choice([0, 1], 60)
    model = hinge.PAClassifier(**RBF, budget=8).partial_fit(X, y, classes=[0, 1])
    model.set_params(C=0.1).partial_fit(X, y)
    for changed in (
        {"budget": 9},
        {"kernel": "linear"},
        {"gamma": 0.6},
        {"removal": "oldest"},
        {"degree": 4},
    ):
        before = model._learner.to_bytes()
        name = next(iter(changed))
        kept = getattr(model, name)
        model.set_params(**changed)
        with pytest.raises(ValueError, match=f"{name} cannot change once learning has begun"):
            model.partial_fit(X, y)
        assert model._learner.to_bytes() == before
        model.set_params(**{name: kept}).predict(X)
    model.set_params(budget=3).fit(X, y)
    assert model.n_support_ <= 3
