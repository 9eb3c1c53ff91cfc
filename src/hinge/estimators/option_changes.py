"""Changes of options while a model learns: every learning method follows a change, or rejects it.

A model that has a learner is *ready* while its options are those that the learner knows: `_ready` is that learner.
Assigning to an option, by `set_params` or as an attribute, removes `_ready`; a learning method that does not find it
compares the options first. So events do not pay for the comparison. (A list or dict that is changed in place is not
detected.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from ..data.events import is_numpy
from ..model.engine import is_single
from ..options import hints, table
from ..options.parameter import Parameter


class FollowsOptions:
    """The base of all models that have options and a learner."""

    _task: ClassVar[str]
    _option_names: ClassVar[frozenset[str]] = frozenset()
    _parameters: ClassVar[Mapping[str, Parameter]] = {}  # the rows of the table; `constructor` sets both
    _changeable: ClassVar[tuple[str, ...]] = ("step", "C")  # what the learner can change in mid-stream
    _live: ClassVar[tuple[str, ...]] = ()  # read whenever they are used, so they can always change
    _start_anew: ClassVar[str] = "start anew with `fit`"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._option_names = hints.names_of(cls.__init__)
        hints.explain_unknown_options(cls, getattr(cls, "_task", None))

    def _initialized(self) -> None:
        """Runs at the end of the constructor."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._option_names:
            object.__setattr__(self, name, value)
            return
        mine = self.__dict__
        mine.pop("_ready", None)  # first, because an interrupt may come after it
        mine[name] = value
        mine.pop("_ready", None)  # and again, because another thread may have compared meanwhile

    def _options_now(self) -> dict[str, Any]:
        mine = self.__dict__
        return {name: mine[name] for name in self._option_names}

    def _keep(self, learner: Any, **attributes: Any) -> Self:
        """Keeps the learner and its attributes in one step: an interrupt finds all of them or none."""
        self.__dict__.update(attributes, _learner=learner, _used=self._options_now(), _ready=learner)
        return self

    def _current(self) -> Any:
        """The learner, with the options as they are now; None before the first example."""
        mine = self.__dict__
        ready = mine.get("_ready")
        if ready is not None:
            return ready
        learner = mine.get("_learner")
        if learner is None:
            return None
        try:
            mine["_ready"] = learner  # before the comparison: an option that changes meanwhile removes it
            self._follow(learner)
        except BaseException:
            mine.pop("_ready", None)
            raise
        return learner

    def _follow(self, learner: Any) -> None:
        """Passes changed options to the learner. Raises ValueError for those that cannot change."""
        changed = self._changed()
        if not changed:
            return
        self._check_options()
        fixed = sorted(changed - {*self._changeable, *self._live, *table.OF_FIT})
        if fixed:
            used, now = self.__dict__["_used"], self.__dict__
            words = ", ".join(f"{name} was {used[name]!r:.100} and is {now[name]!r:.100}" for name in fixed)
            raise ValueError(
                f"{', '.join(fixed)} cannot change once learning has begun ({words}): set it back, or "
                f"{self._start_anew}"
            )
        self._pass_on(learner, changed)

    def _changed(self) -> set[str]:
        used, mine = self.__dict__["_used"], self.__dict__
        return {name for name in self._option_names if not same(name, mine[name], used[name])}

    def _pass_on(self, learner: Any, changed: set[str]) -> None:
        """Changes the learner. (After an interrupt before the end, the changes are passed on again.)"""
        mine = self.__dict__
        changes = {name: mine[name] for name in self._changeable if name in changed}
        if changes:
            learner.change(**changes)
        self._used = {**mine["_used"], **{name: mine[name] for name in changed}}

    def _check_options(self) -> None:
        mine, rows, names = self.__dict__, self._parameters, self._option_names
        table.check(self._task, {name: mine[name] for name in rows if name in names}, rows)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: a copy compares its options again."""
        return {name: value for name, value in self.__dict__.items() if name != "_ready"}


def same(name: str, one: Any, other: Any) -> bool:
    """Whether two values of an option are equal."""
    if one is other:
        return True
    try:
        if name == "dtype":
            return is_single(one) == is_single(other)
        if is_numpy(one) or is_numpy(other):
            return bool(np.array_equal(one, other))
        return bool(one == other)
    except (TypeError, ValueError):
        return False
