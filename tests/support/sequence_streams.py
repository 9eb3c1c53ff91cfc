"""Streams of sentences, the learner of sequences behind the face of its twin, and comparators found by enumeration.

A sentence is a matrix, one row a token, and its tags are numbers 0..K-1; `in_container` turns the matrix into what
users have. If a name of hinge.PASequence changes, this is the file to adapt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse
from sklearn.exceptions import NotFittedError

import hinge
import reference_labels
from hinge.theory import Comparator
from reference_sequences import Sequences, all_sequences, join, tied

TAGS = ("A", "B", "C", "D", "E", "F", "G")
CONTAINERS = ("lists", "dicts", "dense", "csr")
COUNTS = ("rounds", "mistakes", "updates")
FIELDS = ("loss", "squared_loss", "largest_q", "progress", "cost")
KINDS = ("reference", "hinge")  # of learners


# --- the learner -------------------------------------------------------------------------------------------


def in_container(x, container):
    if container == "lists":  # counts: a feature is repeated as often as it says
        return [[f"x{j}" for j, n in enumerate(row) for _ in range(int(n))] for row in x]
    if container == "dicts":
        return [{f"x{j}": float(value) for j, value in enumerate(row) if value} for row in x]
    return scipy.sparse.csr_matrix(x) if container == "csr" else np.array(x, dtype=float)


def column(feature):
    """Of a feature's name: "x3" in lists and dicts; arrays have the number or the same name."""
    return int(str(feature).removeprefix("x"))


class Ours:
    """hinge.PASequence, read like the twin. K = None: the tags come with the stream."""

    def __init__(self, K, d, container="dense", **options):
        self.d, self.container = d, container
        if K is not None:
            options["classes"] = list(TAGS[:K])
        if callable(cost := options.get("cost")):
            options["cost"] = lambda y, z: cost(numbers(y), numbers(z))
        options.setdefault("average", False)
        self.learner = hinge.PASequence(**options)

    def learn(self, x, y, weight=1.0):
        self.learner.learn_one(in_container(x, self.container), tags(y), weight)

    def predict(self, x):
        return numbers(self.learner.predict_one(in_container(x, self.container)))

    def score(self, x, z=None):
        sentence = in_container(x, self.container)
        return self.learner.score_one(sentence) if z is None else self.learner.score_one(sentence, tags(z))

    @property
    def statistics(self):
        try:
            return self.learner.stats_
        except NotFittedError:
            return reference_labels.Statistics()

    @property
    def w(self):
        """The joint vector; the average, if there is one."""
        place = {tag: k for k, tag in enumerate(self.learner.classes_)}
        K = len(place)
        start, transition, emission = np.zeros(K), np.zeros((K, K)), np.zeros((K, self.d))
        for tag, weight in self.learner.start_features_.items():
            start[place[tag]] = weight
        for (a, b), weight in self.learner.transition_features_.items():
            transition[place[a], place[b]] = weight
        for (feature, tag), weight in self.learner.state_features_.items():
            emission[place[tag], column(feature)] = weight
        return join(start, transition, emission)


def tags(y):
    return [TAGS[k] for k in y]


def numbers(found):
    return tuple(TAGS.index(tag) for tag in found)


def make(kind, K, d, **options):
    return Sequences(K, d, **options) if kind == "reference" else Ours(K, d, **options)


# --- sentences ---------------------------------------------------------------------------------------------


def sentence(rng, m, d, kind):
    """ "whole": small counts, empty tokens among them, so that sums are exact; "real": numbers of mixed sizes."""
    if kind == "whole":
        return rng.choice([0.0, 1.0, 2.0], p=[0.6, 0.3, 0.1], size=(m, d))
    values = rng.normal(size=(m, d)) * rng.choice([0.3, 1.0, 2.0])
    return np.where(rng.random((m, d)) < 0.7, values, 0.0)


def events(rng, count, K, d, kind="real", weighted=False, longest=4, noise=0.15):
    """Sentences of 1 to `longest` tokens with the tags of a hidden u, some of them wrong; some sentences come again."""
    teacher = Sequences(K, d)
    teacher.w = rng.normal(size=len(teacher.w))
    seen = []
    for t in range(count):
        if t % 6 == 5:
            x, y = seen[int(rng.integers(len(seen)))]
        else:
            x = sentence(rng, int(rng.integers(1, longest + 1)), d, kind)
            y = teacher.predict(x) if longest <= 5 else tuple(rng.integers(K, size=len(x)).tolist())
            y = tuple(int(rng.integers(K)) if rng.random() < noise else k for k in y)
            seen.append((x, y))
        yield x, y, float(rng.choice([0.0, 0.3, 1.0, 2.5])) if weighted else 1.0


# --- streams with a comparator -----------------------------------------------------------------------------


@dataclass
class Stream:
    """Sentences and tags, the learner's options, and a comparator: a joint vector."""

    K: int
    d: int
    X: list
    y: list
    u: np.ndarray
    options: dict = field(default_factory=dict)

    def constraints(self):
        """For each round: the rows Phi(x, y) - Phi(x, z) of all z but y, and what is asked of them."""
        twin = Sequences(self.K, self.d, **self.options)
        for x, y in zip(self.X, self.y, strict=True):
            features, here = twin.all_features(x), all_sequences(self.K, len(x)).index(y)
            asked = twin.wanted(twin.all_costs(x, y))
            yield np.delete(features[here] - features, here, axis=0), np.delete(asked, here)

    def comparator(self, u):
        """What u suffers: S10's max-loss, for every selection. The theorems' cost is the square of what is asked."""
        losses, discrepancies, sizes, costs = [], [], [], []
        for rows, asked in self.constraints():
            discrepancies.append((asked - rows @ u).max(initial=-np.inf))
            losses.append(max(0.0, discrepancies[-1]))
            sizes.extend((rows**2).sum(axis=1))
            costs.extend(asked**2)
        selection = self.options.get("selection", "prediction")
        return Comparator(
            kind="cost",
            selection="prediction" if selection == "prediction" else "max",
            rounds=len(losses),
            insensitivity=0.0,
            distance2=float(u @ u),
            from_zero=True,
            loss=float(np.sum(losses)),
            squared_loss=float(np.sum(np.square(losses))),
            largest_discrepancy=float(max(discrepancies)),
            largest_q=float(max(sizes, default=0.0)),
            smallest_q=float(min(sizes, default=0.0)),
            norm2=float(u @ u),
            start_norm=0.0,
            most_rows=1,
            smallest_nu=1.0,
            largest_nu=1.0,
            largest_cost=float(max(costs, default=0.0)),
        )

    def run(self, kind, step, C, **more):
        """The learner after the stream; its cost is the sum of the squared margins asked of its predictions."""
        learner = make(kind, self.K, self.d, step=step, C=C, **self.options, **more)
        twin = Sequences(self.K, self.d, **self.options)  # for what it asks only
        squares = suffered = 0.0
        for x, y in zip(self.X, self.y, strict=True):
            learner.learn(x, y)
            squares += float(twin.wanted(learner.statistics.cost - suffered)) ** 2
            suffered = learner.statistics.cost
        names = (*COUNTS, *FIELDS)
        found = {name: getattr(learner.statistics, name) for name in names} | {"cost": squares}
        return Outcome(SimpleNamespace(**found), learner.w, suffered)

    def optimised(self, C, steps=15):
        """A comparator that is hard to compete with: a few steps down 1/2|u|^2 + C sum l*_t."""
        u, C, rounds = self.u.copy(), min(C, 10.0), list(self.constraints())
        for i in range(steps):
            gradient = u.copy()
            for rows, asked in rounds:
                losses = asked - rows @ u
                if losses.max(initial=0.0) > 0:
                    gradient -= C * rows[np.argmax(losses)]
            u = u - gradient / (i + 2)
        return u

    def separator(self):
        """The shortest u without loss: of min |u| s.t. G u >= h the solution is the residual of non-negative least
        squares with (G, h)' and (0, 1) (Lawson and Hanson, "least distance programming")."""
        rounds = list(self.constraints())
        G, h = np.concatenate([rows for rows, _ in rounds]), np.concatenate([b for _, b in rounds]) + 1e-9
        E, f = np.vstack([G.T, h]), np.append(np.zeros(G.shape[1]), 1.0)
        residual = E @ scipy.optimize.nnls(E, f)[0] - f
        return -residual[:-1] / residual[-1]


@dataclass
class Outcome:
    statistics: Any
    weights: np.ndarray
    suffered: float  # the sum of rho(y, predicted)


def random_stream(seed, selection, needs, *, costs=False):
    """needs: "any" stream, or a "separable" one: tags by Viterbi, with u scaled so that it has no loss."""
    rng = np.random.default_rng(seed)
    K, d, rounds = int(rng.integers(2, 4)), int(rng.integers(1, 4)), int(rng.integers(2, 9))
    options = {"selection": selection, "margin": float(rng.choice([0.5, 1.0, 2.0]))}
    if costs:
        cost = rng.choice([0, 1, 2, 4], size=(K, K)) * (1 - np.eye(K, dtype=int))
        options["cost"] = cost / 4 if selection != "max" and rng.random() < 0.5 else cost
    kind = str(rng.choice(["whole", "real"]))
    stream = Stream(K, d, [], [], rng.integers(-8, 9, size=K + K * K + K * d) / 4, options)
    teacher = Sequences(K, d)
    teacher.w = stream.u
    for _ in range(rounds):
        x = sentence(rng, int(rng.integers(1, 5)), d, kind)
        y = tuple(rng.integers(K, size=len(x)).tolist())
        if needs == "separable":
            y = teacher.predict(x)
            if len(tied(teacher.all_values(x, None)[0], 1e-2)) > 1:
                continue
        stream.X.append(x)
        stream.y.append(y)
    if needs == "separable" and stream.X:
        scale = max((asked / (rows @ stream.u)).max() for rows, asked in stream.constraints())
        stream.u = stream.u * max(scale, 0.1) * rng.choice([1.0, 1.5]) * (1 + 1e-9)
    return stream
