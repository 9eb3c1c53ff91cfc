"""hinge: online margin learning.

It sees one example, predicts, is told the truth, and moves its predictor just far enough.

Importing this package is cheap: what you use is loaded when you first use it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import bounds as bounds
    from .catalogue import Algorithm as Algorithm
    from .catalogue import algorithms as algorithms
    from .catalogue import make as make
    from .checks import expected_failed_checks as expected_failed_checks
    from .classifier import PAClassifier as PAClassifier
    from .costs import tree_cost as tree_cost
    from .feature_maps import ClassTfIdf as ClassTfIdf
    from .feature_maps import EmailFeatures as EmailFeatures
    from .feature_maps import FeatureMap as FeatureMap
    from .files import load as load
    from .learner import Learner as Learner
    from .model_file import ModelFileError as ModelFileError
    from .multilabel import PAMultilabel as PAMultilabel
    from .oneclass import PAOneClass as PAOneClass
    from .ordinal import PAOrdinal as PAOrdinal
    from .pipeline import Features as Features
    from .pipeline import Pipeline as Pipeline
    from .ranker import PARanker as PARanker
    from .regressor import PARegressor as PARegressor
    from .sequence import PASequence as PASequence
    from .statistics import Statistics as Statistics
    from .streams.columns import read_columns as read_columns
    from .streams.columns import read_examples as read_examples
    from .structured import PAStructured as PAStructured
    from .templates import Templates as Templates
    from .text import TextClassifier as TextClassifier
    from .weighing import IneffectiveWeights as IneffectiveWeights

__version__ = "0.8.0"

_WHERE = {
    "Algorithm": "catalogue",
    "ClassTfIdf": "feature_maps",
    "EmailFeatures": "feature_maps",
    "FeatureMap": "feature_maps",
    "Features": "pipeline",
    "IneffectiveWeights": "weighing",
    "Learner": "learner",
    "ModelFileError": "model_file",
    "PAClassifier": "classifier",
    "PAMultilabel": "multilabel",
    "PAOneClass": "oneclass",
    "PAOrdinal": "ordinal",
    "PARanker": "ranker",
    "PARegressor": "regressor",
    "PASequence": "sequence",
    "PAStructured": "structured",
    "Pipeline": "pipeline",
    "Statistics": "statistics",
    "Templates": "templates",
    "TextClassifier": "text",
    "algorithms": "catalogue",
    "expected_failed_checks": "checks",
    "load": "files",
    "make": "catalogue",
    "read_columns": "streams.columns",
    "read_examples": "streams.columns",
    "tree_cost": "costs",
}
_MODULES = ("bounds", "compat", "plots", "river", "streams", "templates")

__all__ = ["__version__", *_WHERE, "bounds"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE, *_MODULES})
