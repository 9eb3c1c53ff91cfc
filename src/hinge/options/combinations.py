"""Which combinations of options are accepted. Any other is rejected, and the message names the nearest one that is.

The values of a single option are in table/, the options and values that a task has in its `Task` (tasks/).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..data.shown import shown
from ..data.targets import flat
from ..model.experts import is_several
from ..tasks.task import Task


def check(task: Task, values: Mapping[str, Any]) -> None:
    """Raises ValueError for a combination of values that makes no sense."""
    if task.selections:
        _check_selection(task, values)
    _check_step(task, values)
    _check_geometry(task, values)
    _check_kernel(task, values)
    _check_scaling(task, values)
    task.check_options(values)
    _check_committee(task, values)
    _check_passes(values)
    w1 = values.get("w1")
    if isinstance(w1, str) and w1 not in task.named_starts:
        raise ValueError(f"w1={w1!r} is for uniclass; for {task.name} give a vector, a dict, or None for 0")
    if isinstance(w1, Mapping) and values.get("hash_bits") is not None:
        raise ValueError("w1 as a dict of names goes with a growing vocabulary (hash_bits=None)")


def _check_step(task: Task, values: Mapping[str, Any]) -> None:
    step = values.get("step", "pa1")
    if step not in task.steps:
        raise ValueError(f"step={step!r} is not for {task.name}; {_instead(task, 'step', step, task.steps)}")
    if step == "cw":
        if values.get("geometry", "euclidean") not in ("mahalanobis", "diagonal"):
            raise ValueError("step='cw' needs a covariance: geometry 'diagonal' or 'mahalanobis'")
        if values.get("selection", "max") != "max" or values.get("cost") is not None:
            raise ValueError(
                "step='cw' is for classes and sets of labels, with selection='max' and without cost"
            )
        if values.get("eta") == 0.5 and values.get("w1") is None:
            raise ValueError("step='cw' with eta=0.5 never moves from 0: give w1, or an eta above 0.5")


def _check_passes(values: Mapping[str, Any]) -> None:
    step = values.get("step", "pa1")
    if values.get("batch_tolerance") is None:
        return
    if step != "pa":
        raise ValueError(
            f"batch_tolerance (the batch conversion) needs step='pa': with {step!r} the losses need not vanish"
        )
    if values.get("early_stopping"):
        raise ValueError(
            "early_stopping does not go with batch_tolerance: the batch conversion ends by itself, or at max_updates"
        )


def _check_selection(task: Task, values: Mapping[str, Any]) -> None:
    step, selection = values.get("step", "pa1"), values.get("selection", task.selections[0])
    if selection not in task.selections:
        raise ValueError(
            f"selection={selection!r} is not for {task.name}; there are {', '.join(task.selections)}"
        )
    if step == "perceptron" and selection not in task.perceptron_selections:
        its = task.perceptron_selections
        nearest = "selection='simperc' (with step='pa1')" if not its else f"selection={_listed(its)}"
        raise ValueError(
            f"step='perceptron' does not go with selection={selection!r} for {task.name}; use {nearest}"
        )
    if selection == "uniform" and step != "perceptron":
        raise ValueError(
            "selection='uniform' is for step='perceptron'; 'simperc' does the same with steps of length C"
        )
    if selection == "simperc" and step != "pa1":
        raise ValueError(f"selection='simperc' takes steps of length C: use step='pa1', not {step!r}")
    if selection == "simperc" and _is_infinite(values.get("C", 1.0)):
        raise ValueError("selection='simperc' takes steps of length C: C must be finite")
    if selection == "mira" and step not in ("pa", "pa1"):
        raise ValueError(
            f"selection='mira' has one linear slack: use step='pa1' (or 'pa', without), not {step!r}"
        )
    if selection == "mira" and values.get("beta") == 0 and values.get("w1") is None:
        raise ValueError("selection='mira' with beta=0 never moves from 0: give w1, or a beta above 0")
    if values.get("nu") is not None and selection not in ("simproj", "conproj"):
        raise ValueError(f"nu goes with selection 'simproj' or 'conproj', not {selection!r}")
    task.check_cost(values.get("cost"), step, selection)


def _check_kernel(task: Task, values: Mapping[str, Any]) -> None:
    kernel, budget, w1 = values.get("kernel"), values.get("budget"), values.get("w1")
    if kernel is None:
        if budget is not None:
            raise ValueError(
                f"budget={budget!r} is for supports: give a kernel (kernel='linear' predicts like plain weights)"
            )
        return
    if not task.has_kernel:
        raise ValueError(
            f"a kernel is not for {task.name}, which has no single vector per example: use kernel=None"
        )
    if values.get("geometry", "euclidean") != "euclidean":
        raise ValueError(
            f"geometry={values['geometry']!r} shapes weights, and a kernel has none: use 'euclidean'"
        )
    if w1 is not None and not isinstance(w1, str):
        raise ValueError("w1 is for weights, and a kernel has none: use w1=None")
    if budget == "adaptive" and values.get("step") == "perceptron" and values.get("beta") == 0:
        raise ValueError(
            "step='perceptron' with beta=0 and budget='adaptive' never learns: a support is removed as soon as its "
            "margin is above 0, which is right after its insertion; give a beta above 0, or a number as the budget"
        )
    if budget is not None and values.get("average"):
        raise ValueError(
            "average does not go with a budget: a removed support would leave the averaged vectors, too"
        )


def _check_scaling(task: Task, values: Mapping[str, Any]) -> None:
    if values.get("scaling") is None:
        return
    if not task.has_linear_rows:
        raise ValueError(f"scaling={values['scaling']!r} is not for {task.name}: scale its values first")
    reasons = {
        "kernel": "a kernel compares values as they come: scale them first, for example with a StandardScaler",
        "w1": "the learner starts at 0, because it does not know the scales yet",
        "experts": "each expert says whether it scales: 'scaled:pa1:0'",
    }
    for name, reason in reasons.items():
        if values.get(name) is not None:
            raise ValueError(
                f"scaling={values['scaling']!r} does not go with {name}={shown(values[name])}: {reason}"
            )
    if values.get("geometry") == "entropy":
        raise ValueError(
            "scaling='online' does not go with geometry='entropy', whose weights have a fixed sum"
        )


# What the experts of a committee cannot have: the option, the values that they can have, and the reason.
_ONE_LEARNER = (
    ("cost", (None,), "the vote counts mistakes"),
    ("kernel", (None,), "its experts have weights"),
    ("w1", (None,), "its experts start at 0"),
    ("nu", (None,), "it has no weights of constraints"),
    ("dtype", ("float64",), "its weights are float64"),
    ("initial_variance", (1.0,), "its variances start at 1"),
    ("covariance_update", ("drop",), "its AROW drops the off-diagonal entries"),
    ("selection", ("max", "simproj", "conproj", "simperc"), "the vote needs one loss per round"),
)


def _check_committee(task: Task, values: Mapping[str, Any]) -> None:
    several = [name for name in ("C", "covariance_regularizer") if is_several(values.get(name))]
    what = [f"{name}={values[name]!r}" for name in several]
    if values.get("experts") is not None:
        if several:
            raise ValueError(f"{what[0]} does not go with experts: each expert has its own")
        what = ["experts"]
    if not what:
        return
    if not task.has_linear_rows:
        instead = "give a number" if several else "leave it out"
        raise ValueError(f"{what[0]} is not for {task.name}: {instead}")
    if len(what) > 1:
        raise ValueError(f"{' and '.join(what)}: only one of them may be several numbers")
    for name, accepted, why in _ONE_LEARNER:
        value = values.get(name, accepted[0])
        if not any(value is each or (type(value) is type(each) and value == each) for each in accepted):
            raise ValueError(f"{name}={shown(value)} does not go with {what[0]}: {why}")
    step, geometry = values.get("step", "pa1"), values.get("geometry", "euclidean")
    wanted = "diagonal" if several == ["covariance_regularizer"] else "euclidean"
    if geometry != wanted:
        more = (
            "; AROW has covariance_regularizer='auto' with geometry='diagonal'"
            if wanted == "euclidean"
            else ""
        )
        raise ValueError(f"{what[0]} needs geometry={wanted!r}, not {geometry!r}{more}")
    steps = ("pa2",) if wanted == "diagonal" else ("pa1", "pa2")
    if several and step not in steps:
        raise ValueError(f"{what[0]} needs step={_listed(steps)}, not {step!r}")
    _check_experts(task, values, what[0])


def _check_experts(task: Task, values: Mapping[str, Any], what: str) -> None:
    """Of a committee: what its words and its averages need."""
    words, average = values.get("experts"), values.get("average", False)
    if words is None:
        if int(average) > 1:
            raise ValueError(
                f"average={average!r} does not go with {what}: its averages begin at the first round"
            )
        return
    if average:
        raise ValueError(f"average={average!r} does not go with experts: give words that end in ':average'")
    if values.get("selection") == "simperc":
        raise ValueError(
            "selection='simperc' takes steps of length C: use C=[...] with step='pa1', not experts"
        )
    if any("lattice" in word for word in words) and not (
        task.has_exact_lattice and values.get("selection", "max") == "max"
    ):
        raise ValueError(
            "the expert 'lattice' is for regression, and for classification with selection='max'"
        )


def _check_geometry(task: Task, values: Mapping[str, Any]) -> None:
    geometry = values.get("geometry", "euclidean")
    if geometry not in task.geometries:
        instead = _instead(task, "geometry", geometry, task.geometries)
        raise ValueError(f"geometry={geometry!r} is not for {task.name}; {instead}")
    covariance = geometry in ("mahalanobis", "diagonal")
    if covariance and values.get("step") == "perceptron" and values.get("beta"):
        raise ValueError("the second-order perceptron moves on mistakes only: use beta=None")
    if geometry == "entropy":
        _check_entropy(task, values)


def _check_entropy(task: Task, values: Mapping[str, Any]) -> None:
    step, selection = values.get("step", "pa1"), values.get("selection", "max")
    is_signed, w1 = values.get("signed", True), values.get("w1")
    if step == "perceptron":
        raise ValueError("geometry='entropy' does not go with step='perceptron'; use 'pa', 'pa1' or 'pa2'")
    if selection == "mira":
        raise ValueError("geometry='entropy' does not go with selection='mira'; use 'max' or 'simproj'")
    if selection in ("simproj", "conproj") and (step != "pa1" or _is_infinite(values.get("C", 1.0))):
        raise ValueError(
            f"selection={selection!r} with geometry='entropy' needs a cap: use step='pa1' with a finite C"
        )
    nu = values.get("nu")
    if nu is not None and any(weight == 0 for weight in flat(nu)):
        raise ValueError("nu of 0 means no cap, and geometry='entropy' needs one: give numbers above 0")
    if isinstance(w1, str) and w1 == "first":
        raise ValueError("geometry='entropy' starts on the simplex, not at the first instance: give w1=None")
    if not is_signed and (not task.can_be_unsigned or selection != "max" or values.get("cost") is not None):
        raise ValueError(
            "signed=False is for one w: two classes with selection='max', regression, or uniclass"
        )
    if values.get("entropy_step") == "paper" and (is_signed or step != "pa"):
        raise ValueError("entropy_step='paper' needs step='pa' and signed=False")


def _is_infinite(value: Any) -> bool:
    numbers = value if isinstance(value, (list, tuple)) else () if isinstance(value, str) else (value,)
    return any(map(math.isinf, numbers))


def _instead(task: Task, option: str, value: str, values: tuple[str, ...]) -> str:
    """What to use instead of a value that the task does not have."""
    from . import hints  # which needs the table, which needs this module

    return hints.VALUES.get((task.name, option, value), f"use {_listed(values)}")


def _listed(names: tuple[str, ...]) -> str:
    """'a', 'b' or 'c'."""
    shown = [repr(name) for name in names]
    return " or ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
