"""Every option of hinge, once: its name, what it may be, its default, and what it does.

This table feeds the checks of the constructors, their docstrings, the options of the command line and docs/guide.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .._numpy import is_array
from ..data.shown import shown
from ..tasks import TASKS, task_named
from . import combinations, validators

ALL_TASKS = tuple(TASKS)
SELECTIONS, SEARCHES = TASKS["classification"].selections, TASKS["structured"].selections
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

    def is_for(self, task: str) -> bool:
        """Whether the task has this option."""
        return task_named(task).options_of in self.tasks


_CLASSIFICATION = ("classification",)
_LINEAR = ("classification", "regression", "multilabel")
_LABELS = ("classification", "multilabel", "ordinal", "prototype")
_SEARCHED = ("sequence", "structured")
_SHAPED = ("classification", "regression", "multilabel", "ordinal", *_SEARCHED)
_KERNELIZED = ("classification", "regression", "uniclass", "multilabel", "ordinal")
_BATCH = (*_KERNELIZED, "prototype")
_EARLY = (*_KERNELIZED, "structured", "sequence")
_SIMPLEX = ("classification", "regression", "uniclass")

PARAMETERS: dict[str, Parameter] = {
    p.name: p
    for p in (
        Parameter(
            "step",
            "pa1",
            "'pa', 'pa1', 'pa2', (labels) 'perceptron' or 'cw', or (regression) None",
            validators.or_none(validators.one_of("pa", "pa1", "pa2", "perceptron", "cw")),
            "How far to move when there is a loss. 'pa': as far as is needed to have no loss. 'pa1': the same, but at"
            " most C. 'pa2': less far the smaller C is, without a limit. 'perceptron': by x, and only on mistakes "
            "(with a covariance: the second-order perceptron). 'cw' (confidence-weighted, needs a covariance): until "
            "the margin is positive with the probability `eta`. None: 'pa1'; for regression with a covariance 'pa2', "
            "because steps of at most C cannot keep up as the variances shrink.",
        ),
        Parameter(
            "C",
            1.0,
            "a number greater than 0 (inf is allowed)",
            validators.real(0, infinite=True),
            "Aggressiveness: the longest step of 'pa1', the softness of 'pa2'. Use a small C for noisy data. 'pa', "
            "'perceptron' and 'cw' do not use it. N03's relaxation gamma is 1/(2C).",
        ),
        Parameter(
            "margin",
            1.0,
            "a finite number greater than 0",
            validators.real(0),
            "The margin to keep. Two classes: the loss is [margin - y w.x]_+. Many labels: [margin - lead]_+, where "
            "the lead is how much higher the relevant label scores than the irrelevant one. A cost multiplies the "
            "margin by its square root.",
            (*_LABELS, *_SEARCHED),
        ),
        Parameter(
            "selection",
            "max",
            "'max', 'prediction', 'simperc', 'simproj', 'conproj', 'mira', (perceptron) 'uniform' or (sequences and "
            "structures) 'max-additive'",
            validators.one_of(*SELECTIONS, *SEARCHES),
            "Which violated constraints count. 'max': the worst one. 'prediction': that of the predicted label, if it"
            " is wrong. 'simproj', 'conproj': the average of one step per violated constraint. 'simperc': the same "
            "for wrong labels only. 'mira': all constraints at once, solved exactly. 'uniform': the perceptron with "
            "all wrong labels. With two classes, all but 'max' give each class its own weights. Sequences and "
            "structures have 'prediction', 'max' (the margin is sqrt(cost), found by an exact search) and "
            "'max-additive' (the margin is the cost itself).",
            (*_LABELS, *_SEARCHED),
        ),
        Parameter(
            "beta",
            None,
            "None or a finite number, 0 or more (0 with 'mira' needs w1)",
            validators.or_none(validators.real(0, inclusive=True)),
            "The margin of selection='mira' and of step='perceptron'. 'mira': None is 0.01; a beta of 0 never moves "
            "away from w = 0. 'perceptron': it moves if the margin is at most beta. None is 0 (on mistakes only), "
            "with a budget 0.01.",
            ("classification", "multilabel"),
        ),
        Parameter(
            "cost",
            None,
            "None, a square matrix or a dict of dicts, of numbers of 0 or more with 0 on the diagonal, or (sequences, "
            "structures) a function of the true and the predicted output",
            validators.or_none(lambda value: callable(value) or validators.is_cost(value)),
            "cost[y][r] is what it costs to predict r when y is true. In a matrix the labels are in the order of "
            "`classes`. The margin against r is margin * sqrt(cost). It needs selection 'max' or 'prediction'. "
            "Sequences: the costs of the tags are added up; None counts the wrong tags. In Python, hinge.tree_cost "
            "makes a cost from a hierarchy.",
            ("classification", "prototype", *_SEARCHED),
        ),
        Parameter(
            "nu",
            None,
            "None, or numbers of 0 or more: a matrix or dict of dicts for pairs of labels (ordinal: a vector), or "
            "a list of several",
            validators.or_none(validators.is_nu),
            "Weights of the constraints for 'simproj' and 'conproj'. The constraint that label r beats s is capped at"
            " C / nu[r][s] (ordinal: threshold j at C / nu[j]). If several matrices are given, the largest weight "
            "counts.",
            _LABELS,
        ),
        Parameter(
            "features",
            "tfidf",
            "'tfidf', 'email' or a FeatureMap",
            validators.is_feature_map,
            "The features phi(x, r) of each label r, made from the words of a text. 'tfidf': `ClassTfIdf`. 'email': "
            "`EmailFeatures`. In Python, a custom FeatureMap is possible: it is copied, and the stream feeds the "
            "copy.",
            ("prototype",),
        ),
        Parameter(
            "threshold",
            "learned",
            "'learned' or a finite number",
            validators.is_threshold,
            "Labels that score higher than the threshold are predicted (multilabel). 'learned': the threshold is a "
            "linear function of x, learned together with the ranking.",
            ("multilabel",),
        ),
        Parameter(
            "sort_thresholds",
            None,
            "None, True or False",
            validators.or_none(validators.is_bool),
            "Sort the thresholds after each step. None: for all selections but 'simproj', whose steps keep them in "
            "order.",
            ("ordinal",),
        ),
        Parameter(
            "epsilon",
            0.1,
            "a finite number, 0 or more",
            validators.real(0, inclusive=True),
            "Errors up to epsilon cost nothing (regression): the loss is [|y - w.x| - epsilon]_+.",
            ("regression",),
        ),
        Parameter(
            "radius",
            None,
            "None or a finite number, 0 or more",
            validators.or_none(validators.real(0, inclusive=True)),
            "The radius of the ball (uniclass). A number: the radius is fixed, and the loss is [|x - w| - radius]_+, "
            "as in the paper. None: the radius is the quantile of the distances that leaves about `contamination` of "
            "the examples outside. Then the loss is |x - w|, and C is how far one example moves the centre at most, "
            "in percent of the radius.",
            ("uniclass",),
        ),
        Parameter(
            "contamination",
            0.1,
            "a number from 0.0001 to 0.5",
            lambda value: validators.real(0)(value) and 1e-4 <= float(value) <= 0.5,
            "The share of examples outside of the ball (uniclass), if the radius is a quantile (radius=None, "
            "max_radius=None). In a stream it is the share of about the last 1000 examples. In Python, after `fit`, "
            "it is exactly this share of the rows.",
            ("uniclass",),
        ),
        Parameter(
            "max_radius",
            None,
            "None or a finite number greater than 0",
            validators.or_none(validators.real(0)),
            "If given, the radius (uniclass) is learned: it starts at 0, only grows, and is at most max_radius. "
            "`radius` is not used then. If max_radius is much too large, the radius grows slowly.",
            ("uniclass",),
        ),
        Parameter(
            "fit_intercept",
            True,
            "True or False",
            validators.is_bool,
            "Learn an intercept. It is the weight of a constant feature of value 1, which counts in the norm of x.",
            _LINEAR,
        ),
        Parameter(
            "geometry",
            "euclidean",
            "'euclidean', 'mahalanobis', 'diagonal' (both not for uniclass) or 'entropy'",
            validators.one_of(*GEOMETRIES),
            "How the distance between old and new weights is measured. 'euclidean': by the weights alone. "
            "'mahalanobis': by a full covariance, shared by all labels, which shrinks in directions that were learned"
            " (PAM, AROW); time and memory grow with the square of the number of features. 'diagonal': by one "
            "variance per feature. 'entropy': weights are on a simplex, and updates are multiplicative.",
            (*_SHAPED, "uniclass"),
        ),
        Parameter(
            "kernel",
            None,
            "None, 'linear', 'poly', 'rbf', or a function of two matrices",
            validators.or_none(lambda value: callable(value) or validators.one_of(*KERNELS)(value)),
            "The kernel, if there is one. None: there is one weight per feature. Otherwise w is a sum of examples, "
            "the supports, in the space of the kernel. 'linear': x.z. 'poly': (gamma x.z + coef0)^degree. 'rbf': "
            "exp(-gamma |x - z|^2). An intercept adds 1 to the kernel. In Python, a function is possible: it takes "
            "two matrices (CSR if the data is sparse) and returns the matrix of kernel values.",
            _KERNELIZED,
        ),
        Parameter(
            "degree",
            3,
            "a whole number from 1 to 100",
            validators.whole(1, 100),
            "kernel='poly': the degree.",
            _KERNELIZED,
        ),
        Parameter(
            "gamma",
            "scale",
            "'scale' or a finite number greater than 0",
            lambda value: validators.one_of("scale")(value) or validators.real(0)(value),
            "kernel='poly' and 'rbf': the factor of x.z (poly) or of |x - z|^2 (rbf). A stream of events needs a "
            "number. In Python, 'scale' is 1/(n_features * X.var()) of the rows that `fit` or the first `partial_fit`"
            " gets.",
            _KERNELIZED,
        ),
        Parameter(
            "coef0",
            0.0,
            "a finite number, 0 or more",
            validators.real(0, inclusive=True),
            "kernel='poly': the constant that is added to gamma x.z.",
            _KERNELIZED,
        ),
        Parameter(
            "budget",
            None,
            "None, 'adaptive', or a whole number of 1 or more",
            validators.or_none(
                lambda value: validators.one_of("adaptive")(value) or validators.whole(1, 2**31)(value)
            ),
            "How many supports a kernel keeps. None: all of them. A number: when there is one too many, the support "
            "with the largest margin without itself is removed. 'adaptive': each update removes, one by one, the "
            "supports that would not be added again.",
            _KERNELIZED,
        ),
        Parameter(
            "removal",
            "largest",
            "'largest' or 'oldest'",
            validators.one_of("largest", "oldest"),
            "With a budget, the support that is removed first. 'largest': the one with the largest margin without "
            "itself. 'oldest': the oldest one.",
            _KERNELIZED,
        ),
        Parameter(
            "max_cache",
            2**30,
            "a finite number greater than 0",
            validators.real(0),
            "With a kernel: the most bytes that the supports may take, with a budget including the kernel values "
            "among them. Input that would need more is rejected. In Python, what is left keeps kernel values between "
            "the passes of `fit`.",
            _KERNELIZED,
        ),
        Parameter(
            "covariance_regularizer",
            1.0,
            "a finite number greater than 0",
            validators.real(0),
            "AROW's r: an update adds x x'/r to the inverse of the covariance. AROW is step='pa2' with C = 1/(2r).",
            _SHAPED,
        ),
        Parameter(
            "initial_variance",
            1.0,
            "a number from 1e-50 to 1e50",
            lambda value: validators.real(0)(value) and 1e-50 <= float(value) <= 1e50,
            "The covariance starts as initial_variance times the identity. Use a larger one if the features are "
            "small.",
            _SHAPED,
        ),
        Parameter(
            "covariance_update",
            "drop",
            "'precision' or 'drop'",
            validators.one_of("precision", "drop"),
            "geometry='diagonal': how an update shrinks the variances. 'drop': the full update of the covariance, of "
            "which only the diagonal is kept. 'precision': the diagonal of x x'/r is added to the inverse, as "
            "published for AROW; one very large row makes it stop learning.",
            _SHAPED,
        ),
        Parameter(
            "max_covariance",
            2**30,
            "a finite number greater than 0",
            validators.real(0),
            "geometry='mahalanobis': the most bytes that the covariance may take (4 n^2 for n features). Input that "
            "would need more is rejected.",
            ("classification", "regression", "multilabel", "ordinal", "structured"),
        ),
        Parameter(
            "eta",
            0.9,
            "a number from 0.5 to 1, without 1 (0.5 needs w1)",
            lambda value: validators.real(0)(value) and 0.5 <= float(value) < 1,
            "step='cw': the probability with which the margin is to be positive.",
            ("classification", "multilabel"),
        ),
        Parameter(
            "scale",
            10.0,
            "a finite number greater than 0",
            validators.real(0),
            "geometry='entropy': the sum of all |weights| is at most scale (1: the probability simplex). A score is "
            "at most scale times the largest value, so that a small scale may not reach the margin.",
            ("classification", "regression", "multilabel", "ordinal", "uniclass"),
        ),
        Parameter(
            "signed",
            True,
            "True or False",
            validators.is_bool,
            "geometry='entropy': weights may be negative. (Each feature counts twice, as x and as -x.) False: all "
            "weights are 0 or more, and their sum is scale.",
            _SIMPLEX,
        ),
        Parameter(
            "entropy_step",
            "range",
            "'range' or 'paper'",
            validators.one_of("range", "paper"),
            "geometry='entropy': how the size of an instance is measured for the step. 'range': half the range of its"
            " values. 'paper': as printed in N03, for values of 0 or more, with step='pa' and signed=False.",
            _SIMPLEX,
        ),
        Parameter(
            "w1",
            None,
            "None, a vector of finite numbers, a matrix of them (many labels: a row each), a dict of named weights, "
            "or (uniclass) 'first' or 'zero'",
            validators.is_start,
            "The weights to start from. None: 0; for uniclass 'first', where the first instance becomes the centre "
            "and is not a round.",
            _BATCH,
        ),
        Parameter(
            "average",
            False,
            "True, False, or a whole number of 1 or more",
            lambda value: validators.is_bool(value) or validators.whole(1, 2**62)(value),
            "Predict with the average of all weight vectors that made the predictions so far. A number n starts the "
            "average at round n.",
        ),
        Parameter(
            "classes",
            None,
            "None or two or more different labels",
            validators.or_none(validators.is_classes),
            "The labels in order, if they are known before; other labels are rejected then. None: the labels of the "
            "data, as they come in a stream, sorted by `fit`. Ranks go from the lowest to the highest.",
            (*_LABELS, "sequence"),
        ),
        Parameter(
            "max_labels",
            2**16,
            "a whole number from 2 to 2^24",
            validators.whole(2, 2**24),
            "The most labels that the model accepts. Input with more is rejected.",
            ("classification", "multilabel", "prototype", "sequence"),
        ),
        Parameter(
            "class_weight",
            None,
            "None, 'balanced', or a dict of labels to weights of 0 or more",
            validators.is_class_weight,
            "Multiplies the weight of each example by that of its label. In Python, 'balanced' (`fit` only) gives all"
            " labels the same total weight.",
            _CLASSIFICATION,
        ),
        Parameter(
            "max_iter",
            1000,
            "a whole number of 1 or more",
            validators.whole(1),
            "The most passes over the data that `fit` makes.",
        ),
        Parameter(
            "tol",
            1e-3,
            "None or a finite number, 0 or more",
            validators.or_none(validators.real(0, inclusive=True)),
            "`fit` stops when `n_iter_no_change` passes in a row have not lowered the mean loss by more than tol, and"
            " whenever a pass changes nothing. None: only when a pass changes nothing.",
        ),
        Parameter(
            "n_iter_no_change",
            5,
            "a whole number of 1 or more",
            validators.whole(1),
            "After how many passes without improvement `fit` stops.",
        ),
        Parameter(
            "early_stopping",
            False,
            "True or False",
            validators.is_bool,
            "`fit` holds back some rows, stops when their `score` has not improved by `tol` in `n_iter_no_change` "
            "passes, and keeps the model with the best score.",
            _EARLY,
        ),
        Parameter(
            "validation_fraction",
            0.1,
            "a number between 0 and 1",
            lambda value: validators.real(0)(value) and float(value) < 1,
            "With early_stopping: the share of the rows that is held back, of each class.",
            _EARLY,
        ),
        Parameter(
            "shuffle",
            True,
            "True or False",
            validators.is_bool,
            "Visit the rows in a new random order in each pass of `fit`.",
        ),
        Parameter(
            "batch_tolerance",
            None,
            "None or a finite number greater than 0",
            validators.or_none(validators.real(0)),
            "If given, `fit` runs N03's batch conversion, which needs step='pa': it visits the rows in order and "
            "learns only those whose squared loss exceeds batch_tolerance, until there are none.",
            _BATCH,
        ),
        Parameter(
            "max_updates",
            1_000_000,
            "a whole number of 1 or more",
            validators.whole(1),
            "The batch conversion stops after so many updates: the data may not be realizable.",
            _BATCH,
        ),
        Parameter(
            "hash_bits",
            None,
            "None or a whole number from 1 to 30",
            validators.or_none(validators.whole(1, 30)),
            "How names of features become columns. None: names of features are kept in a vocabulary that grows. A "
            "number b: names are hashed into 2^b columns, with the columns and signs of scikit-learn's FeatureHasher "
            "(MurmurHash3).",
        ),
        Parameter(
            "max_features",
            2**24,
            "a whole number from 1 to 2^40",
            validators.whole(1, 2**40),
            "The most features that the model accepts. Input with more is rejected; see `at_max_features`.",
        ),
        Parameter(
            "at_max_features",
            "error",
            "'error' or 'ignore'",
            validators.one_of("error", "ignore"),
            "What happens to new named features when the model has `max_features`. 'error': their example is "
            "rejected. 'ignore': they are left out and counted (`n_ignored`).",
            (*_KERNELIZED, "sequence"),
        ),
        Parameter(
            "max_weights",
            2**32,
            "a finite number greater than 0",
            validators.real(0),
            "The most bytes that the weights may take: 8 per feature and label (dtype='float32': 4; an average adds "
            "8). Input that would need more is rejected. For kernels there is `max_cache`.",
        ),
        Parameter(
            "dtype",
            "float64",
            "'float32' or 'float64'",
            validators.is_dtype,
            "The type of the weights. Data of either type is read in place. Sums are made in float64, but with "
            "'float32' and many labels in float32, which is faster.",
        ),
        Parameter(
            "random_state",
            None,
            "None, a whole number from 0 to 2^32 - 1, or a numpy RandomState",
            validators.is_seed,
            "The seed of the shuffling in `fit`.",
        ),
        Parameter(
            "verbose",
            0,
            "a whole number, 0 or more",
            lambda v: validators.is_bool(v) or validators.whole(0)(v),
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
    "weights and features": (
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
    "kernel and budget": ("kernel", "degree", "gamma", "coef0", "budget", "removal", "max_cache"),
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
    its_task = task_named(task)
    combinations.check(its_task, {**values, "step": its_task.step_of(values)})
    hash_bits = values.get("hash_bits")
    if hash_bits is not None and 2**hash_bits > values.get("max_features", default("max_features")):
        raise ValueError(f"hash_bits={hash_bits} means {2**hash_bits} columns, more than max_features")


def names_for(task: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if PARAMETERS[name].is_for(task)]


def check_names(task: str, names: Iterable[str]) -> None:
    """Raises ValueError for an option that the task does not have."""
    for name in names:
        if not PARAMETERS[name].is_for(task):
            raise ValueError(f"{name} is for {', '.join(PARAMETERS[name].tasks)}, not for {task}")


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
