"""Labels that come with the stream: what a learner does when there are new ones, and what is asked of them.

A label is known once something was learned from it. Until then, and whenever a batch is refused, the learner is
what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

from .._numpy import np
from ..data import targets
from ..data.errors import InputTypeError
from ..data.labels import Doubles, Indices, Labels, plain
from ..data.shown import shown
from ..data.targets import Encoded
from ..model.supports import beta_of

if TYPE_CHECKING:
    from .._core import Engine
    from ..learner import Learner

Learn = Callable[[slice, Encoded], int]
_Result = TypeVar("_Result")


# ---- what the core must know of labels --------------------------------------------------------------------------


def first_labels(task: str, parameters: Mapping[str, Any]) -> Labels:
    """The labels that are known before the first example."""
    classes, cost = parameters["classes"], parameters["cost"]
    if classes is None and isinstance(cost, Mapping):
        classes = list(dict.fromkeys([*cost, *(label for row in cost.values() for label in row)]))
        if len(classes) < 2:
            raise ValueError(f"cost must name two labels or more, not {classes!r} only")
    if classes is None and cost is not None:
        raise ValueError(
            "a cost matrix needs the labels in order: give classes=[...], or cost as a dict of dicts"
        )
    lanes = task != "classification" or parameters["selection"] != "max" or cost is not None
    labels = Labels(() if classes is None else classes, lanes)
    if len(labels.known) > parameters["max_labels"]:
        raise ValueError(
            f"there are {len(labels.known)} classes, the limit is {parameters['max_labels']} (max_labels)"
        )
    if task == "ordinal" and len(labels.known) < 2:
        raise ValueError(
            "ordinal regression needs its ranks ahead, from the lowest to the highest: give classes=[...]"
        )
    return labels


def engine_options(task: str, parameters: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
    """The settings of the core that concern labels."""
    if task in ("regression", "uniclass"):
        return {}
    cost, selection = parameters["cost"], parameters["selection"]
    sort_thresholds = parameters["sort_thresholds"]
    return {
        "labels": max(1, len(labels.known)),
        "selection": selection,
        "beta": beta_of(parameters),
        "cost": None if cost is None else targets.square_matrix(cost, labels.known, "cost", 0.0).ravel(),
        "nu": nu_of(task, parameters["nu"], labels),
        "learned_threshold": task == "multilabel" and bool(parameters["threshold"] == "learned"),
        "sort_thresholds": selection != "simproj" if sort_thresholds is None else bool(sort_thresholds),
    }


def nu_of(task: str, nu: Any, labels: Labels) -> Doubles | None:
    """The weights of the constraints; of several sets the largest of each (S13.3)."""
    if nu is None:
        return None
    if task == "ordinal":
        if isinstance(nu, Mapping) or np.ndim(nu) not in (1, 2) or np.size(nu) == 0:
            raise ValueError("nu must be a vector with a number for each threshold, or a list of several")
        several = np.atleast_2d(np.asarray(nu, dtype=np.float64))
        if several.shape[-1] != len(labels.known) - 1:
            raise ValueError(f"nu has {several.shape[-1]} entries for {len(labels.known) - 1} thresholds")
        largest: Doubles = several.max(axis=0)
        return largest
    if not labels.known:
        raise ValueError("nu needs the labels in order: give classes=[...]")
    one = isinstance(nu, Mapping) or (np.ndim(nu) < 3 and not isinstance(nu[0], Mapping))
    several = np.asarray(
        [targets.square_matrix(each, labels.known, "nu", 1.0) for each in ([nu] if one else nu)]
    )
    largest = several.max(axis=0).ravel()
    return largest


def check_saved(labels: Labels, first: Labels, limit: int) -> None:
    """Whether the labels of a file are those that a learner can have that began with `first`."""
    if labels.known[: len(first.known)] != first.known or labels.lanes < first.lanes:
        raise ValueError(f"its labels {labels.listed()} are not those of its parameters")
    if len(labels.known) > limit:
        raise ValueError(f"it has {len(labels.known)} labels, the limit is {limit} (max_labels)")


# ---- new labels ---------------------------------------------------------------------------------------------------


def check_new(learner: Learner, labels: Labels, fresh: Any) -> None:
    if learner.closed:
        raise ValueError(f"the label {fresh!r} is not one of the classes {learner.labels.listed()}")
    if learner.parameters["w1"] is not None:
        raise ValueError("with a start vector w1 the labels must be known ahead: give classes=[...]")
    limit = learner.parameters["max_labels"]
    if len(labels.known) > limit:
        raise ValueError(
            f"the label {fresh!r} is new, and the model has {limit} labels, its limit (max_labels)"
        )


def set_labels(learner: Learner, labels: Labels) -> None:
    nu = nu_of(learner.task, learner.parameters["nu"], labels)
    learner._engine.set_labels(max(1, len(labels.known)), nu, labels)


def _grow(learner: Learner, labels: Labels, learn: Callable[[], Any]) -> None:
    """A round of an example that brings new labels: learned and known, or neither.

    Lanes that have not moved are given up again. From one w (two classes) there is no way back from lanes: the
    learner returns to a copy of its state.
    """
    if labels.lanes and not learner.labels.lanes:
        _or_back(learner, lambda: _learn_with(learner, labels, learn))
        return
    before, rounds = learner.labels, learner._engine.statistics()[0]
    try:
        set_labels(learner, labels)
        learn()
    except BaseException:
        if learner._engine.statistics()[0] == rounds:  # else an interrupt came right after the round
            set_labels(learner, before)
        raise


def _learn_with(learner: Learner, labels: Labels, learn: Callable[[], Any]) -> None:
    set_labels(learner, labels)
    learn()


def _or_back(learner: Learner, learn: Callable[[], _Result]) -> _Result:
    """Learns; if that fails, or is interrupted, the learner returns to a copy of its state."""
    before, state = learner.labels, learner._engine.state()

    def copied() -> Engine:
        engine = learner._new_engine(before)
        engine.restore(state)
        return engine

    # A function is asked for the kernel values among the supports: while nothing has changed yet.
    copy = copied() if callable(learner.parameters["kernel"]) else None
    try:
        return learn()
    except BaseException:
        learner._engine = copied() if copy is None else copy
        raise


def check_weight(weight: Any) -> None:
    """The core takes weights that are numbers, and says of others only that they are of another type."""
    try:
        targets.number(weight)
    except ValueError:
        raise InputTypeError(f"the weight must be a number, 0 or more, not {shown(weight)}") from None


def learn_one(learner: Learner, x: dict[Any, Any], y: Any, weight: float) -> None:
    """An event whose label may be new, or is among the first two."""
    label = plain(y)
    check_weight(weight)
    if learner._class_weight is not None:
        weight *= learner._class_weight.get(label, 1.0)
    with learner._lock:
        code = learner.labels.code(label)
        if code is None and not _weighs(weight):
            learner._engine.learn_one(x, 0.0, weight)  # teaches nothing, not even the label; or is refused
        elif code is not None:
            learner._engine.learn_one(x, code, weight)
        else:
            labels = learner.labels.with_new([label])
            check_new(learner, labels, label)
            if labels.lanes:
                learner._engine.learn_one(
                    x, 0.0, 0.0, counts=False
                )  # refuses what must be refused, before anything is changed
                _grow(learner, labels, lambda: learner._engine.learn_one(x, labels.codes[label], weight))
            else:
                _learn_new(learner, label, labels, lambda sign: learner._engine.learn_one(x, sign, weight))


def _weighs(weight: Any) -> bool:
    """Whether an example teaches anything. (numpy's numbers are numbers, too; what is none is rejected by the core.)"""
    return isinstance(weight, Real) and float(weight) > 0


def learn_first(learner: Learner, label: float, learn: Callable[[float], Any]) -> bool:
    """One example of a text, while there are fewer than two classes. False, and nothing is done, if they are more."""
    with learner._lock:
        label, code = plain(label), learner.labels.code(label)
        labels = learner.labels.with_new([label]) if code is None else learner.labels
        if labels.lanes or learner.closed or learner.parameters["w1"] is not None:
            return False
        if code is None:
            check_new(learner, labels, label)
            _learn_new(learner, label, labels, learn)
        else:
            learn(code)
    return True


def _learn_new(learner: Learner, label: Any, labels: Labels, learn: Callable[[float], Any]) -> None:
    """An example of one of the first two classes: one that is alone is negative, the other one is not."""
    sign = 1.0 if learner.labels.known else labels.codes[label]
    _learn_then_adopt(learner, lambda: learn(sign), labels)


def learn_set(learner: Learner, x: dict[Any, Any], y: Any, weight: float) -> None:
    """An event with a set of labels, of which some may be new."""
    its_labels = targets.one_set(y)
    with learner._lock:
        fresh = (
            [label for label in its_labels if label not in learner.labels.codes] if _weighs(weight) else []
        )
        fresh.sort(key=lambda label: (str(type(label)), label))
        labels = learner.labels.with_new(fresh) if fresh else learner.labels
        if fresh:
            check_new(learner, labels, fresh[-1])
            learner._engine.learn_one_labels(x, np.empty(0, dtype=np.int64), 0.0, counts=False)
        known = sorted(int(labels.codes[label]) for label in its_labels if label in labels.codes)
        indices = np.asarray(known, dtype=np.int64)
        if not fresh:
            learner._engine.learn_one_labels(x, indices, weight)
            return
        _grow(learner, labels, lambda: learner._engine.learn_one_labels(x, indices, weight))


def learn_batch(
    learner: Learner,
    y: Any,
    count: int,
    weights: Doubles | None,
    learn: Learn,
    grow: bool = True,
    visits: Indices | None = None,
) -> int:
    """A batch, all or nothing; `learn` learns some of its visits (of all rows, or as given), and takes the targets
    of all rows.

    New labels begin where they come first, as if the examples came one by one: there the batch is cut.
    """
    everything = slice(0, count if visits is None else len(visits))
    if isinstance(y, Encoded):
        return learn(everything, y)
    grow = grow and not learner.closed
    if grow and visits is not None:  # rows that are not visited teach nothing
        weights = _only(visits, np.ones(count) if weights is None else weights)
    fresh = _fresh(learner, y, count, weights, visits) if grow else {}
    if not fresh:
        return learn(everything, encoded(learner.task, learner.labels, y, count, weights if grow else None))
    labels = learner.labels.with_new(list(fresh))
    check_new(learner, labels, next(reversed(fresh)))
    if not labels.lanes:
        signs = labels.codes_of(targets.labels_of(y, count), weights)
        signs = -signs if learner.labels.flips(labels) else signs
        presented: int = _learn_then_adopt(learner, lambda: learn(everything, Encoded(signs)), labels)
        return presented
    codes = encoded(learner.task, labels, y, count, weights)
    if everything.stop == 1 and learner.labels.lanes:  # one round is all or nothing by itself
        presented = 0

        def learn_it() -> None:
            nonlocal presented
            presented = learn(everything, codes)

        _grow(learner, labels, learn_it)
        return presented
    return _or_back(learner, lambda: _learn_in_parts(learner, labels, fresh, codes, everything.stop, learn))


def _learn_in_parts(
    learner: Learner, final: Labels, fresh: dict[Any, int], codes: Encoded, count: int, learn: Learn
) -> int:
    """The codes are those of the final labels, which have their places from the start."""
    presented, cuts = 0, sorted({row for label, row in fresh.items() if label not in final.known[:2]})
    if learner.labels.lanes:
        cuts = sorted(set(fresh.values()))
        presented += learn(slice(0, cuts[0]), codes) if cuts[0] > 0 else 0
    else:  # two classes have one w until a third one comes
        pair = Labels(final.known[:2])
        signs = np.where(np.asarray(codes.y) > 0, 1.0, -1.0)
        signs = -signs if learner.labels.flips(pair) else signs
        presented += learn(slice(0, cuts[0]), Encoded(signs)) if cuts[0] > 0 else 0
        _adopt(learner, pair)
    coming: dict[int, list[Any]] = {row: [] for row in cuts}
    for label in final.known[len(learner.labels.known) :]:
        coming[fresh[label]].append(label)
    known = len(learner.labels.known)
    for row, stop in zip(cuts, [*cuts[1:], count], strict=True):
        known += len(coming[row])
        _make_room(learner, final, known)
        presented += learn(slice(row, stop), codes)
    set_labels(learner, final)
    return presented


def _make_room(learner: Learner, final: Labels, known: int) -> None:
    """For the first so many of the labels, which are named when the batch is learned: to name them one by one would
    cost the square of their number."""
    if learner.parameters["nu"] is None and learner.labels.lanes:
        learner._engine.set_labels(known)
    else:
        set_labels(learner, Labels(final.known[:known], lanes=True))


def encoded(task: str, labels: Labels, y: Any, count: int, weights: Doubles | None) -> Encoded:
    """The targets as the core takes them. Labels that are not known are refused, but in rows without weight."""
    if task == "uniclass":
        return Encoded(None)
    if y is None:
        raise ValueError(f"{task} needs a target: y is None")
    if task in ("regression", "structured"):
        return targets.numbers(y, count)
    if task == "multilabel":
        return targets.LabelSets(y, count, labels).encode(labels, weights)
    return Encoded(*labels.encode(targets.labels_of(y, count), weights))


def _fresh(
    learner: Learner, y: Any, count: int, weights: Doubles | None, visits: Indices | None
) -> dict[Any, int]:
    """The labels that are new, each with the visit where it comes first."""
    if learner.task == "multilabel" and y is not None:
        return targets.LabelSets(y, count, learner.labels).fresh(learner.labels, weights, visits)
    if learner.task != "classification" or y is None:
        return {}
    truth = targets.labels_of(y, count)
    fresh = learner.labels.fresh(truth, weights)
    if not fresh or visits is None:
        return fresh
    return learner.labels.fresh(truth[visits], None if weights is None else weights[visits])


def _only(visits: Indices, weights: Doubles) -> Doubles:
    kept = np.zeros_like(weights)
    kept[visits] = weights[visits]
    return kept


def _learn_then_adopt(learner: Learner, learn: Callable[[], Any], labels: Labels) -> Any:
    """New labels are known once something was learned from them, be it that Ctrl-C came right after."""
    rounds = learner._engine.statistics()[0]

    def adopt() -> None:
        if learner._engine.statistics()[0] != rounds and learner.labels is not labels:
            _adopt(learner, labels)

    try:
        result = learn()
        adopt()
    except BaseException:
        adopt()
        raise
    return result


def _adopt(learner: Learner, labels: Labels) -> None:
    """What was learned from new labels is learned: they are known now, and w is that of their order."""
    learner._engine.name_labels(labels, learner.labels.flips(labels))


# ---- predictions ------------------------------------------------------------------------------------------------


def rank(labels: Labels, y: Any) -> float:
    code = labels.code(plain(y))
    if code is None:
        raise ValueError(f"the rank {y!r} is not one of {labels.listed()}")
    return code


def predicted(learner: Learner, lanes: Doubles) -> Any:
    """The set of labels above the threshold, or the first rank whose threshold is above the score."""
    if learner.task == "ordinal":
        return learner.labels.known[int(ranks_of(lanes[np.newaxis])[0])]
    above = above_threshold(learner, lanes[np.newaxis])[0]
    return {label for label, its in zip(learner.labels.known, above.tolist(), strict=True) if its > 0}


def ranks_of(lanes: Doubles) -> Any:
    """Lane j is w.x - b_j: the rank is the first j with w.x < b_j."""
    below = np.hstack([lanes < 0, np.ones((len(lanes), 1), dtype=bool)])
    return below.argmax(axis=1)


def above_threshold(learner: Learner, lanes: Doubles) -> Doubles:
    """The score of each label less the threshold."""
    threshold, first = learner.parameters["threshold"], learner._beside
    limit: Any = lanes[:, :1] if first else float(threshold)
    above: Doubles = lanes[:, first : first + len(learner.labels.known)] - limit
    return above
