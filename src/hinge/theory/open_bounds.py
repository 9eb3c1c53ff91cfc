"""What a theorem guarantees as a function of the comparator: for a model without its data."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..learner import Learner
from ..model.experts import is_committee
from . import committees
from .comparators.kinds import kind_of
from .hindsight.rows import GREW, grew_from_two
from .theorems import Guarantee, guarantees
from .theorems.table import steps_with_theorems

NEEDS_DATA = "this needs the data: hinge learn --certificate, or in Python certificate(X, y)"
QUANTITIES = ("mistakes", "updates", "cost", "squared loss", "loss")


def open_bound(learner: Any, weighted: bool = False) -> str:
    """The theorem with the numbers of this run, for every comparator u. `weighted`: examples had weights.

    What u suffers is not known without the data: the result has L(u), the sum of its losses on the same examples, and
    S(u), the sum of their squares. The bounds are linear in |u|^2, L and S, so evaluating them at 0 and at 1 gives the
    coefficients. Of several bounds of one quantity, that with the smallest coefficient of |u|^2 is shown.
    """
    if not learner.statistics.rounds:
        return "nothing yet: it has seen no example"
    if isinstance(learner, Learner) and is_committee(learner):
        its = committees.certificate(learner)
        return f"nothing: {its.reason}" if its.reason else its.promise
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
    found = [one for one in _linear_bounds(learner) if one.about.quantity in QUANTITIES and one.of_norm > 0]
    return _sentence(min(found, key=_rank), learner.averaged) if found else NEEDS_DATA


def _has_open_bound(learner: Any) -> bool:
    if not isinstance(learner, Learner):
        return False
    p = learner.parameters
    plain = p["geometry"] == "euclidean" and p["w1"] is None and not p["class_weight"] and p["nu"] is None
    return plain and learner.step in ("pa", "pa1", "pa2") and kind_of(learner).has_open_bound


class Linear(NamedTuple):
    """The bound constant + of_norm |u|^2 + of_loss L(u) + of_square S(u)."""

    about: Guarantee
    constant: float
    of_norm: float
    of_loss: float  # 0: none, or only for u without loss
    of_square: float


def _rank(one: Linear) -> tuple[int, float]:
    return QUANTITIES.index(one.about.quantity), float(f"{one.of_norm:.9g}")  # equal bounds: the first


def _linear_bounds(learner: Learner) -> list[Linear]:
    at = _bounds(learner, 0, 0, 0)
    norm, loss, square = (_bounds(learner, *one) for one in ((1, 0, 0), (0, 1, 0), (0, 0, 1)))

    def coefficient(found: dict[tuple[str, str], Guarantee], key: tuple[str, str]) -> float:
        return found[key].guaranteed - at[key].guaranteed if key in found else 0.0

    return [
        Linear(
            one,
            one.guaranteed,
            coefficient(norm, key),
            coefficient(loss, key),
            coefficient(square, key),
        )
        for key, one in at.items()
    ]


def _bounds(
    learner: Learner, distance2: float, loss: float, squared: float
) -> dict[tuple[str, str], Guarantee]:
    kind = kind_of(learner)
    u = kind.of(learner, kind.extra_of(learner)).open(learner.statistics, distance2, loss, squared)
    found = guarantees(learner.step, learner.statistics, u, C=float(learner.parameters["C"]))
    return {(one.theorem, one.quantity): one for one in found if one.applicable}


def _sentence(one: Linear, averaged: bool) -> str:
    about = one.about
    parts = [
        (one.of_loss, "L(u)", "the losses"),
        (one.of_square, "S(u)", "the squared losses"),
    ]
    parts = [part for part in parts if part[0] > 0]
    terms = [f"{one.of_norm:.6g} |u|^2", *(f"{factor:.6g} {name}" for factor, name, _ in parts)]
    if one.constant > 0:
        terms.append(f"{one.constant:.6g}")
    whom = "every u" if parts else "every u without loss on the same examples"
    where = "".join(
        f", where {name} is the sum of {what} of u on the same examples" for _, name, what in parts[-1:]
    )
    of = " (of the vectors that were averaged)" if averaged else ""
    return f"{about.theorem}: {about.quantity} {about.suffered:,.6g}{of} <= {' + '.join(terms)} for {whom}{where}"
