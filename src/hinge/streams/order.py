"""The order of the labels. If equal labels come in runs, predicting the last label again has a low error, and so has
any online learner: then the progressive error says little about data in another order.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from .._core import count_changes

ENOUGH = 200  # examples, before there is a remark
SAMPLED = 64  # of a batch, to know how often each label occurs


class Order:
    def __init__(self) -> None:
        self.count = self.changes = 0
        self._last: Any = None
        self._sample: Counter[Any] = Counter()

    def see(self, y: Any) -> None:
        """The labels of a batch, one each."""
        if not len(y):
            return
        changes: int
        if isinstance(y, memoryview):  # the core takes any buffer
            changes = count_changes(y)  # type: ignore[arg-type]
        else:
            changes = sum(one != other for one, other in zip(y[1:], y[:-1], strict=True))
        self.changes += changes + bool(self.count and y[0] != self._last)
        self.count += len(y)
        self._last = y[-1]
        self._sample.update(list(y[:: -(-len(y) // SAMPLED)]))

    @property
    def error(self) -> float:
        """Of predicting the last label again."""
        return self.changes / max(1, self.count - 1)

    @property
    def usual(self) -> float:
        """The same in random order."""
        total = sum(self._sample.values())
        return 1 - sum((count / total) ** 2 for count in self._sample.values()) if total else 0.0

    def remarks(self) -> list[str]:
        if self.count < ENOUGH or self.error >= self.usual / 3:
            return []
        return [
            f"The labels come in runs: predicting the last one again errs {100 * self.error:.2g} %, but it would err "
            f"{100 * self.usual:.2g} % in random order. The progressive error holds for this order only; "
            "--shuffle shuffles the examples."
        ]
