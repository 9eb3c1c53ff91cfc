"""Every option of hinge, once: its name, what it may be, its default, and what it does.

This table feeds the checks of the constructors, their docstrings and (later) the command line.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

TASKS = ("classification", "regression", "uniclass", "multilabel", "ordinal", "prototype")
SELECTIONS = ("max", "prediction", "simperc", "simproj", "conproj", "mira", "uniform")


@dataclass(frozen=True)
class Parameter:
    """One option. `allowed` says in words what `accepts` tests."""

    name: str
    default: Any
    allowed: str
    accepts: Callable[[Any], bool]
    help: str
    tasks: tuple[str, ...] = TASKS


def _is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))


def _real(above: float, *, inclusive: bool = False, infinite: bool = False) -> Callable[[Any], bool]:
    def accepts(value: Any) -> bool:
        if not _is_real(value) or math.isnan(value) or (math.isinf(value) and not infinite):
            return False
        return bool(value >= above if inclusive else value > above)

    return accepts


def _whole(low: int, high: float = math.inf) -> Callable[[Any], bool]:
    return lambda value: _is_whole(value) and low <= value <= high


def _one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def _or_none(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or accepts(value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_start(value: Any) -> bool:
    """A start vector: none, a word, a vector of finite numbers, or a dict of named weights."""
    if value is None or (isinstance(value, str) and value in ("first", "zero")):
        return True
    try:
        weights = np.asarray(list(value.values()) if isinstance(value, Mapping) else value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return weights.ndim in (1, 2) and bool(np.isfinite(weights).all())


def _is_classes(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and len(value) >= 2
    nested = (list, tuple, np.ndarray)
    return (
        isinstance(value, (list, tuple)) and len(value) >= 2 and not any(isinstance(v, nested) for v in value)
    )


def _is_nonnegative(value: Any) -> bool:
    try:
        numbers_ = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return bool(np.isfinite(numbers_).all() and (numbers_ >= 0).all())


def _is_matrix(value: Any) -> bool:
    """A square matrix of numbers of 0 or more, or a dict of dicts of them."""
    if isinstance(value, Mapping):
        rows = list(value.values())
        return bool(rows) and all(
            isinstance(row, Mapping) and _is_nonnegative(list(row.values())) for row in rows
        )
    return _is_nonnegative(value) and np.ndim(value) == 2 and np.shape(value)[0] == np.shape(value)[1]


def _is_cost(value: Any) -> bool:
    if not _is_matrix(value):
        return False
    if isinstance(value, Mapping):
        return all(row.get(label, 0) == 0 for label, row in value.items())
    return not np.diagonal(np.asarray(value, dtype=np.float64)).any()


def _is_nu(value: Any) -> bool:
    """One set of weights, or a list of several (matrices, or dicts of dicts; ordinal: vectors)."""
    if isinstance(value, Mapping):
        return _is_matrix(value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, Mapping) for one in value):
        return all(_is_matrix(one) for one in value)
    return _is_nonnegative(value) and np.ndim(value) in (1, 2, 3) and np.size(value) > 0


def _is_feature_map(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("tfidf", "email")
    return not isinstance(value, type) and all(
        callable(getattr(value, name, None)) for name in ("features", "learned", "state", "begin")
    )


def _is_threshold(value: Any) -> bool:
    return (isinstance(value, str) and value == "learned") or (_is_real(value) and math.isfinite(value))


def _is_dtype(value: Any) -> bool:
    try:
        return np.dtype(value) in (np.dtype(np.float32), np.dtype(np.float64))
    except TypeError:
        return False


def _is_class_weight(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value == "balanced"):
        return True
    return isinstance(value, Mapping) and all(_real(0, inclusive=True)(v) for v in value.values())


def _is_seed(value: Any) -> bool:
    return value is None or _whole(0, 2**32 - 1)(value) or isinstance(value, np.random.RandomState)


_CLASSIFICATION = ("classification",)
_LABELS = ("classification", "multilabel", "ordinal", "prototype")
_LINEAR = ("classification", "regression", "multilabel")

PARAMETERS: dict[str, Parameter] = {
    p.name: p
    for p in (
        Parameter(
            "step",
            "pa1",
            "'pa', 'pa1', 'pa2' or (labels) 'perceptron'",
            _one_of("pa", "pa1", "pa2", "perceptron"),
            "How far to move on a loss. 'pa': until there is no loss. 'pa1': the same, but never farther than "
            "C. 'pa2': a part of it, less for small C. 'perceptron': by x, on mistakes only.",
        ),
        Parameter(
            "C",
            1.0,
            "a number greater than 0 (inf is allowed)",
            _real(0, infinite=True),
            "Aggressiveness of 'pa1' and 'pa2': small for noisy data. N03's relaxation gamma is 1/(2C). "
            "'pa' and 'perceptron' do not use it.",
        ),
        Parameter(
            "margin",
            1.0,
            "a finite number greater than 0",
            _real(0),
            "The margin to keep: the loss is [margin - y w.x]_+, or for many labels the margin less the lead of "
            "the relevant label over the irrelevant one.",
            _LABELS,
        ),
        Parameter(
            "selection",
            "max",
            "'max', 'prediction', 'simperc', 'simproj', 'conproj', 'mira' or (perceptron) 'uniform'",
            _one_of(*SELECTIONS),
            "Which violated constraints count. 'max': the worst. 'prediction': that of the predicted label, if it is "
            "wrong. 'simproj', 'conproj', 'simperc': all that are violated (or wrong), each on its own, averaged. "
            "'mira': all of them, exactly. 'uniform': the perceptron with all wrong labels. With two classes all but "
            "'max' give each class its own weights.",
            _LABELS,
        ),
        Parameter(
            "beta",
            0.01,
            "a finite number, 0 or more (0 needs w1)",
            _real(0, inclusive=True),
            "The margin of selection='mira'. From w = 0 a beta of 0 never moves.",
            ("classification", "multilabel"),
        ),
        Parameter(
            "cost",
            None,
            "None, a square matrix or a dict of dicts, of numbers of 0 or more with 0 on the diagonal",
            _or_none(_is_cost),
            "cost[y][r]: what it costs to predict r when y is true (in a matrix: in the order of the classes). The "
            "margin against r is margin * sqrt(cost); selection is 'max' or 'prediction'. "
            "`hinge.tree_cost` makes one from a hierarchy.",
            ("classification", "prototype"),
        ),
        Parameter(
            "nu",
            None,
            "None, or numbers of 0 or more: a matrix or dict of dicts for pairs of labels (ordinal: a vector), or "
            "a list of several",
            _or_none(_is_nu),
            "Weights of the constraints for 'simproj' and 'conproj': the cap of the constraint that label r beats s is "
            "C / nu[r][s] (ordinal: C / nu[j] for threshold j). Of several the largest counts.",
            _LABELS,
        ),
        Parameter(
            "features",
            "tfidf",
            "'tfidf', 'email' or a FeatureMap",
            _is_feature_map,
            "The features phi(x, r) of each label r. 'tfidf': `ClassTfIdf`, 'email': `EmailFeatures`, of the words "
            "of a text; or a map of one's own. The stream feeds a copy of it.",
            ("prototype",),
        ),
        Parameter(
            "threshold",
            "learned",
            "'learned' or a finite number",
            _is_threshold,
            "Labels that score higher are predicted. 'learned': a linear function of x, learned beside the ranking.",
            ("multilabel",),
        ),
        Parameter(
            "sort_thresholds",
            None,
            "None, True or False",
            _or_none(_is_bool),
            "Sort the thresholds after each step. None: where a step may cross them, that is for all selections "
            "but 'simproj', which keeps them in order.",
            ("ordinal",),
        ),
        Parameter(
            "epsilon",
            0.1,
            "a finite number, 0 or more",
            _real(0, inclusive=True),
            "Errors up to epsilon cost nothing: the loss is [|y - w.x| - epsilon]_+.",
            ("regression",),
        ),
        Parameter(
            "radius",
            1.0,
            "a finite number, 0 or more",
            _real(0, inclusive=True),
            "The radius of the ball, if it is fixed: the loss is [|x - w| - radius]_+.",
            ("uniclass",),
        ),
        Parameter(
            "max_radius",
            None,
            "None or a finite number greater than 0",
            _or_none(_real(0)),
            "If given, the radius is learned: it starts at 0, only grows, and never exceeds max_radius "
            "(`radius` is not used). A bound far above the radii that matter makes it grow slowly.",
            ("uniclass",),
        ),
        Parameter(
            "fit_intercept",
            True,
            "True or False",
            _is_bool,
            "Learn an intercept: the weight of a constant feature of value 1, which counts in the norm of x.",
            _LINEAR,
        ),
        Parameter(
            "w1",
            None,
            "None, a vector of finite numbers, a matrix of them (many labels: a row each), a dict of named weights, "
            "or (uniclass) 'first' or 'zero'",
            _is_start,
            "Where to start. None is 0; for uniclass it is 'first': the first instance becomes the centre, and "
            "is not a round.",
        ),
        Parameter(
            "average",
            False,
            "True, False, or a whole number of 1 or more",
            lambda value: _is_bool(value) or _whole(1, 2**62)(value),
            "Predict with the average of the vectors that predicted so far, kept lazily and exactly. A number "
            "n starts the average at round n.",
        ),
        Parameter(
            "classes",
            None,
            "None or two or more different labels",
            _or_none(_is_classes),
            "The labels in order, if known ahead; others are refused then. None: from the data, sorted in `fit`; in "
            "a stream new labels are welcome any time. Ranks: from the lowest to the highest.",
            _LABELS,
        ),
        Parameter(
            "max_labels",
            2**16,
            "a whole number from 2 to 2^24",
            _whole(2, 2**24),
            "The most labels that the model accepts; a stream that would bring more is refused.",
            ("classification", "multilabel", "prototype"),
        ),
        Parameter(
            "class_weight",
            None,
            "None, 'balanced', or a dict of labels to weights of 0 or more",
            _is_class_weight,
            "Multiplies the weight of each example by that of its label. 'balanced' (fit only) makes the "
            "labels weigh the same in all.",
            _CLASSIFICATION,
        ),
        Parameter(
            "max_iter",
            1000,
            "a whole number of 1 or more",
            _whole(1),
            "At most so many passes over the data in `fit`.",
        ),
        Parameter(
            "tol",
            1e-3,
            "None or a finite number, 0 or more",
            _or_none(_real(0, inclusive=True)),
            "`fit` stops when the mean loss of `n_iter_no_change` passes in a row was not lower than the best "
            "by more than tol, and whenever a whole pass changed nothing. None: only then.",
        ),
        Parameter(
            "n_iter_no_change",
            5,
            "a whole number of 1 or more",
            _whole(1),
            "How many passes without improvement `fit` accepts.",
        ),
        Parameter(
            "shuffle",
            True,
            "True or False",
            _is_bool,
            "Visit the rows in a new random order each pass of `fit`.",
        ),
        Parameter(
            "tolerance",
            None,
            "None or a finite number greater than 0",
            _or_none(_real(0)),
            "If given, `fit` runs N03's batch conversion (with step='pa', in the order of the rows): it presents "
            "only examples whose squared loss exceeds tolerance, until there is none.",
        ),
        Parameter(
            "max_updates",
            1_000_000,
            "a whole number of 1 or more",
            _whole(1),
            "The batch conversion gives up after so many updates (the data may not be realizable).",
        ),
        Parameter(
            "hash_bits",
            None,
            "None or a whole number from 1 to 30",
            _or_none(_whole(1, 30)),
            "Named features: None keeps a vocabulary that grows; a number b hashes the names into 2^b columns "
            "(MurmurHash3, the columns and signs of scikit-learn's FeatureHasher).",
        ),
        Parameter(
            "max_features",
            2**24,
            "a whole number from 1 to 2^40",
            _whole(1, 2**40),
            "The most features that the model accepts; input that would need more is refused.",
        ),
        Parameter(
            "dtype",
            "float64",
            "'float32' or 'float64'",
            _is_dtype,
            "The type of the weights. Data of either type is read in place; sums are made in float64.",
        ),
        Parameter(
            "random_state",
            None,
            "None, a whole number from 0 to 2^32 - 1, or a numpy RandomState",
            _is_seed,
            "The seed of the shuffling in `fit`.",
        ),
        Parameter(
            "verbose",
            0,
            "a whole number, 0 or more",
            lambda v: _is_bool(v) or _whole(0)(v),
            "1 prints a line for each pass of `fit`.",
        ),
    )
}

# The options of a `Learner`; the others belong to `fit`.
OF_LEARNER = (
    "step", "C", "margin", "selection", "beta", "cost", "nu", "threshold", "sort_thresholds", "epsilon", "radius",
    "max_radius", "fit_intercept", "w1", "average", "classes", "max_labels", "class_weight", "hash_bits",
    "max_features", "dtype",
)  # fmt: skip


def default(name: str) -> Any:
    return PARAMETERS[name].default


def check(task: str, values: Mapping[str, Any]) -> None:
    """Raises ValueError for a value, or a combination of values, that makes no sense."""
    for name, value in values.items():
        parameter = PARAMETERS[name]
        if not parameter.accepts(value):
            raise ValueError(f"{name} must be {parameter.allowed}, not {value!r}")
    step = values.get("step")
    if task in _LABELS:
        _check_selection(task, values)
    elif step == "perceptron":
        raise ValueError(f"step='perceptron' is for labels; for {task} use 'pa', 'pa1' or 'pa2'")
    if values.get("tolerance") is not None and step != "pa":
        raise ValueError(
            f"tolerance (the batch conversion) needs step='pa': with {step!r} the losses need not vanish"
        )
    w1 = values.get("w1")
    if isinstance(w1, str) and task != "uniclass":
        raise ValueError(f"w1={w1!r} is for uniclass; for {task} give a vector, a dict, or None for 0")
    if isinstance(w1, Mapping) and values.get("hash_bits") is not None:
        raise ValueError("w1 as a dict of names goes with a growing vocabulary (hash_bits=None)")
    hash_bits = values.get("hash_bits")
    if hash_bits is not None and 2**hash_bits > values.get("max_features", default("max_features")):
        raise ValueError(f"hash_bits={hash_bits} means {2**hash_bits} columns, more than max_features")


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
    if values.get("cost") is not None and task not in PARAMETERS["cost"].tasks:
        raise ValueError(f"cost is for classification, not for {task}")
    if values.get("cost") is not None and (selection not in ("max", "prediction") or step == "perceptron"):
        raise ValueError("cost goes with selection 'max' or 'prediction' and the steps 'pa', 'pa1', 'pa2'")
    if values.get("nu") is not None and selection not in ("simproj", "conproj"):
        raise ValueError(f"nu goes with selection 'simproj' or 'conproj', not {selection!r}")


def names_for(task: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if task in PARAMETERS[name].tasks]


def describe(names: Iterable[str], indent: str = "    ", **defaults: Any) -> str:
    """The 'Parameters' section of a docstring; `defaults` are those that differ from the table."""
    lines = []
    for name in names:
        parameter = PARAMETERS[name]
        its_default = defaults.get(name, parameter.default)
        lines.append(f"{indent}{name} : {parameter.allowed}, default={its_default!r}")
        lines.append(f"{indent}    {parameter.help}")
    return "\n".join(lines).strip()


_Class = TypeVar("_Class", bound=type)


def documented(task: str, names: Iterable[str], **defaults: Any) -> Callable[[_Class], _Class]:
    """A class decorator: fills `{parameters}` in the docstring from the table."""

    def decorate(cls: _Class) -> _Class:
        section = describe(names_for(task, names), **defaults)
        cls.__doc__ = (cls.__doc__ or "").replace("{parameters}", section)
        return cls

    return decorate
