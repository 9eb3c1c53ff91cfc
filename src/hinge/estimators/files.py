"""The part of an estimator that writes it to a file, and reads it again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..learner import Learner
from ..model import encoding, file
from ..options import table
from ..options.classes import CLASSES
from .passes import BatchReport


class SavedInFiles:
    """The base of the estimators that can be saved."""

    _kept: ClassVar[tuple[str, ...]] = ("n_features_in_", "feature_names_in_", "n_iter_", "_classes")
    _of_learner: ClassVar[tuple[str, ...]] = table.OF_LEARNER
    _learner_class: ClassVar[Any] = Learner

    if TYPE_CHECKING:
        _learner: Any
        batch_report_: Any

        def __init__(self, **options: Any) -> None: ...
        def _saved(self) -> Any: ...
        def _check_options(self) -> None: ...
        def _keep(self, learner: Any, **attributes: Any) -> Self: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file, whole or not at all. `hinge.load` reads it."""
        file.save(path, *self.to_parts())

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        """The content of the file: a header of JSON, and arrays."""
        learner, tensors = self._saved().to_parts()
        self._check_options()  # what no constructor accepts is not written
        values = encoding.encoded(self._file_parameters(self.get_params(deep=False)), tensors)
        header: dict[str, Any] = {
            "kind": type(self).__name__,
            "parameters": encoding.without_defaults(values, self._defaults()),
            "learner": encoding.without_repeated(
                learner, table.without_auto(values), self._learner_class.defaults()
            ),
            "attributes": {
                name: encoding.encode_value(self.__dict__[name], tensors)
                for name in self._kept
                if name in self.__dict__
            },
        }
        if "batch_report_" in self.__dict__:
            header["batch_report"] = None if self.batch_report_ is None else vars(self.batch_report_)
        return header, tensors

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        estimator = cls(**encoding.decoded(header["parameters"], tensors, functions))
        estimator._check_options()
        values = {**cls._file_parameters(cls._defaults()), **header["parameters"]}
        _check_agreement(header["learner"]["parameters"], values)
        learner = encoding.with_repeated(header["learner"], table.without_auto(values), cls._of_learner)
        of_learner = {
            name: function
            for name, function in functions.items()
            if learner["parameters"].get(name) == {"function": name}
        }
        estimator._learner = cls._learner_class.from_parts(learner, tensors, of_learner)
        for name, value in header["attributes"].items():
            if name not in cls._kept:
                raise ValueError(f"{name!r} is not an attribute of a {cls.__name__}")
            setattr(estimator, name, encoding.decode_value(value, tensors))
        if "batch_report" in header:
            report = header["batch_report"]
            estimator.batch_report_ = None if report is None else BatchReport(**report)
        _check_attributes(estimator)
        return estimator._keep(estimator._learner)

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """The defaults of the parameters, which a file omits."""
        return CLASSES[cls.__name__].completed({}) if cls.__name__ in CLASSES else {}

    @classmethod
    def _file_parameters(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The parameters that are written to the file."""
        return given

    @classmethod
    def _load_file(cls, path: str | os.PathLike[str], functions: Mapping[str, Any]) -> Self:
        """Reads a file of this class. `functions` are those of the options: no file holds functions."""
        header, tensors = file.read(path)
        try:
            if header["kind"] != cls.__name__:
                raise ValueError(f"it is a {header['kind']}")
            return cls.from_parts(header, tensors, functions)
        except file.ABSURD as error:
            raise file.ModelFileError(f"{path} cannot be read as a {cls.__name__}: {error}") from error


# Options that `fit` may determine: the learner's values can differ from the estimator's.
_FOUND = ("classes", "class_weight", "gamma", "w1")
_FOUND_IF_AUTO = ("experts", *table.DECIDED_BY_FIT)


def _check_agreement(of_learner: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Raises ValueError if the options of the estimator and those of its learner contradict each other."""
    for name, value in of_learner.items():
        found = name in _FOUND or (value is None and values.get(name) == {"function": name})
        found = found or (name in _FOUND_IF_AUTO and values.get(name) == "auto")
        if name in values and not found:
            raise ValueError(f"its {name} is {values[name]!r:.100}, and that of its learner {value!r:.100}")


def _check_attributes(estimator: Any) -> None:
    """Raises ValueError if the attributes in a file are not those of a model."""
    has, known = estimator.__dict__, estimator._learner.labels.known
    width, names, classes = has.get("n_features_in_"), has.get("feature_names_in_"), has.get("_classes")
    counts = [has[name] for name in ("n_features_in_", "n_iter_") if name in has]
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError(f"its numbers of features and passes are {counts!r:.100}")
    if names is not None and (
        not isinstance(names, np.ndarray)
        or names.shape != (width,)
        or not all(isinstance(name, str) for name in names.tolist())
    ):
        raise ValueError(f"its names of features are {names!r:.100}")
    if classes is not None and (
        not isinstance(classes, np.ndarray) or classes.ndim != 1 or classes.tolist() != known[: len(classes)]
    ):
        raise ValueError(f"its classes are {classes!r:.100}, and those of what it has learned {known!r:.100}")
    if type(has.get("_one_each", False)) is not bool:
        raise ValueError(f"whether it has one label each is {has['_one_each']!r:.100}")
    report = has.get("batch_report_")
    kinds = [bool, int, int, float, int]
    if report is not None and [type(value) for value in vars(report).values()] != kinds:
        raise ValueError(f"its batch report is {report!r:.200}")
