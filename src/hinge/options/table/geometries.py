"""The geometry: covariances, and the simplex of the entropy."""

from __future__ import annotations

from ..kinds import FLAG, POSITIVE, Kind, choice, number
from ..parameter import ONE_VECTOR, SHAPED, SIMPLEX, Parameter
from ..validators import one_of, one_or_several, real

COVARIANCES = ("mahalanobis", "diagonal")

ROWS = (
    Parameter(
        "geometry",
        "euclidean",
        Kind(
            "str",
            "'euclidean', 'mahalanobis', 'diagonal' (both not for uniclass) or 'entropy'",
            one_of("euclidean", *COVARIANCES, "entropy"),
        ),
        "How the distance between old and new weights is measured. 'euclidean': all weights alike. 'mahalanobis': by "
        "a full covariance, shared by all labels, which shrinks in directions that were learned (PAM, AROW); time "
        "and memory grow with the square of the number of features. 'diagonal': by one variance per feature, which "
        "suits many features, rare ones among them. 'entropy': weights are on a simplex, and updates are "
        "multiplicative, which suits many irrelevant features.",
        (*SHAPED, "uniclass"),
    ),
    Parameter(
        "covariance_regularizer",
        1.0,
        Kind(
            "float | str | Sequence[float]",
            "a finite number greater than 0, 'auto', or a list of such numbers",
            one_or_several(real(0)),
        ),
        "AROW's r: an update adds x x'/r to the inverse of the covariance, so that a larger r keeps the model "
        "changing for longer. AROW is step='pa2' with C = 1/(2r). 'auto' or a list of numbers (geometry='diagonal'): "
        "one AROW learner for each r, and a vote; C is not used.",
        SHAPED,
    ),
    Parameter(
        "initial_variance",
        1.0,
        number("from 1e-50 to 1e50", lambda value: 1e-50 <= value <= 1e50),
        "The covariance starts as initial_variance times the identity. Use a larger one if the features are small.",
        SHAPED,
    ),
    Parameter(
        "covariance_update",
        "drop",
        choice("precision", "drop"),
        "How an update shrinks the variances of geometry='diagonal'. 'drop': as the full covariance would shrink, of "
        "which only the diagonal is kept. 'precision': the diagonal of x x'/r is added to the inverse, as published "
        "for AROW; one very large row makes it stop learning.",
        SHAPED,
    ),
    Parameter(
        "max_covariance",
        2**30,
        POSITIVE,
        "The most bytes that the covariance of geometry='mahalanobis' may take (4 n^2 for n features). Input that "
        "would need more is rejected.",
        tuple(task for task in SHAPED if task != "sequence"),
    ),
    Parameter(
        "scale",
        10.0,
        POSITIVE,
        "With geometry='entropy' the sum of all |weights| is at most scale (1: the probability simplex). A score is "
        "at most scale times the largest value of a feature: raise scale if the margin is out of reach.",
        ONE_VECTOR,
    ),
    Parameter(
        "signed",
        True,
        FLAG,
        "With geometry='entropy' weights may be negative: each feature is used twice, as x and as -x. False: all "
        "weights are 0 or more, and their sum is scale.",
        SIMPLEX,
    ),
    Parameter(
        "entropy_step",
        "range",
        choice("range", "paper"),
        "How geometry='entropy' measures the size of an instance for the step. 'range': half the range of its "
        "values. 'paper': as printed in N03, for values of 0 or more, with step='pa' and signed=False.",
        SIMPLEX,
    ),
)
