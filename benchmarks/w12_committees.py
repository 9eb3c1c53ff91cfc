"""W12: what a committee costs: an event of 20 named features, and W1's matrix.

Data     The events of W4 (20 names, the same in every event), and the matrix of W1.
Peers    River: StandardScaler | LogisticRegression, predict_one and learn_one. One PA-I learner of hinge, which is one
         of the experts: W1's, without an intercept, and that of `Learner("classification")`.
Ours     Learner("classification", experts="auto") and C="auto": round_one (predicts and learns) or learn_one for
         events, and one pass over the matrix.
Clock    CPU time, best of 20 blocks of 500 events and of 7 passes, taking turns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import Any

from data import zipf_rows
from measure import Prepare, Row, Work, best_of, main, optional, time_of
from w4_named_event import lines_of, parse

BLOCK = 500
GOAL = 6e-6  # seconds for an event
RIVER, ONE, COMMITTEE, LATTICE = "River, LogisticRegression", "one PA-I learner", "committee", 'C="auto"'


def ours(**options: Any) -> Any:
    import hinge

    return hinge.Learner("classification", **options)


def river() -> Any:
    return (
        optional("river.preprocessing").StandardScaler() | optional("river.linear_model").LogisticRegression()
    )


def events(learner: Any, lines: list[Any], feed: Callable[[Any, Any], object]) -> Prepare:
    """Warms the learner up, and then hands it the next block of events at each repetition."""
    for x, y in parse(lines[:BLOCK]):
        learner.learn_one(x, y)
    blocks = cycle([lines[i : i + BLOCK] for i in range(BLOCK, len(lines), BLOCK)])
    return lambda: partial(feed, learner, parse(next(blocks)))


def predict_and_learn(learner: Any, block: Any) -> None:
    for x, y in block:
        learner.predict_one(x)
        learner.learn_one(x, y)


def rounds(learner: Any, block: Any) -> None:
    for x, y in block:
        learner.round_one(x, y)


def learn(learner: Any, block: Any) -> None:
    for x, y in block:
        learner.learn_one(x, y)


def event_rows(quick: bool) -> list[Row]:
    lines = lines_of(3000, 20)
    found = []
    for work, feed, river_feed in (
        ("an event, predict and learn", rounds, predict_and_learn),
        ("an event, learn", learn, learn),
    ):
        candidates: dict[str, Prepare | None] = {
            COMMITTEE: events(ours(experts="auto"), lines, feed),
            LATTICE: events(ours(C="auto"), lines, feed),
            ONE: events(ours(), lines, feed),
            RIVER: events(river(), lines, river_feed) if optional("river") else None,
        }
        timings = best_of(3 if quick else 20, candidates, per=BLOCK)
        committee = time_of(timings, COMMITTEE)
        found += [
            Row(f"{work}, committee", RIVER, time_of(timings, RIVER), committee),
            Row(f"{work}, committee", "the goal", GOAL, committee, 1),
            Row(f"{work}, committee", ONE, time_of(timings, ONE), committee),
            Row(f"{work}, C='auto'", ONE, time_of(timings, ONE), time_of(timings, LATTICE)),
        ]
    return found


def matrix_rows(quick: bool) -> list[Row]:
    import hinge

    x, y = zipf_rows(20_000 if quick else 200_000)

    def passes(**options: Any) -> Prepare:
        return lambda: partial(ours(**options).learn, x, y)

    def alone() -> Work:
        learner = hinge.PAClassifier(step="pa1", C=1.0, fit_intercept=False)
        return partial(learner.partial_fit, x, y, classes=[-1.0, 1.0])

    timings = best_of(
        2 if quick else 7,
        {COMMITTEE: passes(experts="auto"), LATTICE: passes(C="auto"), ONE: passes(), f"{ONE}, W1": alone},
    )
    return [
        Row(f"one epoch, sparse, {who}", peer, time_of(timings, peer), time_of(timings, who), target)
        for who in (COMMITTEE, LATTICE)
        for peer, target in ((f"{ONE}, W1", 1 / 12 if who == COMMITTEE else None), (ONE, None))
    ]


def run(quick: bool) -> list[Row]:
    return event_rows(quick) + matrix_rows(quick)


if __name__ == "__main__":
    main(run)
