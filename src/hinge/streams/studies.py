"""What a session learns with: a learner (`Study`), or a fleet (`FleetStudy`)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Protocol

from ..model.loading import load
from ..model.statistics import Statistics
from ..tasks.task import Task
from .batches import BadLines, Batch
from .evaluation import Score, Study, Taken


class SessionStudy(Protocol):
    """What `Session` asks of what it learns with. Everything else it does by itself: passes, saving, resuming."""

    task: str
    is_committee: bool
    _task: Task
    score: Score  # of the pass under way: every prediction was made before its truth was known

    @property
    def statistics(self) -> Statistics: ...
    @property
    def notes(self) -> dict[str, Any]:
        """What is saved with the model."""
        ...

    @property
    def error_words(self) -> str: ...
    @property
    def size_text(self) -> str:
        """How large it is, for reports: how many features, or keys."""
        ...

    @property
    def size_record(self) -> dict[str, int]: ...
    def begin_pass(self, number: int) -> None: ...
    def guess(self, batch: Batch, name: str) -> list[float] | None:
        """What the prediction of each example costs, if learning does not count it; None: it does."""
        ...

    def learn(
        self,
        batch: Batch,
        name: str,
        bad: BadLines,
        costs: list[float] | None = None,
        scored: list[tuple[Batch, Any]] | None = None,
        **passing: Any,
    ) -> Taken:
        """Predicts and learns, one example after the other. `scored` gets what was learned, and with it what
        `predicted` and `scored` need."""
        ...

    def runs(self, batch: Batch, with_scores: bool) -> Iterator[tuple[int, int]]:
        """Where to cut a batch of which every prediction is wanted: examples that `learn` takes together with
        `scored`, and single ones, which are predicted before."""
        ...

    def predict(self, batch: Batch, name: str) -> list[Any]: ...
    def predicted(self, lanes: Any) -> list[Any]: ...
    def scores(self, batch: Batch) -> list[Any]: ...
    def scored(self, lanes: Any) -> list[Any]: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...


def load_study(path: str) -> Any:
    """The model of a file, as a `Study` or a `FleetStudy`."""
    model = load(path)
    if type(model).__name__ != "Fleet":
        return Study.of(model, path)
    from .fleets import FleetStudy

    return FleetStudy(model)
