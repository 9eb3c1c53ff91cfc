"""From records to features: one set of rules for Python and for the command line.

A record is a dict of fields as JSON has them. `Features` says which fields are features, and of which kind;
`Pipeline` is a model that carries it along, into its file, too.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

from .._core import Texts, flat
from ..data.errors import InputError, for_each, in_row
from ..data.events import as_list, is_frame
from ..model import encoding, file
from ..options import hints
from .words import check_range, ngrams_of, two_names, weighted

NUMBER, CATEGORY = "number", "category"
MISSING = frozenset(("", "NA", "N/A", "?", "nan", "NaN", "null", "None"))  # in a table of strings
IS_MISSING = " is missing"  # the feature "age is missing"
MAX_PRODUCTS = 100_000  # of one record, by interactions
ALL = "all"
IDS = ("id", "Id", "ID", "_id", "uuid", "UUID")  # fields that name an example, if nobody says otherwise
_OF_FORMAT = ("aside", "within", "strings")


class RecordError(InputError):
    """A record was rejected because of the field `field`, if that is known. `column` is its feature."""

    def __init__(self, reason: str, field: str = "", column: int | str | None = None) -> None:
        super().__init__(reason, column=column)
        self.field = field


@hints.explain_unknown_options
class Features:
    """How a record becomes named features.

    Numbers are values, true is 1, a string is the indicator "color=red"; null is no feature; {"a": {"b": 1}} is
    "a.b", a list of numbers "a[0]", "a[1]", ..., a list of strings an indicator for each. (A name's own "=", "*", "+"
    and "\\" get a backslash, so that a field "a=b" is not taken for the value b of a field a.)

    `text`: fields with text (or a list of words), learned as a bag of words: `ngrams` words in a row, 1 or (least,
    most), and with `char_ngrams` so many characters in a row, within words. Several texts share their words, which
    are called "subject+body=word". `categorical`: fields whose numbers name things; `numeric`: those that hold
    numbers, though they come as strings.

    `keep`: only these fields (and texts); `drop`: not these; "user.*" is a pattern. `interactions`: "user*item" adds
    the product of each feature of one field with each of the other; "a*a" of each two features of one field, with
    squares; "all" of all.

    `missing`: a field that is null, or one of the categorical or numeric ones that is not there, has no feature
    ("omit"), is the feature "age is missing" ("indicator"), or is rejected ("error").

    `aside` are fields that are never features (the label), `within` those that hold all features, if they are there
    and are objects; `strings`: values come as strings (of a CSV file), so that "NA" and the like are missing.
    `only_words`: an event is the list of the words of the texts, for features that depend on the label.

    >>> from hinge import Features
    >>> features = Features(text="body", drop=["id"])
    >>> sorted(features.event({"id": 7, "from": "ann", "body": "See you!"}))
    ['body=see', 'body=you', 'from']
    """

    def __init__(
        self,
        *,
        text: str | Iterable[str] = (),
        ngrams: int | Sequence[int] = 1,
        char_ngrams: int | Sequence[int] | None = None,
        categorical: Iterable[str] = (),
        numeric: Iterable[str] = (),
        keep: Iterable[str] = (),
        drop: Iterable[str] = (),
        interactions: str | Iterable[str] = (),
        missing: str = "omit",
        aside: Iterable[str] = (),
        within: Iterable[str] = (),
        strings: bool = False,
        only_words: bool = False,
    ) -> None:
        if missing not in ("indicator", "omit", "error"):
            raise ValueError(f"missing must be 'indicator', 'omit' or 'error', not {missing!r}")
        self.text = names_of("text", text)
        self.ngrams, self._range = ngrams, check_range("ngrams", ngrams)
        self.char_ngrams, self.only_words = char_ngrams, bool(only_words)
        if self.only_words and not self.text:
            raise ValueError("features that depend on the label are those of a text: name its field (--text)")
        categorical, numeric = names_of("categorical", categorical), names_of("numeric", numeric)
        if twice := set(categorical) & set(numeric):
            raise ValueError(f"fields must be categorical or numeric, not both: {sorted(twice)}")
        self.kinds = {**dict.fromkeys(numeric, NUMBER), **dict.fromkeys(categorical, CATEGORY)}
        self.keep, self.drop = names_of("keep", keep), names_of("drop", drop)
        self.interactions = names_of("interactions", interactions)
        self._products = [interaction(one) for one in self.interactions]
        self.missing, self.strings = missing, bool(strings)
        self.aside, self.within = names_of("aside", aside), names_of("within", within)
        self._kept, self._dropped = matcher(self.keep), matcher(self.drop)
        self._prefix = "+".join(map(escaped, self.text)) + "="
        self._words = Texts(analyzer="word", least=self._range[0], most=self._range[1])
        low, high = (1, 1) if char_ngrams is None else check_range("char_ngrams", char_ngrams)
        self._characters = Texts(analyzer="char_wb", least=low, most=high)

    @property
    def settings(self) -> dict[str, Any]:
        """All options, as JSON: `Features(**settings)` is the same again."""
        return {
            "text": self.text,
            "ngrams": _listed(self.ngrams),
            "char_ngrams": _listed(self.char_ngrams),
            "only_words": self.only_words,
            "categorical": [name for name, kind in self.kinds.items() if kind == CATEGORY],
            "numeric": [name for name, kind in self.kinds.items() if kind == NUMBER],
            "keep": self.keep,
            "drop": self.drop,
            "interactions": self.interactions,
            "missing": self.missing,
            "aside": self.aside,
            "within": self.within,
            "strings": self.strings,
        }

    @property
    def options(self) -> dict[str, Any]:
        """Those that whoever reads the data may give; the others are up to its format."""
        return {name: value for name, value in self.settings.items() if name not in _OF_FORMAT}

    def __reduce__(self) -> tuple[Any, ...]:
        return _features, (self.settings,)

    def __repr__(self) -> str:
        usual = Features().settings
        shown = (f"{name}={value!r}" for name, value in self.settings.items() if value != usual[name])
        return f"Features({', '.join(shown)})"

    def set_aside(self, *names: str | bool | None) -> None:
        """The label and the weight are no features, nor is what names an example, unless an option names it."""
        asked = {*self.keep, *self.kinds, *self.text}
        self.aside = [
            *(name for name in names if isinstance(name, str)),
            *(name for name in IDS if name not in asked),
        ]

    # ---- a record -----------------------------------------------------------------------------------------------

    def event(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The features of a record, by name: what learners take."""
        try:
            return self._event(record)
        except RecursionError:
            raise RecordError("the record has objects in objects without end") from None

    def _event(self, record: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(record, dict):
            if not isinstance(record, Mapping):
                raise TypeError(f"a record must be a dict of fields, not {type(record).__name__}")
            record = dict(record)
        bag: dict[str, float] = {}
        if self.text:
            texts = self._texts(record)
            if self.only_words:
                return self._all_words(texts)  # type: ignore[return-value]
            bag = self.bag(texts)
        fields = self.selected(record)
        if self.text:
            fields = {
                name: value for name, value in fields.items() if not (type(name) is str and name in self.text)
            }
        if self.kinds or self.missing != "omit":
            fields = self._typed(fields)
        fields = safe(fields)
        if self._products:
            return self.multiplied(fields, bag)
        event: dict[str, Any] = _flat(fields)
        return {**event, **bag} if bag else event

    def selected(self, record: dict[str, Any]) -> dict[str, Any]:
        """The fields that may be features, of nested objects as well."""
        inner: Any = next((record[name] for name in self.within if type(record.get(name)) is dict), None)
        if inner is None and self.aside:
            inner = {name: value for name, value in record.items() if name not in self.aside}
        fields: dict[str, Any] = record if inner is None else inner
        return self._pruned(fields, "", not self.keep) if self.keep or self.drop else fields

    def is_feature(self, name: str) -> bool:
        """Whether a field (of a table, say) is one."""
        if name in self.aside or self._dropped(name):
            return False
        return not self.keep or name in self.text or self._kept(name)

    def _pruned(self, fields: dict[str, Any], path: str, kept: bool) -> dict[str, Any]:
        found = {}
        for name, value in fields.items():
            full = path + name
            if self._dropped(full):
                continue
            its = kept or self._kept(full) or full in self.text
            if type(value) is dict:
                inner = self._pruned(value, f"{full}.", its)
                if inner:
                    found[name] = inner
            elif its:
                found[name] = value
        return found

    # ---- texts --------------------------------------------------------------------------------------------------

    def _texts(self, record: dict[str, Any]) -> dict[str, Any]:
        """The texts of a record: it must have one of them at least, though it may be null."""
        found = {name: record[name] for name in self.text if name in record}
        for one in self.within:
            if type(inner := record.get(one)) is dict:
                found |= {name: inner[name] for name in self.text if name in inner}
        if not found:
            there = ", ".join(map(repr, list(record)[:10])) or "none"
            raise RecordError(
                f"there is no field {' or '.join(map(repr, self.text))} (text): there are {there}"
            )
        return found

    def bag(self, texts: Mapping[str, Any]) -> dict[str, float]:
        """The words (and n-grams) of those texts that are there, as one vector."""
        terms: list[list[str]] = []
        for value in self._present(texts):
            if isinstance(value, str):
                terms.append(self._words.terms(value, self._prefix))
            else:
                terms.append([self._prefix + term for term in ngrams_of(value, *self._range)])
            if self.char_ngrams is not None:
                text = value if isinstance(value, str) else " ".join(value)
                terms.append(self._characters.terms(text, f"{self._prefix[:-1]}.chars="))
        return weighted(terms)

    def _all_words(self, texts: dict[str, Any]) -> list[str]:
        """The words of the texts, one after the other, as they are."""
        return [
            word
            for value in self._present(texts)
            for word in (
                self._words.terms(value) if isinstance(value, str) else ngrams_of(value, *self._range)
            )
        ]

    def _present(self, texts: Mapping[str, Any]) -> Iterable[Any]:
        for name, value in texts.items():
            if isinstance(value, str):
                if not (self.strings and value in MISSING):
                    yield value
            elif isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value):
                yield value
            elif not _is_missing(value, False):
                raise RecordError(f"a text or a list of words was expected, not {_shown(value)}", name, name)

    # ---- kinds, and what is missing -----------------------------------------------------------------------------

    def _typed(self, fields: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in fields.items():
            kind = self.kinds.get(name)
            if value is None or (kind is not None and _is_missing(value, self.strings)):
                self._meet_missing(name, found)
            elif kind == NUMBER:
                found[name] = _number(name, value)
            elif kind == CATEGORY:
                found[name] = _category(value, self.strings)
            else:
                found[name] = value
        for name in self.kinds:
            if name not in fields and self.is_feature(name):
                self._meet_missing(name, found)
        return found

    def _meet_missing(self, name: str, found: dict[str, Any]) -> None:
        if self.missing == "error":
            raise RecordError("the value is missing", name, name)
        if self.missing == "indicator":
            found[name + IS_MISSING] = 1.0

    # ---- interactions -------------------------------------------------------------------------------------------

    def multiplied(self, fields: dict[str, Any], bag: dict[str, float]) -> dict[str, Any]:
        """The features of (safe) fields and of a bag of words, and their products."""
        groups = {name: _numbers(_flat({name: value})) for name, value in fields.items()}
        groups |= {escaped(name): list(bag.items()) for name in self.text}
        event: dict[str, float] = {**{n: v for name in fields for n, v in groups[name]}, **bag}
        whole = list(event.items())
        made = 0
        for left, right in self._products:
            one = whole if left == ALL else groups.get(left, [])
            if left == right:
                one = sorted(one)  # a product has one name, whatever the order of the fields
            other = one if left == right else groups.get(right, [])
            made += len(one) * (len(one) + 1) // 2 if left == right else len(one) * len(other)
            if made > MAX_PRODUCTS:
                raise RecordError(f"the interactions make more than {MAX_PRODUCTS:,} features of this record")
            for place, (first, value) in enumerate(one):
                for second, its in other[place:] if left == right else other:
                    if not math.isfinite(product := value * its):
                        raise RecordError("the product is too large for float64", column=f"{first}*{second}")
                    event[f"{first}*{second}"] = product
        return event


def _features(settings: dict[str, Any]) -> Features:
    return Features(**settings)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# ---- names ------------------------------------------------------------------------------------------------------

_SPECIAL = re.compile(r"[\\=*+]")


def escaped(name: str) -> str:
    """A field's name in the name of a feature."""
    return _SPECIAL.sub(lambda found: "\\" + found[0], name) if _SPECIAL.search(name) else name


def safe(fields: dict[str, Any]) -> dict[str, Any]:
    """The same fields under names that cannot be taken for those of other features."""
    with contextlib.suppress(TypeError):  # a name that is a number, or none at all: the core decides
        if dict not in map(type, fields.values()) and _SPECIAL.search("".join(fields)) is None:
            return fields
    return {
        escaped(name) if isinstance(name, str) else name: safe(value) if type(value) is dict else value
        for name, value in fields.items()
    }


def names_of(option: str, value: str | Iterable[str]) -> list[str]:
    """One name, or several."""
    names = [value] if isinstance(value, str) else list(value)
    if wrong := [name for name in names if not isinstance(name, str) or not name]:
        raise ValueError(f"{option} must be names of fields, not {wrong[0]!r}")
    return list(dict.fromkeys(names))


def matcher(names: list[str]) -> Callable[[str], bool]:
    """Whether a name is one of these; "*" in them stands for anything."""
    exact = {name for name in names if "*" not in name}
    patterns = [re.escape(name).replace(r"\*", ".*") for name in names if "*" in name]
    if not patterns:
        return exact.__contains__
    any_of = re.compile("|".join(patterns), re.DOTALL)
    return lambda name: name in exact or any_of.fullmatch(name) is not None


def interaction(text: str) -> tuple[str, str]:
    """The two fields of "user*item", as features call them."""
    if text == ALL:
        return ALL, ALL
    left, right = two_names(text)
    return escaped(left), escaped(right)


# ---- values -----------------------------------------------------------------------------------------------------


def _flat(fields: dict[str, Any]) -> dict[str, Any]:
    """By the rules of the core, which are those of `learn_one`."""
    try:
        features: dict[str, Any] = flat(fields)  # type: ignore[assignment]
        return features
    except InputError as error:
        for name, value in fields.items():
            try:
                flat({name: value})
            except InputError:
                raise RecordError(error.reason, name, error.column) from None
        raise RecordError(error.reason, column=error.column) from None


def _numbers(event: dict[str, Any]) -> list[tuple[str, float]]:
    """Features as names and numbers."""
    return [
        (f"{name}={value}", 1.0) if isinstance(value, str) else (name, float(value))
        for name, value in event.items()
        if value != 0
    ]


def _is_missing(value: Any, strings: bool) -> bool:
    if isinstance(value, str):
        return strings and value in MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def _number(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if "_" in value or not math.isfinite(number):  # 1_000 is Python's spelling only
        raise RecordError(f"a finite number was expected, not {value!r}", name, name)
    return number


def _category(value: Any, strings: bool) -> Any:
    if isinstance(value, (str, list, tuple, dict)) or (isinstance(value, bool) and not strings):
        return value
    return str(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


# ---- a model with its features ----------------------------------------------------------------------------------


class Pipeline:
    """A model that takes records: `features` makes features of them, `model` (a Learner or an estimator) learns.

    Whatever else the model has (labels, statistics, named_weights(), ...) is had here as well. `hinge learn` saves such
    models, of tables and of JSON lines.

    >>> import hinge
    >>> spam = hinge.Pipeline(hinge.Features(text="body"), hinge.Learner("classification"))
    >>> spam.learn_one({"body": "free money"}, "spam")
    >>> spam.learn_one({"body": "see you on monday"}, "ham")
    >>> spam.predict_one({"body": "money"})
    'spam'
    """

    def __init__(self, features: Features, model: Any) -> None:
        self.features, self.model = features, model

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def learn_one(self, x: Mapping[str, Any], y: Any = None, weight: float = 1.0) -> None:
        """One round: learns from a record and the truth `y`."""
        self.model.learn_one(self.features.event(x), y, weight)

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        return self.model.predict_one(self.features.event(x))

    def score_one(self, x: Mapping[str, Any]) -> Any:
        return self.model.score_one(self.features.event(x))

    def explain_one(self, x: Mapping[str, Any], label: Any = None) -> Any:
        """What each feature of a record contributed to its score (to that of `label`), the largest first."""
        return self.model.explain_one(self.features.event(x), label)

    def learn_many(self, X: Iterable[Mapping[str, Any]], y: Any = None, sample_weight: Any = None) -> None:
        """The rounds of a list of records, or of the rows of a DataFrame: all of them, or none."""
        self.model.learn_many(self.events(X), y, sample_weight)

    def predict_many(self, X: Iterable[Mapping[str, Any]]) -> list[Any]:
        return for_each(self.model.predict_one, self.events(X))

    def events(self, X: Any) -> list[dict[str, Any]]:
        """The features of each record."""
        records = X.to_dict("records") if is_frame(X) else as_list(X, "X", "of records", False)
        found = []
        for row, record in enumerate(records):
            try:
                found.append(self.features.event(record))
            except (InputError, TypeError) as error:
                raise in_row(error, row) from None
        return found

    def __repr__(self) -> str:
        return f"Pipeline({self.features!r}, {self.model!r})"

    # ---- files --------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything to one file, whole or not at all. `hinge.load` reads it."""
        file.save(path, *self.to_parts())

    def to_bytes(self) -> bytes:
        return file.to_bytes(*self.to_parts())

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        parts = getattr(self.model, "_parts", None) or self.model.to_parts
        header, tensors = parts()
        return {"kind": "Pipeline", "features": self.features.settings, "model": header}, tensors

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        from ..model.loading import model_of

        if header["model"]["kind"] == "Pipeline":
            raise ValueError("a pipeline within a pipeline")
        return cls(Features(**header["features"]), model_of(header["model"], tensors, functions))
