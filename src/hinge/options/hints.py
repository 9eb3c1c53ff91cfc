"""Options that a model does not have: why, and what to use instead. `HABITS` are options of other libraries, `REASONS`
options that other models of hinge have."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from ..tasks import TASKS
from . import table

_Class = TypeVar("_Class", bound=type)
_SEEDS = "`random_state` is the seed"
_NO_PENALTY = "there is no penalty: `C` limits each step (small C for noisy data), and `average=True` smooths"
_NO_RATE = "the length of a step follows from its loss; `C` is the most it can be"
_PASSES = "`max_iter` is the number of passes of `fit`; `partial_fit` makes one"
_COMPAT = "hinge.compat.PassiveAggressiveClassifier and PassiveAggressiveRegressor take it"

# Options of scikit-learn (SGD*, PassiveAggressive*, LinearSVC, SVC, OneClassSVM), River and Vowpal Wabbit.
HABITS: dict[str, str] = {
    "loss": "the loss is that of the task; `step` says how far to move: 'pa1' is loss='hinge' (or "
    f"'epsilon_insensitive'), 'pa2' the squared one; {_COMPAT}",
    "penalty": _NO_PENALTY,
    "alpha": _NO_PENALTY,
    "l1_ratio": _NO_PENALTY,
    "l1": _NO_PENALTY,
    "l2": _NO_PENALTY,
    "reg": _NO_PENALTY,
    "regularization": _NO_PENALTY,
    "learning_rate": _NO_RATE,
    "lr": _NO_RATE,
    "eta0": _NO_RATE,
    "power_t": _NO_RATE,
    "optimizer": _NO_RATE,
    "intercept_lr": _NO_RATE,
    "clip_gradient": _NO_RATE,
    "warm_start": f"`partial_fit`, `learn_many` and `learn_one` continue where the model is; {_COMPAT}",
    "coef_init": "`w1` is where the weights start",
    "intercept_init": "`w1` is where the weights start",
    "n_jobs": "learning is sequential; several models can learn in threads, because the core releases the GIL",
    "dual": "every step has a closed form: there is nothing to choose",
    "solver": "every step has a closed form: there is nothing to choose",
    "multi_class": "`selection` says which classes count; all classes are learned together",
    "decision_function_shape": "`decision_function` has one score per class, of two classes one",
    "intercept_scaling": "`intercept_value` is the value of the constant feature",
    "probability": "margins are not probabilities: calibrate them with sklearn.calibration.CalibratedClassifierCV",
    "shrinking": "`budget` limits how many supports a kernel keeps",
    "cache_size": "`max_cache` limits the bytes of the supports and their kernel values",
    "mode": "`step` is 'pa' (mode 0), 'pa1' (mode 1) or 'pa2' (mode 2)",
    "eps": "`epsilon` is the error that costs nothing",
    "n_epochs": _PASSES,
    "epochs": _PASSES,
    "passes": _PASSES,
    "num_passes": _PASSES,
    "n_iter": _PASSES,
    "max_iterations": _PASSES,
    "bits": "`hash_bits` hashes the names into 2^bits columns",
    "bit_precision": "`hash_bits` hashes the names into 2^bits columns",
    "n_features": "`max_features` is the most there may be, `hash_bits` hashes names into 2^bits columns",
    "noconstant": "`fit_intercept=False` learns no intercept",
    "bias": "`fit_intercept` learns an intercept",
    "oaa": "the classes are found in the data, or named by `classes`",
    "csoaa": "`cost` is what each confusion costs",
    "labels": "`classes` are the labels, if known ahead",
    "class_weights": "it is called `class_weight`",
    "sample_weight": "it is an argument of `fit`, `partial_fit` and `learn_many`; `weight` of `learn_one`",
    "c": "it is written `C`",
    "aggressiveness": "it is called `C`",
    "seed": _SEEDS,
    "random_seed": _SEEDS,
    "confidence": "`uncertainty(X)` measures the uncertainty of a model with a covariance",
    "r": "`covariance_regularizer` is AROW's r",
    "tolerance": "`batch_tolerance` is the squared loss up to which the batch conversion of N03 skips a row; "
    "`tol` ends the passes of `fit`",
}

_OWN_FEATURES = "each label has its own features, so there is no single vector per example"
_SEARCHES = "an output has many features, and a search finds it"
# Why a model has no such option, and what comes nearest.
REASONS: dict[str, dict[str, str]] = {
    "prototype": {
        "geometry": f"{_OWN_FEATURES}; PAClassifier and PAMultilabel have geometries",
        "kernel": f"{_OWN_FEATURES}; PAClassifier and PAMultilabel have kernels",
        "fit_intercept": "a constant feature cancels between labels; let the feature map add one per label",
        "hash_bits": "the feature map names the features; `max_features` limits them",
        "tol": "it stops after `max_iter` passes, or when one changes nothing",
        "n_iter_no_change": "it stops after `max_iter` passes, or when one changes nothing",
        "class_weight": "give `sample_weight`",
        "threshold": "it ranks labels; PAMultilabel predicts sets by a threshold",
        "batch_tolerance": "the features change with what the map has counted",
        "max_updates": "the features change with what the map has counted",
    },
    "sequence": {
        "kernel": f"{_SEARCHES} by its weights",
        "fit_intercept": "weights of the first tag serve as intercepts; so does a feature that every token has",
        "class_weight": "give `sample_weight`, one per sentence, or `cost`",
        "nu": "`selection` has 'prediction', 'max' and 'max-additive'",
        "beta": "`margin` is the margin; step='perceptron' moves on mistakes",
        "w1": "tags and features come with the data; load a model to start from",
        "batch_tolerance": "`max_iter` and `tol` end the passes",
        "max_updates": "`max_iter` and `tol` end the passes",
        "max_covariance": "geometry='diagonal' is the one with a covariance, which is small",
    },
    "structured": {
        "kernel": f"{_SEARCHES} by w; let joint_features return products of features",
        "fit_intercept": "a constant feature cancels; let joint_features return one per part of the output",
        "class_weight": "give `sample_weight`, or a `cost`",
        "classes": "outputs are whatever your functions make of them",
        "max_labels": "outputs are whatever your functions make of them",
        "nu": "`selection` has 'prediction', 'max' and 'max-additive'",
        "beta": "`margin` is the margin; step='perceptron' moves on mistakes",
        "w1": "load a model to start from",
        "batch_tolerance": "`max_iter` and `tol` end the passes",
        "max_updates": "`max_iter` and `tol` end the passes",
    },
    "uniclass": {
        "fit_intercept": "a ball has a centre and a radius",
        "margin": "`radius` is how far from the centre an example may be",
        "class_weight": "there is one class; give `sample_weight`",
    },
    "ordinal": {
        "fit_intercept": "the thresholds serve as intercepts",
        "class_weight": "give `sample_weight`",
        "cost": "a rank costs as much as it is off; PAClassifier takes any cost",
    },
    "multilabel": {
        "class_weight": "give `sample_weight`",
        "cost": "an example may have several labels; PAClassifier takes a cost",
    },
    "regression": {
        "margin": "`epsilon` is the error that costs nothing",
        "class_weight": "there are no classes; give `sample_weight`",
        "classes": "there are no classes; PAClassifier and PAOrdinal have some",
    },
}  # fmt: skip

# What to use instead of a value that an option has for other tasks only: (task, option, value).
VALUES: dict[tuple[str, str, str], str] = {
    **{
        (task, "step", "cw"): "use AROW: step='pa2' with geometry='diagonal'"
        for task in ("sequence", "structured")
    },
    **{
        ("prototype", "geometry", value): f"use 'euclidean': {_OWN_FEATURES}"
        for value in ("mahalanobis", "diagonal", "entropy")
    },
}


def unknown(model: str, task: str | None, name: str, names: Iterable[str]) -> str:
    """A sentence about an option that a model does not have."""
    known = table.PARAMETERS.get(name)
    near = [each for each in names if each.lower() == name.lower()]
    hint = REASONS.get(task or "", {}).get(name)
    if hint is None and known is None:
        hint = HABITS.get(name)
    if hint is None and near:
        hint = f"did you mean `{near[0]}`?"
    if hint is None and known is not None:
        users = [f"hinge.{TASKS[each].estimator[1]}" for each in known.tasks]
        hint = f"it is an option of {', '.join(users)}" if users else "it belongs to `fit` of the estimators"
    if hint is None:
        import difflib

        near = difflib.get_close_matches(name, list(names), n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(sorted(names))}"
    return f"{model} has no option {name!r}: {hint}"


def check_known(model: str, task: str | None, given: Iterable[str], names: Collection[str]) -> None:
    """Raises TypeError for the first unknown option, with what to use instead."""
    for name in given:
        if name not in names:
            raise TypeError(unknown(model, task, name, names))


def explain_unknown_options(cls: _Class, task: str | None = None) -> _Class:
    """A class decorator: an unknown option of the constructor raises an error that names what to use instead."""
    init = cls.__dict__.get("__init__")
    if init is None or init.__code__.co_flags & _TAKES_ANY:
        return cls
    names = names_of(init)

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **options: Any) -> None:
        if not options.keys() <= names:
            check_known(type(self).__name__, task, options, names)
        init(self, *args, **options)

    cls.__init__ = checked  # type: ignore[misc]
    return cls


_TAKES_ANY = 0x08  # of functions with **options (inspect.CO_VARKEYWORDS)


def names_of(init: Any) -> frozenset[str]:
    """The options of a constructor."""
    signature = getattr(init, "__signature__", None)
    if signature is not None:
        return frozenset(list(signature.parameters)[1:])
    code = getattr(getattr(init, "__wrapped__", init), "__code__", None)
    if code is None:  # that of `object`
        return frozenset()
    return frozenset(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])
