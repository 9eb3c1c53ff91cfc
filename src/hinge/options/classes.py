"""Which class has which options: one entry per class, from the rows of the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import hints, table
from .parameter import ESTIMATORS, Parameter
from .table import structures, texts


@dataclass(frozen=True)
class ClassOptions:
    """The options of a class. `rows` have its own defaults, `own` are those that no other class has."""

    name: str
    task: str | None
    rows: Mapping[str, Parameter]
    own: tuple[str, ...] = ()
    positional: tuple[str, ...] = ("C",)

    @property
    def keywords(self) -> list[Parameter]:
        """Those that are given by name only."""
        return [row for name, row in self.rows.items() if name not in self.positional]

    def completed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All options, with defaults for those that are not given. What could be changed later is copied."""
        hints.check_known(self.name, self.task, given, self.rows)
        return {
            name: table.copied(given[name]) if name in given else row.default
            for name, row in self.rows.items()
        }


def _options(
    name: str,
    task: str | None,
    names: Iterable[str] = table.PARAMETERS,
    own: Iterable[Parameter] = (),
    positional: tuple[str, ...] = ("C",),
    **defaults: Any,
) -> ClassOptions:
    """These options of the table, as far as the task has them; `defaults` differ from the table."""
    names = names if task is None else table.names_for(task, names)
    rows = {row.name: row for row in own}
    rows |= {option: table.PARAMETERS[option] for option in names if option not in rows}
    rows |= {option: replace(rows[option], default=value) for option, value in defaults.items()}
    return ClassOptions(name, task, rows, tuple(row.name for row in own), positional)


# What is different from the table.
_DIFFERENT: dict[str, dict[str, Any]] = {
    "PARegressor": {"step": None},
    "PAOrdinal": {"selection": "simproj"},
    "PARanker": {"max_iter": 1, "shuffle": False},
    "PASequence": {"selection": "prediction", "average": True, "max_iter": 10, "tol": None},
    "PAStructured": {
        "own": structures.ROWS,
        "positional": tuple(row.name for row in structures.ROWS),
        "selection": "prediction",
        "max_iter": 10,
        "tol": None,
    },
}
_OF_TEXTS = ("C", "step", "average", "fit_intercept", "class_weight", *table.OF_FIT)
_NOT_OF_TEXTS = ("batch_tolerance", "max_updates")
_NOT_OF_RIVER = ("nu", "w1", "classes", "class_weight")
_OF_RIVER = [name for name in table.OF_LEARNER if name not in _NOT_OF_RIVER]

CLASSES: dict[str, ClassOptions] = {
    its.name: its
    for its in (
        _options("Learner", None, table.OF_LEARNER, positional=(), step=None),
        _options("SequenceLearner", "sequence", table.OF_LEARNER, positional=()),
        *(_options(name, task, **_DIFFERENT.get(name, {})) for task, name in ESTIMATORS.items()),
        _options(
            "TextClassifier",
            "classification",
            [name for name in _OF_TEXTS if name not in _NOT_OF_TEXTS],
            own=texts.ROWS,
        ),
        _options("river.PAClassifier", "classification", _OF_RIVER),
        _options("river.PARegressor", "regression", _OF_RIVER, step=None),
        _options("river.PAMultilabel", "multilabel", _OF_RIVER),
    )
}
