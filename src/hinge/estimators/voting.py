"""How the experts of a committee vote after `fit`: decided by cross-validation, because passes over rows that were seen
before say little about rows that were not.

A sample of the rows is divided into folds. A committee learns all folds but one in several passes, and then the vote
learns from the mistakes of its experts on that one. The vote continues with the next fold, with a new committee. Of the
experts that hinge has chosen, those with a small weight are left out. Then the committee learns all rows, and the vote
stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.rows import Rows
from ..learner import Learner
from ..model import experts

SAMPLE = 10_000  # rows, of which a fifth is held out once
SCORES, LEAST_SAMPLE = 100_000, 2_500  # with many labels: rows times labels, but not fewer rows
FEW, FEW_SCORES = 2_500, 40_000  # rows, and rows times labels, up to which each fifth is held out in turn
FOLDS = 5
PASSES = 50  # at most, over the folds
LEAST_WEIGHT = 0.1  # of an expert that is kept, relative to the leader's
MOST_EXPERTS = 8

Numbers = npt.NDArray[np.int64]


def has_lattice(learner: Learner) -> bool:
    """Whether new experts are born while it learns: then the vote learns in the first pass."""
    return "lattice" in experts.words_of(learner._task, learner.parameters)


def with_vote(
    learner: Learner, batch: tuple[Rows, Any, Any], visited: Numbers, passes: int, random: Any
) -> Learner:
    """A committee that has learned how to vote, and nothing else. `visited`: the rows to learn, in their order, which
    `random` (None: as it is) changes in each pass."""
    if has_lattice(learner):
        return learner
    chosen = learner.parameters["experts"] == "auto"
    words = experts.FIT[learner._task.options_of] if chosen else None
    last: Learner | None = None
    labels = max(1, len(learner.labels.known))
    size = max(LEAST_SAMPLE, min(SAMPLE, SCORES // labels))
    sample = (visited if random is None else random.permutation(visited))[-size:]
    folds = np.array_split(sample, min(FOLDS, len(sample)))
    in_turn = len(sample) <= min(FEW, FEW_SCORES // labels)
    for fold in folds if in_turn else folds[-1:]:
        its = _unlearned(learner, words)
        if last is not None:
            its._engine.take_vote(last._engine)
        _judge(its, batch, np.setdiff1d(sample, fold, assume_unique=True), fold, min(passes, PASSES), random)
        last = its
    assert last is not None
    made = _unlearned(learner, _kept(last) if chosen else None)
    made._engine.take_vote(last._engine)
    return made


def _judge(
    its: Learner, batch: tuple[Rows, Any, Any], others: Numbers, fold: Numbers, passes: int, random: Any
) -> None:
    """The experts learn the other rows, and then the vote learns from the fold."""
    its._engine.set_learning(True, False)
    for _ in range(passes):
        its.learn_rows(*batch, order=others if random is None else random.permutation(others), repeats=True)
    its._engine.set_learning(False, True)
    its.learn_rows(*batch, order=fold, repeats=True)


def _unlearned(learner: Learner, words: Sequence[str] | None) -> Learner:
    """The same learner before the first example, with other experts if there are words."""
    changed = {} if words is None else {"experts": list(words)}
    new = type(learner)._from_checked(learner.task, {**learner.parameters, **changed})
    new.closed = learner.closed
    return new


def _kept(learner: Learner) -> list[str]:
    """The experts with the largest weights."""
    found = sorted(learner.experts, key=lambda expert: -expert.weight)[:MOST_EXPERTS]
    return [expert.name for expert in found if expert.weight >= LEAST_WEIGHT * found[0].weight]
