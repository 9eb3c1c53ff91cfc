"""E4 (J06 section 10): handwritten digits, multi-prototype learners with polynomial kernels, one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge.learner import Learner

from .recipe import Criterion, Line, Outcome, Panel, Recipe, Series, Setting

Floats = npt.NDArray[Any]

LEARNERS: dict[str, dict[str, Any]] = {
    "PA": {"step": "pa"},
    "PA-I": {"step": "pa1", "C": 100.0},
    "PA-II": {"step": "pa2", "C": 100.0},
    "perceptron, uniform": {"step": "perceptron", "selection": "uniform"},
    "MIRA": {"step": "pa1", "selection": "mira", "beta": 0.01},
}


@dataclass(frozen=True)
class Digits:
    """Rows shifted to mean 0 and scaled to an average squared norm of 1, as in the paper; and test rows."""

    name: str
    x: Floats
    y: npt.NDArray[np.int64]
    test_x: Floats
    test_y: npt.NDArray[np.int64]
    substitute: bool = False

    def order(self, seed: int, rows: int | None = None) -> tuple[Floats, npt.NDArray[np.int64]]:
        """The rows (or some of them) in a random order."""
        permutation = np.random.default_rng(seed).permutation(len(self.y))[:rows]
        return self.x[permutation], self.y[permutation]


def normalised(
    name: str, x: Any, y: Any, test_x: Any, test_y: Any, shift: bool = True, **more: Any
) -> Digits:
    x, test_x = np.asarray(x, dtype=np.float64), np.asarray(test_x, dtype=np.float64)
    centre = x.mean(axis=0) if shift else 0.0
    x, test_x = x - centre, test_x - centre
    length = np.sqrt(np.einsum("ij,ij->", x, x) / len(x))
    return Digits(
        name, x / length, np.asarray(y, np.int64), test_x / length, np.asarray(test_y, np.int64), **more
    )


def digits_of(setting: Setting, name: str, shift: bool = True) -> Digits | None:
    """usps or mnist, if the folder has them."""
    file = setting.file(f"{name}.npz")
    if file is None:
        return None
    with np.load(file) as sets:
        x, y, test_x, test_y = (sets[part] for part in ("X_train", "y_train", "X_test", "y_test"))
    return normalised(name, x, y, test_x, test_y, shift)


def small_digits(shift: bool = True) -> Digits:
    """The 8 x 8 digits that scikit-learn ships: 1,797 rows, 500 of them for testing."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[500:], order[:500]
    name = "scikit-learn's 8 x 8 digits"
    return normalised(name, x[train], y[train], x[test], y[test], shift, substitute=True)


# ---- E4 -------------------------------------------------------------------------------------------------------------

KERNELS = {"usps": (1.0, 5), "mnist": (0.5, 3)}  # a and d of (a + x.z)^d


def mistakes_of(
    x: Floats, y: npt.NDArray[np.int64], options: dict[str, Any], moments: list[int]
) -> list[int]:
    """The cumulative mistakes at several points of a pass."""
    learner = Learner("classification", classes=list(range(10)), fit_intercept=False, **options)
    found, done = [], 0
    for moment in moments:
        learner.learn(x[done:moment], y[done:moment])
        done = moment
        found.append(learner.statistics.mistakes)
    return found


def kernels_on_digits(setting: Setting) -> Outcome:
    found = [digits for name in ("usps", "mnist") if (digits := digits_of(setting, name)) is not None]
    sets = found or [small_digits()]
    seeds = range(setting.pick(3 if found else 10, 1 if found else 5, 2))
    names = ", ".join(digits.name for digits in sets) + ("" if found else " (a substitute)")
    outcome = Outcome(f"{names}; {len(seeds)} permutations", substitute=not found)
    for digits in sets:
        _one_set(setting, digits, seeds, outcome)
    return outcome


def _one_set(setting: Setting, digits: Digits, seeds: range, outcome: Outcome) -> None:
    rows = min(len(digits.y), setting.pick(60_000, 10_000, 600))
    a, degree = KERNELS.get(digits.name, KERNELS["usps"])
    kernel = {"kernel": "poly", "gamma": 1.0, "coef0": a, "degree": degree}
    moments = [round(rows * part / 40) for part in range(1, 41)]
    curves: dict[str, Floats] = {}
    for name, options in LEARNERS.items():
        setting.say(f"{digits.name}: {name}")
        runs = [mistakes_of(*digits.order(seed, rows), {**options, **kernel}, moments) for seed in seeds]
        curves[name] = np.mean(runs, axis=0)
    at_the_end = {name: float(curve[-1]) for name, curve in curves.items()}
    for name, mistakes in at_the_end.items():
        what = f"{digits.name}, ({a:g} + x.z)^{degree}: {name}, mistakes in {rows:,} rounds"
        outcome.lines.append(Line(what, "only plotted", f"{mistakes:,.0f}"))
    pa, mira, perceptron = at_the_end["PA"], at_the_end["MIRA"], at_the_end["perceptron, uniform"]
    seen = f"{pa:,.0f} and {mira:,.0f} against {perceptron:,.0f}"
    better = Criterion(f"{digits.name}: PA and MIRA beat the perceptron", max(pa, mira) < perceptron, seen)
    near = abs(pa - mira) / mira
    apart = {name: abs(at_the_end[name] - pa) / pa for name in ("PA-I", "PA-II")}
    outcome.criteria += [
        better,
        Criterion(f"{digits.name}: PA is within 10 % of MIRA", near <= 0.1, f"{near:.1%}"),
        *(
            Criterion(f"{digits.name}: {name} is within 3 % of PA", its <= 0.03, f"{its:.1%}")
            for name, its in apart.items()
        ),
    ]
    series = [Series(name, moments, curve.tolist()) for name, curve in curves.items()]
    outcome.panels.append(Panel(digits.name, "rounds", "mistakes so far", series))


RECIPES = [
    Recipe(
        "E4",
        "J06",
        "Fig. 6",
        "On digits PA and MIRA beat the multiclass perceptron; PA-I and PA-II with a large C are PA.",
        kernels_on_digits,
        ("usps.npz", "mnist.npz"),
        "scikit-learn's 8 x 8 digits",
    )
]
