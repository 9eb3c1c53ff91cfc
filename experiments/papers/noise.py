"""E1 to E3 (J06 section 10): two Gaussians in the plane, noise in instances or labels, and the effect of C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hinge.learner import Learner

from .recipe import Criterion, Line, Outcome, Panel, Recipe, Series, Setting

Floats = npt.NDArray[np.float64]

STEPS = {"PA": "pa", "PA-I": "pa1", "PA-II": "pa2"}
SMALL_C = 0.001
SIGMAS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
FLIPS = (0.0, 0.1, 0.2, 0.3, 0.4)
GRID = tuple(10.0**k for k in range(-4, 3))


def stream(rounds: int, seed: int, sigma: float = 0.0, flipped: float = 0.0) -> tuple[Floats, Floats]:
    """x ~ N(y (1, 1), diag(0.2, 2)), y of -1 or 1; noise of deviation sigma, labels flipped at random."""
    random = np.random.default_rng(seed)
    y = random.choice([-1.0, 1.0], size=rounds)
    x = y[:, np.newaxis] + random.standard_normal((rounds, 2)) * np.sqrt([0.2, 2.0])
    x += sigma * random.standard_normal((rounds, 2))
    return x, np.where(random.random(rounds) < flipped, -y, y)


def best_linear(x: Floats, y: Floats, directions: int = 2000) -> float:
    """The error of the best line through the origin, by trying all directions."""
    angles = np.linspace(0, 2 * np.pi, directions, endpoint=False)
    margins = y[:, np.newaxis] * (x @ np.vstack([np.cos(angles), np.sin(angles)]))
    return float((margins <= 0).mean(axis=0).min())


@dataclass(frozen=True)
class Run:
    error: float
    loss: float


def learn(x: Floats, y: Floats, step: str, C: float) -> Run:
    learner = Learner("classification", step=step, C=C, fit_intercept=False, classes=[-1.0, 1.0])
    learner.learn(x, y)
    s = learner.statistics
    return Run(s.error, s.mean_loss)


def mean(runs: Sequence[Run]) -> Run:
    return Run(float(np.mean([r.error for r in runs])), float(np.mean([r.loss for r in runs])))


def _robustness(
    setting: Setting, levels: Sequence[float], what: str, sign: str
) -> tuple[Outcome, dict[str, list[Run]], list[float]]:
    """PA, PA-I and PA-II at all levels of noise, and the best fixed line."""
    rounds, seeds = setting.pick(4000, 4000, 1000), range(setting.pick(10, 5, 2))
    runs: dict[str, list[Run]] = {name: [] for name in STEPS}
    best: list[float] = []
    for level in levels:
        setting.say(f"{sign} = {level:g}")
        streams = [stream(rounds, seed, **{what: level}) for seed in seeds]
        best.append(float(np.mean([best_linear(x, y) for x, y in streams])))
        for name, step in STEPS.items():
            runs[name].append(mean([learn(x, y, step, SMALL_C) for x, y in streams]))
    outcome = Outcome(
        f"{rounds:,} examples, {len(seeds)} repetitions (seeds 0 to {len(seeds) - 1}), C = {SMALL_C}"
    )
    for i, level in enumerate(levels):
        outcome.lines.append(Line(f"{sign} = {level:g}: error of the best line", "", f"{best[i]:.4f}"))
        for name in STEPS:
            run = runs[name][i]
            outcome.lines.append(
                Line(
                    f"{sign} = {level:g}: {name}, error / loss",
                    "only plotted",
                    f"{run.error:.4f} / {run.loss:.3f}",
                )
            )
    axis = "error of the best fixed linear classifier"
    errors = [Series(name, best, [r.error for r in runs[name]]) for name in STEPS]
    losses = [Series(name, best, [r.loss for r in runs[name]]) for name in STEPS]
    the_best = Series("the best line", best, best, dashed=True)
    outcome.panels = [
        Panel("average error", axis, "average error", [*errors, the_best]),
        Panel("average loss", axis, "average loss", losses),
    ]
    return outcome, runs, best


def instance_noise(setting: Setting) -> Outcome:
    outcome, runs, _ = _robustness(setting, SIGMAS, "sigma", "sigma")
    high = [i for i, sigma in enumerate(SIGMAS) if sigma >= 1]
    gaps = {
        name: [pa.error - other.error for pa, other in zip(runs["PA"], runs[name], strict=True)]
        for name in ("PA-I", "PA-II")
    }
    for name, gap in gaps.items():
        rising = np.polyfit(SIGMAS, gap, 1)[0]
        outcome.criteria.append(
            Criterion(
                f"what PA errs more than {name} grows with sigma",
                rising > 0 and gap[-1] > gap[0],
                f"from {gap[0]:+.3f} to {gap[-1]:+.3f}",
            )
        )
        outcome.criteria.append(
            Criterion(
                f"and exceeds 0.05 at sigma >= 1 ({name})",
                min(gap[i] for i in high) > 0.05,
                f"least {min(gap[i] for i in high):.3f}",
            )
        )
    apart = max(abs(runs["PA-I"][i].error - runs["PA-II"][i].error) for i in high)
    outcome.criteria.append(
        Criterion("PA-I and PA-II differ by less than 0.02 there", apart < 0.02, f"at most {apart:.4f}")
    )
    largest = all(runs["PA"][i].loss > max(runs["PA-I"][i].loss, runs["PA-II"][i].loss) for i in high)
    outcome.criteria.append(Criterion("the average loss of PA is the largest at high noise", largest))
    return outcome


def label_noise(setting: Setting) -> Outcome:
    outcome, runs, _ = _robustness(setting, FLIPS, "flipped", "p")
    noisy = [i for i, p in enumerate(FLIPS) if p >= 0.1]
    for name in ("PA-I", "PA-II"):
        gap = min(runs["PA"][i].error - runs[name][i].error for i in noisy)
        outcome.criteria.append(
            Criterion(f"{name} errs less than PA for p >= 0.1", gap > 0, f"by {gap:.3f} at least")
        )
    apart = max(abs(runs["PA-I"][i].error - runs["PA-II"][i].error) for i in noisy)
    outcome.criteria.append(
        Criterion("PA-I and PA-II differ by less than 0.02 there", apart < 0.02, f"at most {apart:.4f}")
    )
    return outcome


def effect_of_C(setting: Setting) -> Outcome:
    flips, rounds, seeds = (0.0, 0.1, 0.2), setting.pick(4000, 4000, 1000), range(setting.pick(10, 5, 2))
    runs: dict[tuple[str, float], list[Run]] = {}
    for p in flips:
        setting.say(f"p = {p:g}")
        streams = [stream(rounds, seed, flipped=p) for seed in seeds]
        for name in ("PA-I", "PA-II"):
            runs[name, p] = [mean([learn(x, y, STEPS[name], C) for x, y in streams]) for C in GRID]
    outcome = Outcome(f"{rounds:,} examples, {len(seeds)} repetitions (seeds 0 to {len(seeds) - 1})")
    for (name, p), found in runs.items():
        for C, run in zip(GRID, found, strict=True):
            outcome.lines.append(
                Line(
                    f"{name}, p = {p:g}, C = {C:g}: error / loss",
                    "only plotted",
                    f"{run.error:.4f} / {run.loss:.3f}",
                )
            )
    for name in ("PA-I", "PA-II"):
        small = all(runs[name, p][0].loss > min(r.loss for r in runs[name, p]) for p in flips)
        outcome.criteria.append(
            Criterion(f"{name}: at C = 1e-4 the loss is above its minimum, for every p", small)
        )
        at_large = [runs[name, p][-1].error for p in flips]
        at_best = [min(r.error for r in runs[name, p]) for p in flips]
        faster = at_large[-1] - at_large[0] > at_best[-1] - at_best[0]
        outcome.criteria.append(
            Criterion(
                f"{name}: with p the error grows faster at C = 100 than at the best C",
                faster,
                f"{at_large[-1] - at_large[0]:.3f} against {at_best[-1] - at_best[0]:.3f}",
            )
        )
        best = [GRID[int(np.argmin([r.error for r in runs[name, p]]))] for p in flips]
        falls = all(later <= earlier for earlier, later in pairwise(best))
        outcome.criteria.append(
            Criterion(f"{name}: the best C does not grow with p", falls, ", ".join(f"{C:g}" for C in best))
        )
    outcome.panels = [
        Panel(f"{name}, average {what}", "C", f"average {what}",
              [Series(f"p = {p:g}", GRID, [getattr(r, what) for r in runs[name, p]]) for p in flips], log_x=True)
        for what in ("error", "loss") for name in ("PA-I", "PA-II")
    ]  # fmt: skip
    return outcome


def length_of_the_stream(setting: Setting) -> Outcome:
    rounds, seeds = setting.pick(10_000, 10_000, 3000), range(setting.pick(10, 5, 3))
    large, small = 100.0, 0.001
    moments = sorted({int(m) for m in np.geomspace(10, rounds, 60)})
    curves: dict[tuple[str, float], Floats] = {}
    for name in ("PA-I", "PA-II"):
        for C in (large, 1.0, 0.01, small):
            setting.say(f"{name}, C = {C:g}")
            curves[name, C] = np.mean(
                [_curve(*stream(rounds, seed, flipped=0.02), STEPS[name], C, moments) for seed in seeds],
                axis=0,
            )
    outcome = Outcome(
        f"{rounds:,} examples, label noise 0.02, {len(seeds)} repetitions (seeds 0 to {len(seeds) - 1})"
    )
    at = {100: int(np.searchsorted(moments, 100)), rounds: len(moments) - 1}
    for (name, C), curve in curves.items():
        for when, place in at.items():
            outcome.lines.append(
                Line(f"{name}, C = {C:g}: error after {when:,}", "only plotted", f"{curve[place]:.4f}")
            )
    for name in ("PA-I", "PA-II"):
        early, late = ([float(curves[name, C][at[when]]) for C in (large, small)] for when in (100, rounds))
        outcome.criteria.append(
            Criterion(
                f"{name}: after 100 rounds C = 100 errs less than C = 0.001",
                early[0] < early[1],
                f"{early[0]:.3f} and {early[1]:.3f}",
            )
        )
        outcome.criteria.append(
            Criterion(
                f"{name}: at the end it errs more", late[0] > late[1], f"{late[0]:.3f} and {late[1]:.3f}"
            )
        )
    outcome.panels = [
        Panel(name, "examples", "average error so far",
              [Series(f"C = {C:g}", moments, curve.tolist()) for (its, C), curve in curves.items() if its == name],
              log_x=True)
        for name in ("PA-I", "PA-II")
    ]  # fmt: skip
    return outcome


def _curve(x: Floats, y: Floats, step: str, C: float, moments: Sequence[int]) -> Any:
    """The average error after a number of rounds."""
    learner = Learner("classification", step=step, C=C, fit_intercept=False, classes=[-1.0, 1.0])
    errors, done = [], 0
    for moment in moments:
        learner.learn(x[done:moment], y[done:moment])
        done = moment
        errors.append(learner.statistics.error)
    return np.asarray(errors)


RECIPES = [
    Recipe(
        "E1",
        "J06",
        "Fig. 3 top",
        "Noise in the instances: PA suffers, PA-I and PA-II with a small C do not.",
        instance_noise,
    ),
    Recipe(
        "E2",
        "J06",
        "Fig. 3 bottom",
        "Noise in the labels: PA suffers, PA-I and PA-II with a small C do not.",
        label_noise,
    ),
    Recipe("E3a", "J06", "Fig. 4", "C matters: the noisier the data, the smaller it should be.", effect_of_C),
    Recipe(
        "E3b",
        "J06",
        "Fig. 5",
        "A large C learns fast and ends worse, a small C learns slowly and ends better.",
        length_of_the_stream,
    ),
]
