"""Single-prototype ranking: one w, and features that depend on the label. `PARanker` has the map that makes them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .task import RankingTask

if TYPE_CHECKING:
    from ..data.types import Doubles
    from ..learner import Learner


class Prototype(RankingTask):
    name = core = options_of = "prototype"
    estimator = ("structured.ranker", "PARanker")
    selections = ("max", "prediction", "simperc", "simproj", "conproj", "uniform")
    geometries = ("euclidean",)
    has_kernel = False
    has_cost = True
    has_feature_map = True
    scores_within_batches = False

    def new_model(self, options: dict[str, Any]) -> Any:
        from ..structured.ranker import PARanker

        ranker = PARanker(**options)
        return ranker._keep(**ranker._begun())


def learn_block(
    learner: Learner, names: list[str], values: Doubles, relevant: Iterable[Any], weight: float
) -> None:
    """One round: `values` has a row of features for each label."""
    codes: Any = array("q", sorted(int(learner.labels.codes[label]) for label in relevant))
    learner._engine.learn_block(names, values, labels=codes, weight=weight)


def score_block(learner: Learner, names: list[str], values: Doubles) -> Doubles:
    """The score of each label."""
    scores: Any = learner._engine.score_block(names, values, learner.averaged)
    return scores  # type: ignore[no-any-return]
