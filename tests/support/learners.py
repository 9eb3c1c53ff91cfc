"""The learners under test behind one face, that of `reference.Reference`.

If a name of hinge.Learner changes, this is the file to adapt.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from reference import Reference

KINDS = ("learner", "reference")
CONTAINERS = ("dense", "csr", "dict")


def make(kind, task, **options):
    """A learner of that kind: the reference, or hinge.Learner fed with dense arrays, CSR rows or dicts."""
    if kind == "reference":
        return Reference(task, **options)
    return HingeLearner(task, container="dense" if kind == "learner" else kind, **options)


class HingeLearner:
    """hinge.Learner, one event at a time, read like the reference."""

    def __init__(self, task, container="dense", **options):
        import hinge

        options.setdefault("fit_intercept", False)
        if task == "classification":
            options["classes"] = [-1, 1]
        if container == "dict" and isinstance(options.get("w1"), np.ndarray):
            options["w1"] = {f"x{j}": weight for j, weight in enumerate(options["w1"].tolist())}
        self.task, self.container = task, container
        self.fit_intercept = options["fit_intercept"]
        self.learner = hinge.Learner(task, **options)
        self.width = None

    def rows(self, X):
        X = np.atleast_2d(np.asarray(X, dtype=float))
        self.width = X.shape[1]
        return scipy.sparse.csr_matrix(X) if self.container == "csr" else X

    @staticmethod
    def named(x):
        return {f"x{j}": float(value) for j, value in enumerate(x) if value != 0}

    def learn(self, x, y=None, weight=1.0):
        X = self.rows(x)
        if self.container == "dict":
            self.learner.learn_one(self.named(x), y, weight=weight)
        else:
            self.learner.learn(X, None if y is None else [y], sample_weight=[weight])

    def learn_all(self, X, y=None, **options):
        """In one call; returns how many examples were presented."""
        return self.learner.learn(self.rows(X), y, **options)

    def in_columns(self, weights):
        """The weights in the order of the columns: a dict's features have columns in the order of arrival."""
        if self.container != "dict":
            return np.array(weights)
        known = dict(zip(self.learner.feature_names, weights, strict=True))
        return np.array([known.get(f"x{j}", 0.0) for j in range(self.width)])

    @property
    def w(self):
        return self.in_columns(self.learner.last_weights)

    @property
    def intercept(self):
        return self.learner.last_intercept

    @property
    def constant(self):
        """The value of the constant feature; before the first example it does not matter."""
        return self.learner.constant or 1.0

    @property
    def average_w(self):
        return self.in_columns(self.learner.weights)

    @property
    def average_intercept(self):
        return self.learner.intercept

    @property
    def radius(self):
        """With average=True that of the average."""
        return self.learner.radius if self.learner.task == "uniclass" else None

    @property
    def statistics(self):
        return self.learner.statistics

    def score(self, x):
        """Uniclass: radius - distance, unlike the reference's."""
        if self.container == "dict":
            return self.learner.score_one(self.named(x))
        return self.learner.scores(self.rows(x))[0]


def play(learner, X, y=None):
    """The whole stream, one round a row."""
    if isinstance(learner, HingeLearner):
        learner.learn_all(X, y)
    else:
        for i, x in enumerate(X):
            learner.learn(x, None if y is None else y[i])


def coordinates(learner, max_radius=None):
    """The point that moves: w, with the intercept or the learned radius's coordinate c = sqrt(B^2 - r^2)."""
    if max_radius is not None:
        height = np.sqrt((max_radius - learner.radius) * (max_radius + learner.radius))
        return np.append(learner.w, height)
    return (
        np.append(learner.w, learner.intercept / learner.constant)
        if learner.fit_intercept
        else np.array(learner.w)
    )
