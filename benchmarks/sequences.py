"""CoNLL-2000 chunking: F1 and time of PASequence and of crfsuite's learners, on the same features in one run.

    HINGE_DATA=folder python benchmarks/sequences.py [--quick] [--data FOLDER] [--markdown FILE] [--csv FILE]

Data     8,936 sentences (211,727 tokens, 22 tags) to learn, 2,012 (47,377 tokens) to test; crfsuite's example of
         features for chunking (hinge.structured.templates: CHUNKING), 19 windows over words and parts of speech.
Peers    crfsuite (python-crfsuite) pa, ap (averaged perceptron), arow: 10 epochs, as they come, and with c of pa and
         gamma of arow chosen as ours are; lbfgs, a CRF, for comparison: as it comes, until it stops.
Ours     PASequence as it comes (PA-I, C = 1); PA-I, PA-II, PA, the perceptron; it learns from the predicted tags, from
         those with the largest loss (max), or with the largest loss whose margin is a sum over positions
         (max-additive); AROW with a diagonal covariance. Averaged, after 1, 2, 5, 10 and 20 epochs; not averaged,
         after 10.
Choice   C (r of AROW) by F1 on a tenth of the training sentences, held out, after 10 epochs, mean of 3 repetitions. The
         learner in bold is the one of ours with the highest of these F1. Nothing is chosen by the test set, for ours;
         of crfsuite's pa, ap and arow the best on the test set counts.
F1       of chunks, as conlleval and seqeval count. Repetitions differ in the order of the sentences (ours: random_state
         0, 1, 2; crfsuite goes on drawing): mean, and least to largest.
Clock    CPU time of a single thread: from lists of names of features to a model (crfsuite: append and train, which
         writes a file), and tagging the test sentences (crfsuite: the file already open). Best of 3 for 10 epochs, in
         which all take turns; the others once; tagging three times each. Each repetition gets strings of its own, as
         if just made.
"""

from __future__ import annotations

import csv
import gc
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import chunks
import real_sets
from chunks import Fresh, Sentences, Tags
from measure import markdown_table, optional, single_threaded_parser

TABLE = Path(__file__).resolve().parents[1] / "docs" / "tables" / "sequences.csv"
EPOCHS = (1, 2, 5, 10, 20)
USUAL = 10
ORDERS = (0, 1, 2)
CS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
RS = (3.0, 10.0, 30.0, 100.0, 300.0)
CRFSUITE, OURS = "crfsuite", "hinge"
ASKED = ("pa", "ap", "arow")


class Data:
    """Sentences to learn and others to tag, and how well they were tagged."""

    def __init__(self, x: Sentences, y: Tags, test_x: Sentences, test_y: Tags) -> None:
        self.x, self.y, self.test_x, self.test_y = Fresh(x), y, Fresh(test_x), test_y
        self.tokens = sum(map(len, test_y))


def read(quick: bool) -> tuple[Data, Data]:
    """The test sentences, and a tenth of the training sentences held out from the others."""
    x, y = chunks.sentences(real_sets.folder() / "conll2000_train.txt.gz")
    test_x, test_y = chunks.sentences(real_sets.folder() / "conll2000_test.txt.gz")
    if quick:
        x, y, test_x, test_y = x[:500], y[:500], test_x[:200], test_y[:200]
    order = list(range(len(x)))
    random.Random(0).shuffle(order)
    tenth = len(x) // 10
    held, rest = order[:tenth], order[tenth:]

    def pick(which: Sequence[int]) -> tuple[Sentences, Tags]:
        return [x[i] for i in which], [y[i] for i in which]

    return Data(x, y, test_x, test_y), Data(*pick(rest), *pick(held))


# ---- learners --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Learner:
    """`options(number)` are those of PASequence, or the parameters of crfsuite's algorithm `name`.

    Without a symbol nothing is chosen.
    """

    who: str
    name: str
    options: Callable[[float], Mapping[str, Any]]
    symbol: str = ""
    numbers: Sequence[float] = ()
    epochs: Sequence[int | None] = (USUAL,)  # None: until it stops


def crfsuite_learners() -> list[Learner]:
    def by(name: str, symbol: str, numbers: Sequence[float]) -> Learner:
        return Learner(CRFSUITE, name, lambda number: {symbol: number}, symbol, numbers)

    return [
        *(Learner(CRFSUITE, name, lambda _: {}) for name in ASKED),
        by("pa", "c", CS),
        by("arow", "gamma", RS),
        Learner(CRFSUITE, "lbfgs", lambda _: {}, epochs=(None,)),
    ]


def our_learners() -> list[Learner]:
    def ours(name: str, options: Callable[[float], Mapping[str, Any]], *choice: Any) -> Learner:
        return Learner(OURS, name, options, *choice, epochs=EPOCHS)

    def by_c(name: str, step: str, selection: str) -> Learner:
        options: Callable[[float], Mapping[str, Any]]
        options = lambda number: {"step": step, "C": number, "selection": selection}  # noqa: E731
        return ours(f"{name}, {selection}", options, "C", CS)

    def arow(selection: str) -> Learner:
        def options(r: float) -> dict[str, Any]:
            covariance = {"geometry": "diagonal", "covariance_regularizer": r}
            return {"step": "pa2", "C": 0.5 / r, "selection": selection, **covariance}

        return ours(f"AROW diagonal, {selection}", options, "r", RS)

    selections = ("prediction", "max", "max-additive")
    return [
        ours("as it comes", lambda _: {}),
        *(by_c("PA-I", "pa1", selection) for selection in selections),
        *(by_c("PA-II", "pa2", selection) for selection in selections),
        ours("PA, prediction", lambda _: {"step": "pa"}),
        ours("perceptron, prediction", lambda _: {"step": "perceptron"}),
        *(arow(selection) for selection in selections),
    ]


# ---- runs ------------------------------------------------------------------------------------------------------


@dataclass
class Line:
    """One line of the table; lists have a number for each repetition."""

    who: str
    learner: str
    options: Mapping[str, Any]
    epochs: int | None = USUAL  # None: until it stopped
    average: bool = True
    chosen: str = ""
    held_out: float | None = None
    f1: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    train: list[float] = field(default_factory=list)
    tag: list[float] = field(default_factory=list)
    best: bool = False  # the highest F1 on the held-out sentences

    def run(self, data: Data, order: int) -> None:
        """Learns and tags once more. The order is that of our sentences; that of crfsuite cannot be set."""
        train, tag, predicted = (crfsuite_run if self.who == CRFSUITE else our_run)(self, data, order)
        self.train.append(train)
        self.tag.append(tag)
        self.f1.append(chunks.f1(data.test_y, predicted))
        self.accuracy.append(chunks.accuracy(data.test_y, predicted))
        shown = f"{self.learner} {self.chosen}, {self.epochs} epochs{'' if self.average else ', no average'}"
        print(f"{self.who} {shown}: F1 {self.f1[-1]:.4f}, {train:.2f} s", file=sys.stderr, flush=True)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    gc.collect()
    gc.disable()
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    gc.enable()
    return seconds, result


def tagged(tag: Callable[[Sentences], Tags], data: Data) -> tuple[float, Tags]:
    """The least time of three, and the tags."""
    seconds = []
    for _ in range(3):
        x = data.test_x()
        took, predicted = timed(lambda x=x: tag(x))
        seconds.append(took)
    return min(seconds), predicted


def crfsuite_run(line: Line, data: Data, _: int) -> tuple[float, float, Tags]:
    import pycrfsuite

    options = {**line.options, **({"max_iterations": line.epochs} if line.epochs else {})}
    x = data.x()
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "model"))

        def train() -> None:
            trainer = pycrfsuite.Trainer(algorithm=line.learner, params=options, verbose=False)
            for names, tags in zip(x, data.y, strict=True):
                trainer.append(names, tags)
            trainer.train(file)

        train_seconds, _ = timed(train)
        tagger = pycrfsuite.Tagger()
        tagger.open(file)
        tag_seconds, predicted = tagged(lambda x: [tagger.tag(names) for names in x], data)
    return train_seconds, tag_seconds, predicted


def our_run(line: Line, data: Data, order: int) -> tuple[float, float, Tags]:
    from hinge import PASequence

    options = {**line.options, "average": line.average, "max_iter": line.epochs, "tol": None}
    model = PASequence(**options, random_state=order)
    x = data.x()
    train_seconds, _ = timed(lambda: model.fit(x, data.y))
    tag_seconds, predicted = tagged(model.predict, data)
    return train_seconds, tag_seconds, predicted


def lines_of(learner: Learner, held_out: Data, orders: Sequence[int], quick: bool) -> list[Line]:
    """One for each number of epochs, with the number that has the highest F1 on the held-out sentences."""
    tried = []
    for number in (learner.numbers[::2] if quick else learner.numbers) or [0.0]:
        shown = f"{learner.symbol} {number:g}" if learner.symbol else ""
        tried.append(Line(learner.who, learner.name, learner.options(number), chosen=shown))
        for order in orders if None not in learner.epochs else []:
            tried[-1].run(held_out, order)
    best = max(tried, key=lambda line: np.mean(line.f1)) if tried[0].f1 else tried[0]
    runs = [(epochs, True) for epochs in learner.epochs]
    runs += [(USUAL, False)] if learner.who == OURS else []
    lines = [Line(best.who, best.learner, best.options, *run, best.chosen) for run in runs]
    for line in lines:
        if best.f1 and line.epochs == USUAL and line.average:
            line.held_out = float(np.mean(best.f1))
    return lines


def measured(quick: bool) -> tuple[Data, list[Line]]:
    data, held_out = read(quick)
    orders = ORDERS[: 1 if quick else None]
    learners = crfsuite_learners() if optional("pycrfsuite") else []
    learners += our_learners()
    lines = [line for learner in learners for line in lines_of(learner, held_out, orders, quick)]
    ours = [line for line in lines if line.who == OURS and line.held_out is not None]
    max(ours, key=lambda line: line.held_out or 0).best = True
    for order in orders:
        for line in lines:
            if line.epochs == USUAL or not order:
                line.run(data, order)
    return data, lines


# ---- tables ----------------------------------------------------------------------------------------------------

HEADINGS = [
    "", "learner", "chosen", "epochs", "held-out F1", "F1", "least to largest", "token accuracy", "to the model",
    "tagging", "tokens/s",
]  # fmt: skip


def cells(line: Line, data: Data) -> list[str]:
    learner = line.learner + ("" if line.average else ", no average")
    spread = f"{min(line.f1):.4f} to {max(line.f1):.4f}" if len(line.f1) > 1 else ""
    return [
        line.who, f"**{learner}**" if line.best else learner, line.chosen, str(line.epochs or "it stops"),
        f"{line.held_out:.4f}" if line.held_out is not None else "", f"{np.mean(line.f1):.4f}", spread,
        f"{np.mean(line.accuracy):.4f}", f"{min(line.train):.2f} s", f"{min(line.tag):.3f} s",
        f"{data.tokens / min(line.tag):,.0f}",
    ]  # fmt: skip


def by_epochs(lines: Sequence[Line]) -> list[list[str]]:
    """F1 of each of ours after a number of epochs, and the time to the model."""
    table: dict[str, list[str]] = {}
    for line in lines:
        if line.who == OURS and line.average:
            cell = f"{np.mean(line.f1):.4f} ({min(line.train):.2f} s)"
            table.setdefault(f"{line.learner} {line.chosen}".strip(), []).append(cell)
    return [[name, *cells] for name, cells in table.items()]


def verdict(lines: Sequence[Line]) -> Iterator[str]:
    """Ours, chosen on held-out sentences and with defaults, against the best of crfsuite's three with defaults."""
    peers = [line for line in lines if line.who == CRFSUITE and line.learner in ASKED and not line.chosen]
    if not peers:
        return
    peer = max(peers, key=lambda line: np.mean(line.f1))
    for line in lines:
        if line.best or (line.learner, line.epochs, line.average) == ("as it comes", USUAL, True):
            yield (
                f"{line.learner} {line.chosen}".strip() + f", against crfsuite's best, {peer.learner}: "
                f"F1 {np.mean(line.f1):.4f} against {np.mean(peer.f1):.4f}; to the model "
                f"{min(peer.train) / min(line.train):.2f} x, tagging {min(peer.tag) / min(line.tag):.2f} x as fast"
            )


CSV = (
    "who", "learner", "chosen", "epochs", "average", "held-out F1", "F1", "F1 least", "F1 largest", "token accuracy",
    "s to the model", "s tagging", "tokens/s", "repetitions", "highest held-out F1",
)  # fmt: skip


def record(line: Line, data: Data) -> list[Any]:
    return [
        line.who, line.learner, line.chosen, line.epochs or "", line.average,
        f"{line.held_out:.5f}" if line.held_out is not None else "", f"{np.mean(line.f1):.5f}", f"{min(line.f1):.5f}",
        f"{max(line.f1):.5f}", f"{np.mean(line.accuracy):.5f}", f"{min(line.train):.3f}", f"{min(line.tag):.4f}",
        f"{data.tokens / min(line.tag):.0f}", len(line.f1), line.best,
    ]  # fmt: skip


def main() -> int:
    parser = single_threaded_parser(__doc__)
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="where the sets are, instead of $HINGE_DATA"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here too")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help=f"write every number here ({TABLE.name}, if not --quick)"
    )
    options = parser.parse_args()
    if options.data:
        os.environ["HINGE_DATA"] = str(options.data)

    data, lines = measured(options.quick)
    table = [cells(line, data) for line in lines]
    shown = Table(*HEADINGS)
    for row in table:
        shown.add_row(*(cell.replace("**", "") for cell in row))
    Console(width=None if sys.stdout.isatty() else 170).print(shown)
    said = list(verdict(lines))
    print("\n".join(said))
    if options.markdown:
        usual = [cells(line, data) for line in lines if line.epochs in (USUAL, None)]
        epochs = markdown_table(["learner", *map(str, EPOCHS)], by_epochs(lines))
        title = "F1 (time to the model) after so many epochs:"
        text = [markdown_table(HEADINGS, usual), "", title, "", epochs, "", *said, ""]
        options.markdown.write_text("\n".join(text), encoding="utf-8")
    where = options.csv or (None if options.quick else TABLE)
    if where:
        with where.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([CSV, *(record(line, data) for line in lines)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
