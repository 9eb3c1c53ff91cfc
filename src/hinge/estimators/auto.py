"""AutoClassifier, AutoRegressor, AutoOrdinal, AutoMultilabel: committees, which need no option.

`fit` makes `max_iter` passes; voting.py decides how the experts vote then.

Each is the estimator of its task with `experts='auto'` and without the options of one learner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from ..options.constructors import constructor
from .classifier import PAClassifier
from .multilabel import PAMultilabel
from .ordinal import PAOrdinal
from .regressor import PARegressor

if TYPE_CHECKING:
    from ..options.types import (
        AutoClassifierOptions,
        AutoMultilabelOptions,
        AutoOrdinalOptions,
        AutoRegressorOptions,
    )


class OfCommittee:
    """The options of one learner, which a committee does not have."""

    step = None
    cost = None
    kernel = None
    w1 = None
    batch_tolerance = None
    tol: float | None = None
    early_stopping = False
    _changeable: ClassVar[tuple[str, ...]] = ()

    if TYPE_CHECKING:
        experts: Any

    def _check_options(self) -> None:
        if self.experts is None:
            raise ValueError(
                "experts must be 'auto' or a list of words; for one learner use the PA estimators"
            )
        super()._check_options()  # type: ignore[misc]


@constructor("AutoClassifier")
class AutoClassifier(OfCommittee, PAClassifier):
    """Classification with two or more classes that needs no option: a committee of learners.

    Its experts are PA-I learners with a large and a small C, their averages, and AROW learners with several r, each
    with values as they come and with values that are scaled online. Each learns every example as it would alone. The
    vote weighs them by their mistakes so far. The expected loss of the vote is guaranteed to be close to that of the
    best expert.
    `experts_` shows the experts and their weights; `leader()` is the leading one as a `PAClassifier` of its own.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import AutoClassifier
    >>> model = AutoClassifier()
    >>> for x, y in [({"free": 1, "money": 2}, "spam"), ({"meeting": 1}, "ham"), ({"bill": 1}, "bills")]:
    ...     guess = model.predict_one(x)
    ...     model = model.learn_one(x, y)
    >>> model.predict_one({"money": 2})
    'spam'
    >>> len(model.experts_)
    14

    A data set, with columns of any size:

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoClassifier(random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(self, **options: Unpack[AutoClassifierOptions]) -> None: ...

    def _failed_checks(self) -> dict[str, str]:
        return {}


@constructor("AutoRegressor")
class AutoRegressor(OfCommittee, PARegressor):
    """Regression that needs no option: a committee of learners, see `AutoClassifier`.

    The prediction is the mean of the experts' predictions by their weights. The units of the features and of y do not
    matter. (`epsilon` is 0: that of a single learner, 0.1, is in the units of y.)

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import AutoRegressor
    >>> model = AutoRegressor()
    >>> for hour in range(200):
    ...     x = {"load": hour % 7, "night": hour % 24 < 6}
    ...     model = model.learn_one(x, 50 * x["load"] + 200 * x["night"])
    >>> round(model.predict_one({"load": 4, "night": True}), -1)
    400.0
    """

    def __init__(self, **options: Unpack[AutoRegressorOptions]) -> None: ...


@constructor("AutoOrdinal")
class AutoOrdinal(OfCommittee, PAOrdinal):
    """Ordinal regression that needs no option: a committee of learners, see `AutoClassifier`.

    The prediction is the weighted median of the experts' ranks.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import AutoOrdinal
    >>> model = AutoOrdinal(classes=["bad", "fair", "good"])
    >>> for x, y in [({"stars": 1}, "bad"), ({"stars": 3}, "fair"), ({"stars": 5}, "good")] * 50:
    ...     model = model.learn_one(x, y)
    >>> [model.predict_one({"stars": stars}) for stars in (1, 3, 5)]
    ['bad', 'fair', 'good']
    """

    _given: ClassVar[Mapping[str, Any]] = {"selection": "simproj"}

    def __init__(self, **options: Unpack[AutoOrdinalOptions]) -> None: ...


@constructor("AutoMultilabel")
class AutoMultilabel(OfCommittee, PAMultilabel):
    """Sets of labels, without any option: a committee of learners, see `AutoClassifier`.

    The experts vote on each label.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import AutoMultilabel
    >>> model = AutoMultilabel()
    >>> for x, y in [({"vote": 1}, {"politics"}), ({"goal": 1}, {"sport"}), ({"rain": 1}, set())] * 5:
    ...     model = model.learn_one(x, y)
    >>> model.predict_one({"vote": 1})
    {'politics'}
    """

    _given: ClassVar[Mapping[str, Any]] = {"selection": "simproj"}

    def __init__(self, **options: Unpack[AutoMultilabelOptions]) -> None: ...
