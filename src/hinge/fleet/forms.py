"""Which form of a fleet suits a stream: shared, per key, or both. The stream itself tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .batches import as_keys, with_keys
from .fleet import Fleet

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..data.types import Doubles

AGES = (0, 10, 100, 1000)  # examples of a key so far: the bounds of the columns


class Form(NamedTuple):
    """How one form of a fleet did on a stream: the progressive error, in all and by the age of the key."""

    name: str
    error: float
    by_age: dict[str, float]


def compare_forms(
    task: str,
    keys: Any,
    X: Any,
    y: Any,
    *,
    strengths: Sequence[float] = (0.25, 0.5, 1.0),
    random_state: int = 0,
    **options: Any,
) -> list[Form]:
    """The progressive errors of all forms of a fleet on a stream, the best one first.

    The error is the share of wrong labels, or the mean distance of numbers. 'shuffled keys' is a control: the keys are
    dealt out to the examples at random, so that personal weights cannot help. Where it does as well as the same form
    with the true keys, the keys do not matter.
    """
    import numpy as np

    keys, X = with_keys(keys, X)
    listed = list(keys)
    shuffled = [listed[i] for i in np.random.default_rng(random_state).permutation(len(listed))]
    forms: list[tuple[str, Any, dict[str, Any]]] = [
        ("one model for all", [0] * len(listed), {"shared": False}),
        ("per key", listed, {"shared": False}),
        *((f"shared + personal, {s:g}", listed, {"shared": True, "personal": s}) for s in strengths),
        *((f"shuffled keys, {s:g}", shuffled, {"shared": True, "personal": s}) for s in strengths),
    ]
    ages = ages_of(listed)
    found = []
    for name, its_keys, its in forms:
        fleet = Fleet(task, **{**options, **its})
        errors = errors_of(task, fleet.round_many(as_keys(its_keys), X, y), y)
        found.append(Form(name, float(errors.mean()), by_age(errors, ages)))
    return sorted(found, key=lambda form: form.error)


def errors_of(task: str, predicted: Any, y: Any) -> Doubles:
    import numpy as np

    if task == "classification":
        wrong: Doubles = np.asarray(
            [p != t for p, t in zip(predicted, list(y), strict=True)], dtype=np.float64
        )
        return wrong
    distances: Doubles = np.abs(np.asarray(predicted) - np.asarray(y, dtype=np.float64))
    return distances


def ages_of(keys: list[Any]) -> npt.NDArray[Any]:
    """How many examples of its key came before each example."""
    import numpy as np

    seen: dict[Any, int] = {}
    ages = np.empty(len(keys), dtype=np.int64)
    for row, key in enumerate(keys):
        ages[row] = seen.get(key, 0)
        seen[key] = int(ages[row]) + 1
    return ages


def by_age(errors: Doubles, ages: npt.NDArray[Any]) -> dict[str, float]:
    """The mean error of examples 1 to 10 of their keys, 11 to 100, and so on; ages that do not occur are left out."""
    found = {}
    for first, end in zip(AGES, (*AGES[1:], None), strict=True):
        chosen = ages >= first if end is None else (ages >= first) & (ages < end)
        if chosen.any():
            found[f"{first + 1}+" if end is None else f"{first + 1}-{end}"] = float(errors[chosen].mean())
    return found
