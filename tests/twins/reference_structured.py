"""PAStructured as its papers have it, in NumPy: S10 and S11, with all outputs looked at."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from reference import TINY, Statistics, step_length
from reference_geometries import Covariance
from structured_problems import COST


@dataclass
class Twin:
    """S is kept by its inverse."""

    n: int
    step: str
    selection: str
    C: float = 1.0
    margin: float = 1.0
    geometry: str = "euclidean"
    covariance_regularizer: float = 1.0
    initial_variance: float = 1.0
    covariance_update: str = "drop"
    copies: list = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)
    cost: float = 0.0

    def __post_init__(self):
        self.w = np.zeros(self.n)
        self.S = Covariance(self.n, self.geometry, self.covariance_update, self.initial_variance)

    def learn(self, Phi, y, weight):
        if weight == 0:
            return
        scores, cost = Phi @ self.w, COST[y, : len(Phi)]
        wanted = self.margin * (cost if self.selection == "max-additive" else np.sqrt(cost))
        predicted = np.argmax(scores)
        competitor = predicted if self.selection == "prediction" else np.argmax(scores + wanted)
        a = Phi[y] - Phi[competitor]
        loss = max(0.0, wanted[competitor] - self.w @ a)
        q = self.S.of(a)
        tau = step_length(self.step, loss, q, self.C, weight, loss > 0)
        if self.step == "perceptron" and self.geometry != "euclidean":
            tau = loss / (q + self.covariance_regularizer / weight) if q > TINY else 0.0
        s = self.statistics
        s.rounds += 1
        s.mistakes += cost[predicted] > 0
        s.updates += bool(tau > 0)
        s.loss += loss
        s.squared_loss += loss**2
        s.largest_q = max(s.largest_q, q if tau > 0 or self.geometry == "euclidean" else 0.0)
        s.progress += tau * (2 * loss - tau * q)
        self.cost += cost[predicted]
        self.copies.append(self.w)
        if tau > 0:
            self.w = self.w + tau * self.S.matrix @ a
            if self.geometry != "euclidean":
                self.S.add(a, weight / self.covariance_regularizer)

    @property
    def average(self):
        return np.mean(self.copies, axis=0) if self.copies else self.w
