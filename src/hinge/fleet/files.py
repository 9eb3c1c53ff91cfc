"""Fleets in files: a header of JSON, which Python writes, and what the core writes (cpp/fleet/changes/format.hpp)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._core import FleetChanges
from ..data.errors import InputError
from ..data.labels import plain
from ..model import encoding, file
from ..model.locks import check_folder
from ..options.classes import CLASSES

if TYPE_CHECKING:
    from .fleet import Fleet

# What may differ between a fleet and its copies: how much there may be of everything.
LIMITS = (
    "max_keys",
    "at_max_keys",
    "max_features",
    "at_max_features",
    "max_shared_features",
    "max_names",
    "memory",
)


def header_of(fleet: Fleet) -> str:
    parameters = dict(fleet.parameters)
    if parameters["classes"] is not None:
        parameters["classes"] = [plain(label) for label in parameters["classes"]]
    if not isinstance(fleet.notes, dict):
        raise ValueError(f"notes must be a dict, not {fleet.notes!r}")
    return file.header_text(
        {
            "kind": "Fleet",
            "task": fleet.task,
            "parameters": encoding.without_defaults(
                encoding.encoded(parameters, {}), CLASSES["Fleet"].completed({})
            ),
            "notes": file.checked_notes(fleet.notes),
        }
    )


def fleet_of(cls: type[Fleet], text: str, limits: Mapping[str, Any], source: str) -> Fleet:
    """An empty fleet with the options of a header."""
    for name in limits:
        if name not in LIMITS:
            raise ValueError(
                f"{name} is part of what was saved; other limits can be given: {', '.join(LIMITS)}"
            )
    try:
        header = json.loads(text)
        parameters = encoding.decoded(header["parameters"], {})
        fleet = cls(header["task"], **{**parameters, **limits})
        fleet.notes = file.notes_of(header)
    except file.ABSURD as error:
        raise file.ModelFileError(
            f"{source} does not describe a fleet that this hinge knows: {error}"
        ) from error
    return fleet


def save(fleet: Fleet, path: str | os.PathLike[str], since: int = 0) -> tuple[int, str]:
    """Writes what has changed since a moment. Returns the moment of the file, and the maker of the last change."""
    check_folder(path)
    written: tuple[int, str] = fleet._core.save(os.fsencode(path), since, header_of(fleet))
    return written


def opened_file(path: str | os.PathLike[str]) -> FleetChanges:
    changes: FleetChanges = FleetChanges.of_file(os.fsencode(path), str(path))
    return changes


def opened(data: bytes) -> FleetChanges:
    if not isinstance(data, bytes):
        raise TypeError(f"the data must be bytes, not {type(data).__name__}")
    changes: FleetChanges = FleetChanges.of_bytes(data, "the data")
    return changes


def load(cls: type[Fleet], path: str | os.PathLike[str], limits: Mapping[str, Any]) -> Fleet:
    changes = opened_file(path)
    return filled(fleet_of(cls, changes.header, limits, str(path)), changes, str(path))


def from_bytes(cls: type[Fleet], data: bytes, limits: Mapping[str, Any]) -> Fleet:
    changes = opened(data)
    return filled(fleet_of(cls, changes.header, limits, "the data"), changes, "the data")


def filled(fleet: Fleet, changes: FleetChanges, source: str) -> Fleet:
    try:
        fleet._core.apply(changes)
    except InputError as error:
        raise file.ModelFileError(f"{source} contradicts itself: {error}") from error
    return fleet


def notes_of(changes: FleetChanges, source: str) -> dict[str, Any]:
    try:
        return file.notes_of(json.loads(changes.header))
    except file.ABSURD as error:
        raise file.ModelFileError(f"{source} has an invalid header: {error}") from error
