"""A committee against fixed predictors (T1.5): each expert has the theorems of the plain learner that it is, and the
expected loss of the vote exceeds that of an expert by at most c Delta."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ...data.rows import as_array, as_values
from ...learner import Learner
from ...model.experts import Expert, plain_learner
from ..certificate import FOUND, GIVEN, whole_stream
from ..comparators.comparator import Comparator
from ..comparators.kind import Kind
from ..theorems import strongest
from .rows import OfRows, _found, _given, _matrix, no_theorem

TASKS = ("classification", "ordinal", "regression")
ONLY_PLAIN = "only experts without scaling, averages and a covariance have a bound against fixed predictors"


class Unbounded(Exception):
    """There is no bound against fixed predictors; the message is the reason."""


def bound_of(
    learner: Learner, prices: Iterable[float], X: Any, y: Any, u: Any, intercept: Any
) -> tuple[float, str]:
    """The smallest bound of the expected loss, over the experts, the theorems and the comparators, and which
    comparators these are. `prices` are c Delta of each expert."""
    u, intercept = (
        None if numbers is None else as_values(as_array(numbers, name), name)
        for numbers, name in ((u, "u"), (intercept, "intercept"))
    )
    known = [(one, price) for one, price in zip(learner.experts, prices, strict=True) if _is_plain(one)]
    if learner.task not in TASKS:
        raise Unbounded(f"there is no bound against fixed predictors for {learner.task}")
    if not known:
        raise Unbounded(ONLY_PLAIN)
    hindsight = _hindsight(learner, X, y, u, intercept)
    comparators = hindsight.comparators(hindsight.learner.statistics)
    best = min(_loss_bound(one, comparators, hindsight.kind) + price for one, price in known)
    if best == math.inf:
        raise Unbounded("no theorem of an expert applies to these comparators")
    return best, hindsight.against.words


def _is_plain(expert: Expert) -> bool:
    return expert.parameter > 0 and not (expert.averaged or expert.scaled or expert.kind == "arow")


def _hindsight(learner: Learner, X: Any, y: Any, u: Any, intercept: Any) -> OfRows:
    """What the comparators suffer: the same for all these experts, so one is asked. As a plain learner it runs again,
    to see that the rows are those that were learned."""
    experts = learner.experts
    place = max(range(len(experts)), key=lambda k: (_is_plain(experts[k]), experts[k].kind != "lattice"))
    alone = plain_learner(learner, place)
    X = _matrix(alone, X)
    if reason := no_theorem(alone) or whole_stream(alone.statistics.rounds, int(X.shape[0])):
        raise Unbounded(reason)
    if u is None:
        hindsight = OfRows(alone, _found(alone, X, y), FOUND)
    else:
        hindsight = OfRows(alone, [_given(alone, X.shape[1], u, intercept)], GIVEN)
    hindsight.see(X, y)
    if reason := hindsight.other_run():
        raise Unbounded(reason)
    return hindsight


def _loss_bound(expert: Expert, comparators: list[Comparator], kind: Kind) -> float:
    """What the theorems of a plain learner guarantee about the loss of an expert."""
    options, rounds = expert.options, expert.statistics.rounds
    found = strongest(options["step"], expert.statistics, comparators, C=options.get("C", 1.0))
    errors = [kind.error_bound(one.quantity, one.guaranteed, rounds) for one in found if one.applicable]
    return min(errors, default=math.inf) * rounds
