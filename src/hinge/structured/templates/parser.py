"""The template language: short strings that name columns, functions and positions.

    word[-2..2]            the words from two before to two after: five features
    word[-1]|word[0]       a conjunction: one feature for each pair
    lower(word)            without a position it is the token itself: [0]
    prefix(word, 1..4)     the first letters: four features; suffix(word, 3) the last three
    shape(word)[-1..1]     "McCoy-42" is XxXxx-dd; brief_shape makes it XxXx-d
    is_title(word)         a feature if it is true, otherwise none; see FUNCTIONS
    bias bos eos           on every token, on the first one, on the last one

Functions can be nested. Ranges within a conjunction are combined, each with each. A position outside of the sentence
gives no feature; nor does an affix that is longer than its word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import groupby, product
from typing import NamedTuple, NoReturn, TypeAlias

Column: TypeAlias = str | int  # its name, or its index (templates of CRF++)
Function: TypeAlias = Callable[[str], str | None]  # None: no feature
Value: TypeAlias = Callable[[tuple[str, ...]], str | None]  # of the values of the slots

MOST = 1000  # features that one template may stand for


class TemplateError(ValueError):
    """An invalid template. `template`, `position` (from 0) and `reason` say which, where and why."""

    def __init__(self, template: str, position: int, reason: str) -> None:
        super().__init__(template, position, reason)
        self.template, self.position, self.reason = template, position, reason

    def __str__(self) -> str:
        return f"template {self.template!r}, position {self.position}: {self.reason}"


def _shape(text: str) -> str:
    """Letters become X and x, digits d; other characters stay."""
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


class _Term(NamedTuple):
    """One part of a conjunction: functions (the innermost first) of a column at an offset."""

    text: str
    column: Column
    functions: tuple[Function, ...] = ()
    offset: int = 0


class Feature(NamedTuple):
    """One feature of a token: `start`, then the value of its slots. Without slots it is one of MARKS."""

    name: str
    start: str
    slots: tuple[tuple[int, Column], ...] = ()  # (offset, column), each once; the first offset is 0
    base: int = 0  # is added to the offsets
    key: object = None  # features with the same slots and the same key have the same value
    value: Value = "".join
    always: bool = True  # there is always a value
    bounded: bool = True  # no feature outside of the sentence; else the markers of CRF++


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

    def features(self) -> list[Feature]:
        if (mark := self.template.strip()) in MARKS:
            return [Feature(mark, mark)]
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
        offsets = range(1)
        if self.accept(r"\["):
            offsets = self.numbers("a position like 0, -1 or -2..2", lowest=None)
            self.expect(r"\]", "']'")
        return [term._replace(offset=offset) for term in terms for offset in offsets]

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


def _conjunction(terms: Sequence[_Term]) -> Feature:
    base = min(term.offset for term in terms)
    read = [(term.offset - base, term.column) for term in terms]  # the slot of each term
    slots = sorted(set(read), key=lambda slot: (slot[0], str(slot[1])))
    reads = [(slots.index(slot), term.functions) for slot, term in zip(read, terms, strict=True)]
    name = "|".join(f"{term.text}[{term.offset}]" for term in terms)
    key = tuple((slot, term.text) for slot, term in zip(read, terms, strict=True))

    def value(values: tuple[str, ...]) -> str | None:
        texts = []
        for slot, functions in reads:
            text: str | None = values[slot]
            for function in functions:
                text = None if text is None else function(text)
            if text is None:
                return None
            texts.append(text)
        return "|".join(texts)

    plain = read == slots and not any(term.functions for term in terms)
    return Feature(name, f"{name}=", tuple(slots), base, key, "|".join if plain else value, always=plain)


_MACRO = re.compile(r"%x\[(-?\d{1,4}),(\d{1,4})\]")


def _crfpp(template: str) -> Feature:
    """A line of CRF++, like U05:%x[-1,0]/%x[0,0]: the feature is the text, with values for the macros."""
    texts = _MACRO.split(template)[::3]
    read = [(int(row), int(column)) for row, column in _MACRO.findall(template)]
    if odd := re.search(r"%(?!x\[-?\d{1,4},\d{1,4}\])", template):
        raise TemplateError(template, odd.start(), "%x[row,column] was expected, as in U05:%x[-1,0]/%x[0,0]")
    slots = sorted(set(read))
    reads = [slots.index(slot) for slot in read]

    def value(values: tuple[str, ...]) -> str:
        return "".join([values[slot] + text for slot, text in zip(reads, texts[1:], strict=True)])

    return Feature(template, texts[0], tuple(slots), 0, template, value, bounded=False)


def features_of(template: str) -> list[Feature]:
    if not isinstance(template, str):
        raise TypeError(f"a template must be a string, not {template!r}")
    return [_crfpp(template)] if "%" in template else _Parser(template).features()
