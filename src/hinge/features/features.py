"""Records become features by one set of rules, in Python and on the command line.

A record is a dict of fields, as in JSON. `Features` says which fields are features, and of which kind.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._core import Texts
from ..data.errors import InputTypeError
from ..data.shown import shown
from ..options import hints
from .names import ALL, escaped, escaped_fields, interaction, matcher, names_of
from .values import MISSING, RecordError, as_category, as_number, as_numbers, flattened, is_missing
from .words import check_range, ngrams_of, weighted

NUMBER, CATEGORY = "number", "category"
IS_MISSING = " is missing"  # the feature "age is missing"
MAX_PRODUCTS = 100_000  # of one record, by interactions
IDS = (
    "id",
    "Id",
    "ID",
    "_id",
    "uuid",
    "UUID",
)  # fields that name an example, unless an option says otherwise
_OF_FORMAT = ("aside", "within", "strings")


@hints.explain_unknown_options
class Features:
    """How a record becomes named features.

    A number is a value, true is 1, a string is the indicator "color=red", and null is no feature. {"a": {"b": 1}} is
    the feature "a.b". A list of numbers becomes "a[0]", "a[1]", ..., a list of strings one indicator per string. ("=",
    "*", "+" and "\\" in a name get a backslash: the field "a=b" differs from the value b of the field a.)

    `text`: fields with text, or a list of words, which become a bag of words. `ngrams`: the number of successive words
    in a term, 1 or (least, most). `char_ngrams`: the same for characters within words. Several texts share their words,
    which are named "subject+body=word". `categorical`: fields whose numbers are names. `numeric`: fields that hold
    numbers, even if they come as strings.

    `keep`: only these fields, and texts, are features. `drop`: these are not; "user.*" is a pattern. `interactions`:
    "user*item" adds the product of each feature of one field with each feature of the other, "a*a" of each pair of
    features of one field, with squares, and "all" of all pairs.

    `missing`: a field that is null, or an absent categorical or numeric field, gives no feature ("omit"), the feature
    "age is missing" ("indicator"), or an error ("error").

    `aside`: fields that are never features, such as the label. `within`: fields that, if they are objects, contain all
    features. `strings`: values come as strings (of a CSV file), so "NA" and the like are missing. `only_words`: an
    event is the list of the words of the texts, for features that depend on the label.

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
        """All options as JSON values: `Features(**settings)` is equivalent."""
        values = vars(self) | {
            "categorical": [name for name, kind in self.kinds.items() if kind == CATEGORY],
            "numeric": [name for name, kind in self.kinds.items() if kind == NUMBER],
        }
        found = ((name, values[name]) for name in _SETTINGS)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found}

    @property
    def options(self) -> dict[str, Any]:
        """The options of the user; the format of the data sets the others."""
        return {name: value for name, value in self.settings.items() if name not in _OF_FORMAT}

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(Features, **self.settings), ()

    def __repr__(self) -> str:
        defaults = Features().settings
        given = (f"{name}={value!r}" for name, value in self.settings.items() if value != defaults[name])
        return f"Features({', '.join(given)})"

    def set_aside(self, *names: str | bool | None) -> None:
        """The label and the weight are not features; nor are the names of examples, unless an option names them."""
        asked = {*self.keep, *self.kinds, *self.text}
        self.aside = [
            *(name for name in names if isinstance(name, str)),
            *(name for name in IDS if name not in asked),
        ]

    # ---- a record -----------------------------------------------------------------------------------------------

    def event(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The named features of a record, as learners take them."""
        try:
            return self._event(record)
        except RecursionError:
            raise RecordError("the record has objects in objects without end") from None

    def _event(self, record: Mapping[str, Any]) -> dict[str, Any]:
        if not isinstance(record, dict):
            if not isinstance(record, Mapping):
                raise InputTypeError(f"a record must be a dict of fields, not {type(record).__name__}")
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
        fields = escaped_fields(fields)
        if self._products:
            return self.multiplied(fields, bag)
        event = flattened(fields)
        return {**event, **bag} if bag else event

    def selected(self, record: dict[str, Any]) -> dict[str, Any]:
        """The fields that are features, also those of nested objects."""
        inner: Any = next((record[name] for name in self.within if type(record.get(name)) is dict), None)
        if inner is None and self.aside:
            inner = {name: value for name, value in record.items() if name not in self.aside}
        fields: dict[str, Any] = record if inner is None else inner
        return self._pruned(fields, "", not self.keep) if self.keep or self.drop else fields

    def is_feature(self, name: str) -> bool:
        """Whether a field is a feature."""
        if name in self.aside or self._dropped(name):
            return False
        return not self.keep or name in self.text or self._kept(name)

    def _pruned(self, fields: dict[str, Any], path: str, kept: bool) -> dict[str, Any]:
        found = {}
        for name, value in fields.items():
            full = f"{path}{name}"
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
        """The texts of a record, which must have at least one of them, if only null."""
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
        """The words and n-grams of the texts that are not missing, as one vector."""
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
        """The words of the texts, in their order."""
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
            elif not is_missing(value, False):
                raise RecordError(
                    f"a text or a list of words was expected, not {shown(value, 40)}", name, name
                )

    # ---- kinds, and what is missing -----------------------------------------------------------------------------

    def _typed(self, fields: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in fields.items():
            kind = self.kinds.get(name)
            if value is None or (kind is not None and is_missing(value, self.strings)):
                self._meet_missing(name, found)
            elif kind == NUMBER:
                found[name] = as_number(name, value)
            elif kind == CATEGORY:
                found[name] = as_category(value, self.strings)
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
        """The features of escaped fields and of a bag of words, and their products."""
        groups = {name: as_numbers(flattened({name: value})) for name, value in fields.items()}
        groups |= {escaped(name): list(bag.items()) for name in self.text}
        event: dict[str, float] = {**{n: v for name in fields for n, v in groups[name]}, **bag}
        everything = list(event.items())
        count = 0
        for left, right in self._products:
            one = everything if left == ALL else groups.get(left, [])
            if left == right:
                one = sorted(one)  # so that a product has one name in any order of the fields
            other = one if left == right else groups.get(right, [])
            count += len(one) * (len(one) + 1) // 2 if left == right else len(one) * len(other)
            if count > MAX_PRODUCTS:
                raise RecordError(f"the interactions make more than {MAX_PRODUCTS:,} features of this record")
            for place, (first, value) in enumerate(one):
                for second, its in other[place:] if left == right else other:
                    if not math.isfinite(product := value * its):
                        raise RecordError("the product is too large for float64", column=f"{first}*{second}")
                    event[f"{first}*{second}"] = product
        return event


_SETTINGS = (
    "text", "ngrams", "char_ngrams", "only_words", "categorical", "numeric", "keep", "drop", "interactions", "missing",
    "aside", "within", "strings",
)  # fmt: skip
