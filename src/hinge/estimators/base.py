"""What the scikit-learn estimators share: rows in, passes of `fit`, the one-event API, files.

Everything goes through a `Learner`; here is only what scikit-learn asks for beyond it.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from numpy import ndarray
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ..data.errors import for_each
from ..data.events import are_events, as_events, check_length, is_frame
from ..data.plain_rows import plain_rows
from ..data.rows import Rows, rows_of
from ..data.target_arrays import class_list
from ..learner import Learner
from ..model import columns, encoding, explain, file, supports
from ..model.covariance import check_has_covariance
from ..model.explain import Contribution
from ..model.statistics import Statistics
from ..options import hints, table
from ..options.classes import CLASSES
from ..tasks import batch
from . import inputs
from .option_changes import FollowsOptions
from .passes import BatchReport, FitsInPasses

if TYPE_CHECKING:
    from ..theory.certificate import Certificate


_FIRST = threading.RLock()
if hasattr(os, "register_at_fork"):  # in a forked child no other thread holds it any more
    os.register_at_fork(after_in_child=_FIRST._at_fork_reinit)  # type: ignore[attr-defined]


class StreamEstimator(FollowsOptions, FitsInPasses, BaseEstimator):
    """The base of the estimators."""

    _task: ClassVar[str]

    # ---- the learner inside -----------------------------------------------------------------------------

    def _new_learner(self, **replaced: Any) -> Any:
        """A learner with the options, which the caller has checked; what `fit` has found replaces some of them."""
        mine = self.__dict__
        options = {name: mine[name] for name in self._of_learner if name in self._option_names}
        if options.get("gamma") == "scale" and "_gamma" in mine:
            options["gamma"] = mine["_gamma"]
        table.check_values(replaced)
        return self._learner_class._from_checked(self._task, {**options, **replaced})

    def _fitted(self) -> Learner:
        learner: Learner | None = self.__dict__.get("_learner")
        if learner is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit', 'partial_fit' or 'learn_one' "
                "with appropriate arguments before using this estimator."
            )
        return learner

    def _saved(self) -> Any:
        """The learner as a file keeps it: its options are those of the estimator."""
        learner = self._fitted()
        self._follow(learner)
        return learner

    def set_params(self, **params: Any) -> Self:
        """Sets options, all of them or none. A model that learns follows them; what it cannot follow is rejected by the
        method that learns next (`fit` starts anew)."""
        for name in params.keys() - self._option_names:
            if "__" not in name:
                task = type(self)._task
                raise ValueError(hints.unknown(type(self).__name__, task, name, self._option_names))
        if not params.keys() <= self._option_names:  # options of options
            super().set_params(**params)
            return self
        mine = self.__dict__
        mine.pop("_ready", None)  # as in __setattr__
        mine.update(params)
        mine.pop("_ready", None)
        learner = mine.get("_learner")
        if learner is not None:
            self._pass_on(learner, self._changed().intersection(self._changeable))
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

    def _failed_checks(self) -> dict[str, str]:
        """scikit-learn's checks that do not hold for this estimator, and why. See `hinge.expected_failed_checks`."""
        return {}

    # ---- rows ---------------------------------------------------------------------------------------------

    def _takes_names(self, X: Any) -> bool:
        """Whether X goes by names: a list of events, or a DataFrame after nothing but events or text."""
        return are_events(X) or (is_frame(X) and "n_features_in_" not in self.__dict__)

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        learner = self._fitted()
        return learner.scores(X) if self._takes_names(X) else learner.scores_of(self._rows(X, reset=False))

    def _learn_first(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> Self:
        """The first `partial_fit`, where there are no classes to know."""
        new = self._aside()
        rows = new._rows(X, reset=True)
        learner = new._new_learner(**new._start_names())
        new._name_features(learner)
        learner.learn_rows(rows, y, sample_weight)
        return self._become(new._keep(learner))

    def _learn_as_is(self, X: Any, y: Any) -> bool:
        """A plain array or CSR matrix of the right width goes to the core as it is. False: take the long way."""
        mine, kind = self.__dict__, type(X)
        learner = mine.get("_ready")
        if learner is None or type(y) is not ndarray or "feature_names_in_" in mine:
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
        as_is: bool = batch.learn_as_is(learner, arrays, y)
        return as_is

    def _learn_more(self, learner: Learner, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> Self:
        """`partial_fit` after its first call."""
        if self._takes_names(X):
            learner.learn_many(X, y, sample_weight)
        else:
            learner.learn_rows(self._rows(X, reset=False), y, sample_weight, grow=False)
        return self

    def _check_same_classes(self, classes: Any, read: Callable[[Any], Iterable[Any]] = class_list) -> None:
        """`classes` of a later `partial_fit` must be the labels that the model has."""
        if classes is not None and set(read(classes)) != set(self._fitted().labels.known):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit: {self.classes_}"
            )

    def _aside(self) -> Self:
        """A copy for a `fit` or first `partial_fit` to work on: until `_become` the estimator is what it was."""
        self._check_options()
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def _become(self, new: Self) -> Self:
        self.__dict__ = (
            new.__dict__
        )  # at once: an interrupt, or another thread, finds the old model or the new one
        return self

    def _rows(self, X: Any, *, reset: bool) -> Rows:
        """X as the core reads it. Plain float arrays and CSR matrices skip scikit-learn's validation: the
        core checks them itself, row by row."""
        X = as_events(X)
        if reset and are_events(X):
            return self._read_events(X)
        rows = plain_rows(X) if reset or "feature_names_in_" not in self.__dict__ else None
        if rows is None:
            rows = rows_of(inputs.matrix(self, X, reset=reset))
        elif reset:
            self.n_features_in_ = rows.width
            self.__dict__.pop("feature_names_in_", None)
        if reset:
            self._measure(rows)
        expected = self.__dict__.get("n_features_in_")
        if expected is None:
            columns.check_arrays_fit(self._fitted())
            expected = self._fitted().n_features
        if rows.width != expected:
            raise ValueError(
                f"X has {rows.width} features, but {type(self).__name__} is expecting {expected} features as input"
            )
        return rows

    def _measure(self, rows: Rows) -> None:
        """What gamma='scale' means is measured once."""
        self.__dict__.pop("_gamma", None)
        if getattr(self, "kernel", None) in ("poly", "rbf") and self.gamma == "scale":
            check_length(rows.arrays[0], "X")
            self._gamma = supports.scaled_gamma(rows)

    def _read_events(self, events: Any) -> Rows:
        """Events for `fit` and the first `partial_fit`: their features are named as `learn_one` names them."""
        limits = {"hash_bits": self.hash_bits, "max_features": self.max_features}
        reader = Learner._from_checked("regression", limits)
        rows = reader.read_events(events)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self._read_names = reader.feature_names
        self._measure(rows)
        return rows

    def _start_names(self) -> dict[str, Any]:
        """w1 as a dict: the vector in the order of the columns of X."""
        if not isinstance(self.w1, Mapping):
            return {}
        names = self.__dict__.get("feature_names_in_", self.__dict__.get("_read_names"))
        if names is None:
            raise ValueError(
                "w1 as a dict of names needs features with names: give a DataFrame, or w1 as a vector"
            )
        unknown = [name for name in self.w1 if name not in set(names)]
        if unknown:
            raise ValueError(f"w1 names {unknown[0]!r}, which is not a column of X")
        return {"w1": [self.w1.get(name, 0.0) for name in names]}

    def _name_features(self, learner: Learner) -> None:
        read = self.__dict__.pop("_read_names", None)
        names = self.__dict__.get("feature_names_in_")
        if learner.parameters["hash_bits"] is not None:
            return
        if read is not None:
            learner._engine.name_columns(read)
        elif names is not None:
            learner.name_columns(names.tolist())

    # ---- the one-event API ----------------------------------------------------------------------------------

    def _learn(self, learn: Callable[[Any], Any]) -> Self:
        """Lets the learner learn: one that may not be ready, because options have changed, or that there is not yet."""
        learner = self._current()
        if learner is not None:
            learn(learner)
            return self
        with _FIRST:  # of several threads one begins
            learner = self._current()
            if learner is not None:
                learn(learner)
                return self
            begun = self._begun()
            learn(begun["learner"])  # what is rejected is not a beginning
            return self._keep(**begun)

    def learn_many(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """The rounds of a list of dicts, a DataFrame, an array or a CSR matrix: all of them, or none."""
        return self._learn(lambda learner: learner.learn_many(X, y, sample_weight))

    def _begun(self) -> dict[str, Any]:
        """What a stream begins with."""
        self._check_options()
        return {"learner": self._new_learner()}

    def _asked(self) -> Learner:
        """The learner that predicts. Asked before the first event, it is one that nothing has come to yet, and that
        nobody keeps: classes and options may still be given."""
        learner: Learner | None = self.__dict__.get("_learner")
        return self._begun()["learner"] if learner is None else learner

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

    def explain(self, X: Any, label: Any = None) -> Any:
        """What `explain_one` says of each row, as a pandas DataFrame with one line per row and feature: row, feature,
        value, weight, contribution; the largest contributions of a row first. The contributions of a row add up to its
        score (of many labels to that of `label`, or to the highest)."""
        learner = self._fitted()
        supports.check_has_weights(learner.parameters["kernel"])
        check_length(X, "X")
        index = X.index if hasattr(X, "index") and is_frame(X) else None
        if self._takes_names(X):
            events = X.to_dict("records") if index is not None else X
            told = for_each(lambda x: self.explain_one(x, label), events)
        else:
            told = explain.of_rows(learner, self._rows(X, reset=False), label)
        return explain.as_frame(told, range(len(told)) if index is None else index)

    def uncertainty_one(self, x: dict[Any, Any]) -> float:
        """x'Sx: how unsure the model is in the direction of the features `x` (geometries with a covariance)."""
        return self._asked().uncertainty_one(x)

    def uncertainty(self, X: Any) -> npt.NDArray[np.float64]:
        """x'Sx of each row: how unsure the model is in its direction (geometries with a covariance)."""
        learner = self._fitted()
        check_has_covariance(learner.parameters["geometry"])
        if self._takes_names(X):
            return learner.uncertainty(X)
        return learner.uncertainty_of(self._rows(X, reset=False))

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
    def n_ignored_(self) -> int:
        """How often a feature was left out because it was new, and there were `max_features` already."""
        return self._fitted().n_ignored

    @property
    def stats_(self) -> Statistics:
        """Rounds, mistakes, updates, cumulative loss and squared loss, largest q, progress."""
        return self._fitted().statistics

    def certificate(self, X: Any, y: Any = None, u: Any = None, intercept: Any = None) -> Certificate:
        """What was suffered on the rows of X, learned once in their order (`partial_fit`, or `fit` with max_iter=1 and
        shuffle=False), and what was guaranteed against the comparator `u`, or against some that are found."""
        return self._fitted().certificate(X, y, u, intercept)

    # ---- files ----------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file, whole or not at all. `hinge.load` reads it."""
        file.save(path, *self.to_parts())

    _kept: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_", "n_iter_", "_classes")
    _of_learner: ClassVar[tuple[str, ...]] = table.OF_LEARNER
    _learner_class: ClassVar[Any] = Learner

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        """What its file has: a header of JSON, and arrays."""
        learner, tensors = self._saved().to_parts()
        self._check_options()  # a file is not written with what no model can be made with, and not read
        values = encoding.encoded(self._file_parameters(self.get_params(deep=False)), tensors)
        header: dict[str, Any] = {
            "kind": type(self).__name__,
            "parameters": encoding.without_defaults(values, self._defaults()),
            "learner": encoding.without_repeated(learner, values, self._learner_class.defaults()),
            "attributes": {
                name: encoding.encode_value(self.__dict__[name], tensors)
                for name in self._kept
                if name in self.__dict__
            },
        }
        if "batch_report_" in self.__dict__:
            header["batch_report"] = None if self.batch_report_ is None else vars(self.batch_report_)
        return header, tensors

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        estimator = cls(**encoding.decoded(header["parameters"], tensors, functions))
        estimator._check_options()
        values = {**cls._file_parameters(cls._defaults()), **header["parameters"]}
        _check_agreement(header["learner"]["parameters"], values)
        learner = encoding.with_repeated(header["learner"], values, cls._of_learner)
        of_learner = {
            name: function
            for name, function in functions.items()
            if learner["parameters"].get(name) == {"function": name}
        }
        estimator._learner = cls._learner_class.from_parts(learner, tensors, of_learner)
        for name, value in header["attributes"].items():
            if name not in cls._kept:
                raise ValueError(f"{name!r} is no attribute of a {cls.__name__}")
            setattr(estimator, name, encoding.decode_value(value, tensors))
        if "batch_report" in header:
            report = header["batch_report"]
            estimator.batch_report_ = None if report is None else BatchReport(**report)
        _check_attributes(estimator)
        return estimator._keep(estimator._learner)

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """The defaults of the parameters, which a file omits."""
        return CLASSES[cls.__name__].completed({}) if cls.__name__ in CLASSES else {}

    @classmethod
    def _file_parameters(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The parameters that a file holds as such."""
        return given

    @classmethod
    def _load_file(cls, path: str | os.PathLike[str], functions: Mapping[str, Any]) -> Self:
        """A file of this kind, with the functions that no file holds."""
        header, tensors = file.read(path)
        try:
            if header["kind"] != cls.__name__:
                raise ValueError(f"it is a {header['kind']}")
            return cls.from_parts(header, tensors, functions)
        except file.ABSURD as error:
            raise file.ModelFileError(f"{path} cannot be read as a {cls.__name__}: {error}") from error


# What `fit` finds out: the learner's are not always the estimator's.
_FOUND = ("classes", "class_weight", "gamma", "w1")


def _check_agreement(of_learner: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Whether a file says the same of the estimator and of the learner in it, where both must agree."""
    for name, value in of_learner.items():
        found = name in _FOUND or (value is None and values.get(name) == {"function": name})
        if name in values and not found:
            raise ValueError(f"its {name} is {values[name]!r:.100}, and that of its learner {value!r:.100}")


def _check_attributes(estimator: StreamEstimator) -> None:
    """Whether the attributes that a file has are those of a model."""
    has, known = estimator.__dict__, estimator._learner.labels.known
    width, names, classes = has.get("n_features_in_"), has.get("feature_names_in_"), has.get("_classes")
    counts = [has[name] for name in ("n_features_in_", "n_iter_") if name in has]
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError(f"its numbers of features and passes are {counts!r:.100}")
    if names is not None and (
        not isinstance(names, np.ndarray)
        or names.shape != (width,)
        or not all(isinstance(name, str) for name in names.tolist())
    ):
        raise ValueError(f"its names of features are {names!r:.100}")
    if classes is not None and (
        not isinstance(classes, np.ndarray) or classes.ndim != 1 or classes.tolist() != known[: len(classes)]
    ):
        raise ValueError(f"its classes are {classes!r:.100}, and those of what it has learned {known!r:.100}")
    if type(has.get("_one_each", False)) is not bool:
        raise ValueError(f"whether it has one label each is {has['_one_each']!r:.100}")
    report = has.get("batch_report_")
    if report is not None and [type(value) for value in vars(report).values()] != [
        bool,
        int,
        int,
        float,
        int,
    ]:
        raise ValueError(f"its batch report is {report!r:.200}")
