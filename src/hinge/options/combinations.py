"""Which values of several options go together. A combination that makes no sense is refused, with the nearest one that
does. (What a single option may be stands in parameters.py.)"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from . import validators

LABELS = ("classification", "multilabel", "ordinal", "prototype")
SEARCHED = ("sequence", "structured")
SELECTIONS = ("max", "prediction", "simperc", "simproj", "conproj", "mira", "uniform")
SEARCHES = ("prediction", "max", "max-additive")


def check(task: str, values: Mapping[str, Any]) -> None:
    """Raises ValueError for a combination of values that makes no sense."""
    step = values.get("step")
    if task in LABELS:
        _check_selection(task, values)
    elif task in SEARCHED:
        _check_search(task, values)
    elif step in ("perceptron", "cw"):
        raise ValueError(f"step={step!r} is for labels; for {task} use 'pa', 'pa1' or 'pa2'")
    _check_geometry(task, values)
    _check_kernel(task, values)
    if task == "uniclass":
        _check_radius(values)
    if values.get("batch_tolerance") is not None and step != "pa":
        raise ValueError(
            f"batch_tolerance (the batch conversion) needs step='pa': with {step!r} the losses need not vanish"
        )
    if values.get("batch_tolerance") is not None and values.get("early_stopping"):
        raise ValueError(
            "early_stopping does not go with batch_tolerance: the batch conversion ends by itself, or at max_updates"
        )
    w1 = values.get("w1")
    if isinstance(w1, str) and task != "uniclass":
        raise ValueError(f"w1={w1!r} is for uniclass; for {task} give a vector, a dict, or None for 0")
    if isinstance(w1, Mapping) and values.get("hash_bits") is not None:
        raise ValueError("w1 as a dict of names goes with a growing vocabulary (hash_bits=None)")


def _check_selection(task: str, values: Mapping[str, Any]) -> None:
    step, selection = values.get("step", "pa1"), values.get("selection", "max")
    allowed = {
        "ordinal": ("max", "simperc", "simproj", "conproj"),
        "prototype": ("max", "prediction", "simperc", "simproj", "conproj", "uniform"),
    }.get(task, SELECTIONS)
    if selection not in allowed:
        raise ValueError(f"selection={selection!r} is not for {task}; there are {', '.join(allowed)}")
    if step == "perceptron" and (selection not in ("max", "uniform") or task == "ordinal"):
        nearest = (
            "selection='simperc' (with step='pa1')" if task == "ordinal" else "selection 'max' or 'uniform'"
        )
        raise ValueError(
            f"step='perceptron' does not go with selection={selection!r} for {task}; use {nearest}"
        )
    if selection == "uniform" and step != "perceptron":
        raise ValueError(
            "selection='uniform' is for step='perceptron'; 'simperc' is the same with steps of length C"
        )
    if selection == "simperc" and step != "pa1":
        raise ValueError(f"selection='simperc' takes steps of length C: use step='pa1', not {step!r}")
    if selection == "simperc" and math.isinf(values.get("C", 1.0)):
        raise ValueError("selection='simperc' takes steps of length C: C must be finite")
    if selection == "mira" and step not in ("pa", "pa1"):
        raise ValueError(
            f"selection='mira' has one linear slack: use step='pa1' (or 'pa', without), not {step!r}"
        )
    if selection == "mira" and values.get("beta") == 0 and values.get("w1") is None:
        raise ValueError("selection='mira' with beta=0 never moves from 0: give w1, or a beta above 0")
    if values.get("cost") is not None and task not in ("classification", "prototype"):
        raise ValueError(f"cost is for classification, not for {task}")
    if callable(values.get("cost")):
        raise ValueError(
            f"a cost that is a function is for sequences and structures; for {task} give a matrix"
        )
    if values.get("cost") is not None and (selection not in ("max", "prediction") or step == "perceptron"):
        raise ValueError("cost goes with selection 'max' or 'prediction' and the steps 'pa', 'pa1', 'pa2'")
    if values.get("nu") is not None and selection not in ("simproj", "conproj"):
        raise ValueError(f"nu goes with selection 'simproj' or 'conproj', not {selection!r}")


def _check_search(task: str, values: Mapping[str, Any]) -> None:
    step, selection, cost = (
        values.get("step", "pa1"),
        values.get("selection", "prediction"),
        values.get("cost"),
    )
    if step == "cw":
        raise ValueError(f"step='cw' is not for {task}; use 'pa2' with geometry='diagonal' (AROW)")
    if selection not in SEARCHES:
        raise ValueError(f"selection={selection!r} is not for {task}; there are {', '.join(SEARCHES)}")
    if step == "perceptron" and selection != "prediction":
        raise ValueError("step='perceptron' moves on mistakes only: use selection='prediction'")
    if task == "structured":
        return
    if callable(cost) and selection != "prediction":
        raise ValueError(
            f"a cost that is a function goes with selection='prediction', not with {selection!r}"
        )
    if (
        selection == "max"
        and cost is not None
        and not all(_is_small_whole(each) for each in validators.flat(cost))
    ):
        raise ValueError(
            "selection='max' needs costs that are whole numbers (up to 2^20): use 'max-additive' or 'prediction'"
        )


def _is_small_whole(number: float) -> bool:
    return number == int(number) and number <= 2**20


def _check_radius(values: Mapping[str, Any]) -> None:
    if values.get("radius") is not None or values.get("max_radius") is not None:
        return
    if values.get("step", "pa1") == "pa":
        raise ValueError(
            "step='pa' would move the centre onto every example if the radius is by quantile (radius=None): use "
            "'pa1' or 'pa2', or give radius or max_radius"
        )
    if values.get("budget") is not None and (
        values["budget"] == "adaptive" or values.get("removal") != "oldest"
    ):
        raise ValueError(
            "with a radius by quantile (radius=None) every example becomes a support, and those in the middle matter "
            "most: use a budget that is a number with removal='oldest', or give radius or max_radius"
        )


def _check_kernel(task: str, values: Mapping[str, Any]) -> None:
    kernel, budget, w1 = values.get("kernel"), values.get("budget"), values.get("w1")
    if kernel is None:
        if budget is not None:
            raise ValueError(
                f"budget={budget!r} is for supports: give a kernel (kernel='linear' has those of plain weights)"
            )
        return
    if task in ("prototype", *SEARCHED):
        raise ValueError(f"a kernel is not for {task}, which has no one vector an instance: use kernel=None")
    if values.get("geometry", "euclidean") != "euclidean":
        raise ValueError(
            f"geometry={values['geometry']!r} shapes weights, and a kernel has none: use 'euclidean'"
        )
    if w1 is not None and not isinstance(w1, str):
        raise ValueError("w1 is for weights, and a kernel has none: use w1=None")
    if budget == "adaptive" and values.get("step") == "perceptron" and values.get("beta") == 0:
        raise ValueError(
            "step='perceptron' with beta=0 and budget='adaptive' never learns: a support goes as soon as its margin is "
            "above 0, which it is right after it came; give a beta above 0, or a number as the budget"
        )
    if budget is not None and values.get("average"):
        raise ValueError(
            "average does not go with a budget: a support that goes would leave the vectors of the past, too"
        )


def _check_geometry(task: str, values: Mapping[str, Any]) -> None:
    step, geometry = values.get("step", "pa1"), values.get("geometry", "euclidean")
    has_covariance = geometry in ("mahalanobis", "diagonal")
    if geometry != "euclidean" and task == "prototype":
        raise ValueError(
            f"geometry={geometry!r} is not for prototype: each label has its own features; use 'euclidean'"
        )
    if geometry in ("entropy", "mahalanobis") and task == "sequence":
        raise ValueError(f"geometry={geometry!r} is not for sequences; use 'euclidean' or 'diagonal'")
    if geometry == "entropy" and task == "structured":
        raise ValueError(
            "geometry='entropy' is not for structures; use 'euclidean', 'diagonal' or 'mahalanobis'"
        )
    if has_covariance and step == "perceptron" and values.get("beta"):
        raise ValueError("the second-order perceptron moves on mistakes only: use beta=None")
    if has_covariance and task == "uniclass":
        raise ValueError(f"geometry={geometry!r} is not for uniclass; use 'euclidean' or 'entropy'")
    if step == "cw":
        if not has_covariance:
            raise ValueError("step='cw' needs a covariance: geometry 'diagonal' or 'mahalanobis'")
        if task == "ordinal" or values.get("selection", "max") != "max" or values.get("cost") is not None:
            raise ValueError(
                "step='cw' is for classes and sets of labels, with selection='max' and without cost"
            )
        if values.get("eta") == 0.5 and values.get("w1") is None:
            raise ValueError("step='cw' with eta=0.5 never moves from 0: give w1, or an eta above 0.5")
    if geometry == "entropy":
        _check_entropy(task, values)


def _check_entropy(task: str, values: Mapping[str, Any]) -> None:
    step, selection = values.get("step", "pa1"), values.get("selection", "max")
    is_signed, w1 = values.get("signed", True), values.get("w1")
    if step == "perceptron":
        raise ValueError("geometry='entropy' does not go with step='perceptron'; use 'pa', 'pa1' or 'pa2'")
    if selection == "mira":
        raise ValueError("geometry='entropy' does not go with selection='mira'; use 'max' or 'simproj'")
    if selection in ("simproj", "conproj") and (step != "pa1" or math.isinf(values.get("C", 1.0))):
        raise ValueError(
            f"selection={selection!r} with geometry='entropy' needs a cap: use step='pa1' with a finite C"
        )
    nu = values.get("nu")
    if nu is not None and any(weight == 0 for weight in validators.flat(nu)):
        raise ValueError("nu of 0 means no cap, and geometry='entropy' needs one: give numbers above 0")
    if task == "uniclass" and (values.get("radius") is None or values.get("max_radius") is not None):
        raise ValueError(
            "geometry='entropy' needs a radius that is fixed: give it as a number (radius=0.5, say)"
        )
    if isinstance(w1, str) and w1 == "first":
        raise ValueError("geometry='entropy' starts on the simplex, not at the first instance: give w1=None")
    if not is_signed and (
        task in ("multilabel", "ordinal") or selection != "max" or values.get("cost") is not None
    ):
        raise ValueError(
            "signed=False is for one w: two classes with selection='max', regression, or uniclass"
        )
    if values.get("entropy_step") == "paper" and (is_signed or step != "pa"):
        raise ValueError("entropy_step='paper' needs step='pa' and signed=False")
