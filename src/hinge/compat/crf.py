"""`hinge.compat.CRF`: a drop-in replacement for sklearn-crfsuite's class, over `PASequence`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ..options.constructors import constructor
from ..structured.sequence import PASequence

_STEPS = {0: "pa", 1: "pa1", 2: "pa2"}
# Parameters of other ways to train, which hinge ignores.
_UNUSED = (
    "min_freq", "c1", "c2", "num_memories", "epsilon", "period", "delta", "linesearch", "max_linesearch",
    "calibration_eta", "calibration_rate", "calibration_samples", "calibration_candidates",
    "calibration_max_trials", "model_filename", "trainer_cls",
)  # fmt: skip


@constructor()
class CRF(BaseEstimator):
    """Takes the parameters of `sklearn_crfsuite.CRF` and learns by margins: algorithm 'pa', 'ap' or 'arow'.

    'pa' uses `pa_type`, `c`, `error_sensitive` and `averaging`; 'arow' uses `variance` and `gamma`; 'ap' is the
    averaged perceptron. All use `max_iterations`. 'lbfgs' and 'l2sgd' maximise a likelihood, which hinge does not: it
    warns and uses 'pa'. There are no marginal probabilities. The weights of all features and all transitions are
    learned (as with all_possible_states and all_possible_transitions), and those of the first tag. Features have the
    same names: {"word": "the"} is the feature 'word:the'. `model_` is the `PASequence` inside: it can be saved, and can
    continue to learn online.

    >>> from hinge.compat import CRF
    >>> X = [[{"word": "the"}, {"word": "man"}], [{"word": "the"}, {"word": "old"}, {"word": "man"}]]
    >>> crf = CRF(algorithm="pa", max_iterations=5).fit(X, [["DET", "NOUN"], ["DET", "ADJ", "NOUN"]])
    >>> crf.predict_single([{"word": "the"}, {"word": "old"}])
    ['DET', 'ADJ']
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: float | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: Any = None,
        random_state: int | None = 0,
    ) -> None: ...

    def _options(self) -> dict[str, Any]:
        """The options of `PASequence`."""
        passes = 100 if self.max_iterations is None else self.max_iterations
        common = {"selection": "prediction", "max_iter": passes, "verbose": int(self.verbose)}
        if self.algorithm == "ap":
            return {**common, "step": "perceptron", "average": True}
        if self.algorithm == "arow":
            gamma = 1.0 if self.gamma is None else self.gamma
            variance = 1.0 if self.variance is None else self.variance
            return {
                **common, "step": "pa2", "C": 1 / (2 * gamma), "geometry": "diagonal",
                "covariance_update": "precision", "covariance_regularizer": gamma, "initial_variance": variance,
                "average": False,
            }  # fmt: skip
        if self.algorithm not in ("pa", "lbfgs", "l2sgd", None):
            raise ValueError(f"algorithm must be 'pa', 'ap' or 'arow', not {self.algorithm!r}")
        if self.pa_type not in (None, *_STEPS):
            raise ValueError(f"pa_type must be 0, 1 or 2, not {self.pa_type!r}")
        return {
            **common, "step": _STEPS[1 if self.pa_type is None else self.pa_type],
            "C": 1.0 if self.c is None else self.c, "average": self.averaging is not False,
            "cost": any_mistake if self.error_sensitive is False else None,
        }  # fmt: skip

    def fit(self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> Self:
        """Learns from scratch. With X_dev and y_dev, `verbose` also prints the fraction of right tags in them."""
        if self.algorithm in (None, "lbfgs", "l2sgd"):
            warnings.warn(
                f"algorithm={self.algorithm or 'lbfgs'!r} maximises a likelihood; hinge learns by margins, with "
                "algorithm='pa'",
                stacklevel=2,
            )
        unused = [name for name in _UNUSED if getattr(self, name) is not None]
        if unused:
            warnings.warn(f"hinge ignores {', '.join(unused)}", stacklevel=2)
        self.model_ = PASequence(random_state=self.random_state, **self._options()).fit(_flat(X), y)
        if self.verbose and X_dev is not None:
            print(f"tags that are right in the development set: {self.score(X_dev, y_dev):.4f}", flush=True)
        return self

    def _fitted(self) -> PASequence:
        if "model_" not in self.__dict__:
            raise NotFittedError("This CRF instance is not fitted yet. Call 'fit' before using it.")
        return self.model_

    def predict(self, X: Any) -> list[list[Any]]:
        """The best tags of each sentence."""
        return self._fitted().predict(_flat(X))

    def predict_single(self, xseq: Any) -> list[Any]:
        """The best tags of one sentence."""
        return self.predict([xseq])[0]

    def predict_marginals(self, X: Any) -> Any:
        """Not supported: margins are not probabilities."""
        raise NotImplementedError("hinge learns margins, not probabilities: there are no marginals")

    predict_marginals_single = predict_marginals

    def score(self, X: Any, y: Any) -> float:
        """The fraction of the tags that are right."""
        return self._fitted().score(_flat(X), y)

    classes_ = property(lambda self: self._fitted().classes_)
    attributes_ = property(lambda self: self._fitted().attributes_)
    num_attributes_ = property(lambda self: len(self._fitted().attributes_))
    size_ = property(lambda self: sys.getsizeof(self._fitted()._learner))
    transition_features_ = property(lambda self: self._fitted().transition_features_)
    state_features_ = property(lambda self: self._fitted().state_features_)


def any_mistake(truth: list[Any], predicted: list[Any]) -> float:
    """error_sensitive=False: one wrong tag costs as much as many."""
    return float(truth != predicted)


def _flat(X: Any) -> Any:
    """Sentences with the feature names of python-crfsuite: {"a": "b"} is 'a:b', {"a": {"b": "c"}} is 'a:b:c'."""
    if not isinstance(X, (list, tuple)):
        return X
    return [
        [_flat_token(token) if isinstance(token, Mapping) else token for token in sentence]
        if isinstance(sentence, (list, tuple))
        else sentence
        for sentence in X
    ]


def _flat_token(token: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in token.items():
        if isinstance(value, str):
            flat[f"{prefix}{key}:{value}"] = 1.0
        elif isinstance(value, Mapping):
            flat.update(_flat_token(value, f"{prefix}{key}:"))
        elif isinstance(value, (list, tuple, set, frozenset)):
            flat.update(dict.fromkeys((f"{prefix}{key}:{each}" for each in value), 1.0))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
