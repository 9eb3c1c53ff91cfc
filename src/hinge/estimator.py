"""What the scikit-learn estimators share: rows in, passes of `fit`, the one-event API, files.

Everything goes through a `Learner`; here is only what scikit-learn asks for beyond it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from numpy import ndarray
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from . import kernels, model_file, parameters
from .geometry import check_has_covariance
from .learner import Contribution, Learner, Statistics
from .passes import BatchReport, FitsInPasses
from .plain_rows import plain_rows
from .rows import Rows, are_events, is_frame, rows_of

if TYPE_CHECKING:
    from .certificates import Certificate


_FIRST = threading.Lock()


class StreamEstimator(FitsInPasses, BaseEstimator):
    """The base of the estimators."""

    _task: ClassVar[str]

    # ---- the learner inside -----------------------------------------------------------------------------

    def _new_learner(self, **replaced: Any) -> Learner:
        given = self.get_params(deep=False)
        parameters.check(self._task, given)
        self.__dict__.pop("_fixed", None)
        options = {name: given[name] for name in parameters.OF_LEARNER if name in given}
        if options.get("gamma") == "scale" and "_gamma" in self.__dict__:
            options["gamma"] = self._gamma
        return Learner(self._task, **{**options, **replaced})

    def _fitted(self) -> Learner:
        learner: Learner | None = self.__dict__.get("_learner")
        if learner is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit', 'partial_fit' or 'learn_one' "
                "with appropriate arguments before using this estimator."
            )
        return learner

    # What may change between calls of partial_fit.
    _changeable: ClassVar[tuple[str, ...]] = ("step", "C")
    _of_changeable: ClassVar[itemgetter[Any]] = itemgetter(*_changeable)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._of_changeable = itemgetter(*cls._changeable)

    def _follow_parameters(self, learner: Learner) -> None:
        mine, known = self.__dict__, learner.parameters
        if "_fixed" in mine:
            raise ValueError(f"{mine['_fixed']} cannot change once learning has begun; start anew with `fit`")
        of = self._of_changeable
        if of(mine) != of(known):
            learner.change(**{name: mine[name] for name in self._changeable})

    def set_params(self, **params: Any) -> Self:
        super().set_params(**params)
        learner = self.__dict__.get("_learner")
        self.__dict__.pop("_fixed", None)
        if learner is not None:
            self._follow_parameters(learner)
            # `fit` may follow, which starts anew; `partial_fit` may not.
            given = self.get_params(deep=False)
            fixed = [name for name in given if _differs(name, given[name], learner)]
            if fixed:
                self._fixed = ", ".join(fixed)
        return self

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        """Read off the signature once a class, not with every model."""
        names: list[str] = super()._get_param_names()
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("_learner") is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ---- rows ---------------------------------------------------------------------------------------------

    def _takes_names(self, X: Any) -> bool:
        """Whether X goes by names: a list of events, or a DataFrame after nothing but events."""
        return are_events(X) or (is_frame(X) and "n_features_in_" not in self.__dict__)

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        learner = self._fitted()
        return learner.scores(X) if self._takes_names(X) else learner.scores_of(self._rows(X, reset=False))

    def _learn_first(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        """The first `partial_fit`, where there are no classes to know."""
        with self._all_or_nothing():
            rows = self._rows(X, reset=True)
            learner = self._new_learner(**self._start_names())
            self._name_features(learner)
            learner._learn_rows(rows, y, sample_weight)
            self._learner = learner

    def _learn_as_is(self, learner: Learner, X: Any, y: Any) -> bool:
        """A plain array or CSR matrix of the right width goes to the core as it is. False: take the long way."""
        mine, kind = self.__dict__, type(X)
        if type(y) is not ndarray or "feature_names_in_" in mine:
            return False
        arrays: tuple[Any, ...]
        if kind is ndarray:
            shape, arrays = X.shape, (X,)
        elif kind is csr_matrix or kind is csr_array:
            shape, indptr = X.shape, X.indptr
            if len(indptr) != shape[0] + 1:
                return False
            arrays = (X.data, X.indices, indptr, shape[-1])
        else:
            return False
        if len(shape) != 2 or shape[1] != mine.get("n_features_in_") or shape[0] != len(y) or not len(y):
            return False
        self._follow_parameters(learner)
        return learner.learn_as_is(arrays, y)

    def _learn_more(self, learner: Learner, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        """`partial_fit` after its first call."""
        self._follow_parameters(learner)
        if self._takes_names(X):
            learner.learn_many(X, y, sample_weight)
        else:
            learner._learn_rows(self._rows(X, reset=False), y, sample_weight, grow=False)

    @contextlib.contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A `fit` or first `partial_fit` that is refused leaves the estimator as it was."""
        parameters.check(self._task, self.get_params(deep=False))
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        """X as the core reads it. Plain float arrays and CSR matrices skip scikit-learn's validation: the
        core checks them itself, row by row."""
        rows = plain_rows(X) if reset or "feature_names_in_" not in self.__dict__ else None
        if rows is None:
            X = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
            )
            rows = rows_of(X)
        elif reset:
            self.n_features_in_ = rows.width
            self.__dict__.pop("feature_names_in_", None)
        if reset:  # what gamma='scale' means is measured once
            self.__dict__.pop("_gamma", None)
            if getattr(self, "kernel", None) in ("poly", "rbf") and self.gamma == "scale":
                self._gamma = kernels.scaled_gamma(rows)
        expected = self.__dict__.get("n_features_in_")
        if expected is None:
            self._fitted().check_arrays_fit()
            expected = self._fitted().n_features
        if rows.width != expected:
            raise ValueError(
                f"X has {rows.width} features, but {type(self).__name__} is expecting {expected} features as input"
            )
        return rows

    def _start_names(self) -> dict[str, Any]:
        """w1 as a dict: the vector in the order of the columns of X."""
        if not isinstance(self.w1, Mapping):
            return {}
        names = self.__dict__.get("feature_names_in_")
        if names is None:
            raise ValueError(
                "w1 as a dict of names needs features with names: give a DataFrame, or w1 as a vector"
            )
        unknown = [name for name in self.w1 if name not in set(names.tolist())]
        if unknown:
            raise ValueError(f"w1 names {unknown[0]!r}, which is not a column of X")
        return {"w1": [self.w1.get(name, 0.0) for name in names.tolist()]}

    def _name_features(self, learner: Learner) -> None:
        names = self.__dict__.get("feature_names_in_")
        if names is not None and learner.parameters["hash_bits"] is None:
            learner.name_columns(names.tolist())

    # ---- the one-event API ----------------------------------------------------------------------------------

    def _stream(self) -> Learner:
        """The learner that learns, new with the first event."""
        learner: Learner | None = self.__dict__.get("_learner")
        if learner is None:
            with _FIRST:  # of several threads one makes it
                learner = self.__dict__.get("_learner")
                if learner is None:
                    self._learner = learner = self._new_learner()
        return learner

    def _asked(self) -> Learner:
        """The learner that predicts. Asked before the first event, it is one that nothing has come to yet, and that
        nobody keeps: classes and options may still be given."""
        learner: Learner | None = self.__dict__.get("_learner")
        return self._new_learner() if learner is None else learner

    def score_one(self, x: dict[Any, Any]) -> Any:
        """The score of the features `x`: the decision function of one event. Many labels: a dict of scores."""
        try:
            learner = self._learner
        except AttributeError:
            learner = self._asked()
        return learner.score_one(x)

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """Predicts for the features `x`, a dict of names and values. Never learns."""
        try:
            learner = self._learner
        except AttributeError:
            learner = self._asked()
        return learner.predict_one(x)

    def explain_one(self, x: dict[Any, Any], label: Any = None) -> list[Contribution]:
        """What each feature of `x` contributed to its score (of many labels to that of `label`), largest first."""
        try:
            learner = self._learner
        except AttributeError:
            learner = self._asked()
        return learner.explain_one(x, label)

    def confidence_one(self, x: dict[Any, Any]) -> float:
        """x'Sx: how unsure the model is in the direction of the features `x` (geometries with a covariance)."""
        return self._asked().confidence_one(x)

    def confidence(self, X: Any) -> npt.NDArray[np.float64]:
        """x'Sx of each row: how unsure the model is in its direction (geometries with a covariance)."""
        learner = self._fitted()
        check_has_covariance(learner.parameters["geometry"])
        if self._takes_names(X):
            return learner.confidence(X)
        return learner.confidence_of(self._rows(X, reset=False))

    @property
    def covariance_(self) -> npt.NDArray[np.float64]:
        """S: a matrix, or the variances if geometry='diagonal'; without the coordinate of the intercept."""
        return self._fitted().covariance

    @property
    def n_support_(self) -> int:
        """With a kernel: how many supports there are."""
        return self._fitted().n_support

    @property
    def support_(self) -> npt.NDArray[np.int64]:
        """With a kernel: the rows of X that are supports, after `fit`; in a stream the numbers of the examples."""
        return self._fitted().support

    @property
    def support_vectors_(self) -> Any:
        """With a kernel: the supports, a row each; an array, or a CSR matrix if they came sparse."""
        return self._fitted().support_vectors

    @property
    def dual_coef_(self) -> npt.NDArray[np.float64]:
        """With a kernel: the coefficients of the supports, (1, n_support_), or a row a label."""
        return np.atleast_2d(self._fitted().dual_coef)

    def named_weights(self) -> dict[Any, Any]:
        """The weights by the names of their features; many labels: for each label."""
        return self._fitted().named_weights()

    @property
    def stats_(self) -> Statistics:
        """Rounds, mistakes, updates, cumulative loss and squared loss, largest q, progress."""
        return self._fitted().statistics

    def certificate(self, X: Any, y: Any = None, u: Any = None, beside: Any = None) -> Certificate:
        """What was suffered on the rows of X, learned once in their order (`partial_fit`, or `fit` with max_iter=1 and
        shuffle=False), and what was guaranteed against the comparator `u`, or against some that are found."""
        return self._fitted().certificate(X, y, u, beside)

    # ---- files ----------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file, whole or not at all. `hinge.load` reads it."""
        model_file.write_whole(path, model_file.to_bytes(*self.to_parts()))

    _kept: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_", "n_iter_", "_classes")

    def to_parts(self) -> tuple[dict[str, Any], model_file.Tensors]:
        learner, tensors = self._fitted().to_parts()
        given = self.get_params(deep=False)
        given.pop("w1", None)  # the learner keeps it
        report = self.__dict__.get("batch_report_")
        header = {
            "kind": type(self).__name__,
            "learner": learner,
            "parameters": kernels.encoded(given),
            "attributes": {
                name: model_file.encode_value(self.__dict__[name])
                for name in self._kept
                if name in self.__dict__
            },
            "batch_report": None if report is None else vars(report),
        }
        return header, tensors

    @classmethod
    def from_parts(cls, header: dict[str, Any], tensors: model_file.Tensors) -> Self:
        learner = Learner.from_parts(header["learner"], tensors)
        given = {name: model_file.decode_value(value) for name, value in header["parameters"].items()}
        estimator = cls(w1=learner.parameters["w1"], **given)
        for name, value in header["attributes"].items():
            if name not in cls._kept:
                raise ValueError(f"{name!r} is no attribute of a {cls.__name__}")
            setattr(estimator, name, model_file.decode_value(value))
        report = header["batch_report"]
        if "n_iter_" in header["attributes"]:
            estimator.batch_report_ = None if report is None else BatchReport(**report)
        estimator._learner = learner
        return estimator


def _differs(name: str, value: Any, learner: Learner) -> bool:
    """Whether a learner has learned with another value of an option. (What is no number or word is not compared.)"""
    known = learner.parameters.get(name, value)
    if name == "gamma" and value == "scale":
        return False
    plain_types = (bool, int, float, str, type(None))
    return isinstance(value, plain_types) and isinstance(known, plain_types) and bool(value != known)
