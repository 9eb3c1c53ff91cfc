"""Feature maps in model files: their kind, their options and their state."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model import encoding
from .feature_map import FeatureMap, name_of
from .word_maps import ClassTfIdf, EmailFeatures

MAPS: dict[str, type[ClassTfIdf] | type[EmailFeatures]] = {"tfidf": ClassTfIdf, "email": EmailFeatures}
_BY_NAME = {kind.__name__: kind for kind in MAPS.values()}


def saved_options(feature_map: FeatureMap) -> dict[str, Any] | None:
    """The options of a map of hinge, for the file; None for custom maps and custom tokenizers, which files cannot
    contain."""
    if type(feature_map) is not ClassTfIdf and type(feature_map) is not EmailFeatures:
        return None
    options = feature_map.options()
    return encoding.encoded(options, {}) if options["tokenizer"] is None else None


def saved_map(saved: dict[str, Any], given: FeatureMap | None) -> FeatureMap:
    """A new map with the kind and the options of a file, or a copy of the given one."""
    kind = saved["kind"]
    if given is not None:
        if type(given).__name__ != kind:
            raise ValueError(f"the model was saved with the feature map {kind}, not {given!r}")
        return copy.deepcopy(given)
    if saved["options"] is None:
        raise ValueError(
            f"its feature map, {kind}, is custom code or has a custom tokenizer, which files do not contain: use "
            f"PARanker.load(path, features={kind}(...))"
        )
    return _BY_NAME[kind](**encoding.decoded(saved["options"], {}))


def state_to_tensors(prefix: str, feature_map: FeatureMap, tensors: dict[str, npt.NDArray[Any]]) -> None:
    """Adds the state of a map to the tensors of a file: its arrays, and the rest as JSON."""
    state = feature_map.state()
    arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    try:
        rest = json.dumps({name: value for name, value in state.items() if name not in arrays})
    except (TypeError, ValueError) as error:
        raise TypeError(f"the state of {name_of(feature_map)} cannot be saved: {error}") from None
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise TypeError(
                f"the state of {name_of(feature_map)}: {name!r} must hold numbers, not {array.dtype}"
            )
        tensors[f"{prefix}.{name}"] = array
    tensors[prefix] = np.frombuffer(rest.encode(), dtype=np.uint8)


def state_from_tensors(prefix: str, tensors: dict[str, npt.NDArray[Any]]) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(tensors[prefix].tobytes())
    for name, tensor in tensors.items():
        if name.startswith(f"{prefix}."):
            state[name.removeprefix(f"{prefix}.")] = tensor.copy()  # the map may change it in place
    return state
