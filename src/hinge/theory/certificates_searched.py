"""Certificates of learners that search, or that count on the way: sequences, structures, and rankers with features of
their own for each label.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ..data import targets
from ..data.errors import InputTypeError
from ..structured.feature_maps import checked_features
from ..structured.inputs import Batch
from ..structured.sequence_learner import SequenceLearner
from ..structured.structured_learner import Joint, StructuredLearner
from .bounds_labels import structured_comparator
from .certificates import FOUND, GIVEN, Certificate, strongest, whole_stream
from .certificates_compared import ANOTHER_RUN, CS, PASSES, SCALES, label_options, same_run
from .comparators import LabelComparator, _compare
from .comparators_geometries import SECOND_ORDER, DiagonalAgain
from .comparators_single import Comparator

if TYPE_CHECKING:
    from ..structured.ranker import PARanker
    from ..structured.structured import PAStructured

FEW_SCALES = (0.1, 0.4, 1.0, 2.5)  # where each costs a search of one's own for every example


def no_theorem(learner: Any) -> str:
    """Why there is none for this learner on any stream; "" if there may be one."""
    if learner.parameters.get("w1") is not None:
        return "the learner must have started at zero"
    return ""


def certificate_of(learner: Any, comparators: Iterable[Comparator], against: str) -> Certificate:
    p = learner.parameters
    found = strongest(p["step"], learner.statistics, comparators, C=float(p["C"]), dtype=p["dtype"])
    return Certificate(tuple(found), against, averaged=bool(p["average"]), rounds=learner.statistics.rounds)


def _cautious_and_bold(learner: Any) -> list[dict[str, Any]]:
    """Options of the comparators that are found."""
    largest = max(learner.statistics.largest_q, 1e-12)
    return [{"step": "pa1", "C": C / largest, "average": True} for C in CS]


def _least(costs: Any) -> float:
    """The smallest of those that are not 0."""
    return float(costs[costs > 0].min()) if costs.any() else 1.0


# ---- with a covariance ----------------------------------------------------------------------------------------


def _follows(learner: Any) -> bool:
    """Whether a comparator is measured from the vectors of the run (see `bounds_geometries`)."""
    return bool(learner.parameters.get("geometry", "euclidean") != "euclidean")


def _terms(added: Any, w: Any, u: Any) -> Any:
    """What an update adds to Q(s u), a polynomial of s: of 1, -2 s and s^2. `added`: to the inverse of the covariance,
    at the coordinates of w and u."""
    return np.array([(added * w * w).sum(), (added * w * u).sum(), (added * u * u).sum()])


def _from_the_run(learner: Any, one: LabelComparator, scale: float, terms: Any) -> LabelComparator:
    """The distance of s u is |s u|^2/a + Q(s u)."""
    p = learner.parameters
    Q = float(terms @ (1.0, -2 * scale, scale * scale))
    distance2 = one.distance2 / float(p["initial_variance"]) + Q
    return replace(one, selection=SECOND_ORDER + one.selection, distance2=distance2)


# ---- sequences ------------------------------------------------------------------------------------------------


def no_search(learner: SequenceLearner) -> str:
    """Why the worst rival of a comparator cannot be searched; "" if it can."""
    cost, selection = learner.parameters["cost"], learner.parameters["selection"]
    if callable(cost):
        return "for a cost that is a function there is no search of a comparator's worst rival"
    if cost is not None and selection == "prediction" and not (_matrix(learner) % 1 == 0).all():
        return "the search of a comparator's worst rival needs costs that are whole numbers"
    return ""


def _matrix(learner: SequenceLearner) -> Any:
    """What tags cost."""
    cost, known = learner.parameters["cost"], learner.labels.known
    if cost is None:
        return 1.0 - np.eye(len(known))
    return targets.square_matrix(cost, known, "cost", 0.0)


class Suffering:
    """What multiples of the weights of a tagger suffer, sentence by sentence, with the losses of the learner."""

    def __init__(
        self, learner: SequenceLearner, other: SequenceLearner, scales: Iterable[float] = SCALES
    ) -> None:
        self.learner, self.other, self.scales = learner, other, list(scales)
        self.losses: list[list[float]] = [[] for _ in self.scales]
        self.largest_cost = 0.0

    def see(self, X: Any, y: Any) -> None:
        p, costs = self.learner.parameters, _matrix(self.learner).max(axis=1, initial=0.0)
        places = {tag: place for place, tag in enumerate(self.learner.labels.known)}
        for tags in y:
            self.largest_cost = max(self.largest_cost, float(sum(costs[places[tag]] for tag in tags)))
        for scale, losses in zip(self.scales, self.losses, strict=True):
            # The loss of s u with the margin m is s times that of u with the margin m/s.
            margin, additive = float(p["margin"]) / scale, p["selection"] == "max-additive"
            losses += (scale * self.other.suffered(X, y, margin, additive)).tolist()

    def comparators(self, largest_q: float, terms: Any = None) -> list[LabelComparator]:
        """With a covariance, `terms` are those of Q."""
        p, costs = self.learner.parameters, _matrix(self.learner)
        smallest = _least(costs)
        perceptron = p["step"] == "perceptron"
        if perceptron and (costs[~np.eye(len(costs), dtype=bool)] == 0).any():
            smallest = 0.0
        weights = [*self.other.transitions().values(), *self.other.emissions().values()]
        norm2 = math.fsum(weight * weight for weight in weights)
        made = [
            structured_comparator(
                losses,
                norm2=scale**2 * norm2,
                largest_q=largest_q,
                largest_cost=self.largest_cost,
                smallest_cost=smallest,
                selection=p["selection"],
                margin=float(p["margin"]),
                perceptron=perceptron,
            )
            for scale, losses in zip(self.scales, self.losses, strict=True)
        ]
        if terms is None:
            return made
        return [_from_the_run(self.learner, *its, terms) for its in zip(made, self.scales, strict=True)]


def check_comparator(model: Any, u: Any) -> None:
    if u is not None and not isinstance(u, type(model)):
        raise InputTypeError(f"u must be a {type(model).__name__}, not {type(u).__name__}")


def of_sequences(learner: SequenceLearner, X: Any, y: Any, u: SequenceLearner | None = None) -> Certificate:
    """It has learned the sentences X with their tags y once, in their order, without weights. `u` is another one,
    whose weights (the average, if it has one) are the comparator's; None finds some."""
    reason = no_theorem(learner) or no_search(learner) or whole_stream(learner.statistics.rounds, len(X))
    if reason:
        return Certificate((), "", reason)
    others = list(_other_taggers(learner, X, y)) if u is None else [u]
    terms = _terms_of_sentences(learner, others if _follows(learner) else [], X, y)
    if terms is None:
        return Certificate((), "", ANOTHER_RUN)
    comparators: list[Comparator] = []
    for other, its in itertools.zip_longest(others, terms):
        suffering = Suffering(learner, other, SCALES if u is None else (1.0,))
        suffering.see(X, y)
        comparators += suffering.comparators(learner.statistics.largest_q, its)
    return certificate_of(learner, comparators, FOUND if u is None else GIVEN)


class TaggerAgain:
    """The run of a tagger, and with a covariance the terms of Q for each of the others. `ahead`: it knew the tags."""

    def __init__(self, learner: SequenceLearner, others: list[SequenceLearner], ahead: bool = False) -> None:
        self.again = SequenceLearner(**learner.parameters)
        self.again.closed = learner.closed
        if ahead and not self.again.labels.known:
            self.again.know(learner.labels.known)
        self.terms = [np.zeros(3) for _ in others]
        self.diagonal = DiagonalAgain(learner.parameters)
        self.weights = [
            {(False, *key): weight for key, weight in other.transitions().items()}
            | {(True, *key): weight for key, weight in other.emissions().items()}
            for other in others
        ]

    def see(self, x: Any, tags: Any) -> None:
        again, before = self.again, self.again.statistics.updates
        again.learn_one(x, tags)
        if not self.terms or again.statistics.updates == before:
            return
        delta = again._engine.delta()
        z, w = (np.array([entry[place] for entry in delta]) for place in (3, 4))
        added = self.diagonal.update([entry[:3] for entry in delta], z)
        for terms, weights in zip(self.terms, self.weights, strict=True):
            terms += _terms(added, w, np.array([weights.get(entry[:3], 0.0) for entry in delta]))

    def was_run_of(self, learner: SequenceLearner) -> bool:
        return (
            same_run(learner.statistics, self.again.statistics)
            and self.again.labels.known == learner.labels.known
        )


def _terms_of_sentences(
    learner: SequenceLearner, others: list[SequenceLearner], X: Any, y: Any
) -> list[Any] | None:
    """The run is made again: the terms of Q for each of the others; None if it goes another way."""
    for ahead in (False, True):  # where tags tie, the run depends on it
        run = TaggerAgain(learner, others, ahead)
        for x, tags in zip(X, y, strict=True):
            run.see(x, tags)
        if run.was_run_of(learner):
            return run.terms
    return None


def _other_taggers(learner: SequenceLearner, X: Any, y: Any) -> Iterator[SequenceLearner]:
    for options in _cautious_and_bold(learner):
        search = "max-additive" if learner.parameters["selection"] == "max-additive" else "max"
        changed = {**options, "selection": search, "geometry": "euclidean", "dtype": np.float64}
        other = SequenceLearner(**{**learner.parameters, **changed})
        if not other.labels.known:
            other.know(learner.labels.known)
        lesson = other.read(X, y)
        for _ in range(PASSES):
            other.learn_rows(lesson, None, None)
        yield other


# ---- structures -----------------------------------------------------------------------------------------------


class _Recorder(StructuredLearner):
    """It learns, and keeps what its rounds were like: what the predictions cost, and what comparators say of the rows
    a = Phi(x, y) - Phi(x, y')."""

    others: list[StructuredLearner]
    obstacle = ""
    free = False  # whether it moved where the prediction cost nothing

    def record(self, others: list[StructuredLearner]) -> None:
        self.others = others
        self.costs: list[float] = []
        self.wanted: list[float] = []
        self.leads: list[list[float]] = []  # u.a of each comparator
        self.terms = [np.zeros(3) for _ in others]  # of Q, with a covariance
        self.diagonal = DiagonalAgain(self.parameters)

    def learn_constraint(self, truth: Joint, rival: Joint, wanted: float, weight: float, cost: float) -> None:
        before, p = self.statistics, self.parameters
        super().learn_constraint(truth, rival, wanted, weight, cost)
        # A search that finds the best has l_t >= the margin that the cost of the prediction asks for.
        least = float(p["margin"]) * (cost if p["selection"] == "max-additive" else math.sqrt(cost))
        if self.statistics.loss - before.loss < least - 1e-9 * max(1.0, before.loss, least):
            where = f"of example {before.rounds}"
            self.obstacle = f"the search has not found the best output {where}, and the theorems need that"
        self.free = self.free or (cost == 0 and self.statistics.updates > before.updates)
        delta = truth.minus(rival)
        self.costs.append(cost)
        self.wanted.append(wanted)
        self.leads.append([other.score_joint(delta) for other in self.others])
        if _follows(self) and self.statistics.updates > before.updates:
            self._follow(delta)

    def _follow(self, delta: Joint) -> None:
        """Adds what this update adds to Q of each comparator."""
        keys, z, w = _at(self, delta, False)
        if self.parameters["geometry"] == "mahalanobis":  # (w - s u)'zz'(w - s u)/r
            added = np.array([1 / float(self.parameters["covariance_regularizer"])])
            for terms, lead in zip(self.terms, self.leads[-1], strict=True):
                terms += _terms(added, np.array([z @ w]), np.array([lead]))
            return
        added = self.diagonal.update(keys, z)
        for terms, other in zip(self.terms, self.others, strict=True):
            terms += _terms(added, w, _at(other, delta, other.averaged)[2])


def _at(learner: StructuredLearner, delta: Joint, averaged: bool) -> tuple[Any, Any, Any]:
    """The features by their keys, their values, and their weights."""
    if delta.kind == "array":
        return range(len(delta.values)), delta.values, np.asarray(learner.view(averaged), dtype=np.float64)
    if delta.kind == "sparse":
        columns, values = delta.stored()
        return columns.tolist(), values, np.asarray(learner.view(averaged)[columns], dtype=np.float64)
    found: dict[Any, tuple[float, float]] = {}  # hashed names may share a column
    for name, value, column, weight in learner._engine.look_up(delta.values, 0, averaged):
        key = ("name", name) if column is None else ("column", column)
        found[key] = (found.get(key, (0.0, 0.0))[0] + value, weight)
    both = np.array(list(found.values())).reshape(-1, 2)
    return list(found), both[:, 0], both[:, 1]


def of_structures(model: PAStructured, X: Any, y: Any, u: PAStructured | None = None) -> Certificate:
    """The same for structures; `u` is another model with the same functions. The run is made again, to see what its
    predictions have cost. Where no search finds the comparator's worst rivals, it has those of the run."""
    from ..structured.structured import _inside

    check_comparator(model, u)
    learner, batch = model._fitted(), Batch(X, y, None)
    reason = no_theorem(learner) or whole_stream(learner.statistics.rounds, batch.count)
    if reason:
        return Certificate((), "", reason)
    models: list[Any] = [u]
    if u is None:
        once = {"max_iter": PASSES, "tol": None, "shuffle": False, "verbose": 0, "geometry": "euclidean"}
        models = [clone(model).set_params(**once, **its).fit(X, y) for its in _cautious_and_bold(learner)]
    others = [other._fitted() for other in models]
    again = _Recorder(**learner.parameters)
    again.record(others)
    _inside(model, lambda: model._pass(again, batch))  # the functions are the model's
    if again.obstacle or not same_run(learner.statistics, again.statistics):
        return Certificate((), "", again.obstacle or ANOTHER_RUN)
    searches = model.loss_augmented_argmax is not None
    against = (FOUND if u is None else GIVEN) + ("" if searches else ", with the rivals of the run")
    # On the rivals of a run, a comparator near 0 suffers what the run did: nothing is learned from small scales.
    scales = FEW_SCALES if searches and u is None else (1.0,)
    comparators = []
    for place, other in enumerate(others):
        for scale in scales:
            if searches:
                losses = [
                    _worst(model, other, scale, x, truth) for x, truth in zip(batch.X, batch.y, strict=True)
                ]
            else:
                losses = [max(0.0, w - its[place]) for w, its in zip(again.wanted, again.leads, strict=True)]
            made = _of_structure(learner, again, losses, scale, other)
            comparators.append(
                _from_the_run(learner, made, scale, again.terms[place]) if _follows(learner) else made
            )
    return certificate_of(learner, comparators, against)


def _worst(model: PAStructured, other: StructuredLearner, scale: float, x: Any, y: Any) -> float:
    """What `scale` times the weights of another one suffer from their worst rival, with the losses of the model."""
    p = model._fitted().parameters
    worst = model._call("loss_augmented_argmax", None, other.view(other.averaged, scale=scale), x, y)
    cost = model._cost(None, y, worst)
    delta = model._features(other, None, x, y).minus(model._features(other, None, x, worst))
    wanted = float(p["margin"]) * (cost if p["selection"] == "max-additive" else math.sqrt(cost))
    return max(0.0, wanted - scale * other.score_joint(delta))


def _of_structure(
    learner: StructuredLearner, again: _Recorder, losses: list[float], scale: float, other: StructuredLearner
) -> LabelComparator:
    p, costs = learner.parameters, np.asarray(again.costs)
    perceptron = p["step"] == "perceptron"
    return structured_comparator(
        losses,
        norm2=scale**2 * float(np.square(other.weights, dtype=np.float64).sum()),
        largest_q=learner.statistics.largest_q,
        largest_cost=float(costs.max(initial=0.0)),
        smallest_cost=0.0 if perceptron and again.free else _least(costs),
        selection=p["selection"],
        margin=float(p["margin"]),
        perceptron=perceptron,
    )


# ---- labels with features of their own ----------------------------------------------------------------------------


class RankerAgain:
    """The run of a ranker: the sizes of its rows, and what the comparators, dicts of weights, say of each label."""

    def __init__(self, model: PARanker, others: list[dict[str, float]], ahead: bool = False) -> None:
        self.others = others
        self.places = {label: place for place, label in enumerate(model._fitted().labels.known)}
        self.again = clone(model)
        learner = self.again._begin(list(self.places)) if ahead else self.again._new_learner()
        self.again._keep(learner, feature_map_=self.again._new_map())
        self.scores: list[list[Any]] = [[] for _ in others]
        self.relevant: list[Any] = []
        self.largest: list[float] = []
        self.smallest: list[float] = []

    def see(self, x: Any, relevant: list[Any]) -> None:
        """One round. Labels that are still to come have the score -inf."""
        labels = self.again._learner.labels
        known = [*labels.known, *(label for label in relevant if label not in labels.codes)]
        names, values = checked_features(self.again.feature_map_, x, known)
        places = [self.places[label] for label in known]
        for scores, weights in zip(self.scores, self.others, strict=True):
            row = np.full(len(self.places), -np.inf)
            row[places] = values @ np.array([weights.get(name, 0.0) for name in names])
            scores.append(row)
        wanted = np.isin(np.arange(len(self.places)), [self.places[label] for label in relevant])
        its = wanted[places]
        q = ((values[its][:, None] - values[~its]) ** 2).sum(axis=2)
        self.relevant.append(wanted)
        self.largest.append(q.max(initial=0.0))
        self.smallest.append(q.min(initial=np.inf))
        self.again.learn_one(x, relevant)

    def was_run_of(self, learner: Any) -> bool:
        return same_run(learner.statistics, self.again._learner.statistics)

    def comparators(self, learner: Any, scales: Iterable[float]) -> Iterator[Comparator]:
        p, options = learner.parameters, label_options(learner)
        for scores, weights in zip(self.scores, self.others, strict=True):
            norm = math.sqrt(math.fsum(weight**2 for weight in weights.values()))
            for scale in scales:
                yield _compare(
                    scale * np.array(scores), np.array(self.relevant), np.array(self.largest),
                    np.array(self.smallest), np.array([scale * norm]), np.zeros(1), p["selection"], p["margin"],
                    options["cost"], options["nu"],
                )  # fmt: skip


def of_ranker(model: PARanker, X: Any, y: Any, u: PARanker | None = None) -> Certificate:
    """The same for a ranker; `u` is another one."""
    from ..structured.ranker import _Batch

    check_comparator(model, u)
    learner, batch = model._fitted(), _Batch(X, y, None)
    reason = no_theorem(learner) or whole_stream(learner.statistics.rounds, len(batch.X))
    if len(learner.labels.known) < 2:
        reason = reason or "with fewer than two labels there was nothing to rank"
    if reason:
        return Certificate((), "", reason)
    models: list[Any] = [u]
    if u is None:
        once: dict[str, Any] = {
            "selection": "simproj" if model.cost is None else "max",
            "max_iter": PASSES,
            "shuffle": False,
        }
        once |= {"nu": None, "verbose": 0}
        models = [clone(model).set_params(**once, **its).fit(X, y) for its in _cautious_and_bold(learner)]
    others = [other.named_weights() for other in models]
    for ahead in (False, True):  # where labels tie, the run may depend on it
        run = RankerAgain(model, others, ahead)
        for x, relevant in zip(batch.X, batch.relevant, strict=True):
            run.see(x, relevant)
        if run.was_run_of(learner):
            scales = SCALES if u is None else (1.0,)
            return certificate_of(learner, run.comparators(learner, scales), FOUND if u is None else GIVEN)
    return Certificate((), "", ANOTHER_RUN)
