"""Learning from a batch that tells what was predicted on the way: the scores of each example, from before its round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._numpy import Doubles, np
from ..data.rows import Rows
from . import growth

if TYPE_CHECKING:
    from ..learner import Learner


def has_scores(learner: Learner) -> bool:
    """Whether `learn` is for this learner. On a simplex, and in the space of a kernel, features that come with an
    example change what is predicted for it, so they must not be known before: there it is one example at a time."""
    p = learner.parameters
    plain = p["kernel"] is None and p["geometry"] != "entropy"
    return plain and learner.task in ("classification", "multilabel", "ordinal", "regression")


def learn(learner: Learner, X: Rows | list[Any], y: Any, sample_weight: Any = None) -> Doubles:
    """Learns all of it, or nothing, as `learn_rows` or `learn_many` do. Returns what `lanes_of` (or `lanes`) would have
    said of each example just before its round, to the bit. All labels must be known: a new one would bring a lane."""
    count = X.count if isinstance(X, Rows) else len(X)
    weights = learner._weights(y, count, sample_weight)
    with learner._lock:
        truth = growth.encoded(learner.task, learner.labels, y, count, None)
        engine = learner._engine
        scores: Doubles = np.empty((count, len(engine.extras(False))))  # type: ignore[arg-type]
        options: dict[str, Any] = {
            "classes": truth.classes, "label_starts": truth.starts, "weights": weights, "scores": scores,
            "averaged": learner.averaged,
        }  # fmt: skip
        if isinstance(X, Rows):
            learner._named = False
            data, indices, indptr, width = X.arrays
            engine.learn_sparse(data, indices, indptr, width, truth.y, **options)
        else:
            learner._events()
            engine.learn_dicts(learner._event_list(X), truth.y, **options)
    return scores[:, 0] if scores.shape[1] == 1 else scores
