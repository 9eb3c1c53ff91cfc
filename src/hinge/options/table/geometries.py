"""The geometry: covariances, and the simplex of the entropy."""

from __future__ import annotations

from ..parameter import ONE_VECTOR, SHAPED, SIMPLEX, Parameter
from ..validators import is_bool, one_of, real

COVARIANCES = ("mahalanobis", "diagonal")
GEOMETRIES = ("euclidean", *COVARIANCES, "entropy")

ROWS = (
    Parameter(
        "geometry",
        "euclidean",
        "str",
        "'euclidean', 'mahalanobis', 'diagonal' (both not for uniclass) or 'entropy'",
        one_of(*GEOMETRIES),
        "How the distance between old and new weights is measured. 'euclidean': by the weights alone. "
        "'mahalanobis': by a full covariance, shared by all labels, which shrinks in directions that were learned"
        " (PAM, AROW); time and memory grow with the square of the number of features. 'diagonal': by one "
        "variance per feature. 'entropy': weights are on a simplex, and updates are multiplicative.",
        (*SHAPED, "uniclass"),
    ),
    Parameter(
        "covariance_regularizer",
        1.0,
        "float",
        "a finite number greater than 0",
        real(0),
        "AROW's r: an update adds x x'/r to the inverse of the covariance. AROW is step='pa2' with C = 1/(2r).",
        SHAPED,
    ),
    Parameter(
        "initial_variance",
        1.0,
        "float",
        "a number from 1e-50 to 1e50",
        lambda value: real(0)(value) and 1e-50 <= float(value) <= 1e50,
        "The covariance starts as initial_variance times the identity. Use a larger one if the features are "
        "small.",
        SHAPED,
    ),
    Parameter(
        "covariance_update",
        "drop",
        "str",
        "'precision' or 'drop'",
        one_of("precision", "drop"),
        "geometry='diagonal': how an update shrinks the variances. 'drop': the full update of the covariance, of "
        "which only the diagonal is kept. 'precision': the diagonal of x x'/r is added to the inverse, as "
        "published for AROW; one very large row makes it stop learning.",
        SHAPED,
    ),
    Parameter(
        "max_covariance",
        2**30,
        "float",
        "a finite number greater than 0",
        real(0),
        "geometry='mahalanobis': the most bytes that the covariance may take (4 n^2 for n features). Input that "
        "would need more is rejected.",
        tuple(task for task in SHAPED if task != "sequence"),
    ),
    Parameter(
        "scale",
        10.0,
        "float",
        "a finite number greater than 0",
        real(0),
        "geometry='entropy': the sum of all |weights| is at most scale (1: the probability simplex). A score is "
        "at most scale times the largest value, so that a small scale may not reach the margin.",
        ONE_VECTOR,
    ),
    Parameter(
        "signed",
        True,
        "bool",
        "True or False",
        is_bool,
        "geometry='entropy': weights may be negative. (Each feature counts twice, as x and as -x.) False: all "
        "weights are 0 or more, and their sum is scale.",
        SIMPLEX,
    ),
    Parameter(
        "entropy_step",
        "range",
        "str",
        "'range' or 'paper'",
        one_of("range", "paper"),
        "geometry='entropy': how the size of an instance is measured for the step. 'range': half the range of its"
        " values. 'paper': as printed in N03, for values of 0 or more, with step='pa' and signed=False.",
        SIMPLEX,
    ),
)
