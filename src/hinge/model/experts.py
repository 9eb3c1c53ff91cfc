"""Committees: which experts there are, what they have learned, and one of them as a plain learner.

The experts of a committee are words (cpp/committee/experts.hpp). To add an expert is to add a word here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data.events import as_list
from .statistics import Statistics

if TYPE_CHECKING:
    from ..learner import Learner
    from ..tasks.task import Task

# The experts of `AutoClassifier` and its kin. C = 4^j l/q and r = 16^j q, with l and q of the first round. They were
# chosen by measurement (docs/internals/errors-streams.md): each of these sees the values as they come, and scaled.
_CLASSES = ("pa1:1", "pa1:1:average", "pa1:-1", "pa1:-1:average", "arow:0", "arow:-1", "arow:-4")
_RANKS = (*_CLASSES, "arow:0:average")
DEFAULT = {
    task: " ".join([*words, *(f"scaled:{word}" for word in words)])
    for task, words in {
        "classification": _CLASSES,
        "regression": _CLASSES,
        "ordinal": _RANKS,
        "multilabel": _RANKS,
    }.items()
}

# Defaults of options that a committee has instead of those of one learner: an epsilon of 0.1 is in the units of y,
# which a committee does not know. (It never erred less than 0: docs/internals/errors-streams.md.)
OPTIONS: dict[str, dict[str, Any]] = {"regression": {"epsilon": 0.0}}

# The experts that `fit` begins with: averages, because the last weights of many rounds are a matter of luck.
_LABELS_IN_FIT = ("pa1:-1", "pa1:0", "pa1:1", "arow:0", "arow:-2")
_IN_FIT = {
    "classification": _LABELS_IN_FIT,
    "ordinal": _LABELS_IN_FIT,
    "multilabel": ("pa1:-1", "pa1:0", "arow:0"),
    "regression": ("pa1:-4", "pa1:-3", "pa1:-2", "pa1:-1", "pa1:0"),
}
FIT = {
    task: tuple(f"{scaled}{word}:average" for scaled in ("", "scaled:") for word in words)
    for task, words in _IN_FIT.items()
}

# What "auto" means for one option. A step without an exact lattice has a list.
_PA1_LIST = " ".join(f"pa1:{j}" for j in range(-6, 3))
_PA2_LIST = " ".join(f"pa2:{j}" for j in range(-9, 4))
_AROW_LIST = " ".join(f"arow:{j}" for j in range(1, -4, -1))

_NAMES = {"pa": "PA", "pa1": "PA-I", "pa2": "PA-II", "arow": "AROW"}


def is_several(value: Any) -> bool:
    """Whether an option that is usually a number has several: 'auto', or a list."""
    return isinstance(value, (str, list, tuple))


def words_of(task: Task, parameters: Mapping[str, Any]) -> str:
    """The experts that these options mean; empty: one plain learner."""
    p = parameters
    given = p["experts"]
    if given is not None:
        return DEFAULT[task.options_of] if given == "auto" else " ".join(given)
    if is_several(p["covariance_regularizer"]):
        words = _listed("arow", p["covariance_regularizer"], _AROW_LIST)
    elif is_several(p["C"]):
        step = task.step_of(p)
        words = _listed(step, p["C"], _words_of_auto_C(task, step, p.get("selection", "max")))
    else:
        return ""
    if p.get("scaling") == "online":
        words = " ".join("scaled:" + word for word in words.split())
    return words + " " + " ".join(f"{word}:average" for word in words.split()) if p["average"] else words


def _words_of_auto_C(task: Task, step: str, selection: str) -> str:
    if step == "pa2":
        return _PA2_LIST
    return "lattice" if task.has_exact_lattice and selection == "max" else _PA1_LIST


def _listed(kind: str, value: Any, auto: str) -> str:
    return auto if isinstance(value, str) else " ".join(_word(kind, float(each)) for each in value)


def _word(kind: str, value: float) -> str:
    return "pa" if math.isinf(value) else f"{kind}={value!r}"  # PA-I and PA-II with C = inf are PA


class Expert(NamedTuple):
    """One expert of a committee, as it is now."""

    name: str  # its word
    parameter: float  # C, or r of AROW; inf for PA; 0 before the first round with a loss
    weight: float  # its weight in the vote
    prior: float
    loss: float  # the sum of its losses so far; classification: its mistakes
    telling_loss: float  # that of the rounds on which the experts' losses differed
    constant: float  # the intercept_value
    statistics: Statistics
    error: float  # its progressive error: the mean of its losses

    @property
    def averaged(self) -> bool:
        return self.name.endswith(":average")

    @property
    def scaled(self) -> bool:
        return self.name.startswith("scaled:")

    @property
    def kind(self) -> str:
        """pa, pa1, pa2, arow, or lattice (its ends)."""
        return self.name.removeprefix("scaled:").replace("=", ":").split(":")[0]

    @property
    def family(self) -> str:
        """Its kind without the parameter, in words: AROW on scaled columns."""
        name = "PA-I" if self.kind == "lattice" else _NAMES[self.kind]
        return f"{name}{' averaged' if self.averaged else ''}{' on scaled columns' if self.scaled else ''}"

    @property
    def in_words(self) -> str:
        """AROW, r = 0.25, on scaled columns."""
        name, *parameter = self._name_and_parameter()
        parts = [name, *parameter, *["averaged"] * self.averaged, *["on scaled columns"] * self.scaled]
        return ", ".join(parts)

    def _name_and_parameter(self) -> list[str]:
        """The ends of the lattice stand for every C beyond them."""
        if self.kind == "pa" or math.isinf(self.parameter):
            return ["PA"]
        name, letter = ("AROW", "r") if self.kind == "arow" else (_NAMES.get(self.kind, "PA-I"), "C")
        less = " or less" if self.kind == "lattice" else ""
        return [name] + ([f"{letter} = {self.parameter:.4g}{less}"] if self.parameter > 0 else [])

    @property
    def options(self) -> dict[str, Any]:
        """The options of the plain learner that this expert is."""
        if self.kind == "arow":
            own = {"step": "pa2", "C": 1 / (2 * self.parameter), "geometry": "diagonal"}
            own |= {"covariance_regularizer": self.parameter}
        elif math.isinf(self.parameter):
            own = {"step": "pa"}
        else:
            own = {"step": "pa2" if self.kind == "pa2" else "pa1", "C": self.parameter}
        return {**own, "average": self.averaged, "scaling": "online" if self.scaled else None}


# The options that an expert decides.
OF_EXPERT = ("step", "C", "experts", "geometry", "covariance_regularizer", "average", "scaling")


class Experts(list[Expert]):
    """The experts of a committee, in their order. Printed as a table, the largest weight first."""

    def __repr__(self) -> str:
        rows = [("expert", "C or r", "weight", "error")]
        for each in sorted(self, key=lambda expert: -expert.weight):
            rows.append((each.name, f"{each.parameter:.4g}", f"{each.weight:.4f}", f"{each.error:.4g}"))
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in (1, 2, 3))])
            for row in rows
        )


def is_committee(learner: Learner) -> bool:
    return bool(words_of(learner._task, learner.parameters))


def experts_of(learner: Learner) -> Experts:
    check_has_experts(learner)
    with learner._lock:
        found, rounds = learner._engine.experts(), learner._engine.vote_weight()
    return Experts(
        Expert(
            name,
            parameter,
            weight,
            prior,
            lost,
            telling,
            constant,
            Statistics(*statistics),
            lost / rounds if rounds else 0.0,
        )
        for name, parameter, constant, weight, prior, lost, telling, statistics in found
    )


def check_has_experts(learner: Learner) -> None:
    if not is_committee(learner):
        raise AttributeError(f"there are no experts: this is one learner (C={learner.parameters['C']!r})")


def leader_of(learner: Learner) -> Learner:
    """The expert with the largest weight as a plain learner, which continues by itself."""
    while True:
        found = experts_of(learner)
        place = max(range(len(found)), key=lambda k: found[k].weight)  # the first on ties
        if (alone := _taken(learner, place, found[place])) is not None:
            return alone


def plain_learner(learner: Learner, place: int) -> Learner:
    """The expert at that place of a committee as a plain learner, which continues by itself."""
    while (alone := _taken(learner, place, experts_of(learner)[place])) is None:
        pass
    return alone


def _taken(learner: Learner, place: int, expert: Expert) -> Learner | None:
    """None if another thread has changed which expert is at that place (a lane of a lattice was born)."""
    from .engine import new_engine

    if expert.parameter == 0:
        raise ValueError("no expert leads yet: no example with a loss was learned")
    own = {"C": 1.0, "covariance_regularizer": 1.0, "experts": None, **expert.options}
    parameters = {**learner.parameters, **{k: v for k, v in own.items() if k in learner.parameters}}
    alone = type(learner).__new__(type(learner))
    alone._set_up(learner._task, parameters)
    alone.closed, alone.notes = learner.closed, dict(learner.notes)
    with learner._lock:
        alone._engine = new_engine(alone._task, parameters, learner.labels)
        alone._engine.take_expert(learner._engine, place)
        alone._named, alone._arrays_fit = learner._named, learner._arrays_fit
    now = experts_of(learner)[place]
    return alone if (now.name, now.parameter) == (expert.name, expert.parameter) else None


def check_words(words: Any) -> bool:
    """Whether these are words of experts."""
    from .._core import check_experts

    if isinstance(words, str):
        return words == "auto"
    try:
        each = as_list(words, "experts", "of words", False)
        check_experts(" ".join(each))
    except (TypeError, ValueError):
        return False
    return 0 < len(each) == len(set(each)) and not any(" " in word for word in each)
