"""Texts with labels, for rankers and their feature maps."""

from __future__ import annotations

import numpy as np

WORDS = [f"w{j}" for j in range(30)]


def words(rng, size=12):
    return rng.choice(WORDS, size=rng.integers(0, size), p=np.arange(30, 0, -1) / 465).tolist()


def mail(count=60, seed=0, sets=False, labels="abcde"):
    """Texts whose words depend on their labels, which come one after the other."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for t in range(count):
        k = min(len(labels), 2 + t // 10)
        its = rng.choice(list(labels[:k]), size=rng.integers(0, 4) if sets else 1).tolist()
        X.append(words(rng) + [f"of {label}" for label in its if rng.random() < 0.7])
        y.append(set(its) if sets else its[0])
    return X, y
