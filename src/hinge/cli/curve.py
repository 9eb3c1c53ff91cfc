"""The picture of a run: its progressive error, that of the last examples, and what was guaranteed all along."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

from .. import plots
from ..learner import Learner
from ..model.statistics import Statistics
from ..streams.evaluation import Study
from ..streams.session import Session
from ..streams.stream import Stream
from ..theory.bounds import Guarantee
from ..theory.certificates import Certificate
from ..theory.certificates_compared import begins_with_one
from .hindsight import certified, guarantees, moments, no_comparators
from .progress import Figures, error_text, short_error


class Curve:
    """What is kept of a run to draw it. `window`: how many of the last rounds `lately` is about."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.errors: list[tuple[int, float]] = []
        self.lately: list[tuple[int, float]] = []
        self.statistics: list[Statistics] = []  # at the same moments

    def see(self, figures: Figures, statistics: Statistics) -> None:
        if not figures.score.rounds:
            return
        self.errors.append((figures.score.rounds, figures.score.error))
        self.lately.append((figures.score.rounds, figures.window.error))
        self.statistics.append(statistics)


def draw(path: str, curve: Curve, session: Session, stream: Stream, as_json: bool) -> None:
    """Draws the curve, and the bound if a theorem gives one; says so, or why not."""
    study = session.study
    assert study is not None
    if len(curve.errors) < 3:
        raise ValueError(f"--plot: there are too few examples to draw a curve: {path} is not written")
    why_not = _no_bound(study, session, stream)
    if not why_not and study.learner.averaged:
        why_not = "the theorems are about the vectors that were averaged, not about their average"
    bound = [] if why_not else list(_bounds(study, curve, stream))
    largest, words = _largest_error(study)
    if bound and bound[-1][1] >= largest:
        why_not, bound = f"it is above {words}, which says nothing", []
    if not why_not and not bound:
        why_not = f"no theorem bounds the error of this step for {study.task}"
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
        title=_title(study.task, curve.errors[-1][1], bound),
        subtitle=f"Progressive error on {session.position.learned:,} examples, each predicted before it was learned"
        + (f"; lately: the last {curve.window:,}" if "lately" in curves else ""),
    )
    if as_json:
        print(json.dumps({"event": "plot", "file": path, "no_bound": why_not or None}))
    else:
        print(f"The curve is in {path}" + (f" (no bound: {why_not})" if why_not else ""))


def _largest_error(study: Study) -> tuple[float, str]:
    """What no error can exceed."""
    if study._task.error_is_share:
        return 1.0, "100 %"
    if study.task == "ordinal":
        most = len(study.learner.labels.known) - 1
        return float(most), f"the {most} ranks between the lowest and the highest"
    return math.inf, ""


def _title(task: str, error: float, bound: list[tuple[int, float]]) -> str:
    guaranteed = f"; guaranteed: at most {short_error(task, bound[-1][1])}" if bound else ""
    return f"{task.capitalize()}: {error_text(task, error)}{guaranteed}"


def _no_bound(study: Study, session: Session, stream: Stream) -> str:
    """Why no bound can be drawn; "" if one can."""
    why_not = no_comparators(study, stream)
    if why_not:
        return why_not
    position = session.position
    if position.weighted:
        return "the theorems are about examples without weights"
    first = int(isinstance(study.learner, Learner) and begins_with_one(study.learner))
    whole = study.learner.statistics.rounds + first == position.examples
    if position.passes or position.seed is not None or not whole:
        return (
            "it is for one whole pass over the data in its order, from the start and without skipped examples"
        )
    return ""


def certificate_of(session: Session, stream: Stream) -> Certificate:
    """What was guaranteed in the end."""
    study = session.study
    assert study is not None
    return certified([(study, _no_bound(study, session, stream))], stream)[0]


def _bounds(study: Study, curve: Curve, stream: Stream) -> Iterator[tuple[int, float]]:
    """At each moment of the curve, the best bound against what was learned in the end."""
    first = int(isinstance(study.learner, Learner) and begins_with_one(study.learner))
    examples = [statistics.rounds + first for statistics in curve.statistics]
    for (rounds, _), statistics, seen in zip(
        curve.errors, curve.statistics, moments(study, stream, examples), strict=False
    ):
        best = min(
            (_as_error(one, study, rounds) for one in guarantees(study, seen, statistics)), default=math.inf
        )
        if math.isfinite(best):
            yield rounds, best


def _as_error(found: Guarantee, study: Study, rounds: int) -> float:
    """A guarantee as a bound of the error, as `Score` counts it."""
    if not found.applicable:
        return math.inf
    p, share = study.learner.parameters, found.guaranteed / rounds
    if study.task == "regression":  # the mean absolute error, by Cauchy-Schwarz
        return float(p["epsilon"] + math.sqrt(share)) if found.quantity == "squared loss" else math.inf
    if study.task == "sequence":  # tags wrong are the cost, if each costs 1
        return share if found.quantity == "cost" and p["cost"] is None else math.inf
    if found.quantity != "mistakes":
        return math.inf
    # A mistake is off by all the other ranks at most.
    return share * (len(study.learner.labels.known) - 1) if study.task == "ordinal" else share
