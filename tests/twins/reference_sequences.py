"""Structured output in NumPy, slow and obvious (S10, S11): what PASequence and PAStructured are compared with.

An input x has outputs z, a joint feature vector Phi(x, z) and a cost rho(y, z) of predicting z when y is true.
The prediction is the output with the largest score w.Phi(x, z). A round asks

    w.(Phi(x, y) - Phi(x, z)) >= b      b = margin sqrt(rho(y, z)), or margin rho(y, z) (max-additive)

of one output z, the competitor:

    prediction     the predicted output
    max            the output with the largest w.Phi(x, z) + margin sqrt(rho(y, z))
    max-additive   the output with the largest w.Phi(x, z) + margin rho(y, z)

and then makes the step of S2 with a = Phi(x, y) - Phi(x, z). `Structured` looks at all outputs. `Sequences` does so for
the first-order sequences of S11; `LongSequences` finds the same by dynamic programming.

Ties. A back-pointer takes the smallest label of those that are best, and so does the last position: of the best
sequences that finds the one with the smallest last label, of these the one with the smallest label before it, and
so on, which is the first in the order of the reversed sequences. With states (label, cost) the smallest cost
comes before all that.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np

from reference import TINY, step_length
from reference_labels import Statistics

STEPS_OF = {
    "prediction": ("pa", "pa1", "pa2", "perceptron"),
    "max": ("pa", "pa1", "pa2"),
    "max-additive": ("pa", "pa1", "pa2"),
}
NEAR = 1e-9  # values that differ by less are taken to be tied
RESIDUE = 1e-12  # what is left of a difference of equal numbers is at most this part of them


class Structured:
    """Phi is `features(x, z)`, rho is `cost(y, z)`; `outputs(x)` are all outputs, in the order that resolves ties."""

    def __init__(
        self,
        size,
        features,
        outputs,
        cost,
        *,
        step="pa1",
        C=1.0,
        margin=1.0,
        selection="prediction",
        geometry="euclidean",
        covariance_regularizer=1.0,
        initial_variance=1.0,
        covariance_update="drop",
        average=False,
    ):
        if step not in STEPS_OF[selection]:
            raise ValueError(f"{selection} has no step {step!r}")
        self.features, self.outputs, self.cost = features, outputs, cost
        self.step, self.C, self.margin, self.selection = step, C, margin, selection
        self.geometry, self.r, self.drop = geometry, covariance_regularizer, covariance_update == "drop"
        self.average, self.initial_variance = average, initial_variance
        self.w = np.zeros(size)
        self.variances = np.full(size, initial_variance if geometry == "diagonal" else 1.0)
        self.statistics = Statistics()
        self.copies = []  # the vectors that predicted (S15)

    # --- all outputs of x ---

    def all_features(self, x):
        return np.array([self.features(x, z) for z in self.outputs(x)])

    def all_costs(self, x, y):
        return np.array([self.cost(y, z) for z in self.outputs(x)], dtype=float)

    def all_values(self, x, y, w=None):
        """The scores of the outputs of x and what the competitor has the largest of."""
        scores = self.all_features(x) @ (self.w if w is None else w)
        if y is None or self.selection == "prediction":
            return scores, scores
        return scores, scores + self.wanted(self.all_costs(x, y))

    def wanted(self, cost):
        return self.margin * (cost if self.selection == "max-additive" else np.sqrt(cost))

    # --- the two searches ---

    def predict(self, x, w=None):
        scores, _ = self.all_values(x, None, w)
        return self.outputs(x)[tied(scores)[0]]

    def competitor(self, x, y):
        _, values = self.all_values(x, y)
        best = tied(values)
        if self.selection == "max":
            costs = self.all_costs(x, y)
            best = [z for z in best if costs[z] == costs[best].min()]
        return self.outputs(x)[best[0]]

    def score(self, x, z, w=None):
        return self.features(x, z) @ (self.w if w is None else w)

    # --- one round ---

    def constraint(self, x, y, competitor):
        """a, b and the loss. What rounding leaves of a difference of equal numbers is no direction."""
        mine, other = self.features(x, y), self.features(x, competitor)
        a, b = mine - other, float(self.wanted(self.cost(y, competitor)))
        a[np.abs(a) <= RESIDUE * (np.abs(mine) + np.abs(other))] = 0.0
        return a, b, 0.0 if competitor == y else max(0.0, b - self.w @ a)

    def length(self, loss, q, weight):
        if self.step == "perceptron" and self.geometry == "diagonal":  # the second-order one
            return loss / (q + self.r / weight) if q > TINY else 0.0
        return step_length(self.step, loss, q, self.C, weight, loss > 0)

    def learn(self, x, y, weight=1.0):
        """Learns one example; returns the step tau, a and the loss."""
        if weight == 0:
            return 0.0, None, 0.0
        y = tuple(y) if isinstance(y, list) else y
        predicted = self.predict(x)
        a, _, loss = self.constraint(x, y, self.competitor(x, y))
        q = np.sum(self.variances * a**2)
        tau = self.length(loss, q, weight)

        s = self.statistics
        s.rounds += 1
        s.mistakes += predicted != y
        s.updates += bool(tau > 0)
        s.loss += loss
        s.squared_loss += loss**2
        s.cost += float(self.cost(y, predicted))
        s.largest_q = max(s.largest_q, q if tau > 0 else 0.0)
        s.progress += tau * (2 * loss - tau * q)
        s.total += tau
        if self.average:
            self.copies.append(self.w)
        if tau > 0:
            self.w = self.w + tau * self.variances * a
            if self.geometry == "diagonal":
                self.narrow(a, q, weight / self.r)
        return tau, a, loss

    def narrow(self, a, q, c):
        if self.drop:
            self.variances = self.variances - c * (self.variances * a) ** 2 / (1 + c * q)
        else:
            self.variances = 1 / (1 / self.variances + c * a**2)

    @property
    def average_w(self):
        return np.sum(self.copies, axis=0) / len(self.copies) if self.copies else self.w

    # --- where two programmes may differ and both be right ---

    def rounding_decides(self, x, y=None, w=None, near=NEAR):
        """Whether values of x that are tied, or nearly so, depend on the order in which they are added up."""
        w = self.w if w is None else w
        whole = 2.0**20 * np.append(w, 2.0**-20 * self.all_features(x))
        if np.array_equal(whole, np.round(whole)) and np.abs(whole).max() < 2.0**45:
            return False  # no sum rounds
        for k, values in enumerate(self.all_values(x, y, w)):
            best = tied(values, near)
            if len({self.parts(x, self.outputs(x)[z], w, y if k else None) for z in best}) > 1:
                return True
        return False

    def parts(self, x, z, w, y):
        """The numbers whose sum is the value of z."""
        asked = 0.0 if y is None else float(self.wanted(self.cost(y, z)))
        return (*(w * self.features(x, z)), asked)


def tied(values, near=NEAR):
    """The largest ones."""
    return np.flatnonzero(values >= values.max() - near * max(1.0, np.abs(values).max()))


# --- sequences -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=200)
def all_sequences(K, m):
    """All sequences of m labels, in the order of the reversed sequences."""
    return [z[::-1] for z in itertools.product(range(K), repeat=m)]


@lru_cache(maxsize=200)
def indicators(K, m):
    """[z, i, k] is 1 if the sequence z has the label k at the position i."""
    return np.eye(K)[np.array(all_sequences(K, m))]


def split(w, K):
    """start (K), transition (K x K), emission (K x d) of a joint vector."""
    return w[:K], w[K : K + K * K].reshape(K, K), w[K + K * K :].reshape(K, -1)


def join(start, transition, emission):
    return np.concatenate([start, transition.ravel(), emission.ravel()])


def sequence_features(x, z, K):
    """Phi(x, z): start[z_1], x_i in the block z_i, and transition[z_(i-1), z_i]."""
    x = np.asarray(x, dtype=float)
    start, transition, emission = np.zeros(K), np.zeros((K, K)), np.zeros((K, x.shape[1]))
    start[z[0]] = 1
    for i in range(len(x)):
        emission[z[i]] += x[i]
        if i > 0:
            transition[z[i - 1], z[i]] += 1
    return join(start, transition, emission)


class Sequences(Structured):
    """K labels, d features; x is a matrix (m x d), y a tuple of m labels. cost: Hamming, a matrix or a function."""

    def __init__(self, K, d, *, cost=None, **options):
        self.K, self.d = K, d
        self.local = None if callable(cost) else cost  # of a label; None: 1 if it is wrong
        rho = cost if callable(cost) else self.summed
        features = lambda x, z: sequence_features(x, z, self.K)  # noqa: E731
        super().__init__(K + K * K + K * d, features, lambda x: all_sequences(self.K, len(x)), rho, **options)

    def local_cost(self, y, z):
        return float(y != z) if self.local is None else float(self.local[y][z])

    def summed(self, y, z):
        return sum(self.local_cost(a, b) for a, b in zip(y, z, strict=True))

    def all_features(self, x):
        """The same as features(x, z) for each z, at once."""
        H = indicators(self.K, len(x))
        transitions = np.einsum("nia,nib->nab", H[:, :-1], H[:, 1:])
        emissions = np.einsum("nik,id->nkd", H, np.asarray(x, dtype=float))
        return np.concatenate([H[:, 0], transitions.reshape(len(H), -1), emissions.reshape(len(H), -1)], 1)

    def all_costs(self, x, y):
        if self.cost != self.summed:
            return super().all_costs(x, y)
        table = np.array([[self.local_cost(a, b) for b in range(self.K)] for a in y])
        return np.einsum("nik,ik->n", indicators(self.K, len(x)), table)

    def parts(self, x, z, w, y):
        """What a dynamic programme adds up, position by position; tied sequences with equal parts tie to the bit."""
        start, transition, emission = split(w, self.K)
        nodes = [emission[b] @ v for b, v in zip(z, np.asarray(x, dtype=float), strict=True)]
        if y is not None and self.selection == "max-additive":
            nodes = [n + self.margin * self.local_cost(a, b) for n, a, b in zip(nodes, y, z, strict=True)]
        edges = [start[z[0]], *(transition[a, b] for a, b in itertools.pairwise(z))]
        cost = self.cost(y, z) if y is not None and self.selection == "max" else 0.0
        return (*nodes, *edges, cost)

    def grow(self, K):
        """New labels, with weights of zero; for the average they were always there."""

        def wider(w, fill):
            old = split(w, self.K)
            new = [np.full(shape, fill) for shape in ((K,), (K, K), (K, self.d))]
            for a, b in zip(new, old, strict=True):
                a[tuple(slice(n) for n in b.shape)] = b
            return join(*new)

        initial = self.initial_variance if self.geometry == "diagonal" else 1.0
        self.variances = wider(self.variances, initial)
        self.copies = [wider(w, 0.0) for w in self.copies]
        self.w = wider(self.w, 0.0)
        self.K = K


# --- the same by dynamic programming -------------------------------------------------------------------------


def viterbi(nodes, transition):
    """The best sequence; nodes[i, k] is the score of the label k at position i (with the start's, at the first)."""
    m, K = nodes.shape
    best, back = nodes[0], np.zeros((m, K), dtype=int)
    for i in range(1, m):
        arriving = best[:, None] + transition  # [from, to]
        back[i] = arriving.argmax(axis=0)  # the first, so the smallest
        best = arriving.max(axis=0) + nodes[i]
    z = [int(best.argmax())]
    for i in range(m - 1, 0, -1):
        z.append(int(back[i, z[-1]]))
    return tuple(z[::-1])


def viterbi_with_costs(nodes, transition, costs, margin):
    """The sequence with the largest score + margin sqrt(cost), for whole costs[i, k]: the states are (cost, label)."""
    m, K = nodes.shape
    costs = costs.astype(int)
    D = 1 + costs.max(axis=1).sum()
    best, back = np.full((m, D, K), -np.inf), np.zeros((m, D, K), dtype=int)
    for k in range(K):
        best[0, costs[0, k], k] = nodes[0, k]
    for i in range(1, m):
        for c, k in itertools.product(range(D), range(K)):
            if c >= costs[i, k]:
                arriving = best[i - 1, c - costs[i, k]] + transition[:, k]
                back[i, c, k] = arriving.argmax()
                best[i, c, k] = arriving.max() + nodes[i, k]
    final = best[-1] + margin * np.sqrt(np.arange(D))[:, None]
    c, k = np.unravel_index(
        final.argmax(), final.shape
    )  # the first: the smallest cost, then the smallest label
    z = [int(k)]
    for i in range(m - 1, 0, -1):
        previous = int(back[i, c, z[-1]])
        c -= costs[i, z[-1]]
        z.append(previous)
    return tuple(z[::-1])


class LongSequences(Sequences):
    """Sequences without looking at all of them; its ties are exact ones only."""

    def nodes(self, x, w):
        start, transition, emission = split(w, self.K)
        nodes = np.asarray(x, dtype=float) @ emission.T
        nodes[0] += start
        return nodes, transition

    def predict(self, x, w=None):
        return viterbi(*self.nodes(x, self.w if w is None else w))

    def competitor(self, x, y):
        if self.selection == "prediction":
            return self.predict(x)
        nodes, transition = self.nodes(x, self.w)
        costs = np.array([[self.local_cost(a, b) for b in range(self.K)] for a in y])
        if self.selection == "max":
            return viterbi_with_costs(nodes, transition, costs, self.margin)
        return viterbi(nodes + self.margin * costs, transition)
