"""A fleet with shared and personal weights in NumPy, slow and obvious: one learner of long instances.

The instance of key k is (z, s z e_k): z = (x, c) are the features with the constant feature of the intercept, s is the
option `personal`, and e_k puts s z into the block of the key. Every block has the same size, whether its key has
learned or not. What learns the long instances is the twin of a learner without an intercept.
"""

from __future__ import annotations

import numpy as np

import reference_geometries
import reference_labels
from reference import Reference, constant_near


class SharedFleet:
    """`names` and `keys` are all features and keys of the stream; `labels` are all labels of it (None: numbers)."""

    def __init__(
        self, names, keys, *, labels=None, personal=0.5, fit_intercept=True, intercept_value="auto", **options
    ):
        self.names, self.keys, self.labels, self.personal = names, keys, labels, personal
        self.fit_intercept = fit_intercept
        self.constant = None if intercept_value == "auto" else float(intercept_value)
        self.many = labels is not None and len(labels) > 2
        task = "regression" if labels is None else "classification"
        if self.many:
            options.pop("epsilon", None)
        if "geometry" in options:
            self.twin = reference_geometries.make(task, k=len(labels) if self.many else None, **options)
        elif self.many:
            self.twin = reference_labels.Labels(len(labels), **options)
        else:
            self.twin = Reference(task, **options)
        self.average_from = int(options.get("average", False))
        self.of_key = {}  # rounds and mistakes

    def dense(self, x):
        """The features of an event in the order of `names`."""
        z = np.zeros(len(self.names) + self.fit_intercept)
        for name, value in x.items():
            z[self.names.index(name)] += value
        if self.fit_intercept:
            z[-1] = 0.0 if self.constant is None else self.constant
        return z

    def long(self, key, x):
        z = self.dense(x)
        blocks = [self.personal * z if key == each else 0 * z for each in self.keys]
        return np.concatenate([z, *blocks])

    def learn(self, key, x, y, weight=1.0):
        if weight == 0:
            return
        if self.constant is None:
            self.constant = constant_near([value for value in x.values() if value != 0])
        truth = y if self.labels is None else self.labels.index(y)
        truth = {truth} if self.many else truth if self.labels is None else 2 * truth - 1
        before = self.twin.statistics.mistakes
        self.twin.learn(self.long(key, x), truth, weight)
        if self.twin.statistics.rounds < self.average_from:
            self.twin.copies.clear()  # the average begins later
        rounds, mistakes = self.of_key.get(key, (0, 0))
        self.of_key[key] = rounds + 1, mistakes + self.twin.statistics.mistakes - before

    # --- what was learned: one row per label, or one row ---

    @property
    def state(self):
        twin = self.twin
        state = twin.average_state if twin.average and twin.copies else twin.state
        length = (len(self.names) + self.fit_intercept) * (len(self.keys) + 1)
        rows = len(self.labels) if self.many else 1
        return np.zeros((rows, length)) if state is None else np.atleast_2d(state)

    def shared(self):
        """w_0, with the weight of the constant feature at the end."""
        return self.state[:, : len(self.names) + self.fit_intercept]

    def of(self, key):
        """v_k: with s v_k the key differs from the others."""
        width = len(self.names) + self.fit_intercept
        start = width * (1 + self.keys.index(key))
        return self.state[:, start : start + width]

    def scores(self, key, x):
        return self.state @ self.long(key, x)

    def predict(self, key, x):
        scores = self.scores(key, x)
        if self.labels is None:
            return scores[0]
        return self.labels[int(scores.argmax()) if self.many else int(scores[0] > 0)]
