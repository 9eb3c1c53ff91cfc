"""`Templates`, and the ready-made ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...data.sentences import Sentence
from .groups import Group
from .parser import Column, Feature, TemplateError, features_of


class Templates:
    """Templates, which turn sentences into features.

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
    hinge.structured.templates.parser.TemplateError: template 'prefix(word)', position 11: ',' and a length \
(as in prefix(word, 1..4)) was expected, there is ')'

    `sources` are the strings, `names` the features that they stand for, each once. Templates with equal names are
    equal. `bias`, `bos` and `eos` are the last features of a token.
    """

    def __init__(self, templates: Iterable[str]) -> None:
        if isinstance(templates, str):
            raise TypeError(
                f"templates must be a list, not one string: Templates([{templates!r}]); "
                f"there are Templates.named({', '.join(map(repr, NAMED))})"
            )
        self._sources = tuple(templates)
        found = {feature.name: feature for source in self._sources for feature in features_of(source)}
        if not found:
            raise ValueError("templates must be at least one")
        self._features = tuple(found.values())
        groups: dict[Any, list[tuple[int, Feature]]] = {}
        for row, feature in enumerate(feature for feature in self._features if feature.slots):
            groups.setdefault(feature.slots, []).append((row, feature))
        self._marks = [feature.name for feature in self._features if not feature.slots]
        self._groups = [Group(features) for features in groups.values()]
        read = [feature for features in groups.values() for _, feature in features]
        self._rows = len(read)
        # Tokens with `before` tokens before and `after` behind have every feature, if each always has a value.
        self._always = all(feature.always for feature in read)
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
        """The templates of CRF++, one per line: U05:%x[-1,0]/%x[0,0] and the like.

        %x[row,column] names a column by its index, from 0, without the tag. The features are those of CRF++, with _B-1
        and _B+1 outside of the sentence. B means transitions, which a sequence learner always has. A B template that
        also reads columns is not supported: it is left out with a warning.

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
                warnings.warn(f"left out: {template!r}, as transitions cannot read columns", stacklevel=2)
            elif template and template[0] not in "#B":
                raise TemplateError(template, 0, f"U, B or # was expected at the start of line {number}")
        return cls(sources)

    @property
    def sources(self) -> list[str]:
        """The strings of the templates: `Templates(templates.sources) == templates`."""
        return list(self._sources)

    @property
    def names(self) -> list[str]:
        """The names of the features."""
        return [feature.name for feature in self._features]

    @property
    def columns(self) -> list[Column]:
        """The columns that are read: names, or indices (templates of CRF++)."""
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
        complete = slice(self._before, max(count - self._after, 0) if self._always else 0)
        made = [list(filter(None, token)) for token in tokens[: complete.start]]
        made += map(list, tokens[complete])  # type: ignore[arg-type]
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
