"""Streams of structures: the run is made again, to measure what its predictions cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ...structured.inputs import Batch
from ...structured.structured_learner import Joint, StructuredLearner
from .. import certificate as common
from ..certificate import Against, Certificate, certify, whole_stream
from ..comparators.covariance import Covariance
from .searched import OfSearched, least
from .sentences import check_comparator, started_elsewhere

if TYPE_CHECKING:
    from ...structured.structured import PAStructured

FEW = Against(common.FOUND.words, (0.1, 0.4, 1.0, 2.5))  # each needs a custom search for every example


class Recorder(StructuredLearner):
    """Learns, and records each round: what the prediction cost, and the scores that comparators give to the row
    a = Phi(x, y) - Phi(x, y')."""

    obstacle = ""
    free = False  # whether it moved where the prediction cost nothing

    def record(
        self, others: Sequence[StructuredLearner], rebuilt: Covariance | None, terms: list[Any]
    ) -> None:
        """`rebuilt` is the covariance of the run, if it has one; `terms` are those of Q, for each comparator."""
        self.others, self.rebuilt, self.terms = others, rebuilt, terms
        self.costs: list[float] = []
        self.wanted: list[float] = []
        self.leads: list[list[float]] = []  # u.a of each comparator

    def learn_constraint(self, truth: Joint, rival: Joint, wanted: float, weight: float, cost: float) -> None:
        before, p = self.statistics, self.parameters
        super().learn_constraint(truth, rival, wanted, weight, cost)
        # A search that finds the best has l_t >= the margin that the cost of the prediction asks for.
        least = float(p["margin"]) * (cost if p["selection"] == "max-additive" else math.sqrt(cost))
        if self.statistics.loss - before.loss < least - 1e-9 * max(1.0, before.loss, least):
            where = f"of example {before.rounds}"
            self.obstacle = f"the search has not found the best output {where}, and the theorems need that"
        updated = self.statistics.updates > before.updates
        self.free = self.free or (cost == 0 and updated)
        delta = truth.minus(rival)
        self.costs.append(cost)
        self.wanted.append(wanted)
        self.leads.append([other.score_joint(delta) for other in self.others])
        if self.rebuilt is None or not updated:
            return
        keys, z, w = _at(self, delta, False)
        update = self.rebuilt.update(keys, z)
        for terms, other in zip(self.terms, self.others, strict=True):
            terms += update.terms(w, _at(other, delta, other.averaged)[2])


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


class OfStructures(OfSearched):
    """Without a search for their worst rivals, comparators get the rivals of the run: then without multiples, because
    near 0 they would suffer what the run did."""

    again: Recorder

    def __init__(self, model: PAStructured, others: list[StructuredLearner], against: Against) -> None:
        self.searches = model.loss_augmented_argmax is not None
        alone = Against(f"{against.words}, with the rivals of the run", (1.0,))
        norms2 = [float(np.square(other.weights, dtype=np.float64).sum()) for other in others]
        super().__init__(model._fitted(), others, norms2, against if self.searches else alone)
        self.model = model
        self.again = Recorder(**self.learner.parameters)
        self.again.record(others, self.covariance, self.terms)

    def see(self, X: Any, y: Any, unseen: Any = None) -> None:
        from ...structured.structured import _inside

        batch, model, seen = Batch(X, y, None), self.model, len(self.again.wanted)
        _inside(model, lambda: model._pass(self.again, batch))  # the functions are the model's
        if self.other_run():
            return
        for (place, scale), losses in zip(self.multiples, self.losses, strict=True):
            if self.searches:
                examples = zip(batch.X, batch.y, strict=True)
                losses += [self._worst(self.others[place], scale, x, truth) for x, truth in examples]
            else:
                rounds = zip(self.again.wanted[seen:], self.again.leads[seen:], strict=True)
                losses += [max(0.0, wanted - leads[place]) for wanted, leads in rounds]

    def _worst(self, other: StructuredLearner, scale: float, x: Any, y: Any) -> float:
        """The loss of `scale` times the weights of another learner, against their worst rival."""
        model, p = self.model, self.learner.parameters
        worst = model._call("loss_augmented_argmax", None, other.view(other.averaged, scale=scale), x, y)
        cost = model._cost(None, y, worst)
        delta = model._features(other, None, x, y).minus(model._features(other, None, x, worst))
        wanted = float(p["margin"]) * (cost if p["selection"] == "max-additive" else math.sqrt(cost))
        return max(0.0, wanted - scale * other.score_joint(delta))

    def other_run(self) -> str:
        return self.again.obstacle or super().other_run()

    def costs(self) -> tuple[float, float]:
        costs, perceptron = np.asarray(self.again.costs), self.learner.parameters["step"] == "perceptron"
        smallest = 0.0 if perceptron and self.again.free else least(costs)
        return smallest, float(costs.max(initial=0.0))


def certificate(model: PAStructured, X: Any, y: Any, u: PAStructured | None = None) -> Certificate:
    """The certificate of a model that has learned the examples once, in order; `u` is one with the same functions."""
    check_comparator(model, u)
    learner, batch = model._fitted(), Batch(X, y, None)
    reason = started_elsewhere(learner) or whole_stream(learner.statistics.rounds, batch.count)
    if reason:
        return Certificate.none(reason)
    if u is not None:
        return certify([OfStructures(model, [u._fitted()], common.GIVEN)], [(X, y)])
    once = {"max_iter": common.PASSES, "tol": None, "shuffle": False, "verbose": 0, "geometry": "euclidean"}
    models = [clone(model).set_params(**once, **its).fit(X, y) for its in common.cautious_and_bold(learner)]
    others = [other._fitted() for other in models]
    return certify([OfStructures(model, others, FEW)], [(X, y)])
