"""CoNLL-2000 chunking: the sentences from $HINGE_DATA, the usual window of features, and F1 as conlleval counts it.

python benchmarks/chunks.py       checks F1 against seqeval's, if that is installed, on random tags
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

Sentences = list[list[list[str]]]  # of tokens of names of features
Tags = list[list[str]]
Chunk = tuple[int, int, str]  # from, to (not included), what

SEPARATOR = "\x1f"  # in no name of a feature


def sentences(path: Path) -> tuple[Sentences, Tags]:
    """The features are those of crfsuite's example for chunking, without those that reach beyond the sentence."""
    from hinge import Templates, read_examples

    return read_examples(path, Templates.named("chunking"), "word pos chunk")


class Fresh:
    """Copies of sentences with new strings, as if a loop over f-strings had just made them.

    (Python caches the hash of a string, so a second lookup of the same object would be faster.)
    """

    def __init__(self, x: Sentences) -> None:
        self.joined = [[SEPARATOR.join(names) for names in tokens] for tokens in x]

    def __call__(self) -> Sentences:
        return [[names.split(SEPARATOR) for names in tokens] for tokens in self.joined]


# ---- F1 ------------------------------------------------------------------------------------------------------


def chunks(tags: Iterable[str]) -> set[Chunk]:
    """The chunks of a sentence in B-X, I-X, O, as conlleval sees them: an I-X that continues nothing begins one."""
    found, start, what, i = set(), 0, "", -1
    for i, tag in enumerate(tags):
        begins, _, name = tag.partition("-")
        if what and (begins != "I" or name != what):
            found.add((start, i, what))
            what = ""
        if name and not what:
            start, what = i, name
    return found | {(start, i + 1, what)} if what else found


def f1(truth: Iterable[Iterable[str]], predicted: Iterable[Iterable[str]]) -> float:
    """Over the chunks of all sentences: 2 x those that are exactly right, by the true and the predicted ones."""
    right = total = 0
    for pair in zip(truth, predicted, strict=True):
        true, guessed = map(chunks, pair)
        right += len(true & guessed)
        total += len(true) + len(guessed)
    return 2 * right / total if total else 0.0


def accuracy(truth: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> float:
    right = total = 0
    for true, guessed in zip(truth, predicted, strict=True):
        right += sum(a == b for a, b in zip(true, guessed, strict=True))
        total += len(true)
    return right / total


def check() -> None:
    from seqeval.metrics import f1_score

    draw, tags = random.Random(0), ["O", "B-NP", "I-NP", "B-VP", "I-VP"]
    for _ in range(2000):
        true, guessed = ([draw.choices(tags, k=n) for n in (1, 2, 7)] for _ in range(2))
        theirs, ours = f1_score(true, guessed, zero_division=0), f1(true, guessed)
        assert abs(theirs - ours) < 1e-12, (true, guessed, theirs, ours)
    print("F1 as seqeval's on 2,000 sets of random tags")


if __name__ == "__main__":
    check()
