"""hinge: online margin learning.

A model predicts one example, gets the true label, and updates its weights just enough.

Importing this package is inexpensive: modules are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import theory as theory
    from .data.errors import InputError as InputError
    from .data.weights import IneffectiveWeights as IneffectiveWeights
    from .estimators.auto import AutoClassifier as AutoClassifier
    from .estimators.auto import AutoMultilabel as AutoMultilabel
    from .estimators.auto import AutoOrdinal as AutoOrdinal
    from .estimators.auto import AutoRegressor as AutoRegressor
    from .estimators.checks import expected_failed_checks as expected_failed_checks
    from .estimators.classifier import PAClassifier as PAClassifier
    from .estimators.multilabel import PAMultilabel as PAMultilabel
    from .estimators.oneclass import PAOneClass as PAOneClass
    from .estimators.ordinal import PAOrdinal as PAOrdinal
    from .estimators.regressor import PARegressor as PARegressor
    from .estimators.text import TextClassifier as TextClassifier
    from .features.features import Features as Features
    from .features.pipeline import Pipeline as Pipeline
    from .fleet.fleet import Fleet as Fleet
    from .learner import Learner as Learner
    from .model.file import ModelFileError as ModelFileError
    from .model.loading import load as load
    from .model.statistics import Statistics as Statistics
    from .options.catalogue import Algorithm as Algorithm
    from .options.catalogue import algorithms as algorithms
    from .options.catalogue import make as make
    from .streams.formats.columns import read_columns as read_columns
    from .streams.formats.columns import read_examples as read_examples
    from .structured.feature_maps import ClassTfIdf as ClassTfIdf
    from .structured.feature_maps import EmailFeatures as EmailFeatures
    from .structured.feature_maps import FeatureMap as FeatureMap
    from .structured.ranker import PARanker as PARanker
    from .structured.sequence import PASequence as PASequence
    from .structured.structured import PAStructured as PAStructured
    from .structured.templates import Templates as Templates
    from .tasks.costs import tree_cost as tree_cost

__version__ = "0.9.0"

_WHERE = {
    "Algorithm": "options.catalogue",
    "AutoClassifier": "estimators.auto",
    "AutoMultilabel": "estimators.auto",
    "AutoOrdinal": "estimators.auto",
    "AutoRegressor": "estimators.auto",
    "ClassTfIdf": "structured.feature_maps",
    "EmailFeatures": "structured.feature_maps",
    "FeatureMap": "structured.feature_maps",
    "Features": "features.pipeline",
    "Fleet": "fleet.fleet",
    "IneffectiveWeights": "data.weights",
    "InputError": "data.errors",
    "Learner": "learner",
    "ModelFileError": "model.file",
    "PAClassifier": "estimators.classifier",
    "PAMultilabel": "estimators.multilabel",
    "PAOneClass": "estimators.oneclass",
    "PAOrdinal": "estimators.ordinal",
    "PARanker": "structured.ranker",
    "PARegressor": "estimators.regressor",
    "PASequence": "structured.sequence",
    "PAStructured": "structured.structured",
    "Pipeline": "features.pipeline",
    "Statistics": "model.statistics",
    "Templates": "structured.templates",
    "TextClassifier": "estimators.text",
    "algorithms": "options.catalogue",
    "expected_failed_checks": "estimators.checks",
    "load": "model.loading",
    "make": "options.catalogue",
    "read_columns": "streams.formats.columns",
    "read_examples": "streams.formats.columns",
    "tree_cost": "tasks.costs",
}
_MODULES = ("compat", "fleet", "plots", "river", "streams", "theory")

__all__ = ["__version__", *_WHERE, "theory"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE, *_MODULES})
