"""Labels of any kind, and the numbers that stand for them in the core: signs for two classes, else indices."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .events import is_numpy
from .shown import shown

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def plain(label: Any) -> Any:
    """A label as a plain Python value. Only values that a model file can keep are labels."""
    if type(label) not in (str, bool, int, float) and is_numpy(label, "generic"):
        label = float(label) if is_numpy(label, "longdouble") else label.item()
    if isinstance(label, str):
        return str.__str__(label)  # not what a subclass, such as an enumeration of strings, shows itself as
    if isinstance(label, (bool, int)) and not -(2**63) <= label < 2**63:
        raise ValueError("a label that is a whole number must fit into 64 bits")
    if isinstance(label, (bool, int)) or (isinstance(label, float) and label == label):
        return label
    if isinstance(label, float):
        raise ValueError("the label is NaN")
    raise ValueError(f"a label must be a string, a boolean or a number, not {shown(label)}")


class Labels:
    """The labels of a learner, in order. Two classes have one w (unless `lanes`): the first one is negative.

    One label alone counts as negative; the second one may sort before it. Later ones follow as they come.
    """

    def __init__(self, labels: Iterable[Any] = (), lanes: bool = False) -> None:
        known = [plain(label) for label in labels]
        if len(set(known)) < len(known):
            raise ValueError(f"the labels must be different, not {known[:10]!r}")
        self.known: list[Any] = known
        self.lanes = lanes or len(known) > 2
        # What stands for each label in the core.
        self.codes: dict[Any, float] = {
            label: float(i if self.lanes else 2 * i - 1) for i, label in enumerate(known)
        }
        self.small, self.strings = (
            all(map(_is_small, known)),
            all(isinstance(label, str) for label in known),
        )
        self.as_numbers: tuple[float, float] | None = (
            (float(known[0]), float(known[1])) if self.small and len(known) == 2 and not self.lanes else None
        )

    def _followed_by(self, fresh: Iterable[Any]) -> Labels:
        """These, each with its lane, and others behind them. What is known of these is not looked at again: labels that
        come one by one would cost the square of their number."""
        added = [plain(label) for label in fresh]
        grown = Labels.__new__(Labels)
        grown.known = [*self.known, *added]
        grown.lanes, grown.as_numbers = True, None
        grown.codes = self.codes.copy()
        grown.codes.update(zip(added, map(float, range(len(self.known), len(grown.known))), strict=True))
        if len(grown.codes) < len(grown.known):
            raise ValueError(f"the labels must be different, not {added[:10]!r}")
        grown.small = self.small and all(map(_is_small, added))
        grown.strings = self.strings and all(isinstance(label, str) for label in added)
        return grown

    def __sizeof__(self) -> int:
        """In bytes, with the labels themselves."""
        held = sys.getsizeof(self.known) + sys.getsizeof(self.codes)
        return object.__sizeof__(self) + held + sum(map(sys.getsizeof, self.known))

    @cached_property
    def in_order(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]] | None:
        """The labels in their order, and their places; None if they have none."""
        if not self.known or not (self.small or self.strings):
            return None
        import numpy as np

        array = np.asarray(self.known, dtype="f8" if self.small else "U")
        order = np.argsort(array, kind="stable")
        return array[order], order

    def of(self, score: float) -> Any:
        """Two classes: the label that a score stands for; a score of 0 is the first class."""
        if len(self.known) == 2:
            return self.known[1] if score > 0 else self.known[0]
        return self.known[0] if self.known else None

    def code(self, label: Any) -> float | None:
        try:
            return self.codes.get(label)
        except TypeError:
            raise ValueError(f"a label must be a string, a boolean or a number, not {shown(label)}") from None

    def listed(self, most: int = 10) -> str:
        shown = [repr(label) for label in self.known[:most]]
        if len(self.known) > most:
            return f"{', '.join(shown)}, ... ({len(self.known)} in all)"
        return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)

    # ---- new ones -----------------------------------------------------------------------------------------

    def with_new(self, fresh: Sequence[Any]) -> Labels:
        """These and new ones. The first two in order, sorted where they can be (booleans know both)."""
        if self.lanes:
            return self._followed_by(fresh)
        if len(self.known) >= 2:
            return Labels([*self.known, *fresh])
        first, rest = fresh[: 2 - len(self.known)], fresh[2 - len(self.known) :]
        known = [*self.known, *first]
        if len(known) == 1 and isinstance(known[0], bool):
            known = [False, True]
        with contextlib.suppress(TypeError):  # strings among numbers: as they came
            known.sort()
        return Labels([*known, *(label for label in rest if label not in known)])

    def flips(self, labels: Labels) -> bool:
        """Whether a label that is alone here, and so the negative class, is the positive one there."""
        return not self.lanes and len(self.known) == 1 and labels.known.index(self.known[0]) == 1


def _is_small(label: Any) -> bool:
    """A number that the core compares itself: float64 keeps whole numbers apart below 2^53 only."""
    return not isinstance(label, str) and abs(label) < 2**53


def in_order(labels: Collection[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # strings among numbers
        return sorted(labels, key=lambda label: (str(type(label)), label))
