"""Every option of hinge, once: its name, what it may be, its default, and what it does.

This table feeds the checks of the constructors, their docstrings, the options of the command line and docs/guide.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from . import accepts, combinations
from ._numpy import is_array
from .combinations import LABELS as _LABELS
from .combinations import SEARCHED as _SEARCHED
from .combinations import SEARCHES as SEARCHES
from .combinations import SELECTIONS
from .shown import shown

TASKS = ("classification", "regression", "uniclass", "multilabel", "ordinal", "prototype", "structured")
ALL_TASKS = (*TASKS, "sequence")
KERNELS = ("linear", "poly", "rbf")
COVARIANCES = ("mahalanobis", "diagonal")
GEOMETRIES = ("euclidean", *COVARIANCES, "entropy")


@dataclass(frozen=True)
class Parameter:
    """One option. `allowed` says in words what `accepts` tests."""

    name: str
    default: Any
    allowed: str
    accepts: Callable[[Any], bool]
    help: str
    tasks: tuple[str, ...] = ALL_TASKS


_CLASSIFICATION = ("classification",)
_LINEAR = ("classification", "regression", "multilabel")
_BATCH = tuple(task for task in TASKS if task != "structured")
_SHAPED = ("classification", "regression", "multilabel", "ordinal", *_SEARCHED)
_KERNELIZED = ("classification", "regression", "uniclass", "multilabel", "ordinal")
_EARLY = tuple(task for task in ALL_TASKS if task != "prototype")
_SIMPLEX = ("classification", "regression", "uniclass")

PARAMETERS: dict[str, Parameter] = {
    p.name: p
    for p in (
        Parameter(
            "step",
            "pa1",
            "'pa', 'pa1', 'pa2', (labels) 'perceptron' or 'cw', or (regression) None",
            accepts.or_none(accepts.one_of("pa", "pa1", "pa2", "perceptron", "cw")),
            "How far to move on a loss. 'pa': until there is no loss. 'pa1': the same, but never farther than "
            "C. 'pa2': a part of it, less for small C. 'perceptron': by x, on mistakes only (with a covariance: the "
            "second-order perceptron). 'cw' (with a covariance): confidence-weighted, until the margin is so "
            "many standard deviations as `eta` asks for. None: 'pa1', but for regression with a covariance 'pa2': "
            "steps of at most C could not follow: variances shrink with every step.",
        ),
        Parameter(
            "C",
            1.0,
            "a number greater than 0 (inf is allowed)",
            accepts.real(0, infinite=True),
            "Aggressiveness of 'pa1' and 'pa2': small for noisy data. N03's relaxation gamma is 1/(2C). "
            "'pa', 'perceptron' and 'cw' do not use it.",
        ),
        Parameter(
            "margin",
            1.0,
            "a finite number greater than 0",
            accepts.real(0),
            "The margin to keep: the loss is [margin - y w.x]_+, or for many labels the margin less the lead of "
            "the relevant label over the irrelevant one. With a cost: times its square root.",
            (*_LABELS, *_SEARCHED),
        ),
        Parameter(
            "selection",
            "max",
            "'max', 'prediction', 'simperc', 'simproj', 'conproj', 'mira', (perceptron) 'uniform' or (sequences and "
            "structures) 'max-additive'",
            accepts.one_of(*SELECTIONS, *SEARCHES),
            "Which violated constraints count. 'max': the worst. 'prediction': that of the predicted label, if it is "
            "wrong. 'simproj', 'conproj', 'simperc': all that are violated (or wrong), each on its own, averaged. "
            "'mira': all of them, exactly. 'uniform': the perceptron with all wrong labels. With two classes all but "
            "'max' give each class its own weights. Sequences and structures: 'prediction', 'max' (with margin "
            "sqrt(cost), an exact search) or 'max-additive' (with the cost itself as the margin).",
            (*_LABELS, *_SEARCHED),
        ),
        Parameter(
            "beta",
            None,
            "None or a finite number, 0 or more (0 with 'mira' needs w1)",
            accepts.or_none(accepts.real(0, inclusive=True)),
            "The margin of selection='mira' (None: 0.01; from w = 0 a beta of 0 never moves) and of step='perceptron', "
            "which moves if its margin is at most beta (None: 0, on mistakes only; with a budget 0.01).",
            ("classification", "multilabel"),
        ),
        Parameter(
            "cost",
            None,
            "None, a square matrix or a dict of dicts, of numbers of 0 or more with 0 on the diagonal, or (sequences, "
            "structures) a function of the true and the predicted output",
            accepts.or_none(lambda value: callable(value) or accepts.is_cost(value)),
            "cost[y][r]: what it costs to predict r when y is true (in a matrix: in the order of the classes). The "
            "margin against r is margin * sqrt(cost); selection is 'max' or 'prediction'. "
            "`hinge.tree_cost` makes one from a hierarchy. Sequences: the cost of a tag, added up (None: the tags that "
            "are wrong).",
            ("classification", "prototype", *_SEARCHED),
        ),
        Parameter(
            "nu",
            None,
            "None, or numbers of 0 or more: a matrix or dict of dicts for pairs of labels (ordinal: a vector), or "
            "a list of several",
            accepts.or_none(accepts.is_nu),
            "Weights of the constraints for 'simproj' and 'conproj': the cap of the constraint that label r beats s is "
            "C / nu[r][s] (ordinal: C / nu[j] for threshold j). Of several the largest counts.",
            _LABELS,
        ),
        Parameter(
            "features",
            "tfidf",
            "'tfidf', 'email' or a FeatureMap",
            accepts.is_feature_map,
            "The features phi(x, r) of each label r. 'tfidf': `ClassTfIdf`, 'email': `EmailFeatures`, of the words "
            "of a text; or a map of one's own. The stream feeds a copy of it.",
            ("prototype",),
        ),
        Parameter(
            "threshold",
            "learned",
            "'learned' or a finite number",
            accepts.is_threshold,
            "Labels that score higher are predicted. 'learned': a linear function of x, learned beside the ranking.",
            ("multilabel",),
        ),
        Parameter(
            "sort_thresholds",
            None,
            "None, True or False",
            accepts.or_none(accepts.is_bool),
            "Sort the thresholds after each step. None: where a step may cross them, that is for all selections "
            "but 'simproj', which keeps them in order.",
            ("ordinal",),
        ),
        Parameter(
            "epsilon",
            0.1,
            "a finite number, 0 or more",
            accepts.real(0, inclusive=True),
            "Errors up to epsilon cost nothing: the loss is [|y - w.x| - epsilon]_+.",
            ("regression",),
        ),
        Parameter(
            "radius",
            None,
            "None or a finite number, 0 or more",
            accepts.or_none(accepts.real(0, inclusive=True)),
            "None: by quantile, so that about `contamination` of the examples lie outside; the centre is learned with "
            "the loss |x - w|, and C is a percentage of the radius: how far an example moves the centre at most. A "
            "number: the radius is fixed, as in the paper, and the loss is [|x - w| - radius]_+.",
            ("uniclass",),
        ),
        Parameter(
            "contamination",
            0.1,
            "a number from 0.0001 to 0.5",
            lambda value: accepts.real(0)(value) and 1e-4 <= float(value) <= 0.5,
            "With a radius by quantile (radius=None, max_radius=None): the share of examples outside of the ball. "
            "Exactly that share of the rows after `fit`; in a stream the share of about the last 1000 examples.",
            ("uniclass",),
        ),
        Parameter(
            "max_radius",
            None,
            "None or a finite number greater than 0",
            accepts.or_none(accepts.real(0)),
            "If given, the radius is learned: it starts at 0, only grows, and never exceeds max_radius "
            "(`radius` is not used). A bound far above the radii that matter makes it grow slowly.",
            ("uniclass",),
        ),
        Parameter(
            "fit_intercept",
            True,
            "True or False",
            accepts.is_bool,
            "Learn an intercept: the weight of a constant feature of value 1, which counts in the norm of x.",
            _LINEAR,
        ),
        Parameter(
            "geometry",
            "euclidean",
            "'euclidean', 'mahalanobis', 'diagonal' (both not for uniclass) or 'entropy'",
            accepts.one_of(*GEOMETRIES),
            "What close means. 'mahalanobis': a full covariance, one for all labels, narrows where something was "
            "learned (PAM, AROW); its cost and memory grow with the square of the features. 'diagonal': a variance for "
            "each feature. 'entropy': weights on a simplex, multiplicative updates.",
            (*_SHAPED, "uniclass"),
        ),
        Parameter(
            "kernel",
            None,
            "None, 'linear', 'poly', 'rbf', or a function of two matrices",
            accepts.or_none(lambda value: callable(value) or accepts.one_of(*KERNELS)(value)),
            "None: weights. Else w is a sum of examples, the supports, in the space of the kernel: 'linear' x.z, "
            "'poly' (gamma x.z + coef0)^degree, 'rbf' exp(-gamma |x - z|^2); a function is given two matrices (CSR, "
            "if the data is sparse) and returns that of the kernel values. An intercept adds 1.",
            _KERNELIZED,
        ),
        Parameter(
            "degree",
            3,
            "a whole number from 1 to 100",
            accepts.whole(1, 100),
            "kernel='poly': its degree.",
            _KERNELIZED,
        ),
        Parameter(
            "gamma",
            "scale",
            "'scale' or a finite number greater than 0",
            lambda value: accepts.one_of("scale")(value) or accepts.real(0)(value),
            "kernel='poly' or 'rbf': the factor of x.z, or of |x - z|^2. 'scale': 1/(n_features * X.var()) of the rows "
            "that `fit` or the first `partial_fit` gets; a stream of events needs a number.",
            _KERNELIZED,
        ),
        Parameter(
            "coef0",
            0.0,
            "a finite number, 0 or more",
            accepts.real(0, inclusive=True),
            "kernel='poly': what is added to gamma x.z.",
            _KERNELIZED,
        ),
        Parameter(
            "budget",
            None,
            "None, 'adaptive', or a whole number of 1 or more",
            accepts.or_none(
                lambda value: accepts.one_of("adaptive")(value) or accepts.whole(1, 2**31)(value)
            ),
            "With a kernel: how many supports are kept. None: all. A number: before one more would come, the one with "
            "the largest margin without itself goes. 'adaptive': after each update those go, one by one, that would "
            "not be asked for again.",
            _KERNELIZED,
        ),
        Parameter(
            "removal",
            "largest",
            "'largest' or 'oldest'",
            accepts.one_of("largest", "oldest"),
            "With a budget: which support goes first, the one with the largest margin without itself, or the oldest.",
            _KERNELIZED,
        ),
        Parameter(
            "max_cache",
            2**30,
            "a finite number greater than 0",
            accepts.real(0),
            "With a kernel: the most bytes that the supports, and with a budget the kernel values among them, may "
            "take; input that would need more is refused. What is left of it keeps kernel values between the passes "
            "of `fit`.",
            _KERNELIZED,
        ),
        Parameter(
            "covariance_regularizer",
            1.0,
            "a finite number greater than 0",
            accepts.real(0),
            "r: an update adds x x'/r to the inverse of the covariance. AROW is step='pa2' with C = 1/(2r).",
            _SHAPED,
        ),
        Parameter(
            "initial_variance",
            1.0,
            "a number from 1e-50 to 1e50",
            lambda value: accepts.real(0)(value) and 1e-50 <= float(value) <= 1e50,
            "The covariance starts as this times the identity: larger for features that are small.",
            _SHAPED,
        ),
        Parameter(
            "covariance_update",
            "drop",
            "'precision' or 'drop'",
            accepts.one_of("precision", "drop"),
            "geometry='diagonal': 'drop' makes the full update of the covariance and drops what is off its diagonal; "
            "'precision' adds the diagonal of x x'/r to the inverse, as published for AROW, which one large row can "
            "freeze.",
            _SHAPED,
        ),
        Parameter(
            "max_covariance",
            2**30,
            "a finite number greater than 0",
            accepts.real(0),
            "geometry='mahalanobis': the most bytes that the covariance may take (4 n^2 for n features); input that "
            "would need more is refused.",
            tuple(task for task in _SHAPED if task != "sequence"),
        ),
        Parameter(
            "eta",
            0.9,
            "a number from 0.5 to 1, without 1 (0.5 needs w1)",
            lambda value: accepts.real(0)(value) and 0.5 <= float(value) < 1,
            "step='cw': the probability with which the margin is to be positive.",
            ("classification", "multilabel"),
        ),
        Parameter(
            "scale",
            10.0,
            "a finite number greater than 0",
            accepts.real(0),
            "geometry='entropy': the sum of all |weights| is at most this (1: the probability simplex). Scores are "
            "at most scale times the largest value: a margin may be out of reach of a small one.",
            ("classification", "regression", "multilabel", "ordinal", "uniclass"),
        ),
        Parameter(
            "signed",
            True,
            "True or False",
            accepts.is_bool,
            "geometry='entropy': weights may be negative (each feature counts twice, as x and as -x). False: weights "
            "of 0 and more, which add up to scale.",
            _SIMPLEX,
        ),
        Parameter(
            "entropy_step",
            "range",
            "'range' or 'paper'",
            accepts.one_of("range", "paper"),
            "geometry='entropy': the size of an instance in the step. 'range': half the range of its values. 'paper': "
            "as printed in N03, for values of 0 and more, with step='pa' and signed=False.",
            _SIMPLEX,
        ),
        Parameter(
            "w1",
            None,
            "None, a vector of finite numbers, a matrix of them (many labels: a row each), a dict of named weights, "
            "or (uniclass) 'first' or 'zero'",
            accepts.is_start,
            "Where to start. None is 0; for uniclass it is 'first': the first instance becomes the centre, and "
            "is not a round.",
            _BATCH,
        ),
        Parameter(
            "average",
            False,
            "True, False, or a whole number of 1 or more",
            lambda value: accepts.is_bool(value) or accepts.whole(1, 2**62)(value),
            "Predict with the average of the vectors that predicted so far, kept lazily and exactly. A number "
            "n starts the average at round n.",
        ),
        Parameter(
            "classes",
            None,
            "None or two or more different labels",
            accepts.or_none(accepts.is_classes),
            "The labels in order, if known ahead; others are refused then. None: from the data, sorted in `fit`; in "
            "a stream new labels are welcome any time. Ranks: from the lowest to the highest.",
            (*_LABELS, "sequence"),
        ),
        Parameter(
            "max_labels",
            2**16,
            "a whole number from 2 to 2^24",
            accepts.whole(2, 2**24),
            "The most labels that the model accepts; a stream that would bring more is refused.",
            ("classification", "multilabel", "prototype", "sequence"),
        ),
        Parameter(
            "class_weight",
            None,
            "None, 'balanced', or a dict of labels to weights of 0 or more",
            accepts.is_class_weight,
            "Multiplies the weight of each example by that of its label. 'balanced' (fit only) makes the "
            "labels weigh the same in all.",
            _CLASSIFICATION,
        ),
        Parameter(
            "max_iter",
            1000,
            "a whole number of 1 or more",
            accepts.whole(1),
            "At most so many passes over the data in `fit`.",
        ),
        Parameter(
            "tol",
            1e-3,
            "None or a finite number, 0 or more",
            accepts.or_none(accepts.real(0, inclusive=True)),
            "`fit` stops when the mean loss of `n_iter_no_change` passes in a row was not lower than the best "
            "by more than tol, and whenever a whole pass changed nothing. None: only then.",
        ),
        Parameter(
            "n_iter_no_change",
            5,
            "a whole number of 1 or more",
            accepts.whole(1),
            "How many passes without improvement `fit` accepts.",
        ),
        Parameter(
            "early_stopping",
            False,
            "True or False",
            accepts.is_bool,
            "`fit` holds rows back, stops when their `score` has not improved by `tol` in `n_iter_no_change` passes, "
            "and keeps the model that had the best one.",
            _EARLY,
        ),
        Parameter(
            "validation_fraction",
            0.1,
            "a number between 0 and 1",
            lambda value: accepts.real(0)(value) and float(value) < 1,
            "early_stopping: the share of the rows that is held back (classes: of each class).",
            _EARLY,
        ),
        Parameter(
            "shuffle",
            True,
            "True or False",
            accepts.is_bool,
            "Visit the rows in a new random order each pass of `fit`.",
        ),
        Parameter(
            "batch_tolerance",
            None,
            "None or a finite number greater than 0",
            accepts.or_none(accepts.real(0)),
            "If given, `fit` runs N03's batch conversion (with step='pa', in the order of the rows): it presents "
            "only examples whose squared loss exceeds batch_tolerance, until there is none.",
            _BATCH,
        ),
        Parameter(
            "max_updates",
            1_000_000,
            "a whole number of 1 or more",
            accepts.whole(1),
            "The batch conversion gives up after so many updates (the data may not be realizable).",
            _BATCH,
        ),
        Parameter(
            "hash_bits",
            None,
            "None or a whole number from 1 to 30",
            accepts.or_none(accepts.whole(1, 30)),
            "Named features: None keeps a vocabulary that grows; a number b hashes the names into 2^b columns "
            "(MurmurHash3, the columns and signs of scikit-learn's FeatureHasher).",
        ),
        Parameter(
            "max_features",
            2**24,
            "a whole number from 1 to 2^40",
            accepts.whole(1, 2**40),
            "The most features that the model accepts; input that would need more is refused, see `at_max_features`.",
        ),
        Parameter(
            "at_max_features",
            "error",
            "'error' or 'ignore'",
            accepts.one_of("error", "ignore"),
            "What happens to named features that are new when there are `max_features`: 'error' rejects their example, "
            "'ignore' leaves them out of it, and counts them (`n_ignored`).",
            (*_KERNELIZED, "sequence"),
        ),
        Parameter(
            "max_weights",
            2**32,
            "a finite number greater than 0",
            accepts.real(0),
            "The most bytes that the weights may take: 8 for each feature and label (dtype='float32': 4; with an "
            "average 8 more). Input that would need more is rejected. With a kernel see max_cache.",
        ),
        Parameter(
            "dtype",
            "float64",
            "'float32' or 'float64'",
            accepts.is_dtype,
            "The type of the weights. Data of either type is read in place. Sums are made in float64; with 'float32' "
            "and many labels in float32, which is faster.",
        ),
        Parameter(
            "random_state",
            None,
            "None, a whole number from 0 to 2^32 - 1, or a numpy RandomState",
            accepts.is_seed,
            "The seed of the shuffling in `fit`.",
        ),
        Parameter(
            "verbose",
            0,
            "a whole number, 0 or more",
            lambda v: accepts.is_bool(v) or accepts.whole(0)(v),
            "1 shows each pass of `fit`: as a bar on a terminal, else as a line.",
        ),
    )
}

# The options of a `Learner`; the others belong to `fit`.
OF_LEARNER = (
    "step", "C", "margin", "selection", "beta", "cost", "nu", "threshold", "sort_thresholds", "epsilon", "radius",
    "contamination", "max_radius", "fit_intercept", "geometry", "kernel", "degree", "gamma", "coef0", "budget",
    "removal", "max_cache", "covariance_regularizer", "initial_variance", "covariance_update", "max_covariance", "eta",
    "scale", "signed", "entropy_step", "w1", "average", "classes", "max_labels", "class_weight", "hash_bits",
    "max_features", "at_max_features", "max_weights", "dtype",
)  # fmt: skip

# The options by what they are about, as help shows them.
GROUPS: dict[str, tuple[str, ...]] = {
    "the step": ("C", "step", "margin", "epsilon", "radius", "contamination", "max_radius", "beta", "eta"),
    "labels": (
        "selection", "cost", "nu", "features", "threshold", "sort_thresholds", "classes", "max_labels", "class_weight",
    ),
    "the model": (
        "fit_intercept", "average", "w1", "hash_bits", "max_features", "at_max_features", "max_weights", "dtype",
    ),
    "the passes of fit": (
        "max_iter", "tol", "n_iter_no_change", "early_stopping", "validation_fraction", "shuffle", "batch_tolerance",
        "max_updates", "random_state", "verbose",
    ),
    "geometry": (
        "geometry", "covariance_regularizer", "initial_variance", "covariance_update", "max_covariance", "scale",
        "signed", "entropy_step",
    ),
    "kernel": ("kernel", "degree", "gamma", "coef0", "budget", "removal", "max_cache"),
}  # fmt: skip
# What only `fit` reads: no other method has to follow a change of these.
OF_FIT = GROUPS["the passes of fit"]

OF_SEQUENCE = (
    "step", "C", "margin", "selection", "cost", "geometry", "covariance_regularizer", "initial_variance",
    "covariance_update", "average", "classes", "max_labels", "hash_bits", "max_features",
    "at_max_features", "max_weights", "dtype",
)  # fmt: skip


def default(name: str) -> Any:
    return PARAMETERS[name].default


def step_of(task: str, values: Mapping[str, Any]) -> Any:
    """The step that these options mean: None leaves it to the task and the geometry."""
    step = values.get("step")
    if step is not None:
        return step
    return "pa2" if task == "regression" and values.get("geometry") in COVARIANCES else "pa1"


def completed(names: Iterable[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """All of these options, with defaults for those that are not given. What could be changed later is copied."""
    unknown = [name for name in given if name not in names]
    if unknown:
        raise TypeError(f"there is no option {unknown[0]!r}")
    return {name: _copied(given[name]) if name in given else default(name) for name in names}


def _copied(value: Any) -> Any:
    """Lists, dicts and arrays as they are now; anything else cannot change, or is a function."""
    if isinstance(value, Mapping):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_copied(each) for each in value) if type(value) in (list, tuple) else list(value)
    return value.copy() if is_array(value) else value


def check(task: str, values: Mapping[str, Any]) -> None:
    """Raises ValueError for a value, or a combination of values, that makes no sense."""
    for name, value in values.items():
        parameter = PARAMETERS[name]
        if value is not parameter.default and not parameter.accepts(value):
            raise ValueError(f"{name} must be {parameter.allowed}, not {shown(value)}")
    combinations.check(task, {**values, "step": step_of(task, values)})
    hash_bits = values.get("hash_bits")
    if hash_bits is not None and 2**hash_bits > values.get("max_features", default("max_features")):
        raise ValueError(f"hash_bits={hash_bits} means {2**hash_bits} columns, more than max_features")


def names_for(task: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if task in PARAMETERS[name].tasks]


def describe(names: Iterable[str], **defaults: Any) -> list[str]:
    """The lines of the 'Parameters' section of a docstring, by groups; `defaults` differ from the table."""
    wanted, lines = set(names), []
    for group, members in GROUPS.items():
        its = [name for name in members if name in wanted]
        if its:
            lines += ["", f"*{group[0].upper()}{group[1:]}*", ""]
        for name in its:
            parameter = PARAMETERS[name]
            its_default = defaults.get(name, parameter.default)
            lines.append(f"{name} : {parameter.allowed}, default={its_default!r}")
            lines.append(f"    {parameter.help}")
    return lines[1:]


_Class = TypeVar("_Class", bound=type)


def documented(task: str, names: Iterable[str], **defaults: Any) -> Callable[[_Class], _Class]:
    """A class decorator: fills `{parameters}` in the docstring from the table.

    The section is indented as `{parameters}` is: from Python 3.13 on the compiler removes the common indentation.
    """

    def decorate(cls: _Class) -> _Class:
        before, found, after = (cls.__doc__ or "").partition("{parameters}")
        if found:
            indent = before[before.rindex("\n") + 1 :]
            lines = describe(names_for(task, names), **defaults)
            cls.__doc__ = (
                before + "\n".join(f"{indent}{line}" if line else "" for line in lines).lstrip() + after
            )
        return cls

    return decorate
