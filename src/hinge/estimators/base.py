"""What the scikit-learn estimators share: reading rows, the first `partial_fit`, the one-event API, attributes.

Everything goes through a `Learner`; this module adds what scikit-learn requires.
"""

from __future__ import annotations

import functools
import importlib
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
from ..model import columns, explain, supports
from ..model.covariance import check_has_covariance
from ..model.experts import OF_EXPERT, Experts
from ..model.explain import Contribution
from ..model.statistics import Statistics
from ..options import hints, table
from ..tasks import TASKS, batch
from . import inputs
from .files import SavedInFiles
from .option_changes import FollowsOptions
from .passes import FitsInPasses

if TYPE_CHECKING:
    from ..theory.certificate import Certificate


_FIRST = threading.RLock()
if hasattr(os, "register_at_fork"):  # in a forked child no other thread holds it any more
    os.register_at_fork(after_in_child=_FIRST._at_fork_reinit)  # type: ignore[attr-defined]


class StreamEstimator(FollowsOptions, FitsInPasses, SavedInFiles, BaseEstimator):
    """The base of the estimators."""

    _task: ClassVar[str]
    _given: ClassVar[Mapping[str, Any]] = {}  # options of the learner that the estimator decides

    # ---- the learner inside -----------------------------------------------------------------------------

    def _new_learner(self, **replaced: Any) -> Any:
        """A learner with these options, which the caller has checked. `replaced`: values that `fit` has determined."""
        mine = self.__dict__
        options = {name: mine[name] for name in self._of_learner if name in self._option_names}
        if options.get("gamma") == "scale" and "_gamma" in mine:
            options["gamma"] = mine["_gamma"]
        table.check_values(replaced)
        decided = mine.get("_decided", {})
        return self._learner_class._from_checked(
            self._task, {**self._given, **options, **decided, **replaced}
        )

    def _decide(self, rows: Rows) -> None:
        """What 'auto' means in a `fit` of these rows."""
        mine = self.__dict__
        values = {name: mine[name] for name in table.DECIDED_BY_FIT if mine.get(name) == "auto"}
        several = self.batch_tolerance is None and self.max_iter > 1
        linear = several and self.kernel is None and mine.get("experts") is None  # their words say it
        scales = linear and rows.indptr is None and self.w1 is None and mine.get("geometry") != "entropy"
        decided = {
            "average": linear,
            "scaling": "online" if scales else None,
            "threshold": "lenient" if several else "learned",
        }
        self._decided = {name: decided[name] for name in values}

    def _fitted(self) -> Learner:
        learner: Learner | None = self.__dict__.get("_learner")
        if learner is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit', 'partial_fit' or 'learn_one' "
                "with appropriate arguments before using this estimator."
            )
        return learner

    def _saved(self) -> Any:
        """The learner that is saved, with the options of the estimator."""
        learner = self._fitted()
        self._follow(learner)
        return learner

    def set_params(self, **params: Any) -> Self:
        """Sets options, all of them or none. A model that has learned follows them; what it cannot follow is
        rejected by the next learning method (`fit` starts anew)."""
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
        """Reads the signature once per class, not once per model."""
        names: list[str] = super()._get_param_names()
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("_learner") is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _failed_checks(self) -> dict[str, str]:
        """scikit-learn's checks that fail for this estimator, and why. See `hinge.expected_failed_checks`."""
        return {}

    # ---- rows ---------------------------------------------------------------------------------------------

    def _takes_names(self, X: Any) -> bool:
        """Whether X is read by names: a list of events, or a DataFrame if the model has never seen an array."""
        return are_events(X) or (is_frame(X) and "n_features_in_" not in self.__dict__)

    def _scores(self, X: Any) -> npt.NDArray[np.float64]:
        learner = self._fitted()
        return learner.scores(X) if self._takes_names(X) else learner.scores_of(self._rows(X, reset=False))

    def _learn_first(
        self, X: Any, y: Any, sample_weight: npt.ArrayLike | None, classes: Any = None, **attributes: Any
    ) -> Self:
        """The first `partial_fit`."""
        new = self._aside()
        rows = new._first_rows(X, sample_weight)
        learner = new._first_learner(y, rows, classes)
        new._name_features(learner)
        learner.learn_rows(rows, y, sample_weight, grow=False)
        return self._become(new._keep(learner, **attributes))

    def _first_rows(self, X: Any, sample_weight: Any, together: bool = False) -> Rows:
        """The rows of `fit` (`together`), or of the first `partial_fit`."""
        return self._rows(X, reset=True)

    def _first_learner(self, y: Any, rows: Rows, classes: Any) -> Learner:
        """The learner of the first `partial_fit`."""
        learner: Learner = self._new_learner(**self._start_names())
        return learner

    def _learn_as_is(self, X: Any, y: Any) -> bool:
        """Passes a plain array or CSR matrix of the right width to the core. False: X needs the usual checks."""
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
        # At once: an interrupt, or another thread, finds the old model or the new one.
        self.__dict__ = new.__dict__
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
        """Determines the value of gamma='scale', once."""
        self.__dict__.pop("_gamma", None)
        if getattr(self, "kernel", None) in ("poly", "rbf") and self.gamma == "scale":
            check_length(rows.arrays[0], "X")
            self._gamma = supports.scaled_gamma(rows)

    def _read_events(self, events: Any) -> Rows:
        """Events for `fit` and the first `partial_fit`. Features get the same names as in `learn_one`."""
        limits = {"hash_bits": self.hash_bits, "max_features": self.max_features}
        reader = Learner._from_checked("regression", limits)
        rows = reader.read_events(events)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self._read_names = reader.feature_names
        self._measure(rows)
        return rows

    def _start_names(self) -> dict[str, Any]:
        """If w1 is a dict: its values in the order of the columns of X."""
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
        """Calls `learn` with the learner, after it has followed changes of options. The first call makes it."""
        learner = self._current()
        if learner is not None:
            learn(learner)
            return self
        with _FIRST:  # one of several threads creates the learner
            learner = self._current()
            if learner is not None:
                learn(learner)
                return self
            begun = self._begun()
            learn(begun["learner"])  # if this is rejected, nothing is kept
            return self._keep(**begun)

    def learn_many(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """The rounds of a list of dicts, a DataFrame, an array or a CSR matrix: all of them, or none."""
        return self._learn(lambda learner: learner.learn_many(X, y, sample_weight))

    def _begun(self) -> dict[str, Any]:
        """The learner of a new stream, and the attributes that come with it."""
        self._check_options()
        return {"learner": self._new_learner()}

    def _asked(self) -> Learner:
        """The learner that predicts. Before the first event it is a new one, which is not kept: classes and options may
        still be given."""
        learner: Learner | None = self.__dict__.get("_learner")
        return self._begun()["learner"] if learner is None else learner

    def score_one(self, x: dict[Any, Any]) -> Any:
        """The score of the features `x`: the decision function of one event. Many labels: a dict of scores."""
        return self._asked().score_one(x)

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """Predicts for the features `x`, a dict of names and values. Never learns."""
        try:
            learner = self._learner
        except AttributeError:
            learner = self._asked()
        return learner.predict_one(x)

    def explain_one(self, x: dict[Any, Any], label: Any = None) -> list[Contribution]:
        """What each feature of `x` contributed to its score (of many labels to that of `label`), largest first."""
        return self._asked().explain_one(x, label)

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
            parts = for_each(lambda x: self.explain_one(x, label), events)
        else:
            parts = explain.of_rows(learner, self._rows(X, reset=False), label)
        return explain.as_frame(parts, range(len(parts)) if index is None else index)

    def uncertainty_one(self, x: dict[Any, Any]) -> float:
        """x'Sx: how unsure the model is in the direction of the features `x` (geometries with a covariance)."""
        return self._asked().uncertainty_one(x)

    def uncertainty(self, X: Any) -> npt.NDArray[np.float64]:
        """x'Sx of each row: how unsure the model is in its direction (geometries with a covariance)."""
        learner = self._fitted()
        check_has_covariance(learner)
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
        """With a kernel: the supports, one row each; an array, or a CSR matrix if they came sparse."""
        return self._fitted().support_vectors

    @property
    def dual_coef_(self) -> npt.NDArray[np.float64]:
        """With a kernel: the coefficients of the supports, (1, n_support_), or one row per label."""
        return np.atleast_2d(self._fitted().dual_coef)

    def named_weights(self) -> dict[Any, Any]:
        """The weights by the names of their features; many labels: for each label."""
        return self._fitted().named_weights()

    @property
    def n_ignored_(self) -> int:
        """How often a feature was left out because it was new, and there were `max_features` already."""
        return self._fitted().n_ignored

    @property
    def experts_(self) -> Experts:
        """The experts of a committee, as a table: the weight of each in the vote, its error so far, its statistics."""
        return self._fitted().experts

    def leader(self) -> Any:
        """The expert of a committee that has the largest weight, as an estimator of its own: one learner, which
        continues by itself and has its own certificate."""
        learner = self._fitted().leader()
        plain = self._class_of_leader()
        mine = {name: value for name, value in self.get_params(deep=False).items() if name not in OF_EXPERT}
        options = {**learner.parameters, **mine}
        alone = plain(**{name: options[name] for name in plain._option_names if name in options})
        kept = {name: self.__dict__[name] for name in alone._kept if name in self.__dict__}
        return alone._keep(learner, **kept)

    def _class_of_leader(self) -> Any:
        module, name = TASKS[self._task].estimator
        return getattr(importlib.import_module(f"..{module}", __package__), name)

    @property
    def stats_(self) -> Statistics:
        """Rounds, mistakes, updates, cumulative loss and squared loss, largest q, progress."""
        return self._fitted().statistics

    def certificate(self, X: Any = None, y: Any = None, u: Any = None, intercept: Any = None) -> Certificate:
        """What was suffered on the rows of X, learned once in their order (`partial_fit`, or `fit` with max_iter=1 and
        shuffle=False), and what was guaranteed against the comparator `u`, or against some that are found. A committee
        needs no data: what is guaranteed relative to its experts was observed."""
        return self._fitted().certificate(X, y, u, intercept)
