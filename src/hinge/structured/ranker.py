"""PARanker: single-prototype ranking, one w for all labels and features phi(x, r) for each of them."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from ..data.errors import InputError, for_each, in_row
from ..data.events import as_list
from ..data.label_arrays import in_array
from ..data.labels import Labels, in_order, plain
from ..data.rows import as_numbers
from ..data.shown import shown
from ..data.target_arrays import class_list
from ..data.weights import warn_if_ineffective
from ..estimators.base import _FIRST, StreamEstimator
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
from .feature_maps import ClassTfIdf, EmailFeatures, FeatureMap, checked_features, pack, unpack

if TYPE_CHECKING:
    from ..data.types import Doubles
    from ..options.types import PARankerOptions
    from ..theory.certificate import Certificate

_MAPS: dict[str, type[ClassTfIdf] | type[EmailFeatures]] = {"tfidf": ClassTfIdf, "email": EmailFeatures}
_BY_NAME = {kind.__name__: kind for kind in _MAPS.values()}


@constructor("PARanker")
class PARanker(ClassifierMixin, StreamEstimator):
    """Single-prototype label ranking with class-dependent features (J06 section 7, S06 section 6).

    The score of label r is w.phi(x, r), with one w for all labels: what is learned of one label serves the others,
    and those that are still to come. X is a list of what the map takes: texts, for the two that come with it. y is a
    label for each, or a set of labels; every relevant label should score higher than every other one.

    The map counts what it has seen, so the order of the examples matters, and an example is never scored with its
    own counts. Therefore `fit`, which starts afresh, makes one pass in the order of the rows. In further passes
    (`max_iter`) the counts are those of the first pass; a pass that has changed nothing is the last
    one. Examples without weight are not counted.

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

    A folder that is new, after one message in it (the weights were learned from the other folders):

    >>> model = model.learn_one("Flight to Houston", "travel")
    >>> model.predict_one("Flight on Monday")
    'travel'
    """

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C", "margin")
    _task: ClassVar[str] = "prototype"
    _kept: ClassVar[tuple[str, ...]] = ("n_iter_",)

    def __init__(self, C: float = table.default("C"), **options: Unpack[PARankerOptions]) -> None: ...

    # ---- the learner and the map inside ---------------------------------------------------------------------

    def _new_learner(self, **replaced: Any) -> Learner:
        if self.w1 is not None and not isinstance(self.w1, Mapping):
            raise ValueError(f"w1 must be a dict of named weights: the features have names; not {self.w1!r}")
        return super()._new_learner(**replaced)

    def _new_map(self) -> FeatureMap:
        """The map to be fed: a copy, so that the one that was given stays what it is."""
        if isinstance(self.features, str):
            return _MAPS[self.features](max_features=int(self.max_features))
        kind = type(self.features)
        if kind.learned is not FeatureMap.learned and kind.state is FeatureMap.state:
            raise ValueError(
                f"{kind.__name__} has `learned`, so it must have `state` and `restore` too: what it has learned is "
                "kept in files, and taken back when a round is refused"
            )
        return copy.deepcopy(self.features)

    def _begun(self) -> dict[str, Any]:
        return {**super()._begun(), "feature_map_": self._new_map()}

    def _asked_with_map(self) -> tuple[Learner, FeatureMap]:
        """What predicts; before the first example a learner and a map that nobody keeps."""
        mine = self.__dict__
        if mine.get("_learner") is not None:
            return mine["_learner"], mine["feature_map_"]
        begun = self._begun()
        return begun["learner"], begun["feature_map_"]

    # ---- learn ----------------------------------------------------------------------------------------------

    def learn_one(self, x: Any, y: Any, weight: float = 1.0) -> Self:
        """One round: the example `x`, and its true label `y` (or the set of them, which may be new)."""
        relevant, weight = _relevant(y), _checked_weight(weight)
        return self._rank(
            lambda learner, feature_map: self._round(learner, feature_map, x, relevant, weight), several=False
        )

    def learn_many(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """The rounds of a list of examples: all of them, or none. New labels are welcome, as in `learn_one`."""
        batch = _Batch(X, y, sample_weight)
        return self._rank(
            lambda learner, feature_map: self._pass(learner, feature_map, batch), several=len(batch.X) > 1
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
                order = random.permutation(len(batch.X)).tolist() if self.shuffle else None
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
        """One pass over the examples in their order. `classes`: all labels, needed in the first call; others are
        refused here (`learn_one` and `learn_many` welcome them)."""
        batch = _Batch(X, y, sample_weight)
        learner = self._current()
        if learner is None:
            self._check_options()
            known = classes if self.classes is None else self.classes
            if known is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            learner, feature_map = self._begin(class_list(known)), self._new_map()
            self._pass(learner, feature_map, batch, grow=False)
            return self._keep(learner, feature_map_=feature_map)
        self._check_same_classes(classes)
        return self._rank(
            lambda learner, feature_map: self._pass(learner, feature_map, batch, grow=False),
            several=len(batch.X) > 1,
        )

    def _begin(self, labels: Sequence[Any]) -> Learner:
        if isinstance(self.cost, Mapping) and self.classes is None:  # it may name more than the data has
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
        for row in range(len(batch.X)) if order is None else order:
            try:
                relevant, weight = batch.relevant[row], batch.weights[row]
                unknown = [label for label in relevant if label not in learner.labels.codes]
                if unknown and weight and not grow:
                    listed = learner.labels.listed()
                    raise InputError(f"the label {unknown[0]!r} is not one of the classes {listed}")
                self._round(learner, feature_map, batch.X[row], relevant, weight, counts)
            except InputError as error:
                error.row = row
                raise
            except ValueError as error:  # of a custom map
                raise InputError(str(error), row) from error
            except Exception as error:
                error.add_note(f"row {row}")
                raise

    def _round(
        self,
        learner: Learner,
        feature_map: FeatureMap,
        x: Any,
        relevant: list[Any],
        weight: float,
        counts: bool = True,
    ) -> None:
        """The map says phi(x, r), the learner moves, the map counts. (It counts first: it can be taken back.)"""
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
        """Rounds with the learner and the map of the stream, which begin with the first of them."""
        learner = self._current()
        if learner is not None:
            self._all_or_none(learner, self.feature_map_, run, several)
            return self
        with _FIRST:
            learner = self._current()
            if learner is not None:
                self._all_or_none(learner, self.feature_map_, run, several)
                return self
            begun = self._begun()
            run(begun["learner"], begun["feature_map_"])  # what is rejected is not a beginning
            return self._keep(**begun)

    def _all_or_none(
        self,
        learner: Learner,
        feature_map: FeatureMap,
        run: Callable[[Learner, FeatureMap], None],
        several: bool,
    ) -> None:
        """What is rejected leaves no trace: not in w, not in the labels, not in the counts."""
        with learner._lock:
            labels, rounds = learner.labels, learner._engine.statistics()[0]
            state = learner._engine.state() if several else None  # one round of the core is all or nothing
            before = feature_map.begin()
            try:
                run(learner, feature_map)
            except BaseException:
                if several or learner._engine.statistics()[0] == rounds:
                    _go_back(learner, labels, state)
                    feature_map.rollback(before)
                else:  # an interrupt right after the round
                    feature_map.commit(before)
                raise
            feature_map.commit(before)

    # ---- predict ----------------------------------------------------------------------------------------------

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
        """What `explain_one` says of each example, as a pandas DataFrame with one line per example and feature."""
        told = for_each(lambda x: self.explain_one(x, label), as_list(X, "X", "of examples"))
        return explain.as_frame(told, range(len(told)))

    def explain_one(self, x: Any, label: Any = None) -> list[Contribution]:
        """What each feature contributed to the score of `label` (of the one with the highest), the largest first."""
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
                try:
                    scores[row] = _scores_one(learner, self.feature_map_, x)
                except InputError as error:
                    error.row = row
                    raise
                except ValueError as error:  # of a custom map
                    raise InputError(str(error), row) from error
        return scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of the highest score, the first of them."""
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
        """What was suffered on the examples, learned once in their order (`learn_many`, or `fit` as it is), and what
        was guaranteed against `u`, another ranker, or against some that are found. The run is made again."""
        from ..theory.hindsight.rankings import certificate

        return certificate(self, X, y, u)

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of the columns of `decision_function`."""
        return in_array(self._fitted().labels.known)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    # ---- files --------------------------------------------------------------------------------------------------

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        with self._fitted()._lock:
            header, tensors = super().to_parts()
            pack("map", self.feature_map_, tensors)
        if not isinstance(self.features, str):
            pack("features", self.features, tensors)
        header["map"] = {
            "kind": type(self.feature_map_).__name__,
            "given": self.features if isinstance(self.features, str) else None,
            "options": _options(self.feature_map_),
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
        feature_map = _map_of(header["map"], functions.get("features"))
        given: str | FeatureMap | None = header["map"]["given"]
        if given is None:
            given = copy.deepcopy(feature_map)
            given.restore(unpack("features", tensors))
        feature_map.restore(unpack("map", tensors))
        estimator = super().from_parts(header, tensors)
        estimator.features = given
        estimator._check_options()
        return estimator._keep(estimator._learner, feature_map_=feature_map)

    @classmethod
    def load(cls, path: str | os.PathLike[str], features: FeatureMap | None = None) -> Self:
        """As `hinge.load`, for a model whose map or tokenizer is code of one's own: `features` is such a map, as it
        was given to the constructor; what it has counted comes from the file."""
        return cls._load_file(path, {} if features is None else {"features": features})


class _Batch:
    """Examples, the labels of each, and the weight of each."""

    def __init__(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        self.X = as_list(X, "X", "of examples")
        if y is None:
            raise ValueError("PARanker requires y to be passed, but the target y is None.")
        if isinstance(y, (str, bytes, Mapping)) or getattr(y, "ndim", 1) != 1:
            raise ValueError("y must have a label, or a set of labels, for each example")
        labels = as_list(y, "y", "of labels, or sets of labels, one per example")
        if len(labels) != len(self.X):
            raise ValueError(f"y has {len(labels)} entries for {len(self.X)} examples")
        self.relevant: list[list[Any]] = []
        for row, label in enumerate(labels):
            try:
                self.relevant.append(_relevant(label))
            except ValueError as error:
                raise in_row(error, row) from None
        weights = (
            np.ones(len(labels)) if sample_weight is None else as_numbers(sample_weight, "sample_weight")
        )
        if len(weights) != len(labels):
            raise ValueError(f"sample_weight has {len(weights)} entries for {len(labels)} examples")
        self.weights = [_checked_weight(weight) for weight in weights.tolist()]


def _scores_one(learner: Learner, feature_map: FeatureMap, x: Any) -> Doubles:
    return score_block(learner, *checked_features(feature_map, x, learner.labels.known))


def _relevant(y: Any) -> list[Any]:
    """The relevant labels: one, or those of a set, in a fixed order, though a set has none."""
    if isinstance(y, np.ndarray):
        y = y.tolist()
    if not isinstance(y, (set, frozenset, list, tuple)):
        return [plain(y)]
    return sorted({plain(label) for label in y}, key=lambda label: (str(type(label)), label))


def _checked_weight(weight: Any) -> float:
    try:
        number = float(weight)
    except (TypeError, ValueError, ArithmeticError):
        raise ValueError(f"the sample weight must be a number, not {shown(weight)}") from None
    if not 0 <= number < np.inf:
        raise ValueError(f"the sample weight is {number}; it must be 0 or more, and finite")
    return number


def _options(feature_map: FeatureMap) -> dict[str, Any] | None:
    """What a file keeps of a map that comes with hinge; None if there is code that it cannot keep."""
    if type(feature_map) is not ClassTfIdf and type(feature_map) is not EmailFeatures:
        return None
    options = feature_map.options()
    if options["tokenizer"] is not None:
        return None
    return encoding.encoded(options, {})


def _map_of(said: dict[str, Any], given: FeatureMap | None) -> FeatureMap:
    """A map of the kind that a file names: made anew, or a copy of the one that is given."""
    kind = said["kind"]
    if given is not None:
        if type(given).__name__ != kind:
            raise ValueError(f"the model was saved with the feature map {kind}, not {given!r}")
        return copy.deepcopy(given)
    if said["options"] is None:
        raise ValueError(
            f"its feature map, {kind}, is code of your own (or has a tokenizer that is), which no file holds: use "
            f"PARanker.load(path, features={kind}(...))"
        )
    return _BY_NAME[kind](**encoding.decoded(said["options"], {}))


def _go_back(learner: Learner, labels: Labels, state: Any) -> None:
    if state is not None:
        learner._engine = restored(learner, labels, state)
    elif learner.labels is not labels:
        new_labels.set_labels(learner, labels)
