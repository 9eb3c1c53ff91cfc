"""Streams for learners of labels and ranks: a runner, a comparator, the constraints written down literally.

To test other learners with them, add a function to RUNNERS.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import reference_labels
from hinge.theory import label_comparator, ordinal_comparator, prototype_comparator
from reference_labels import label_rows, ordinal_rows, prototype_rows


@dataclass
class Outcome:
    """A learner after a stream: what it suffered, its flattened weights, and the sum of its step lengths."""

    statistics: Any
    weights: np.ndarray
    total: float | None


def run_reference(family, k, options, instances, targets):
    learner = reference_labels.make(family, k, **options)
    for x, y in zip(instances, targets, strict=True):
        learner.learn(x, y)
    return Outcome(learner.statistics, learner.state.ravel(), learner.statistics.total)


RUNNERS = {"reference": run_reference}


# --- streams -----------------------------------------------------------------------------------------------


@dataclass
class Stream:
    """Instances and targets, the learner's options, and a comparator in the flattened coordinates of the learner."""

    family: str
    k: int
    X: np.ndarray
    y: list
    u: np.ndarray
    options: dict = field(default_factory=dict)
    w1: np.ndarray | None = None

    @property
    def margin(self):
        return (
            self.options["beta"] if self.options["selection"] == "mira" else self.options.get("margin", 1.0)
        )

    @property
    def sorts(self):
        return self.family == "ordinal" and self.options["selection"] != "simproj"

    def run(self, kind, step, C):
        options = {**self.options, "step": step, "C": C}
        if self.w1 is not None:
            name, shape = ("W1", (self.k, -1)) if self.family == "labels" else ("w1", -1)
            options[name] = self.w1.reshape(shape)
        return RUNNERS[kind](self.family, self.k, options, self.X, self.y)

    def start(self):
        """w_1, with the coordinates of the intercepts."""
        if self.w1 is None:
            return np.zeros(len(self.u))
        if self.options.get("fit_intercept"):
            return np.column_stack([self.w1.reshape(self.k, -1), np.zeros(self.k)]).ravel()
        return self.w1

    def comparator(self, u):
        options = dict(self.options)
        if self.family == "ordinal":
            n = len(u) - self.k + 1
            return ordinal_comparator(self.X, self.y, u[:n], u[n:], **options)
        if self.family == "prototype":
            return prototype_comparator(self.X, self.y, u, w1=self.w1, **options)
        u, w1 = u.reshape(self.k, -1), None if self.w1 is None else self.w1.reshape(self.k, -1)
        if options.pop("fit_intercept", False):
            return label_comparator(self.X, self.y, u[:, :-1], intercepts=u[:, -1], w1=w1, **options)
        return label_comparator(self.X, self.y, u, w1=w1, **options)

    def constraints(self):
        """For each round: its rows, what is asked of them, and their weights nu."""
        for x, y in zip(self.X, self.y, strict=True):
            if self.family == "ordinal":
                rows, nu = ordinal_rows(x, y, self.k), self.options.get("nu")
            else:
                relevant = reference_labels.mask(y, self.k)
                fit_intercept = self.options.get("fit_intercept", False)
                rows = (
                    prototype_rows(x, y)
                    if self.family == "prototype"
                    else label_rows(x, y, self.k, fit_intercept)
                )
                nu = self.options.get("nu")
                nu = nu if nu is None else nu[np.ix_(relevant, ~relevant)].ravel()
            asked = np.full(len(rows), self.margin)
            if "cost" in self.options:
                asked = np.sqrt(np.delete(self.options["cost"][y], y))
            yield rows, asked, np.ones(len(rows)) if nu is None else nu

    def optimised(self, C, steps=15):
        """A comparator that is hard to compete with: a few steps down 1/2|u|^2 + C sum l*_t."""
        u, C = self.u.copy(), min(C, 10.0)
        rounds = [c for c in self.constraints() if len(c[0])]
        for i in range(steps):
            gradient = u.copy()
            for rows, asked, _ in rounds:
                losses = asked - rows @ u
                if losses.max() > 0:
                    gradient -= C * rows[np.argmax(losses)]
            u = u - gradient / (i + 2)
        if self.sorts:
            u[1 - self.k :] = np.sort(u[1 - self.k :])
        return u


def find(found, theorem, quantity):
    [guarantee] = [g for g in found if g.theorem == theorem and g.quantity == quantity]
    return guarantee


# --- random streams ------------------------------------------------------------------------------------------


def eighths(rng, largest, shape):
    """Zeros, ties and repetitions are common, and no square underflows."""
    return (
        rng.integers(-8 * largest, 8 * largest + 1, size=shape)
        / 8
        * (rng.random(shape) < rng.choice([0.5, 1.0]))
    )


def random_stream(seed, family, selection, step, needs, costs=False):
    """needs: "any" stream, or a "realizable" one (u has no loss). It may have no rounds."""
    rng = np.random.default_rng(seed)
    k, n, rounds = rng.integers(2, 5), rng.integers(1, 4), rng.integers(1, 16)
    X = eighths(rng, 3, (rounds, n, k) if family == "prototype" else (rounds, n)) * rng.choice([1.0, 0.1])
    options = {"selection": selection}
    if selection == "mira":
        options["beta"] = rng.choice([0.01, 0.5, 1.0])
    elif not costs:
        options["margin"] = rng.choice([0.5, 1.0, 2.0])
    if costs:
        options["cost"] = rng.choice([0.0, 0.25, 1.0, 2.0], size=(k, k)) * (1 - np.eye(k))
    if family == "labels" and rng.integers(4 if costs else 2) == 0:
        options |= {"fit_intercept": True, "intercept_value": 1.0}
    if step == "pa1" and selection in ("simperc", "conproj", "simproj") and rng.integers(2):
        choices = [0.5, 1.0, 2.0] if selection == "simperc" else [0.5, 1.0, 2.0, 0.0]
        options["nu"] = rng.choice(choices, size=k - 1 if family == "ordinal" else (k, k))
    if family == "ordinal":
        u = eighths(rng, 2, n + k - 1)
        u[n:] = np.sort(u[n:])
        return ordinal_stream(rng, k, X, u, options, needs)
    u = eighths(rng, 2, n if family == "prototype" else k * (n + ("fit_intercept" in options)))
    w1 = eighths(rng, 1, n if family == "prototype" else k * n) if rng.integers(4) == 0 else None
    return ranking_stream(
        rng, Stream(family, k, X, [], u, options, w1), needs, sets=not costs and rng.integers(2)
    )


def ranking_stream(rng, stream, needs, sets):
    """Labels, or sets of them; a realizable stream has the highest labels of u, if they stand out, and scales u."""
    k, keep = stream.k, []
    if needs == "any":
        labels = rng.integers(k, size=len(stream.X)).tolist()
        stream.y = [np.flatnonzero(rng.integers(2, size=k)).tolist() if sets else y for y in labels]
        return stream
    for t, x in enumerate(stream.X):
        if stream.family == "prototype":
            scores = stream.u @ x
        else:
            z = np.append(x, 1.0) if "fit_intercept" in stream.options else x
            scores = stream.u.reshape(k, -1) @ z
        order = np.argsort(-scores)
        size = int(rng.integers(1, k)) if sets else 1
        if scores[order[size - 1]] > scores[order[size]] + 1e-3:
            keep.append(t)
            stream.y.append(order[:size].tolist() if sets else int(order[0]))
    stream.X = stream.X[keep]
    scale = max(((asked / (rows @ stream.u)).max() for rows, asked, _ in stream.constraints()), default=1.0)
    stream.u = stream.u * max(scale, 0.1) * rng.choice([1.0, 1.5]) * (1 + 1e-9)
    return stream


def ordinal_stream(rng, k, X, u, options, needs):
    if needs == "any":
        return Stream("ordinal", k, X, rng.integers(k, size=len(X)).tolist(), u, options)
    distances = np.abs((X @ u[: X.shape[1]])[:, None] - u[X.shape[1] :]).min(axis=1)
    X, distances = X[distances > 1e-3], distances[distances > 1e-3]
    y = ((X @ u[: X.shape[1]])[:, None] >= u[X.shape[1] :]).sum(axis=1).tolist()
    scale = options["margin"] / distances.min(initial=1.0)
    return Stream("ordinal", k, X, y, u * scale * rng.choice([1.0, 1.5]) * (1 + 1e-9), options)
