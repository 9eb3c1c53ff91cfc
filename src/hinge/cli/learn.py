"""Learn from files or from a stream that never ends, one example after the other.

Each example is predicted before it is learned, so the error that is shown is honest without any data set aside. A
model that is saved goes on learning later, to the bit as if it had never stopped.

  hinge learn train.svm -m model.hinge
  hinge learn mails.jsonl.gz --text body --label folder -a arow:r=0.1 --geometry diagonal -m mails.hinge
  tail -f events.vw | hinge learn - -m model.hinge --save-every 10000
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from ..learner import Learner
from ..streams.session import Passes, Position, Session
from ..streams.stream import Piece, Shuffled
from ..streams.study import Study
from . import learner_options, reading
from .options import PASSES, add_parameters, flag, given
from .progress import Figures, Json, Quiet, Window, error_text, reporter
from .stopping import Stopped, stopping


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the model")
    group.add_argument("-m", "--model", metavar="FILE", help="Where to save it: whole or not at all.")
    group.add_argument(
        "--resume", action="store_true",
        help="Go on where the model at -m stopped: the same data, without the examples that it has learned. Starts "
        "anew if there is no such file.",
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
    check(arguments)
    options, passing = learner_options.learner_options(arguments), given(arguments, PASSES)
    check_passes(arguments, options, passing)
    before = _before(arguments, options)
    notes = before.learner.notes if before is not None else {}
    position = Position.of(notes) if arguments.resume else None
    kept = (notes.get("stream") or {}).get("settings")
    bad = reading.bad_lines(arguments)
    stream, name = reading.open_stream(arguments, kept, limits(before, options, arguments.task), bad)
    names = [file.name for file in stream.files]
    if position is not None:
        check_same_data(position, names)

    tell = reporter(arguments.quiet, arguments.json)

    def begin(piece: Piece) -> Study:
        task = learner_options.task_of(arguments, piece, stream.source, tell.say)
        return learner_options.new_study(task, arguments.algorithm, options)

    session = Session(
        Shuffled(stream, int(passing.get("random_state", 0))) if passing.get("shuffle") else stream,
        bad,
        position or Position(names, name),
        begin,
        study=before,
        passes=passes_of(passing),
        settings=lambda: reading.kept_settings(stream.source, name),
        model=arguments.model,
        save_every=arguments.save_every,
    )
    tell.say(f"{reading.described(stream.files, name)}.")
    curve = _curve(arguments)
    stopped = follow(session, tell, arguments, curve)
    if session.study is None:
        raise ValueError(
            f"there are no examples in {', '.join(names)}: nothing was learned, nothing is saved"
        )
    _summary(session, arguments, stopped, passing, reading.remarks(stream.source))
    if curve is not None and not stopped:
        from .curve import draw

        draw(arguments.plot, curve, session, stream)
    return 0 if stopped is None else 128 + stopped


# ---- before it begins -------------------------------------------------------------------------------------------


def check(arguments: argparse.Namespace) -> None:
    model = arguments.model
    if arguments.resume and model is None:
        raise ValueError("--resume needs the model to go on with: -m FILE")
    if arguments.save_every is not None and model is None:
        raise ValueError("--save-every needs a file to save to: -m FILE")
    if arguments.resume and (arguments.initial is not None or arguments.force):
        raise ValueError("--resume goes on with the model at -m: --initial and --force do not go with it")
    if model is not None:
        folder = os.path.dirname(model) or "."
        if not os.path.isdir(folder):
            raise ValueError(f"there is no directory {folder} for the model")
        if os.path.isdir(model):
            raise ValueError(f"{model} is a directory, not a model")
        same = arguments.initial is not None and os.path.abspath(arguments.initial) == os.path.abspath(model)
        if os.path.exists(model) and not (arguments.resume or arguments.force or same):
            raise ValueError(
                f"{model} is there already: --resume goes on with it, --initial {model} learns more from other data, "
                "--force replaces it"
            )
    if arguments.plot is not None:
        check_plot(arguments.plot)


def check_plot(path: str) -> None:
    if os.path.splitext(path)[1].lower() not in (".png", ".svg", ".pdf", ".html"):
        raise ValueError(f"--plot: {path} must end in .png, .svg, .pdf or .html")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise ValueError(f"--plot: there is no directory {os.path.dirname(path)}")


def check_passes(arguments: argparse.Namespace, options: dict[str, Any], passing: dict[str, Any]) -> None:
    if passing.get("tolerance") is not None:
        if options.get("step") != "pa":
            raise ValueError("--tolerance is N03's batch conversion: it needs --step pa")
        if passing.get("shuffle"):
            raise ValueError("--tolerance takes the examples in their order: --shuffle does not go with it")
    if not isinstance(passing.get("random_state", 0), int):
        raise ValueError("--random-state must be a whole number")
    many = passing.get("max_iter", 1) > 1 or passing.get("tolerance") is not None
    if "-" in arguments.data and many and not passing.get("shuffle"):
        raise ValueError(
            "the standard input can be read once only: --shuffle keeps it in memory for more passes"
        )


def passes_of(passing: dict[str, Any]) -> Passes:
    value = {name: passing.get(name, default) for name, (default, _) in PASSES.items()}
    return Passes(
        value["max_iter"], value["tol"], value["n_iter_no_change"], value["tolerance"], value["max_updates"]
    )


def _before(arguments: argparse.Namespace, options: dict[str, Any]) -> Study | None:
    """The model to go on with, if there is one."""
    path = arguments.initial or (
        arguments.model if arguments.resume and os.path.exists(arguments.model) else None
    )
    if path is None:
        return None
    study = Study.load(path)
    learner = study.learner
    if arguments.algorithm is not None:
        raise ValueError(f"{path} has its algorithm already: --algorithm is for new models")
    if arguments.task not in (None, study.task):
        raise ValueError(f"{path} is a model for {study.task}, not for {arguments.task}")
    known = {**learner.parameters, "features": getattr(study.ranker, "features", None)}
    changed = {name: value for name, value in options.items() if known.get(name) != value}
    if changed and arguments.resume:
        name = next(iter(changed))
        raise ValueError(
            f"{path} has {name}={known.get(name)!r}: --resume goes on as it began "
            f"({flag(name)} can change with --initial)"
        )
    if changed:
        learner.change(**changed)
    return study


def limits(before: Study | None, options: dict[str, Any], task: str | None = None) -> dict[str, Any]:
    """What the reader must know of the model."""
    values = options if before is None else before.learner.parameters
    found = {name: values[name] for name in ("hash_bits", "max_features") if values.get(name) is not None}
    if before is not None and isinstance(before.learner, Learner) and before.ranker is None:
        names = before.learner.feature_names
        if names and isinstance(names[0], str):
            found["names"] = names
    if task == "prototype":
        found["only_words"] = True
    return found


def check_same_data(position: Position, names: list[str]) -> None:
    known, now = ([os.path.basename(name) for name in its] for its in (position.files, names))
    if known != now:
        raise ValueError(
            f"the model learned from {', '.join(position.files)}: --resume goes on with the same data, "
            "--initial learns from other data"
        )


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
    saved = None if arguments.model is None else str(arguments.model)
    if arguments.json:
        Json(sys.stdout).write("stopped" if stopped else "done", {
            "task": study.task, "examples": position.learned, "passes": len(position.scores),
            "error": None if score.error != score.error else score.error, "mistakes": statistics.mistakes,
            "updates": statistics.updates, "loss": statistics.loss, "features": study.learner.n_features,
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
        f"{study.task} ({learner_options.in_words(study)}): {position.learned:,} examples{passes}, "
        f"{error_text(study.task, score.error)}, {statistics.updates:,} updates, "
        f"{study.learner.n_features:,} features, {session.seconds:.2f} s"
    )
    if saved is not None and not stopped:
        print(f"The model is in {saved}")
