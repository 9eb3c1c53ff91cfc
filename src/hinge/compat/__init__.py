"""Drop-in replacements for scikit-learn's Passive-Aggressive classes and sklearn-crfsuite's CRF."""

from .crf import CRF
from .passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor

__all__ = ["CRF", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor"]
