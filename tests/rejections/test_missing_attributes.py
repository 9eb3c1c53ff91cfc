"""What a kind of model does not have: an AttributeError says where it is to be found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import hinge
import hinge.river
from rejection_cases import SHAPES, stream
from rejection_sentences import OPTIONS, trained

RBF = {"kernel": "rbf", "gamma": 0.5}


@pytest.mark.parametrize("options", [{}, SHAPES["simplex"]], ids=str)
def test_there_is_no_uncertainty_without_a_covariance(options):
    message = "there is no covariance with geometry=.*; there is one with 'diagonal' and 'mahalanobis'"
    X, y = stream("classification")
    learner = hinge.Learner("classification", **options)
    learner.learn(X, y)
    estimator = hinge.PAClassifier(**options).fit(X, y)
    for model in (learner, estimator, hinge.river.PAClassifier(**options), hinge.PAClassifier(**options)):
        with pytest.raises(AttributeError, match=message):
            model.uncertainty_one({"a": 1.0})
    for model in (learner, estimator):
        with pytest.raises(AttributeError, match=message):
            model.uncertainty(X)
    assert not hasattr(learner, "covariance")
    assert not hasattr(estimator, "covariance_")
    assert not hasattr(hinge.PAClassifier(geometry="diagonal"), "covariance_")  # not fitted


def test_there_are_no_weights_with_a_kernel():
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
    custom = hinge.Learner("regression", kernel=lambda X, Z: X @ Z.T)
    with pytest.raises(AttributeError, match="no weights with a custom kernel"):
        _ = custom.weights
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="covariance"):
        _ = model.covariance_


def test_there_are_no_supports_without_a_kernel():
    model = hinge.PAClassifier().fit(np.eye(4), [0, 1, 0, 1])
    for name in ("support_", "support_vectors_", "dual_coef_", "n_support_"):
        for each, attribute in ((model, name), (model._learner, name[:-1])):
            with pytest.raises(AttributeError, match="no supports without a kernel"):
                getattr(each, attribute)


def test_linear_kernel_explains():
    model = hinge.Learner("classification", kernel="linear", classes=["ham", "spam"])
    plain = hinge.Learner("classification", classes=["ham", "spam"])
    for learner in (model, plain):
        learner.learn_many([{"a": 1.0, "b": 2.0}, {"b": -1.0}, {"c": 3.0}], ["spam", "ham", "ham"])
    ours, theirs = model.explain_one({"a": 1.0, "c": 2.0}), plain.explain_one({"a": 1.0, "c": 2.0})
    assert [part.feature for part in ours] == [part.feature for part in theirs]
    np.testing.assert_allclose([p.contribution for p in ours], [p.contribution for p in theirs])
    assert model.named_weights() == pytest.approx(plain.named_weights())


@pytest.mark.parametrize("name", ["covariance_", "uncertainty_one", "uncertainty"])
def test_sequences_have_no_uncertainty(name):
    for model in (hinge.PASequence(geometry="diagonal").learn_one([["a"]], ["A"]), hinge.PASequence()):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"PASequence has no {name}"):
            getattr(model, name)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_named_weights_of_sequences_are_their_state_features(options):
    model = trained(options)
    named = model.named_weights()
    assert list(named) == model.classes_
    flat = {(feature, tag): weight for tag, its in named.items() for feature, weight in its.items()}
    assert flat == model.state_features_
    assert flat
    with pytest.raises(NotFittedError):
        hinge.PASequence(**options).named_weights()
