"""The default grid of `hinge tune`: steps, intercepts, averages and AROW, scaled to the examples.

A step is at most C, and one that ends the loss is loss/q with q = |x|^2. So the effect of C depends on C q, and the
grid has multiples of 1/q, where q is the median over the first examples. AROW's r is compared with q, too. If columns
differ in size, r must be small against the small ones; therefore its multiples go far down.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from .._core import TextPart
from ..streams.batches import Batch
from ..tasks import TASKS
from . import learner_options
from .options import flag, read_spec, read_value

MULTIPLES_OF_C = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # at 1 and above hardly any step is capped
MULTIPLES_AVERAGED = (0.01, 0.1, 1.0)
MULTIPLES_OF_R = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0)
FULL_COVARIANCE = 100  # columns; with more, only the diagonal is tried
SIZED = 1000  # examples that are measured


@dataclass(frozen=True)
class Candidate:
    """A learner to try: its options as texts, on top of an algorithm."""

    texts: dict[str, str]
    spec: str | None = None

    @property
    def name(self) -> str:
        words = [f"{option}={text}" for option, text in self.texts.items()]
        return " ".join([*([] if self.spec is None else [self.spec]), *words])

    @property
    def flags(self) -> str:
        """The options of `hinge learn`."""
        words = [as_flag(option, text) for option, text in self.texts.items()]
        return " ".join([*([] if self.spec is None else [f"--algorithm {self.spec}"]), *words])

    @property
    def options(self) -> dict[str, Any]:
        return {option: read_value(option, text) for option, text in self.texts.items()}


def as_flag(option: str, text: str) -> str:
    value = read_value(option, text)
    if not isinstance(value, bool):
        return f"{flag(option)} {text}"
    return flag(option) if value else f"--no-{option.replace('_', '-')}"


def default_candidates(task: str, batch: Batch, spec: str | None, options: dict[str, Any]) -> list[Candidate]:
    """The default candidates: those that the task supports and that agree with the given options."""
    no_length = TASKS[task].measures_distance or options.get("kernel") is not None
    length = 0.0 if no_length else typical_length(batch)
    tried: list[Candidate] = []
    intercepts: list[tuple[bool, dict[str, str]]] = [(True, {}), (False, {"fit_intercept": "no"})]
    if "fit_intercept" in options:
        intercepts = [(options["fit_intercept"], {})]
    given = options.get("intercept_value", "auto")
    constant = 0.0 if given == "auto" else float(given)  # that of 'auto' is small next to an example
    for intercept, texts in intercepts:
        q = length + intercept * constant**2 or 1.0
        if spec is not None:
            tried += [Candidate({"C": _short(c / q), **texts}, spec) for c in MULTIPLES_OF_C]
            continue
        for step in ("pa1", "pa2"):
            tried += [Candidate({"step": step, "C": _short(c / q), **texts}) for c in MULTIPLES_OF_C]
        averaged = {**texts, "average": "yes"}
        tried += [Candidate({"step": "pa1", "C": _short(c / q), **averaged}) for c in MULTIPLES_AVERAGED]
    q = length + intercepts[0][0] * constant**2 or 1.0
    if spec is None or spec.partition(":")[0] == "arow":
        tried += [Candidate({}, arow) for arow in _arows(spec, q, batch)]
    found = [candidate for candidate in tried if _possible(task, candidate, options)]
    return found or [Candidate({}, spec)]


def _arows(spec: str | None, q: float, batch: Batch) -> list[str]:
    name, texts = read_spec(spec or "arow")
    if "r" in texts:
        return []
    if spec is None and _columns(batch) > FULL_COVARIANCE:
        texts["geometry"] = "diagonal"
    rest = "".join(f",{option}={text}" for option, text in texts.items())
    return [f"{name}:r={_short(multiple * q)}{rest}" for multiple in MULTIPLES_OF_R]


def _possible(task: str, candidate: Candidate, options: dict[str, Any]) -> bool:
    if any(options.get(option, value) != value for option, value in candidate.options.items()):
        return False
    try:
        learner_options.new_study(task, candidate.spec, {**options, **candidate.options})
    except (ValueError, TypeError):
        return False
    return True


def typical_length(batch: Batch) -> float:
    """The median of |x|^2 over the first examples; 0 if they are no vectors."""
    if isinstance(batch.X, TextPart):
        values, _, starts, _ = batch.X.csr()
        ends = [int(end) for end in starts[: SIZED + 1]]
        lengths = [sum(float(v) ** 2 for v in values[begin:end]) for begin, end in pairwise(ends)]
    else:
        lengths = [_length(x) for x in batch.X[:SIZED] if isinstance(x, dict)]
    return median(lengths) if lengths else 0.0


def _length(x: dict[Any, Any]) -> float:
    """A string or a boolean is an indicator, of value 1."""
    return sum(float(v) ** 2 if isinstance(v, (int, float)) else 1.0 for v in x.values())


def _columns(batch: Batch) -> int:
    if isinstance(batch.X, TextPart):
        return batch.X.width
    names = {(name, value if isinstance(value, str) else "") for x in batch.X[:SIZED] if isinstance(x, dict)
             for name, value in x.items()}  # fmt: skip
    return len(names)


def _short(number: float) -> str:
    return f"{float(f'{number:.2g}'):g}"
