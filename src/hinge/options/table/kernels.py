"""Kernels, and how many supports they keep."""

from __future__ import annotations

from ..kinds import NONNEGATIVE, POSITIVE, Kind, choice, whole
from ..parameter import ONE_VECTOR, Parameter
from ..validators import one_of, or_none, real
from ..validators import whole as is_whole_from

ROWS = (
    Parameter(
        "kernel",
        None,
        Kind(
            "str | Callable[[Any, Any], Any] | None",
            "None, 'linear', 'poly', 'rbf', or a function of two matrices",
            or_none(lambda value: callable(value) or one_of("linear", "poly", "rbf")(value)),
        ),
        "The kernel. None: there is none, but one weight per feature. With a kernel, w is a sum of examples, the "
        "supports, in the space of the kernel. 'linear': x.z. 'poly': (gamma x.z + coef0)^degree. 'rbf': "
        "exp(-gamma |x - z|^2). An intercept adds 1 to the kernel. In Python, a function is possible: it takes two "
        "matrices (CSR if the data is sparse) and returns the matrix of kernel values.",
        ONE_VECTOR,
    ),
    Parameter("degree", 3, whole(1, 100), "The degree of kernel='poly'.", ONE_VECTOR),
    Parameter(
        "gamma",
        "scale",
        Kind(
            "float | str",
            "'scale' or a finite number greater than 0",
            lambda value: one_of("scale")(value) or real(0)(value),
        ),
        "The factor of x.z (kernel='poly') or of |x - z|^2 (kernel='rbf'). A stream of events needs a number. In "
        "Python, 'scale' is 1/(n_features * X.var()) of the rows that `fit` or the first `partial_fit` gets.",
        ONE_VECTOR,
    ),
    Parameter("coef0", 0.0, NONNEGATIVE, "The constant that kernel='poly' adds to gamma x.z.", ONE_VECTOR),
    Parameter(
        "budget",
        None,
        Kind(
            "int | str | None",
            "None, 'adaptive', or a whole number of 1 or more",
            or_none(lambda value: one_of("adaptive")(value) or is_whole_from(1, 2**31)(value)),
        ),
        "How many supports a kernel keeps. None: all of them. A number: when there is one too many, one is removed "
        "(see `removal`). 'adaptive': each update removes, one by one, the supports that would not be added again. "
        "Give a budget to a stream that does not end.",
        ONE_VECTOR,
    ),
    Parameter(
        "removal",
        "largest",
        choice("largest", "oldest"),
        "Which support a budget removes first. 'largest': the one with the largest margin without itself. 'oldest': "
        "the oldest one, for data that drifts.",
        ONE_VECTOR,
    ),
    Parameter(
        "max_cache",
        2**30,
        POSITIVE,
        "The most bytes that the supports of a kernel may take, with a budget including the kernel values among "
        "them. Input that would need more is rejected. In Python, what is left keeps kernel values between the "
        "passes of `fit`.",
        ONE_VECTOR,
    ),
)
