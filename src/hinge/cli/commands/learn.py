"""Learn from files or from a stream that never ends, one example after the other.

Each example is predicted before it is learned, so the error is valid without a test set. A saved model resumes later,
bit-identical to one that never stopped.

  hinge learn train.svm -m model.hinge
  hinge learn mails.jsonl.gz --text body --label folder -a arow:r=0.1 --geometry diagonal -m mails.hinge
  hinge learn clicks.jsonl --key user -m clicks.fleet
  tail -f events.vw | hinge learn - -m model.hinge --save-every 10000
"""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ...data.errors import InputError
from ...model.locks import lock_for_writing
from ...streams.batches import BadLines
from ...streams.evaluation import Study
from ...streams.files import Input, printable
from ...streams.follow import Followed
from ...streams.remarks import remarks as learned_remarks
from ...streams.session import Every, Position, Predictions, Session
from ...streams.stream import Piece, Shuffled, Stream
from ...streams.studies import load_study
from .. import committees, fleet_options, fleet_reports, learner_options, reading
from ..app import whole
from ..arguments import (
    can_be_locked,
    check_before,
    check_passes,
    check_places,
    check_read_again,
    check_replaced,
    check_same_run,
    limits,
    new_position,
    passes_of,
    path_before,
)
from ..errors import report_error
from ..options import PASSES, add_parameters, given
from ..progress import (
    Figures,
    Heard,
    Json,
    Quiet,
    Window,
    error_text,
    examples,
    reporter,
    skipped_examples,
)
from ..stopping import Stop, stopping

if TYPE_CHECKING:
    from ...streams.fleets import FleetStudy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the model")
    group.add_argument(
        "-m", "--model", metavar="FILE", help="Where to save the model. The file is replaced atomically."
    )
    group.add_argument(
        "--resume", action="store_true",
        help="Resume where the model at -m stopped: the same data, without the examples that it has learned. If there "
        "is no such file, a new model starts. A pipe is read from its current position.",
    )  # fmt: skip
    group.add_argument(
        "-i", "--initial", metavar="FILE", help="Start from this model, and learn from other data."
    )
    group.add_argument("--force", action="store_true", help="Replace the model at -m, if there is one.")
    group.add_argument(
        "--save-every", metavar="N", type=every,
        help="Also save the model after every N examples, or at intervals: 30s, 5m, 1h.",
    )  # fmt: skip
    group = parser.add_argument_group("the predictions")
    group.add_argument(
        "-p", "--predictions", metavar="FILE",
        help="Write the prediction for each example, made before the example is learned (in the first pass): one line "
        "per example as 'hinge predict' writes it, with --json one object per line. --resume continues the file.",
    )  # fmt: skip
    group.add_argument("--scores", action="store_true", help="With --predictions: write the scores, too.")
    reading.add_arguments(parser)
    parser.add_argument_group("growing logs").add_argument(
        "--follow", action="store_true",
        help="DATA is a growing log. It is read as 'tail -F' does, across rotation and truncation, until a signal "
        "ends the run. With --resume every line is learned exactly once, even after a kill.",
    )  # fmt: skip
    group = parser.add_argument_group("what is shown")
    add_shown(group)
    group.add_argument(
        "--plot",
        metavar="FILE",
        help="Draw the progressive error and its bound to a .png, .svg, .pdf or .html file.",
    )
    group.add_argument(
        "--certificate",
        action="store_true",
        help="Read the data again, and print the bound that a theorem guarantees (against the best of some fixed "
        "predictors), next to what the learner suffered.",
    )
    learner_options.add_arguments(parser)
    fleet_options.add_arguments(parser)
    add_parameters(parser.add_argument_group("passes over the data"), PASSES)


def add_shown(group: Any) -> None:
    group.add_argument("-q", "--quiet", action="store_true", help="Print nothing but the result.")
    group.add_argument(
        "--progress", metavar="N", type=every,
        help="Report progress after every N examples, or at intervals: 10s, 5m, 1h. [default: at 1, 2, 4, 8, ... "
        "examples, and at least once a minute]",
    )  # fmt: skip
    group.add_argument(
        "--json", action="store_true", help="Print one JSON object per line to the standard output."
    )
    group.add_argument(
        "--window", metavar="N", type=whole, default=1000,
        help="The number of examples whose error is reported as 'lately'. [default: 1000]",
    )  # fmt: skip


def every(text: str) -> Every:
    """A number of examples, or a time: 1000, 30s, 5m, 1h."""
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
    if unit is None:
        return Every(examples=whole(text))
    try:
        seconds = float(text[:-1]) * unit
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"must be a number of examples or a time as in 30s, not {text!r}")
    return Every(seconds=seconds)


def run(arguments: argparse.Namespace) -> int:
    check_places(arguments)
    with ExitStack() as stack:
        stop = stack.enter_context(stopping())
        if arguments.model is not None:
            stack.enter_context(lock_for_writing(arguments.model))
            check_replaced(arguments)  # now nobody else can make one
        if arguments.predictions is not None and can_be_locked(arguments.predictions):
            stack.enter_context(lock_for_writing(arguments.predictions))
        return learn(arguments, stop)


def learn(arguments: argparse.Namespace, stop: Stop) -> int:
    path = path_before(arguments)
    before = None if path is None else load_study(path)
    is_fleet = fleet_options.is_wanted(arguments, before)
    read_options = fleet_options.fleet_options if is_fleet else learner_options.learner_options
    options, passing = read_options(arguments), given(arguments, PASSES)
    check_passes(arguments, options, passing)
    if before is not None and path is not None:
        check_before(before, path, arguments, options)
    notes = before.notes if before is not None else {}
    kept = (notes.get("stream") or {}).get("settings")
    bad = reading.bad_lines(arguments)
    bounds = limits(before, options, arguments.task)
    resumed = Position.of(notes) if arguments.resume else None
    files = reading.inputs(arguments)
    stop.then(lambda: stop_all(files))
    try:
        stream, name = reading.open_stream(arguments, kept, bounds, bad, files)
    except ValueError:
        if stop.number is None:
            raise
        return nothing_learned(Stream(files, None, bad), bad, stop.number, 0)  # type: ignore[arg-type]
    if arguments.follow:
        place = None if resumed is None else resumed.log
        stream = Followed(arguments.data[0], stream.source, bad, place, _warn)
    check_read_again(stream, passing, arguments.resume)
    position = new_position(stream, name, passing)
    if resumed is not None:
        check_same_run(resumed, position, arguments, kept)

    report = Heard(reporter(arguments.quiet, arguments.json, arguments.progress))
    predictions = open_predictions(arguments, resumed)

    def begin(piece: Piece) -> Study | FleetStudy:
        task = learner_options.task_of(arguments, piece, stream.source, report.say)
        if is_fleet:
            return fleet_options.new_fleet_study(task, arguments.algorithm, options)
        spec = learner_options.with_committee(task, arguments.algorithm, options)
        study = learner_options.new_study(task, spec, options)
        study.features = reading.features_of(stream.source)
        return study

    if before is not None:
        before.features = reading.features_of(stream.source)

    session = Session(
        Shuffled(stream, position.seed) if position.seed is not None else stream,
        bad,
        resumed or position,
        begin,
        study=before,
        labels_tell=arguments.task is None,
        passes=passes_of(passing),
        settings=lambda: reading.kept_settings(stream.source, name),
        model=arguments.model,
        save_every=arguments.save_every,
        look_every=None if arguments.progress is None else arguments.progress.examples,
        predictions=predictions,
        warn=_warn,
    )
    stop.then(session.stop)
    report.then = session.stop
    stop.save = session.ask_to_save
    report.say(f"{reading.described(stream.files, name)}.")
    curve = _curve(arguments)
    error = follow(session, report, arguments, curve)
    if predictions is not None:
        predictions.close()
        error = error or predictions.error
    if report.gone is not None and error is None:
        if text := unread(stream):
            print(text, file=sys.stderr)
        raise report.gone
    if session.study is None or session.nothing_learned:
        if error is not None:
            raise error
        return nothing_learned(stream, bad, stop.number, session.unlabelled)
    if error is not None:
        return broken_off(error, session, arguments)
    remarks = [
        *reading.remarks(stream.source),
        *([] if arguments.follow else reading.unfinished(stream.files, name)),
        *learned_remarks(session.study),
    ]
    _summary(session, arguments, stop.number, passing, remarks)
    if curve is not None and stop.number is None:
        from ..curve import draw

        draw(arguments.plot, curve, session, stream, arguments.json)
    if arguments.certificate and stop.number is None:
        from ..curve import certificate_of

        _certify(certificate_of(session, stream), arguments.json)
    return 0 if stop.number is None else 128 + stop.number


def _certify(found: Any, as_json: bool) -> None:
    if not as_json:
        print(found)
        return
    Json(sys.stdout).write("certificate", found.record)


def _warn(text: str) -> None:
    print(printable(text), file=sys.stderr, flush=True)


def stop_all(files: list[Input]) -> None:
    for file in files:
        file.stop()


def open_predictions(arguments: argparse.Namespace, resumed: Position | None) -> Predictions | None:
    if arguments.predictions is None:
        return None
    from ..predictions import Predictions

    return Predictions(arguments.predictions, None if resumed is None else resumed.predicted, arguments)


def nothing_learned(stream: Stream, bad: BadLines, stopped: int | None, unlabelled: int) -> int:
    if stopped is not None:
        print("Stopped before anything was learned: nothing is saved.", file=sys.stderr)
        for text in [_without_labels(unlabelled), unread(stream)]:
            if text:
                print(text, file=sys.stderr)
        return 128 + stopped
    names = ", ".join(file.name for file in stream.files)
    skipped = f" ({bad.count:,} could not be read; the first: {bad.first[0]})" if bad.count else ""
    what = "no examples with a label" if unlabelled else "no examples"
    raise ValueError(f"there are {what} in {names}{skipped}: nothing was learned, nothing is saved")


def _without_labels(count: int) -> str:
    are = "examples have" if count != 1 else "example has"
    return f"{count:,} {are} no label: predicted but not learned." if count else ""


def unread(stream: Stream | Shuffled, after: tuple[str, int] | None = None) -> str:
    """What was taken from a pipe, and is neither learned nor counted elsewhere."""
    lines, partial = stream.unread(after)
    found = []
    if lines:
        what = "of an incomplete example" if after is None else "after it"
        found.append(f"{lines:,} line{'s' if lines != 1 else ''} {what}")
    if partial:
        found.append(f"an incomplete last line ({partial:,} bytes)")
    return f"Read but not learned: {' and '.join(found)}." if found else ""


def broken_off(error: Exception, session: Session, arguments: argparse.Namespace) -> int:
    """Says what ended the run, and what is kept: the examples before."""
    code = report_error(error)
    predictions = session.predictions
    if predictions is not None and predictions.missing:
        lines = (
            f"the last {predictions.missing:,} predictions"
            if predictions.missing > 1
            else "the last prediction"
        )
        print(printable(f"{arguments.predictions} does not have {lines}."), file=sys.stderr)
    saved, learned = session.saved.examples, session.position.most
    if arguments.model is None:
        return code
    if not session.is_saved:
        holds = "does not exist" if saved is None else f"is as it was after {examples(saved)}"
        text = f"{arguments.model} {holds}: {learned - (saved or 0):,} more were learned and are not saved."
    else:
        how = "run the same command with --resume"
        if isinstance(error, InputError) and error.file is not None and session.stream.can_be_read_again:
            how = f"correct it and {how}, or add --on-error skip"
        text = f"{arguments.model} holds the {examples(learned)} before it: to continue, {how}."
    print(printable(text), file=sys.stderr)
    if text := unread(session.stream, session.ended_at(error)):
        print(text, file=sys.stderr)
    return code


# ---- while it goes ----------------------------------------------------------------------------------------------


def follow(session: Session, report: Quiet, arguments: argparse.Namespace, curve: Any) -> Exception | None:
    """Runs the session and reports its progress. Returns the error that ended it, if one did."""
    window = Window(arguments.window, session.position.score)
    started = False
    try:
        for _ in session.run():
            study = session.study
            assert study is not None
            figures = Figures(
                session.position.learned,
                study.score,
                window.see(study.score),
                study.statistics.updates,
                session.seconds,
                session.done,
            )
            if curve is not None and session.position.passes == 0:
                curve.see(figures, study)
            if not started:
                report.start(study)
                started = True
            report.see(figures)
    except (ValueError, OSError, MemoryError) as error:
        committees.advise(error, session.study)
        return error
    finally:
        report.close()
    return None


def _curve(arguments: argparse.Namespace) -> Any:
    if arguments.plot is None:
        return None
    from ..curve import Curve

    return Curve(arguments.window)


def _summary(
    session: Session,
    arguments: argparse.Namespace,
    stopped: int | None,
    passing: dict[str, Any],
    remarks: list[str],
) -> None:
    study, position = session.study, session.position
    assert study is not None
    statistics, score = study.statistics, position.score
    updates = statistics.updates - session.updates_before
    saved = None if arguments.model is None else str(arguments.model)
    unread_lines, unread_bytes = session.stream.unread()
    if arguments.json:
        Json(sys.stdout).write("stopped" if stopped else "done", {
            "task": study.task, "examples": position.most, "passes": len(position.scores),
            "error": None if score.error != score.error else score.error, "mistakes": statistics.mistakes,
            "updates": updates, "capped": statistics.capped, "loss": statistics.loss,
            **study.size_record, "remarks": remarks, "skipped": session.bad.count,
            "unlabelled": session.unlabelled, "unread_lines": unread_lines, "unread_bytes": unread_bytes,
            "seconds": round(session.seconds, 3), "model": saved, **fleet_reports.record(study),
        })  # fmt: skip
        return
    if passing.get("verbose"):
        for number, (rounds, cost) in enumerate(position.scores, 1):
            print(f"pass {number}: {error_text(study, cost / max(1, rounds))}")
    for error in session.bad.first[: 3 if session.bad.count else 0]:
        print(printable(f"skipped: {error}"), file=sys.stderr)
    if session.bad.count:
        print(f"{skipped_examples(session.bad.count)}.", file=sys.stderr)
    for text in remarks:
        print(printable(text))
    if text := _without_labels(session.unlabelled):
        print(text)
    if stopped:
        print("Stopped." if saved is None else f"Stopped: the model is saved in {saved}, --resume continues.")
        if not session.stream.can_be_read_again:
            print(unread(session.stream) or "All input was learned, or is counted above.")
    passes = f" in {len(position.scores)} passes" if len(position.scores) > 1 else ""
    print(
        f"{study.task} ({fleet_reports.in_words(study)}): {examples(position.most)}{passes}, "
        f"{error_text(study, score.error)}, {updates:,} updates, "
        f"{study.size_text}, {session.seconds:.2f} s"
    )
    for text in fleet_reports.lines(study):
        print(printable(text))
    if saved is not None and not stopped:
        print(f"The model is in {saved}")
