"""What the command line says about a committee: who leads, the shares of the vote, the best expert."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..data.errors import InputError
from ..model.experts import Expert, Experts
from ..streams.evaluation import Study
from ..streams.studies import SessionStudy
from .progress import error_text, short_error

if TYPE_CHECKING:
    from ..theory.committees import VoteRecord

SHOWN_EXPERTS = 16  # in the table of `hinge inspect`
SHOWN_KINDS = 4  # kinds of experts that are named with their shares


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
    experts = study.experts
    if not experts:
        return
    leader, best = leader_of(experts), best_of(experts)
    if leader.parameter == 0:
        yield "No expert leads yet: no example with a loss was learned."
        return
    yield f"Leader: {leader.in_words}, with {percent(leader.weight)} of the vote."
    yield from _kinds(experts)
    compared = f" (the committee: {short_error(study.task, study.score.error)})"
    if not _same_rounds(study):
        compared = ", over all that it has learned, with the weights of the examples"
    yield f"Best expert in hindsight: {best.in_words}: {error_text(study, best.error)}{compared}."


def _same_rounds(study: Study) -> bool:
    """Whether the errors of the experts are about the examples of the score: not if examples had weights, or were
    learned before the run began."""
    engine: Any = study.learner._engine
    return bool(engine.vote_weight() == study.score.rounds)


def _kinds(experts: Experts) -> Iterator[str]:
    its = list(shares(experts).items())
    if len(its) == 1:
        return
    shown = [(kind, share) for kind, share in its[:SHOWN_KINDS] if share >= 0.01]
    rest = 1 - sum(share for _, share in shown)
    named = [
        f"{kind} {percent(share)}" for kind, share in [*shown, *([("others", rest)] if rest >= 0.01 else [])]
    ]
    yield f"Shares of the vote: {', '.join(named)}."


def advise(error: Exception, study: SessionStudy | None) -> None:
    """Adds to the error of a committee whose weights exceed the limit what needs less."""
    its = study is not None and study.is_committee
    if its and isinstance(error, InputError) and error.reason.endswith("(max_weights)"):
        error.reason += "; a single learner has fewer weights: --step pa1"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def vote_record(study: Study) -> dict[str, Any]:
    """What the vote has suffered, for JSON; nothing for a single learner."""
    return {"vote": vars(vote_of(study.learner))} if study.is_committee else {}


def vote_of(learner: Any) -> VoteRecord:
    from ..theory.committees import VoteRecord

    return VoteRecord.of(learner)


def table_of(study: Study, console: Any) -> None:
    """Prints the experts with the largest weights."""
    from .console import new_table, show_table

    experts = sorted(study.experts, key=lambda expert: -expert.weight)
    table = new_table("expert", "vote", "error", right=("vote", "error"))
    for expert in experts[:SHOWN_EXPERTS]:
        table.add_row(expert.in_words, f"{100 * expert.weight:.1f} %", short_error(study.task, expert.error))
    if rest := experts[SHOWN_EXPERTS:]:
        share = sum(expert.weight for expert in rest)
        table.add_row(f"{len(rest)} others", f"{100 * share:.1f} %", "")
    show_table(console, table)


def record(study: Study) -> dict[str, Any]:
    """The experts for JSON, with the leader in words; nothing for a single learner."""
    experts = study.experts
    if not experts:
        return {}
    return {
        "leader": leader_of(experts).in_words,
        "experts": [
            {"expert": expert.name, "words": expert.in_words, "weight": expert.weight, "error": expert.error}
            for expert in experts
        ],
    }
