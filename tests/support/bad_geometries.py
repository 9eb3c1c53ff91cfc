"""Learners in every geometry, to be given bad input."""

from __future__ import annotations

import numpy as np

import hinge
from bad_models import COUNT, WIDTH, fit

CLASSES = {"classification": [0, 1], "multiclass": [0, 1, 2], "multilabel": [0, 1, 2], "ordinal": [0, 1, 2]}


SHAPES = {
    "full": {"geometry": "mahalanobis"},
    "diagonal": {"geometry": "diagonal"},
    "drop": {"geometry": "diagonal", "covariance_update": "drop"},
    "simplex": {"geometry": "entropy", "scale": 5.0},
    "plain simplex": {"geometry": "entropy", "scale": 5.0, "signed": False},
}


def new(task, shape, options):
    more = {"classes": CLASSES[task]} if task in CLASSES else {}
    if task == "uniclass":
        more["radius"] = 0.3
    return hinge.Learner(
        "classification" if task == "multiclass" else task, **{**SHAPES[shape], **more, **options}
    )


def stream(task, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((COUNT, WIDTH)) < 0.7, rng.normal(size=(COUNT, WIDTH)), 0.0)
    labels = rng.integers(0, 2 if task == "classification" else 3, COUNT)
    y = {"regression": 3 * rng.normal(size=COUNT), "uniclass": None}.get(task, labels)
    return X, [{label} for label in labels.tolist()] if task == "multilabel" else y


def trained(task, shape, options):
    model = new(task, shape, options)
    X, y = stream(task, 1)
    model.learn(fit(model, X), y)
    return model


def has_covariance(model):
    return model.parameters["geometry"] in ("mahalanobis", "diagonal")


def is_well(model):
    """All numbers are numbers, the covariance is one, the weights are on their simplex; and it can be saved."""
    assert np.isfinite(model.weights).all()
    assert np.isfinite(model.last_weights).all()
    if has_covariance(model):
        S = model.covariance
        variances = S if S.ndim == 1 else np.diag(S)
        assert np.isfinite(S).all()
        assert (variances > 0).all()
        assert (variances <= model.parameters["initial_variance"] * (1 + 1e-9)).all()
    else:
        total = np.abs(model.last_weights).sum() + np.abs(model.last_intercept).sum()
        assert total <= model.parameters["scale"] * (1 + 1e-6)
    assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
