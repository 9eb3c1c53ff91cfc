"""Model files with a change inside: what the tests of bad files share."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import hinge
from hinge import ModelFileError
from hinge._core import file_beginning
from hinge.model import file


def header_with(*path, value):
    def change(header, tensors):
        inside = header
        for name in path[:-1]:
            inside = inside[name]
        inside[path[-1]] = value

    return change


def header_without(*path):
    def change(header, tensors):
        inside = header
        for name in path[:-1]:
            inside = inside[name]
        del inside[path[-1]]

    return change


def tensor(name, function):
    def change(header, tensors):
        tensors[name] = function(tensors[name].copy())

    return change


def put(name, place, value):
    def change(header, tensors):
        tensors[name] = tensors[name].copy()
        tensors[name][place] = value

    return change


def text(name, value):
    """A tensor that holds JSON."""
    encoded = np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
    return lambda header, tensors: tensors.update({name: encoded})


def of_version(version, header, tensors):
    """The bytes of a file that claims another version of the format."""
    beginning, order = file_beginning(json.dumps(header), tensors, version)
    return beginning + b"".join(tensors[name].tobytes() for name in order)


def names(value):
    return text("names", value)


def labels(value):
    return text("labels", value)


def leaves(value, path=()):
    """The places of all values in nested dicts and lists."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        yield from leaves(inside, (*path, key))


def changed(model, change):
    header, tensors = model.to_parts()
    header, tensors = copy.deepcopy(header), dict(tensors)
    change(header, tensors)
    return file.to_bytes(header, tensors)


def refused(data, tmp_path):
    with pytest.raises(ModelFileError):
        hinge.Learner.from_bytes(data)
    (tmp_path / "a-model").write_bytes(data)
    with pytest.raises(ModelFileError, match="a-model"):
        hinge.load(tmp_path / "a-model")


def without(name):
    return lambda header, tensors: tensors.pop(name)
