"""Predict with a model, one line for each example: to the standard output as they come, or to a file.

The data is read as it was when the model learned. If it has labels, the error is printed, too.

  hinge predict test.svm -m model.hinge
  hinge predict new.csv -m model.hinge --scores -o predictions.txt
  tail -f events.vw | hinge predict - -m model.hinge
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...model.file import whole_file
from ...streams.batches import Batch
from ...streams.evaluation import Score, Study, has_labels, located
from ...streams.formats.conll import SentenceBatch
from ...streams.guessing import shown_label
from ...streams.stream import Piece
from .. import reading
from ..arguments import check_place, limits
from ..progress import error_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the model")
    group.add_argument(
        "-m", "--model", metavar="FILE", required=True, help="The model, as 'hinge learn' or `save` wrote it."
    )
    group = parser.add_argument_group("the predictions")
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="Where to write the predictions. The file is replaced atomically. [default: the standard output]",
    )
    group.add_argument(
        "--scores", action="store_true",
        help="Write the scores, too: after a tab, the score or label=score for each label; of a sentence, in a line "
        "before it.",
    )  # fmt: skip
    group.add_argument(
        "--explain", metavar="N", type=reading.whole, nargs="?", const=5,
        help="Write the N features that contributed most to the score (of the predicted label, if each has one), too: "
        "after a tab, feature=contribution for each. [default: 5]",
    )  # fmt: skip
    group.add_argument(
        "--json",
        action="store_true",
        help="Write one JSON object per line: file, line, prediction (scores, contributions).",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="Print nothing but the predictions.")
    reading.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.output is not None:
        check_place(arguments.output, "the predictions", [arguments.model, *arguments.data])
    elif sys.stdout is None:
        raise ValueError("the standard output is closed: -o FILE writes the predictions")
    study = Study.load(arguments.model)
    kept = (study.learner.notes.get("stream") or {}).get("settings")
    bad = reading.bad_lines(arguments)
    stream, _ = reading.open_stream(arguments, kept, {**limits(study, {}, study.task), "grow": False}, bad)
    score, unlabelled, count = Score(), False, 0
    remarks: list[str] = []
    with _output(arguments.output) as write:
        for piece in stream.once():
            write(told(study, piece, arguments, arguments.explain))
            count += len(piece.batch)
            unlabelled = unlabelled or not has_labels(piece.batch, study._task)
            if not unlabelled:
                try:
                    its = study.cost(piece.batch, piece.file.name)
                except (
                    ValueError
                ) as error:  # a label that the model does not know is no reason not to predict
                    unlabelled = True
                    remarks.append(f"No error is reported: {error}")
                    continue
                score = Score(score.rounds + its.rounds, score.cost + its.cost)
    if not arguments.quiet:
        if bad.count:
            print(f"{bad.count:,} examples were skipped; the first: {bad.first[0]}", file=sys.stderr)
        for text in [*remarks, *reading.remarks(stream.source)]:
            print(text, file=sys.stderr)
        told_error = "" if unlabelled or not count else f", {error_text(study.task, score.error)}"
        print(f"{count:,} predictions{told_error}", file=sys.stderr)
    return 0


def told(
    study: Study, piece: Piece, arguments: argparse.Namespace, explain: int | None = None, lanes: Any = None
) -> str:
    """The predictions for a batch, as text; `explain`: with so many contributions each. `lanes`: what `Study.lanes`
    said of the examples, if that was asked before."""
    batch, name = piece.batch, piece.file.name
    try:
        made = study.predict(batch, name) if lanes is None else study.predicted(lanes)
        scores: list[Any] = [None] * len(batch)
        if arguments.scores:
            scores = study.scores(batch) if lanes is None else study.scored(lanes)
        parts: list[Any] = [None] * len(batch)
        if explain is not None:
            parts = [study.explain(batch, row, explain) for row in range(len(batch))]
    except ValueError as error:
        raise located(error, batch, name) from None
    if arguments.json:
        return "".join(
            json.dumps(
                {
                    "file": name, "line": int(line), "prediction": _plain(label),
                    **_scores_record(its), **_parts_record(its_parts),
                }
            )
            + "\n"
            for line, label, its, its_parts in zip(batch.lines, made, scores, parts, strict=True)
        )  # fmt: skip
    if study._task.has_sentences:
        return "".join(
            _sentence(batch, row, tags, its) for row, (tags, its) in enumerate(zip(made, scores, strict=True))
        )
    return "".join(
        f"{_line(label)}{_scores_text(its)}{_parts_text(its_parts)}\n"
        for label, its, its_parts in zip(made, scores, parts, strict=True)
    )


def _line(label: Any) -> str:
    if isinstance(label, list):
        return ",".join(map(shown_label, label))
    return "" if label is None else shown_label(label) if not isinstance(label, float) else _number(label)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.9g}"


def _plain(label: Any) -> Any:
    whole = isinstance(label, float) and label.is_integer() and abs(label) < 2**53
    return int(label) if whole else label


def _scores_text(scores: Any) -> str:
    if scores is None:
        return ""
    if isinstance(scores, dict):
        return "\t" + " ".join(f"{shown_label(label)}={score:.9g}" for label, score in scores.items())
    return f"\t{scores:.9g}"


def _scores_record(scores: Any) -> dict[str, Any]:
    if scores is None:
        return {}
    if isinstance(scores, dict):
        return {"scores": {shown_label(label): score for label, score in scores.items()}}
    return {"score": scores}


def _parts_text(parts: Any) -> str:
    if parts is None:
        return ""
    return "\t" + " ".join(f"{shown_label(part.feature)}={part.contribution:.4g}" for part in parts)


def _parts_record(parts: Any) -> dict[str, Any]:
    if parts is None:
        return {}
    return {"contributions": [[str(part.feature), part.contribution] for part in parts]}


def _sentence(batch: Batch, row: int, tags: list[Any], score: Any) -> str:
    """The columns as they were (with the true tag, if there is one), and the tag after them."""
    columns: list[Any] = (
        list(batch.sentences[row].columns.values()) if isinstance(batch, SentenceBatch) else []
    )
    truth = batch.labels[row] if isinstance(batch.labels, list) else None
    columns += [truth] if truth is not None else []
    head = "" if score is None else f"# score = {score:.9g}\n"
    return (
        head + "".join("\t".join(map(str, token)) + "\n" for token in zip(*columns, tags, strict=True)) + "\n"
    )


@contextmanager
def _output(path: str | None) -> Iterator[Callable[[str], None]]:
    """What takes text: the standard output, at once; or a file, which is there when all is written."""
    if path is None:

        def show(text: str) -> None:
            sys.stdout.write(text)
            sys.stdout.flush()

        yield show
        return
    with whole_file(path) as file:

        def write(text: str) -> None:
            file.write(text.encode())

        yield write
