"""Uniclass: normal data in a ball. There is no truth; the score is how far inside of the ball an example is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..data.labels import Labels
from ..data.targets import Encoded
from .task import Task

if TYPE_CHECKING:
    from ..data.types import Doubles
    from ..learner import Learner


class Uniclass(Task):
    name = core = options_of = "uniclass"
    estimator = ("estimators.oneclass", "PAOneClass")
    steps = ("pa", "pa1", "pa2")
    geometries = ("euclidean", "entropy")
    named_starts = ("first", "zero")
    measures_distance = True
    error_words = "outside"
    needs_labels = False
    scores_within_batches = False  # the radius moves with every round

    # ---- options ------------------------------------------------------------------------------------------------

    def check_options(self, options: Mapping[str, Any]) -> None:
        radius, max_radius = options.get("radius"), options.get("max_radius")
        if options.get("geometry") == "entropy" and (radius is None or max_radius is not None):
            raise ValueError("geometry='entropy' needs a fixed radius: give it as a number (radius=0.5, say)")
        if radius is not None or max_radius is not None:
            return
        if options.get("step", "pa1") == "pa":
            raise ValueError(
                "step='pa' would move the centre onto every example if the radius is by quantile (radius=None): use "
                "'pa1' or 'pa2', or give radius or max_radius"
            )
        budget = options.get("budget")
        if budget is not None and (budget == "adaptive" or options.get("removal") != "oldest"):
            raise ValueError(
                "with a radius by quantile (radius=None) every example becomes a support, and those in the middle "
                "matter most: use a budget that is a number with removal='oldest', or give radius or max_radius"
            )

    def as_published(self, algorithm: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The radius is given."""
        given = options.get("radius") is not None or options.get("max_radius") is not None
        return {} if given else {"radius": 1.0}

    def engine_options(self, parameters: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
        p, w1 = parameters, parameters["w1"]
        learned = p["max_radius"] is not None
        return {
            "radius": float(p["max_radius"] if learned else p["radius"] or 0),
            "learned_radius": learned,
            "contamination": float(p["contamination"]) if self.radius_by_quantile(p) else 0.0,
            "start_at_first": p["geometry"] != "entropy"
            and (w1 is None or (isinstance(w1, str) and w1 == "first")),
        }

    # ---- learning and predicting --------------------------------------------------------------------------------

    def encode(self, labels: Labels, y: Any, count: int, weights: Doubles | None) -> Encoded:
        return Encoded(None)

    def learn_one(self, learner: Learner, x: dict[Any, Any], y: Any, weight: float) -> None:
        learner._engine.learn_one(x, 0.0, weight)

    def score_one(self, learner: Learner, x: dict[Any, Any]) -> float:
        return self.radius(learner) - learner._engine.score_one(x, learner.averaged)

    def predict_one(self, learner: Learner, x: dict[Any, Any]) -> int:
        """1 inside, -1 outside."""
        return 1 if self.score_one(learner, x) >= 0 else -1

    def scores(self, learner: Learner, lanes: Doubles) -> Doubles:
        return self.radius(learner) - lanes

    def predictions(self, learner: Learner, lanes: Doubles) -> list[int]:
        return [1 if score >= 0 else -1 for score in self.scores(learner, lanes).tolist()]

    def intercept(self, learner: Learner, averaged: bool) -> float:
        return 0.0

    def radius_by_quantile(self, parameters: Mapping[str, Any]) -> bool:
        return parameters["radius"] is None and parameters["max_radius"] is None

    def radius(self, learner: Learner) -> float:
        """Fixed, the quantile of the distances so far, or sqrt(B^2 - c^2) as learned (S7)."""
        radius, bound = learner.parameters["radius"], learner.parameters["max_radius"]
        if bound is not None:
            c = learner._engine.bias(0, learner.averaged)
            return math.sqrt(max(0.0, (bound - c) * (bound + c)))  # an average of c may be rounded up
        return learner._engine.tracked_radius() if radius is None else float(radius)

    def costs(self, made: Sequence[Any], truth: Any, labels: Labels) -> list[float]:
        return [float(label == -1) for label in made]
