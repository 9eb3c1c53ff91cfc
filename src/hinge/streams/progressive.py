"""Progressive validation: predict first, then learn, and keep the score.

Every event is a test before it is a lesson, so the error is honest without setting data aside. It is the
round protocol of the papers, whose bounds are about these very predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import Any, NamedTuple, Protocol


class StreamLearner(Protocol):
    """What `progressive` needs: a `hinge.Learner`, a `PAClassifier`, a `PARegressor`, one of River's, ..."""

    def predict_one(self, x: dict[Any, Any], /) -> Any: ...
    def learn_one(self, x: dict[Any, Any], y: Any, /) -> Any: ...


class Round(NamedTuple):
    """One event, just after it was learned."""

    number: int  # from 1
    prediction: Any
    truth: Any
    cost: float  # of this prediction
    error: float  # the mean cost so far: the progressive error
    seconds: float  # the time so far in predict_one and learn_one, and nothing else


def wrong(prediction: Any, truth: Any) -> float:
    """The cost of a label: 1 if it is wrong. Its mean is the error rate."""
    return float(prediction != truth)


def absolute(prediction: float, truth: float) -> float:
    """The cost of a number: how far off it is. Its mean is the mean absolute error."""
    return abs(prediction - truth)


def progressive(
    learner: StreamLearner,
    stream: Iterable[tuple[dict[Any, Any], Any]],
    cost: Callable[[Any, Any], float] = wrong,
) -> Iterator[Round]:
    """Lets the learner predict each event of the stream and then learn it; yields each round.

    >>> from hinge import Learner
    >>> from hinge.streams import progressive
    >>> stream = [({"heads": 1}, "h"), ({"tails": 1}, "t"), ({"heads": 1}, "h"), ({"tails": 1}, "t")]
    >>> [event.error for event in progressive(Learner("classification"), stream)]
    [1.0, 1.0, 0.6666666666666666, 0.5]
    """
    total = seconds = 0.0
    for number, (x, truth) in enumerate(stream, start=1):
        start = perf_counter()
        prediction = learner.predict_one(x)
        learner.learn_one(x, truth)
        seconds += perf_counter() - start
        this = cost(prediction, truth)
        total += this
        yield Round(number, prediction, truth, this, total / number, seconds)
