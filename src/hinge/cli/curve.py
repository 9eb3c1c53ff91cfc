"""The picture of a run: its progressive error, that of the last examples, and what was guaranteed all along."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import plots
from ..bounds import Comparator
from ..certificates import Certificate, strongest
from ..kernels import beta_of
from ..learner import Learner
from ..statistics import Statistics
from ..streams.session import Session
from ..streams.stream import Stream
from ..streams.study import ERRORS, Study
from .progress import Figures, error_text

SCALES = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5)  # of the weights, for comparators


class Curve:
    """What is kept of a run to draw it."""

    def __init__(self) -> None:
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
    bound = [] if why_not else list(_bounds(study, curve, stream))
    curves = {"all": curve.errors, "lately": curve.lately}
    guaranteed = {"guaranteed": bound} if bound else {}
    plots.progressive_curves(
        Path(path),
        curves,
        share=ERRORS[study.task][1],
        dashed=guaranteed,
        bold="all",
        title=f"{study.task}: {error_text(study.task, curve.errors[-1][1])}",
        subtitle=f"Progressive error on {session.position.learned:,} examples, each predicted before it was learned",
    )
    if as_json:
        print(json.dumps({"event": "plot", "file": path, "no_bound": why_not or None}))
    else:
        print(f"The curve is in {path}" + (f" (no bound: {why_not})" if why_not else ""))


def _no_bound(study: Study, session: Session, stream: Stream) -> str:
    """Why no bound can be drawn; "" if one can."""
    why_not = no_comparators(study, stream)
    if why_not:
        return why_not
    position = session.position
    if position.weighted:
        return "the theorems are about examples without weights"
    if position.passes or position.seed is not None or study.learner.statistics.rounds != position.examples:
        return (
            "it is for one whole pass over the data in its order, from the start and without skipped examples"
        )
    return ""


def no_comparators(study: Study, stream: Stream) -> str:
    """Why fixed predictors of this kind cannot be tried on the stream; "" if they can."""
    learner = study.learner
    if not isinstance(learner, Learner) or study.task not in ("classification", "regression"):
        return f"hinge.bounds has those for {study.task}"
    p = learner.parameters
    if learner.many_scores:
        return "hinge.bounds has those for many labels"
    if p["geometry"] != "euclidean" or p["w1"] is not None or p["class_weight"] is not None:
        return "hinge.bounds has those for other geometries and starts"
    if p["kernel"] is not None:
        return "a fixed predictor would be one in the space of the kernel"
    if learner.averaged:
        return "the theorems are about the vectors that were averaged, not about their average"
    if not stream.can_be_read_again:
        return "a pipe cannot be read again, to see how a fixed predictor would have done"
    return ""


def certificate_of(session: Session, stream: Stream) -> Certificate:
    """What was guaranteed in the end, against multiples of the weights that were learned."""
    study = session.study
    assert study is not None
    return certified(study, stream, _no_bound(study, session, stream))


def certified(study: Study, stream: Stream, why_not: str) -> Certificate:
    """Of a learner that has seen the stream once."""
    if why_not:
        return Certificate((), "", why_not)
    run = _Multiples(study)
    for delta in _discrepancies(study, stream):
        run.see(delta)
    statistics = study.learner.statistics
    found = strongest(run.step, statistics, run.comparators(statistics), C=run.C, beta=run.beta)
    return Certificate(tuple(found), "multiples of the weights that were learned in the end")


class _Multiples:
    """What multiples of the weights that were learned in the end suffer, example by example."""

    def __init__(self, study: Study) -> None:
        learner = study.learner
        assert isinstance(learner, Learner)
        p = learner.parameters
        self.task, self.step, self.C = study.task, p["step"], float(p["C"])
        self.beta = beta_of(p) if p["step"] == "perceptron" else 0.0
        self.norm2 = float(learner.weights @ learner.weights) + float(learner.intercept) ** 2
        self.insensitivity = p["epsilon"] if study.task == "regression" else -p["margin"]
        self.rounds = 0
        self._sums = np.zeros((len(SCALES), 2))  # of the losses, and of their squares
        self._largest = np.full(len(SCALES), -np.inf)

    def see(self, delta: Any) -> None:
        losses = np.maximum(0.0, delta - self.insensitivity)
        self._sums += np.column_stack([losses, losses**2])
        self._largest = np.maximum(self._largest, delta)
        self.rounds += 1

    def comparators(self, statistics: Statistics) -> list[Comparator]:
        return [
            Comparator(
                task=self.task, rounds=self.rounds, insensitivity=self.insensitivity, distance2=scale**2 * self.norm2,
                from_zero=True, loss=loss, squared_loss=squared, largest_discrepancy=worst,
                largest_q=statistics.largest_q, smallest_q=0.0,
            )
            for scale, (loss, squared), worst in zip(SCALES, self._sums.tolist(), self._largest.tolist(), strict=True)
        ]  # fmt: skip


def _bounds(study: Study, curve: Curve, stream: Stream) -> Iterator[tuple[int, float]]:
    """At each moment of the curve, the best bound against multiples of the weights that were learned in the end."""
    run = _Multiples(study)
    moments = iter(zip(curve.errors, curve.statistics, strict=True))
    (rounds, _), statistics = next(moments)
    for delta in _discrepancies(study, stream):
        run.see(delta)
        if run.rounds < rounds:
            continue
        best = min(
            _as_error(one, study.task, run.insensitivity, rounds)
            for one in strongest(run.step, statistics, run.comparators(statistics), C=run.C, beta=run.beta)
        )
        if math.isfinite(best):
            yield rounds, best
        (rounds, _), statistics = next(moments, ((math.inf, 0.0), statistics))  # type: ignore[assignment]


def _discrepancies(study: Study, stream: Stream) -> Iterator[Any]:
    """-y u.x or |y - u.x| of each example, for each multiple of the weights."""
    labels, scales = study.learner.labels.known, np.asarray(SCALES)
    for piece in stream.once():
        scores = np.asarray(study.scores(piece.batch), dtype=np.float64)
        y = study.truth(piece.batch, piece.file.name)
        if study.task == "regression":
            yield from np.abs(np.asarray(y, dtype=np.float64)[:, None] - scores[:, None] * scales)
        else:
            signs = np.asarray([1.0 if label == labels[-1] else -1.0 for label in y])
            yield from (-signs * scores)[:, None] * scales


def _as_error(found: Any, task: str, insensitivity: float, rounds: int) -> float:
    """A guarantee as a bound of the error: mistakes a round, or the mean absolute error (by Cauchy-Schwarz)."""
    if not found.applicable:
        return math.inf
    if task == "classification":
        return float(found.guaranteed) / rounds if found.quantity == "mistakes" else math.inf
    if found.quantity != "squared loss":
        return math.inf
    return float(insensitivity + math.sqrt(found.guaranteed / rounds))
