"""Random streams of labels and ranks for the theorems of the geometries, and what every theorem must do on them."""

from __future__ import annotations

import math

import numpy as np

from label_streams import eighths
from reference_labels import ordinal_rows

K = 3


def holds(found, seen):
    """Every guarantee was kept; which ones applied is noted."""
    assert found
    for g in found:
        assert not math.isnan(g.guaranteed)
        assert g.holds, str(g)
        if g.applicable:
            seen.add((g.theorem, g.quantity))


def label_stream(rng, task, realizable):
    """Labels, sets of labels or ranks of a ranking u that stands out, or any; u is flat, thresholds last."""
    n, rounds = int(rng.integers(1, 4)), int(rng.integers(2, 12))
    X = eighths(rng, 2, (rounds, n)) * rng.choice([0.3, 1.0])
    if task == "ordinal":
        u = np.append(eighths(rng, 2, n), np.sort(eighths(rng, 1, K - 1)))
        ranks = (X @ u[:n])[:, None] >= u[n:]
        y = ranks.sum(axis=1).tolist() if realizable else rng.integers(K, size=rounds).tolist()
        margins = np.array([ordinal_rows(x, rank, K) @ u for x, rank in zip(X, y, strict=True)]).min(axis=1)
    else:
        u = eighths(rng, 2, (K, n))
        scores, y, margins = X @ u.T, [], []
        for of_round in scores:
            size = int(rng.integers(1, K)) if task == "multilabel" else 1
            order = np.argsort(-of_round) if realizable else rng.permutation(K)
            y.append(frozenset(order[:size].tolist()) if task == "multilabel" else int(order[0]))
            margins.append(of_round[order[:size]].min() - of_round[order[size:]].max())
        margins = np.array(margins)
    if realizable:
        keep = np.flatnonzero(margins > 1e-3)
        X, y = X[keep], [y[t] for t in keep]
        u = u / margins[keep].min(initial=1.0) * (1 + 1e-9)
    return X, y, u
