"""A stream, read again: what multiples of the predictor that was learned in the end would have suffered on it, and what
was therefore guaranteed to the learner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from ..data.rows import Rows
from ..learner import Learner
from ..model.statistics import Statistics
from ..model.supports import beta_of
from ..streams.batches import BadLines, Batch, narrowed, part, unseen_squares
from ..streams.evaluation import Study, with_labels
from ..streams.guessing import shown_label
from ..streams.stream import Shuffled, Stream
from ..structured.sequence_learner import SequenceLearner
from ..theory import certificates, certificates_searched
from ..theory.bounds import Comparator, Guarantee
from ..theory.bounds_geometries import SecondOrderComparator
from ..theory.certificates import Certificate, strongest
from ..theory.certificates_compared import begins_with_one, of_ball, of_lanes, squared_length, targets_of
from ..theory.comparators import LabelComparator
from ..theory.comparators_geometries import SECOND_ORDER, DiagonalAgain
from ..theory.comparators_single import Vector, joined

SCALES = (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5)  # of the weights


def no_comparators(study: Study, stream: Stream | Shuffled) -> str:
    """Why fixed predictors of this kind cannot be tried on the stream; "" if they can."""
    learner = study.learner
    if isinstance(learner, SequenceLearner):
        why_not = certificates_searched.no_theorem(learner) or certificates_searched.no_search(learner)
    elif study.ranker is not None:
        why_not = certificates_searched.no_theorem(learner)
    elif certificates.grew_from_two(learner):
        named = ",".join(map(shown_label, learner.labels.known))
        why_not = (
            f"{certificates.GREW}: name all of them ahead, --classes {named if len(named) < 200 else '...'}"
        )
    else:
        why_not = certificates.no_theorem(learner) or _no_run(learner)
    if not why_not and not stream.can_be_read_again:
        why_not = "a pipe cannot be read again, to see how a fixed predictor would have done"
    return why_not


def _no_run(learner: Learner) -> str:
    """Why a run in another geometry cannot be followed, example by example."""
    p = learner.parameters
    if p["geometry"] == "entropy":
        return "features came on the way, which took their share from the others, and no theorem covers that"
    if p["geometry"] != "euclidean" and learner.many_scores and p["classes"] is None:
        return "with a covariance the labels must be named ahead (--classes): the run is made again"
    return ""


def certified(studies: Sequence[tuple[Study, str]], stream: Stream | Shuffled) -> list[Certificate]:
    """Of learners that have seen the stream once; each with the reason why there is none, or "". It is read once."""
    seen = [None if why_not else hindsight(study) for study, why_not in studies]
    for piece in stream.once() if any(seen) else ():
        for each in seen:
            if each is not None:
                each.see(with_labels(piece.batch, each.study._task), piece.file.name)
    return [
        Certificate((), "", why_not) if its is None else _in_the_end(study, its)
        for (study, why_not), its in zip(studies, seen, strict=True)
    ]


def _in_the_end(study: Study, seen: Hindsight) -> Certificate:
    what = "the ball that was" if study.task == "uniclass" else "multiples of the weights that were"
    found = guarantees(study, seen, study.learner.statistics)
    return Certificate(
        tuple(found),
        f"{what} learned in the end",
        averaged=study.learner.averaged,
        rounds=study.learner.statistics.rounds,
    )


def guarantees(study: Study, seen: Hindsight, statistics: Statistics) -> list[Guarantee]:
    p = study.learner.parameters
    beta = beta_of(p) if p["step"] == "perceptron" and isinstance(study.learner, Learner) else 0.0
    step = study._task.step_of(p)
    return strongest(
        step, statistics, seen.comparators(statistics), C=float(p["C"]), beta=beta, dtype=p["dtype"]
    )


def moments(study: Study, stream: Stream | Shuffled, examples: list[int]) -> Iterator[Hindsight]:
    """What was seen after so many examples each time, in ascending order."""
    seen, wanted, count = hindsight(study), iter(examples), 0
    stop = next(wanted, None)
    for piece in stream.once():
        piece = piece._replace(batch=with_labels(piece.batch, study._task))
        begin = 0
        while stop is not None and stop <= count + len(piece.batch):
            seen.see(part(piece.batch, begin, stop - count), piece.file.name)
            begin = stop - count
            yield seen
            stop = next(wanted, None)
        seen.see(part(piece.batch, begin, len(piece.batch)), piece.file.name)
        count += len(piece.batch)


def hindsight(study: Study) -> Hindsight:
    if isinstance(study.learner, SequenceLearner):
        return _OfSentences(study)
    if study.ranker is not None:
        return _OfRankings(study)
    return _OfRows(study) if study.learner.parameters["geometry"] == "euclidean" else _OfRun(study)


class Hindsight:
    """What multiples of a predictor have suffered so far."""

    def __init__(self, study: Study) -> None:
        self.study = study

    def see(self, batch: Batch, name: str) -> None:
        """The next examples of the stream; a batch may have none."""
        if len(batch):
            self._see(batch, name)

    def _see(self, batch: Batch, name: str) -> None:
        raise NotImplementedError

    def comparators(self, statistics: Statistics) -> list[Comparator]:
        """The learner's statistics were these at the same moment: they know the largest q."""
        raise NotImplementedError


class _OfRows(Hindsight):
    """One vector an example."""

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        assert isinstance(study.learner, Learner)
        self.learner: Learner = study.learner
        self.norm2 = squared_length(self.learner)
        self.start: float | None = None if begins_with_one(self.learner) else self.norm2
        self.found: list[Comparator] = []
        self.lanes: Vector = np.zeros(0)  # of the latest examples

    def _see(self, batch: Batch, name: str) -> None:
        self.lanes = lanes = self.study.lanes(batch)
        q = np.ones(len(lanes))  # the learner knows it
        if self.study.task == "uniclass":
            if self.start is None:  # the first example was the first centre
                self.start, lanes = float(lanes[0]) ** 2, lanes[1:]
            its = [of_ball(self.learner, self.learner, lanes, self.start)]
        else:
            targets = targets_of(self.learner, self.study.truth(batch, name), len(batch))
            its = list(of_lanes(self.learner, lanes, targets, q, self.norm2, SCALES))
        self.found = [joined(*both) for both in zip(self.found, its, strict=True)] if self.found else its

    def comparators(self, statistics: Statistics) -> list[Comparator]:
        if self.study.task == "uniclass":  # 1 of every example
            return self.found
        return [replace(one, largest_q=statistics.largest_q, smallest_q=math.nan) for one in self.found]


class _OfRun(_OfRows):
    """With a covariance, a predictor is measured from the vectors of the run (`bounds_geometries`): it is made again.

    Of s u the distance is |s u|^2/a + Q(s u), and Q is a polynomial of s, of which the coefficients are summed up.
    """

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        p = self.learner.parameters
        two, known = (
            self.study.task == "classification" and not self.learner.many_scores,
            self.learner.labels.known,
        )
        # Of two classes both are known, so that no sign ever changes.
        again = {**p, "classes": known} if two and len(known) == 2 else p
        self.again = Study(Learner(study.task, **again))
        if self.learner._engine.n_names:  # readers of VW text give a name only once
            self.again.learner._engine.name_columns(self.learner.feature_names)
        self.full = p["geometry"] == "mahalanobis"
        self.diagonal = DiagonalAgain(p)
        self.u = self._whole(self.learner, self.learner.weights, self.learner.intercept)
        self.sums = np.zeros(3)
        self.scales = np.asarray(SCALES)
        self.spared = 0
        self.log_determinant = 0.0  # of I + X a/r, X the sum of xx' over the updates, if there is a matrix
        self.update_losses = np.zeros(len(SCALES))  # of two classes

    def _whole(self, learner: Learner, weights: Any, intercept: Any) -> Vector:
        """A row a lane, with the intercept at its end."""
        w = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        if learner._has_intercept:
            w = np.column_stack([w, np.reshape(intercept, (len(w), 1))])
        return w

    def _see(self, batch: Batch, name: str) -> None:
        super()._see(batch, name)
        learner: Any = self.again.learner
        two = self.study.task == "classification" and not self.learner.many_scores
        scores = self.lanes.reshape(len(batch), -1)[:, 0]
        truth = targets_of(self.learner, self.study.truth(batch, name), len(batch)) if two else scores
        for i in range(len(batch)):
            before, one = learner.statistics, part(batch, i, i + 1)
            size = self._size(one) if self.full else 0.0
            self.again.learn(one, name, BadLines())
            updated = learner.statistics.updates > before.updates
            mistaken = learner.statistics.mistakes > before.mistakes
            if updated:
                self._add(one)
                self.log_determinant += math.log1p(size / learner.parameters["covariance_regularizer"])
            if two and (updated or mistaken):
                self.spared += not mistaken
                short = self.learner.parameters["margin"] - truth[i] * scores[i] * self.scales
                self.update_losses += np.maximum(0.0, short)

    def _add(self, one: Batch) -> None:
        """What an update adds to Q: (w - s u)'(A_t - A_(t-1))(w - s u), w after it."""
        learner: Any = self.again.learner
        columns, values = self._features(one)
        w = self._whole(learner, learner.last_weights, learner.last_intercept)[:, columns]
        u = self.u[:, columns]
        if self.full:
            w, u = w @ values, u @ values
            added = np.array([1 / float(learner.parameters["covariance_regularizer"])])
        else:
            added = self.diagonal.update(columns, values)
        self.sums += [float((product * added).sum()) for product in (w * w, w * u, u * u)]

    def _size(self, one: Batch) -> float:
        """x'Sx"""
        learner: Any = self.again.learner
        if not isinstance(one.X, Rows):
            return float(learner.uncertainty_one(one.X[0]))
        known = narrowed(one.X, learner.n_features)
        unseen = unseen_squares(one, learner.n_features)
        fresh = 0.0 if unseen is None else float(unseen[0]) * learner.parameters["initial_variance"]
        return float(learner.uncertainty_of(known)[0]) + fresh

    def _features(self, one: Batch) -> tuple[list[int], Vector]:
        learner: Any = self.again.learner
        if isinstance(one.X, Rows):
            values, columns, starts, _ = one.X.arrays
            found = list(
                zip(
                    columns[starts[0] : starts[1]].tolist(),
                    values[starts[0] : starts[1]].tolist(),
                    strict=True,
                )
            )
        else:
            looked_up = learner._engine.look_up(one.X[0], 0, False)
            found = [(column, value) for _, value, column, _ in looked_up if column is not None]
        sums: dict[int, float] = {}  # hashed names may share a column
        for column, value in found:
            sums[column] = sums.get(column, 0.0) + value
        if learner._has_intercept:
            sums[-1] = 1.0
        return list(sums), np.fromiter(sums.values(), dtype=np.float64)

    def comparators(self, statistics: Statistics) -> list[Comparator]:
        p = self.learner.parameters
        a, r = float(p["initial_variance"]), float(p["covariance_regularizer"])
        beside = float(np.square(self.learner.thresholds).sum()) if self.study.task == "ordinal" else 0.0
        made: list[Comparator] = []
        for s, its, update_loss in zip(
            SCALES, super().comparators(statistics), self.update_losses.tolist(), strict=True
        ):
            Q = self.sums[0] - 2 * s * self.sums[1] + s * s * self.sums[2]
            distance2 = s * s * ((self.norm2 - beside) / a + beside)
            changed = {"selection": SECOND_ORDER + its.selection, "distance2": distance2 + Q}
            if isinstance(its, LabelComparator):
                made.append(replace(its, **changed))
                continue
            whole = {**{field.name: getattr(its, field.name) for field in fields(its)}, **changed}
            made.append(
                SecondOrderComparator(
                    **whole, full=self.full, initial_variance=a, regularizer=r, norm2=s * s * self.norm2,
                    start_distance2=distance2, seen=s * s * self.sums[2] * r * self.full, spared=self.spared,
                    update_loss=update_loss, log_determinant=self.log_determinant,
                )
            )  # fmt: skip
        return made


class _OfSentences(Hindsight):
    def __init__(self, study: Study) -> None:
        super().__init__(study)
        assert isinstance(study.learner, SequenceLearner)
        self.suffering = certificates_searched.Suffering(study.learner, study.learner, SCALES)
        self.run: certificates_searched.TaggerAgain | None = None
        if study.learner.parameters["geometry"] != "euclidean":
            self.run = certificates_searched.TaggerAgain(study.learner, [study.learner])

    def _see(self, batch: Batch, name: str) -> None:
        X: Any = batch.X
        y = self.study.truth(batch, name)
        self.suffering.see(X, y)
        for x, tags in zip(X, y, strict=True) if self.run is not None else ():
            self.run.see(x, tags)  # type: ignore[union-attr]

    def comparators(self, statistics: Statistics) -> list[Comparator]:
        terms = None if self.run is None else self.run.terms[0]
        return [*self.suffering.comparators(statistics.largest_q, terms)]


class _OfRankings(Hindsight):
    """Features depend on what was counted before: the run is made again."""

    def __init__(self, study: Study) -> None:
        super().__init__(study)
        self.again = certificates_searched.RankerAgain(study.ranker, [study.ranker.named_weights()])

    def see(self, batch: Batch, name: str) -> None:
        from ..structured.ranker import _relevant

        X: Any = batch.X
        for x, labels in zip(X, self.study.truth(batch, name), strict=True):
            self.again.see(x, _relevant(labels))

    def comparators(self, statistics: Statistics) -> list[Comparator]:
        return list(self.again.comparators(self.study.learner, SCALES))
