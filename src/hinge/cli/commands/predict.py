"""Predict with a model: one line per example, to the standard output or to a file.

The data is read with the options with which the model learned. If it has labels, the error is printed, too.

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
from ...streams.studies import SessionStudy, load_study
from .. import committees, fleet_options, reading
from ..app import whole
from ..arguments import check_place, limits
from ..progress import error_text, skipped_examples


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the model")
    group.add_argument(
        "-m", "--model", metavar="FILE", required=True, help="The model, as 'hinge learn' or `save` wrote it."
    )
    group = parser.add_argument_group("the predictions")
    group.add_argument(
        "-o", "--output", metavar="FILE",
        help="Where to write the predictions. The file is replaced atomically. [default: the standard output]",
    )  # fmt: skip
    group.add_argument(
        "--scores", action="store_true",
        help="Also write the scores: after a tab, the score, or label=score for each label; for a sentence, on the "
        "line before it.",
    )  # fmt: skip
    group.add_argument(
        "--explain", metavar="N", type=whole, nargs="?", const=5,
        help="Also write the N features that contributed most to the score (of the predicted label, if there is one "
        "per label): after a tab, feature=contribution for each. [default: 5]",
    )  # fmt: skip
    group.add_argument(
        "--json", action="store_true",
        help="Write one JSON object per example: file, line, prediction (scores, contributions).",
    )  # fmt: skip
    group.add_argument("-q", "--quiet", action="store_true", help="Print nothing but the predictions.")
    reading.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.output is not None:
        check_place(arguments.output, "the predictions", [arguments.model, *arguments.data])
    elif sys.stdout is None:
        raise ValueError("the standard output is closed: -o FILE writes the predictions")
    study = load_study(arguments.model)
    fleet_options.check_key(study, arguments.model, arguments)
    kept = (study.notes.get("stream") or {}).get("settings")
    bad = reading.bad_lines(arguments)
    stream, _ = reading.open_stream(arguments, kept, {**limits(study, {}, study.task), "grow": False}, bad)
    score, count = Score(), 0
    remarks = list(_about_explanations(study)) if arguments.explain is not None else []
    labelled = True  # every example so far, with labels that the model knows
    with _output(arguments.output) as write:
        for piece in stream.once():
            write(formatted(study, piece, arguments, arguments.explain))
            count += len(piece.batch)
            labelled = labelled and has_labels(piece.batch, study._task)
            if labelled:
                try:
                    cost = study.cost(piece.batch, piece.file.name)
                    score = Score(score.rounds + cost.rounds, score.cost + cost.cost)
                except ValueError as error:  # an unknown label is no reason not to predict
                    labelled = False
                    remarks.append(f"No error is reported: {error}")
    if not arguments.quiet:
        if bad.count:
            print(f"{skipped_examples(bad.count)}; the first: {bad.first[0]}", file=sys.stderr)
        for text in [*remarks, *reading.remarks(stream.source)]:
            print(text, file=sys.stderr)
        error_of_all = f", {error_text(study, score.error)}" if labelled and count else ""
        print(f"{count:,} predictions{error_of_all}", file=sys.stderr)
    return 0


def _about_explanations(study: SessionStudy) -> Iterator[str]:
    if isinstance(study, Study) and study.is_committee:
        leader = committees.leader_of(study.experts)
        yield f"The contributions are to the score of the leader of the committee: {leader.in_words}."


def formatted(
    study: Any, piece: Piece, arguments: argparse.Namespace, explain: int | None = None, lanes: Any = None
) -> str:
    """The predictions for a batch, as text. `explain`: how many contributions to add to each. `lanes`: the scores of
    the examples, if they have been computed already."""
    batch, name = piece.batch, piece.file.name
    scores: list[Any] = [None] * len(batch)
    contributions: list[Any] = [None] * len(batch)
    try:
        labels = study.predict(batch, name) if lanes is None else study.predicted(lanes)
        if arguments.scores:
            scores = study.scores(batch) if lanes is None else study.scored(lanes)
        if explain is not None:
            contributions = [study.explain(batch, row, explain) for row in range(len(batch))]
    except ValueError as error:
        raise located(error, batch, name) from None
    examples = zip(labels, scores, contributions, strict=True)
    if arguments.json:
        records = (
            {"file": name, "line": int(line), "prediction": _plain(label), **_scores_record(score),
             **({} if parts is None else {"contributions": [[str(p.feature), p.contribution] for p in parts]})}
            for line, (label, score, parts) in zip(batch.lines, examples, strict=True)
        )  # fmt: skip
        return "".join(json.dumps(record) + "\n" for record in records)
    if study._task.has_sentences:
        return "".join(_sentence(batch, row, tags, score) for row, (tags, score, _) in enumerate(examples))
    return "".join(
        f"{_label_text(label)}{_scores_text(score)}{_contributions_text(parts)}\n"
        for label, score, parts in examples
    )


def _label_text(label: Any) -> str:
    if isinstance(label, list):
        return ",".join(map(shown_label, label))
    if isinstance(label, float):
        return str(_plain(label)) if label.is_integer() and abs(label) < 2**53 else f"{label:.9g}"
    return "" if label is None else shown_label(label)


def _plain(label: Any) -> Any:
    is_whole = isinstance(label, float) and label.is_integer() and abs(label) < 2**53
    return int(label) if is_whole else label


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


def _contributions_text(parts: Any) -> str:
    if parts is None:
        return ""
    return "\t" + " ".join(f"{shown_label(part.feature)}={part.contribution:.4g}" for part in parts)


def _sentence(batch: Batch, row: int, tags: list[Any], score: Any) -> str:
    """The columns of the file (with the true tag, if there is one), and the predicted tag after them."""
    columns: list[Any] = (
        list(batch.sentences[row].columns.values()) if isinstance(batch, SentenceBatch) else []
    )
    if isinstance(batch.labels, list) and batch.labels[row] is not None:
        columns.append(batch.labels[row])
    head = "" if score is None else f"# score = {score:.9g}\n"
    tokens = ("\t".join(map(str, token)) + "\n" for token in zip(*columns, tags, strict=True))
    return f"{head}{''.join(tokens)}\n"


@contextmanager
def _output(path: str | None) -> Iterator[Callable[[str], None]]:
    """A function that writes to the standard output at once, or to a file that appears when it is complete."""
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
