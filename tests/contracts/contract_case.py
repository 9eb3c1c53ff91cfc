"""A case of the contract: a kind of model, how it is made, taught and asked, and what it can do."""

from __future__ import annotations

import copy
import io
import pickle
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

import cases
import hinge
from cases import NAMES, as_dicts, csr


@dataclass(frozen=True)
class Data:
    """A stream, or a part of one: rows, a frame, events or sentences. One class has no y."""

    X: Any
    y: Any
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.weights)

    def __getitem__(self, rows: Any) -> Data:
        return Data(_some(self.X, rows), None if self.y is None else _some(self.y, rows), self.weights[rows])

    def one(self, i: int) -> tuple[Any, Any, float]:
        return self.X[i], cases.one(self.y, i), float(self.weights[i])

    def parts(self, *bounds: int) -> Iterator[Data]:
        for start, stop in zip((0, *bounds), (*bounds, len(self)), strict=True):
            yield self[start:stop]

    def weighing(self, weights: Any) -> Data:
        return replace(self, weights=np.broadcast_to(np.asarray(weights, dtype=float), len(self)))


def _some(values: Any, rows: Any) -> Any:
    if isinstance(values, list):
        return [values[k] for k in np.arange(len(values))[rows]]
    return values[rows]


def in_form(form: str, X: np.ndarray) -> Any:
    """The rows of X, their columns called by NAMES if there are names."""
    containers: dict[str, Callable[[Any], Any]] = {
        "dense": np.asarray,
        "csr": csr,
        "events": as_dicts,
        "numbered": cases.numbered,
        "frame": lambda X: pd.DataFrame(X, columns=NAMES),
    }
    return containers[form](X)


@dataclass(frozen=True, eq=False)
class Case:
    """A subclass has also:

    new(**more)             a model that has not learned
    forms, data(form)       the same stream as rows, events or sentences
    learn(model, data)      a batch of it
    questions(form)         functions of a model that has learned: everything that only reads
    scores(model, X)        the numbers behind predictions
    """

    name: str
    task: str
    options: dict[str, Any]
    sampled: bool = True  # one of those on which the expensive checks are made

    is_learner = False  # hinge.Learner
    is_estimator = False  # of rows and events
    is_sequence = False
    grows = False  # its labels come with the stream
    count = 60  # examples of its stream
    batches: tuple[int, ...] = (13,)  # sizes of batches that must come to the same
    stages: tuple[int, ...] = (12, 24, 36, 48)  # where it is saved, copied and resumed
    least_updates = 1

    def __repr__(self) -> str:
        return self.name

    @property
    def geometry(self) -> str:
        return self.options.get("geometry", "euclidean")

    @property
    def is_committee(self) -> bool:
        return cases.is_committee(self.options)

    @property
    def has_covariance(self) -> bool:
        return not self.is_committee and self.geometry in ("mahalanobis", "diagonal")

    @property
    def kernel(self) -> Any:
        return self.options.get("kernel")

    @property
    def is_exact(self) -> bool:
        """A custom kernel may round by how many rows it is asked for at once."""
        return not callable(self.kernel)

    @property
    def hashes(self) -> bool:
        return bool(self.options.get("hash_bits"))

    @property
    def is_single(self) -> bool:
        return self.options.get("dtype") == "float32"

    @property
    def tolerance(self) -> tuple[float, float]:
        return (1e-3, 1e-5) if self.is_single else (1e-9, 1e-12)

    def close(self, ours: Any, theirs: Any, what: str = "") -> None:
        rtol, atol = self.tolerance
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol, err_msg=what)

    def learned(self, data: Data | None = None, **more: Any) -> Any:
        model = self.new(**more)
        self.learn(model, self.data() if data is None else data)
        return model

    def state(self, model: Any) -> bytes:
        return cases.state(model)

    def snapshot(self, model: Any) -> Any:
        """All of a model, also before it has learned."""
        return dict(vars(model)), self.state(model) if hasattr(model, "_learner") else None

    def assert_same(self, ours: Any, theirs: Any, what: str = "") -> None:
        assert self.state(ours) == self.state(theirs), what

    @property
    def ways(self) -> dict[str, Callable[[Any], Any]]:
        """Every way to keep a model."""
        return {
            "file": self.through_a_file,
            "pickle": lambda model: pickle.loads(pickle.dumps(model)),
            "joblib": through_joblib,
            "deepcopy": copy.deepcopy,
        }

    def through_a_file(self, model: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model")
            return self.load(Path(folder) / "model")

    def copies(self, model: Any) -> dict[str, Any]:
        return {name: way(model) for name, way in self.ways.items()}

    def learn_one(self, model: Any, x: Any, y: Any, weight: float = 1.0) -> None:
        model.learn_one(x, y, weight)

    def load(self, path: Path) -> Any:
        return hinge.load(path)

    @property
    def batch_forms(self) -> tuple[str, ...]:
        """In which batches are compared with their examples. (Events are also learned one by one.)"""
        return tuple(form for form in self.forms if form != "events")


def through_joblib(model: Any) -> Any:
    memory = io.BytesIO()
    joblib.dump(model, memory)
    memory.seek(0)
    return joblib.load(memory)


def attribute(name: str) -> Callable[[Any], Any]:
    return lambda model: getattr(model, name)


def answers(method: str, *given: Any) -> Callable[[Any], Any]:
    return lambda model: getattr(model, method)(*given)
