"""What the command line says about a committee: who leads, the shares of the vote, the best expert."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..model.experts import Expert, Experts
from ..streams.evaluation import Study
from .progress import error_text, short_error

SHOWN_KINDS = 4  # kinds of experts that are named with their shares


def experts_of(study: Study) -> Experts | None:
    """The experts of a committee; None: it is a single learner."""
    return study.learner.experts if study.is_committee else None


def leader_of(experts: Sequence[Expert]) -> Expert:
    """The expert with the largest weight, the first on ties."""
    return max(experts, key=lambda expert: expert.weight)


def best_of(experts: Sequence[Expert]) -> Expert:
    """The expert with the smallest error so far."""
    return min(experts, key=lambda expert: expert.loss)


def shares(experts: Sequence[Expert]) -> dict[str, float]:
    """The share of the vote that each kind of experts has, the largest first."""
    found: dict[str, float] = {}
    for expert in experts:
        found[expert.family] = found.get(expert.family, 0.0) + expert.weight
    return dict(sorted(found.items(), key=lambda its: -its[1]))


def lines(study: Study) -> Iterator[str]:
    """The report at the end of a run; nothing for a single learner."""
    experts = experts_of(study)
    if experts is None:
        return
    leader, best = leader_of(experts), best_of(experts)
    if leader.parameter == 0:
        yield "No expert leads yet: no example with a loss was learned."
        return
    yield f"Leader: {leader.in_words}, with {percent(leader.weight)} of the vote. {_kinds(experts)}"
    compared = f" (the committee: {short_error(study.task, study.score.error)})"
    if not _same_rounds(study):
        compared = ", over all that it has learned, with the weights of the examples"
    yield f"Best expert in hindsight: {best.in_words}: {error_text(study, best.error)}{compared}."


def _same_rounds(study: Study) -> bool:
    """Whether the errors of the experts are about the examples of the score: not if examples had weights, or were
    learned before the run began."""
    return bool(study.learner._engine.vote_weight() == study.score.rounds)


def _kinds(experts: Experts) -> str:
    its = list(shares(experts).items())
    if len(its) == 1:
        return f"All experts are {its[0][0]}."
    named = [f"{kind} {percent(share)}" for kind, share in its[:SHOWN_KINDS]]
    rest = sum(share for _, share in its[SHOWN_KINDS:])
    return f"By kind: {', '.join([*named, *([f'others {percent(rest)}'] if rest else [])])}."


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def record(study: Study) -> dict[str, Any]:
    """The experts for JSON, with the leader in words; nothing for a single learner."""
    experts = experts_of(study)
    if experts is None:
        return {}
    return {
        "leader": leader_of(experts).in_words,
        "experts": [
            {"expert": expert.name, "words": expert.in_words, "weight": expert.weight, "error": expert.error}
            for expert in experts
        ],
    }
