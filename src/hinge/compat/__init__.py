"""Drop-in classes: scikit-learn's Passive-Aggressive ones and sklearn-crfsuite's CRF. Change only the import."""

from .crf import CRF
from .passive_aggressive import PassiveAggressiveClassifier, PassiveAggressiveRegressor

__all__ = ["CRF", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor"]
