"""PARanker: single-prototype ranking, one w for all labels and features phi(x, r) for each of them."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from ..data.errors import InputError, for_each
from ..data.events import as_list
from ..data.label_arrays import in_array
from ..data.labels import in_order, plain
from ..data.weights import warn_if_ineffective
from ..estimators.base import _FIRST
from ..estimators.passes import History, entry_of
from ..estimators.progress import reporter
from ..learner import Learner
from ..model import encoding, explain, file
from ..model.engine import restored
from ..model.explain import Contribution
from ..options import table
from ..options.constructors import constructor
from ..tasks import new_labels
from ..tasks.prototype import learn_block, score_block
from .base import StructuredEstimator
from .feature_maps import FeatureMap, checked_features
from .feature_maps.files import MAPS, saved_map, saved_options, state_from_tensors, state_to_tensors
from .inputs import Batch, checked_weight

if TYPE_CHECKING:
    from ..data.types import Doubles
    from ..options.types import PARankerOptions
    from ..theory.certificate import Certificate


@constructor("PARanker")
class PARanker(ClassifierMixin, StructuredEstimator):
    """Single-prototype label ranking with class-dependent features (J06 section 7, S06 section 6).

    The score of label r is w.phi(x, r). All labels share one w: what is learned about one label also serves the others,
    and labels that appear later. X is a list of what the feature map reads: texts, for the two maps that hinge
    provides. y has one label, or one set of labels, per example. Every relevant label should score higher than every
    other label.

    The map counts what it has seen. So the order of the examples matters, and an example is never scored with its
    own counts. `fit` therefore makes one pass, in the order of the rows. With `max_iter` > 1, later passes use the
    counts of the first pass; `fit` stops after a pass without updates. Examples of weight 0 are not counted.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import PARanker
    >>> model = PARanker(features="email", selection="simproj")
    >>> mail = [("Lunch on Monday?", "personal"), ("Your invoice is attached", "bills")]
    >>> mail += [("Lunch was great", "personal"), ("The invoice of Monday", "bills")]
    >>> for text, folder in mail:
    ...     model = model.learn_one(text, folder)
    >>> model.predict_one("Invoice attached")
    'bills'

    A new folder works after one message, because the weights were learned from the other folders:

    >>> model = model.learn_one("Flight to Houston", "travel")
    >>> model.predict_one("Flight on Monday")
    'travel'
    """

    _task: ClassVar[str] = "prototype"

    def __init__(self, C: float = table.default("C"), **options: Unpack[PARankerOptions]) -> None: ...

    # ---- the learner and its feature map --------------------------------------------------------------------

    def _new_learner(self, **replaced: Any) -> Learner:
        if self.w1 is not None and not isinstance(self.w1, Mapping):
            raise ValueError(f"w1 must be a dict of named weights: the features have names; not {self.w1!r}")
        return super()._new_learner(**replaced)

    def _new_map(self) -> FeatureMap:
        """The map that learns: a copy of the one that the constructor received."""
        if isinstance(self.features, str):
            return MAPS[self.features](max_features=int(self.max_features))
        kind = type(self.features)
        if kind.learned is not FeatureMap.learned and kind.state is FeatureMap.state:
            raise ValueError(
                f"{kind.__name__} has `learned`, so it must have `state` and `restore`, too: files contain what it has "
                "learned, and rejected rounds are rolled back"
            )
        return copy.deepcopy(self.features)

    def _begun(self) -> dict[str, Any]:
        return {**super()._begun(), "feature_map_": self._new_map()}

    def _asked_with_map(self) -> tuple[Learner, FeatureMap]:
        """The learner and the map for a prediction; before the first example, temporary ones."""
        mine = self.__dict__
        if mine.get("_learner") is not None:
            return mine["_learner"], mine["feature_map_"]
        begun = self._begun()
        return begun["learner"], begun["feature_map_"]

    # ---- learning -------------------------------------------------------------------------------------------

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        """One round: the example `x` and its true label `y`, or the set of its labels. They may be new."""
        relevant, weight = _relevant(y), checked_weight(weight)
        return self._rank(
            lambda learner, feature_map: self._round(learner, feature_map, x, relevant, weight), several=False
        )

    def learn_many(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns a list of examples, all or none of them. Labels may be new, as in `learn_one`."""
        return self._learn_batch(_Batch(X, y, sample_weight))

    def _learn_batch(self, batch: _Batch, grow: bool = True) -> Self:
        return self._rank(
            lambda learner, feature_map: self._pass(learner, feature_map, batch, grow=grow),
            several=batch.count > 1,
        )

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns from scratch, in one pass over the examples in their order (see `max_iter`, `shuffle`)."""
        self._check_options()
        batch = _Batch(X, y, sample_weight)
        labels = in_order({label for relevant in batch.relevant for label in relevant})
        learner = self._begin(labels if self.classes is None else self.classes)
        feature_map, random = self._new_map(), check_random_state(self.random_state)
        history: History = []
        with reporter(self.verbose, self.max_iter) as report:
            for number in range(1, self.max_iter + 1):
                before, began = learner.statistics, time.perf_counter()
                order = random.permutation(batch.count).tolist() if self.shuffle else None
                self._pass(learner, feature_map, batch, order, counts=number == 1)
                history.append(entry_of(before, learner.statistics, time.perf_counter() - began))
                report(history)
                if number > 1 and not history[-1]["updates"]:
                    break
        warn_if_ineffective(learner, sample_weight, stacklevel=3)
        return self._keep(learner, feature_map_=feature_map, n_iter_=number, history_=history)

    def partial_fit(
        self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """One pass over the examples in their order. The first call needs `classes`, all labels; other labels are
        rejected (`learn_one` and `learn_many` accept new labels)."""
        batch = _Batch(X, y, sample_weight)
        if self._current() is None:
            self._check_options()
            learner, feature_map = self._begin(self._first_classes(classes)), self._new_map()
            self._pass(learner, feature_map, batch, grow=False)
            return self._keep(learner, feature_map_=feature_map)
        self._check_same_classes(classes)
        return self._learn_batch(batch, grow=False)

    def _begin(self, labels: Sequence[Any]) -> Learner:
        if (
            isinstance(self.cost, Mapping) and self.classes is None
        ):  # it may name more labels than the data has
            named = [*self.cost, *(label for row in self.cost.values() for label in row)]
            labels = in_order({*labels, *named})
        if len(labels) < 2:
            raise ValueError(
                f"two labels are needed to rank them, the data has only 1 class: {list(labels)!r}"
            )
        learner = self._new_learner(classes=list(labels))
        learner.closed = self.classes is not None or self.cost is not None
        return learner

    def _pass(
        self,
        learner: Learner,
        feature_map: FeatureMap,
        batch: _Batch,
        order: list[int] | None = None,
        counts: bool = True,
        grow: bool = True,
    ) -> None:
        for row in range(batch.count) if order is None else order:
            with _in_row(row):
                relevant, weight = batch.relevant[row], batch.weights[row]
                unknown = [label for label in relevant if label not in learner.labels.codes]
                if unknown and weight and not grow:
                    listed = learner.labels.listed()
                    raise InputError(f"the label {unknown[0]!r} is not one of the classes {listed}")
                self._round(learner, feature_map, batch.X[row], relevant, weight, counts)

    def _round(
        self,
        learner: Learner,
        feature_map: FeatureMap,
        x: Any,
        relevant: list[Any],
        weight: float,
        counts: bool = True,
    ) -> None:
        """Features from the map, a step of the learner, counts in the map. (The map counts before the step, because it
        can be rolled back.)"""
        labels = learner.labels
        fresh = [label for label in relevant if label not in labels.codes] if weight else []
        if self.cost is not None and len(relevant) != 1:
            raise ValueError(f"with a cost each example has one label, not {relevant!r}")
        if fresh:
            labels = labels.with_new(fresh)
            new_labels.check(learner, labels, fresh[-1])
        names, values = checked_features(feature_map, x, labels.known)
        if not weight:
            return
        if counts:
            feature_map.learned(x, relevant)
        if fresh:
            new_labels.set_labels(learner, labels)
        learn_block(learner, names, values, relevant, weight)

    def _rank(self, run: Callable[[Learner, FeatureMap], None], *, several: bool) -> Self:
        """Runs rounds with the learner and the map. The first rounds create both."""
        learner = self._current()
        if learner is None:
            with _FIRST:  # of several threads one begins
                learner = self._current()
                if learner is None:
                    begun = self._begun()
                    run(begun["learner"], begun["feature_map_"])  # if it raises, the model stays unfitted
                    return self._keep(**begun)
        self._all_or_none(learner, self.feature_map_, run, several)
        return self

    def _all_or_none(
        self,
        learner: Learner,
        feature_map: FeatureMap,
        run: Callable[[Learner, FeatureMap], None],
        several: bool,
    ) -> None:
        """Rejected rounds leave no trace in w, in the labels, or in the counts."""
        with learner._lock:
            labels, rounds = learner.labels, learner._engine.statistics()[0]
            state = learner._engine.state() if several else None  # the core rolls back a single round itself
            before = feature_map.begin()
            try:
                run(learner, feature_map)
            except BaseException:
                if several or learner._engine.statistics()[0] == rounds:
                    if state is not None:
                        learner._engine = restored(learner, labels, state)
                    elif learner.labels is not labels:
                        new_labels.set_labels(learner, labels)
                    feature_map.rollback(before)
                else:  # an interrupt right after the round
                    feature_map.commit(before)
                raise
            feature_map.commit(before)

    # ---- predicting -------------------------------------------------------------------------------------------

    def score_one(self, x: Any) -> dict[Any, float]:
        """The score of each label."""
        learner, feature_map = self._asked_with_map()
        with learner._lock:
            scores = _scores_one(learner, feature_map, x)
            return dict(zip(learner.labels.known, scores.tolist(), strict=True))

    def predict_one(self, x: Any) -> Any:
        """The label with the highest score (None before the first one). Never learns."""
        learner, feature_map = self._asked_with_map()
        with learner._lock:
            scores = _scores_one(learner, feature_map, x)
            return learner.labels.known[int(scores.argmax())] if len(scores) else None

    def explain(self, X: Any, label: Any = None) -> Any:
        """`explain_one` of each example, as a pandas DataFrame with one line per example and feature."""
        parts = for_each(lambda x: self.explain_one(x, label), as_list(X, "X", "of examples"))
        return explain.as_frame(parts, range(len(parts)))

    def explain_one(self, x: Any, label: Any = None) -> list[Contribution]:
        """What each feature contributed to the score of `label` (default: the label with the highest score), the
        largest contribution first."""
        learner, feature_map = self._asked_with_map()
        with learner._lock:
            known = learner.labels.known
            names, values = checked_features(feature_map, x, known)
            if label is not None and learner.labels.code(label) is None:
                raise ValueError(f"the label {label!r} is not one of the labels {learner.labels.listed()}")
            if not known:
                return []
            if label is None:
                label = known[int(score_block(learner, names, values).argmax())]
            event = dict(zip(names, values[known.index(label)].tolist(), strict=True))
            parts = explain.of_product(learner._engine.look_up(event, 0, learner.averaged), None)
        return sorted(parts, key=lambda part: -abs(part.contribution))

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The score of each label, (n, n_labels): the ranking. (Two labels have two columns, too.)"""
        learner, examples = self._fitted(), as_list(X, "X", "of examples")
        with learner._lock:
            scores = np.empty((len(examples), len(learner.labels.known)))
            for row, x in enumerate(examples):
                with _in_row(row):
                    scores[row] = _scores_one(learner, self.feature_map_, x)
        return scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label with the highest score for each example; of equal ones the first."""
        labels: npt.NDArray[Any] = self.classes_[self.decision_function(X).argmax(axis=1)]
        return labels

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """How often the label with the highest score is the true one, or one of the relevant ones."""
        batch = _Batch(X, y, sample_weight)
        known = self._fitted().labels.known
        tops = self.decision_function(batch.X).argmax(axis=1).tolist()
        hits = [known[top] in relevant for top, relevant in zip(tops, batch.relevant, strict=True)]
        return float(np.average(hits, weights=batch.weights))

    def certificate(self, X: Any, y: Any, u: PARanker | None = None) -> Certificate:  # type: ignore[override]
        """The loss on the examples, learned once in their order (`learn_many`, or `fit` with the defaults), and the
        bound that the theorems guarantee against the ranker `u`. None: comparators are fitted. Repeats the run."""
        from ..theory.hindsight.rankings import certificate

        return certificate(self, X, y, u)

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of the columns of `decision_function`."""
        return in_array(self._fitted().labels.known)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags

    # ---- files --------------------------------------------------------------------------------------------------

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        with self._fitted()._lock:
            header, tensors = super().to_parts()
            state_to_tensors("map", self.feature_map_, tensors)
        if not isinstance(self.features, str):
            state_to_tensors("features", self.features, tensors)
        header["map"] = {
            "kind": type(self.feature_map_).__name__,
            "given": self.features if isinstance(self.features, str) else None,
            "options": saved_options(self.feature_map_),
        }
        return header, tensors

    @classmethod
    def _file_parameters(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in given.items() if name != "features"}

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        feature_map = saved_map(header["map"], functions.get("features"))
        given: str | FeatureMap | None = header["map"]["given"]
        if given is None:
            given = copy.deepcopy(feature_map)
            given.restore(state_from_tensors("features", tensors))
        feature_map.restore(state_from_tensors("map", tensors))
        estimator = super().from_parts(header, tensors)
        estimator.features = given
        estimator._check_options()
        return estimator._keep(estimator._learner, feature_map_=feature_map)

    @classmethod
    def load(cls, path: str | os.PathLike[str], features: FeatureMap | None = None) -> Self:
        """Like `hinge.load`, for a model whose map or tokenizer is custom code: `features` is a map that was made as
        for the constructor. Its counts come from the file."""
        return cls._load_file(path, {} if features is None else {"features": features})


class _Batch(Batch):
    """Examples, the relevant labels of each, and the weight of each."""

    def __init__(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        if y is None:
            raise ValueError("PARanker requires y to be passed, but the target y is None.")
        if isinstance(y, (str, bytes, Mapping)) or getattr(y, "ndim", 1) != 1:
            raise ValueError("y must have a label, or a set of labels, for each example")
        super().__init__(X, y, sample_weight, "of examples", "of labels, or sets of labels, one per example")
        self.relevant: list[list[Any]] = []
        for row, labels in enumerate(self.y):
            with _in_row(row):
                self.relevant.append(_relevant(labels))


@contextmanager
def _in_row(row: int) -> Iterator[None]:
    """Adds the row to errors of an example, also to those of a custom map."""
    try:
        yield
    except InputError as error:
        error.row = row
        raise
    except ValueError as error:
        raise InputError(str(error), row) from error
    except Exception as error:
        error.add_note(f"row {row}")
        raise


def _scores_one(learner: Learner, feature_map: FeatureMap, x: Any) -> Doubles:
    return score_block(learner, *checked_features(feature_map, x, learner.labels.known))


def _relevant(y: Any) -> list[Any]:
    """The relevant labels of an example: a single one, or those of a set, sorted."""
    if isinstance(y, np.ndarray):
        y = y.tolist()
    if not isinstance(y, (set, frozenset, list, tuple)):
        return [plain(y)]
    return sorted({plain(label) for label in y}, key=lambda label: (str(type(label)), label))
