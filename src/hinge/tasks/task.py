"""`Task`: everything that differs by task. `Learner`, the command line and the options ask it, and compare no names.

There is one object per task (see `TASKS` in __init__.py), without state: what a method needs, it is given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..data import targets
from ..data.errors import for_each
from ..data.labels import Labels
from ..data.targets import Encoded
from ..model.supports import beta_of

if TYPE_CHECKING:
    from ..data.types import Doubles, Indices
    from ..learner import Learner


class Task:
    """The base of all tasks. Its defaults are those of one w, one score per example, and a number as the truth."""

    name: str
    core: str  # the task of the core, which has the rule
    options_of: str  # the task whose options it has in the table of options
    estimator: tuple[str, str]  # its module and its class
    has_learner = True  # whether it is a task of `Learner`
    on_streams = True  # whether the command line has it

    # ---- options ------------------------------------------------------------------------------------------------

    steps: tuple[str, ...] = ("pa", "pa1", "pa2", "perceptron", "cw")
    selections: tuple[str, ...] = ()  # none: there is one constraint per example
    perceptron_selections: tuple[str, ...] = ()
    geometries: tuple[str, ...] = ("euclidean", "mahalanobis", "diagonal", "entropy")
    named_starts: tuple[str, ...] = ()  # values of w1 that have names
    has_kernel = True  # whether there is one vector per example
    has_intercept = False
    can_be_unsigned = True  # whether geometry='entropy' has signed=False: that of one w
    # Whether scores are linear in the values of a row: several learners can vote, and values be scaled online.
    has_linear_rows = False
    has_exact_lattice = False  # whether C="auto" can hold every power of 4 (cpp/committee/lattice.hpp)
    keeps_open_step = False  # whether step=None is kept as it is

    def step_of(self, options: Mapping[str, Any]) -> str:
        """The step that these options mean: None leaves it to the task."""
        step = options.get("step")
        return self.default_step(options) if step is None else step

    def default_step(self, options: Mapping[str, Any]) -> str:
        return "pa1"

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raises ValueError for a combination that makes no sense for this task only. (See options/combinations.py.)"""

    def check_cost(self, cost: Any, step: str, selection: str) -> None:
        """Raises ValueError if the predictions of this task cannot have this cost."""

    def as_published(self, algorithm: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a published algorithm that are others for this task. `options` are those of the user."""
        return {}

    def engine_options(self, parameters: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
        """The settings of the core that only this task has."""
        return {}

    def nu(self, nu: Any, labels: Labels) -> Doubles | None:
        """The weights of the constraints as the core takes them."""
        return None

    def new_model(self, options: dict[str, Any]) -> Any:
        """What the command line learns with."""
        from ..learner import Learner

        return Learner(self.name, **options)

    # ---- labels -------------------------------------------------------------------------------------------------

    core_knows_labels = False  # whether the core takes and returns the labels themselves
    has_one_class_each = False  # whether the truth is one label, so that rows can be held back class by class
    watches_order = False  # whether labels that come in runs are worth a remark

    def first_labels(self, parameters: Mapping[str, Any]) -> Labels:
        """The labels that are known before the first example."""
        return Labels((), lanes=True)

    def is_closed(self, parameters: Mapping[str, Any]) -> bool:
        """Whether the labels are fixed in advance, and others are rejected."""
        return parameters["classes"] is not None or parameters["cost"] is not None

    def many_scores(self, labels: Labels) -> bool:
        """Whether each label has a score."""
        return False

    def first_lane(self, parameters: Mapping[str, Any]) -> int:
        """The place of the score of the first label among all scores of the core."""
        return 0

    # ---- the truth ----------------------------------------------------------------------------------------------

    reads_numbers = False  # whether the core reads targets as they are given

    def encode(self, labels: Labels, y: Any, count: int, weights: Doubles | None) -> Encoded:
        """The targets of a batch as the core takes them. An unknown label is rejected, unless its row has weight 0."""
        from ..data.target_arrays import numbers

        return numbers(self.given(y), count)

    def given(self, y: Any) -> Any:
        if y is None:
            raise ValueError(f"{self.name} needs a target: y is None")
        return y

    def new_labels(
        self, labels: Labels, y: Any, count: int, weights: Doubles | None, visits: Indices | None
    ) -> dict[Any, int]:
        """The labels of a batch that are new, each with the visit where it comes first."""
        return {}

    # ---- one event ----------------------------------------------------------------------------------------------

    def learn_one(self, learner: Learner, x: dict[Any, Any], y: Any, weight: float) -> None:
        learner._engine.learn_one(x, targets.number(y), weight)

    def score_one(self, learner: Learner, x: dict[Any, Any]) -> Any:
        return learner._engine.score_one(x, learner.averaged)

    def predict_one(self, learner: Learner, x: dict[Any, Any]) -> Any:
        return self.score_one(learner, x)

    # ---- many ---------------------------------------------------------------------------------------------------
    # `lanes` are the raw scores of the core: one per example, or one per example and lane.

    measures_distance = False  # whether the score is a distance, to which features that were never seen count

    def scores(self, learner: Learner, lanes: Doubles) -> Doubles:
        return lanes

    def probabilities(self, learner: Learner, scores: Doubles) -> Doubles:
        """The probability of each label, given its scores; one row per example."""
        raise ValueError(f"only classification has probabilities, not {self.name}")

    def named_scores(self, learner: Learner, lanes: Doubles) -> list[Any]:
        """A number for each example, or a dict with one for each label."""
        scores: list[Any] = self.scores(learner, lanes).tolist()
        if not self.many_scores(learner.labels):
            return scores
        return [dict(zip(learner.labels.known, its, strict=True)) for its in scores]

    def predictions(self, learner: Learner, lanes: Doubles) -> list[Any]:
        """What is predicted for each example, as the command line writes it."""
        return list(lanes.tolist())

    def predict_events(self, model: Any, X: Sequence[Any]) -> list[Any]:
        """The same for events; `model` is a learner, or an estimator around one."""
        return for_each(model.predict_one, X)

    def intercept(self, learner: Learner, averaged: bool) -> Any:
        return learner._engine.bias(0, averaged)

    def radius_by_quantile(self, parameters: Mapping[str, Any]) -> bool:
        """Whether there is a radius, and it is a quantile of the distances so far."""
        return False

    def radius(self, learner: Learner) -> float:
        raise AttributeError(f"there is no radius: the task is {self.name}, not uniclass")

    # ---- progressive validation ---------------------------------------------------------------------------------

    error_words = "wrong"  # what the error is, after its number
    error_is_share = True  # whether it is a share, which is shown in percent
    counted = "examples"  # what is predicted and counted
    needs_labels = True
    checks_numbers = (
        False  # whether a label that is a number goes through `truth`; else the core reads it as it is
    )
    has_label_sets = False  # whether the truth is a set of labels
    has_sentences = False  # whether an example is a sentence, with one tag per token
    has_feature_map = False  # whether features depend on the label
    is_judged_by_scores = False  # whether `costs` takes the scores in place of the predictions
    committee_error_words: str | None = None  # if the error of a committee is another one: what it is
    suffers_cost = False  # whether the core adds up `costs` as the cost; else they are its mistakes
    scores_within_batches = (
        True  # whether the core can return the scores of each example of a batch before its round
    )
    scores_need_the_round = False  # whether scores can be read off the lanes at the moment of the round only

    def truth(self, label: Any, labels: Labels) -> Any:
        """One label of a stream as the task takes it, or ValueError. A list means several labels, None means none."""
        if isinstance(label, list) and len(label) == 1:
            label = label[0]
        if label is None or label == []:
            raise ValueError("there is no label (--task uniclass learns without)")
        if isinstance(label, list):
            raise ValueError(f"there are {len(label)} labels (--task multilabel learns sets)")
        return label

    def is_known(self, label: Any, labels: Labels) -> bool:
        """Whether an example with this label can be learned, and brings no new one."""
        if label is None or label == []:
            return False
        try:
            return all(one in labels.codes for one in (label if isinstance(label, list) else [label]))
        except TypeError:  # not even hashable
            return False

    def costs(self, made: Sequence[Any], truth: Sequence[Any], labels: Labels) -> list[float]:
        """What each prediction costs."""
        return [float(a != b) for a, b in zip(made, truth, strict=True)]

    def committee_costs(self, made: Sequence[Any], truth: Sequence[Any], labels: Labels) -> list[float]:
        """The same for the prediction of a committee."""
        return self.costs(made, truth, labels)

    def count(self, truth: Any, examples: int) -> int:
        """How many predictions were made for a batch of examples."""
        return examples


class LabelTask(Task):
    """What the tasks with labels share: classes and costs given in advance, and the selection of constraints."""

    selections: tuple[str, ...] = ("max", "prediction", "simperc", "simproj", "conproj", "mira", "uniform")
    perceptron_selections: tuple[str, ...] = ("max", "uniform")
    has_cost = False  # whether it may cost more to predict one label than another

    def check_cost(self, cost: Any, step: str, selection: str) -> None:
        if cost is None:
            return
        if not self.has_cost:
            raise ValueError(f"cost is for classification, not for {self.name}")
        if callable(cost):
            raise ValueError(
                f"a cost that is a function is for sequences and structures; for {self.name} give a matrix"
            )
        if selection not in ("max", "prediction") or step == "perceptron":
            raise ValueError(
                "cost goes with selection 'max' or 'prediction' and the steps 'pa', 'pa1', 'pa2'"
            )

    def has_lanes(self, parameters: Mapping[str, Any]) -> bool:
        """Whether each label has its own weights from the start."""
        return True

    def first_labels(self, parameters: Mapping[str, Any]) -> Labels:
        classes, cost, limit = parameters["classes"], parameters["cost"], parameters["max_labels"]
        if classes is None and isinstance(cost, Mapping):
            classes = list(dict.fromkeys([*cost, *(label for row in cost.values() for label in row)]))
            if len(classes) < 2:
                raise ValueError(f"cost must name two labels or more, not {classes!r} only")
        if classes is None and cost is not None:
            raise ValueError(
                "a cost matrix needs the labels in order: give classes=[...], or cost as a dict of dicts"
            )
        labels = Labels(() if classes is None else classes, self.has_lanes(parameters))
        if len(labels.known) > limit:
            raise ValueError(f"there are {len(labels.known)} classes, the limit is {limit} (max_labels)")
        return labels

    def engine_options(self, parameters: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
        cost = parameters["cost"]
        return {
            "labels": max(1, len(labels.known)),
            "selection": parameters["selection"],
            "beta": beta_of(parameters),
            "cost": None if cost is None else _cost_matrix(cost, labels),
            "nu": self.nu(parameters["nu"], labels),
        }

    def nu(self, nu: Any, labels: Labels) -> Doubles | None:
        """The weights of the constraints, label by label; of several matrices the largest of each (S13.3)."""
        if nu is None:
            return None
        import numpy as np

        from ..data.target_arrays import square_matrix

        if not labels.known:
            raise ValueError("nu needs the labels in order: give classes=[...]")
        one = isinstance(nu, Mapping) or (np.ndim(nu) < 3 and not isinstance(nu[0], Mapping))
        several = [square_matrix(each, labels.known, "nu", 1.0) for each in ([nu] if one else nu)]
        largest: Doubles = np.asarray(several).max(axis=0).ravel()
        return largest

    def encode(self, labels: Labels, y: Any, count: int, weights: Doubles | None) -> Encoded:
        from ..data.label_arrays import encode
        from ..data.target_arrays import labels_of

        return Encoded(*encode(labels, labels_of(self.given(y), count), weights))


def _cost_matrix(cost: Any, labels: Labels) -> Doubles:
    from ..data.target_arrays import square_matrix

    return square_matrix(cost, labels.known, "cost", 0.0).ravel()


class RankingTask(LabelTask):
    """What the tasks with sets of labels share: every relevant label should score higher than every other one."""

    error_words = "with a label out of order"
    committee_error_words = "of the labels wrong"  # a vote has no order
    has_label_sets = True
    checks_numbers = True
    is_judged_by_scores = True

    def truth(self, label: Any, labels: Labels) -> Any:
        return [] if label is None else label if isinstance(label, list) else [label]

    def costs(self, made: Sequence[Any], truth: Sequence[Any], labels: Labels) -> list[float]:
        return [float(_is_out_of_order(*its)) for its in zip(made, truth, strict=True)]

    def committee_costs(self, made: Sequence[Any], truth: Sequence[Any], labels: Labels) -> list[float]:
        """The share of the labels that are wrong."""
        count = max(1, len(labels.known))
        return [len(set(a) ^ set(b)) / count for a, b in zip(made, truth, strict=True)]


def _is_out_of_order(scores: dict[Any, float], relevant: Sequence[Any]) -> bool:
    """Whether some label that is not relevant scores as high as one that is. (One never seen scores 0.)"""
    among = set(relevant)
    lowest = min((scores.get(label, 0.0) for label in among), default=math.inf)
    highest = max((score for label, score in scores.items() if label not in among), default=-math.inf)
    return bool(lowest <= highest)


def scores_by_label(task: Task, learner: Learner, lanes: Doubles) -> Doubles:
    """The columns of the labels among all lanes."""
    first = task.first_lane(learner.parameters)
    return lanes.reshape(len(lanes), -1)[:, first : first + len(learner.labels.known)]
