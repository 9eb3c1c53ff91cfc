"""The picture of docs/guide/auto.md: the vote of a committee over a stream that stands still, and then turns.

python benchmarks/expert_weights.py docs/guide/auto.png
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

ROUNDS, COLUMNS, EVERY = 6_000, 10, 40
STILL, AGAIN = 2_000, 4_000  # the target turns between these rounds
QUARTER = 250  # rounds of a quarter turn
FLIPPED = 0.1  # of the labels


def turning_target(seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    x = random.standard_normal((ROUNDS, COLUMNS))
    one, other = np.linalg.qr(random.standard_normal((COLUMNS, 2)))[0].T
    angle = np.pi / 2 / QUARTER * np.clip(np.arange(ROUNDS) - STILL, 0, AGAIN - STILL)
    score = np.cos(angle) * (x @ one) + np.sin(angle) * (x @ other)
    return x, (score > 0) ^ (random.random(ROUNDS) < FLIPPED)


def main() -> None:
    from hinge import Learner
    from hinge.plots import plot_experts

    x, y = turning_target()
    learner = Learner("classification", experts="auto", classes=[False, True])
    history = []
    for i in range(0, ROUNDS, EVERY):
        learner.learn(x[i : i + EVERY], y[i : i + EVERY])
        history.append((i + EVERY, learner.experts))
    title = f"The target stands still, turns from {STILL:,} to {AGAIN:,}, and stands still again"
    plot_experts(history, sys.argv[1], title=title)
    print(learner.experts)
    print(f"error of the vote {learner.statistics.mean_cost:.4f}")


if __name__ == "__main__":
    main()
