"""Every option of hinge, once: its name, default, type, allowed values, and help. The rows are in files by theme.

The checks, the constructors and their types, the docstrings, the command line and docs/reference are generated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...data.events import is_numpy
from ...data.shown import shown
from ...tasks import task_named
from .. import combinations
from ..parameter import ALL_TASKS as ALL_TASKS
from ..parameter import Parameter
from . import fitting, geometries, kernels, labels, steps, weights
from .geometries import COVARIANCES as COVARIANCES

# By theme, as help shows them.
_THEMES: dict[str, tuple[Parameter, ...]] = {
    "the step": steps.ROWS,
    "labels": labels.ROWS,
    "weights and features": weights.ROWS,
    "the passes of fit": fitting.ROWS,
    "geometry": geometries.ROWS,
    "kernel and budget": kernels.ROWS,
}
PARAMETERS: dict[str, Parameter] = {row.name: row for rows in _THEMES.values() for row in rows}
GROUPS: dict[str, tuple[str, ...]] = {
    title: tuple(row.name for row in rows) for title, rows in _THEMES.items()
}
# Only `fit` reads these, so other methods need not follow changes of them.
OF_FIT = GROUPS["the passes of fit"]
# 'auto' means that `fit` decides: estimators/passes.py.
DECIDED_BY_FIT = ("average", "scaling", "threshold")
# The options of a `Learner`. (The feature map belongs to the ranker, not to its learner.)
OF_LEARNER = tuple(name for name in PARAMETERS if name not in (*OF_FIT, "features"))


def default(name: str) -> Any:
    return PARAMETERS[name].default


def names_for(task: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if PARAMETERS[name].is_for(task)]


OF_SEQUENCE = tuple(names_for("sequence", OF_LEARNER))


def check_names(task: str, names: Iterable[str]) -> None:
    """Raises ValueError for an option that the task does not have."""
    for name in names:
        if not PARAMETERS[name].is_for(task):
            raise ValueError(f"{name} is for {', '.join(PARAMETERS[name].tasks)}, not for {task}")


def check(task: str, values: Mapping[str, Any], rows: Mapping[str, Parameter] = PARAMETERS) -> None:
    """Raises ValueError for a value, or a combination of values, that is not accepted."""
    check_values(values, rows)
    its_task = task_named(task)
    combinations.check(its_task, {**without_auto(values), "step": its_task.step_of(values)})
    for name in DECIDED_BY_FIT:
        if values.get(name) == "auto" and not its_task.has_linear_rows:
            others = ", ".join(PARAMETERS["experts"].tasks)
            raise ValueError(f"{name}='auto' is for {others}, not for {task}: say which")
    hash_bits = values.get("hash_bits")
    if hash_bits is not None and 2**hash_bits > values.get("max_features", default("max_features")):
        raise ValueError(f"hash_bits={hash_bits} means {2**hash_bits} columns, more than max_features")


def check_values(values: Mapping[str, Any], rows: Mapping[str, Parameter] = PARAMETERS) -> None:
    """Raises ValueError for a value that its option does not take."""
    for name, value in values.items():
        row = rows[name]
        if value is not row.default and not row.accepts(value):
            raise ValueError(f"{name} must be {row.allowed}, not {shown(value)}")


def without_auto(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with those of streams in place of 'auto'."""
    return {
        name: default(name) if name in DECIDED_BY_FIT and value == "auto" else value
        for name, value in values.items()
    }


def copied(value: Any) -> Any:
    """Copies of lists, dicts and arrays; other values are immutable, or functions."""
    if isinstance(value, Mapping):
        return {key: copied(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(copied(each) for each in value) if type(value) in (list, tuple) else list(value)
    return value.copy() if is_numpy(value) else value
