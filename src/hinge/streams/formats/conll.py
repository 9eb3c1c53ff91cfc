"""Sentences of column files (CoNLL and relatives) as examples for a sequence learner."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...data.errors import InputError
from ...data.sentences import Sentence
from ...structured.templates import TAGGING, Templates
from ..batches import BadLines, Batch
from ..files import Input, ending_of
from .columns import column_names, read_columns
from .lines import line_batches

MAX_LINE = 2**16
MAX_SENTENCE = 100_000  # tokens
# The default names of columns, by their number.
NAMES = {1: "word", 2: "word tag", 3: "word pos tag", 4: "word pos chunk tag"}
CONLLU = ["id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"]
# The windows of words and of parts of speech are those of CHUNKING. On CoNLL-2000 no set of `templates` is better.
_WORD = "{0}[-2..2] {0}[-1]|{0}[0] {0}[0]|{0}[1] lower({0}) prefix({0},1..3) suffix({0},1..3) brief_shape({0})[-1..1]"
_OTHER = (
    "{0}[-2..2] {0}[-2]|{0}[-1] {0}[-1]|{0}[0] {0}[0]|{0}[1] {0}[1]|{0}[2] "
    "{0}[-2]|{0}[-1]|{0}[0] {0}[-1]|{0}[0]|{0}[1] {0}[0]|{0}[1]|{0}[2]"
)


@dataclass(slots=True)
class SentenceBatch(Batch):
    """`X` are features, `labels` are tags, `sentences` are the other columns, as in the file."""

    sentences: list[Sentence] = field(default_factory=list)


def default_templates(columns: Sequence[str]) -> Templates:
    """Templates for all columns but the tag: a window of each; of the first one, the words, also affixes and shapes."""
    word, *others = columns
    about_others = [template for name in others for template in _OTHER.format(name).split()]
    return Templates([*_WORD.format(word).split(), *about_others, "bos", "eos"])


class ConllColumns:
    """Sentences with one token per line and a blank line after each sentence.

    `columns` names the columns, "word pos tag". The default depends on their number: word, pos, chunk, tag for four,
    word, pos, tag for three, ... `tag` is the column to be learned, by its place or name; False: there is none. If it
    is the last column, a file may lack it. `templates` are those of `hinge.Templates`, or the name of a ready-made
    set; the default ones read the words, their shapes, and the other columns around each token. The other options are
    those of `read_columns`. Files that end with .conllu have the ten columns of CoNLL-U, and `upos` is the tag.
    """

    def __init__(
        self,
        *,
        columns: str | Sequence[str] | None = None,
        tag: int | str | bool = -1,
        templates: Sequence[str] | str | Templates | None = None,
        separator: str | None = None,
        comments: bool = False,
        docstart: bool = False,
        max_line: int = MAX_LINE,
        max_sentence: int = MAX_SENTENCE,
    ) -> None:
        self.columns = None if columns is None else column_names(columns)
        if tag is True:
            raise ValueError("tag must be the place or the name of a column, or False, not True")
        self.tag, self.separator, self.comments, self.docstart = tag, separator, comments, docstart
        self.max_line, self.max_sentence = max_line, max_sentence
        if isinstance(templates, str):
            templates = Templates.named(templates)
        if templates is not None and not isinstance(templates, Templates):
            templates = Templates(templates)
        self.templates = templates
        list(read_columns([], **self._options()))  # invalid options are rejected now

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "columns": self.columns, "tag": self.tag,
            "templates": None if self.templates is None else self.templates.sources, **self._options(),
        }  # fmt: skip

    def batches(self, file: Input, bad: BadLines) -> Iterator[SentenceBatch]:
        if self.columns is None and ending_of(file.path) == ".conllu":
            self._use_conllu()
        found: list[str] | None = None  # the columns that this file has
        for first, lines in self._blocks(file):
            sentences: list[Sentence] = []
            for sentence in self._read(file.name, first, lines, found, bad):
                if found is None:
                    found = self._settle(file.name, sentence)
                sentence.columns = dict(zip(found, sentence.columns.values(), strict=True))
                sentences.append(sentence)
            yield from bad.up_to_the_end(self._batch(sentences, file) if sentences else None)

    def _batch(self, sentences: list[Sentence], file: Input) -> SentenceBatch:
        name = self._tag_of(list(sentences[0].columns))
        labels: list[Any] = [None] * len(sentences)
        if name is not None:
            labels = [list(map(sys.intern, sentence.columns.pop(name))) for sentence in sentences]
        assert self.templates is not None
        X = list(map(self.templates, sentences))
        lines = [sentence.first_line for sentence in sentences]
        return SentenceBatch(X, labels, lines, position=file.position, sentences=sentences)

    # ---- columns ------------------------------------------------------------------------------------------------

    def _use_conllu(self) -> None:
        self.columns, self.separator, self.comments = CONLLU, "\t", True
        self.tag = "upos" if self.tag == -1 else self.tag
        self.templates = self.templates or TAGGING

    def _options(self) -> dict[str, Any]:
        return {
            "separator": self.separator, "comments": self.comments, "docstart": self.docstart,
            "max_line": self.max_line, "max_sentence": self.max_sentence,
        }  # fmt: skip

    def _tag_of(self, names: list[str]) -> str | None:
        """The name of the tag, if it is among these columns."""
        columns = self.columns or names
        if self.tag is False:
            return None
        name = self.tag if isinstance(self.tag, str) else columns[self.tag]
        return name if name in names else None

    def _settle(self, source: str, sentence: Sentence) -> list[str]:
        """The names of the columns of a file. The first file also settles the options that were left open."""
        width = len(sentence.columns)

        def fail(reason: str) -> InputError:
            return InputError(reason, file=source, line=sentence.first_line)

        if self.columns is None:
            usual = "word" + "".join(f" column{k}" for k in range(2, width)) + " tag"
            self.columns = NAMES.get(width, usual).split()
            if width == 1 and self.tag is not False:
                self.columns = None
                raise fail("there is one column: words and their tags were expected")
        names = self.columns
        by_place = isinstance(self.tag, int) and -len(names) <= self.tag < len(names)
        if self.tag is not False and self.tag not in names and not by_place:
            raise fail(f"there is no column tag={self.tag!r}: there are {', '.join(map(repr, names))}")
        tag = self._tag_of(names)
        if self.templates is None:
            self.templates = default_templates([name for name in names if name != tag])
        for column in self.templates.columns:
            if column == tag or (isinstance(column, str) and column not in names):
                why = ", which is the tag" if column == tag else f": there are {', '.join(map(repr, names))}"
                raise fail(f"the templates read the column {column!r}{why}")
        return names[:width]

    # ---- from lines to sentences --------------------------------------------------------------------------------

    def _blocks(self, file: Input) -> Iterator[tuple[int, list[bytes]]]:
        """The lines of whole sentences, as many as have arrived, and the number of the first line."""
        held: list[bytes] = []
        number = 1
        for first, lines in line_batches(file, self.max_line):
            number = number if held else first
            last = next((k for k in reversed(range(len(lines))) if not lines[k].strip(b" \t")), None)
            if last is None and len(held) <= self.max_sentence:
                held += lines
                continue
            last = len(lines) - 1 if last is None else last
            yield number, held + lines[: last + 1]
            held, number = lines[last + 1 :], first + last + 1
        if file.stopped:
            file.held = len(held)
        elif held:
            yield number, held

    def _read(
        self, source: str, first: int, lines: list[bytes], found: list[str] | None, bad: BadLines
    ) -> Iterator[Sentence]:
        """The sentences of these lines. An invalid one is left out, up to the next blank line."""
        optional = 0
        if found is None and self.columns is not None and self._tag_of(self.columns) == self.columns[-1]:
            optional = min(1, len(self.columns) - 1)
        names = found or self.columns
        if self.comments and self.columns == CONLLU:  # multiword tokens and empty nodes
            lines = [b"#" if re.match(rb"\d+[-.]\d+\t", line) else line for line in lines]
        start = 0
        while start < len(lines):
            # Line 1 would lose a byte order mark.
            offset = first + start - 2
            read = read_columns([b"", *lines[start:]], names, optional=optional, **self._options())
            try:
                for sentence in read:
                    sentence.first_line += offset
                    yield sentence
                    names, optional = list(sentence.columns), 0  # after an error, the same columns
                return
            except InputError as error:
                bad.meet(InputError(error.reason, file=source, line=error.line + offset))
                start += error.line - 2
                while start < len(lines) and lines[start].strip(b" \t"):
                    start += 1
