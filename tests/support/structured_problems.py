"""A problem with structured outputs: x has the features of each of its outputs, 0, 1, 2, ..."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from hinge import PAStructured
from hinge.model import file

KINDS = ("dict", "array", "sparse")
COST = np.array(
    [[0, 1, 4, 0.25], [2, 0, 1, 1], [1, 0, 0, 9], [0.5, 1, 2, 0]], dtype=float
)  # 1 is as good as 2


def named(value):
    """A case by its options, without the addresses of functions, which differ between the workers."""
    if isinstance(value, dict):
        return ",".join(f"{k}={'function' if callable(v) else v}" for k, v in value.items())
    return str(value)


class Outputs:
    """The functions of the problem; instances can be pickled."""

    def __init__(self, kind="dict", selection="prediction", margin=1.0, cost=COST):
        self.kind, self.selection, self.margin, self.costs = kind, selection, margin, cost

    def joint_features(self, x, y):
        if self.kind == "array":
            return x[y]
        if self.kind == "sparse":
            return scipy.sparse.csr_array(x[[y]])
        return {f"f{j}": value for j, value in enumerate(x[y].tolist())}

    def scores(self, w, x):
        if self.kind != "dict":
            return x @ w
        return np.array([w.dot(self.joint_features(x, y)) for y in range(len(x))])

    def argmax(self, w, x):
        return int(np.argmax(self.scores(w, x)))

    def cost(self, y, predicted):
        return self.costs[y, predicted]

    def loss_augmented_argmax(self, w, x, y):
        cost = self.costs[y, : len(x)]
        wanted = cost if self.selection == "max-additive" else np.sqrt(cost)
        return int(np.argmax(self.scores(w, x) + self.margin * wanted))

    def model(self, **options):
        if self.selection != "prediction":
            options = {"loss_augmented_argmax": self.loss_augmented_argmax, **options}
        return PAStructured(
            self.joint_features,
            self.argmax,
            self.cost,
            selection=self.selection,
            margin=self.margin,
            **options,
        )


def stream(count, seed=0, n=5, k=4):
    """Outputs that a hidden w has chosen, some of them wrong."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n)
    X = rng.integers(-8, 9, size=(count, k, n)) / 4 * (rng.random((count, k, n)) < 0.7)
    y = (X @ u).argmax(axis=1)
    y[rng.random(count) < 0.1] = 0
    return list(X), y.tolist(), rng.choice([0.0, 0.5, 1.0, 2.0], size=count)


def parts(model):
    return file.to_bytes(*model.to_parts())


def play(model, X, y, weights=None):
    for i, (x, output) in enumerate(zip(X, y, strict=True)):
        model.learn_one(x, output, 1.0 if weights is None else weights[i])
    return model


class Broken(Exception):
    """Raised by a custom function."""
