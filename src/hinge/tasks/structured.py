"""Structured outputs: the truth is the lead that the true output should have over a rival. See `PAStructured`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data.labels import Labels
from ..model.supports import beta_of
from .task import Task


class Structured(Task):
    name = core = options_of = "structured"
    estimator = ("structured.structured", "PAStructured")
    on_streams = False  # it needs functions of the user
    steps = ("pa", "pa1", "pa2", "perceptron")
    selections = ("prediction", "max", "max-additive")
    perceptron_selections = ("prediction",)
    geometries: tuple[str, ...] = ("euclidean", "mahalanobis", "diagonal")
    has_kernel = False

    def engine_options(self, parameters: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
        return {"labels": 1, "selection": parameters["selection"], "beta": beta_of(parameters)}
