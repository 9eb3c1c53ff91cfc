"""PAStructured: outputs of any structure, with custom features, search and cost (J06 section 9)."""

from __future__ import annotations

import contextlib
import copy
import math
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from ..data.errors import InputError, for_each, in_row
from ..data.events import as_list
from ..data.weights import warn_if_ineffective
from ..estimators.base import _FIRST
from ..model import explain
from ..model.explain import Contribution
from ..options import table
from ..options.constructors import constructor
from .base import StructuredEstimator
from .inputs import FUNCTIONS, Batch, checked_weight
from .structured_learner import Joint, StructuredLearner
from .structured_learner import NamedWeights as NamedWeights

if TYPE_CHECKING:
    from ..options.types import PAStructuredOptions
    from ..theory.certificate import Certificate

_Result = TypeVar("_Result")


@constructor("PAStructured")
class PAStructured(StructuredEstimator):
    """Structured output (J06 section 9): you supply features, a search and a cost; the model learns w.

    The score of an output y of the input x is w.Phi(x, y). A round searches for yhat, the output with the highest
    score, computes its cost, and moves w just so far that y leads yhat by the margin sqrt(cost). Inputs and outputs may
    be any objects: only your functions read them.

    Parameters
    ----------
    {parameters}

    Notes
    -----
    Before the first round not even the length of w is known, so `predict_one` raises NotFittedError. `stats_` sums the
    costs of the predictions that the rounds made before they learned.

    While your functions run they may read the model (other threads wait), but they must not teach it. If one of them
    raises, the exception reaches the caller with a note, and the model is unchanged, even in the middle of `fit` or
    `learn_many`. (For this `learn_many` and `partial_fit` copy w: a few large batches are faster than many small ones.)

    Examples
    --------
    Which candidate is right? Each one is a dict of features. The output is the index of the right one.

    >>> from hinge import PAStructured
    >>> def joint_features(candidates, place):
    ...     return candidates[place]
    >>> def argmax(w, candidates):
    ...     return max(range(len(candidates)), key=lambda place: w.dot(candidates[place]))
    >>> def cost(y, predicted):
    ...     return y != predicted
    >>> model = PAStructured(joint_features, argmax, cost)
    >>> X = [[{"length": 3, "verb": 0}, {"length": 2, "verb": 1}], [{"length": 1, "verb": 1}, {"length": 4, "verb": 0}]]
    >>> model.fit(X, [1, 0]).predict([[{"length": 2}, {"length": 2, "verb": 1}]])
    [1]
    >>> model.named_weights()
    {'length': -0.5, 'verb': 0.5}
    """

    _live: ClassVar[tuple[str, ...]] = FUNCTIONS
    _task: ClassVar[str] = "structured"
    _learner: StructuredLearner
    _learner_class: ClassVar[Any] = StructuredLearner
    _of_learner: ClassVar[tuple[str, ...]] = tuple(name for name in table.OF_LEARNER if name not in FUNCTIONS)

    def __init__(
        self,
        joint_features: Callable[[Any, Any], Any],
        argmax: Callable[[Any, Any], Any],
        cost: Callable[[Any, Any], float],
        loss_augmented_argmax: Callable[[Any, Any, Any], Any] | None = None,
        **options: Unpack[PAStructuredOptions],
    ) -> None: ...

    # ---- the learner inside ---------------------------------------------------------------------------------

    def _check_options(self) -> None:
        super()._check_options()
        given = self.loss_augmented_argmax is not None
        if self.selection == "prediction" and given:
            raise ValueError(
                "selection='prediction' does not use loss_augmented_argmax: choose 'max', if it finds the largest "
                "w.Phi + margin * sqrt(cost), or 'max-additive', if the largest w.Phi + margin * cost; or leave it out"
            )
        if self.selection != "prediction" and not given:
            raise ValueError(f"selection={self.selection!r} needs loss_augmented_argmax")

    def _fitted(self) -> StructuredLearner:
        learner = super()._fitted()
        if not self.__sklearn_is_fitted__():  # another thread is in the middle of the first round
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet.")
        assert isinstance(learner, StructuredLearner)
        return learner

    def __sklearn_is_fitted__(self) -> bool:
        learner = self.__dict__.get("_learner")
        return learner is not None and learner.features is not None

    def _teach(self, run: Callable[[StructuredLearner], None], *, several: bool) -> Self:
        """Runs rounds with the learner, which other threads cannot use meanwhile. Rejected rounds leave no trace."""
        _check_outside(self)
        try:
            while not self._taught(run, several):
                pass  # meanwhile another thread has fitted the model, or failed in the first round
        finally:
            self._drop_if_not_begun()  # after an error, or without an example of weight above 0
        return self

    def _taught(self, run: Callable[[StructuredLearner], None], several: bool) -> bool:
        if self.__dict__.get("_learner") is None:
            # The learner exists before the first round, so that other threads can wait for its lock.
            new = self._begun()["learner"]
            with _FIRST:
                if self.__dict__.get("_learner") is None:
                    self._keep(new)
        learner = self._current()
        if learner is None:
            return False
        with learner._lock:
            if not self._learns_with(learner):
                return False
            self._all_or_none(learner, run, several)
        return True

    def _learns_with(self, learner: Any) -> bool:
        return self.__dict__.get("_learner") is learner

    def _drop_if_not_begun(self) -> None:
        learner: Any = self.__dict__.get("_learner")
        if learner is None or learner.features is not None:
            return
        with learner._lock:
            if self._learns_with(learner) and learner.features is None:
                for name in ("_ready", "_learner", "_used"):
                    self.__dict__.pop(name, None)

    def _all_or_none(
        self, learner: StructuredLearner, run: Callable[[StructuredLearner], None], several: bool
    ) -> None:
        begun = learner.features is not None
        state = (
            learner._engine.state() if begun and several else None
        )  # the core rolls back a single round itself
        try:
            _inside(self, lambda: run(learner))
        except BaseException:
            if state is not None:
                learner.go_back(state)
            elif several:
                learner.features = None
            raise

    def _read(self, run: Callable[[StructuredLearner], _Result]) -> _Result:
        """Reads the learner while it calls custom functions."""
        learner = self._fitted()
        with learner._lock:
            return _inside(self, lambda: run(learner))

    # ---- custom functions -----------------------------------------------------------------------------------

    def _call(self, name: str, row: int | None, *arguments: Any) -> Any:
        try:
            return getattr(self, name)(*arguments)
        except Exception as error:
            error.add_note(f"It was raised in {name}" + ("." if row is None else f", for example {row}."))
            raise

    def _features(
        self, learner: StructuredLearner, row: int | None, x: Any, y: Any, like: Joint | None = None
    ) -> Joint:
        given = self._call("joint_features", row, x, y)
        try:
            return learner.read(given, like)
        except ValueError as error:
            raise in_row(error, row) from None

    def _cost(self, row: int | None, y: Any, predicted: Any) -> float:
        given = self._call("cost", row, y, predicted)
        number = math.nan
        if not isinstance(given, (str, bytes, bytearray)) and getattr(given, "ndim", 0) == 0:
            with contextlib.suppress(TypeError, ValueError, OverflowError):
                number = float(given)
        if not 0 <= number < math.inf:
            raise InputError(
                f"cost must return a finite number, 0 or more, not {given!r:.100}, "
                f"of {y!r:.100} and {predicted!r:.100}",
                row,
            )
        return number

    def _round(self, learner: StructuredLearner, row: int | None, x: Any, y: Any, weight: float) -> None:
        """S10, with outputs instead of labels. An example of weight 0 is skipped."""
        if weight == 0:
            return
        selection, margin = learner.parameters["selection"], float(learner.parameters["margin"])
        truth = self._features(learner, row, x, y)
        w = learner.view(False, truth)
        predicted = self._call("argmax", row, w, x)
        cost = self._cost(row, y, predicted)
        competitor, its_cost = predicted, cost
        if selection != "prediction":
            competitor = self._call("loss_augmented_argmax", row, w, x, y)
            its_cost = self._cost(row, y, competitor)
        rival = self._features(learner, row, x, competitor, truth)
        wanted = margin * (its_cost if selection == "max-additive" else math.sqrt(its_cost))
        try:
            learner.learn_constraint(truth, rival, wanted, weight, cost)
        except ValueError as error:
            raise in_row(error, row) from None

    def _pass(self, learner: StructuredLearner, batch: Batch, order: Any = None) -> None:
        for row in range(batch.count) if order is None else order.tolist():
            self._round(learner, row, batch.X[row], batch.y[row], batch.weights[row])

    # ---- learning -------------------------------------------------------------------------------------------

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        """One round: the input `x` and its true output `y`. A weight of 0 changes nothing; others scale C."""
        weight = checked_weight(weight)
        return self._teach(lambda learner: self._round(learner, None, x, y, weight), several=False)

    def learn_many(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns a list of examples in their order, all or none of them."""
        batch = Batch(X, y, sample_weight)
        return self._teach(lambda learner: self._pass(learner, batch), several=batch.count > 1)

    def partial_fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """The same as `learn_many`."""
        return self.learn_many(X, y, sample_weight)

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns from scratch, in up to `max_iter` passes over the examples. Stops after a pass without updates."""
        _check_outside(self)
        batch = Batch(X, y, sample_weight)
        if not any(batch.weights):
            raise ValueError("there are no examples to learn from")
        learner = self._begun()["learner"]
        lesson: Any = _Lesson(self, learner)
        held = self._hold_back(batch.X, batch.y, batch.weights, batch.count)
        lesson, history = _inside(self, lambda: self._pass_over(lesson, batch, None, None, held))
        warn_if_ineffective(lesson.learner, sample_weight, stacklevel=3)
        return self._keep(lesson.learner, n_iter_=len(history), history_=history)

    # ---- predicting -----------------------------------------------------------------------------------------

    def predict_one(self, x: Any) -> Any:
        """argmax(w, x). Never learns."""
        return self._read(lambda learner: self._call("argmax", None, learner.view(learner.averaged), x))

    def predict(self, X: Any) -> list[Any]:
        """argmax(w, x) of each input."""
        inputs = as_list(X, "X", "of inputs")

        def run(learner: StructuredLearner) -> list[Any]:
            w = learner.view(learner.averaged)
            return [self._call("argmax", row, w, x) for row, x in enumerate(inputs)]

        return self._read(run)

    def score_one(self, x: Any, y: Any) -> float:  # type: ignore[override]
        """w.Phi(x, y): the score of the output `y`."""
        return self._read(lambda learner: learner.score_joint(self._features(learner, None, x, y)))

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """Minus the mean cost of the predictions: 0 is the best, and larger is better."""
        batch = Batch(X, y, sample_weight)
        if not any(batch.weights):
            raise ValueError("there are no examples to score")

        def run(learner: StructuredLearner) -> list[float]:
            w = learner.view(learner.averaged)
            return [
                self._cost(row, truth, self._call("argmax", row, w, x)) if weight else 0.0
                for row, (x, truth, weight) in enumerate(zip(batch.X, batch.y, batch.weights, strict=True))
            ]

        return 0.0 - float(np.average(self._read(run), weights=batch.weights))

    def explain(self, X: Any, y: Any = None) -> Any:
        """`explain_one` of each input, as a pandas DataFrame with one line per input and feature. `y` lists the outputs
        whose scores are explained (default: the predicted ones)."""
        inputs = as_list(X, "X", "of inputs")
        outputs = [None] * len(inputs) if y is None else as_list(y, "y", "of outputs")
        parts = for_each(lambda pair: self.explain_one(*pair), zip(inputs, outputs, strict=True))
        return explain.as_frame(parts, range(len(parts)))

    def explain_one(self, x: Any, y: Any = None) -> list[Contribution]:
        """What each feature contributed to the score of the output `y` (default: the predicted one), the largest
        contribution first."""
        return self._read(lambda learner: learner.explain_joint(self._joint(learner, x, y)))

    def uncertainty_one(self, x: Any, y: Any = None) -> float:
        """Phi'S Phi of the output `y` (default: the predicted one): the variance of its score (geometries with a
        covariance)."""
        return self._read(lambda learner: learner.uncertainty_joint(self._joint(learner, x, y)))

    def uncertainty(self, X: Any, y: Any = None) -> npt.NDArray[np.float64]:
        """`uncertainty_one` of each input and its output in `y` (default: the predicted one)."""
        inputs = as_list(X, "X", "of inputs")
        outputs = [None] * len(inputs) if y is None else Batch(inputs, y, None).y
        pairs = list(zip(inputs, outputs, strict=True))
        sizes = self._read(lambda _: for_each(lambda pair: self.uncertainty_one(*pair), pairs))
        return np.asarray(sizes, dtype=np.float64)

    def _joint(self, learner: StructuredLearner, x: Any, y: Any) -> Joint:
        if y is None:
            y = self._call("argmax", None, learner.view(learner.averaged), x)
        return self._features(learner, None, x, y)

    def certificate(self, X: Any, y: Any, u: PAStructured | None = None) -> Certificate:  # type: ignore[override]
        """The loss on the examples, learned once in their order (`learn_many`, or `fit` with max_iter=1 and
        shuffle=False), and the bound that the theorems guarantee against `u`, a model with the same functions. None:
        comparators are fitted. Repeats the run, so the functions must be deterministic."""
        from ..theory.hindsight.structures import certificate

        _check_outside(self)
        return certificate(self, X, y, u)

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """w (the average, if `average`). Named features are in the order of their first occurrence; `named_weights`
        returns their weights by name."""
        return self._fitted().weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    # ---- files ----------------------------------------------------------------------------------------------

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        joint_features: Callable[[Any, Any], Any],
        argmax: Callable[[Any, Any], Any],
        cost: Callable[[Any, Any], float],
        loss_augmented_argmax: Callable[[Any, Any, Any], Any] | None = None,
    ) -> Self:
        """Reads a model that `save` wrote. Files contain no code: pass the functions of the saved model."""
        given = zip(FUNCTIONS, (joint_features, argmax, cost, loss_augmented_argmax), strict=True)
        return cls._load_file(path, {name: function for name, function in given if function is not None})


# ---- calls from custom functions ------------------------------------------------------------------------------

_here = threading.local()  # the models whose functions run in this thread


def _inside(model: PAStructured, run: Callable[[], _Result]) -> _Result:
    models: list[PAStructured] = _here.__dict__.setdefault("models", [])
    depth = len(models)
    try:
        models.append(model)
        result = run()
        del models[depth:]
    except BaseException:  # also an interrupt before the first `del`
        del models[depth:]
        raise
    return result


def _check_outside(model: PAStructured) -> None:
    if any(each is model for each in _here.__dict__.get("models", ())):
        raise RuntimeError("the model is busy: one of its own functions cannot teach it while it runs")


class _Lesson:
    """A learner with the interface that the passes of `fit` need."""

    def __init__(self, model: PAStructured, learner: StructuredLearner) -> None:
        self.model, self.learner = model, learner

    @property
    def statistics(self) -> Any:
        return self.learner.statistics

    def __copy__(self) -> _Lesson:
        return _Lesson(self.model, copy.copy(self.learner))

    def learn_rows(self, batch: Batch, y: Any, sample_weight: Any, *, order: Any, repeats: bool) -> None:
        self.model._pass(self.learner, batch, order)
