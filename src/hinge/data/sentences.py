"""Sentences of column files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Sentence:
    """The tokens of one sentence, column by column."""

    columns: dict[str, list[str]]  # by name, in the order of the file
    first_line: int = 1  # where it begins

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))
