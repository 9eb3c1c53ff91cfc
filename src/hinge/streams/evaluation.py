"""A learner on a stream: what the labels of a batch mean for its task, learning, predicting, and keeping the score."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._core import Engine
from .._numpy import np
from ..data.errors import InputError, for_each
from ..data.labels import in_order
from ..data.rows import Doubles, Rows
from ..data.weights import GivenWeights
from ..features.pipeline import Features, Pipeline
from ..learner import Learner
from ..model import supports
from ..model.explain import Contribution
from ..model.loading import load
from ..options import table
from ..structured.sequence_learner import SequenceLearner
from ..tasks import growth, scored
from .batches import BadLines, Batch, Numbers, part, taken
from .guessing import listed
from .order import Order

TASKS = ("classification", "regression", "uniclass", "multilabel", "ordinal", "sequence", "prototype")
SETS = ("multilabel", "prototype")  # tasks with sets of labels


@dataclass
class Score:
    """How a learner did so far: every prediction was made before its truth was known."""

    rounds: int = 0  # examples; of sentences, tokens
    cost: float = 0.0  # the sum: mistakes, or how far off

    @property
    def error(self) -> float:
        return self.cost / self.rounds if self.rounds else float("nan")

    def since(self, before: Score) -> Score:
        return Score(self.rounds - before.rounds, self.cost - before.cost)


# What the error of a task is: in words, and whether it is a share (shown in percent).
ERRORS = {
    "classification": ("wrong", True),
    "multilabel": ("with a label out of order", True),
    "prototype": ("with a label out of order", True),
    "sequence": ("tags wrong", True),
    "uniclass": ("outside", True),
    "regression": ("off", False),
    "ordinal": ("ranks off", False),
}


class Taken(NamedTuple):
    """How far a batch was learned."""

    rows: int  # from its beginning
    refused: int  # among them
    unlabelled: int  # among them: they were not learned either
    error: InputError | None = None  # what the next row was refused for, if none may be skipped


class Study:
    """A learner and its score on one stream."""

    def __init__(self, learner: Learner | SequenceLearner, ranker: Any = None) -> None:
        self.learner = learner
        self.ranker = ranker  # a PARanker, if features depend on the label: `learner` is the one inside
        self.features: Features | None = None  # what made features of records, to be kept with the model
        self.task = learner.task if isinstance(learner, Learner) else "sequence"
        self.score = Score()
        self.order = Order()
        self.given_weights = GivenWeights()
        if isinstance(weights := learner.parameters.get("class_weight"), Mapping):
            self.given_weights.see(list(weights.values()))

    @classmethod
    def new(cls, task: str, options: dict[str, Any]) -> Study:
        check_options(task, options)
        if task == "sequence":
            return cls(SequenceLearner(**{"selection": "prediction", "average": True, **options}))
        if task == "prototype":
            from ..structured.ranker import PARanker

            ranker = PARanker(**options)
            ranker._keep(**ranker._begun())
            return cls(ranker._fitted(), ranker)
        return cls(Learner(task, **options))

    @classmethod
    def load(cls, path: str) -> Study:
        """A model from its file: also those that estimators saved."""
        model, features = load(path), None
        if isinstance(model, Pipeline):
            model, features = model.model, model.features
        learner = model if isinstance(model, (Learner, SequenceLearner)) else getattr(model, "_learner", None)
        kind = type(model).__name__
        if not isinstance(learner, (Learner, SequenceLearner)) or kind == "PAStructured":
            raise ValueError(f"{path} is a {kind}, which needs functions of your own: use it from Python")
        study = cls(learner, model if kind == "PARanker" else None)
        study.features = features
        return study

    def save(self, path: str | os.PathLike[str]) -> None:
        model = self.ranker or self.learner
        if self.features is not None:
            model = Pipeline(self.features, model)
        model.save(path)

    # ---- learning ---------------------------------------------------------------------------------------------

    def learn(
        self,
        batch: Batch,
        name: str,
        bad: BadLines,
        costs: list[float] | None = None,
        told: list[tuple[Batch, Doubles]] | None = None,
        **passing: Any,
    ) -> Taken:
        """Predicts and learns, one example after the other. Those that are refused go to `bad`, and are left out, as
        are those without a label. `name` is that of the file. `costs`: see `guess`. `passing`: see `Learner.learn`.
        `told` gets what was learned, with what `lanes` said of each example before its round; for one of `runs`.
        """
        self._check_kind(batch, name)
        self._name(batch)
        rows = labelled(batch, self.task)
        known = batch if rows is None else _taken(batch, rows)
        if self.learner.averaged:
            costs = costs or self.guess(batch, name) or []
            costs = costs if rows is None else [costs[row] for row in rows]
        refused = start = 0
        stop, refusal = len(known), None
        while start < len(known):
            try:
                some = None if costs is None else costs[start:stop]
                self._learn(part(known, start, stop), name, passing, some, told)
                start = stop
            except InputError as error:
                if error.row is None:
                    raise
                stop, refusal = start + error.row, error
                error.row = None  # the line says where
            if start < stop or refusal is None:  # if it is refused: those before it first
                continue
            if (end := bad.refuse(refusal)) is not None:
                there = start if rows is None else rows[start]
                return Taken(there, refused, there - start, end)
            refused, start, stop, refusal = refused + 1, start + 1, len(known), None
        return Taken(len(batch), refused, len(batch) - len(known))

    def _learn(
        self,
        batch: Batch,
        name: str,
        passing: dict[str, Any],
        costs: list[float] | None,
        told: list[tuple[Batch, Doubles]] | None,
    ) -> None:
        learner, before = self.learner, self.learner.statistics
        if passing and not isinstance(batch.X, Rows):
            raise ValueError(
                "--batch-tolerance is for svmlight and VW text: events are presented all, or not at all"
            )
        y = self.truth(batch, name)
        tokens = sum(map(len, y)) if self.task == "sequence" else 0
        try:
            if told is not None:
                assert isinstance(learner, Learner)
                told.append((batch, scored.learn(learner, batch.X, y, batch.weights)))
            elif isinstance(batch.X, Rows) and isinstance(learner, Learner):
                learner.learn_rows(batch.X, y, batch.weights, **passing)
            else:
                (self.ranker or learner).learn_many(batch.X, y, batch.weights)
        except (ValueError, TypeError, OverflowError) as error:
            raise located(error, batch, name) from None
        if self.task == "classification":
            self.order.see(y)
        self.given_weights.see(batch.weights)
        after = learner.statistics
        # What the batch conversion does not present has no loss: it was predicted, and it was right.
        self.score.rounds += len(batch) if passing else tokens or after.rounds - before.rounds
        by_cost = self.task in ("regression", "ordinal", "sequence")
        suffered = after.cost - before.cost if by_cost else after.mistakes - before.mistakes
        for cost in [suffered] if costs is None else costs:
            self.score.cost += cost

    def runs(self, batch: Batch, with_scores: bool) -> Iterator[tuple[int, int]]:
        """Where to cut a batch of which every prediction is wanted: examples that can be learned together, with `told`,
        and single ones. Each run is to be learned before the next one is asked for.

        An example with a new label, or with none, is alone, and so is the first one with new columns. So is each of
        those whose scores a batch does not tell (ranks: they need the thresholds of that moment)."""
        learner, start = self.learner, 0
        together = isinstance(learner, Learner) and self.ranker is None and scored.has_scores(learner)
        labels = listed(batch.labels) if together and not (with_scores and self.task == "ordinal") else []
        while start < len(batch):
            stop = start + 1
            fresh = isinstance(batch.X, Rows) and batch.X.width > learner.n_features
            if labels and not fresh and self._knows(labels[start]):
                while stop < len(batch) and self._knows(labels[stop]):
                    stop += 1
            yield start, stop
            start = stop

    def _knows(self, label: Any) -> bool:
        """Whether an example with this label can be learned, and brings no new one."""
        if label is None or label == []:
            return False
        if self.task == "regression":
            return True
        known = self.learner.labels.codes
        try:
            return all(one in known for one in label) if isinstance(label, list) else label in known
        except TypeError:  # not even hashable
            return False

    def guess(self, batch: Batch, name: str) -> list[float] | None:
        """What the prediction of each example costs, if it is that of the average; None: the core counts it. What is
        going to be refused, or has no label, costs nothing: it is not learned."""
        if not self.learner.averaged:
            return None
        rows = labelled(batch, self.task)
        if rows is None:
            return self._guess(batch, name)
        costs = dict(zip(rows, self._guess(_taken(batch, rows), name), strict=True))
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
        if sentences and self.task != "sequence":
            raise InputError(
                f"there are sentences, which are not for the task {self.task}", file=name, line=where
            )
        if not sentences and self.task == "sequence":
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
        if batch.new_names and isinstance(self.learner, Learner):
            known = self.learner.n_features
            self.learner._engine.name_columns(batch.new_names[max(0, known - _first_new(batch)) :])

    def explain(self, batch: Batch, row: int, most: int) -> list[Contribution]:
        """The features of an example that contributed most to the score of what is predicted."""
        learner = self.learner
        if not isinstance(learner, Learner) or self.ranker is not None:
            raise ValueError(f"--explain is not for the task {self.task}")
        if not isinstance(batch.X, Rows):
            return learner.explain_one(batch.X[row])[:most]
        rows = narrowed(batch.X, learner.n_features)
        values, columns, starts, _ = rows.arrays
        its = slice(starts[row], starts[row + 1])
        if learner.parameters["hash_bits"] is not None:
            raise ValueError("--explain needs names: those of this model are hashed (--hash-bits)")
        names = learner._engine.name_of
        learner._events()
        event = {
            names(column): value
            for column, value in zip(columns[its].tolist(), values[its].tolist(), strict=True)
        }
        first = batch.first_index if batch.numbered else 0
        return [
            part._replace(feature=part.feature + first) if isinstance(part.feature, int) else part
            for part in learner.explain_one(event)[:most]
        ]

    # ---- predicting -------------------------------------------------------------------------------------------

    def predict(self, batch: Batch, name: str) -> list[Any]:
        """A label, a number, a list of labels or of tags for each example."""
        learner = self.learner
        self._check_kind(batch, name)
        if isinstance(learner, SequenceLearner):
            return learner.predict_many(batch.X)
        if not isinstance(batch.X, Rows):
            made = for_each((self.ranker or learner).predict_one, batch.X)
            return [in_order(labels) for labels in made] if self.task == "multilabel" else made
        if self.task == "uniclass":
            return [1 if score >= 0 else -1 for score in self._inside(batch).tolist()]
        return self.predicted(self.lanes(batch))

    def predicted(self, lanes: Doubles) -> list[Any]:
        """What is predicted for examples of which `lanes` said this. Not for balls."""
        learner = self.learner
        assert isinstance(learner, Learner)
        known = learner.labels.known
        if self.task == "classification" and not known:
            return [None] * len(lanes)
        if self.task == "classification" and learner.many_scores:
            return [known[i] for i in lanes.reshape(len(lanes), -1).argmax(axis=1).tolist()]
        if self.task == "classification":
            return [learner.labels.of(score) for score in lanes.tolist()]
        if self.task == "ordinal":
            return [known[i] for i in growth.ranks_of(lanes.reshape(len(lanes), -1)).tolist()]
        if self.task == "multilabel":
            above = growth.above_threshold(learner, lanes.reshape(len(lanes), -1)) > 0
            return [in_order([known[i] for i in np.flatnonzero(row)]) for row in above]
        return list(lanes.tolist())

    def scores(self, batch: Batch) -> list[Any]:
        """A number for each example, or a dict with one for each label."""
        learner = self.learner
        if isinstance(learner, SequenceLearner):
            return for_each(learner.score_one, batch.X)  # type: ignore[arg-type]
        if not isinstance(batch.X, Rows):
            return for_each((self.ranker or learner).score_one, batch.X)
        if self.task == "uniclass":
            return list(self._inside(batch).tolist())
        return self.scored(self.lanes(batch))

    def scored(self, lanes: Doubles) -> list[Any]:
        """The scores of examples of which `lanes` said this. Not for balls."""
        learner = self.learner
        assert isinstance(learner, Learner)
        scores: list[Any] = learner._as_scores(lanes).tolist()
        if not learner.many_scores:
            return scores
        return [dict(zip(learner.labels.known, its, strict=True)) for its in scores]

    def lanes(self, batch: Batch) -> Doubles:
        """What the core says of each example, see `Learner.lanes_of`; of balls the distances. Not for sequences."""
        learner = self.learner
        assert isinstance(learner, Learner)
        if self.task == "uniclass":
            return learner.radius - np.asarray(self.scores(batch), dtype=np.float64)
        if not isinstance(batch.X, Rows):
            return np.asarray(for_each(learner._lanes_one, batch.X))
        return learner.lanes_of(narrowed(batch.X, learner.n_features), self._beside_the_columns(batch))

    def _inside(self, batch: Batch) -> Doubles:
        """How far inside of the ball; to a ball, features never seen are distance."""
        assert isinstance(self.learner, Learner)
        assert isinstance(batch.X, Rows)
        learner = self.learner
        of_kernel = self._beside_the_columns(batch)
        inside = learner.scores_of(narrowed(batch.X, learner.n_features), of_kernel)
        unseen = _unseen(batch, learner.n_features)
        if unseen is None or learner.parameters["kernel"] is not None:
            return inside
        distances: Doubles = np.hypot(learner.radius - inside, np.sqrt(unseen))
        return learner.radius - distances

    def _beside_the_columns(self, batch: Batch) -> Doubles | None:
        """The squares of features never seen, if the kernel asks for them."""
        if not supports.sees_unseen(self.task, self.learner.parameters.get("kernel")):
            return None
        return _unseen(batch, self.learner.n_features)

    def cost(self, batch: Batch, name: str) -> Score:
        """What the predictions for a batch with labels cost, as `score` counts it."""
        y = self.truth(batch, name)
        return Score(
            sum(map(len, y)) if self.task == "sequence" else len(batch), sum(self._costs_of(batch, y, name))
        )

    def _costs_of(self, batch: Batch, y: Any, name: str) -> list[float]:
        """What the prediction of each example costs."""
        if self.task in ("multilabel", "prototype"):
            return [float(_out_of_order(*its)) for its in zip(self.scores(batch), y, strict=True)]
        made = self.predict(batch, name)
        if self.task == "uniclass":
            return [float(label == -1) for label in made]
        if self.task == "sequence":
            return [
                float(sum(a != b for a, b in zip(tags, its, strict=True)))
                for tags, its in zip(made, y, strict=True)
            ]
        truth = y.tolist() if isinstance(y, memoryview) else y
        if self.task == "regression":
            return [float(abs(a - b)) for a, b in zip(made, truth, strict=True)]
        if self.task == "ordinal":
            ranks = {label: rank for rank, label in enumerate(self.learner.labels.known)}
            return [float(abs(ranks[a] - ranks[b])) for a, b in zip(made, truth, strict=True)]
        return [float(a != b) for a, b in zip(made, truth, strict=True)]

    # ---- labels -----------------------------------------------------------------------------------------------

    def truth(self, batch: Batch, name: str) -> Any:
        """The labels as the learner takes them. One that does not fit the task is refused, with its line."""
        labels = batch.labels
        if self.task == "uniclass":
            return None
        plain = self.task not in ("multilabel", "prototype", "ordinal")
        if isinstance(labels, Numbers) and plain and labels.single is not None:
            return labels.single
        y = []
        for row, label in enumerate(listed(labels)):
            try:
                y.append(fitting(self.task, label))
                if self.task == "ordinal":
                    growth.rank(self.learner.labels, y[-1])
            except ValueError as error:
                raise InputError(str(error), row, file=name, line=batch.lines[row]) from None
        return y


def fitting(task: str, label: Any) -> Any:
    """One label as the task takes it."""
    if task == "sequence":
        if label is None:
            raise ValueError("there are no tags to learn from")
        return label
    if task in ("multilabel", "prototype"):
        return [] if label is None else label if isinstance(label, list) else [label]
    if isinstance(label, list) and len(label) == 1:
        label = label[0]
    if label is None or label == []:
        raise ValueError("there is no label (--task uniclass learns without)")
    if isinstance(label, list):
        raise ValueError(f"there are {len(label)} labels (--task multilabel learns sets)")
    if task == "regression" and (isinstance(label, (str, bool)) or not np.isfinite(label)):
        raise ValueError(f"the label {label!r} is not a number (--task classification learns names)")
    return label


def labelled(batch: Batch, task: str) -> list[int] | None:
    """The rows that have a label; None: all have one, or need none. An empty list says that no label is relevant, which
    is something to learn where there are sets of labels; svmlight has no other way to write it."""
    labels = batch.labels
    if task == "uniclass":
        return None
    if isinstance(labels, Numbers):
        if labels.single is not None or (task in SETS and batch.numbered):
            return None
        rows = np.flatnonzero(np.diff(labels.starts)).tolist()
    elif task in SETS:
        rows = [row for row, label in enumerate(labels) if label is not None]
    else:
        rows = [row for row, label in enumerate(labels) if label is not None and label != []]
    return None if len(rows) == len(batch) else rows


def with_labels(batch: Batch, task: str) -> Batch:
    """The examples that the task can learn from."""
    rows = labelled(batch, task)
    return batch if rows is None else _taken(batch, rows)


def _taken(batch: Batch, rows: list[int]) -> Batch:
    return taken(batch, np.asarray(rows, dtype=np.int64))


def check_options(task: str, options: dict[str, Any]) -> None:
    """Refuses an option that the task does not have."""
    for name in options:
        tasks = table.PARAMETERS[name].tasks
        if task not in tasks:
            raise ValueError(f"{name} is for {', '.join(tasks)}, not for {task}")


# ---- parts of a batch ---------------------------------------------------------------------------------------------


def _unseen(batch: Batch, width: int) -> Doubles | None:
    """Of each row the squares of features that are not among the first `width` columns; None: there are none."""
    assert isinstance(batch.X, Rows)
    if batch.X.width > width:
        values, columns, starts, _ = batch.X.arrays
        row_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        squares = np.where(columns >= width, values * values, 0.0)
        return np.asarray(np.bincount(row_of, squares, len(starts) - 1), dtype=np.float64)
    return batch.unseen


def narrowed(rows: Rows, width: int) -> Rows:
    """Without the columns that the model has never seen, which count nothing."""
    if rows.width <= width:
        return rows
    values, columns, starts, _ = rows.arrays
    known = columns < width
    kept = np.concatenate([[0], np.cumsum(known)])
    return Rows(values[known], columns[known], kept[starts], width)


# ---- what is refused ----------------------------------------------------------------------------------------------


def located(error: Exception, batch: Batch, name: str) -> Exception:
    """What the learner says of a row of the batch, with its line in the file."""
    found = error if isinstance(error, InputError) else InputError(str(error))
    row = 0 if found.row is None and len(batch) == 1 else found.row
    if row is None or row >= len(batch):
        return error
    reason, column = found.reason, found.column
    if isinstance(column, int):  # in a file, that would be a place in the line
        index = f"index {column + batch.first_index}" if isinstance(batch.X, Rows) else f"column {column}"
        reason, column = f"{index}: {reason}", None
    return InputError(reason, row, column, name, batch.lines[row])


def has_label(batch: Batch) -> bool:
    """Whether some example says what it is."""
    if isinstance(batch.labels, Numbers):
        return batch.labels.single is not None or len(batch.labels.values) > 0
    return any(label is not None and label != [] for label in batch.labels)


def has_labels(batch: Batch, task: str) -> bool:
    """Whether every example says what it is. (Of sets the empty one is as good as any: one that is not will do.)"""
    if task == "uniclass":
        return True
    labels = batch.labels
    if isinstance(labels, Numbers):
        return len(labels.values) > 0 if task in ("multilabel", "prototype") else labels.single is not None
    present = [label is not None for label in labels]
    return any(present) if task in ("multilabel", "prototype") else all(present)


def _out_of_order(scores: dict[Any, float], relevant: Sequence[Any]) -> bool:
    """Whether some label that is not relevant scores as high as one that is. (One never seen scores 0.)"""
    among = set(relevant)
    lowest = min((scores.get(label, 0.0) for label in among), default=np.inf)
    highest = max((score for label, score in scores.items() if label not in among), default=-np.inf)
    return bool(lowest <= highest)


def _first_new(batch: Batch) -> int:
    """The column of the first new name."""
    assert isinstance(batch.X, Rows)
    return int(batch.X.width) - len(batch.new_names)
