"""What the command line says about a fleet: its keys, the error of new ones, and those with the most mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..streams.evaluation import Study
from ..streams.guessing import shown_label
from . import committees, fleet_options, learner_options
from .progress import short_error

if TYPE_CHECKING:
    from ..streams.fleets import FleetStudy

LARGEST = 3  # keys that are named at the end of a run


def in_words(study: Any) -> str:
    """The step of a learner or of a fleet, and the options that differ from the defaults."""
    return learner_options.in_words(study) if isinstance(study, Study) else fleet_options.in_words(study)


def lines(study: Any) -> Iterator[str]:
    """The report at the end of a run: on the experts of a committee, or on the keys of a fleet."""
    if isinstance(study, Study):
        yield from committees.lines(study)
        return
    if text := new_and_known(study):
        yield text
    largest = ", ".join(
        f"{shown_label(key)} ({count:,.0f})" for key, count in study.fleet.top(LARGEST, "rounds")
    )
    if largest:
        yield f"Largest keys (examples): {largest}."


def new_and_known(study: FleetStudy) -> str:
    """The error of new keys against that of known ones."""
    from ..streams.fleets import KNOWN

    new, known = study.by_age.score(0, KNOWN), study.by_age.score(KNOWN)
    if not new.rounds:
        return ""
    text = f"New keys (their first {KNOWN} examples): {short_error(study.task, new.error)}"
    return f"{text}; known keys: {short_error(study.task, known.error)}."


def record(study: Any) -> dict[str, Any]:
    """The same for JSON."""
    if isinstance(study, Study):
        return committees.record(study)
    return {
        "by_age": [
            {"examples": ages, "rounds": score.rounds, "error": score.error}
            for ages, score in study.by_age.groups()
        ],
        "largest": [
            {"key": key, "examples": int(count)} for key, count in study.fleet.top(LARGEST, "rounds")
        ],
    }
