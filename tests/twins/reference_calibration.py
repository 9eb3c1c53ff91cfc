"""The calibration of probabilities in plain Python: Platt's logistic fit of the scores, one Newton step per example.

Two classes: P(the predicted class is right) = sigmoid(a z + b) with z = sqrt(|score| / size), one (a, b) for each
predicted class. Many classes: a softmax of -a z_r over the classes, where z_r is the distance of a class from the top
score over the size, and the top class has the bonus b.
"""

from __future__ import annotations

import math

import numpy as np

PRIOR, MEMORY, MOST = 2.0, 1000, 100.0


def sigmoid(t):
    return 1 / (1 + math.exp(-t)) if t >= 0 else math.exp(t) / (1 + math.exp(t))


class Logit:
    def __init__(self):
        self.parameters, self.curvature, self.seen = np.array([PRIOR, 0.0]), np.eye(2), 0

    def step(self, z, gradient, curvature):
        """A Newton step. Old curvatures fade, replaced by the prior; no logit moves by more than 1."""
        rate = max(1 / MEMORY, 2 / (self.seen + 6))
        self.curvature = (1 - rate) * self.curvature + np.array(curvature) + rate * np.eye(2)
        gradient = np.array(gradient) - rate * (self.parameters - [PRIOR, 0.0])
        move = np.linalg.solve(self.curvature, gradient)
        change = max(abs(move[0]) * (1 + z), abs(move[1]))
        self.parameters = self.parameters + move / max(1.0, change)
        self.seen += 1


class Calibration:
    def __init__(self):
        self.logits, self.size, self.weight, self.seen = (Logit(), Logit()), 0.0, 0.0, 0

    def observes(self, rounds):
        """All of the first 2048 rounds, then a quarter until 5632 are seen, then a 64th."""
        place = rounds * 0x9E3779B97F4A7C15 % 2**64
        share = 1 if self.seen < 2048 else 4 if self.seen < 5632 else 64
        return place < 2**64 // share

    def follow(self, size, weight):
        self.seen += 1
        rate = max(1 / 300, 1 / self.seen)
        self.size += rate * (size - self.size)
        self.weight += rate * (weight - self.weight)
        return self.size > 0 and self.weight > 0

    # ---- two classes

    def confidence(self, score):
        return math.sqrt(min(MOST, abs(score) / self.size)) if self.size > 0 else 0.0

    def observe_sign(self, score, positive, weight):
        if not self.follow(abs(score), weight):
            return
        its, z = self.logits[int(score > 0)], self.confidence(score)
        q, w = sigmoid(its.parameters @ [z, 1]), min(16, weight / self.weight)
        error, v = w * (((score > 0) == positive) - q), w * max(1e-3, q * (1 - q))
        its.step(z, [error * z, error], [[v * z * z, v * z], [v * z, v]])

    def of_sign(self, score):
        slope, constant = self.logits[int(score > 0)].parameters
        q = sigmoid(np.clip(max(0, slope) * self.confidence(score) + constant, -30, 30))
        return max(0.5, q) if score > 0 else min(0.5, 1 - q)

    # ---- many classes

    def distances(self, scores):
        scores = np.asarray(scores)
        return np.minimum(MOST, (scores.max() - scores) / self.size) if self.size > 0 else 0 * scores

    def observe_label(self, scores, label, weight):
        top = int(np.argmax(scores))
        if not self.follow(float(np.mean(max(scores) - np.asarray(scores))), weight):
            return
        its, z = self.logits[0], self.distances(scores)
        logits = its.parameters[1] * (np.arange(len(z)) == top) - its.parameters[0] * z
        p = np.exp(logits - max(0, logits.max()))
        p /= p.sum()
        mean, w = p @ z, min(16, weight / self.weight)
        v = [w * max(1e-3, p @ z**2 - mean**2), w * p[top] * mean, w * max(1e-3, p[top] * (1 - p[top]))]
        its.step(
            z[label], [w * (mean - z[label]), w * ((label == top) - p[top])], [[v[0], v[1]], [v[1], v[2]]]
        )

    def of_labels(self, scores):
        slope, constant = self.logits[0].parameters
        lead = np.where(np.arange(len(scores)) == np.argmax(scores), 0, np.clip(constant, 0, 30))
        powers = np.exp(np.maximum(-30, -max(0, slope) * self.distances(scores) - lead))
        return powers / powers.sum()
