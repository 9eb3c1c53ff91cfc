"""Labels: which constraints count, what mistakes cost, and which labels there are."""

from __future__ import annotations

from ...tasks import TASKS
from .. import validators
from ..kinds import FLAG, Kind, whole
from ..parameter import LABELS, SEARCHED, Parameter
from ..validators import one_of, or_none

ROWS = (
    Parameter(
        "selection",
        "max",
        Kind(
            "str",
            "'max', 'prediction', 'simperc', 'simproj', 'conproj', 'mira', (perceptron) 'uniform' or (sequences and "
            "structures) 'max-additive'",
            one_of(*TASKS["classification"].selections, *TASKS["structured"].selections),
        ),
        "Which violated constraints count. 'max': the worst one. 'prediction': that of the predicted label, if it is "
        "wrong. 'simproj': all of them, by the average of one step per constraint. 'conproj': those of wrong labels, "
        "which score higher than a relevant one, by the average of one step per constraint. 'simperc': those of "
        "wrong labels, by the average of steps of length C. 'mira': all constraints at once, solved exactly. "
        "'uniform': the perceptron with all wrong labels. With two classes, all but 'max' give each class its own "
        "weights. Sequences and structures have 'prediction', 'max' (the margin is sqrt(cost), found by an exact "
        "search) and 'max-additive' (the margin is the cost itself).",
        (*LABELS, *SEARCHED),
    ),
    Parameter(
        "cost",
        None,
        Kind(
            "Any",
            "None, a square matrix or a dict of dicts, of numbers of 0 or more with 0 on the diagonal, or (sequences, "
            "structures) a function of the true and the predicted output",
            or_none(lambda value: callable(value) or validators.is_cost(value)),
        ),
        "cost[y][r] is what it costs to predict r when y is true. None: all mistakes cost the same. In a matrix the "
        "labels are in the order of `classes`. The margin against r is margin * sqrt(cost). It needs selection 'max' "
        "or 'prediction'. Sequences: the costs of the tags are added up; None counts the wrong tags. In Python, "
        "hinge.tree_cost makes a cost from a hierarchy.",
        ("classification", "prototype", *SEARCHED),
    ),
    Parameter(
        "nu",
        None,
        Kind(
            "Any",
            "None, or numbers of 0 or more: a matrix or dict of dicts for pairs of labels (ordinal: a vector), or "
            "a list of several",
            or_none(validators.is_nu),
        ),
        "Weights of the constraints for 'simproj' and 'conproj'. The constraint that label r beats s is capped at "
        "C / nu[r][s] (ordinal: threshold j at C / nu[j]). None: all constraints have the cap C. If several matrices "
        "are given, the largest weight counts.",
        LABELS,
    ),
    Parameter(
        "features",
        "tfidf",
        Kind("str | FeatureMap", "'tfidf', 'email' or a FeatureMap", validators.is_feature_map),
        "The features phi(x, r) of each label r, made from the words of a text. 'tfidf': `ClassTfIdf`. 'email': "
        "`EmailFeatures`. In Python, a custom FeatureMap is possible: the model learns with a copy of it.",
        ("prototype",),
    ),
    Parameter(
        "threshold",
        "learned",
        Kind("float | str", "'auto', 'learned', 'lenient' or a finite number", validators.is_threshold),
        "Labels that score higher than the threshold are predicted (multilabel). 'learned': the threshold is a "
        "linear function of x, learned together with the ranking. 'lenient': the same, but lower by a tenth of the "
        "margin, which predicts more labels. 'auto': 'lenient' in a `fit` of several passes, 'learned' in streams.",
        ("multilabel",),
    ),
    Parameter(
        "sort_thresholds",
        None,
        Kind("bool | None", "None, True or False", or_none(FLAG.accepts)),
        "Sort the thresholds after each step. None: with all selections except 'simproj', whose steps keep them in "
        "order.",
        ("ordinal",),
    ),
    Parameter(
        "classes",
        None,
        Kind(
            "Sequence[Any] | npt.NDArray[Any] | None",
            "None or two or more different labels",
            or_none(validators.is_classes),
        ),
        "The labels in order, if they are known in advance; then other labels are rejected. None: the labels of the "
        "data, as they come in a stream, sorted by `fit`. Ranks go from the lowest to the highest.",
        (*LABELS, "sequence"),
    ),
    Parameter(
        "max_labels",
        2**16,
        whole(2, 2**24, "from 2 to 2^24"),
        "The most labels that the model accepts. Input with more is rejected.",
        ("classification", "multilabel", "prototype", "sequence"),
    ),
    Parameter(
        "class_weight",
        None,
        Kind(
            "Mapping[Any, float] | str | None",
            "None, 'balanced', or a dict of labels to weights of 0 or more",
            validators.is_class_weight,
        ),
        "Multiplies the weight of each example by that of its label. None: all labels have the weight 1. In Python, "
        "'balanced' (`fit` only) gives all labels the same total weight.",
        ("classification",),
    ),
)
