"""`hinge.compat.CRF`: the parameters and conventions of sklearn-crfsuite."""

from __future__ import annotations

import pickle

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hinge import PASequence
from hinge.compat import CRF

X = [
    [{"word": "the", "bias": 1.0, "upper": False}, {"word": "man", "tags": ["n", "a"]}],
    [{"word": "the", "bias": 1.0}, {"word": "old", "shape": {"first": "o", "length": 3.0}}, {"word": "man"}],
]
FLAT = [
    [{"word:the": 1.0, "bias": 1.0}, {"word:man": 1.0, "tags:n": 1.0, "tags:a": 1.0}],
    [
        {"word:the": 1.0, "bias": 1.0},
        {"word:old": 1.0, "shape:first:o": 1.0, "shape:length": 3.0},
        {"word:man": 1.0},
    ],
]
Y = [["DET", "NOUN"], ["DET", "ADJ", "NOUN"]]


def any_mistake(truth: list[str], predicted: list[str]) -> float:
    return float(truth != predicted)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"algorithm": "pa"}, {"average": True}),
        ({"algorithm": "pa", "pa_type": 0, "averaging": False}, {"step": "pa", "average": False}),
        ({"algorithm": "pa", "pa_type": 2, "c": 0.3}, {"step": "pa2", "C": 0.3, "average": True}),
        ({"algorithm": "pa", "error_sensitive": False}, {"average": True, "cost": any_mistake}),
        ({"algorithm": "ap"}, {"step": "perceptron", "average": True}),
        (
            {"algorithm": "arow", "variance": 2.0, "gamma": 0.5},
            {
                "step": "pa2",
                "C": 1.0,
                "geometry": "diagonal",
                "covariance_regularizer": 0.5,
                "initial_variance": 2.0,
                "average": False,
            },
        ),
    ],
)
def test_it_learns_what_PASequence_learns(theirs: dict, ours: dict) -> None:
    crf = CRF(max_iterations=7, **theirs).fit(X, Y)
    same = PASequence(max_iter=7, random_state=0, selection="prediction", **ours).fit(FLAT, Y)
    assert crf.state_features_ == same.state_features_ != {}
    assert crf.transition_features_ == same.transition_features_
    assert crf.predict(X) == same.predict(FLAT)
    assert crf.predict_single(X[1]) == crf.predict(X)[1]
    assert crf.classes_ == ["ADJ", "DET", "NOUN"]
    assert crf.score(X, Y) == same.score(FLAT, Y)
    assert set(crf.attributes_) == {name for sentence in FLAT for token in sentence for name in token}
    assert crf.num_attributes_ == len(crf.attributes_)
    assert crf.size_ > 0
    assert pickle.loads(pickle.dumps(crf)).predict(X) == crf.predict(X)


def test_the_default_number_of_passes_is_100() -> None:
    assert CRF(algorithm="pa").fit(X, Y).model_.max_iter == 100


@pytest.mark.parametrize("algorithm", [None, "lbfgs", "l2sgd"])
def test_unsupported_options_warn(algorithm: str | None) -> None:
    with pytest.warns(UserWarning, match="maximises a likelihood"):
        crf = CRF(algorithm=algorithm, max_iterations=7).fit(X, Y)
    assert crf.state_features_ == CRF(algorithm="pa", max_iterations=7).fit(X, Y).state_features_
    with pytest.warns(UserWarning, match="hinge ignores c1, c2"):
        CRF(algorithm="pa", c1=0.1, c2=0.1, max_iterations=2).fit(X, Y)
    with pytest.raises(NotImplementedError, match="not probabilities"):
        crf.predict_marginals(X)


def test_invalid_options_and_unfitted_models_raise() -> None:
    with pytest.raises(ValueError, match="algorithm must be 'pa', 'ap' or 'arow', not 'svm'"):
        CRF(algorithm="svm").fit(X, Y)
    with pytest.raises(ValueError, match="pa_type must be 0, 1 or 2"):
        CRF(algorithm="pa", pa_type=3).fit(X, Y)
    with pytest.raises(NotFittedError):
        CRF(algorithm="pa").predict(X)


def test_verbose_reports_the_development_set(capsys: pytest.CaptureFixture[str]) -> None:
    crf = clone(CRF(algorithm="pa", max_iterations=3, verbose=True)).fit(X, Y, X_dev=X, y_dev=Y)
    said = capsys.readouterr().out
    assert "pass 1:" in said
    assert f"development set: {crf.score(X, Y):.4f}" in said


def test_the_parameters_are_those_of_sklearn_crfsuite() -> None:
    sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
    theirs = set(sklearn_crfsuite.CRF().get_params())
    assert theirs <= set(CRF().get_params())
