"""What the labels of the first examples look like: the task that they suggest, and how they are shown."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

from .batches import Batch, listed_labels
from .files import printable


class Guess(NamedTuple):
    """A task, and what in the labels speaks for it; the other task that it might be, if that is not certain."""

    task: str
    reason: str
    or_else: str = ""


def guess_task(batch: Batch) -> Guess:
    """What the labels of the first examples look like."""
    if isinstance(batch.X, list) and batch.X and isinstance(batch.X[0], list):
        return Guess("sequence", "there are sentences")
    labels = listed_labels(batch)
    present = [label for label in labels if label is not None and label != []]
    if not present:
        return Guess("uniclass", "there are no labels")
    if any(isinstance(label, list) and len(label) > 1 for label in present):
        return Guess("multilabel", "some examples have several labels")
    single = {label[0] if isinstance(label, list) else label for label in present}
    if any(isinstance(label, (str, bool)) for label in single):
        return Guess("classification", f"the labels are names: {_some(single)}")
    if any(label != int(label) for label in single):
        return Guess("regression", f"the labels are numbers that are not whole: {_some(single)}")
    return _guess_of_numbers([label[0] if isinstance(label, list) else label for label in present])


FEW = 10  # so many whole numbers are names of classes
CERTAIN = 100  # more are quantities
OFTEN = 100  # examples of each


def _guess_of_numbers(labels: list[Any]) -> Guess:
    """Whole numbers name classes, or count something. They count if there are many, and each is rare, or some are left
    out, or their counts rise and fall with them: few are 1 or 29, and many are 9 or 10."""
    counts = Counter(map(int, labels))
    distinct, said = len(counts), f"the labels are {_some(set(counts))}"
    if distinct <= FEW:
        return Guess("classification", said)
    said = f"the labels are {distinct} different whole numbers"
    if distinct > CERTAIN:
        return Guess("regression", said)
    low, high = min(counts), max(counts)
    each = len(labels) / distinct
    if each < 3:
        return Guess("regression", f"{said}, and each is rare", "classification")
    if distinct > 2 * FEW:
        if low not in (0, 1) or high - low + 1 > distinct:
            return Guess(
                "regression", f"{said} from {low} to {high}, not all from 0 or 1 on", "classification"
            )
        if each < OFTEN:
            return Guess("regression", f"{said}, and each is rare", "classification")
        if _is_smooth([counts[value] for value in sorted(counts)]):
            return Guess("regression", f"{said}, whose counts rise and fall with them", "classification")
    return Guess("classification", said, "regression")


def _is_smooth(counts: list[int]) -> bool:
    """Whether neighbours are much more alike than any two, which differ by more than chance."""
    n = len(counts)
    near = sum(abs(a - b) for a, b in pairwise(counts)) / (n - 1)
    # The mean difference of any two, from the counts in order (Gini); by chance it is about the root of a count.
    spread = (
        2 * sum((2 * place - n + 1) * count for place, count in enumerate(sorted(counts))) / (n * (n - 1))
    )
    return near < 0.5 * spread and spread > 2 * (sum(counts) / n) ** 0.5


def _some(labels: set[Any]) -> str:
    in_order = sorted(labels, key=lambda label: (str(type(label)), label))
    shown = ", ".join(shortened_label(label) for label in in_order[:4])
    return shown if len(in_order) <= 4 else f"{shown}, ... ({len(in_order)} so far)"


def shown_label(label: Any) -> str:
    """1.0 is shown as 1: readers of numbers cannot know that they are names of classes."""
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return str(int(label))
    return printable(str(label))  # a line is a line


def shortened_label(label: Any) -> str:
    text = shown_label(label)
    return text if len(text) <= 40 else f"{text[:37]}..."
