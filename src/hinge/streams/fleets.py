"""A fleet on a stream: the examples of a batch have keys."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ..data.labels import Labels
from ..fleet import Fleet, Share
from ..model.statistics import Statistics
from .batches import BadLines, Batch, part, taken
from .evaluation import Score, Taken, in_order
from .order import Order
from .truths import labelled, located, truths

# How many examples of its key came before an example: the first number of each group.
AGES = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
KNOWN = 10  # examples, after which a key is not new any more


class Scored(NamedTuple):
    """What was predicted for some examples before they were learned."""

    predictions: list[Any]
    scores: list[Any] | None


class FleetStudy:
    """A fleet and its score on one stream: for `Session`, as `Study` is for a learner (see `SessionStudy`)."""

    is_committee = as_committee = False

    def __init__(self, fleet: Fleet) -> None:
        self.fleet, self.task, self._task = fleet, fleet.task, fleet._task
        self.features: Any = None  # what made features of records is among the settings of the stream
        self.score, self.order = Score(), Order()
        self.by_age = ByAge(fleet.notes.get("ages"))
        self._counts_ages = True  # in the first pass: later, the examples were seen before
        self._with_scores = False
        # Without shared weights, every key has statistics of its own. Adding them all up takes time.
        self._sum = None if fleet.parameters["shared"] else fleet.statistics

    @property
    def statistics(self) -> Statistics:
        return self.fleet.statistics if self._sum is None else self._sum

    @property
    def notes(self) -> dict[str, Any]:
        return self.fleet.notes

    @property
    def error_words(self) -> str:
        return self._task.error_words

    @property
    def size_text(self) -> str:
        count = len(self.fleet)
        return f"{count:,} key{'s' if count != 1 else ''}"

    @property
    def size_record(self) -> dict[str, int]:
        return {"keys": len(self.fleet)}

    def remarks(self) -> list[str]:
        """What is to be known of how it learned, at the end of a run."""
        found = self.order.remarks()
        if ignored := self.fleet.n_ignored:
            found.append(
                f"{ignored:,} examples and features were left out: there was no room (--max-keys, --max-features)."
            )
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        self.fleet.notes["ages"] = self.by_age.counts
        self.fleet.save(path)

    # ---- learning ---------------------------------------------------------------------------------------------

    def begin_pass(self, number: int) -> None:
        self._counts_ages = number == 0

    def guess(self, batch: Batch, name: str) -> None:
        return None

    def runs(self, batch: Batch, with_scores: bool) -> Iterator[tuple[int, int]]:
        """Examples with labels are learned together; one without is alone."""
        self._with_scores = with_scores
        rows = labelled(batch, self._task)
        if rows is None:
            yield 0, len(batch)
            return
        known, start = set(rows), 0
        while start < len(batch):
            stop = start + 1
            while start in known and stop in known:
                stop += 1
            yield start, stop
            start = stop

    def learn(
        self,
        batch: Batch,
        name: str,
        bad: BadLines,
        costs: list[float] | None = None,
        scored: list[tuple[Batch, Any]] | None = None,
        **passing: Any,
    ) -> Taken:
        rows = labelled(batch, self._task)
        known = batch if rows is None else taken(batch, rows)

        def learn(start: int, stop: int) -> None:
            self._learn(part(known, start, stop), name, scored)

        return in_order(batch, rows, bad, learn)

    def _learn(self, batch: Batch, name: str, scored: list[tuple[Batch, Any]] | None) -> None:
        keys, y = _keys(batch), truths(batch, name, self._task, Labels())
        predicts = scored is not None
        try:
            predictions, scores, ages, counted = self.fleet._core.learn_listed(
                keys, batch.X, y, batch.weights, AGES, predicts, predicts and self._with_scores
            )
        except (ValueError, TypeError, OverflowError) as error:
            raise located(error, batch, name) from None
        if scored is not None:
            scored.append((batch, Scored(predictions, scores)))
        if self._task.watches_order:
            self.order.see(y)
        for rounds, cost in ages:
            self.score.rounds += rounds
            self.score.cost += cost
        if self._counts_ages:
            self.by_age.add(ages)
        if self._sum is not None:
            self._sum = _added(self._sum, counted)

    # ---- predicting -------------------------------------------------------------------------------------------

    def predict(self, batch: Batch, name: str) -> list[Any]:
        return self.predicted(self._scored(batch, False))

    def predicted(self, lanes: Scored) -> list[Any]:
        return lanes.predictions

    def scores(self, batch: Batch) -> list[Any]:
        return self.scored(self._scored(batch, True))

    def scored(self, lanes: Scored) -> list[Any]:
        return lanes.scores or []

    def _scored(self, batch: Batch, scores: bool) -> Scored:
        return Scored(*self.fleet._core.score_listed(_keys(batch), batch.X, scores))

    def explain(self, batch: Batch, row: int, most: int) -> list[Share]:
        """The features of an example that contributed most, by the shared and by the personal weights."""
        X: Any = batch.X
        return self.fleet.explain_one(_keys(batch)[row], X[row])[:most]

    def cost(self, batch: Batch, name: str) -> Score:
        """What the predictions for a batch with labels cost."""
        y = truths(batch, name, self._task, Labels())
        return Score(
            len(batch), sum(self._task.costs(self.predict(batch, name), y, Labels(self.fleet.labels)))
        )


def _keys(batch: Batch) -> list[Any]:
    if batch.keys is None:
        raise ValueError("a fleet needs a key for each example: --key FIELD")
    return batch.keys


def _added(sum_: Statistics, counted: Any) -> Statistics:
    """`largest_q` and `progress` are those of one learner: the sum over many has none."""
    rounds, mistakes, updates, loss, squared_loss, _, _, cost, capped, weighted = counted
    return replace(
        sum_,
        rounds=sum_.rounds + rounds,
        mistakes=sum_.mistakes + mistakes,
        updates=sum_.updates + updates,
        loss=sum_.loss + loss,
        squared_loss=sum_.squared_loss + squared_loss,
        cost=sum_.cost + cost,
        capped=sum_.capped + capped,
        weighted=sum_.weighted + weighted,
    )


class ByAge:
    """How often keys were predicted, and what that cost, by the number of their examples before (see AGES)."""

    def __init__(self, counts: Any = None) -> None:
        """`counts`: those of a fleet's notes."""
        fits = isinstance(counts, list) and len(counts) == len(AGES)
        self.counts: list[list[float]] = [list(one) for one in counts] if fits else [[0, 0.0] for _ in AGES]

    def add(self, counted: list[tuple[int, float]]) -> None:
        for its, (rounds, cost) in zip(self.counts, counted, strict=True):
            its[0] += rounds
            its[1] += cost

    def score(self, first: int, end: int | None = None) -> Score:
        """Of the examples of keys that had so many before. `first` and `end` are among AGES."""
        chosen = [
            its
            for age, its in zip(AGES, self.counts, strict=True)
            if age >= first and (end is None or age < end)
        ]
        return Score(int(sum(its[0] for its in chosen)), sum(its[1] for its in chosen))

    def groups(self) -> Iterator[tuple[str, Score]]:
        """In words: 1, 2, 3-5, ..., with their scores. Those that have not occurred are left out."""
        for place, first in enumerate(AGES):
            end = AGES[place + 1] if place + 1 < len(AGES) else None
            if (score := self.score(first, end)).rounds:
                yield ages_in_words(first, end), score


def ages_in_words(first: int, end: int | None) -> str:
    """Examples of a key, counted from 1."""
    if end is None:
        return f"{first + 1:,}+"
    return f"{first + 1:,}" if end == first + 1 else f"{first + 1:,}-{end:,}"
