"""The picture of docs/guide/auto.md: how the vote of a committee is shared over the prices of electricity (elec2).

    HINGE_DATA=<folder> python benchmarks/expert_weights.py docs/guide/auto.png
"""

from __future__ import annotations

import sys

from streams import STREAMS

EVERY = 200  # examples


def main() -> None:
    from hinge import Learner
    from hinge.plots import plot_experts

    stream = next(s for s in STREAMS["elec2"]() if s.name == "elec2 raw")
    learner = Learner("classification", experts="auto", classes=[0, 1])
    history = []
    for i in range(0, stream.length, EVERY):
        learner.learn(stream.x[i : i + EVERY], stream.y[i : i + EVERY])
        history.append((i + EVERY, learner.experts))
    plot_experts(history, sys.argv[1])
    print(learner.experts)
    print(f"error of the vote {learner.statistics.mean_cost:.4f}")


if __name__ == "__main__":
    main()
