"""`hinge.load`: whatever was saved, as what it was."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from . import file

# What a file may say that it is, and the class that reads it. Nothing else is ever imported or run.
_KINDS = {
    "Learner": ("hinge.learner", "Learner"),
    "PAClassifier": ("hinge.estimators.classifier", "PAClassifier"),
    "PARegressor": ("hinge.estimators.regressor", "PARegressor"),
    "PAOneClass": ("hinge.estimators.oneclass", "PAOneClass"),
    "PAMultilabel": ("hinge.estimators.multilabel", "PAMultilabel"),
    "PAOrdinal": ("hinge.estimators.ordinal", "PAOrdinal"),
    "AutoClassifier": ("hinge.estimators.auto", "AutoClassifier"),
    "AutoMultilabel": ("hinge.estimators.auto", "AutoMultilabel"),
    "AutoOrdinal": ("hinge.estimators.auto", "AutoOrdinal"),
    "AutoRegressor": ("hinge.estimators.auto", "AutoRegressor"),
    "PARanker": ("hinge.structured.ranker", "PARanker"),
    "PASequence": ("hinge.structured.sequence", "PASequence"),
    "TextClassifier": ("hinge.estimators.text", "TextClassifier"),
    "PAStructured": ("hinge.structured.structured", "PAStructured"),
    "Pipeline": ("hinge.features.pipeline", "Pipeline"),
    "SequenceLearner": ("hinge.structured.sequence_learner", "SequenceLearner"),
    "river.PAClassifier": ("hinge.river", "PAClassifier"),
    "river.PARegressor": ("hinge.river", "PARegressor"),
    "river.PAMultilabel": ("hinge.river", "PAMultilabel"),
    "river.AutoClassifier": ("hinge.river", "AutoClassifier"),
    "river.AutoRegressor": ("hinge.river", "AutoRegressor"),
}


def load(path: str | os.PathLike[str], kernel: Any = None) -> Any:
    """Reads a model that `save` wrote. It resumes bit-identically.

    A file holds no code: if the kernel is a custom function, give it again.
    """
    if _is_fleet(path):
        return importlib.import_module("hinge.fleet").Fleet.load(path)
    header, tensors = file.read(path)
    try:
        return model_of(header, tensors, {} if kernel is None else {"kernel": kernel})
    except file.ABSURD as error:
        what = f"{path} does not describe a model that this hinge knows"
        raise file.ModelFileError(f"{what}: {error}") from error


def _is_fleet(path: str | os.PathLike[str]) -> bool:
    if os.path.isdir(path):
        return os.path.exists(os.path.join(path, "fleet.json"))
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(12) == b"hinge-fleet\n"


def model_of(header: dict[str, Any], tensors: file.Tensors, functions: Mapping[str, Any]) -> Any:
    module, name = _KINDS[header["kind"]]
    return getattr(importlib.import_module(module), name).from_parts(header, tensors, functions)
