"""What a theorem guarantees as a function of the comparator: for a model without its data."""

from __future__ import annotations

from typing import Any

from ..learner import Learner
from .comparators.kinds import kind_of
from .hindsight.rows import GREW, grew_from_two
from .theorems import Guarantee, guarantees
from .theorems.table import steps_with_theorems

NEEDS_DATA = "this needs the data: hinge learn --certificate, or in Python certificate(X, y)"
QUANTITIES = ("mistakes", "updates", "cost", "squared loss")


def open_bound(learner: Any, weighted: bool = False) -> str:
    """The theorem with the numbers of this run, for every comparator u. `weighted`: examples had weights.

    What u suffers is not known without the data: the result has L(u), the sum of its losses on the same examples, and
    S(u), the sum of their squares. The bounds are linear in |u|^2, L and S, so evaluating them at 1 gives the
    coefficients.
    """
    if not learner.statistics.rounds:
        return "nothing yet: it has seen no example"
    if isinstance(learner, Learner) and learner.step not in steps_with_theorems():
        return f"nothing is known: there is no theorem for {learner.step!r}"
    if not _has_open_bound(learner):
        return NEEDS_DATA
    if grew_from_two(learner):
        return f"nothing is known: {GREW}"
    if learner.statistics.removals:
        return "nothing is known: supports were removed (budget), and the theorems are about learners that keep all"
    if weighted:
        return "nothing is known: examples had weights, and the theorems are about examples without"
    for_norm, for_loss, for_square = (
        _bounds(learner, 1, 0, 0),
        _bounds(learner, 0, 1, 0),
        _bounds(learner, 0, 0, 1),
    )
    for key, one in sorted(for_norm.items(), key=lambda item: item[0][1] != "mistakes"):
        if key[1] in QUANTITIES:
            parts = [
                (for_loss.get(key), "L(u)", "the losses"),
                (for_square.get(key), "S(u)", "the squared losses"),
            ]
            return _sentence(
                one, [part for part in parts if part[0] and part[0].guaranteed > 0], learner.averaged
            )
    return NEEDS_DATA


def _has_open_bound(learner: Any) -> bool:
    if not isinstance(learner, Learner):
        return False
    p = learner.parameters
    plain = p["geometry"] == "euclidean" and p["w1"] is None and not p["class_weight"] and p["nu"] is None
    return plain and learner.step in ("pa", "pa1", "pa2") and kind_of(learner).has_open_bound


def _bounds(
    learner: Learner, distance2: float, loss: float, squared: float
) -> dict[tuple[str, str], Guarantee]:
    kind = kind_of(learner)
    u = kind.of(learner, kind.extra_of(learner)).open(learner.statistics, distance2, loss, squared)
    found = guarantees(learner.step, learner.statistics, u, C=float(learner.parameters["C"]))
    return {(one.theorem, one.quantity): one for one in found if one.applicable}


def _sentence(one: Guarantee, parts: list[tuple[Any, str, str]], averaged: bool) -> str:
    terms = [f"{one.guaranteed:.6g} |u|^2", *(f"{found.guaranteed:.6g} {name}" for found, name, _ in parts)]
    whom = "every u" if parts else "every u without loss on the same examples"
    where = "".join(
        f", where {name} is the sum of {what} of u on the same examples" for _, name, what in parts[-1:]
    )
    of = " (of the vectors that were averaged)" if averaged else ""
    return f"{one.theorem}: {one.quantity} {one.suffered:,.6g}{of} <= {' + '.join(terms)} for {whom}{where}"
