"""`Fleet`: a small model for each of many keys, in one object."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self, Unpack

from .._core import Fleet as _Core
from ..data.errors import InputError
from ..data.weights import check_weight
from ..model.statistics import Statistics
from ..options.classes import CLASSES
from ..options.constructors import filled, signature
from . import files, settings, snapshots
from .batches import Features, features_of, truths_of, weights_of, with_keys, with_labels
from .view import View, named_weights, statistics_of

if TYPE_CHECKING:
    from ..data.types import Doubles
    from ..options.types import FleetOptions
    from ..theory.certificate import Certificate
    from .view import Share

Key = str | int
# What `top` can sort by: columns of `_core.Fleet.summary`.
COLUMNS = ("features", "rounds", "mistakes", "updates", "cost", "loss", "bytes")
SUMS = ("cost", "loss")  # those of them that are no counts


class Fleet:
    """A small model for each of many keys: users, sensors, shops, words.

    `task` is 'classification' or 'regression'. Keys are strings or whole numbers. New keys, features and labels may
    appear at any time. By default all keys share a model, and each has a personal part on top of it: a new key is
    predicted well from its first example on. `shared=False` gives each key a model of its own, which equals a
    `Learner` that learns the same examples, bit for bit.

    A key with 100 features takes about 1.8 kB. Invalid input raises `InputError` and changes nothing; a batch is
    learned as a whole or not at all. A fleet can be shared by threads; batches release the GIL.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import Fleet
    >>> fleet = Fleet("classification")
    >>> fleet.learn_one("ann", {"football": 1, "long": 1}, "likes")
    >>> fleet.learn_one("bob", {"football": 1, "short": 1}, "dislikes")
    >>> fleet.predict_one("ann", {"football": 1, "long": 1})
    'likes'
    >>> len(fleet), "ann" in fleet, fleet["bob"].statistics.rounds
    (2, True, 1)
    """

    @signature("Fleet")
    def __init__(self, task: str, **options: Unpack[FleetOptions]) -> None:
        self._task, self.parameters = settings.completed(task, options)
        self.task = self._task.name
        self._core = _Core(**settings.of_core(self._task, self.parameters))
        self._core.set_labels(self._task.first_labels(settings.of_learner(self.parameters)).known)
        self.notes: dict[str, Any] = {}  # JSON that is saved with the fleet, such as where its data came from

    # ---- one event --------------------------------------------------------------------------------------------

    def learn_one(self, key: Key, x: dict[Any, Any], y: Any, weight: float = 1.0) -> None:
        """Learns one example of a key: its features, a dict of names and values, and its label or number."""
        try:
            self._core.learn_one(key, x, y, weight)
        except TypeError:
            check_weight(weight)
            raise

    def predict_one(self, key: Key, x: dict[Any, Any]) -> Any:
        """The label (None before the first one) or the number. A new key is predicted by the shared weights."""
        return self._core.predict_one(key, x)

    def round_one(self, key: Key, x: dict[Any, Any], y: Any, weight: float = 1.0) -> Any:
        """Predicts, then learns, and returns the prediction."""
        try:
            return self._core.round_one(key, x, y, weight)
        except TypeError:
            check_weight(weight)
            raise

    def score_one(self, key: Key, x: dict[Any, Any]) -> Any:
        """The score w.x with the intercept; for more than two labels a dict of scores."""
        labels, scores = self._core.scores_one(key, x)
        return dict(zip(labels, scores, strict=False)) if len(labels) > 2 else scores[0]

    def explain_one(self, key: Key, x: dict[Any, Any], label: Any = None) -> list[Share]:
        """What each feature added to the score of a key, which may be new: see `View.explain_one`."""
        return View(self, key).explain_one(x, label)

    # ---- many -------------------------------------------------------------------------------------------------

    def learn_many(self, keys: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Learns many examples in their order: all of them, or none if one is invalid.

        `X` is a list of dicts, a DataFrame, an array, a sparse matrix or an Arrow table. `keys` has one key per row,
        `y` one label or number; of a table they may be the names of columns. Columns of arrays are features named by
        their numbers.
        """
        self._learn(keys, X, y, sample_weight, predicts=False)

    def round_many(self, keys: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Predicts each example before it is learned, and returns the predictions: an array of numbers, or a list of
        labels."""
        return self._predictions(self._learn(keys, X, y, sample_weight, predicts=True))

    def predict_many(self, keys: Any, X: Any) -> Any:
        """An array of numbers, or a list of labels."""
        return self._predictions(self._score(keys, X, predicts=True))

    def score_many(self, keys: Any, X: Any) -> Any:
        """The scores of many examples: an array; if one of their keys has more than two labels, a list of what
        `score_one` returns for each."""
        scores, starts, labels, label_starts = self._score(keys, X, predicts=False)
        if len(labels) == 0 or not (label_starts[1:] - label_starts[:-1] > 2).any():
            return scores
        names, lanes = self._core.labels, scores.tolist()
        return [
            dict(zip((names[i] for i in labels[a:b]), lanes[c:d], strict=False)) if b - a > 2 else lanes[c]
            for a, b, c, d in zip(label_starts[:-1], label_starts[1:], starts[:-1], starts[1:], strict=True)
        ]

    def ingest(
        self, data: bytes, key: str = "key", label: str = "label", weight: str = "", learn: bool = True
    ) -> Any:
        """Learns lines of JSON, one object per line. Returns the predictions, each made before its line was learned.

        `key`, `label` and `weight` are the names of fields; all other fields are features, or those of the object under
        "features" or "x". A line without a label is only predicted; so are all lines if not `learn`. The lines are
        parsed, predicted and learned in C++, all of them or none. The error of an invalid line has its number.
        """
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, not {type(data).__name__}")
        for option, field in (("key", key), ("label", label), ("weight", weight)):
            if not isinstance(field, str):
                raise TypeError(f"{option} must be the name of a field, not {field!r}")
        try:
            predictions = self._predictions(self._core.ingest(data, key, label, weight, learns=learn))
        except InputError as error:
            if error.line is not None:
                error.file = "data"
            raise
        if learn and self.clock == 0 and len(predictions) > 0:
            warnings.warn(f"nothing was learned: no line has a field {label!r} (label=)", stacklevel=2)
        return predictions

    def _learn(self, keys: Any, X: Any, y: Any, sample_weight: Any, predicts: bool) -> Any:
        X, y = with_labels(X, y)
        keys, features = self._read(keys, X)
        truths = truths_of(self.task == "classification", y, features.rows)
        learn = getattr(self._core, f"learn_{features.kind}")
        return learn(keys, *features.arguments, *truths, weights_of(sample_weight), predicts)

    def _score(self, keys: Any, X: Any, predicts: bool) -> Any:
        keys, features = self._read(keys, X)
        return getattr(self._core, f"score_{features.kind}")(keys, *features.arguments, predicts)

    @staticmethod
    def _read(keys: Any, X: Any) -> tuple[Any, Features]:
        its_keys, rest = with_keys(keys, X)
        return its_keys, features_of(rest)

    def _predictions(self, predicted: Any) -> Any:
        if self.task != "classification":
            return predicted
        names = [*self._core.labels, None]  # -1: before the first label
        return [names[i] for i in predicted.tolist()]

    # ---- keys -------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._core)

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._core
        except InputError:  # it can be no key
            return False

    def __iter__(self) -> Iterator[Key]:
        return iter(self._core.keys())

    def __getitem__(self, key: Key) -> View:
        """A view of the model of a key. It raises KeyError for a key that has not learned."""
        if key not in self._core:
            raise KeyError(key)
        return View(self, key)

    def __delitem__(self, key: Key) -> None:
        """Forgets a key."""
        self._core.remove(key)

    def top(self, n: int = 10, by: str = "mistakes") -> list[tuple[Key, float]]:
        """The keys with the most 'mistakes', 'rounds', 'updates', 'features', 'cost', 'loss' or 'bytes'."""
        if by not in COLUMNS:
            raise ValueError(f"by must be one of {', '.join(COLUMNS)}, not {by!r}")
        if not isinstance(n, int) or n < 0:
            raise ValueError(f"n must be a whole number, 0 or more, not {n!r}")
        found: list[tuple[Key, float]] = self._core.top(n, COLUMNS.index(by))
        return found if by in SUMS else [(key, int(count)) for key, count in found]

    def summary(self) -> dict[str, Doubles]:
        """One array for each of the numbers that `top` sorts by, with an entry for each key, in the order of `iter`."""
        table: Any = self._core.summary()
        return {name: table[:, i] for i, name in enumerate(COLUMNS)}

    # ---- the whole --------------------------------------------------------------------------------------------

    @property
    def labels(self) -> list[Any]:
        """The labels of all keys."""
        return list(self._core.labels)

    def named_weights(self) -> dict[Any, Any]:
        """The weights that all keys share, by feature name; for more than two labels a dict for each label. Those of a
        key: `fleet[key].named_weights()`."""
        if not self.parameters["shared"]:
            raise ValueError(
                "keys share no weights (shared=False): fleet[key].named_weights() has those of a key"
            )
        return named_weights(self, None, 1.0)

    @property
    def statistics(self) -> Statistics:
        """Of all keys together. `progress` and `largest_q` are those of the one learner, if `shared`."""
        if self.parameters["shared"]:
            return statistics_of(self._core.statistics(None))
        totals = self._core.totals()
        return statistics_of(totals)

    def certificate(self, keys: Any, X: Any, y: Any) -> Certificate:
        """What the fleet suffered on the examples that it has learned, once and in this order, and what the theorems
        guaranteed, relative to fixed shared and personal weights."""
        from ..theory.fleets import certificate

        return certificate(self, keys, X, y)

    # ---- files and copies -------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fleet to one file, whole or not at all. Other threads may learn meanwhile: the file has the fleet
        as it was at one moment."""
        files.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], **limits: Any) -> Self:
        """Reads what `save` or `snapshot` wrote. The fleet resumes bit-identically. Limits, such as `memory`, may be
        given anew."""
        load: Any = (snapshots if os.path.isdir(path) else files).load
        read: Self = load(cls, path, limits)
        return read

    def snapshot(self, directory: str | os.PathLike[str], compact: bool = False) -> None:
        """Adds what has changed since the last snapshot to a directory; the first one writes everything. `load` reads
        the directory. Other threads may learn meanwhile.

        From time to time, and with `compact`, the directory is written anew: then it has no trace of forgotten keys.
        """
        snapshots.snapshot(self, directory, compact)

    def to_bytes(self) -> bytes:
        return self.changes(0)

    @classmethod
    def from_bytes(cls, data: bytes, **limits: Any) -> Self:
        load: Any = files.from_bytes
        read: Self = load(cls, data, limits)
        return read

    @property
    def clock(self) -> int:
        """How often a key has changed so far: a moment in the life of the fleet."""
        return int(self._core.clock)

    def changes(self, since: int) -> bytes:
        """What has changed since the fleet's `clock` was `since`, for `apply` on a copy of the fleet."""
        if not isinstance(since, int) or since < 0:
            raise ValueError(f"since must be a clock of the fleet, a whole number, not {since!r}")
        changed: bytes = self._core.changes(since, files.header_of(self))
        return changed

    def apply(self, changes: bytes) -> bool:
        """Takes over the changes of the fleet that this one is a copy of, and its notes; nothing, if they are invalid.

        A copy begins with `load`, `from_bytes` or a new fleet with the same options. Returns False if it has these
        changes already. A copy that has learned by itself takes no more changes.
        """
        opened = files.opened(changes)
        notes = files.notes_of(opened, "the data")
        is_new = self._core.apply(opened)
        if is_new:
            self.notes = notes
        return bool(is_new)

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return type(self).from_bytes, (self.to_bytes(),)

    @property
    def n_ignored(self) -> int:
        """How many examples and features were left out at a limit."""
        return self._core.n_ignored

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._core.__sizeof__()

    def __repr__(self) -> str:
        defaults = CLASSES["Fleet"].completed({})
        changed = {n: v for n, v in self.parameters.items() if v != defaults[n] and n != "step"}
        step = self._task.step_of(self.parameters)
        if step != self._task.step_of({**self.parameters, "step": None}):
            changed["step"] = step
        texts = [repr(self.task), *(f"{name}={value!r}" for name, value in changed.items())]
        return f"Fleet({', '.join(texts)})"


Fleet.__doc__ = filled(Fleet.__doc__ or "", CLASSES["Fleet"].rows, CLASSES["Fleet"].own)
