"""The weights, and how features become columns."""

from __future__ import annotations

from ..kinds import FLAG, POSITIVE, Kind, choice, optional, whole
from ..parameter import ALL_BUT_PROTOTYPE, LINEAR, ONE_VECTOR, SCALED, Parameter
from ..validators import is_bool, is_dtype, is_start, one_of, real
from ..validators import whole as is_whole_from

ROWS = (
    Parameter(
        "fit_intercept",
        True,
        FLAG,
        "Learn an intercept. It is the weight of a constant feature, which counts in the norm of x; see "
        "`intercept_value`.",
        LINEAR,
    ),
    Parameter(
        "intercept_value",
        "auto",
        Kind(
            "float | str",
            "'auto' or a number from 2^-500 to 2^500",
            lambda value: one_of("auto")(value) or (real(0)(value) and 2.0**-500 <= float(value) <= 2.0**500),
        ),
        "The value of the constant feature of the intercept. 'auto': the power of 2 nearest to half the root mean "
        "square of the values that are not 0 in the first example that is learned (1 if it has none), so the "
        "intercept learns as quickly as the other weights, whatever their units; with geometry='entropy' and kernels "
        "other than 'linear', 1.",
        LINEAR,
    ),
    Parameter(
        "scaling",
        None,
        optional(choice("auto", "online")),
        "'online': each value is divided by the root mean square of the values other than 0 that its column has had "
        "so far, so the units of the columns do not matter. Zeros stay zeros; a column costs 16 bytes. Weights are "
        "reported for the values as they come. None: values are used as they come. 'auto': 'online' in a `fit` of "
        "several passes over dense rows, where columns often have different units; else None.",
        SCALED,
    ),
    Parameter(
        "average",
        False,
        Kind(
            "bool | int | str",
            "True, False, 'auto', or a whole number of 1 or more",
            lambda value: is_bool(value) or one_of("auto")(value) or is_whole_from(1, 2**62)(value),
        ),
        "Predict with the average of the weight vectors of all rounds so far, which errs less on noisy data. A "
        "number n starts the average at round n. 'auto': True in a `fit` of several passes, where the data do not "
        "drift; False in streams, where they may (and with kernels and the batch conversion).",
    ),
    Parameter(
        "w1",
        None,
        Kind(
            "npt.ArrayLike | Mapping[Any, float] | None",
            "None, a vector of finite numbers, a matrix of them (many labels: a row each), a dict of named weights, "
            "or (uniclass) 'first' or 'zero'",
            is_start,
        ),
        "The weights to start from. None: 0; for uniclass 'first', where the first instance becomes the centre and "
        "is not a round.",
        (*ONE_VECTOR, "prototype"),
    ),
    Parameter(
        "hash_bits",
        None,
        optional(whole(1, 30)),
        "Hash the names of features into 2^N columns, with the columns and signs of scikit-learn's FeatureHasher "
        "(MurmurHash3): memory is fixed, and weights have no names. None: names are kept in a vocabulary that grows.",
        ALL_BUT_PROTOTYPE,
    ),
    Parameter(
        "max_features",
        2**24,
        whole(1, 2**40, "from 1 to 2^40"),
        "The most features that the model accepts. Input with more is rejected; see `at_max_features`.",
    ),
    Parameter(
        "at_max_features",
        "error",
        choice("error", "ignore"),
        "What happens to new named features when the model has `max_features`. 'error': their example is rejected. "
        "'ignore': they are left out and counted (`n_ignored`), for streams that bring new names forever.",
        (*ONE_VECTOR, "sequence"),
    ),
    Parameter(
        "max_weights",
        2**32,
        POSITIVE,
        "The most bytes that the weights may take: 8 per feature and label (dtype='float32': 4; an average adds 8). "
        "Input that would need more is rejected. For kernels there is `max_cache`.",
    ),
    Parameter(
        "dtype",
        "float64",
        Kind("npt.DTypeLike", "'float32' or 'float64'", is_dtype),
        "The type of the weights. Data of either type is read in place. Sums are made in float64, but with 'float32' "
        "and many labels in float32, which is faster.",
    ),
)
