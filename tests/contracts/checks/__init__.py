"""What every model promises. A check is a function of a case; its predicate says for which cases it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Check = Callable[[Any], None]
CHECKS: list[tuple[Check, Callable[[Any], bool]]] = []


def check(applies: Callable[[Any], bool] = lambda case: True) -> Callable[[Check], Check]:
    """Registers a check for the cases of which the predicate is true."""

    def register(function: Check) -> Check:
        CHECKS.append((function, applies))
        return function

    return register


def yield_checks(case: Any) -> Iterator[Check]:
    yield from (function for function, applies in CHECKS if applies(case))


from checks import (  # noqa: E402, F401 (these register their checks)
    batches,
    containers,
    covariances,
    estimators,
    predictions,
    rejected,
    saving,
    sequences,
    supports,
    weights,
)
