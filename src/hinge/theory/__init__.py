"""The theorems as functions: what is guaranteed on your data, next to what was suffered.

Every theorem compares an online learner with a *comparator*, any fixed predictor u (for example one fitted in
hindsight). First measure what u suffers on the stream, then evaluate what follows for the learner:

    c = comparator("classification", X, y, u, intercept=b)
    for guarantee in guarantees("pa1", learner.statistics, c, C=0.1):
        print(guarantee)

The stream must be that of the learner, row for row, each row as often as it was presented. The theorems do not cover
sample weights other than 1. Rows of weight 0 are not rounds, and must be left out.

`label_comparator` is for many labels, `prototype_comparator` for features that depend on the label,
`ordinal_comparator` for ranks, `structured_comparator` for structures. In the entropy geometry, `on_simplex` measures
any of them; with a covariance, `follow` runs the learner over the stream, and its `Trace` makes the comparators.

`vote` is the vote of a committee on any losses, with its guarantees.
"""

from .certificate import Certificate
from .committees import CommitteeCertificate, VoteRecord, Votes, vote
from .comparators.arrays import (
    comparator,
    label_comparator,
    ordinal_comparator,
    prototype_comparator,
    structured_comparator,
)
from .comparators.comparator import Comparator
from .comparators.covariance import Trace, follow
from .comparators.entropy import on_simplex
from .theorems import Guarantee, cache_bound, guarantees

__all__ = [
    "Certificate",
    "CommitteeCertificate",
    "Comparator",
    "Guarantee",
    "Trace",
    "VoteRecord",
    "Votes",
    "cache_bound",
    "comparator",
    "follow",
    "guarantees",
    "label_comparator",
    "on_simplex",
    "ordinal_comparator",
    "prototype_comparator",
    "structured_comparator",
    "vote",
]
