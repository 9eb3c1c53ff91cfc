"""Kernels, and how many supports they keep."""

from __future__ import annotations

from ..parameter import ONE_VECTOR, Parameter
from ..validators import one_of, or_none, real, whole

ROWS = (
    Parameter(
        "kernel",
        None,
        "str | Callable[[Any, Any], Any] | None",
        "None, 'linear', 'poly', 'rbf', or a function of two matrices",
        or_none(lambda value: callable(value) or one_of("linear", "poly", "rbf")(value)),
        "The kernel, if there is one. None: there is one weight per feature. Otherwise w is a sum of examples, "
        "the supports, in the space of the kernel. 'linear': x.z. 'poly': (gamma x.z + coef0)^degree. 'rbf': "
        "exp(-gamma |x - z|^2). An intercept adds 1 to the kernel. In Python, a function is possible: it takes "
        "two matrices (CSR if the data is sparse) and returns the matrix of kernel values.",
        ONE_VECTOR,
    ),
    Parameter(
        "degree",
        3,
        "int",
        "a whole number from 1 to 100",
        whole(1, 100),
        "kernel='poly': the degree.",
        ONE_VECTOR,
    ),
    Parameter(
        "gamma",
        "scale",
        "float | str",
        "'scale' or a finite number greater than 0",
        lambda value: one_of("scale")(value) or real(0)(value),
        "kernel='poly' and 'rbf': the factor of x.z (poly) or of |x - z|^2 (rbf). A stream of events needs a "
        "number. In Python, 'scale' is 1/(n_features * X.var()) of the rows that `fit` or the first `partial_fit`"
        " gets.",
        ONE_VECTOR,
    ),
    Parameter(
        "coef0",
        0.0,
        "float",
        "a finite number, 0 or more",
        real(0, inclusive=True),
        "kernel='poly': the constant that is added to gamma x.z.",
        ONE_VECTOR,
    ),
    Parameter(
        "budget",
        None,
        "int | str | None",
        "None, 'adaptive', or a whole number of 1 or more",
        or_none(lambda value: one_of("adaptive")(value) or whole(1, 2**31)(value)),
        "How many supports a kernel keeps. None: all of them. A number: when there is one too many, the support "
        "with the largest margin without itself is removed. 'adaptive': each update removes, one by one, the "
        "supports that would not be added again.",
        ONE_VECTOR,
    ),
    Parameter(
        "removal",
        "largest",
        "str",
        "'largest' or 'oldest'",
        one_of("largest", "oldest"),
        "With a budget, the support that is removed first. 'largest': the one with the largest margin without "
        "itself. 'oldest': the oldest one.",
        ONE_VECTOR,
    ),
    Parameter(
        "max_cache",
        2**30,
        "float",
        "a finite number greater than 0",
        real(0),
        "With a kernel: the most bytes that the supports may take, with a budget including the kernel values "
        "among them. Input that would need more is rejected. In Python, what is left keeps kernel values between "
        "the passes of `fit`.",
        ONE_VECTOR,
    ),
)
