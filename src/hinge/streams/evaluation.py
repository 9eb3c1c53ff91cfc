"""A learner on a stream: it reads the labels of a batch for its task, learns, predicts, and keeps the score."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .._core import Engine, EventPart, TextPart
from ..data.errors import InputError, for_each
from ..data.labels import Labels
from ..data.weights import GivenWeights
from ..features.features import Features
from ..features.pipeline import Pipeline
from ..learner import Learner
from ..model.experts import Experts, is_committee
from ..model.explain import Contribution
from ..model.loading import load
from ..model.statistics import Statistics
from ..options import table
from ..tasks import task_named
from ..tasks.task import Task
from .batches import BadLines, Batch, has_one_label_each, listed_labels, part, rows_of_text, taken
from .order import Order

if TYPE_CHECKING:
    from ..data.types import Doubles
    from ..structured.sequence_learner import SequenceLearner


@dataclass
class Score:
    """The score of a learner so far: every prediction was made before its truth was known."""

    rounds: int = 0  # examples; of sentences, tokens
    cost: float = 0.0  # the sum: mistakes, or how far off

    @property
    def error(self) -> float:
        return self.cost / self.rounds if self.rounds else float("nan")

    def since(self, before: Score) -> Score:
        return Score(self.rounds - before.rounds, self.cost - before.cost)


class Taken(NamedTuple):
    """How far a batch was learned."""

    rows: int  # from its beginning
    rejected: int  # among them
    unlabelled: int  # among them: they were not learned either
    error: InputError | None = None  # why the next row was rejected, if none may be skipped


class Study:
    """A learner and its score on one stream."""

    def __init__(self, model: Any) -> None:
        """`model`: a learner, or an estimator whose feature map belongs to it."""
        learner: Learner | SequenceLearner = getattr(model, "_learner", model)
        self.model, self.learner = model, learner
        self.ranker: Any = None if model is learner else model  # a PARanker, if features depend on the label
        self._task, self.task = learner._task, learner.task
        self.features: Features | None = None  # what made features of records, to be kept with the model
        self.is_committee = isinstance(learner, Learner) and is_committee(learner)
        self.as_committee = self.is_committee  # whether the error is that of committees, if the task has two
        self.score = Score()
        self.order = Order()
        self.given_weights = GivenWeights()
        if isinstance(weights := learner.parameters.get("class_weight"), Mapping):
            self.given_weights.see(list(weights.values()))

    @classmethod
    def new(cls, task: str, options: dict[str, Any]) -> Study:
        table.check_names(task, options)
        return cls(task_named(task).new_model(options))

    @classmethod
    def load(cls, path: str) -> Study:
        """A model from its file: also those that estimators saved."""
        return cls.of(load(path), path)

    @classmethod
    def of(cls, model: Any, path: str) -> Study:
        """A model that was loaded from a file."""
        features = None
        if isinstance(model, Pipeline):
            model, features = model.model, model.features
        kind, task = type(model).__name__, getattr(getattr(model, "_learner", model), "_task", None)
        if task is None or not task.on_streams:
            raise ValueError(f"{path} is a {kind}, which needs functions of your own: use it from Python")
        # An estimator around a learner of rows adds nothing; one with a feature map does.
        study = cls(model if task.has_feature_map else getattr(model, "_learner", model))
        study.features = features
        return study

    @property
    def experts(self) -> Experts:
        """The experts of a committee; a single learner has none."""
        learner = self.learner
        return learner.experts if self.is_committee and isinstance(learner, Learner) else Experts()

    @property
    def error_words(self) -> str:
        """What the error is, after its number."""
        return (self._measures_otherwise and self._task.committee_error_words) or self._task.error_words

    @property
    def _measures_otherwise(self) -> bool:
        """Whether the error is the one that committees have, and single learners of this task have not."""
        return self.as_committee and self._task.committee_error_words is not None

    @property
    def _guesses(self) -> bool:
        """Whether the core does not count the error: it is that of the average, or not of a single learner."""
        return self.learner.averaged or (self._measures_otherwise and not self.is_committee)

    def save(self, path: str | os.PathLike[str]) -> None:
        model = self.model if self.features is None else Pipeline(self.features, self.model)
        model.save(path)

    # ---- see `SessionStudy` -----------------------------------------------------------------------------------

    @property
    def statistics(self) -> Statistics:
        return self.learner.statistics

    @property
    def notes(self) -> dict[str, Any]:
        return self.learner.notes

    @property
    def size_text(self) -> str:
        return f"{self.learner.n_features:,} features"

    @property
    def size_record(self) -> dict[str, int]:
        return {"features": self.learner.n_features}

    # ---- learning ---------------------------------------------------------------------------------------------

    def begin_pass(self, number: int) -> None:
        """Passes count from 0. The vote of a committee learns in the first one: later, the examples were seen before,
        and their errors say little about others."""
        if self.is_committee and isinstance(self.learner, Learner):
            self.learner._engine.set_learning(members=True, vote=number == 0)

    def learn(
        self,
        batch: Batch,
        name: str,
        bad: BadLines,
        costs: list[float] | None = None,
        scored: list[tuple[Batch, Doubles]] | None = None,
        **passing: Any,
    ) -> Taken:
        """Predicts and learns, one example after the other. Rejected examples go to `bad`, and are left out, as
        are those without a label. `name` is that of the file. `costs`: see `guess`. `passing`: see `Learner.learn`.
        `scored` gets what was learned, with the `lanes` of each example before its round; for one of `runs`.
        """
        self._check_kind(batch, name)
        self._name(batch)
        rows = labelled(batch, self._task)
        known = batch if rows is None else taken(batch, rows)
        if self._guesses:
            costs = costs or self.guess(batch, name) or []
            costs = costs if rows is None else [costs[row] for row in rows]

        def learn(start: int, stop: int) -> None:
            some = None if costs is None else costs[start:stop]
            self._learn(part(known, start, stop), name, passing, some, scored)

        return in_order(batch, rows, bad, learn)

    def _learn(
        self,
        batch: Batch,
        name: str,
        passing: dict[str, Any],
        costs: list[float] | None,
        scored: list[tuple[Batch, Doubles]] | None,
    ) -> None:
        learner, before = self.learner, self.learner.statistics
        if passing and not isinstance(batch.X, TextPart):
            raise ValueError(
                "--batch-tolerance is for svmlight and VW text: events are presented all, or not at all"
            )
        y = self.truth(batch, name)
        try:
            if scored is not None:
                from ..tasks.batch import learn_scored

                assert isinstance(learner, Learner)
                X = rows_of_text(batch.X) if isinstance(batch.X, TextPart) else batch.X
                scored.append((batch, learn_scored(learner, X, y, batch.weights)))
            elif isinstance(batch.X, TextPart) and isinstance(learner, Learner):
                if passing or not learner.learn_text(batch.X):
                    learner.learn_rows(rows_of_text(batch.X), y, batch.weights, **passing)
            else:
                self.model.learn_many(batch.X, y, batch.weights)
        except (ValueError, TypeError, OverflowError) as error:
            raise located(error, batch, name) from None
        if self._task.watches_order:
            self.order.see(y)
        self.given_weights.see(batch.weights)
        after = learner.statistics
        # What the batch conversion does not present has no loss: it was predicted, and it was right.
        rounds = len(batch) if passing else after.rounds - before.rounds
        self.score.rounds += self._task.count(y, rounds)
        by_cost = self._task.suffers_cost or self._measures_otherwise
        suffered = after.cost - before.cost if by_cost else after.mistakes - before.mistakes
        for cost in [suffered] if costs is None else costs:
            self.score.cost += cost

    def runs(self, batch: Batch, with_scores: bool) -> Iterator[tuple[int, int]]:
        """Where to cut a batch of which every prediction is wanted: examples that can be learned together, with
        `scored`, and single ones. Each run must be learned before the next one is requested.

        An example with a new label, or with none, is alone, and so is the first one with new columns. So is each of
        those whose scores a batch cannot return (ranks: they need the thresholds of that moment)."""
        learner, start = self.learner, 0
        alone = not has_scores(self.learner) or (with_scores and self._task.scores_need_the_round)
        labels = [] if alone else listed_labels(batch)
        while start < len(batch):
            stop = start + 1
            fresh = isinstance(batch.X, TextPart) and batch.X.width > learner.n_features
            if labels and not fresh and self._task.is_known(labels[start], learner.labels):
                while stop < len(batch) and self._task.is_known(labels[stop], learner.labels):
                    stop += 1
            yield start, stop
            start = stop

    def guess(self, batch: Batch, name: str) -> list[float] | None:
        """What the prediction of each example costs, if the core does not count it; None: it does. What will be
        rejected, or has no label, costs nothing: it is not learned."""
        if not self._guesses:
            return None
        rows = labelled(batch, self._task)
        if rows is None:
            return self._guess(batch, name)
        costs = dict(zip(rows, self._guess(taken(batch, rows), name), strict=True))
        return [costs.get(row, 0.0) for row in range(len(batch))]

    def _guess(self, batch: Batch, name: str) -> list[float]:
        try:
            return self._costs_of(batch, self.truth(batch, name), name) if len(batch) else []
        except ValueError:
            if len(batch) == 1:
                return [0.0]
        middle = len(batch) // 2
        return [
            *self._guess(part(batch, 0, middle), name),
            *self._guess(part(batch, middle, len(batch)), name),
        ]

    def _check_kind(self, batch: Batch, name: str) -> None:
        """Sentences are for sequences, and nothing else is. Features with names are for models with names."""
        X, where = batch.X, batch.lines[0] if len(batch) else 1
        sentences = isinstance(X, list) and bool(X) and isinstance(X[0], list) and self.ranker is None
        if sentences and not self._task.has_sentences:
            raise InputError(
                f"there are sentences, which are not for the task {self.task}", file=name, line=where
            )
        if not sentences and self._task.has_sentences:
            raise InputError(
                "sequences need sentences (--format conll), and there are none", file=name, line=where
            )
        engine = self.learner._engine
        if not isinstance(engine, Engine) or self.ranker is not None or self.learner.parameters["hash_bits"]:
            return
        numbered = engine.n_names == 0 or not isinstance(engine.name_of(0), str)
        if engine.n_columns > 0 and numbered != batch.numbered:
            theirs, ours = ("numbers", "names") if batch.numbered else ("names", "numbers")
            raise InputError(
                f"the features have {theirs}, those of the model have {ours}", file=name, line=where
            )

    def _name(self, batch: Batch) -> None:
        if isinstance(batch.X, TextPart) and isinstance(self.learner, Learner):
            self.learner._engine.name_text_columns(batch.X)

    def explain(self, batch: Batch, row: int, most: int) -> list[Contribution]:
        """The features of an example that contributed most to the score of what is predicted."""
        learner = self.learner
        if not isinstance(learner, Learner) or self.ranker is not None:
            raise ValueError(f"--explain is not for the task {self.task}")
        if not isinstance(batch.X, TextPart):
            return learner.explain_one(batch.X[row])[:most]
        values, columns, *_ = batch.X.part(row, row + 1).narrowed(learner.n_features).csr()
        if learner.parameters["hash_bits"] is not None:
            raise ValueError("--explain needs names: those of this model are hashed (--hash-bits)")
        names = learner._engine.name_of
        learner._events()
        event = {
            names(column): value for column, value in zip(columns.tolist(), values.tolist(), strict=True)
        }
        first = batch.first_index if batch.numbered else 0
        return [
            part._replace(feature=part.feature + first) if isinstance(part.feature, int) else part
            for part in learner.explain_one(event)[:most]
        ]

    # ---- predicting -------------------------------------------------------------------------------------------

    def predict(self, batch: Batch, name: str) -> list[Any]:
        """A label, a number, a list of labels or of tags for each example."""
        self._check_kind(batch, name)
        if not self._is_native(batch):
            return self._task.predict_events(self.model, batch.X)
        return self.predicted(self.lanes(batch))

    def _is_native(self, batch: Batch) -> bool:
        """Whether the core scores the examples together."""
        is_learner = isinstance(self.learner, Learner) and self.ranker is None
        return isinstance(batch.X, TextPart) or (isinstance(batch.X, EventPart) and is_learner)

    def predicted(self, lanes: Doubles) -> list[Any]:
        """The predictions of examples, from their `lanes`."""
        assert isinstance(self.learner, Learner)
        return self._task.predictions(self.learner, lanes)

    def scores(self, batch: Batch) -> list[Any]:
        """A number for each example, or a dict with one for each label."""
        if not self._is_native(batch):
            return for_each(self.model.score_one, batch.X)
        return self.scored(self.lanes(batch))

    def scored(self, lanes: Doubles) -> list[Any]:
        """The scores of examples, from their `lanes`."""
        assert isinstance(self.learner, Learner)
        return self._task.named_scores(self.learner, lanes)

    def lanes(self, batch: Batch) -> Doubles:
        """The raw scores of each example, see `Learner.lanes_of`. Not for sequences."""
        learner = self.learner
        assert isinstance(learner, Learner)
        if not isinstance(batch.X, TextPart):
            return learner.lanes(batch.X)
        known = learner.n_features
        rows = rows_of_text(batch.X, known)
        if learner._sees_unseen:
            return learner.lanes_of(rows, batch.X.unseen_squares(known))
        lanes = learner.lanes_of(rows)
        if not self._task.measures_distance or learner.parameters["kernel"] is not None:
            return lanes
        import numpy as np

        unseen = batch.X.unseen_squares(known)  # to a ball, features never seen are distance
        return lanes if unseen is None else np.hypot(lanes, np.sqrt(unseen))

    def cost(self, batch: Batch, name: str) -> Score:
        """What the predictions for a batch with labels cost, as `score` counts it."""
        y = self.truth(batch, name)
        return Score(self._task.count(y, len(batch)), sum(self._costs_of(batch, y, name)))

    def _costs_of(self, batch: Batch, y: Any, name: str) -> list[float]:
        """What the prediction of each example costs."""
        if self._measures_otherwise:
            return self._task.committee_costs(self.predict(batch, name), y, self.learner.labels)
        made = self.scores(batch) if self._task.is_judged_by_scores else self.predict(batch, name)
        truth = y.tolist() if isinstance(y, memoryview) else y
        return self._task.costs(made, truth, self.learner.labels)

    # ---- labels -----------------------------------------------------------------------------------------------

    def truth(self, batch: Batch, name: str) -> Any:
        """The labels as the learner takes them. One that does not fit the task is rejected, with its line."""
        task = self._task
        if not task.needs_labels:
            return None
        if isinstance(batch.X, TextPart) and not task.checks_numbers and batch.X.one_label_each:
            return batch.X.labels
        return truths(batch, name, task, self.learner.labels)


def truths(batch: Batch, name: str, task: Task, known: Labels) -> list[Any]:
    """The labels of a batch as the task takes them."""
    labels = listed_labels(batch)
    if task.core_knows_labels and set(map(type, labels)) <= {str, int, float, bool}:
        return labels
    y = []
    for row, label in enumerate(labels):
        try:
            y.append(task.truth(label, known))
        except ValueError as error:
            raise InputError(str(error), row, file=name, line=batch.lines[row]) from None
    return y


def in_order(batch: Batch, rows: list[int] | None, bad: BadLines, learn: Callable[[int, int], None]) -> Taken:
    """Learns from some rows of a batch (None: all), one after the other. `learn` takes those from one to another, all
    or none: it raises an InputError with the row (from its first one) that is rejected, which goes to `bad`."""
    count = len(batch) if rows is None else len(rows)
    rejected = start = 0
    stop, reason = count, None
    while start < count:
        try:
            learn(start, stop)
            start = stop
        except InputError as error:
            if error.row is None:
                raise
            stop, reason = start + error.row, error
            error.row = None  # the line says where
        if start < stop or reason is None:  # before a rejected one: the examples before it
            continue
        if (end := bad.reject(reason)) is not None:
            there = start if rows is None else rows[start]
            return Taken(there, rejected, there - start, end)
        rejected, start, stop, reason = rejected + 1, start + 1, count, None
    return Taken(len(batch), rejected, len(batch) - count)


def has_scores(learner: Learner | SequenceLearner) -> bool:
    """Whether `learn_scored` is for this learner. On a simplex, and in the space of a kernel, features that come with
    an example change what is predicted for it, so they must not be known before: there it is one example at a time."""
    p = learner.parameters
    return learner._task.scores_within_batches and p["kernel"] is None and p["geometry"] != "entropy"


def labelled(batch: Batch, task: Task) -> list[int] | None:
    """The rows that have a label; None: all have one, or need none. An empty list says that no label is relevant, which
    is something to learn where there are sets of labels; svmlight has no other way to write it."""
    if not task.needs_labels or has_one_label_each(batch) or (task.has_label_sets and batch.numbered):
        return None
    no_set = task.has_label_sets and not isinstance(batch.X, TextPart)
    missing: tuple[Any, ...] = (None,) if no_set else (None, [])
    rows = [row for row, label in enumerate(listed_labels(batch)) if label not in missing]
    return None if len(rows) == len(batch) else rows


def with_labels(batch: Batch, task: Task) -> Batch:
    """The examples that the task can learn from."""
    rows = labelled(batch, task)
    return batch if rows is None else taken(batch, rows)


# ---- what is rejected ---------------------------------------------------------------------------------------------


def located(error: Exception, batch: Batch, name: str) -> Exception:
    """An error of a row of the batch, with its line in the file."""
    found = error if isinstance(error, InputError) else InputError(str(error))
    row = 0 if found.row is None and len(batch) == 1 else found.row
    if row is None or row >= len(batch):
        return error
    reason, column = found.reason, found.column
    if isinstance(column, int):  # in a file, that would be a place in the line
        index = f"index {column + batch.first_index}" if isinstance(batch.X, TextPart) else f"column {column}"
        reason, column = f"{index}: {reason}", None
    return InputError(reason, row, column, name, batch.lines[row])


def has_labels(batch: Batch, task: Task) -> bool:
    """Whether every example has a label. (Sets of labels may be empty: one that is not is enough.)"""
    if not task.needs_labels:
        return True
    if isinstance(batch.X, TextPart):
        return len(batch.X.labels) > 0 if task.has_label_sets else batch.X.one_label_each
    present = [label is not None for label in batch.labels or ()]
    return any(present) if task.has_label_sets else all(present)
