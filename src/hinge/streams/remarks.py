"""What is to be known of how a learner learned, at the end of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from ..features.words import LENGTH
from ..learner import Learner
from .evaluation import Study
from .order import ENOUGH


def remarks(study: Any) -> list[str]:
    """Of a `Study`; a `FleetStudy` has remarks of its own."""
    if not isinstance(study, Study):
        found: list[str] = study.remarks()
        return found
    learner: Any = study.learner
    found = study.order.remarks()
    if ignored := getattr(learner, "n_ignored", 0):
        found.append(
            f"{ignored:,} features were ignored: they were new when the model had its "
            f"{learner.parameters['max_features']:,} features (--max-features)."
        )
    if study.given_weights.changed_nothing(learner) and not study.is_committee:  # a vote heeds all weights
        found.append(_ineffective_weights(learner.parameters))
    if not isinstance(learner, Learner) or study.score.rounds < ENOUGH:
        return found
    q = learner.statistics.largest_q / (2 if learner.many_scores else 1)
    if learner.constant == 1 and learner.parameters["kernel"] is None and abs(q - 2) < 0.01:
        found.append(
            "All rows have a length of 1 or less, so the intercept counts as much as a whole row: "
            "--intercept-value auto or --no-fit-intercept often has a lower error."
        )
    if study.features is not None and study.features.text and q > 10 * LENGTH**2:
        found.append(
            "The other fields are much larger than the texts, which have a length of 10, and take most of each "
            "step: drop large numbers (--drop), or make them categories (--categorical)."
        )
    texts = () if study.features is None else study.features.text
    return found + _looks_like_text(learner, study.score.rounds, texts)


def _ineffective_weights(options: dict[str, Any]) -> str:
    if options["step"] == "pa1":
        why = f"they scale C={options['C']:g}, which capped no step. Lower --C, or use --step pa2"
    else:
        why = f"--step {options['step']} does not use them. Use --step pa1 with a small --C, or --step pa2"
    return f"The weights of the examples had no effect: {why}."


def _looks_like_text(learner: Learner, rounds: int, texts: Collection[str]) -> list[str]:
    """A field of which nearly every value is a feature of its own, and that is not read as text."""
    if learner.n_features < 0.8 * rounds or not learner._engine.n_names:
        return []
    fields = Counter(str(name).split("=", 1)[0] for name in learner.feature_names if "=" in str(name))
    fields.pop("+".join(texts), None)  # the words of all texts, see Features
    field, count = max(fields.items(), key=lambda its: its[1], default=("", 0))
    if count < 0.8 * rounds:
        return []
    return [
        f"Nearly every example has a different value in {field!r}, and each value is a feature. If it is text, use "
        f"--text {field}; if it identifies the example, use --drop {field}."
    ]
