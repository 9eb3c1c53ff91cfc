"""Committees in NumPy, slow and obvious: every expert by itself, and the vote as in its definition.

An expert is a word [scaled:]KIND[:j|=value][:average] (cpp/committee/experts.hpp): PA, PA-I, PA-II, or AROW with a
diagonal covariance. It has one row of weights per lane and one shared row for ranks; the last column is the constant of
the intercept. The vote is AdaHedge with a prior and a share, in logarithms.
"""

from __future__ import annotations

import math

import numpy as np

from reference import TINY, constant_near


def power_of_2_near(x):
    return 2.0 ** np.floor(np.log2(x) + 0.5)


class Scales:
    """B1.14: values are divided by the root mean square of the values other than 0 that their column has had."""

    def __init__(self, n):
        self.counts, self.squares = np.zeros(n), np.zeros(n)

    def of(self, x):
        mean = np.divide(self.squares, self.counts, out=np.ones_like(self.squares), where=self.counts > 0)
        return x / np.sqrt(mean)

    def meet(self, x):
        self.counts += x != 0
        self.squares += x * x
        return self.of(x)


class Input:
    """What the experts of one input take from the first instances."""

    def __init__(self, fit_intercept, constant):
        self.fit_intercept, self.constant = fit_intercept, constant or 0.0
        self.C = self.size = 0.0  # 0: not known yet

    def extended(self, x):
        return np.append(x, self.constant if self.fit_intercept else 0.0)

    def meet(self, x, its_constraints):
        if self.C > 0 or not x @ x > 0:
            return
        if self.fit_intercept and self.constant == 0:
            self.constant = constant_near(x)
        for _, loss, size in its_constraints(self.extended(x) @ self.extended(x)):
            if loss > 0:
                self.C, self.size = power_of_2_near(loss / size), power_of_2_near(size)
                return


class Expert:
    def __init__(self, word, lanes, columns, ranks, keeps_sorted):
        parts = word.replace("=", ":=").split(":")
        self.scaled, self.average = parts[0] == "scaled", parts[-1] == "average"
        self.kind, *value = parts[self.scaled : len(parts) - self.average]
        self.value = value[0] if value else None
        self.ranks, self.keeps_sorted = ranks, keeps_sorted
        self.W = np.zeros((1 if ranks else lanes, columns + 1))
        self.b = np.zeros(lanes if ranks else 0)
        self.S = np.ones(columns + 1)
        self.sum_W, self.sum_b, self.rounds = self.W.copy(), self.b.copy(), 0

    def parameter(self, start):
        """C or r; None: not known yet."""
        if self.kind == "pa":
            return math.inf if start.C > 0 else None
        if self.value.startswith("="):
            return float(self.value[1:])
        if not start.C > 0:
            return None
        j = int(self.value)
        if self.kind == "pa2":
            return 4.0**j / start.size
        return start.size * 16.0**j if self.kind == "arow" else start.C * 4.0**j

    def scores(self, z, W=None, b=None):
        W, b = (self.W, self.b) if W is None else (W, b)
        return W[0] @ z - b if self.ranks else W @ z

    def vote_scores(self, z):
        if not self.average or self.rounds == 0:
            return self.scores(z)
        return self.scores(z, self.sum_W / self.rounds, self.sum_b / self.rounds)

    def length(self, loss, size, parameter, weight):
        if not loss > 0 or size <= TINY:
            return 0.0
        if self.kind == "pa":
            return loss / size
        if self.kind == "pa1":
            return min(parameter * weight, loss / size)
        return loss / (size + (parameter if self.kind == "arow" else 1 / (2 * parameter)) / weight)

    def learn(self, z, its_constraints, parameter, weight):
        self.sum_W, self.sum_b, self.rounds = self.sum_W + self.W, self.sum_b + self.b, self.rounds + 1
        if parameter is None:
            return
        x = self.S * z if self.kind == "arow" else z
        found = [each for each in its_constraints(self.scores(z), x @ z) if each[1] > 0]
        amounts, moved = np.zeros(len(self.b) or len(self.W)), 0.0
        for which, loss, size, share, counts in found:
            tau = self.length(loss, size, parameter, weight) * share
            amounts += tau * which
            moved += tau * counts
        self.W = self.W + (amounts.sum() * x if self.ranks else np.outer(amounts, x))
        if self.ranks:
            self.b = np.sort(self.b - amounts) if self.keeps_sorted and found else self.b - amounts
        if self.kind == "arow" and moved > 0:
            r, X, s = parameter / weight, x @ z, self.S * z * z
            self.S = self.S * (r + X - s) / (r + X)


class Task:
    """What the scores of an expert mean: its constraints, its loss, and one prediction of many."""

    def __init__(self, task, lanes, *, margin=1.0, epsilon=0.1, threshold="learned", selection="max"):
        self.task, self.lanes, self.margin, self.epsilon = task, lanes, margin, epsilon
        self.first = int(task == "sets" and threshold == "learned")
        self.threshold, self.selection = threshold, selection

    def constraints(self, scores, y, q):
        """(which lanes move, loss, size, share of the step, whether it is a part of the ranking)."""
        if self.task == "signs":
            return [(np.array([y]), self.margin - y * scores[0], q, 1, 1)]
        if self.task == "numbers":
            return [(np.sign([y - scores[0]]), abs(y - scores[0]) - self.epsilon, q, 1, 1)]
        if self.task == "ranks":
            return self.of_thresholds(scores, y, q)
        relevant = np.isin(np.arange(self.lanes - self.first), y)
        its = scores[self.first :]
        found = []
        if relevant.any() and not relevant.all():
            r = min(np.flatnonzero(relevant), key=lambda i: its[i])
            s = max(np.flatnonzero(~relevant), key=lambda i: its[i])
            which = np.zeros(self.lanes)
            which[self.first + r], which[self.first + s] = 1, -1
            found.append((which, self.margin - (its[r] - its[s]), 2 * q, 1, 1))
        return found + (self.of_learned_threshold(scores, its, relevant, q) if self.first else [])

    def of_thresholds(self, scores, y, q):
        side = np.where(np.arange(self.lanes) < y, 1.0, -1.0)
        losses = self.margin - side * scores
        active = [int(np.argmax(losses))] if self.selection == "max" else np.flatnonzero(losses > 0).tolist()
        return [(side[j] * np.eye(self.lanes)[j], losses[j], q + 1, 1 / len(active), 1) for j in active]

    def of_learned_threshold(self, scores, its, relevant, q):
        tolerance = 0.0
        if not relevant.any():
            middle = its.max() + self.margin / 2
        elif relevant.all():
            middle = its.min() - self.margin / 2
        else:
            low, high = its[relevant].min(), its[~relevant].max()
            middle, tolerance = (low + high) / 2, max(0.0, (low - high - self.margin) / 2)
        which = np.sign(middle - scores[0]) * np.eye(self.lanes)[0]
        return [(which, abs(middle - scores[0]) - tolerance, q, 1, 0)]

    def limit(self, scores):
        return scores[0] if self.first else self.threshold

    def loss(self, scores, y):
        if self.task == "signs":
            return float(y * scores[0] <= 0)
        if self.task == "numbers":
            return abs(y - scores[0])
        if self.task == "ranks":
            return float(sum((s if j < y else -s) <= 0 for j, s in enumerate(scores)))
        if self.task == "labels":
            return float(scores[y] <= max(np.delete(scores, y)))
        relevant = np.isin(np.arange(self.lanes - self.first), y)
        return float(np.mean((scores[self.first :] > self.limit(scores)) != relevant))

    def prediction(self, scores, p):
        """Of the experts' scores, one row each, and their weights."""
        if self.task == "signs":
            return 1 if p @ np.sign(scores[:, 0]) > 1e-12 else 0
        if self.task == "numbers":
            return p @ scores[:, 0]
        if self.task == "ranks":  # the weighted median, the lower one on ties
            ranks = (scores > 0).sum(axis=1)
            return next(r for r in range(self.lanes + 1) if p[ranks <= r].sum() >= 0.5 - 1e-12)
        if self.task == "labels":
            return int(np.argmax(np.bincount(scores.argmax(axis=1), p, self.lanes).round(12)))
        limits = np.array([self.limit(row) for row in scores])[:, None]
        return set(np.flatnonzero(p @ np.sign(scores[:, self.first :] - limits) > 1e-12).tolist())


class Vote:
    """B1.3."""

    def __init__(self, prior):
        self.prior, self.G, self.delta, self.n = np.asarray(prior, dtype=float), np.zeros(len(prior)), 0.0, 0

    @property
    def weights(self):
        if self.delta == 0:
            return self.prior
        logs = np.log(self.prior) - 2 / self.delta * self.G
        p = np.exp(logs - logs.max())
        return p / p.sum()

    def learn(self, losses):
        if np.ptp(losses) == 0:
            return
        p, low = self.weights, losses.min()
        h = p @ losses
        m = low - (np.log(p @ np.exp(-2 / self.delta * (losses - low))) * self.delta / 2 if self.delta else 0)
        self.G = self.G + losses - low
        self.delta += max(0.0, h - m)
        self.n += 1
        alpha = 1 / (self.n + 1)
        shared = (1 - alpha) * self.weights + alpha * self.prior
        self.G = -self.delta / 2 * np.log(shared / self.prior)
        self.G -= self.G.min()


class Committee:
    def __init__(self, task, words, columns, *, fit_intercept=True, constant=None, prior=None, sort=True):
        self.task = task
        has_intercept = fit_intercept and task.task != "ranks"
        self.inputs = [Input(has_intercept, constant), Input(has_intercept, constant)]
        self.scales = Scales(columns)
        self.experts = [Expert(word, task.lanes, columns, task.task == "ranks", sort) for word in words]
        self.vote = Vote(np.full(len(words), 1 / len(words)) if prior is None else prior)
        self.expected_loss = 0.0

    def extended(self, x, values):
        """Of both inputs."""
        return [its.extended(v) for its, v in zip(self.inputs, (x, values), strict=True)]

    def learn(self, x, y, weight=1.0):
        if weight == 0:
            return
        values = self.scales.meet(x)
        zeros = np.zeros(self.task.lanes)
        for its, v in zip(self.inputs, (x, values), strict=True):
            its.meet(v, lambda q: [c[:3] for c in self.task.constraints(zeros, y, q) if c[4]])
        both = self.extended(x, values)
        scores = np.array([each.vote_scores(both[each.scaled]) for each in self.experts])
        losses = weight * np.array([self.task.loss(row, y) for row in scores])
        self.expected_loss += self.vote.weights @ losses
        self.vote.learn(losses)
        for each in self.experts:
            parameter = each.parameter(self.inputs[each.scaled])
            each.learn(both[each.scaled], lambda s, q: self.task.constraints(s, y, q), parameter, weight)

    def predict(self, x):
        both = self.extended(x, self.scales.of(x))
        scores = np.array([each.vote_scores(both[each.scaled]) for each in self.experts])
        return self.task.prediction(scores, self.vote.weights)
