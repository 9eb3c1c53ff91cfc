"""Which form of a fleet suits a stream: shared, per key, or both. The stream itself tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from .batches import as_keys, with_keys
from .fleet import Fleet

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..data.types import Doubles

AGES = (0, 10, 100, 1000)  # examples of a key so far: the bounds of the columns
# The step as given, a shorter one, and AROW.
SETTINGS: tuple[dict[str, Any], ...] = ({}, {"C": 0.1}, {"geometry": "diagonal", "step": "pa2", "C": 0.5})
# The model that all keys share may have more features than a key.
UNLIMITED = 2**30
BATCH = 1000  # examples


class Form(NamedTuple):
    """How one form of a fleet did on a stream: the progressive error, in all and by the age of the key."""

    name: str
    error: float
    by_age: dict[str, float]
    options: dict[str, Any]  # of the Fleet
    setting: dict[str, Any]  # those of them that are the best of the settings
    is_control: bool  # whether its keys were shuffled


class Forms(Sequence[Form]):
    """What `compare_forms` found: the forms, the best one first. It prints as a table, and `plot_forms` draws it."""

    def __init__(self, task: str, forms: list[Form], gain: float, noise: float) -> None:
        self.task = task
        self.gain, self.noise = gain, noise  # of the true keys over shuffled ones, and its standard error
        self._forms = sorted(forms, key=lambda form: form.error)

    @overload
    def __getitem__(self, index: int) -> Form: ...
    @overload
    def __getitem__(self, index: slice) -> list[Form]: ...
    def __getitem__(self, index: int | slice) -> Form | list[Form]:
        return self._forms[index]

    def __len__(self) -> int:
        return len(self._forms)

    def __iter__(self) -> Iterator[Form]:
        return iter(self._forms)

    @property
    def best(self) -> Form:
        """The best form that is not a control. `Fleet(task, **best.options)` makes it."""
        return next(form for form in self._forms if not form.is_control)

    @property
    def keys_matter(self) -> bool:
        """Whether the personal weights err less with the true keys than with shuffled ones, by more than twice the
        standard error."""
        return self.gain > 2 * self.noise

    def __str__(self) -> str:
        ages = [age for age in ages_named() if any(age in form.by_age for form in self)]
        rows = [["", "error", *ages, "with"], *(self._cells(form, ages) for form in self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [self._line(row, widths) for row in rows]
        lines.extend(self._verdict())
        return "\n".join(lines)

    __repr__ = __str__

    def _verdict(self) -> list[str]:
        true, shuffled = (
            [form.error for form in self if "personal" in form.options and form.is_control == control]
            for control in (False, True)
        )
        if not shuffled:
            return []
        return [
            f"Personal weights err {self._number(min(true))} with the true keys, {self._number(min(shuffled))} with "
            f"shuffled ones (standard error of the difference: {self._number(self.noise)}).",
            "The keys matter." if self.keys_matter else "There is no sign that the keys matter.",
        ]

    def _cells(self, form: Form, ages: list[str]) -> list[str]:
        errors = [self._number(form.by_age[age]) if age in form.by_age else "" for age in ages]
        options = ", ".join(f"{name}={value!r}" for name, value in form.setting.items())
        return [form.name, self._number(form.error), *errors, options]

    @staticmethod
    def _line(row: list[str], widths: list[int]) -> str:
        middle = (cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True))
        return "  ".join([row[0].ljust(widths[0]), *middle, row[-1]]).rstrip()

    def _number(self, value: float) -> str:
        return f"{100 * value:.2f} %" if self.task == "classification" else f"{value:.4g}"


def compare_forms(
    task: str,
    keys: Any,
    X: Any,
    y: Any,
    *,
    strengths: Sequence[float] = (0.25, 0.5, 1.0),
    settings: Sequence[Mapping[str, Any]] = SETTINGS,
    random_state: int = 0,
    **options: Any,
) -> Forms:
    """The progressive errors of all forms of a fleet on a stream.

    The error is the share of wrong labels, or the mean distance of numbers. `options` are those of `Fleet`. Each form
    runs with each of the `settings` (more options), and its best result counts: otherwise a form could win because its
    steps are longer or shorter. Give `classes` if the labels are known: a key with a model of its own cannot predict a
    label that it has not had.

    'shuffled keys' is a control: the keys are dealt out to the examples at random, so that personal weights cannot
    help. Where it does as well as the same form with the true keys, the keys do not matter.
    """
    keys, X = with_keys(keys, X)
    listed = list(keys)
    if not listed:
        raise ValueError("there are no examples to compare forms on")
    ages = ages_of(listed)
    found, all_errors = [], {}
    for name, its_keys, its, is_control in _candidates(listed, strengths, random_state):
        runs = [{**options, **more, **its} for more in settings]
        errors = [errors_of(task, _predictions(Fleet(task, **run), its_keys, X, y), y) for run in runs]
        best = min(range(len(runs)), key=lambda i: float(errors[i].mean()))
        all_errors[name], ages_found = errors[best], by_age(errors[best], ages)
        mean, setting = float(errors[best].mean()), dict(settings[best])
        found.append(Form(name, mean, ages_found, runs[best], setting, is_control))
    return Forms(task, found, *_gain(found, all_errors))


def _candidates(
    keys: list[Any], strengths: Sequence[float], random_state: int
) -> list[tuple[str, list[Any], dict[str, Any], bool]]:
    """The forms: the name, the keys, the options, and whether it is a control."""
    import numpy as np

    shuffled = [keys[i] for i in np.random.default_rng(random_state).permutation(len(keys))]
    return [
        ("one model for all", [0] * len(keys), {"shared": False, "max_features": UNLIMITED}, False),
        ("per key", keys, {"shared": False}, False),
        *((f"shared + personal, {s:g}", keys, {"personal": s}, False) for s in strengths),
        *((f"shuffled keys, {s:g}", shuffled, {"personal": s}, True) for s in strengths),
    ]


def _gain(forms: list[Form], errors: dict[str, Doubles]) -> tuple[float, float]:
    """How much less the best form with personal weights errs than the best control, and the standard error of that."""
    controls = [form for form in forms if form.is_control]
    personal = [form for form in forms if "personal" in form.options and not form.is_control]
    if not controls:
        return 0.0, 0.0
    best, control = (min(those, key=lambda form: form.error) for those in (personal, controls))
    gains = errors[control.name] - errors[best.name]
    return float(gains.mean()), float(gains.std() / len(gains) ** 0.5)


def _predictions(fleet: Fleet, keys: list[Any], X: Any, y: Any) -> list[Any]:
    """Those of `round_many`, in pieces: a batch needs memory for all that it changes."""
    y = y if hasattr(y, "__getitem__") else list(y)
    found: list[Any] = []
    for start in range(0, len(keys), BATCH):
        end = start + BATCH
        found.extend(fleet.round_many(as_keys(keys[start:end]), _rows(X, start, end), _rows(y, start, end)))
    return found


def _rows(X: Any, start: int, end: int) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[start:end]
    return X.slice(start, end - start) if hasattr(X, "to_pylist") else X[start:end]


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


def ages_named() -> list[str]:
    """'1-10', '11-100', '101-1000', '1001+'."""
    return [
        f"{first + 1}+" if end is None else f"{first + 1}-{end}"
        for first, end in zip(AGES, (*AGES[1:], None), strict=True)
    ]


def by_age(errors: Doubles, ages: npt.NDArray[Any]) -> dict[str, float]:
    """The mean error of examples 1 to 10 of their keys, 11 to 100, and so on; ages that do not occur are left out."""
    found = {}
    for name, first, end in zip(ages_named(), AGES, (*AGES[1:], None), strict=True):
        chosen = ages >= first if end is None else (ages >= first) & (ages < end)
        if chosen.any():
            found[name] = float(errors[chosen].mean())
    return found
