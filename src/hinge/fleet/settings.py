"""The options of a fleet, and what they are for the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.engine import settings_of
from ..options import table
from ..options.classes import CLASSES
from ..options.table.fleets import OF_LEARNER
from ..options.validators import bytes_of
from ..tasks import task_named
from ..tasks.task import Task

TASKS = ("classification", "regression")
STEPS = ("pa", "pa1", "pa2", "perceptron")
GEOMETRIES = ("euclidean", "diagonal")


def completed(name: str, given: Mapping[str, Any]) -> tuple[Task, dict[str, Any]]:
    """The task, and all options, checked."""
    if name not in TASKS:
        raise ValueError(f"a fleet is for {' or '.join(map(repr, TASKS))}, not for {name!r}")
    task = task_named(name)
    options = CLASSES["Fleet"].completed(given)
    table.check_values(options, CLASSES["Fleet"].rows)
    if not task.keeps_open_step:
        options["step"] = task.step_of(options)
    _check_supported(task, options)
    table.check(name, of_learner(options))
    return task, options


def _check_supported(task: Task, options: Mapping[str, Any]) -> None:
    step = task.step_of(options)
    if step not in STEPS:
        raise ValueError(f"the step of a fleet must be one of {', '.join(STEPS)}, not {step!r}")
    if options["geometry"] not in GEOMETRIES:
        raise ValueError(
            f"the geometry of a fleet must be 'euclidean' or 'diagonal', not {options['geometry']!r}"
        )
    for name in ("C", "covariance_regularizer"):
        if not isinstance(options[name], (int, float)):
            raise ValueError(f"{name} of a fleet must be a number, not {options[name]!r}")


def of_learner(options: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a learner of one key."""
    given = {name: options[name] for name in OF_LEARNER}
    return CLASSES["Learner"].completed({**given, "intercept_value": options["intercept_value"]})


def of_core(task: Task, options: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of `_core.Fleet`."""
    parameters = of_learner(options)
    settings = settings_of(task, parameters, task.first_labels(parameters))
    return {
        **settings,
        "shared": options["shared"],
        "personal": float(options["personal"]),
        "closed": task.is_closed(parameters),
        "max_keys": int(options["max_keys"]),
        "at_max_keys": options["at_max_keys"],
        "max_features_per_key": int(options["max_features"]),
        "at_max_features": options["at_max_features"],
        "max_shared_features": int(options["max_shared_features"]),
        "max_labels": int(options["max_labels"]),
        "max_names": int(options["max_names"]),
        **({} if options["memory"] is None else {"memory": float(bytes_of(options["memory"]) or 0)}),
    }
