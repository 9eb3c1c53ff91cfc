"""The learner of `PAStructured`: joint features as the core reads them, and w as custom functions read it."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._core import Engine
from ..data import sparse
from ..data.errors import InputError
from ..data.events import is_sparse
from ..data.rows import Rows, as_values
from ..learner import Learner
from ..model import encoding, explain, file
from ..model.engine import restored
from ..model.explain import Contribution
from ..tasks.task import Task

if TYPE_CHECKING:
    from ..data.types import Doubles, Indices

_ROUNDING = 1e-12  # as in cpp/sequence.hpp
_WORDS = {"dict": "a dict of named features", "array": "an array", "sparse": "a sparse row"}


class Joint(NamedTuple):
    """Phi(x, y): a dict of numbers, an array, or the columns of a sparse row, in any order, with their values."""

    kind: str
    values: Any
    width: int | None = None  # of arrays and rows

    @property
    def words(self) -> str:
        return _WORDS[self.kind] + ("" if self.width is None else f" of {self.width}")

    @property
    def rows(self) -> Rows:
        """An array or a sparse row as the core reads it."""
        if self.kind == "array":
            return Rows(self.values[np.newaxis])
        columns, values = self.values
        return Rows(values, columns, np.array([0, len(columns)]), self.width)

    def minus(self, other: Joint) -> Joint:
        """The difference. What rounding leaves of features that cancel (0.1 + 0.2 - 0.3) becomes 0."""
        if self.kind == "dict":
            difference = dict(self.values)
            for name, value in other.values.items():
                mine = difference.get(name, 0.0)
                cancels = abs(mine - value) <= 2 * _ROUNDING * (abs(mine) / 2 + abs(value) / 2)
                difference[name] = 0.0 if cancels else mine - value
            return Joint("dict", difference)
        with np.errstate(over="ignore"):  # the core rejects infinity
            if self.kind == "array":
                columns, left = None, self.values - other.values
                size = np.abs(self.values) / 2 + np.abs(other.values) / 2
            else:
                columns, left, size = _added_up(
                    np.concatenate([self.values[0], other.values[0]]),
                    np.concatenate([self.values[1], -other.values[1]]),
                )
            left[np.abs(left) <= 2 * _ROUNDING * size] = 0.0
        return Joint(self.kind, left if columns is None else (columns, left), self.width)

    def stored(self) -> tuple[Indices, Doubles]:
        """The columns of an array or a row in order, each once, and their values, without zeros."""
        if self.kind == "array":
            columns, values = np.arange(self.width or 0), self.values
        else:
            columns, values, _ = _added_up(*self.values)
        return columns[values != 0], values[values != 0]


class NamedWeights:
    """w as `argmax` receives it if the features have names. Read-only.

    `w[name]` and `w.get(name)` return the weight of a feature, 0.0 for a name that was never learned. `w.dot(features)`
    is the scalar product. It is a view of the model, valid while the function runs: do not keep it.
    """

    __slots__ = ("_averaged", "_engine", "_scale")

    def __init__(self, engine: Engine, averaged: bool, scale: float = 1.0) -> None:
        self._engine, self._averaged, self._scale = engine, averaged, scale

    def __getitem__(self, name: Any) -> float:
        return self.get(name)

    def get(self, name: Any, default: float = 0.0) -> float:
        _, sign, column, weight = self._engine.look_up({name: 1.0}, 0, self._averaged)[0]
        return default if column is None else float(sign * weight) * self._scale

    def dot(self, features: Mapping[Any, Any]) -> float:
        return self._engine.score_one(dict(features), self._averaged) * self._scale

    def __contains__(self, name: Any) -> bool:
        return self._engine.look_up({name: 1.0}, 0, self._averaged)[0][2] is not None

    __iter__ = None  # unknown names have weights, too


class StructuredLearner(Learner):
    """A learner of constraints w.(Phi(x, y) - Phi(x, y')) >= wanted (S10), for any kind of vector Phi.

    The first round determines the kind, and the length of arrays.
    """

    def __init__(self, task: str = "structured", **options: Any) -> None:
        super().__init__(task, **options)

    def _set_up(self, task: Task, parameters: dict[str, Any]) -> None:
        super()._set_up(task, parameters)
        self.features: str | None = None  # the kind; None before the first round
        self._seen: dict[
            bool, tuple[int, npt.NDArray[Any]]
        ] = {}  # the arrays that `view` returned last, with their round

    def read(self, given: Any, like: Joint | None = None) -> Joint:
        """Checks what `joint_features` returned. `like`: its earlier result in the same round."""
        joint = _read(given)
        if like is None and self.features is not None:
            like = Joint(self.features, None, None if self.features == "dict" else self.n_features)
        if like is None:
            self._check_first(joint)
        elif joint[::2] != like[::2]:
            raise ValueError(
                f"joint_features returned {joint.words}, and {like.words} before: all must be alike"
            )
        return joint

    def _check_first(self, joint: Joint) -> None:
        if joint.width is None:
            return
        if self.parameters["hash_bits"] is not None:
            raise ValueError(f"hash_bits is for named features, and joint_features returned {joint.words}")
        limit = self.parameters["max_features"]
        if joint.width > limit:
            raise ValueError(f"joint_features returned {joint.words}, the limit is {limit} (max_features)")

    def view(self, averaged: bool, like: Joint | None = None, scale: float = 1.0) -> Any:
        """w, read-only: by name, or as an array, which is copied only after a change.

        `like`: the features of the current round; the first round needs them. `scale` multiplies w.
        """
        kind = self.features if like is None else like.kind
        engine = self._engine
        if kind == "dict":
            self._events()
            return NamedWeights(engine, averaged, scale)
        if self.features is None:
            assert like is not None
            assert like.width is not None
            w = np.zeros(like.width, dtype=self.parameters["dtype"])
        else:
            counts = engine.statistics()
            changes = counts[0] if averaged else counts[2]  # the average changes with every round
            seen = self._seen.get(averaged)
            if seen is None or seen[0] != changes:
                seen = (changes, self.weights if averaged else self.last_weights)
                self._seen[averaged] = seen
            w = seen[1] if scale == 1 else scale * seen[1]
        w.setflags(write=False)
        return w

    def learn_constraint(self, truth: Joint, rival: Joint, wanted: float, weight: float, cost: float) -> None:
        """One round: the truth should lead the rival by `wanted`. `cost` is the cost of the prediction."""
        delta, engine = truth.minus(rival), self._engine
        before = engine.statistics()
        if not math.isfinite(before[7] + cost + wanted):
            raise ValueError("the cost is too large: the sum of costs, or the margin, overflows float64")
        try:
            if delta.kind == "dict":
                self.learn_one(delta.values, wanted, weight)
            else:
                self.learn_rows(delta.rows, np.array([wanted]), np.array([weight]))
            self._count(truth, cost, before)
        except InputError as error:
            error.row = None  # the array has only this row
            raise
        except BaseException:
            if engine.statistics()[0] != before[0]:  # an interrupt right after the round
                self._count(truth, cost, before)
            raise

    def _count(self, truth: Joint, cost: float, before: tuple[Any, ...]) -> None:
        """Counts the cost of the prediction of a round. A second call for the round changes nothing."""
        if cost > 0 and self._engine.statistics()[1] == before[1]:
            self._engine.count_prediction(True, cost)
        self.features = truth.kind

    def go_back(self, state: dict[str, Any]) -> None:
        """Returns to an earlier `engine.state()`."""
        self._engine = restored(self, self.labels, state)
        self._seen.clear()

    # ---- what has been learned ------------------------------------------------------------------------

    def score_joint(self, joint: Joint) -> float:
        if joint.kind == "dict":
            return float(self.score_one(joint.values))
        return float(self.scores_of(joint.rows)[0])

    def uncertainty_joint(self, joint: Joint) -> float:
        if joint.kind == "dict":
            return self.uncertainty_one(joint.values)
        return float(self.uncertainty_of(joint.rows)[0])

    def explain_joint(self, joint: Joint) -> list[Contribution]:
        if joint.kind == "dict":
            parts = explain.of_product(self._engine.look_up(joint.values, 0, self.averaged), None)
        else:
            columns, values = joint.stored()
            weights = self.view(self.averaged)[columns]
            parts = [
                Contribution(column, value, weight, value * weight)
                for column, value, weight in zip(
                    columns.tolist(), values.tolist(), weights.tolist(), strict=True
                )
            ]
        return sorted(parts, key=lambda part: -abs(part.contribution))

    def named_weights(self) -> dict[Any, Any]:
        """The weights by feature name; those of arrays by index."""
        return super().named_weights() if self.features == "dict" else dict(enumerate(self.weights.tolist()))

    # ---- files ----------------------------------------------------------------------------------------

    def _parts(self) -> tuple[dict[str, Any], file.Tensors]:
        with self._lock:
            header, tensors = super()._parts()
            return {**header, "features": self.features}, tensors

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        learner = super().from_parts(header, tensors, functions)
        if header["task"] != "structured" or header["features"] not in _WORDS:
            raise ValueError(f"it has features of the kind {header['features']!r}")
        learner.features = header["features"]
        return learner


# ---- what joint_features returns ----------------------------------------------------------------------------


def _read(given: Any) -> Joint:
    if isinstance(given, Mapping):
        return Joint("dict", _named(given))
    if is_sparse(given):
        return Joint("sparse", *_sparse_row(given))
    if not isinstance(given, np.ndarray):
        raise ValueError(
            "joint_features must return a dict of named features, an array of one dimension, or a sparse row, "
            f"not {given!r:.100}"
        )
    if given.ndim != 1 or not len(given):
        raise ValueError(f"joint_features must return arrays of one dimension, not of shape {given.shape}")
    try:
        values = as_values(given, "joint features").astype(np.float64)
    except ValueError as error:
        raise ValueError(f"joint_features: {error}") from None
    _check_finite(values)
    return Joint("array", values, len(values))


def _check_finite(values: Doubles, columns: Any = None) -> None:
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        what = "NaN" if np.isnan(values[place]) else "infinity (inf)"
        raise ValueError(
            f"joint_features: value {place if columns is None else int(columns[place])} is {what}"
        )


def _named(given: Mapping[Any, Any]) -> dict[Any, float]:
    """As in all events, True is 1 and a string is the indicator "name=value"."""
    features: dict[Any, float] = {}
    for name, value in given.items():
        if type(name) is str and type(value) is float and math.isfinite(value):  # nearly always
            if value:
                features[name] = features[name] + value if name in features else value
            continue
        if isinstance(value, str):
            name, value = f"{name}={value}", 1.0
        if not isinstance(name, str):
            try:
                name = operator.index(name)
            except TypeError:
                raise ValueError(
                    f"joint_features: the name of a feature must be a string (or a column number), not {name!r}"
                ) from None
        try:
            number = math.nan if isinstance(value, (bytes, bytearray)) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"joint_features: the value of {name!r} must be a finite number, not {value!r}")
        if number:
            features[name] = features.get(name, 0.0) + number
    return features


def _sparse_row(given: Any) -> tuple[tuple[Indices, Doubles], int]:
    """Its columns with their values, and its width. (Most functions of scipy take longer than a round.)"""
    if len(given.shape) == 1:
        given = given.reshape((1, -1))
    if len(given.shape) != 2 or given.shape[0] != 1 or not given.shape[1]:
        raise ValueError(f"joint_features must return sparse rows of shape (1, n), not {given.shape}")
    if given.dtype.kind not in "biuf":
        raise ValueError(f"joint_features must return numbers, not {given.dtype}")
    width = int(given.shape[1])
    try:
        given = sparse.to_csr(given, "it")
        start, stop = given.indptr.tolist()
        columns, values = given.indices[start:stop], given.data[start:stop].astype(np.float64)
        if start != 0 or len(columns) != stop or len(values) != stop:
            raise ValueError("its arrays do not match")
        if len(columns) and not 0 <= columns.min() <= columns.max() < width:
            raise ValueError(f"it has columns outside of 0 to {width - 1}")
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"joint_features returned a sparse row that cannot be read: {error}") from None
    _check_finite(values, columns)
    return (columns.astype(np.int64), values), width


def _added_up(columns: Indices, values: Doubles) -> tuple[Indices, Doubles, Doubles]:
    """Each column once, in order, the sum of its values, and half the sum of their absolute values."""
    each, places = np.unique(columns, return_inverse=True)
    sums = [np.bincount(places, weights, len(each)) for weights in (values, np.abs(values) / 2)]
    return each, np.asarray(sums[0], dtype=np.float64), np.asarray(sums[1], dtype=np.float64)
