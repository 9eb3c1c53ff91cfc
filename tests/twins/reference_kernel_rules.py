"""What a round asks for, given the scores, q = K'(x, x), the truth and the weight: the rules of `reference_kernels`.

The formulas are those of reference.py and reference_labels.py, called with scores; new is only the margin beta of the
perceptrons (S4): they move iff their margin is not above it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import reference_labels
from reference import TINY, step_length
from reference_labels import mask, pairs


@dataclass
class Round:
    """What a round came to. The amounts are those of the lanes."""

    loss: float
    mistake: bool
    cost: float
    q: float
    length: float = 0.0
    progress: float = 0.0
    amounts: np.ndarray = field(default_factory=lambda: np.zeros(1))
    decay: float = 1.0
    moves_threshold: bool = False  # a learned threshold moves

    @property
    def moves(self):
        return self.length > 0 or self.moves_threshold


@dataclass
class Rule:
    k: int | None
    step: str
    C: float
    margin: float
    selection: str
    beta: float
    cost: object
    nu: object
    epsilon: float
    radius: float

    def length(self, loss, q, weight, moves=True):
        return step_length(self.step, loss, q, self.C, weight, moves)


class Binary(Rule):
    def __call__(self, scores, q, y, weight):
        margin = y * scores[0]
        loss = max(0.0, self.margin - margin)
        tau = self.length(loss, q, weight, margin <= self.beta)
        mistake = margin <= 0
        return Round(loss, mistake, float(mistake), q, tau, tau * (2 * loss - tau * q), np.array([tau * y]))


class Regression(Rule):
    def __call__(self, scores, q, y, weight):
        residual = y - scores[0]
        loss = max(0.0, abs(residual) - self.epsilon)
        tau = self.length(loss, q, weight)
        amounts = np.array([tau * np.sign(residual)])
        return Round(loss, loss > 0, abs(residual), q, tau, tau * (2 * loss - tau * q), amounts)


class Ball(Rule):
    """w <- (1 - lam) w + lam x; the direction (x - w)/|x - w| has the size 1, whatever x is."""

    def __call__(self, scores, q, y, weight):
        distance = scores[0]
        loss = max(0.0, distance - self.radius)
        tau = self.length(loss, 1.0, weight)
        lam = min(1.0, tau / distance) if tau > 0 else 0.0
        progress = tau * (2 * loss - tau)
        return Round(loss, loss > 0, float(loss > 0), 1.0, tau, progress, np.array([lam]), 1 - lam)


class GivenScores(reference_labels.Labels):
    """The decisions of the other twin, whose instance is here the pair of scores and q."""

    def scores(self, instance):
        return instance[0]

    def norms(self, instance):
        return 2 * instance[1] * (1 - np.eye(self.k))


class Labels(Rule):
    def __call__(self, scores, q, y, weight):
        decision = self.decide(scores, q, mask(y, self.k), weight)
        amounts = np.zeros(self.k) if decision.amounts is None else decision.amounts
        progress = 2 * decision.gain - q * np.sum(amounts**2)
        return Round(decision.loss, decision.mistake, decision.cost, 2 * q, decision.total, progress, amounts)

    def decide(self, scores, q, relevant, weight):
        if self.step == "perceptron":
            return self.decide_perceptron(scores, q, relevant, weight)
        options = {
            "step": self.step,
            "C": self.C,
            "selection": self.selection,
            "nu": self.nu,
            "beta": self.beta,
        }
        if self.cost is None:
            rule = GivenScores(self.k, margin=self.margin, **options)
            return rule.decide((scores, q), relevant, weight)
        # The margin against r is margin sqrt(rho): that of the costs margin^2 rho.
        rule = GivenScores(self.k, cost=self.margin**2 * np.asarray(self.cost, dtype=float), **options)
        decision = rule.decide((scores, q), relevant, weight)
        decision.cost = self.cost[np.flatnonzero(relevant)[0]][int(np.argmax(scores))]
        return decision

    def decide_perceptron(self, scores, q, relevant, weight):
        """S12.1 with the margin beta: 'max' moves the worst pair, 'uniform' all pairs, each by its share."""
        rows = pairs(relevant)
        if not rows:
            return reference_labels.Decision(0.0, False, 0.0)
        margins = np.array([scores[r] - scores[s] for r, s in rows])
        losses = np.maximum(0, self.margin - margins)
        active = margins <= self.beta
        if self.selection == "max":
            active &= np.arange(len(rows)) == np.argmin(margins)
        amounts, total, gain = np.zeros(self.k), 0.0, 0.0
        for (r, s), loss in zip(np.array(rows)[active], losses[active], strict=True):
            share = weight / active.sum() if 2 * q > TINY else 0.0
            amounts[r] += share
            amounts[s] -= share
            total += share
            gain += share * loss
        mistake = margins.min() <= 0
        return reference_labels.Decision(losses.max(), mistake, float(mistake), gain, total, amounts)


class LearnedThreshold(Labels):
    """Lane 0 is the threshold: a regression towards the middle of the scores that it separates."""

    def __call__(self, scores, q, y, weight):
        its, labels = scores[0], scores[1:]
        result = super().__call__(labels, q, y, weight)
        middle, slack = self.between(labels, mask(y, self.k))
        loss = max(0.0, abs(middle - its) - slack)
        step = "pa1" if self.step == "perceptron" else self.step
        tau = step_length(step, loss, q, self.C, weight, True)
        result.amounts = np.append(tau * np.sign(middle - its), result.amounts)
        result.moves_threshold = tau > 0
        return result

    def between(self, scores, relevant):
        """Where the threshold should be, and how far off it may be."""
        if not relevant.any():
            return scores.max() + self.margin / 2, 0.0
        if relevant.all():
            return scores.min() - self.margin / 2, 0.0
        low, high = scores[relevant].min(), scores[~relevant].max()
        return (low + high) / 2, max(0.0, (low - high - self.margin) / 2)


class GivenRanks(reference_labels.Ordinal):
    """The instance is the number q, the scores are those of w = 0 with the thresholds -scores."""

    def largest_q(self, instance, y):
        return instance[1] + 1


class Ranks(Rule):
    def __call__(self, scores, q, y, weight):
        rule = GivenRanks(
            self.k, step=self.step, C=self.C, margin=self.margin, selection=self.selection, nu=self.nu
        )
        rule.state = np.concatenate([np.zeros(2), -scores])
        decision = rule.decide(np.array([0.0, q]), y, weight)
        amounts = decision.amounts
        progress = 2 * decision.gain - (amounts.sum() ** 2 * q + np.sum(amounts**2))
        return Round(decision.loss, decision.mistake, decision.cost, q + 1, decision.total, progress, amounts)


RULES = {
    "classification": Binary,
    "regression": Regression,
    "uniclass": Ball,
    "labels": Labels,
    "learned threshold": LearnedThreshold,
    "ordinal": Ranks,
}
