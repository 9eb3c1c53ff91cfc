"""FleetClassifier and FleetRegressor: a `hinge.Fleet` whose keys are a feature of x."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from river import base

from ..data import targets
from ..data.errors import InputError
from ..data.shown import shown
from ..estimators.option_changes import FollowsOptions
from ..fleet import Fleet, Share, View
from ..fleet.settings import completed
from ..options.constructors import constructor

if TYPE_CHECKING:
    import pandas as pd

    from ..options.types import RiverFleetClassifierOptions, RiverFleetRegressorOptions


class _FleetModel(FollowsOptions, base.Estimator):
    """The base: a fleet, and the feature that is the key."""

    key: str
    _task: ClassVar[str]
    _changeable: ClassVar[tuple[str, ...]] = ()
    _start_anew: ClassVar[str] = "make a new model (`clone`)"
    _learner: Fleet

    def _initialized(self) -> None:
        """Creates the fleet."""
        options = self._options_now()
        if not isinstance(key := options.pop("key"), str):
            raise ValueError(f"key must be the name of a feature, not {shown(key)}")
        self._keep(Fleet(self._task, **options))

    def _check_options(self) -> None:
        completed(self._task, {name: value for name, value in self._options_now().items() if name != "key"})

    @property
    def fleet(self) -> Fleet:
        """The fleet, which can be saved, and has a view for each key."""
        return self._learner

    def __getitem__(self, key: str | int) -> View:
        """A view of the model of a key: its statistics and weights."""
        return self._learner[key]

    def _parted(self, x: dict[Any, Any]) -> tuple[Any, dict[Any, Any]]:
        """The key of an example, and its features."""
        features = dict(x)
        try:
            return features.pop(self.key), features
        except KeyError:
            raise InputError(
                f"there is no feature {self.key!r}, which is the key: there are {', '.join(map(repr, list(x)[:10]))}"
            ) from None

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """One round. The weight `w` scales C; 0 changes nothing."""
        self._current().learn_one(*self._parted(x), y, w)

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: float | pd.Series = 1.0) -> None:
        """Learns the rows in their order, all or none of them."""
        weights: Any = [targets.number(w, "the weight")] * len(X) if isinstance(w, numbers.Real) else w
        self._current().learn_many(self.key, X, y, weights)

    def score_one(self, x: dict[Any, Any]) -> Any:
        """w.x, with the intercept; many labels: a dict of scores. A new key has the shared weights."""
        return self._learner.score_one(*self._parted(x))

    def explain_one(self, x: dict[Any, Any], label: Any = None) -> list[Share]:
        """What each feature of `x` contributed to its score, by the shared weights and by those of its key."""
        key, features = self._parted(x)
        return self._learner.explain_one(key, features, label)

    def _unit_test_skips(self) -> set[str]:
        """Scores of keys are not calibrated, so there are no probabilities."""
        return {"check_predict_proba_many_matches_predict_proba_one"}


@constructor("river.FleetClassifier")
class FleetClassifier(_FleetModel, base.MiniBatchClassifier):
    """Classification with a small model for each key, such as a user, on top of one that all keys share.

    The feature `key` of x is a string or a whole number. It is no feature of the model. There are no probabilities.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge.river import FleetClassifier
    >>> model = FleetClassifier(key="user")
    >>> for x, y in [
    ...     ({"user": "ann", "football": 1}, True),
    ...     ({"user": "bob", "football": 1}, False),
    ... ] * 5:
    ...     model.learn_one(x, y)
    >>> model.predict_one({"user": "ann", "football": 1}), model.predict_one({"user": "bob", "football": 1})
    (True, False)
    >>> len(model.fleet), model["ann"].statistics.rounds
    (2, 5)
    """

    _task: ClassVar[str] = "classification"

    def __init__(self, key: str = "key", **options: Unpack[RiverFleetClassifierOptions]) -> None: ...

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The label with the highest score. Before the first label they are assumed to be boolean."""
        label = self._learner.predict_one(*self._parted(x))
        return False if label is None else label

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas

        labels = [False if one is None else one for one in self._learner.predict_many(self.key, X)]
        return pandas.Series(labels, index=X.index, dtype=None if labels else "object")


@constructor("river.FleetRegressor")
class FleetRegressor(_FleetModel, base.MiniBatchRegressor):
    """Regression with a small model for each key, such as a sensor, on top of one that all keys share.

    The feature `key` of x is a string or a whole number. It is no feature of the model.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge.river import FleetRegressor
    >>> model = FleetRegressor(key="shop", epsilon=0.0)
    >>> for _ in range(20):
    ...     model.learn_one({"shop": 1, "open": 1}, 3.0)
    ...     model.learn_one({"shop": 2, "open": 1}, 5.0)
    >>> round(model.predict_one({"shop": 1, "open": 1}), 1), round(model.predict_one({"shop": 2, "open": 1}), 1)
    (3.0, 5.0)
    """

    _task: ClassVar[str] = "regression"

    def __init__(self, key: str = "key", **options: Unpack[RiverFleetRegressorOptions]) -> None: ...

    def predict_one(self, x: dict[Any, Any]) -> float:
        """w.x, with the intercept."""
        prediction: float = self._learner.predict_one(*self._parted(x))
        return prediction

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas

        return pandas.Series(self._learner.predict_many(self.key, X).tolist(), index=X.index, dtype="float64")
