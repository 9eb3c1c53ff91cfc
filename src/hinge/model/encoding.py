"""Parameters and attributes as a model file holds them: JSON, with arrays of numbers among the file's tensors.

options/validators.py decides what a parameter may be. Whatever it accepts can be written here, and comes back equal
(a number of an unusual type as the float or int that the model computes with). Functions are the exception: a file
holds no code. It notes where a function belongs, which must be given again.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

from ..data.events import is_numpy

Tensors = dict[str, Any]

NO_FUNCTIONS: Mapping[str, Any] = {}
_MOST_BITS = 1024  # of a whole number: Python reads a few thousand digits at most
_NUMBERS = "biuf"  # kinds of arrays that are tensors
_KEYS = 624  # of the Mersenne Twister, numpy's RandomState


def encoded(parameters: Mapping[str, Any], tensors: Tensors) -> dict[str, Any]:
    """Parameters by name; their arrays go to `tensors`."""
    values = {}
    for name, value in parameters.items():
        if callable(value) and name != "dtype":  # numpy's types are callable
            values[name] = {"function": name}
            continue
        try:
            values[name] = encode_value(value, tensors)
        except ValueError as error:
            raise ValueError(f"{name} cannot be saved: {error}") from None
    return values


def decoded(
    values: Mapping[str, Any], tensors: Tensors, functions: Mapping[str, Any] = NO_FUNCTIONS
) -> dict[str, Any]:
    """The parameters that `encoded` wrote. `functions`: by the names of their parameters."""
    wanted = [name for name, value in values.items() if value == {"function": name}]
    missing = [name for name in wanted if name not in functions]
    if missing:
        raise ValueError(_must_be_given(missing))
    for name in functions:
        if name not in wanted:
            raise ValueError(f"its {name} is not a function, and is in the file: load it without {name}=...")
    return {
        name: functions[name] if name in wanted else decode_value(value, tensors)
        for name, value in values.items()
    }


def _must_be_given(names: list[str]) -> str:
    given = ", ".join(f"{name}=..." for name in names)
    load = {"kernel": "hinge.load", "cost": "PASequence.load"}.get(names[0], "PAStructured.load")
    what = f"{names[0]} is a function" if len(names) == 1 else f"{', '.join(names)} are functions"
    return f"its {what}, which a file cannot hold: use {load}(path, {given})"


# ---- what a file need not hold ---------------------------------------------------------------------------------------


def without_defaults(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Encoded parameters without those that have their defaults. (To change a default is to change the version of the
    file.)"""
    return {
        name: value
        for name, value in values.items()
        if name not in defaults or type(value) is not type(defaults[name]) or value != defaults[name]
    }


def without_repeated(
    header: dict[str, Any], values: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """The header of a learner inside of an estimator: of its parameters only those that are neither the estimator's
    `values` nor, where the estimator has none, their `defaults`."""
    own = {
        name: value
        for name, value in {**defaults, **header["parameters"]}.items()
        if name not in values or values[name] != value
    }
    only_here = {name: value for name, value in defaults.items() if name not in values}
    return {**header, "parameters": without_defaults(own, only_here)}


def with_repeated(
    header: Mapping[str, Any], values: Mapping[str, Any], names: tuple[str, ...]
) -> dict[str, Any]:
    """The header that `without_repeated` was given."""
    repeated = {name: values[name] for name in names if name in values}
    return {**header, "parameters": {**repeated, **header["parameters"]}}


# ---- one value -------------------------------------------------------------------------------------------------------


def encode_value(value: Any, tensors: Tensors) -> Any:
    if value is None or type(value) in (bool, float, str):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, numbers.Integral):
        return _encode_whole(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, Mapping):
        items = [[encode_value(key, tensors), encode_value(each, tensors)] for key, each in value.items()]
        return {"dict": items}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [encode_value(each, tensors) for each in value]}
    if is_numpy(value):
        return _encode_array(value, tensors)
    return _encode_numpy(value, tensors)


def _encode_whole(value: Any) -> int:
    number = int(value)
    if number.bit_length() > _MOST_BITS:
        raise ValueError(f"a model file cannot hold a whole number of {number.bit_length()} bits")
    return number


def _encode_numpy(value: Any, tensors: Tensors) -> Any:
    """Types that only numpy has, and what numpy reads as an array."""
    import numpy as np

    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.random.RandomState):
        return {"RandomState": _state_of(value)}
    if isinstance(value, (type, np.dtype)):
        return np.dtype(value).name
    array = np.asarray(value)  # a range, a Series
    if array.ndim == 0:
        raise ValueError(f"a model file cannot hold {value!r:.100}")
    return _encode_array(array, tensors)


def _encode_array(array: Any, tensors: Tensors) -> dict[str, Any]:
    import numpy as np

    array = np.asarray(array)  # subclasses as what they hold
    if array.dtype.kind in _NUMBERS:
        kind = np.float64 if array.dtype.itemsize > 8 else array.dtype.newbyteorder("=")  # not longdouble
        return {"tensor": _put(np.ascontiguousarray(array, dtype=kind).reshape(array.shape), tensors)}
    if array.dtype.kind not in "UO":
        raise ValueError(f"a model file cannot hold an array of {array.dtype}")
    flat = [encode_value(each, tensors) for each in array.ravel().tolist()]
    return {"array": flat, "dtype": array.dtype.kind, "shape": list(array.shape)}


def _put(array: Any, tensors: Tensors) -> str:
    """The name of the array among the tensors. An estimator and its learner often have the same one."""
    name, number = "array.0", 0
    while name in tensors:
        other = tensors[name]
        if other.dtype == array.dtype and other.shape == array.shape and other.tobytes() == array.tobytes():
            return name
        number += 1
        name = f"array.{number}"
    tensors[name] = array
    return name


def decode_value(value: Any, tensors: Tensors) -> Any:
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {decode_value(key, tensors): decode_value(each, tensors) for key, each in value["dict"]}
    if "list" in value:
        return [decode_value(each, tensors) for each in value["list"]]
    if "tuple" in value:
        return tuple(decode_value(each, tensors) for each in value["tuple"])
    if "tensor" in value:
        import numpy as np

        return np.array(tensors[value["tensor"]])  # a copy: the file's bytes need not stay
    if "RandomState" in value:
        return _random_state(value["RandomState"])
    if "array" in value:
        return _decode_array(value, tensors)
    raise ValueError(f"it has a value of an unknown kind: {value!r:.100}")


def _decode_array(value: dict[str, Any], tensors: Tensors) -> Any:
    flat, kind, shape = value["array"], value["dtype"], value["shape"]
    if kind not in ("U", "O") or not isinstance(flat, list) or not isinstance(shape, list):
        raise ValueError(f"it has an array of {kind!r:.100}")
    import numpy as np

    values = [decode_value(each, tensors) for each in flat]
    if kind == "U" and not all(isinstance(each, str) for each in values):
        raise ValueError("it has an array of strings that are not strings")
    array = np.empty(len(values), dtype=object)
    for place, each in enumerate(values):
        array[place] = each
    if kind == "U":
        lengths = [len(each) for each in values]
        if len(lengths) * max(lengths, default=0) <= 2**16 + 16 * sum(lengths):
            array = array.astype(np.str_)  # pads all to the longest one: only where that takes little more
    return array.reshape([int(length) for length in shape])


# ---- numpy's generator -----------------------------------------------------------------------------------------------


def _state_of(generator: Any) -> list[Any]:
    state = generator.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ValueError(
            f"a model file cannot hold a RandomState of {state['bit_generator']}, only of MT19937"
        )
    keys, position = state["state"]["key"], state["state"]["pos"]
    return [keys.tolist(), int(position), int(state["has_gauss"]), float(state["gauss"])]


def _random_state(saved: Any) -> Any:
    """numpy checks little of it, and reads wherever the position says."""
    keys, position, has_gauss, gauss = saved
    whole = [*keys, position, has_gauss]
    if (
        len(keys) != _KEYS
        or not all(type(number) is int and 0 <= number < 2**32 for number in whole)
        or position > _KEYS
        or has_gauss > 1
        or type(gauss) is not float
        or not math.isfinite(gauss)
    ):
        raise ValueError("the state of its RandomState is not one that a generator can be in")
    import numpy as np

    generator = np.random.RandomState(0)
    generator.set_state(("MT19937", np.asarray(keys, dtype=np.uint32), position, has_gauss, gauss))
    return generator
