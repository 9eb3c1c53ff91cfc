"""The runs of `hinge demo`: three real streams, the learners on them, and their guarantees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from .. import Learner, PAOneClass
from ..streams import absolute, progressive
from ..theory import Comparator, Guarantee, comparator, follow
from ..theory.theorems import strongest
from .committees import guarantee_of
from .console import Watch, percent

Doubles = npt.NDArray[np.float64]
Event = dict[str, float]

# C = 1/R^2 minimises the bound of 'pa1' (J06 Theorem 4), where R^2 is the largest squared norm of an instance: 58 here.
# Half of it makes a step of 'pa2' about half as long as one of 'pa'.
LEARNERS: dict[str, dict[str, Any]] = {
    "committee": {"experts": "auto"},
    "perceptron": {"step": "perceptron"},
    "pa": {"step": "pa"},
    "pa1": {"step": "pa1", "C": 0.02},
    "pa2": {"step": "pa2", "C": 0.01},
    "pa1 averaged": {"step": "pa1", "C": 0.02, "average": True},
    "arow": {"step": "pa2", "C": 0.05, "covariance_regularizer": 10.0, "geometry": "mahalanobis"},  # r = 10
}

# Comparators are found by batch solvers with these C. The best one for 'pa1' with C is exactly the support vector
# machine with the same C, and for 'pa2' the one with squared losses: up to a factor, they minimise the bounds. The
# other C are for the perceptron and 'pa', whose bounds have no C.
COMPARATOR_C = (0.003, 0.01, 0.02, 0.05)


@dataclass(frozen=True)
class Stream:
    """Events in the order of their arrival, as a matrix for the batch solvers."""

    X: Doubles
    y: list[Any]
    names: list[str]

    @property
    def events(self) -> list[tuple[Event, Any]]:
        rows = [dict(zip(self.names, row, strict=True)) for row in self.X.tolist()]
        return list(zip(rows, self.y, strict=True))


@dataclass(frozen=True)
class Run:
    """One learner on one stream."""

    name: str
    curve: list[float]  # the progressive error after each round
    updates: int
    seconds: float  # in predict_one and learn_one
    guarantees: list[Guarantee]

    @property
    def rounds(self) -> int:
        return len(self.curve)

    @property
    def error(self) -> float:
        return self.curve[-1]

    @property
    def mistakes(self) -> int:
        return round(self.error * self.rounds)

    @property
    def microseconds(self) -> float:
        """Per event, to predict and to learn."""
        return 1e6 * self.seconds / self.rounds


# ---- odd or even ----------------------------------------------------------------------------------------


def digits(seed: int) -> tuple[Stream, npt.NDArray[np.int64]]:
    """scikit-learn's digits in random order, with 64 pixels scaled to [-1, 1], and the true digits."""
    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.target))
    X = np.ascontiguousarray(data.data[order] / 8 - 1)
    which = data.target[order]
    names = [f"row{j // 8}col{j % 8}" for j in range(X.shape[1])]
    return Stream(X, ["odd" if digit % 2 else "even" for digit in which], names), which


def classify(stream: Stream, watch: Watch) -> tuple[list[Run], float]:
    """Runs every learner. Also returns the error of the best LinearSVC in hindsight, on the same events."""
    events = stream.events
    learned = {}
    for name, options in LEARNERS.items():
        model = Learner("classification", **options)
        curve = []
        for event in progressive(model, events):
            curve.append(event.error)
            watch(name, event)
        learned[name] = model, curve, event.seconds

    signs = np.where(np.asarray(stream.y) == "odd", 1, -1)
    machines = _machines(stream.X, signs)
    runs = []
    for name, (model, curve, seconds) in learned.items():
        found = _guarantees(model, stream, signs, machines, LEARNERS[name])
        runs.append(Run(name, curve, model.statistics.updates, seconds, found))
    return runs, min(1 - float(m.score(stream.X, signs)) for m in machines)


def _guarantees(
    model: Learner, stream: Stream, signs: npt.NDArray[Any], machines: list[Any], options: dict[str, Any]
) -> list[Guarantee]:
    if "experts" in options:
        return [guarantee_of(model)]
    comparators = _comparators(stream, signs, machines, options, model.constant)
    found = strongest(model.step, model.statistics, comparators, C=model.parameters["C"])
    if model.averaged:
        found = [_about_the_average(guarantee) for guarantee in found]
    return most_informative(found)


def _comparators(
    stream: Stream, signs: npt.NDArray[Any], machines: list[Any], options: dict[str, Any], constant: float
) -> list[Comparator]:
    """The losses of the machines; with a covariance, measured along the run of the learner."""
    given = [(machine.coef_[0], float(machine.intercept_[0])) for machine in machines]
    if "geometry" not in options:
        fixed = {"intercept_value": constant}
        return [comparator("classification", stream.X, signs, u, intercept=b, **fixed) for u, b in given]
    trace = follow(Learner("classification", classes=[-1, 1], **options), stream.X, signs)
    return [trace.comparator(u, intercept=b) for u, b in given]


def _machines(X: Doubles, signs: npt.NDArray[Any]) -> list[Any]:
    with warnings.catch_warnings():
        # A solver may stop early: the theorems hold for any comparator.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return [
            LinearSVC(C=C, loss=loss, random_state=0).fit(X, signs)
            for C in COMPARATOR_C
            for loss in ("hinge", "squared_hinge")
        ]


def _about_the_average(guarantee: Guarantee) -> Guarantee:
    """The theorems are about the predictions of w itself, which an averaged learner does not make."""
    reason = "it holds for the vectors that were averaged, not for their average"
    return Guarantee(guarantee.theorem, guarantee.quantity, guarantee.suffered, float("inf"), reason)


# ---- other tasks ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OtherTask:
    """A run of another task, in words."""

    name: str  # the task and the learner
    stream: str
    result: str
    guarantees: list[Guarantee]


def regress(seed: int) -> OtherTask:
    """Diabetes: how far the disease progressed in a year, from ten measurements. Compared with the mean so far."""
    data = load_diabetes()
    order = np.random.default_rng(seed).permutation(len(data.target))
    X = np.ascontiguousarray(data.data[order] / data.data.std())
    y = data.target[order] / 100  # so that an epsilon of 0.1 is small
    stream = Stream(X, y.tolist(), list(data.feature_names))

    learner = Learner("regression", experts="auto")
    *_, last = progressive(learner, stream.events, absolute)
    means = np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, len(y))])
    naive = float(np.abs(y - means).mean())
    return OtherTask(
        "regression",
        f"diabetes of {len(y)} patients after a year, a number from 25 to 346",
        f"mean absolute error {100 * last.error:.0f}; predicting the mean so far: {100 * naive:.0f}",
        [guarantee_of(learner)],
    )


def one_class(stream: Stream, which: npt.NDArray[np.int64], radius: float = 4.0) -> OtherTask:
    """A ball around the zeros, which is then shown all other digits."""
    zeros = Stream(stream.X[which == 0], [1] * int((which == 0).sum()), stream.names)
    learner = Learner("uniclass", step="pa", radius=radius)
    events = zeros.events
    learner.learn_one(events[0][0])  # becomes the centre, without a round
    *_, last = progressive(learner, events[1:])
    others = [x for (x, _), digit in zip(stream.events, which.tolist(), strict=True) if digit != 0]
    anomalies = sum(learner.predict_one(x) == -1 for x in others) / len(others)

    # A ball that contains all zeros, by the batch conversion. The smaller radius ensures that no loss remains.
    ball = PAOneClass(step="pa", radius=0.99 * radius, batch_tolerance=1e-6).fit(zeros.X)
    u = comparator("uniclass", zeros.X, None, ball.center_, radius=radius)
    return OtherTask(
        "one class, pa",
        f"the {len(zeros.y)} zeros among the digits; it never sees another digit",
        f"flags {percent(last.error)} of the zeros and {percent(anomalies)} of the other digits as anomalies",
        most_informative(strongest("pa", learner.statistics, [u])),
    )


# ---- guarantees -----------------------------------------------------------------------------------------


def most_informative(found: Iterable[Guarantee]) -> list[Guarantee]:
    """At most two: the tightest of those that apply, and the first one if it does not apply."""
    found = [guarantee for guarantee in found if guarantee.quantity in ("mistakes", "squared loss")]
    applicable = [guarantee for guarantee in found if guarantee.applicable]
    shown = [guarantee for guarantee in found[:1] if not guarantee.applicable]
    if applicable:  # rounded, so that the first of equal ones wins
        shown.append(max(applicable, key=lambda one: round(one.suffered / one.guaranteed, 9)))
    return shown
