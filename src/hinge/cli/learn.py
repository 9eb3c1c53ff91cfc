"""Learn from files or from a stream that never ends, one example after the other.

Each example is predicted before it is learned, so the error that is shown is honest without any data set aside. A
model that is saved goes on learning later, to the bit as if it had never stopped.

  hinge learn train.svm -m model.hinge
  hinge learn mails.jsonl.gz --text body --label folder -a arow:r=0.1 --geometry diagonal -m mails.hinge
  tail -f events.vw | hinge learn - -m model.hinge --save-every 10000
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..streams.batches import BadLines
from ..streams.session import Position, Session
from ..streams.stream import Piece, Shuffled, Stream
from ..streams.study import Study
from . import beginning, learner_options, reading
from .options import PASSES, add_parameters, given
from .progress import Figures, Json, Quiet, Window, error_text, reporter
from .stopping import Stopped, stopping


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the model")
    group.add_argument("-m", "--model", metavar="FILE", help="Where to save it: whole or not at all.")
    group.add_argument(
        "--resume", action="store_true",
        help="Go on where the model at -m stopped: the same data, without the examples that it has learned. Starts "
        "anew if there is no such file. From a pipe it goes on with what comes.",
    )  # fmt: skip
    group.add_argument("-i", "--initial", metavar="FILE", help="Start from this model, with other data.")
    group.add_argument("--force", action="store_true", help="Replace a model that is there.")
    group.add_argument(
        "--save-every", metavar="N", type=reading.whole, help="Save after every N examples, too."
    )
    reading.add_arguments(parser)
    group = parser.add_argument_group("what is shown")
    add_shown(group)
    group.add_argument(
        "--plot", metavar="FILE", help="Draw the progressive error and its bound: .png, .svg, .pdf or .html."
    )
    group.add_argument(
        "--certificate",
        action="store_true",
        help="Read the data again, and say what was guaranteed against fixed predictors, and what was suffered.",
    )
    learner_options.add_arguments(parser)
    add_parameters(parser.add_argument_group("passes over the data"), PASSES)


def add_shown(group: Any) -> None:
    group.add_argument("-q", "--quiet", action="store_true", help="Nothing but the result.")
    group.add_argument(
        "--json", action="store_true", help="A JSON object a line, for machines, to the standard output."
    )
    group.add_argument(
        "--window", metavar="N", type=reading.whole, default=1000,
        help="'lately' is the error of the last N examples. [default: 1000]",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    beginning.check_places(arguments)
    options, passing = learner_options.learner_options(arguments), given(arguments, PASSES)
    beginning.check_passes(arguments, options, passing)
    before = beginning.model_before(arguments, options)
    notes = before.learner.notes if before is not None else {}
    kept = (notes.get("stream") or {}).get("settings")
    bad = reading.bad_lines(arguments)
    limits = beginning.limits(before, options, arguments.task)
    stream, name = reading.open_stream(arguments, kept, limits, bad)
    beginning.check_read_again(stream, passing, arguments.resume)
    position = beginning.new_position(stream, name, passing)
    resumed = Position.of(notes) if arguments.resume else None
    if resumed is not None:
        beginning.check_same_run(resumed, position, arguments, kept)

    tell = reporter(arguments.quiet, arguments.json)

    def begin(piece: Piece) -> Study:
        task = learner_options.task_of(arguments, piece, stream.source, tell.say)
        return learner_options.new_study(task, arguments.algorithm, options)

    session = Session(
        Shuffled(stream, position.seed) if position.seed is not None else stream,
        bad,
        resumed or position,
        begin,
        study=before,
        passes=beginning.passes_of(passing),
        settings=lambda: reading.kept_settings(stream.source, name),
        model=arguments.model,
        save_every=arguments.save_every,
    )
    tell.say(f"{reading.described(stream.files, name)}.")
    curve = _curve(arguments)
    stopped = follow(session, tell, arguments, curve)
    if session.study is None:
        return nothing_learned(stream, bad, stopped)
    remarks = [
        *reading.remarks(stream.source),
        *reading.unfinished(stream.files, name),
        *session.study.remarks(),
    ]
    _summary(session, arguments, stopped, passing, remarks)
    if curve is not None and not stopped:
        from .curve import draw

        draw(arguments.plot, curve, session, stream, arguments.json)
    if arguments.certificate and not stopped:
        from .curve import certificate_of

        _certify(certificate_of(session, stream), arguments.json)
    return 0 if stopped is None else 128 + stopped


def _certify(found: Any, as_json: bool) -> None:
    if not as_json:
        print(found)
        return
    Json(sys.stdout).write("certificate", found.record)


def nothing_learned(stream: Stream, bad: BadLines, stopped: int | None) -> int:
    if stopped is not None:
        print("Stopped before anything was learned: nothing is saved.", file=sys.stderr)
        return 128 + stopped
    names = ", ".join(file.name for file in stream.files)
    skipped = f" ({bad.count:,} could not be read; the first: {bad.first[0]})" if bad.count else ""
    raise ValueError(f"there are no examples in {names}{skipped}: nothing was learned, nothing is saved")


# ---- while it goes ----------------------------------------------------------------------------------------------


def follow(session: Session, tell: Quiet, arguments: argparse.Namespace, curve: Any) -> int | None:
    """Runs the session and tells how it goes. Returns the number of the signal that stopped it, if one did."""
    window = Window(arguments.window, session.position.score)
    started = False
    with stopping(session) as stop:
        try:
            for _ in session.run():
                study = session.study
                assert study is not None
                if not started:
                    tell.start(study)
                    started = True
                examples = session.position.learned
                figures = Figures(
                    examples,
                    study.score,
                    window.see(study.score),
                    study.learner.statistics.updates,
                    session.seconds,
                    session.done,
                )
                tell.see(figures)
                if curve is not None and session.position.passes == 0:
                    curve.see(figures, study.learner.statistics)
        except Stopped:  # while it waited for data: what has been learned is whole
            session.save()
        finally:
            tell.close()
    return stop.number


def _curve(arguments: argparse.Namespace) -> Any:
    if arguments.plot is None:
        return None
    from .curve import Curve

    return Curve()


def _summary(
    session: Session,
    arguments: argparse.Namespace,
    stopped: int | None,
    passing: dict[str, Any],
    remarks: list[str],
) -> None:
    study, position = session.study, session.position
    assert study is not None
    statistics, score = study.learner.statistics, position.score
    updates = statistics.updates - session.updates_before
    saved = None if arguments.model is None else str(arguments.model)
    if arguments.json:
        Json(sys.stdout).write("stopped" if stopped else "done", {
            "task": study.task, "examples": position.most, "passes": len(position.scores),
            "error": None if score.error != score.error else score.error, "mistakes": statistics.mistakes,
            "updates": updates, "loss": statistics.loss, "features": study.learner.n_features,
            "remarks": remarks, "skipped": session.bad.count, "seconds": round(session.seconds, 3), "model": saved,
        })  # fmt: skip
        return
    if passing.get("verbose"):
        for number, (rounds, cost) in enumerate(position.scores, 1):
            print(f"pass {number}: {error_text(study.task, cost / max(1, rounds))}")
    for error in session.bad.first[: 3 if session.bad.count else 0]:
        print(f"skipped: {error}", file=sys.stderr)
    if session.bad.count:
        print(f"{session.bad.count:,} examples were skipped.", file=sys.stderr)
    for text in remarks:
        print(text)
    if stopped:
        print("Stopped." if saved is None else f"Stopped: the model is whole in {saved}, --resume goes on.")
    passes = f" in {len(position.scores)} passes" if len(position.scores) > 1 else ""
    print(
        f"{study.task} ({learner_options.in_words(study)}): {position.most:,} examples{passes}, "
        f"{error_text(study.task, score.error)}, {updates:,} updates, "
        f"{study.learner.n_features:,} features, {session.seconds:.2f} s"
    )
    if saved is not None and not stopped:
        print(f"The model is in {saved}")
