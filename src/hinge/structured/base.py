"""The base class of `PASequence`, `PAStructured` and `PARanker`."""

from __future__ import annotations

from typing import Any, ClassVar

from ..data.target_arrays import class_list
from ..estimators.base import StreamEstimator


class StructuredEstimator(StreamEstimator):
    """An estimator that learns lists of examples other than vectors."""

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C", "margin")
    _kept: ClassVar[tuple[str, ...]] = ("n_iter_",)

    def _first_classes(self, classes: Any) -> list[Any]:
        """The labels that the first `partial_fit` needs: those of the constructor, or else `classes`."""
        known = classes if self.classes is None else self.classes
        if known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        known = class_list(known)
        if classes is not None and set(class_list(classes)) != set(known):
            raise ValueError(f"classes={classes!r} are not those of the constructor: {known!r}")
        return known

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags
