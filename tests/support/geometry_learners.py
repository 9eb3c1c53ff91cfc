"""The learners of the geometries behind one face: the twin, or hinge.Learner.

If a name of hinge.Learner changes, this is the file to adapt.
"""

from __future__ import annotations

import numpy as np

import hinge
import reference_geometries
from hinge.theory import Trace
from learners import HingeLearner

KINDS = ("learner", "reference")


def make(kind, task, k=None, **options):
    """A twin, or a learner fed with dense arrays ("learner"), CSR rows ("csr") or dicts ("dict")."""
    if kind == "reference":
        if k is not None and "w1" in options:
            options["W1"] = options.pop("w1")
        return reference_geometries.make(task, k=k, **options)
    return Ours(task, "dense" if kind == "learner" else kind, k, **options)


class Ours(HingeLearner):
    """hinge.Learner, one event at a time, read like the twins."""

    def __init__(self, task, container="dense", k=None, **options):
        if task != "ordinal":
            options.setdefault("fit_intercept", False)
        if task in ("uniclass", "ordinal"):
            options.pop("fit_intercept", None)
        if options.get("geometry") == "entropy":
            options.setdefault("scale", 1.0)
        if k is not None:
            options["classes"] = list(range(k))
        elif task == "classification":
            options["classes"] = [-1, 1]
        if task == "multilabel":
            options["threshold"] = 0.0
        self.task, self.container, self.lanes = task, container, k is not None and task != "ordinal"
        self.fit_intercept = options.get("fit_intercept", False)
        self.learner = hinge.Learner(task, **options)
        self.width = None

    def places(self):
        """The columns of the weights: a dict's features have them in the order of arrival."""
        if self.container != "dict":
            return np.arange(self.width)
        return np.array([int(name[1:]) for name in self.learner.feature_names], dtype=int)

    def in_columns(self, weights):
        weights = np.asarray(weights, dtype=float)
        found = np.zeros((*weights.shape[:-1], self.width))
        found[..., self.places()] = weights
        return found

    @property
    def w(self):
        return self.in_columns(self.learner.last_weights)

    W = w

    @property
    def average_w(self):
        return self.in_columns(self.learner.weights)

    average_W = average_w

    @property
    def intercept(self):
        return self.learner.last_intercept

    intercepts = intercept

    @property
    def thresholds(self):
        return self.learner._extras(False)

    @property
    def state(self):
        """All that moves, as the twins have it."""
        if self.task == "ordinal":
            return np.append(self.w, self.thresholds)
        if not self.fit_intercept:
            return self.w
        weight = np.asarray(self.intercept) / (self.learner.constant or 1.0)  # of the constant feature
        return np.column_stack([self.w, weight]) if self.lanes else np.append(self.w, weight)

    @property
    def statistics(self):
        return self.learner.statistics

    @property
    def covariance(self):
        """In the order of the columns; what was not seen yet is as it began."""
        found = np.asarray(self.learner.covariance)
        a = self.learner.parameters["initial_variance"]
        places = self.places()
        if found.ndim == 1:
            whole = np.full(self.width, a)
            whole[places] = found
            return whole
        whole = a * np.eye(self.width)
        whole[np.ix_(places, places)] = found
        return whole

    def uncertainty(self, x):
        if self.container == "dict":
            return self.learner.uncertainty_one(self.named(x))
        return self.learner.uncertainty(self.rows(x))[0]


def trace(kind, task, X, y, k=None, **options):
    """The run of a second-order learner, followed; its statistics are in it."""
    learner = make(kind, task, k, **options)
    lanes = k is not None and task != "ordinal"
    found = Trace(task, options, lanes=lanes)
    for x, target in zip(X, y, strict=True):
        s = learner.statistics
        before = s.updates, s.mistakes
        learner.learn(x, target)
        s = learner.statistics
        w = learner.w if task == "ordinal" else learner.state
        if options.get("fit_intercept"):
            found.constant = learner.constant
        found.add(x, target, w, updated=s.updates > before[0], mistake=s.mistakes > before[1])
    found.statistics = learner.statistics
    return found
