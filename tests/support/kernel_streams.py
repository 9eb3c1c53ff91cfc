"""Streams and options for the tests of kernels, and hinge.Learner read like `reference_kernels.KernelReference`."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse

from hinge.tasks import TASKS
from reference_kernels import KernelReference
from reference_labels import STEPS_OF

WIDTH, K = 5, 4
CONTAINERS = ("dense", "csr", "dict")
COUNTS = ("rounds", "mistakes", "updates", "insertions", "removals")
FIELDS = ("loss", "squared_loss", "largest_q", "progress", "cost")
LABEL_PAIRS = [
    (selection, step)
    for selection, steps in STEPS_OF.items()
    for step in steps
    if (selection, step) != ("prediction", "perceptron")
]
RANK_PAIRS = [
    (selection, step)
    for selection, step in LABEL_PAIRS
    if selection in ("max", "simperc", "simproj", "conproj") and step in TASKS["ordinal"].steps
]
COST = np.array([[0.0, 1.0, 4.0, 0.25], [2.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 9.0], [0.5, 1.0, 2.0, 0.0]])
NU = np.array([[1.0, 2.0, 0.0, 0.5], [3.0, 1.0, 1.0, 0.0], [1.0, 0.25, 1.0, 1.0], [2.0, 2.0, 2.0, 1.0]])
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    "cubic": {"kernel": "poly", "degree": 3, "gamma": 0.3, "coef0": 0.0},
    "rbf": {"kernel": "rbf", "gamma": 0.4},
}
BUDGETS = [
    {"budget": 1},
    *(
        {"budget": budget, "removal": removal}
        for budget, removal in itertools.product((2, 7, "adaptive"), ("largest", "oldest"))
    ),
]


def close(ours, theirs, what):
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9, err_msg=what)


def events(task, rng, count, weighted, k=None):
    """Rows of mixed sizes, some sparse, one of zeros, and weights. No direction comes twice: after a step of PA it
    would be just on the boundary, where rounding decides. `k` labels or ranks, or None: the labels -1 and +1."""
    for t in range(count):
        x = np.where(rng.random(WIDTH) < 0.7, rng.normal(size=WIDTH) * rng.choice([0.3, 1.0, 2.0]), 0.0)
        if t == 4:
            x = np.zeros(WIDTH)
        weight = float(rng.choice([0.0, 0.3, 1.0, 2.5])) if weighted else 1.0
        yield x, truth(task, rng, x, k), weight


def truth(task, rng, x, k):
    """Mostly a function of x, so that there is something to learn and something to forget."""
    noise = rng.random() < 0.25
    if task == "regression":
        return float(np.sin(x[0]) + x[1] * x[2] + 0.3 * rng.normal())
    if task == "uniclass":
        return None
    if task == "multilabel":  # some are empty, some are full
        chances = rng.choice([0.0, 0.3, 0.6, 1.0], p=[0.1, 0.4, 0.4, 0.1])
        return frozenset(np.flatnonzero(rng.random(k) < chances).tolist())
    if task == "ordinal":
        return int(rng.integers(k)) if noise else int(np.clip(np.floor(x[0] + x[1] ** 2 + 1), 0, k - 1))
    if k is None:
        return int(rng.choice([-1, 1])) if noise else (1 if x[0] * x[1] + x[2] > 0 else -1)
    return int(rng.integers(k)) if noise else int(np.argmax([x[0], x[1], x[2] * x[3], x[4]][:k]))


def make(kind, task, **options):
    """The reference, or hinge.Learner fed with dense arrays, CSR rows or dicts."""
    if kind == "reference":
        return KernelReference(task, **options)
    return Ours(task, "dense" if kind == "learner" else kind, **options)


class Ours:
    """hinge.Learner, one example at a time, with the face of the reference."""

    def __init__(self, task, container="dense", k=None, **options):
        import hinge

        options.setdefault("fit_intercept", False)
        if task == "classification" and k is None:
            options["classes"] = [-1, 1]
        elif k is not None:
            options["classes"] = list(range(k))
        if task == "multilabel":
            options.setdefault("threshold", 0.0)
        self.task, self.k, self.container = task, k, container
        self.learner = hinge.Learner(task, **options)

    @staticmethod
    def named(x):
        return {f"x{j}": float(value) for j, value in enumerate(x) if value != 0}

    def rows(self, X):
        X = np.atleast_2d(np.asarray(X, dtype=float))
        return scipy.sparse.csr_matrix(X) if self.container == "csr" else X

    def learn(self, x, y=None, weight=1.0):
        if self.container == "dict":
            self.learner.learn_one(self.named(x), y, weight=weight)
        else:
            self.learner.learn(self.rows(x), None if y is None else [y], sample_weight=[weight])

    def scores(self, x):
        """Those of the average, if there is one."""
        if self.container != "dict":
            return self.learner.scores(self.rows(x))[0]
        score = self.learner.score_one(self.named(x))
        return np.array(list(score.values())) if isinstance(score, dict) else score

    def threshold_score(self, x):
        """Of a learned threshold: lane 0."""
        return self.learner.lanes(self.rows(x))[0, 0]

    @property
    def support(self):
        return np.asarray(self.learner.support).tolist()

    def dual_coef(self):
        return np.asarray(self.learner.dual_coef)

    def support_vectors(self):
        """Dense, in the order of the columns."""
        vectors = self.learner.support_vectors
        vectors = vectors.toarray() if scipy.sparse.issparse(vectors) else np.asarray(vectors)
        if self.container != "dict":
            return vectors
        found = np.zeros((len(vectors), WIDTH))
        names = [int(name[1:]) for name in self.learner.feature_names]
        found[:, names] = vectors[:, : len(names)]
        return found

    @property
    def statistics(self):
        return self.learner.statistics

    @property
    def thresholds(self):
        return self.learner.thresholds

    def radius(self):
        return self.learner.radius if self.learner.task == "uniclass" else None
