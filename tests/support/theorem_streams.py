"""Random streams for the theorems of S3 to S7 and S21, with a comparator for each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hinge.theory import comparator
from learners import make

LINEAR = ("classification", "regression")
ALL = (*LINEAR, "uniclass")
EXAMPLES = {"learner": 60, "reference": 20}


def check(kind, strategy, test):
    """test(example) for many examples: fewer with the slow learner."""
    quiet = [HealthCheck.filter_too_much, HealthCheck.too_slow]
    given(strategy)(settings(max_examples=EXAMPLES[kind], deadline=None, suppress_health_check=quiet)(test))()


# --- streams -------------------------------------------------------------------------------------------


@dataclass
class Stream:
    """Examples, the learner's options, and a comparator with its own intercept or radius."""

    task: str
    X: np.ndarray
    y: np.ndarray | None
    u: np.ndarray
    options: dict = field(default_factory=dict)
    intercept: float | None = None
    ball: float | None = None  # the comparator's radius, if the learner learns its own

    def learner(self, kind, step, C=1.0):
        return make(kind, self.task, step=step, C=C, fit_intercept=self.intercept is not None, **self.options)

    def comparator(self, u=None, intercept=None):
        options = dict(self.options)
        if self.ball is not None:
            options["radius"] = self.ball
        if u is None:
            u, intercept = self.u, self.intercept
        return comparator(self.task, self.X, self.y, u, intercept=intercept, **options)

    @property
    def constant(self):
        """The value of the constant feature: 0 without an intercept."""
        return self.options.get("intercept_value", 0.0)

    def start(self):
        """w_1, with the extra coordinate."""
        w1 = self.options.get("w1")
        w = self.X[0] if self.task == "uniclass" and w1 is None else np.zeros(len(self.u))
        w = np.array(w1) if isinstance(w1, np.ndarray) else w
        if self.options.get("max_radius") is not None:
            return np.append(w, self.options["max_radius"])
        return w if self.intercept is None else np.append(w, 0.0)


# Eighths: zeros, ties and repetitions are common, and no square underflows.
def eighths(largest):
    return st.integers(-8 * largest, 8 * largest).map(lambda i: i / 8)


@st.composite
def streams(draw, task, needs="any", start_at_zero=False):
    """needs: "any" stream, a "realizable" one (u has no loss), or one of "nonzero" or "unit" instances."""
    n, rounds = draw(st.integers(1, 3)), draw(st.integers(2, 12))
    X = draw(arrays(float, (rounds, n), elements=eighths(4)))
    u = draw(arrays(float, n, elements=eighths(3)))
    options = {}
    if not start_at_zero and draw(st.booleans()):
        options["w1"] = draw(arrays(float, n, elements=eighths(2)))
    if task == "uniclass":
        return _balls(draw, X, u, options, needs)

    intercept = draw(st.none() | eighths(2)) if needs != "unit" else None
    if intercept is not None:
        options["intercept_value"] = draw(st.sampled_from([1.0, 0.25, 2.0]))
    if needs in ("nonzero", "unit"):
        X = X[X.any(axis=1)]
        assume(len(X) > 0)
    if needs == "unit":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    scores = X @ u + (intercept or 0.0)
    if task == "classification":
        margin = options["margin"] = draw(st.sampled_from([1.0, 0.5, 2.0]))
        if needs == "realizable":
            X, scores = X[scores != 0], scores[scores != 0]
            assume(len(X) > 0)
            scale = draw(st.sampled_from([1.0, 1.5, 3.0])) * margin / np.abs(scores).min() * (1 + 1e-12)
            u, intercept = u * scale, None if intercept is None else intercept * scale
            y = np.sign(scores)
        else:
            y = draw(arrays(float, len(X), elements=st.sampled_from([-1.0, 1.0])))
    else:
        epsilon = options["epsilon"] = draw(st.sampled_from([0.0, 0.25, 1.0]))
        if needs == "realizable":
            within = draw(st.sampled_from([0.5, 1.0])) * epsilon * (1 - 1e-12)
            noise = draw(arrays(float, len(X), elements=st.sampled_from([-1.0, -0.5, 0.25, 1.0])))
            y = scores + within * noise
        else:
            y = draw(arrays(float, len(X), elements=eighths(4)))
    return Stream(task, X, y, u, options, intercept)


def _balls(draw, X, u, options, needs):
    """Uniclass: w_1 is zero, given or the first instance; the radius is fixed or learned."""
    if "w1" not in options and draw(st.booleans()):
        options["w1"] = "zero"
    radius = draw(st.sampled_from([0.5, 1.0, 2.0]))
    ball = None
    if draw(st.booleans()):
        options["max_radius"] = draw(st.sampled_from([1.0, 1.5, 4.0])) * radius
        ball = radius
    else:
        options["radius"] = radius
    if needs == "realizable":  # into the ball around u
        distances = np.linalg.norm(X - u, axis=1, keepdims=True)
        shrunk = u + (X - u) * (radius * (1 - 1e-12) / np.maximum(distances, radius))
        X = shrunk if draw(st.booleans()) else u + (shrunk - u) * 0.75
    return Stream("uniclass", X, None, u, options, None, ball)
