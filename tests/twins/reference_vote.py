"""The vote of a committee in NumPy, slow and obvious: AdaHedge with a prior and a share (docs/theory/committees.md).

G_k is the loss of expert k so far, relative to the best one, and p_k ~ pi_k exp(-eta G_k) with eta = a/Delta.
"""

from __future__ import annotations

import math

import numpy as np

A = 2.0


def softmax(logs):
    shifted = np.exp(logs - logs.max())
    return shifted / shifted.sum()


class ReferenceVote:
    def __init__(self, prior, share=True):
        self.prior, self.share = np.asarray(prior, dtype=float), share
        self.G, self.delta, self.rounds = np.zeros(len(self.prior)), 0.0, 0
        self.mixed = []  # h - m of every round that told experts apart

    @property
    def weights(self):
        if self.delta == 0:
            return self.prior
        return softmax(np.log(self.prior) - A / self.delta * self.G)

    def learn(self, losses):
        p, low = self.weights, losses.min()
        if (losses == low).all():
            return
        h = p @ losses
        m = low
        if self.delta > 0:
            eta = A / self.delta
            m = low - math.log(p @ np.exp(-eta * (losses - low))) / eta
        self.G = self.G + losses - low
        self.delta += max(0.0, h - m)
        self.mixed.append(h - m)
        self.rounds += 1
        if self.share:
            eta, alpha = A / self.delta, 1 / (self.rounds + 1)
            shared = (1 - alpha) * self.weights + alpha * self.prior
            self.G = -np.log(shared / self.prior) / eta
        self.G = self.G - self.G.min()
