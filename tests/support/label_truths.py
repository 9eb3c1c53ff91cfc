"""Random truths for learners with many labels."""

from __future__ import annotations

import numpy as np

COUNTS = ("rounds", "mistakes", "updates")


WIDTH, K = 5, 4


COST = np.array([[0.0, 1.0, 4.0, 0.25], [2.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 9.0], [0.5, 1.0, 2.0, 0.0]])


NU = np.array([[1.0, 2.0, 0.0, 0.5], [3.0, 1.0, 1.0, 0.0], [1.0, 0.25, 1.0, 1.0], [2.0, 2.0, 2.0, 1.0]])


def truths(task, rng, count, k=K):
    if task == "multilabel":  # some are empty, some are full
        return [
            frozenset(np.flatnonzero(rng.random(k) < rng.choice([0.1, 0.5, 0.9])).tolist())
            for _ in range(count)
        ]
    return rng.integers(k, size=count).tolist()


def ties(options):
    return options.get("selection") in ("mira", "simperc", "uniform") or options.get("cost") is not None
