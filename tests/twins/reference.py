"""The papers in NumPy, slow and obvious: what every learner is compared with, weight by weight.

One algorithm for all tasks (S5): a discrepancy `delta` between the predictor and the example, the
direction `v` in which it falls fastest, q = |v|^2, and an insensitivity `eps`:

    classification   delta = -y w.x       v = y x                  q = |x|^2    eps = -margin
    regression       delta = |y - w.x|    v = sign(y - w.x) x      q = |x|^2    eps = epsilon
    uniclass         delta = |x - w|      v = (x - w)/|x - w|      q = 1        eps = radius

A round suffers l = [delta - eps]_+ and then makes the step w <- w + tau v.
The intercept is one more coordinate, in which every instance has the same value, the constant. A learned radius is one
more coordinate c, in which every instance is 0, with eps = max_radius (S7).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TINY = 2.2250738585072014e-308  # S1: an instance whose squared norm is not above this has no direction


def step_length(step, loss, q, C, weight, mistake):
    """tau of S2. The example's weight scales C, inside the cap."""
    if q <= TINY:
        return 0.0
    if step == "pa":
        return loss / q
    if step == "pa1":
        return min(C * weight, loss / q)
    if step == "pa2":
        return loss / (q + 1 / (2 * C * weight))
    if step == "perceptron":
        return weight if mistake else 0.0
    raise ValueError(f"unknown step {step!r}")


@dataclass
class Statistics:
    """What was suffered, by the predictors as they were before each update."""

    rounds: int = 0
    mistakes: int = 0
    updates: int = 0
    loss: float = 0.0
    squared_loss: float = 0.0
    largest_q: float = 0.0
    progress: float = 0.0  # sum of tau (2 l - tau q): the master inequality without the comparator
    cost: float = 0.0  # of the predictions: mistakes; of numbers, how far off


def constant_near(x):
    """The constant of 'auto': the power of 2 nearest to half the root mean square of the values that are not 0."""
    values = np.asarray(x, dtype=float)
    values = values[values != 0]
    if not len(values):
        return 1.0
    return 2.0 ** np.floor(np.log2(np.sqrt(np.mean(values**2)) / 2) + 0.5)


class Constant:
    """The constant feature of twins with an intercept."""

    auto_constant = staticmethod(constant_near)  # by the first instance

    def settle(self, x):
        its = self.intercept_value
        self.constant = self.auto_constant(x) if its == "auto" else float(its)

    def with_constant(self, x):
        return np.append(x, self.constant)


class Reference(Constant):
    every_q = True  # whether largest_q is of all rounds, or of those with an update only

    def __init__(
        self,
        task,
        *,
        step="pa1",
        C=1.0,
        margin=1.0,
        epsilon=0.1,
        radius=1.0,
        max_radius=None,
        fit_intercept=False,
        intercept_value="auto",
        w1=None,
        average=False,
    ):
        if task not in ("classification", "regression", "uniclass"):
            raise ValueError(f"unknown task {task!r}")
        if step == "perceptron" and task != "classification":
            raise ValueError("the perceptron is for classification")
        if task == "uniclass" and fit_intercept:
            raise ValueError("a ball has no intercept")
        self.task, self.step, self.C = task, step, C
        self.fit_intercept, self.average, self.intercept_value = fit_intercept, average, intercept_value
        if intercept_value != "auto":
            self.constant = float(intercept_value)
        self.fixed_radius = radius
        self.max_radius = max_radius if task == "uniclass" else None
        self.eps = {
            "classification": -margin,
            "regression": epsilon,
            "uniclass": radius if max_radius is None else max_radius,
        }[task]
        if w1 is None:
            w1 = "first" if task == "uniclass" else "zero"
        self.w1 = w1
        self.state = None  # w and, if there is one, the extra coordinate; known with the first instance
        self.statistics = Statistics()
        self.copies = []  # w_1 .. w_T, the vectors that predicted (S15)

    # --- the extra coordinate ---

    @property
    def has_extra(self):
        return self.fit_intercept or self.max_radius is not None

    def extend(self, x):
        x = np.asarray(x, dtype=float)
        if self.fit_intercept:
            return self.with_constant(x)
        if self.max_radius is not None:
            return np.append(x, 0.0)
        return x

    def start(self, x):
        """Fixes w_1. True if x was consumed as the centre, so that it is not a round."""
        self.settle(x)
        if isinstance(self.w1, str):
            w = np.array(x, dtype=float) if self.w1 == "first" else np.zeros(len(x))
        else:
            w = np.array(self.w1, dtype=float)
        if self.fit_intercept:
            w = np.append(w, 0.0)
        if self.max_radius is not None:
            w = np.append(w, self.max_radius)
        self.state = w
        return isinstance(self.w1, str) and self.w1 == "first"

    # --- one round ---

    def discrepancy(self, x, y):
        """delta, v and q of the table above."""
        z, w = self.extend(x), self.state
        if self.task == "classification":
            return -y * (w @ z), y * z, z @ z
        if self.task == "regression":
            return abs(y - w @ z), np.sign(y - w @ z) * z, z @ z
        distance = np.linalg.norm(z - w)
        return distance, (z - w) / distance if distance > 0 else 0 * z, 1.0

    def loss(self, x, y=None):
        return max(0.0, self.discrepancy(x, y)[0] - self.eps)

    def learn(self, x, y=None, weight=1.0):
        """Learns one example; returns tau, the length of the step."""
        if weight == 0:
            return 0.0
        if self.state is None and self.start(x):
            return 0.0
        delta, v, q = self.discrepancy(x, y)
        loss = max(0.0, delta - self.insensitivity(q))
        mistake = delta >= 0 if self.task == "classification" else loss > 0
        tau = self.length(delta, loss, q, weight, mistake)

        s = self.statistics
        s.rounds += 1
        s.mistakes += bool(mistake)
        s.cost += delta if self.task == "regression" else bool(mistake)
        s.updates += bool(tau > 0)
        s.loss += loss
        s.squared_loss += loss**2
        s.largest_q = max(s.largest_q, q if self.every_q or tau > 0 else 0.0)
        s.progress += tau * (2 * loss - tau * q)
        if self.average:
            self.copies.append(self.state.copy())

        if tau > 0:
            self.move(tau, v, weight)
        return tau

    # --- what another geometry does in another way (reference_geometries.py) ---

    def insensitivity(self, q):
        return self.eps

    def length(self, delta, loss, q, weight, mistake):
        return step_length(self.step, loss, q, self.C, weight, mistake)

    def move(self, tau, v, weight):
        self.state = self.state + tau * v

    # --- what was learned ---

    @property
    def w(self):
        return self.state[:-1] if self.has_extra else self.state

    @property
    def intercept(self):
        return self.constant * self.state[-1] if self.fit_intercept else 0.0

    @property
    def radius(self):
        return self.radius_at(self.state)

    def radius_at(self, state):
        if self.max_radius is None:
            return self.fixed_radius
        B, c = self.max_radius, state[-1]
        return np.sqrt((B - c) * (B + c))

    @property
    def average_state(self):
        return np.sum(self.copies, axis=0) / len(self.copies) if self.copies else self.state

    @property
    def average_w(self):
        return self.average_state[:-1] if self.has_extra else self.average_state

    @property
    def average_intercept(self):
        return self.constant * self.average_state[-1] if self.fit_intercept else 0.0

    @property
    def average_radius(self):
        return self.radius_at(self.average_state)

    def score(self, x):
        """w.x + intercept, or for uniclass the distance |x - w|."""
        x = np.asarray(x, dtype=float)
        return np.linalg.norm(x - self.w) if self.task == "uniclass" else self.w @ x + self.intercept


def batch_conversion(X, y, tolerance, max_updates, task="classification", **options):
    """S21: PA cycles through the set, presented only what has a squared loss above the tolerance.

    Stops after one full pass without a presentation; gives up when max_updates were made and more are
    wanted. Returns the learner and whether it finished.
    """
    learner = Reference(task, step="pa", **options)
    learner.start(X[0])
    targets = [None] * len(X) if y is None else y
    quiet = False
    while not quiet:
        quiet = True
        for x, target in zip(X, targets, strict=True):
            if learner.loss(x, target) ** 2 > tolerance:
                if learner.statistics.rounds == max_updates:
                    return learner, False
                learner.learn(x, target)
                quiet = False
    return learner, True
