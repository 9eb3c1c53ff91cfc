"""Labels: which constraints count, what mistakes cost, and which labels there are."""

from __future__ import annotations

from ..combinations import LABELS, SEARCHED, SEARCHES, SELECTIONS
from ..parameter import Parameter
from ..validators import (
    is_bool,
    is_class_weight,
    is_classes,
    is_cost,
    is_feature_map,
    is_nu,
    is_threshold,
    one_of,
    or_none,
    whole,
)

ROWS = (
    Parameter(
        "selection",
        "max",
        "str",
        "'max', 'prediction', 'simperc', 'simproj', 'conproj', 'mira', (perceptron) 'uniform' or (sequences and "
        "structures) 'max-additive'",
        one_of(*SELECTIONS, *SEARCHES),
        "Which violated constraints count. 'max': the worst one. 'prediction': that of the predicted label, if it"
        " is wrong. 'simproj', 'conproj': the average of one step per violated constraint. 'simperc': the same "
        "for wrong labels only. 'mira': all constraints at once, solved exactly. 'uniform': the perceptron with "
        "all wrong labels. With two classes, all but 'max' give each class its own weights. Sequences and "
        "structures have 'prediction', 'max' (the margin is sqrt(cost), found by an exact search) and "
        "'max-additive' (the margin is the cost itself).",
        (*LABELS, *SEARCHED),
    ),
    Parameter(
        "cost",
        None,
        "Any",
        "None, a square matrix or a dict of dicts, of numbers of 0 or more with 0 on the diagonal, or (sequences, "
        "structures) a function of the true and the predicted output",
        or_none(lambda value: callable(value) or is_cost(value)),
        "cost[y][r] is what it costs to predict r when y is true. In a matrix the labels are in the order of "
        "`classes`. The margin against r is margin * sqrt(cost). It needs selection 'max' or 'prediction'. "
        "Sequences: the costs of the tags are added up; None counts the wrong tags. In Python, hinge.tree_cost "
        "makes a cost from a hierarchy.",
        ("classification", "prototype", *SEARCHED),
    ),
    Parameter(
        "nu",
        None,
        "Any",
        "None, or numbers of 0 or more: a matrix or dict of dicts for pairs of labels (ordinal: a vector), or "
        "a list of several",
        or_none(is_nu),
        "Weights of the constraints for 'simproj' and 'conproj'. The constraint that label r beats s is capped at"
        " C / nu[r][s] (ordinal: threshold j at C / nu[j]). If several matrices are given, the largest weight "
        "counts.",
        LABELS,
    ),
    Parameter(
        "features",
        "tfidf",
        "str | FeatureMap",
        "'tfidf', 'email' or a FeatureMap",
        is_feature_map,
        "The features phi(x, r) of each label r, made from the words of a text. 'tfidf': `ClassTfIdf`. 'email': "
        "`EmailFeatures`. In Python, a custom FeatureMap is possible: it is copied, and the stream feeds the "
        "copy.",
        ("prototype",),
    ),
    Parameter(
        "threshold",
        "learned",
        "float | str",
        "'learned' or a finite number",
        is_threshold,
        "Labels that score higher than the threshold are predicted (multilabel). 'learned': the threshold is a "
        "linear function of x, learned together with the ranking.",
        ("multilabel",),
    ),
    Parameter(
        "sort_thresholds",
        None,
        "bool | None",
        "None, True or False",
        or_none(is_bool),
        "Sort the thresholds after each step. None: for all selections but 'simproj', whose steps keep them in "
        "order.",
        ("ordinal",),
    ),
    Parameter(
        "classes",
        None,
        "Sequence[Any] | npt.NDArray[Any] | None",
        "None or two or more different labels",
        or_none(is_classes),
        "The labels in order, if they are known before; other labels are rejected then. None: the labels of the "
        "data, as they come in a stream, sorted by `fit`. Ranks go from the lowest to the highest.",
        (*LABELS, "sequence"),
    ),
    Parameter(
        "max_labels",
        2**16,
        "int",
        "a whole number from 2 to 2^24",
        whole(2, 2**24),
        "The most labels that the model accepts. Input with more is rejected.",
        ("classification", "multilabel", "prototype", "sequence"),
    ),
    Parameter(
        "class_weight",
        None,
        "Mapping[Any, float] | str | None",
        "None, 'balanced', or a dict of labels to weights of 0 or more",
        is_class_weight,
        "Multiplies the weight of each example by that of its label. In Python, 'balanced' (`fit` only) gives all"
        " labels the same total weight.",
        ("classification",),
    ),
)
