"""The picture of a run: its progressive error, the error of the last examples, and the guaranteed bound."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

from .. import plots
from ..model.experts import Experts
from ..model.statistics import Statistics
from ..streams.evaluation import Study
from ..streams.session import Session
from ..streams.stream import Stream
from ..streams.studies import SessionStudy
from ..theory.certificate import Certificate
from .committees import leader_of
from .hindsight import certified, first_is_start, hindsight, moments, no_comparators
from .progress import Figures, error_text, short_error


class Curve:
    """The points of the curves of a run. `window`: the number of rounds that `lately` is about."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.errors: list[tuple[int, float]] = []
        self.lately: list[tuple[int, float]] = []
        self.statistics: list[Statistics] = []  # at the same moments
        self.votes: list[tuple[int, Experts]] = []  # the experts of a committee, at the same moments

    def see(self, figures: Figures, study: SessionStudy) -> None:
        if not figures.score.rounds:
            return
        self.errors.append((figures.score.rounds, figures.score.error))
        self.lately.append((figures.score.rounds, figures.window.error))
        self.statistics.append(study.statistics)
        if isinstance(study, Study) and study.is_committee:
            self.votes.append((figures.score.rounds, study.experts))


def draw(path: str, curve: Curve, session: Session, stream: Stream, as_json: bool) -> None:
    """Draws the curve, and the bound if a theorem gives one. Prints the file, and why there is no bound."""
    study = session.study
    assert study is not None
    if len(curve.errors) < 3:
        raise ValueError(f"--plot: there are too few examples to draw a curve: {path} is not written")
    bound, why_not = _bound_or_reason(study, curve, session, stream)
    curves = {"so far": curve.errors}
    if curve.lately != curve.errors:  # the same until the window is full
        curves["lately"] = curve.lately
    guaranteed = {"guaranteed": bound} if bound else {}
    plots.progressive_curves(
        Path(path),
        curves,
        share=study._task.error_is_share,
        dashed=guaranteed,
        bold="so far",
        x=study._task.counted,
        digits=2,
        votes=curve.votes,
        title=_title(study, curve.errors[-1][1], bound),
        subtitle=f"Progressive error on {session.position.learned:,} examples, each predicted before it was learned"
        + (f"; lately: the last {curve.window:,}" if "lately" in curves else ""),
    )
    if as_json:
        print(json.dumps({"event": "plot", "file": path, "no_bound": why_not or None}))
    else:
        print(f"The curve is in {path}" + (f" (no bound: {why_not})" if why_not else ""))


def _bound_or_reason(
    study: SessionStudy, curve: Curve, session: Session, stream: Stream
) -> tuple[list[tuple[int, float]], str]:
    """The guaranteed bound over time, or why there is none."""
    why_not = _no_bound(study, session, stream)
    if why_not or not isinstance(study, Study):
        return [], why_not
    if study.learner.averaged:
        return [], "the theorems are about the vectors that were averaged, not about their average"
    bound = list(_bounds(study, curve, stream))
    if not bound:
        return [], f"no theorem bounds the error of this step for {study.task}"
    if bound[-1][1] >= (largest := hindsight(study).largest_error):
        return [], f"it is above {_largest(study, largest)}, which says nothing"
    return bound, ""


def _largest(study: Study, error: float) -> str:
    """The largest possible error, in words."""
    if study._task.error_is_share:
        return "100 %"
    return f"the {error:.0f} ranks between the lowest and the highest"


def _title(study: SessionStudy, error: float, bound: list[tuple[int, float]]) -> str:
    guaranteed = f"; guaranteed: at most {short_error(study.task, bound[-1][1])}" if bound else ""
    leader = (
        f"; {leader_of(study.experts).in_words} leads"
        if isinstance(study, Study) and study.is_committee
        else ""
    )
    return f"{study.task.capitalize()}: {error_text(study, error)}{guaranteed}{leader}"


def _no_bound(study: SessionStudy, session: Session, stream: Stream) -> str:
    """Why no bound can be drawn; "" if one can."""
    if not isinstance(study, Study):
        return "that of a fleet needs all examples at once: in Python, fleet.certificate(keys, X, y)"
    why_not = no_comparators(study, stream)
    if why_not:
        return why_not
    position = session.position
    if position.weighted:
        return "the theorems are about examples without weights"
    whole = study.learner.statistics.rounds + first_is_start(study) == position.examples
    if position.passes or position.seed is not None or not whole:
        return (
            "it is for one whole pass over the data in its order, from the start and without skipped examples"
        )
    return ""


def certificate_of(session: Session, stream: Stream) -> Certificate:
    """The certificate of the whole run."""
    study = session.study
    assert isinstance(study, Study)
    return certified([(study, _no_bound(study, session, stream))], stream)[0]


def _bounds(study: Study, curve: Curve, stream: Stream) -> Iterator[tuple[int, float]]:
    """The best bound at each point of the curve, against multiples of the final weights."""
    examples = [statistics.rounds + first_is_start(study) for statistics in curve.statistics]
    for (rounds, _), statistics, seen in zip(
        curve.errors, curve.statistics, moments(study, stream, examples), strict=False
    ):
        best = seen.error_bound(statistics, rounds)
        if math.isfinite(best):
            yield rounds, best
