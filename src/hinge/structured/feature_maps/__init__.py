"""Features that depend on the label, phi(x, r): `PARanker` scores them with one weight vector for all labels.

feature_map.py has the interface, word_maps.py the two maps that hinge provides, counts.py their word counts, files.py
what model files contain.
"""

from .feature_map import FeatureMap as FeatureMap
from .feature_map import checked_features as checked_features
from .word_maps import ClassTfIdf as ClassTfIdf
from .word_maps import EmailFeatures as EmailFeatures
