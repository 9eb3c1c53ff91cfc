"""Features of the tokens of a sentence, by templates: short strings that say which columns, where, and how.

    word[-2..2]            the words from two before to two after: five features
    word[-1]|word[0]       both at once: one feature for each pair
    lower(word)            without a place it is the token itself: [0]
    prefix(word, 1..4)     the first letters: four features; suffix(word, 3) the last three
    shape(word)[-1..1]     "McCoy-42" is XxXxx-dd; brief_shape makes it XxXx-d
    is_title(word)         a feature if it is so, none if not: FUNCTIONS has all of them
    bias bos eos           on every token, on the first one, on the last one

Functions can be put into each other; ranges within a conjunction are combined, each with each. What lies outside of
the sentence, and an affix of a word that is shorter, gives no feature.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, product
from typing import Any, NamedTuple, NoReturn, TypeAlias

from ..data.sentences import Sentence

Column: TypeAlias = str | int  # its name, or its place (templates of CRF++)
Function: TypeAlias = Callable[[str], str | None]  # None: no feature
Value: TypeAlias = Callable[[tuple[str, ...]], str | None]  # of the values of the slots

MOST = 1000  # features that one template may stand for
REMEMBERED = 2**17  # strings that a group of features keeps for the sentences to come, twice


class TemplateError(ValueError):
    """A template that cannot be read: `template`, `position` (from 0) and `reason` say which, where and why."""

    def __init__(self, template: str, position: int, reason: str) -> None:
        super().__init__(template, position, reason)
        self.template, self.position, self.reason = template, position, reason

    def __str__(self) -> str:
        return f"template {self.template!r}, position {self.position}: {self.reason}"


# ---- functions --------------------------------------------------------------------------------------------------


def _shape(text: str) -> str:
    """Letters become X and x, digits d; others stay as they are."""
    return "".join(
        ("X" if c.isupper() or c.istitle() else "x") if c.isalpha() else "d" if c.isdigit() else c
        for c in text
    )


def _brief_shape(text: str) -> str:
    return "".join(c for c, _ in groupby(_shape(text)))


def _whether(test: Callable[[str], bool]) -> Function:
    return lambda text: "true" if test(text) else None


FUNCTIONS: dict[str, Function] = {
    "lower": str.lower,
    "shape": _shape,
    "brief_shape": _brief_shape,
    "is_alpha": _whether(str.isalpha),
    "is_digit": _whether(str.isdigit),
    "is_lower": _whether(str.islower),
    "is_upper": _whether(str.isupper),
    "is_title": _whether(str.istitle),
    "is_punctuation": _whether(lambda text: text != "" and not any(c.isalnum() for c in text)),
    "has_digit": _whether(lambda text: any(c.isdigit() for c in text)),
    "has_hyphen": _whether(lambda text: "-" in text),
    "has_upper": _whether(lambda text: text != text.lower()),
}
SIZED: dict[str, Callable[[int], Function]] = {  # with a length
    "prefix": lambda size: lambda text: text[:size] if len(text) >= size else None,
    "suffix": lambda size: lambda text: text[-size:] if len(text) >= size else None,
}
MARKS = ("bias", "bos", "eos")


# ---- from a template to its features ----------------------------------------------------------------------------


class _Term(NamedTuple):
    """One part of a conjunction: functions, the first one first, of a column at a place."""

    text: str
    column: Column
    functions: tuple[Function, ...] = ()
    offset: int = 0


class _Feature(NamedTuple):
    """One feature of a token: `start` and then the value of what the slots have. Without slots: one of MARKS."""

    name: str
    start: str
    slots: tuple[tuple[int, Column], ...] = ()  # what it reads, each once; the first offset is 0
    base: int = 0  # to be added to the offsets
    what: object = None  # features of the same slots and the same `what` have the same value
    value: Value = "".join
    whole: bool = True  # there is always a value
    bounded: bool = True  # no feature outside of the sentence; else what CRF++ puts there


class _Parser:
    """template = part ("|" part)*,  part = expression window?,  window = "[" range "]",  range = number (".." number)?,
    expression = column | function "(" expression ")" | sized "(" expression "," range ")"."""

    def __init__(self, template: str) -> None:
        self.template = template
        self.position = 0

    def fail(self, reason: str, position: int | None = None) -> NoReturn:
        raise TemplateError(self.template, self.position if position is None else position, reason)

    def accept(self, pattern: str) -> str | None:
        found = re.compile(rf"\s*({pattern})\s*").match(self.template, self.position)
        if found is None:
            return None
        self.position = found.end()
        return found[1]

    def expect(self, pattern: str, what: str) -> str:
        text = self.accept(pattern)
        if text is None:
            rest = self.template[self.position :].strip()
            self.fail(f"{what} was expected, there is {repr(rest[:20]) if rest else 'the end'}")
        return text

    def features(self) -> list[_Feature]:
        if (mark := self.template.strip()) in MARKS:
            return [_Feature(mark, mark)]
        parts = [self.part()]
        while self.position < len(self.template):
            window = "" if self.template[: self.position].rstrip().endswith("]") else "'[', "
            self.expect(r"\|", f"{window}'|' or the end")
            parts.append(self.part())
        if (count := math.prod(map(len, parts))) > MOST:
            self.fail(f"it stands for {count} features, more than {MOST}", 0)
        return [_conjunction(terms) for terms in product(*parts)]

    def part(self) -> list[_Term]:
        terms = self.expression()
        places = range(1)
        if self.accept(r"\["):
            places = self.numbers("a place like 0, -1 or -2..2", lowest=None)
            self.expect(r"\]", "']'")
        return [term._replace(offset=place) for term in terms for place in places]

    def expression(self) -> list[_Term]:
        start = self.position
        name = self.expect(r"\w[\w-]*", "the name of a column or of a function")
        if not self.accept(r"\("):
            if name in MARKS:
                self.fail(f"{name!r} must stand alone", start)
            return [_Term(name, name)]
        if name not in FUNCTIONS and name not in SIZED:
            self.fail(f"there is no function {name!r}: there are {', '.join([*SIZED, *FUNCTIONS])}", start)
        terms = self.expression()
        if name in FUNCTIONS:
            self.expect(r"\)", f"')' ({name} is a function of one thing)")
            made = [(f"{name}({term.text})", term, FUNCTIONS[name]) for term in terms]
        else:
            self.expect(",", f"',' and a length (as in {name}(word, 1..4))")
            sizes = self.numbers("a length like 3 or 1..4", lowest=1)
            self.expect(r"\)", "')'")
            made = [(f"{name}({t.text},{size})", t, SIZED[name](size)) for t in terms for size in sizes]
        if len(made) > MOST:
            self.fail(f"it stands for more than {MOST} features", start)
        return [_Term(text, term.column, (*term.functions, function)) for text, term, function in made]

    def numbers(self, what: str, lowest: int | None) -> range:
        start = self.position
        low = int(self.expect(r"[-+]?\d{1,6}(?!\d)", what))
        high = int(self.expect(r"[-+]?\d{1,6}(?!\d)", "a number")) if self.accept(r"\.\.") else low
        if lowest is not None and low < lowest:
            self.fail(f"a length of {lowest} or more was expected, not {low}", start)
        if high < low:
            self.fail(f"{low}..{high} is empty: the lower number comes first", start)
        if high - low >= MOST:
            self.fail(f"{low}..{high} stands for more than {MOST} features", start)
        return range(low, high + 1)


def _conjunction(terms: Sequence[_Term]) -> _Feature:
    base = min(term.offset for term in terms)
    places = [(term.offset - base, term.column) for term in terms]
    slots = sorted(set(places), key=lambda slot: (slot[0], str(slot[1])))
    reads = [(slots.index(place), term.functions) for place, term in zip(places, terms, strict=True)]
    name = "|".join(f"{term.text}[{term.offset}]" for term in terms)
    what = tuple((place, term.text) for place, term in zip(places, terms, strict=True))

    def value(values: tuple[str, ...]) -> str | None:
        made = []
        for slot, functions in reads:
            text: str | None = values[slot]
            for function in functions:
                text = None if text is None else function(text)
            if text is None:
                return None
            made.append(text)
        return "|".join(made)

    plain = places == slots and not any(term.functions for term in terms)
    return _Feature(name, f"{name}=", tuple(slots), base, what, "|".join if plain else value, whole=plain)


_MACRO = re.compile(r"%x\[(-?\d{1,4}),(\d{1,4})\]")


def _crfpp(template: str) -> _Feature:
    """A line like U05:%x[-1,0]/%x[0,0]: the text, with values for the macros, is the feature."""
    texts = _MACRO.split(template)[::3]
    places = [(int(row), int(column)) for row, column in _MACRO.findall(template)]
    if odd := re.search(r"%(?!x\[-?\d{1,4},\d{1,4}\])", template):
        raise TemplateError(template, odd.start(), "%x[row,column] was expected, as in U05:%x[-1,0]/%x[0,0]")
    slots = sorted(set(places))
    reads = [slots.index(place) for place in places]

    def value(values: tuple[str, ...]) -> str:
        return "".join([values[slot] + text for slot, text in zip(reads, texts[1:], strict=True)])

    return _Feature(template, texts[0], tuple(slots), 0, template, value, bounded=False)


def _features(template: str) -> list[_Feature]:
    if not isinstance(template, str):
        raise TypeError(f"a template must be a string, not {template!r}")
    return [_crfpp(template)] if "%" in template else _Parser(template).features()


# ---- from sentences to features ---------------------------------------------------------------------------------


class _Made(dict[Any, tuple[str | None, ...]]):
    """The features of the values of a group's slots, made when they come for the first time.

    Words and their neighbours return: looking them up is faster than making them, and equal strings are one object.
    What has not been seen for long is forgotten.
    """

    def __init__(self, makers: list[tuple[Value, list[str]]], single: bool) -> None:
        self.makers, self.single = makers, single
        self.most = max(REMEMBERED // sum(len(starts) for _, starts in makers), 1)
        self.older: dict[Any, tuple[str | None, ...]] = {}

    def __missing__(self, values: Any) -> tuple[str | None, ...]:
        made = self.older.get(values)
        if made is None:
            slots = (values,) if self.single else values
            features: list[str | None] = []
            for value, starts in self.makers:
                text = value(slots)
                features += [None] * len(starts) if text is None else [start + text for start in starts]
            made = tuple(features)
        if len(self) >= self.most:
            self.older = dict(self)
            self.clear()
        self[values] = made
        return made


class _Group:
    """Features that read the same slots, wherever they are put: one look-up for all of them.

    Of n tokens and slots that span s + 1 places, n - s positions lie within the sentence. The feature with base b
    of token i is the one made at position i + b.
    """

    def __init__(self, features: list[tuple[int, _Feature]]) -> None:
        self.slots, self.bounded = features[0][1].slots, features[0][1].bounded
        self.places: list[tuple[int, int]] = []  # and bases, in the order in which features are made
        makers: list[tuple[Value, list[str]]] = []
        for what in dict.fromkeys(feature.what for _, feature in features):
            alike = [(place, feature) for place, feature in features if feature.what == what]
            makers.append((alike[0][1].value, [feature.start for _, feature in alike]))
            self.places += [(place, feature.base) for place, feature in alike]
        self.made = _Made(makers, single=len(self.slots) == 1)

    def fill(
        self, rows: list[Sequence[str | None]], read: Callable[[Column], Sequence[str]], count: int
    ) -> None:
        if self.bounded:
            values = [read(column)[offset:] for offset, column in self.slots]
        else:
            values = [_continued(read(column), offset, count) for offset, column in self.slots]
        keys: Iterable[Any] = values[0] if len(values) == 1 else zip(*values, strict=False)
        made = list(map(self.made.__getitem__, keys))
        columns: list[tuple[str | None, ...]] = list(zip(*made, strict=True)) or [()] * len(self.places)
        for (place, base), column in zip(self.places, columns, strict=True):
            if base < 0:
                column = (None,) * min(-base, count) + column[: max(count + base, 0)]
            elif base > 0:
                column = column[base:]
            rows[place] = column if len(column) == count else column + (None,) * (count - len(column))


def _continued(values: Sequence[str], offset: int, count: int) -> list[str]:
    """The values at i + offset; beyond the ends _B-1, _B-2, ... and _B+1, _B+2, ..., as CRF++ has them."""
    if offset < 0:
        return [*[f"_B{place}" for place in range(offset, 0)], *values][:count]
    return [*values, *[f"_B+{place}" for place in range(1, offset + 1)]][offset:]


class Templates:
    """Templates, and what makes features of sentences by them.

    >>> from hinge import Templates
    >>> templates = Templates(["word[-1..0]", "pos[0]|pos[1]", "suffix(word, 2)", "is_title(word)", "bos"])
    >>> for features in templates({"word": ["The", "cat", "sat"], "pos": ["DT", "NN", "VBD"]}):
    ...     print(features)
    ['word[0]=The', 'pos[0]|pos[1]=DT|NN', 'suffix(word,2)[0]=he', 'is_title(word)[0]=true', 'bos']
    ['word[-1]=The', 'word[0]=cat', 'pos[0]|pos[1]=NN|VBD', 'suffix(word,2)[0]=at']
    ['word[-1]=cat', 'word[0]=sat', 'suffix(word,2)[0]=at']
    >>> Templates(["word[0]", "prefix(word)"])
    Traceback (most recent call last):
    ...
    hinge.structured.templates.TemplateError: template 'prefix(word)', position 11: ',' and a length \
(as in prefix(word, 1..4)) was expected, there is ')'

    `sources` has the strings, `names` the features they stand for, each once: two are equal if these are. `bias`,
    `bos` and `eos` come last in a token. What is remembered of earlier sentences is for speed only, and limited.
    """

    def __init__(self, templates: Iterable[str]) -> None:
        if isinstance(templates, str):
            raise TypeError(
                f"templates must be a list, not one string: Templates([{templates!r}]); "
                f"there are Templates.named({', '.join(map(repr, NAMED))})"
            )
        self._sources = tuple(templates)
        found = {feature.name: feature for source in self._sources for feature in _features(source)}
        if not found:
            raise ValueError("templates must be at least one")
        self._features = tuple(found.values())
        groups: dict[Any, list[tuple[int, _Feature]]] = {}
        for place, feature in enumerate(feature for feature in self._features if feature.slots):
            groups.setdefault(feature.slots, []).append((place, feature))
        self._marks = [feature.name for feature in self._features if not feature.slots]
        self._groups = [_Group(features) for features in groups.values()]
        read = [feature for features in groups.values() for _, feature in features]
        self._rows = len(read)
        # Between `before` and `after` tokens of the ends no feature is missing, if there is always a value.
        self._whole = all(feature.whole for feature in read)
        ends = [(f.base, f.base + f.slots[-1][0]) for f in read if f.bounded] or [(0, 0)]
        self._before = max(0, -min(first for first, _ in ends))
        self._after = max(0, max(last for _, last in ends))

    @classmethod
    def named(cls, name: str) -> Templates:
        """A ready-made set: 'chunking', 'names' or 'tagging'."""
        if name not in NAMED:
            raise ValueError(f"there are no templates {name!r}: there are {', '.join(map(repr, NAMED))}")
        return NAMED[name]

    @classmethod
    def from_crfpp(cls, text: str) -> Templates:
        """The templates of CRF++: U05:%x[-1,0]/%x[0,0] and the like, a line each.

        %x[row,column] is a column by its place, from 0, the tag not counted. The features are CRF++'s own, with its
        _B-1 and _B+1 outside of the sentence. B is the transitions, which a sequence learner has anyway; one that looks
        at columns as well cannot be had, and is left out with a warning.

        >>> from hinge import Templates
        >>> templates = Templates.from_crfpp("# words\\nU00:%x[0,0]\\nU05:%x[-1,0]/%x[0,0]\\n\\nB")
        >>> templates({"word": ["The", "cat"]})
        [['U00:The', 'U05:_B-1/The'], ['U00:cat', 'U05:The/cat']]
        """
        sources = []
        for number, line in enumerate(text.split("\n"), 1):
            template = line.strip()
            if template.startswith("U"):
                sources.append(template if "%" in template else "bias")
            elif template.startswith("B") and "%" in template:
                warnings.warn(f"left out: {template!r}, as transitions see no columns", stacklevel=2)
            elif template and template[0] not in "#B":
                raise TemplateError(template, 0, f"U, B or # was expected at the start of line {number}")
        return cls(sources)

    @property
    def sources(self) -> list[str]:
        """The templates as they were given: `Templates(templates.sources) == templates`."""
        return list(self._sources)

    @property
    def names(self) -> list[str]:
        """The names of the features that they stand for."""
        return [feature.name for feature in self._features]

    @property
    def columns(self) -> list[Column]:
        """The columns that they read: names, and places (from templates of CRF++)."""
        return list(dict.fromkeys(column for feature in self._features for _, column in feature.slots))

    def __call__(self, sentence: Sentence | Mapping[str, Sequence[str]]) -> list[list[str]]:
        """The features of each token."""
        columns = sentence.columns if isinstance(sentence, Sentence) else sentence
        lengths = set(map(len, columns.values()))
        if len(lengths) != 1:
            each = ", ".join(f"{name!r}: {len(values)}" for name, values in columns.items())
            raise ValueError(f"the columns of a sentence must be of one length, not {each or 'none at all'}")
        count = lengths.pop()

        def read(column: Column) -> Sequence[str]:
            if isinstance(column, int) and column < len(columns):
                return list(columns.values())[column]
            if isinstance(column, int) or column not in columns:
                raise ValueError(_no_column(column, columns))
            return columns[column]

        rows: list[Sequence[str | None]] = [()] * self._rows
        for group in self._groups:
            group.fill(rows, read, count)
        tokens: list[Sequence[str | None]] = list(zip(*rows, strict=True)) if rows else [()] * count
        whole = slice(self._before, max(count - self._after, 0) if self._whole else 0)
        made = [list(filter(None, token)) for token in tokens[: whole.start]]
        made += map(list, tokens[whole])  # type: ignore[arg-type]
        made += [list(filter(None, token)) for token in tokens[len(made) :]]
        for mark in self._marks:
            for token in made if mark == "bias" else made[:1] if mark == "bos" else made[-1:]:
                token.append(mark)
        return made

    def __add__(self, other: Templates | Iterable[str]) -> Templates:
        return Templates([*self._sources, *(other._sources if isinstance(other, Templates) else other)])

    def __len__(self) -> int:
        return len(self._features)

    def __eq__(self, other: object) -> bool:
        return self.names == other.names if isinstance(other, Templates) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.names))

    def __repr__(self) -> str:
        return f"Templates({self.sources!r})"

    def __reduce__(self) -> tuple[type[Templates], tuple[list[str]]]:
        return Templates, (self.sources,)


def _no_column(column: Column, columns: Iterable[str]) -> str:
    which = f"column {column!r}" if isinstance(column, str) else f"column of number {column}"
    there = list(columns)
    numbered = there == [str(k) for k in range(len(there))] and isinstance(column, str)
    hint = "; columns='word pos tag' or the like would name them" if numbered else ""
    return f"there is no {which}: there are {', '.join(map(repr, there)) or 'none'}{hint}"


# ---- ready-made -------------------------------------------------------------------------------------------------

_WORDS = "word[-2..2] word[-1]|word[0] word[0]|word[1] "

# Of the columns `word` and `pos`: the features of the examples of CRFsuite and CRF++ for CoNLL-2000.
CHUNKING = Templates(
    (
        _WORDS + "pos[-2..2] pos[-2]|pos[-1] pos[-1]|pos[0] pos[0]|pos[1] pos[1]|pos[2] "
        "pos[-2]|pos[-1]|pos[0] pos[-1]|pos[0]|pos[1] pos[0]|pos[1]|pos[2] bos eos"
    ).split()
)
# Of the column `word` alone: names of persons, places, ...
NAMES = Templates(
    (
        _WORDS + "lower(word)[-1..1] prefix(word,1..4) suffix(word,1..4) shape(word)[-1..1] "
        "brief_shape(word)[-2..2] brief_shape(word)[-1]|brief_shape(word)[0] brief_shape(word)[0]|brief_shape(word)[1] "
        "is_title(word)[-1..1] is_upper(word)[-1..1] is_punctuation(word) has_digit(word) has_hyphen(word) bos eos"
    ).split()
)
# Of the column `word` alone: parts of speech.
TAGGING = Templates(
    (
        _WORDS + "lower(word) prefix(word,1..4) suffix(word,1..4) suffix(word,2..3)[-1..1] shape(word) "
        "is_title(word) is_upper(word) is_punctuation(word) has_digit(word) has_hyphen(word) bos eos"
    ).split()
)
NAMED = {"chunking": CHUNKING, "names": NAMES, "tagging": TAGGING}
