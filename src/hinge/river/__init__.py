"""hinge for River's pipelines: PAClassifier, PARegressor and PAMultilabel over a `hinge.Learner`, AutoClassifier and
AutoRegressor, which need no option, and FleetClassifier and FleetRegressor, which keep a small model for each key."""

from .fleets import FleetClassifier, FleetRegressor
from .learners import AutoClassifier, AutoRegressor, PAClassifier, PAMultilabel, PARegressor

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "FleetClassifier",
    "FleetRegressor",
    "PAClassifier",
    "PAMultilabel",
    "PARegressor",
]
