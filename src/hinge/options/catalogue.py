"""`hinge.algorithms` and `hinge.make`: the published algorithms by their names."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

from ..model.experts import is_several
from ..tasks import TASKS, on_streams, task_named
from ..tasks.task import Task
from . import table, validators

_ALL = ("classification", "multilabel", "ordinal", "prototype", "regression", "sequence", "uniclass")
_SETS = ("classification", "multilabel")
_SHAPED = ("classification", "multilabel", "ordinal", "regression")
_RANKED = ("classification", "multilabel", "ordinal", "prototype")


@dataclass(frozen=True)
class Algorithm:
    """A published algorithm: its name, its tasks, its options, and its source."""

    name: str
    tasks: tuple[str, ...]
    options: dict[str, Any] = field(hash=False)  # the parameters that make it
    paper: str
    theorem: str  # what is guaranteed; see hinge.theory
    about: str

    def is_for(self, task: Task) -> bool:
        return task.options_of in self.tasks

    def __str__(self) -> str:
        return f"{self.name:<17} {self.about} [{self.paper}; {', '.join(self.tasks)}]"


def _step(name: str) -> dict[str, Any]:
    return {"step": name, "selection": "max"}


def _with_covariance(step: str) -> dict[str, Any]:
    return {"step": step, "selection": "max", "geometry": "mahalanobis"}


_ALGORITHMS = (
    Algorithm("pa", _ALL, _step("pa"), "J06, N03", "J06 Thm 2, 3; N03 Thm 1", "until there is no loss"),
    Algorithm("pa1", _ALL, _step("pa1"), "J06", "J06 Thm 4", "the same, but never farther than C"),
    Algorithm("pa2", _ALL, _step("pa2"), "J06, N03", "J06 Thm 5", "a part of it, less for small C"),
    Algorithm(
        "perceptron", ("classification", "multilabel", "prototype", "sequence"), _step("perceptron"), "CS03",
        "perceptron; CS03", "by x, on mistakes only",
    ),
    Algorithm(
        "uniform", ("classification", "multilabel", "prototype"), {"step": "perceptron", "selection": "uniform"},
        "CS03", "CS03", "the perceptron, against all labels that are wrong",
    ),
    Algorithm(
        "aggressive", _SETS, {"step": "perceptron", "selection": "max", "beta": 0.01}, "B03",
        "perceptron, separable", "the perceptron, at margins up to `beta`",
    ),
    Algorithm(
        "budget-perceptron", _SETS,
        {"step": "perceptron", "selection": "max", "kernel": "linear", "budget": "adaptive"}, "B03", "B03 Thm 1",
        "the aggressive perceptron on a budget; `kernel`, `budget`, `beta`",
    ),
    Algorithm(
        "budget-mira", _SETS, {"step": "pa1", "selection": "mira", "kernel": "linear", "budget": "adaptive"}, "B03",
        "none", "mira on a budget; `kernel`, `budget`, `beta`",
    ),
    Algorithm(
        "mira", _SETS, {"step": "pa1", "selection": "mira"}, "CS03", "MIRA (derived)",
        "all constraints at once, solved exactly, one slack",
    ),
    Algorithm(
        "simperc", _RANKED, {"step": "pa1", "selection": "simperc"}, "S06", "S06 Thm 1",
        "all wrong labels, a step of C each, averaged",
    ),
    Algorithm(
        "conproj", _RANKED, {"step": "pa1", "selection": "conproj"}, "S06", "S06 Cor 1",
        "all wrong labels, projected on one by one, averaged",
    ),
    Algorithm(
        "simproj", _RANKED, {"step": "pa1", "selection": "simproj"}, "S06", "S06 Thm 1 (derived)",
        "all violated constraints, projected on one by one, averaged",
    ),
    Algorithm(
        "prediction-based", ("classification", "prototype", "sequence"),
        {"step": "pa1", "selection": "prediction"}, "J06", "J06 Thm 9",
        "the constraint of the predicted label; with `cost`, cost-sensitive",
    ),
    Algorithm(
        "max-loss", ("classification", "prototype", "sequence"), {"step": "pa1", "selection": "max"}, "J06",
        "J06 Thm 9", "the constraint with the largest loss; with `cost`, cost-sensitive",
    ),
    Algorithm(
        "pam", _SHAPED, _with_covariance("pa"), "M11", "M11 Thm 1, resolved", "pa with a covariance"
    ),
    Algorithm(
        "pam1", _SHAPED, _with_covariance("pa1"), "M11", "M11 Thm 2, resolved", "pa1 with a covariance"
    ),
    Algorithm(
        "pam2", _SHAPED, _with_covariance("pa2"), "M11", "M11 Thm 3, resolved", "pa2 with a covariance"
    ),
    Algorithm(
        "arow", (*_SHAPED, "sequence"), _with_covariance("pa2"), "AROW", "AROW; M11 Thm 3, resolved",
        "adaptive regularization of weights; `r` sets C and covariance_regularizer",
    ),
    Algorithm("cw", _SETS, _with_covariance("cw"), "CW", "none", "confidence-weighted, variance form; `eta`"),
    Algorithm(
        "sop", _SETS, _with_covariance("perceptron"), "SOP", "SOP",
        "the second-order perceptron; `initial_variance` is 1/a",
    ),
    Algorithm(
        "multiplicative", ("classification", "multilabel", "ordinal", "regression", "uniclass"),
        {"step": "pa", "selection": "max", "geometry": "entropy"}, "N03", "N03 Thm 4", "pa on the simplex",
    ),
)  # fmt: skip


def algorithms(task: str | None = None) -> list[Algorithm]:
    """The published algorithms, with task, options, paper and theorem.

    >>> import hinge
    >>> [algorithm.name for algorithm in hinge.algorithms("ordinal")]
    ['pa', 'pa1', 'pa2', 'simperc', 'conproj', 'simproj', 'pam', 'pam1', 'pam2', 'arow', 'multiplicative']
    >>> print(hinge.algorithms()[1])
    pa1               the same, but never farther than C [J06; classification, multilabel, ordinal, prototype, regression, sequence, uniclass]
    """  # noqa: E501
    if task is None:
        return list(_ALGORITHMS)
    return [algorithm for algorithm in _ALGORITHMS if algorithm.is_for(task_named(task, on_streams()))]


def make(name: str, task: str = "classification", **options: Any) -> Any:
    """An estimator that runs the algorithm `name` on a task.

    >>> import hinge
    >>> hinge.make("simproj", task="ordinal", C=0.1)
    PAOrdinal(C=0.1)
    >>> hinge.make("mira", C=0.5)
    PAClassifier(C=0.5, selection='mira')
    >>> hinge.make("arow", r=0.1, geometry="diagonal")
    PAClassifier(C=5.0, covariance_regularizer=0.1, covariance_update='precision',
                 geometry='diagonal', step='pa2')
    """
    options = options_of(name, task, options)
    module, estimator = TASKS[task].estimator
    return getattr(importlib.import_module(f"hinge.{module}"), estimator)(**options)


def options_of(name: str, task: str, options: dict[str, Any]) -> dict[str, Any]:
    """The parameters that make the algorithm `name` on a task, and `options`, which must not contradict them."""
    found = {algorithm.name: algorithm for algorithm in _ALGORITHMS}
    if name not in found:
        import difflib

        near = difflib.get_close_matches(str(name).lower(), found, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"there is no algorithm {name!r}{hint} There are {', '.join(found)}")
    algorithm = found[name]
    its_task = task_named(task, on_streams())
    if not algorithm.is_for(its_task):
        raise ValueError(f"{name!r} is for {', '.join(algorithm.tasks)}, not for {task}")
    made = {option: algorithm.options[option] for option in table.names_for(task, algorithm.options)}
    made |= its_task.as_published(name, options)
    if name == "arow":
        made, options = _arow(made, options)
    if name in _DIAGONAL_TOO and options.get("geometry") == "diagonal":
        made["geometry"] = "diagonal"
    if made.get("geometry") == "diagonal" and "covariance_update" not in made:
        # As published: 1/s_i += x_i^2/r (AROW), the diagonal of S^-1 (CW).
        made["covariance_update"] = "precision"
    free = [option for option in ("covariance_update", *_FREE.get(name, ())) if option in options]
    made = {option: value for option, value in made.items() if option not in free}
    clashing = [option for option in options if option in made and options[option] != made[option]]
    if clashing:
        raise ValueError(f"{name!r} means {clashing[0]}={made[clashing[0]]!r}, not {options[clashing[0]]!r}")
    return {**made, **options}


_FREE = {
    "aggressive": ("beta",),
    "budget-perceptron": ("kernel", "budget"),
    "budget-mira": ("kernel", "budget"),
}
_DIAGONAL_TOO = ("pam", "pam1", "pam2", "arow", "cw", "sop")


def _arow(made: dict[str, Any], options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """AROW's r is both the slack of PA-II, 1/(2C), and what an update adds to the inverse covariance, x x'/r."""
    rest = {option: value for option, value in options.items() if option != "r"}
    r = options.get("r", 1.0)
    if not validators.one_or_several(validators.real(0))(r):
        raise ValueError(
            f"r must be a finite number greater than 0, 'auto', or a list of such numbers, not {r!r}"
        )
    if is_several(r):  # a vote of several, of which each has its own C
        geometry = {"geometry": "diagonal", "covariance_update": "drop"}
        return {**made, **geometry, "covariance_regularizer": r}, rest
    return {**made, "C": 1 / (2 * float(r)), "covariance_regularizer": float(r)}, rest
