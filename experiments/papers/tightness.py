"""How tight the theorems are on E1 to E3's streams: what is guaranteed over what was suffered (a part of E10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinge.learner import Learner
from hinge.theory import (
    Comparator,
    Guarantee,
    Trace,
    cache_bound,
    comparator,
    follow,
    guarantees,
    label_comparator,
    on_simplex,
    ordinal_comparator,
)

from .data import Floats
from .noise import stream

C = 0.01  # below 2/R2 on all streams, which S06's theorem needs
ENTROPY_SCALE = 10.0  # the sum of |weights| that the simplex allows
LENGTHS = tuple(2.0**k for k in range(-3, 6))  # of u: the best of them counts, as theorems hold for every u
GAP = 0.3  # the margin of streams that are made separable


@dataclass(frozen=True)
class Rows:
    name: str
    x: Floats
    y: Floats  # -1 and 1
    u: Floats  # of length 1: the line with the fewest mistakes


def streams(rounds: int, seed: int) -> list[Rows]:
    """E1's (noise in x), E2's and E3's (labels flipped), and separable streams, for the theorems that need one."""
    found = [
        _rows("clean", *stream(rounds, seed)),
        _rows("sigma = 1", *stream(rounds, seed, sigma=1.0)),
        _rows("p = 0.02", *stream(rounds, seed, flipped=0.02)),
        _rows("p = 0.2", *stream(rounds, seed, flipped=0.2)),
    ]
    clean = found[0]
    apart = clean.y * (clean.x @ clean.u) >= GAP
    x, y = clean.x[apart], clean.y[apart]
    found.append(Rows("separable", x, y, clean.u))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    found.append(Rows("of length 1", unit, y, clean.u))
    found.append(Rows("of length 0.7", 0.7 * unit, y, clean.u))
    return found


def _rows(name: str, x: Floats, y: Floats) -> Rows:
    angles = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    directions = np.vstack([np.cos(angles), np.sin(angles)])
    wrong = (y[:, np.newaxis] * (x @ directions) <= 0).sum(axis=0)
    return Rows(name, x, y, directions[:, int(np.argmin(wrong))])


@dataclass(frozen=True)
class Way:
    """A learner whose theorems are evaluated."""

    name: str
    step: str
    options: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "binary"  # or labels, ranks, covariance, entropy
    C: float = C


def _labels(name: str, selection: str, step: str = "pa1", C: float = C, **more: Any) -> Way:
    return Way(name, step, {"selection": selection, **more}, "labels", C)


def _covariance(name: str, step: str, C: float = C, geometry: str = "mahalanobis") -> Way:
    return Way(name, step, {"geometry": geometry, "covariance_update": "precision"}, "covariance", C)


COST = [[0.0, 1.0], [1.0, 0.0]]

WAYS = (
    *(Way(name, step) for name, step in (("PA", "pa"), ("PA-I", "pa1"), ("PA-II", "pa2"))),
    Way("perceptron", "perceptron"),
    _labels("SimPerc", "simperc"),
    _labels("ConProj", "conproj"),
    _labels("SimProj", "simproj"),
    _labels("MIRA, beta = 1", "mira", beta=1.0),
    _labels("by the prediction, PA-I", "prediction"),
    _labels("uniform perceptron", "uniform", "perceptron"),
    _labels("with costs, PA-I, C = 1", "max", C=1.0, cost=COST),
    Way("ranks, SimProj", "pa1", {"selection": "simproj"}, "ranks"),
    _covariance("PAM", "pa"),
    _covariance("PAM-I", "pa1"),
    _covariance("PAM-II", "pa2"),
    _covariance("PAM-II, diagonal", "pa2", geometry="diagonal"),
    _covariance("AROW, r = 1", "pa2", C=0.5),
    _covariance("second-order perceptron", "perceptron"),
    *(
        Way(f"multiplicative {name}", step, {"geometry": "entropy", "scale": ENTROPY_SCALE}, "entropy")
        for name, step in (("PA", "pa"), ("PA-I", "pa1"), ("PA-II", "pa2"))
    ),
)


def guaranteed(way: Way, rows: Rows) -> Iterator[Guarantee]:
    """Every theorem of the learner on the stream, each with the length of u that gives the lowest bound."""
    coded = (rows.y > 0).astype(np.int64)
    numbered = way.kind in ("labels", "ranks")
    task = "ordinal" if way.kind == "ranks" else "classification"
    free: dict[str, Any] = {} if way.kind == "ranks" else {"fit_intercept": False}
    classes = [0, 1] if numbered else [-1.0, 1.0]
    learner = Learner(task, step=way.step, C=way.C, classes=classes, **free, **way.options)
    trace = None
    if way.kind == "covariance":
        trace = follow(learner, rows.x, rows.y)
    else:
        learner.learn(rows.x, coded if numbered else rows.y)
    moved = float(np.linalg.norm(learner.last_weights)) if way.kind == "binary" else None
    best: dict[tuple[str, str], Guarantee] = {}
    for length in _lengths(rows):
        u = _comparator(way, rows, coded, length * rows.u, trace)
        for found in guarantees(way.step, learner.statistics, u, C=way.C, moved=moved):
            key = (found.theorem, found.quantity)
            if key not in best or found.guaranteed < best[key].guaranteed:
                best[key] = found
    yield from best.values()


def _lengths(rows: Rows) -> list[float]:
    """The lengths to try, with the shortest u without loss, if there is one."""
    smallest = float((rows.y * (rows.x @ rows.u)).min())
    return [*LENGTHS, (1 + 1e-12) / smallest] if smallest > 0 else list(LENGTHS)


def _comparator(way: Way, rows: Rows, coded: Any, u: Floats, trace: Trace | None) -> Comparator:
    if trace is not None:
        return trace.comparator(u)
    if way.kind == "labels":
        options = {name: way.options[name] for name in ("selection", "beta", "cost") if name in way.options}
        return label_comparator(rows.x, coded, np.vstack([-u / 2, u / 2]), **options)
    if way.kind == "ranks":
        return ordinal_comparator(rows.x, coded, u, [0.0], selection=way.options["selection"])
    if way.kind == "entropy":
        return on_simplex(comparator("classification", rows.x, rows.y, u), rows.x, u, scale=ENTROPY_SCALE)
    return comparator("classification", rows.x, rows.y, u)


@dataclass(frozen=True)
class Tightness:
    """One theorem for one learner: guaranteed over suffered, by the name of the stream; where it applies and
    something was suffered (the perceptron may have a progress below 0)."""

    learner: str
    theorem: str
    quantity: str
    ratios: Mapping[str, float]
    held: bool


def tightness(all_rows: Sequence[Rows]) -> list[Tightness]:
    ratios: dict[tuple[str, str, str], dict[str, float]] = {}
    held: dict[tuple[str, str, str], bool] = {}
    for rows in all_rows:
        for way in WAYS:
            for found in guaranteed(way, rows):
                if not found.applicable or found.suffered <= 0:
                    continue
                key = (way.name, found.theorem, found.quantity)
                ratios.setdefault(key, {})[rows.name] = found.guaranteed / found.suffered
                held[key] = held.get(key, True) and found.holds
    return [Tightness(*key, of_stream, held[key]) for key, of_stream in ratios.items()] + _budget(all_rows)


def _budget(all_rows: Sequence[Rows]) -> list[Tightness]:
    """B03: the supports that the perceptron with an adaptive budget keeps, at the end of a separable stream."""
    beta, ratios = 0.01, {}
    for rows in all_rows:
        smallest = float((rows.y * (rows.x @ rows.u)).min())
        if smallest > 0:
            learner = Learner(
                "classification", step="perceptron", kernel="linear", budget="adaptive", beta=beta,
                fit_intercept=False, classes=[-1.0, 1.0],
            )  # fmt: skip
            learner.learn(rows.x, rows.y)
            largest = float((rows.x**2).sum(axis=1).max())
            ratios[rows.name] = cache_bound(largest, smallest, beta) / learner.n_support
    return [
        Tightness(
            "budget perceptron", "B03", "supports", ratios, all(ratio >= 1 for ratio in ratios.values())
        )
    ]
