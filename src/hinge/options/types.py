"""The options of each class, for type checkers and editors. Generated from the options table: `make docs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..structured.feature_maps import FeatureMap


class RiverAutoClassifierOptions(TypedDict, total=False):
    experts: str | Sequence[str] | None
    max_labels: int
    fit_intercept: bool
    intercept_value: float | str
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float


class RiverAutoRegressorOptions(TypedDict, total=False):
    experts: str | Sequence[str] | None
    epsilon: float
    fit_intercept: bool
    intercept_value: float | str
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float


class AutoOrdinalOptions(TypedDict, total=False):
    experts: str | Sequence[str] | None
    classes: Sequence[Any] | npt.NDArray[Any] | None
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float
    max_iter: int
    shuffle: bool
    random_state: int | np.random.RandomState | None
    verbose: int


class AutoRegressorOptions(RiverAutoRegressorOptions, total=False):
    max_iter: int
    shuffle: bool
    random_state: int | np.random.RandomState | None
    verbose: int


class AutoClassifierOptions(AutoOrdinalOptions, total=False):
    max_labels: int
    class_weight: Mapping[Any, float] | str | None
    fit_intercept: bool
    intercept_value: float | str


class AutoMultilabelOptions(AutoOrdinalOptions, total=False):
    threshold: float | str
    max_labels: int
    fit_intercept: bool
    intercept_value: float | str


class SequenceLearnerOptions(TypedDict, total=False):
    step: str | None
    C: float | str | Sequence[float]
    margin: float
    selection: str
    cost: Any
    classes: Sequence[Any] | npt.NDArray[Any] | None
    max_labels: int
    average: bool | int | str
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float
    dtype: npt.DTypeLike
    geometry: str
    covariance_regularizer: float | str | Sequence[float]
    initial_variance: float
    covariance_update: str


class PARankerOptions(TypedDict, total=False):
    step: str | None
    margin: float
    selection: str
    cost: Any
    nu: Any
    features: str | FeatureMap
    classes: Sequence[Any] | npt.NDArray[Any] | None
    max_labels: int
    average: bool | int | str
    w1: npt.ArrayLike | Mapping[Any, float] | None
    max_features: int
    max_weights: float
    dtype: npt.DTypeLike
    max_iter: int
    shuffle: bool
    random_state: int | np.random.RandomState | None
    verbose: int


class TextClassifierOptions(TypedDict, total=False):
    analyzer: str
    ngram_range: int | Sequence[int]
    lowercase: bool
    weighting: str
    hash_bits: int | None
    max_features: int
    step: str | None
    experts: str | Sequence[str] | None
    average: bool | int | str
    fit_intercept: bool
    intercept_value: float | str
    class_weight: Mapping[Any, float] | str | None
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    early_stopping: bool
    validation_fraction: float
    shuffle: bool
    random_state: int | np.random.RandomState | None
    verbose: int


class RiverFleetRegressorOptions(TypedDict, total=False):
    shared: bool
    personal: float
    max_keys: int
    at_max_keys: str
    max_features: int
    at_max_features: str
    max_shared_features: int
    max_names: int
    memory: int | str | None
    C: float | str | Sequence[float]
    step: str | None
    epsilon: float
    geometry: str
    covariance_regularizer: float | str | Sequence[float]
    initial_variance: float
    covariance_update: str
    average: bool | int | str
    fit_intercept: bool
    intercept_value: float | str
    dtype: npt.DTypeLike


class PAStructuredOptions(TypedDict, total=False):
    step: str | None
    C: float | str | Sequence[float]
    margin: float
    selection: str
    average: bool | int | str
    hash_bits: int | None
    max_features: int
    max_weights: float
    dtype: npt.DTypeLike
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    early_stopping: bool
    validation_fraction: float
    shuffle: bool
    random_state: int | np.random.RandomState | None
    verbose: int
    geometry: str
    covariance_regularizer: float | str | Sequence[float]
    initial_variance: float
    covariance_update: str
    max_covariance: float


class RiverFleetClassifierOptions(TypedDict, total=False):
    shared: bool
    personal: float
    max_keys: int
    at_max_keys: str
    max_features: int
    at_max_features: str
    max_shared_features: int
    max_names: int
    memory: int | str | None
    C: float | str | Sequence[float]
    step: str | None
    margin: float
    beta: float | None
    geometry: str
    covariance_regularizer: float | str | Sequence[float]
    initial_variance: float
    covariance_update: str
    average: bool | int | str
    fit_intercept: bool
    intercept_value: float | str
    dtype: npt.DTypeLike
    max_labels: int


class FleetOptions(RiverFleetClassifierOptions, total=False):
    epsilon: float
    classes: Sequence[Any] | npt.NDArray[Any] | None


class PASequenceOptions(TypedDict, total=False):
    step: str | None
    margin: float
    selection: str
    cost: Any
    classes: Sequence[Any] | npt.NDArray[Any] | None
    max_labels: int
    average: bool | int | str
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float
    dtype: npt.DTypeLike
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    early_stopping: bool
    validation_fraction: float
    shuffle: bool
    random_state: int | np.random.RandomState | None
    verbose: int
    geometry: str
    covariance_regularizer: float | str | Sequence[float]
    initial_variance: float
    covariance_update: str


class RiverPARegressorOptions(TypedDict, total=False):
    step: str | None
    epsilon: float
    fit_intercept: bool
    intercept_value: float | str
    scaling: str | None
    average: bool | int | str
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float
    dtype: npt.DTypeLike
    geometry: str
    covariance_regularizer: float | str | Sequence[float]
    initial_variance: float
    covariance_update: str
    max_covariance: float
    scale: float
    signed: bool
    entropy_step: str
    kernel: str | Callable[[Any, Any], Any] | None
    degree: int
    gamma: float | str
    coef0: float
    budget: int | str | None
    removal: str
    max_cache: float


class RiverPAMultilabelOptions(TypedDict, total=False):
    step: str | None
    margin: float
    beta: float | None
    eta: float
    selection: str
    threshold: float | str
    max_labels: int
    fit_intercept: bool
    intercept_value: float | str
    scaling: str | None
    average: bool | int | str
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float
    dtype: npt.DTypeLike
    geometry: str
    covariance_regularizer: float | str | Sequence[float]
    initial_variance: float
    covariance_update: str
    max_covariance: float
    scale: float
    kernel: str | Callable[[Any, Any], Any] | None
    degree: int
    gamma: float | str
    coef0: float
    budget: int | str | None
    removal: str
    max_cache: float


class RiverPAClassifierOptions(TypedDict, total=False):
    step: str | None
    margin: float
    beta: float | None
    eta: float
    selection: str
    cost: Any
    max_labels: int
    fit_intercept: bool
    intercept_value: float | str
    scaling: str | None
    average: bool | int | str
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float
    dtype: npt.DTypeLike
    geometry: str
    covariance_regularizer: float | str | Sequence[float]
    initial_variance: float
    covariance_update: str
    max_covariance: float
    scale: float
    signed: bool
    entropy_step: str
    kernel: str | Callable[[Any, Any], Any] | None
    degree: int
    gamma: float | str
    coef0: float
    budget: int | str | None
    removal: str
    max_cache: float


class PAOneClassOptions(TypedDict, total=False):
    step: str | None
    radius: float | None
    contamination: float
    max_radius: float | None
    average: bool | int | str
    w1: npt.ArrayLike | Mapping[Any, float] | None
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float
    dtype: npt.DTypeLike
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    early_stopping: bool
    validation_fraction: float
    shuffle: bool
    batch_tolerance: float | None
    max_updates: int
    random_state: int | np.random.RandomState | None
    verbose: int
    geometry: str
    scale: float
    signed: bool
    entropy_step: str
    kernel: str | Callable[[Any, Any], Any] | None
    degree: int
    gamma: float | str
    coef0: float
    budget: int | str | None
    removal: str
    max_cache: float


class PARegressorOptions(RiverPARegressorOptions, total=False):
    w1: npt.ArrayLike | Mapping[Any, float] | None
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    early_stopping: bool
    validation_fraction: float
    shuffle: bool
    batch_tolerance: float | None
    max_updates: int
    random_state: int | np.random.RandomState | None
    verbose: int


class PAOrdinalOptions(TypedDict, total=False):
    step: str | None
    margin: float
    selection: str
    nu: Any
    sort_thresholds: bool | None
    classes: Sequence[Any] | npt.NDArray[Any] | None
    scaling: str | None
    average: bool | int | str
    w1: npt.ArrayLike | Mapping[Any, float] | None
    hash_bits: int | None
    max_features: int
    at_max_features: str
    max_weights: float
    dtype: npt.DTypeLike
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    early_stopping: bool
    validation_fraction: float
    shuffle: bool
    batch_tolerance: float | None
    max_updates: int
    random_state: int | np.random.RandomState | None
    verbose: int
    geometry: str
    covariance_regularizer: float | str | Sequence[float]
    initial_variance: float
    covariance_update: str
    max_covariance: float
    scale: float
    kernel: str | Callable[[Any, Any], Any] | None
    degree: int
    gamma: float | str
    coef0: float
    budget: int | str | None
    removal: str
    max_cache: float


class PAMultilabelOptions(RiverPAMultilabelOptions, total=False):
    nu: Any
    classes: Sequence[Any] | npt.NDArray[Any] | None
    w1: npt.ArrayLike | Mapping[Any, float] | None
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    early_stopping: bool
    validation_fraction: float
    shuffle: bool
    batch_tolerance: float | None
    max_updates: int
    random_state: int | np.random.RandomState | None
    verbose: int


class LearnerOptions(RiverPAClassifierOptions, total=False):
    C: float | str | Sequence[float]
    experts: str | Sequence[str] | None
    epsilon: float
    radius: float | None
    contamination: float
    max_radius: float | None
    nu: Any
    threshold: float | str
    sort_thresholds: bool | None
    classes: Sequence[Any] | npt.NDArray[Any] | None
    class_weight: Mapping[Any, float] | str | None
    w1: npt.ArrayLike | Mapping[Any, float] | None


class PAClassifierOptions(RiverPAClassifierOptions, total=False):
    nu: Any
    classes: Sequence[Any] | npt.NDArray[Any] | None
    class_weight: Mapping[Any, float] | str | None
    w1: npt.ArrayLike | Mapping[Any, float] | None
    max_iter: int
    tol: float | None
    n_iter_no_change: int
    early_stopping: bool
    validation_fraction: float
    shuffle: bool
    batch_tolerance: float | None
    max_updates: int
    random_state: int | np.random.RandomState | None
    verbose: int
