"""The options of each class: one entry per class, from the rows of the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..model import experts
from ..tasks import TASKS
from . import hints, table
from .parameter import Parameter
from .table import fleets, structures, texts


class ClassOptions:
    """The options of a class: its `own` rows, then those of the table that its task has.

    `defaults` are the defaults that differ from the table.
    """

    def __init__(
        self,
        name: str,
        task: str | None,
        names: Iterable[str] = table.PARAMETERS,
        own: Iterable[Parameter] = (),
        positional: tuple[str, ...] = ("C",),
        **defaults: Any,
    ) -> None:
        self.name, self.task, self.positional = name, task, positional
        self.rows = {row.name: row for row in own}
        self.own = tuple(self.rows)
        for option in names if task is None else table.names_for(task, names):
            self.rows.setdefault(option, table.PARAMETERS[option])
        for option, value in defaults.items():
            self.rows[option] = replace(self.rows[option], default=value)

    @property
    def keywords(self) -> list[Parameter]:
        """The keyword-only options."""
        return [row for name, row in self.rows.items() if name not in self.positional]

    def completed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """All options, with defaults for those that are not given. Mutable values are copied."""
        hints.check_known(self.name, self.task, given, self.rows)
        return {
            name: table.copied(given[name]) if name in given else row.default
            for name, row in self.rows.items()
        }


_DECIDED_BY_FIT: dict[str, Any] = {"average": "auto", "scaling": "auto"}
# Keywords of `ClassOptions` for estimators that differ from the table.
_DIFFERENT: dict[str, dict[str, Any]] = {
    "PAClassifier": _DECIDED_BY_FIT,
    "PARegressor": {"step": None, **_DECIDED_BY_FIT},
    "PAMultilabel": {**_DECIDED_BY_FIT, "threshold": "auto"},
    "PAOrdinal": {"selection": "simproj", **_DECIDED_BY_FIT},
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
_OF_TEXTS = (
    "C",
    "step",
    "experts",
    "average",
    "fit_intercept",
    "intercept_value",
    "class_weight",
    *table.OF_FIT,
)
_NOT_OF_TEXTS = ("batch_tolerance", "max_updates")
# A committee needs no option; these are for those who know more.
_OF_COMMITTEE = (
    "experts", "epsilon", "threshold", "classes", "max_labels", "class_weight", "fit_intercept", "intercept_value",
    "hash_bits", "max_features", "at_max_features", "max_weights", "max_iter", "shuffle", "random_state", "verbose",
)  # fmt: skip
_PASSES_OF_COMMITTEE = {"classification": 20, "ordinal": 20, "multilabel": 10, "regression": 50}
_OF_COMMITTEE_IN_FIT: dict[str, dict[str, Any]] = {"multilabel": {"threshold": "auto"}}
_NOT_OF_RIVER = ("nu", "w1", "classes", "class_weight", "experts")
_OF_ONE_LEARNER = tuple(name for name in table.PARAMETERS if name != "experts")
_OF_RIVER = [name for name in table.OF_LEARNER if name not in _NOT_OF_RIVER]
_OF_RIVERS_COMMITTEE = (
    "experts", "epsilon", "max_labels", "fit_intercept", "intercept_value",
    "hash_bits", "max_features", "at_max_features", "max_weights",
)  # fmt: skip

CLASSES: dict[str, ClassOptions] = {
    its.name: its
    for its in (
        ClassOptions("Learner", None, table.OF_LEARNER, positional=(), step=None),
        ClassOptions("SequenceLearner", "sequence", table.OF_LEARNER, positional=()),
        ClassOptions("Fleet", None, fleets.OF_LEARNER, own=fleets.ROWS, positional=(), step=None),
        *(
            ClassOptions(its.estimator[1], task, _OF_ONE_LEARNER, **_DIFFERENT.get(its.estimator[1], {}))
            for task, its in TASKS.items()
        ),
        *(
            ClassOptions(
                its.estimator[1].replace("PA", "Auto"),
                task,
                _OF_COMMITTEE,
                positional=(),
                experts="auto",
                max_iter=_PASSES_OF_COMMITTEE[its.options_of],
                **_OF_COMMITTEE_IN_FIT.get(task, {}),
                **experts.OPTIONS.get(task, {}),
            )
            for task, its in TASKS.items()
            if table.PARAMETERS["experts"].is_for(task)
        ),
        ClassOptions(
            "TextClassifier",
            "classification",
            [name for name in _OF_TEXTS if name not in _NOT_OF_TEXTS],
            own=texts.ROWS,
            average="auto",
        ),
        ClassOptions("river.PAClassifier", "classification", _OF_RIVER),
        ClassOptions("river.PARegressor", "regression", _OF_RIVER, step=None),
        ClassOptions("river.PAMultilabel", "multilabel", _OF_RIVER),
        *(
            ClassOptions(
                f"river.{name}",
                task,
                [option for option in fleets.OF_LEARNER if option != "classes"],
                own=(fleets.RIVERS_KEY, *fleets.ROWS),
                positional=("key",),
                step=None,
            )
            for name, task in (("FleetClassifier", "classification"), ("FleetRegressor", "regression"))
        ),
        *(
            ClassOptions(
                f"river.{name}",
                task,
                _OF_RIVERS_COMMITTEE,
                positional=(),
                experts="auto",
                **experts.OPTIONS.get(task, {}),
            )
            for name, task in (("AutoClassifier", "classification"), ("AutoRegressor", "regression"))
        ),
    )
}
