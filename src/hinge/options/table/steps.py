"""How far a step goes, and when one is made."""

from __future__ import annotations

from ...model.experts import check_words
from ..kinds import NONNEGATIVE, POSITIVE, Kind, number, optional
from ..parameter import LABELS, SEARCHED, Parameter
from ..validators import one_of, one_or_several, or_none, real

STEPS_WITHOUT_C = ("pa", "perceptron", "cw")

ROWS = (
    Parameter(
        "step",
        "pa1",
        Kind(
            "str | None",
            "'pa', 'pa1', 'pa2', (labels) 'perceptron' or 'cw', or (regression) None",
            or_none(one_of("pa", "pa1", "pa2", "perceptron", "cw")),
        ),
        "How far to move when there is a loss. 'pa': until the loss is 0. 'pa1': until the loss is 0, but at most C. "
        "'pa2': by loss / (|x|^2 + 1/(2C)), without a limit. 'perceptron': by x, and only on mistakes (with a "
        "covariance: the second-order perceptron). 'cw' (confidence-weighted, needs a covariance): until the margin "
        "is positive with the probability `eta`. None: 'pa1'; for regression with a covariance 'pa2', because steps "
        "of at most C cannot keep up as the variances shrink.",
    ),
    Parameter(
        "C",
        1.0,
        Kind(
            "float | str | Sequence[float]",
            "a number greater than 0 (inf is allowed), 'auto', or a list of such numbers",
            one_or_several(real(0, infinite=True)),
        ),
        "Aggressiveness: the longest step of 'pa1'; 'pa2' takes shorter steps for a smaller C. Use a small C for "
        "noisy data. 'pa', 'perceptron' and 'cw' do not use it. N03's relaxation gamma is 1/(2C). 'auto' or a list of "
        "numbers: one learner for each, and a vote whose errors are guaranteed to be close to those of the best one. "
        "'auto' with 'pa1' holds every power of 4, up to rounding, as far as they differ.",
    ),
    Parameter(
        "experts",
        None,
        Kind(
            "str | Sequence[str] | None",
            "None, 'auto', or a list of words such as 'pa1:-1' and 'arow:0'",
            or_none(check_words),
        ),
        "A committee: several learners that vote. None: one learner. 'auto': those of AutoClassifier and its "
        "kin. A list of words: see docs/guide/auto.md.",
        ("classification", "regression", "multilabel", "ordinal"),
    ),
    Parameter(
        "margin",
        1.0,
        POSITIVE,
        "The margin to keep. Two classes: the loss is [margin - y w.x]_+. Many labels: [margin - lead]_+, where the "
        "lead is how much higher the relevant label scores than the irrelevant one. A cost multiplies the margin by "
        "its square root.",
        (*LABELS, *SEARCHED),
    ),
    Parameter(
        "epsilon",
        0.1,
        NONNEGATIVE,
        "Errors up to epsilon cost nothing (regression): the loss is [|y - w.x| - epsilon]_+.",
        ("regression",),
    ),
    Parameter(
        "radius",
        None,
        optional(NONNEGATIVE),
        "The radius of the ball (uniclass). A number: the radius is fixed, and the loss is [|x - w| - radius]_+, as "
        "in the paper. None: the radius is the quantile of the distances that leaves about `contamination` of the "
        "examples outside. Then the loss is |x - w|, and C is the most that one example moves the centre, in percent "
        "of the radius.",
        ("uniclass",),
    ),
    Parameter(
        "contamination",
        0.1,
        number("from 0.0001 to 0.5", lambda value: 1e-4 <= value <= 0.5),
        "The share of examples outside of the ball (uniclass), if the radius is a quantile (radius=None, "
        "max_radius=None). In a stream it is the share of about the last 1000 examples. In Python, after `fit`, it "
        "is exactly this share of the rows.",
        ("uniclass",),
    ),
    Parameter(
        "max_radius",
        None,
        optional(POSITIVE),
        "If given, the radius (uniclass) is learned: it starts at 0, only grows, and is at most `max_radius`; `radius` "
        "is not used. If `max_radius` is much too large, the radius grows slowly. None: see `radius`.",
        ("uniclass",),
    ),
    Parameter(
        "beta",
        None,
        Kind(
            "float | None",
            "None or a finite number, 0 or more (0 with 'mira' needs w1)",
            or_none(NONNEGATIVE.accepts),
        ),
        "The margin of selection='mira' and of step='perceptron'. 'mira': None is 0.01; a beta of 0 never moves "
        "away from w = 0. 'perceptron': it moves if the margin is at most beta. None is 0 (on mistakes only), with a "
        "budget 0.01.",
        ("classification", "multilabel"),
    ),
    Parameter(
        "eta",
        0.9,
        number("from 0.5 to 1, without 1 (0.5 needs w1)", lambda value: 0.5 <= value < 1),
        "step='cw' moves until the margin is positive with the probability eta: a larger eta means longer steps.",
        ("classification", "multilabel"),
    ),
)
