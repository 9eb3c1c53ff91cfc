"""The engine of a learner: made from its options, started at w1, or restored from a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._core import Engine
from ..data.labels import Labels
from . import experts
from .covariance import geometry_options
from .supports import beta_of, kernel_options

if TYPE_CHECKING:
    from ..learner import Learner
    from ..tasks.task import Task


FLOATS = ("float32", "float64")


def is_single(dtype: Any) -> bool:
    """Whether a `dtype` is float32."""
    if isinstance(dtype, str) and dtype in FLOATS:
        return dtype == "float32"
    import numpy as np

    return bool(np.dtype(dtype) == np.float32)


def has_intercept(task: Task, parameters: Mapping[str, Any]) -> bool:
    return bool(parameters["fit_intercept"]) and task.has_intercept


def new_engine(task: Task, parameters: Mapping[str, Any], labels: Labels) -> Engine:
    engine = Engine(**settings_of(task, parameters, labels))
    engine.name_labels(labels)
    return engine


def settings_of(task: Task, parameters: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
    """The settings of the core."""
    p = parameters
    words = experts.words_of(task, p)
    options: dict[str, Any] = {"radius": 0.0, "learned_radius": False, "start_at_first": False}
    return dict(
        task=task.core,
        step=task.step_of(p),
        C=1.0 if words else float(p["C"]),
        experts=words,
        margin=float(p["margin"]),
        epsilon=float(p["epsilon"]),
        fit_intercept=has_intercept(task, p),
        intercept_value=0.0 if p["intercept_value"] == "auto" else float(p["intercept_value"]),
        scaled=p["scaling"] == "online" and not words,
        single=is_single(p["dtype"]),
        average_from=0 if words else int(p["average"]),
        **({} if words else geometry_options(p)),
        **kernel_options(p),
        hash_bits=p["hash_bits"] or 0,
        max_features=int(p["max_features"]),
        ignore_new=p["at_max_features"] == "ignore",
        max_weights=float(p["max_weights"]),
        **{**options, **task.engine_options(p, labels)},
    )


def restored(learner: Learner, labels: Labels, state: dict[str, Any]) -> Engine:
    """An engine with these labels and this state, which has the names of the columns."""
    engine = new_engine(learner._task, learner.parameters, labels)
    engine.restore(state)
    return engine


def change_rule(learner: Learner, parameters: Mapping[str, Any]) -> None:
    """Another step, C, margin, beta or epsilon."""
    p = parameters
    learner._engine.change_rule(
        learner._task.step_of(p), float(p["C"]), float(p["margin"]), float(p["epsilon"]), beta_of(p)
    )


def start(learner: Learner) -> None:
    """At w1, if it is given."""
    w1, engine = learner.parameters["w1"], learner._engine
    if isinstance(w1, Mapping):
        engine.name_columns(list(w1))
        w1 = list(w1.values())
    if w1 is None or isinstance(w1, str):
        return
    import numpy as np

    weights = np.ascontiguousarray(w1, dtype=np.float64)
    rows = len(learner.labels.known) if learner.many_scores else None
    if rows is not None and weights.shape[:-1] != (rows,):
        raise ValueError(f"w1 must have a row of weights for each of the {rows} labels (give classes=[...])")
    if rows is None and weights.ndim != 1:
        raise ValueError("w1 must be a vector: there is one w")
    if learner.parameters["hash_bits"] and weights.shape[-1] != engine.n_columns:
        raise ValueError(f"w1 has {weights.shape[-1]} weights for {engine.n_columns} hashed columns")
    biases: Any = engine.biases(False)  # initial intercepts, thresholds, or c of a learned radius
    if rows is not None and len(biases) > rows:  # a learned threshold has its own lane
        weights = np.vstack([np.zeros_like(weights[:1]), weights])
    engine.start_at(weights.ravel(), biases)
