"""Column files (CoNLL and relatives): one token per line, in columns, and a blank line after each sentence.

`read_columns` reads one sentence at a time, in bounded memory. Errors name the file and the line.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import IO, Any, TypeAlias, cast

from ...data.errors import InputError
from ...data.sentences import Sentence
from ..files import damage_told, name_of, open_bytes

Source: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes] | Iterable[str] | Iterable[bytes]
Features: TypeAlias = Callable[[Sentence], list[list[str]]]  # the features of each token


def read_columns(
    source: Source,
    columns: str | Sequence[str] | None = None,
    *,
    optional: int = 0,
    separator: str | None = None,
    encoding: str = "utf-8",
    comments: bool = False,
    docstart: bool = False,
    max_line: int = 2**16,
    max_sentence: int = 100_000,
) -> Generator[Sentence, None, None]:
    """Yields the sentences of a column file, one at a time.

    `source` is a path (.gz, .bz2, .xz and .zst are decompressed), "-" for the standard input, an open file, or lines.
    `columns` names the columns, as a list or as one string, "word pos tag". The default names are "0", "1", ... All
    lines of a file may lack the last `optional` columns, so that one list of names serves files with and without tags.

    Any number of spaces and tabs separates columns. With a `separator`, fields may be empty. Blank lines separate
    sentences. `comments` skips lines that begin with # (in CoNLL-2000 this is a word), `docstart` those that begin
    with -DOCSTART-.

    An `InputError` is raised for a line with more or fewer columns, in another encoding or longer than `max_line`, for
    a sentence of more than `max_sentence` tokens, and for a compressed file that is damaged or truncated.

    >>> from hinge.streams.formats.columns import read_columns
    >>> lines = ["The DT B-NP", "cat NN I-NP", "sat VBD B-VP", "", "It PRP B-NP", "slept VBD B-VP"]
    >>> for sentence in read_columns(lines, "word pos tag"):
    ...     print(sentence.first_line, sentence.columns["word"], sentence.columns["tag"])
    1 ['The', 'cat', 'sat'] ['B-NP', 'I-NP', 'B-VP']
    5 ['It', 'slept'] ['B-NP', 'B-VP']
    >>> list(read_columns(["The DT B-NP", "cat I-NP"]))
    Traceback (most recent call last):
    ...
    hinge.data.errors.InputError: <lines>:2: 3 columns were expected, there are 2
    """
    if isinstance(source, str) and "\n" in source:
        raise ValueError("source must be a path, a file or lines, not a text: give text.split('\\n')")
    if not isinstance(source, (str, os.PathLike)) and not isinstance(source, Iterable):
        raise TypeError(f"source must be a path, a file or lines, not {source!r}")
    names = None if columns is None else column_names(columns)
    if not isinstance(optional, int) or not 0 <= optional < (1 if names is None else len(names)):
        raise ValueError(
            f"optional must be a number of named columns, fewer than there are, not {optional!r}"
        )
    if separator is not None and (not isinstance(separator, str) or separator.strip("\r\n") == ""):
        raise ValueError(f"separator must be None or a string that is no line break, not {separator!r}")
    for limit, value in (("max_line", max_line), ("max_sentence", max_sentence)):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"{limit} must be a whole number of 1 or more, not {value!r}")
    try:
        by_bytes = "\n".encode(encoding) == b"\n"
    except (LookupError, TypeError, UnicodeError):
        raise ValueError(f"encoding must be the name of one, like 'utf-8', not {encoding!r}") from None
    lines = _lines(source, encoding, by_bytes, max_line)
    passed_over = "#" if comments else None
    return _sentences(lines, name_of(source), names, optional, separator, passed_over, docstart, max_sentence)


def column_names(columns: str | Sequence[str]) -> list[str]:
    """The names of columns, from a list, or from a string in which spaces or commas separate them."""
    names = columns.replace(",", " ").split() if isinstance(columns, str) else list(columns)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"columns must be names, as in 'word pos tag', not {columns!r}")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"columns must be different names: {name!r} occurs {names.count(name)} times")
    return names


def _sentences(
    lines: Generator[str, None, None],
    source: str,
    names: list[str] | None,
    optional: int,
    separator: str | None,
    comment: str | None,
    docstart: bool,
    max_sentence: int,
) -> Generator[Sentence, None, None]:
    found: list[str] = []  # the names of the columns of this file: known after the first token
    first, rows = 0, list[list[str]]()
    with closing(lines):
        for number, line in enumerate(lines, 1):
            if comment and line.startswith(comment):
                continue
            if separator is None:  # str.split() would also split at a no-break space, which is part of a word
                fields = line.replace("\t", " ").split(" ")
                if "" in fields:
                    fields = [field for field in fields if field]
            else:
                fields = line.split(separator)
                if not line.strip(" \t") or not any(fields):
                    fields = []
            if not fields or (docstart and fields[0] == "-DOCSTART-"):
                if rows:
                    yield _sentence(found, rows, first)
                    rows = []
                continue
            if len(fields) != len(found):
                if found or (names and not len(names) - optional <= len(fields) <= len(names)):
                    reason = _wrong_number(found or names or [], 0 if found else optional, len(fields))
                    raise InputError(reason, file=source, line=number)
                found = [str(k) for k in range(len(fields))] if names is None else names[: len(fields)]
            if not rows:
                first = number
            elif len(rows) == max_sentence:
                reason = f"the sentence of line {first} has more than max_sentence={max_sentence} tokens"
                raise InputError(f"{reason}: are there no blank lines?", file=source, line=number)
            rows.append(fields)
    if rows:
        yield _sentence(found, rows, first)


def _sentence(names: list[str], rows: list[list[str]], first: int) -> Sentence:
    return Sentence(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), first)


def _wrong_number(names: list[str], optional: int, there: int) -> str:
    lowest = f"{len(names) - optional} to " if optional else ""
    noun = "column was" if len(names) == 1 else "columns were"
    return f"{lowest}{len(names)} {noun} expected, there {'is' if there == 1 else 'are'} {there}"


# ---- examples for a sequence learner -----------------------------------------------------------------------------


def examples(
    source: Source,
    templates: Features,
    columns: str | Sequence[str] | None = None,
    *,
    tag: int | str = -1,
    **options: Any,
) -> Iterator[tuple[list[list[str]], list[str]]]:
    """Yields the features and the tags of each sentence of a column file, one sentence at a time.

    `templates` makes the features: `hinge.Templates`, or any function of a `Sentence`. `tag` is the column to be
    learned, by its place or its name (default: the last one); templates do not see it. The other arguments are those
    of `read_columns`.

    >>> from hinge import Templates
    >>> from hinge.streams import examples
    >>> lines = ["The DT B-NP", "cat NN I-NP", "", "It PRP B-NP"]
    >>> for features, tags in examples(lines, Templates(["word[-1..0]", "pos"]), "word pos tag"):
    ...     print(features, tags)
    [['word[0]=The', 'pos[0]=DT'], ['word[-1]=The', 'word[0]=cat', 'pos[0]=NN']] ['B-NP', 'I-NP']
    [['word[0]=It', 'pos[0]=PRP']] ['B-NP']
    """
    if not callable(templates):
        raise TypeError(f"templates must be Templates or a function of a sentence, not {templates!r}")
    return _examples(read_columns(source, columns, **options), templates, tag)


def _examples(
    sentences: Generator[Sentence, None, None], templates: Features, tag: int | str
) -> Iterator[tuple[list[list[str]], list[str]]]:
    seen = set(getattr(templates, "columns", ()))
    with closing(sentences):
        for sentence in sentences:
            names = list(sentence.columns)
            if isinstance(tag, int) and -len(names) <= tag < len(names):
                name = names[tag]
            elif isinstance(tag, str) and tag in names:
                name = tag
            else:
                raise ValueError(f"there is no column tag={tag!r}: there are {', '.join(map(repr, names))}")
            if name in seen:
                raise ValueError(
                    f"the templates read the column {name!r}, but it is the tag, which is to be predicted"
                )
            tags = sentence.columns.pop(name)
            yield templates(sentence), list(map(sys.intern, tags))


def read_examples(
    source: Source,
    templates: Features,
    columns: str | Sequence[str] | None = None,
    *,
    tag: int | str = -1,
    **options: Any,
) -> tuple[list[list[list[str]]], list[list[str]]]:
    """A whole column file as the X and y of a sequence learner: see `examples`."""
    collecting = gc.isenabled()
    gc.disable()  # nothing here becomes garbage, and looking for it would double the time
    try:
        pairs = list(examples(source, templates, columns, tag=tag, **options))
    finally:
        if collecting:
            gc.enable()
    return [features for features, _ in pairs], [tags for _, tags in pairs]


# ---- lines ------------------------------------------------------------------------------------------------------


def _lines(source: Source, encoding: str, by_bytes: bool, max_line: int) -> Generator[str, None, None]:
    """Lines without their ends, decoded and checked."""
    name, number = name_of(source), 1
    with ExitStack() as stack, damage_told(name, lambda: number - 1):
        try:
            for line in _pieces(_opened(source, encoding, by_bytes, stack), max_line + 3):
                if not isinstance(line, (bytes, str)):
                    raise TypeError(f"{name}:{number}: a line must be a string, not {line!r}")
                if len(line) > max_line and _is_long(line, max_line):
                    raise InputError(f"the line is longer than max_line={max_line}", file=name, line=number)
                text = line.decode(encoding) if isinstance(line, bytes) else line
                text = text.rstrip("\r\n")
                if number == 1:
                    text = text.removeprefix("\ufeff")
                if not text.isprintable():  # one fast test instead of three
                    if "\r" in text or "\n" in text:
                        raise InputError("there is a line break within the line", file=name, line=number)
                    if "\0" in text:
                        reason = f"there is a zero byte: not {encoding}, or not a text"
                        raise InputError(reason, file=name, line=number)
                yield text
                number += 1
        except UnicodeError as error:
            raise InputError(f"not {encoding}: {_reason(error)}", file=name, line=number) from None


def _pieces(stream: Any, size: int) -> Iterator[Any]:
    """Lines. A very long line of a file comes in pieces."""
    if not isinstance(stream, io.IOBase):
        return iter(stream)
    end: Any = "" if isinstance(stream, io.TextIOBase) else b""
    return iter(partial(cast("Any", stream).readline, size), end)


def _is_long(line: Any, max_line: int) -> bool:
    ends = (b"\n", b"\r") if isinstance(line, bytes) else ("\n", "\r")
    return len(line.removesuffix(ends[0]).removesuffix(ends[1])) > max_line


def _reason(error: UnicodeError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte 0x{error.object[error.start]:02x} ({error.reason})"
    return str(error)


# ---- files ------------------------------------------------------------------------------------------------------


def _opened(
    source: Source, encoding: str, by_bytes: bool, stack: ExitStack
) -> Iterable[str] | Iterable[bytes]:
    """An iterable of lines. The stack closes only what is opened here."""
    stream: Any = open_bytes(source, stack) if isinstance(source, (str, os.PathLike)) else source
    if by_bytes or not isinstance(stream, (io.BufferedIOBase, io.RawIOBase)):
        return cast("Iterable[bytes]", stream)
    text = io.TextIOWrapper(cast("IO[bytes]", stream), encoding=encoding, newline="\n")  # UTF-16 and the like
    stack.callback(text.detach)
    return text
