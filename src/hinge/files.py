"""`hinge.load`: whatever was saved, as what it was."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from . import model_file

# What a file may say that it is, and the class that reads it. Nothing else is ever imported or run.
_KINDS = {
    "Learner": ("hinge.learner", "Learner"),
    "PAClassifier": ("hinge.classifier", "PAClassifier"),
    "PARegressor": ("hinge.regressor", "PARegressor"),
    "PAOneClass": ("hinge.oneclass", "PAOneClass"),
    "PAMultilabel": ("hinge.multilabel", "PAMultilabel"),
    "PAOrdinal": ("hinge.ordinal", "PAOrdinal"),
    "PARanker": ("hinge.ranker", "PARanker"),
    "PASequence": ("hinge.sequence", "PASequence"),
    "TextClassifier": ("hinge.text", "TextClassifier"),
    "PAStructured": ("hinge.structured", "PAStructured"),
    "Pipeline": ("hinge.pipeline", "Pipeline"),
    "SequenceLearner": ("hinge.sequence_learner", "SequenceLearner"),
    "river.PAClassifier": ("hinge.river", "PAClassifier"),
    "river.PARegressor": ("hinge.river", "PARegressor"),
    "river.PAMultilabel": ("hinge.river", "PAMultilabel"),
}


def load(path: str | os.PathLike[str], kernel: Any = None) -> Any:
    """Reads a model that `save` wrote. It goes on learning to the bit as if it had never stopped.

    No file holds code: if its kernel is a function of one's own, give it again.
    """
    header, tensors = model_file.read(path)
    try:
        return model_of(header, tensors, {} if kernel is None else {"kernel": kernel})
    except model_file.ABSURD as error:
        what = f"{path} does not describe a model that this hinge knows"
        raise model_file.ModelFileError(f"{what}: {error}") from error


def model_of(header: dict[str, Any], tensors: model_file.Tensors, functions: Mapping[str, Any]) -> Any:
    module, name = _KINDS[header["kind"]]
    return getattr(importlib.import_module(module), name).from_parts(header, tensors, functions)
