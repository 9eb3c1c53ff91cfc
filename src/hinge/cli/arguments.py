"""Checks before a run begins: the options must be consistent with each other and with an existing model."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from ..learner import Learner
from ..streams.evaluation import Study
from ..streams.files import PACKED
from ..streams.follow import FIRST_BYTES, Followed, digest
from ..streams.session import Passes, Position
from ..streams.stream import Stream
from ..tasks import TASKS
from . import fleet_options, learner_options, reading
from .options import PASSES, flag

if TYPE_CHECKING:
    from ..streams.fleets import FleetStudy

ONCE = "{} can only be read once: --shuffle keeps it in memory for more passes"


def check_places(arguments: argparse.Namespace) -> None:
    """The output files must be writable, and must not replace anything by accident."""
    model = arguments.model
    if arguments.resume and model is None:
        raise ValueError("--resume needs the model to resume: -m FILE")
    if arguments.save_every is not None and model is None:
        raise ValueError("--save-every needs a file to save to: -m FILE")
    if arguments.resume and (arguments.initial is not None or arguments.force):
        raise ValueError("--resume resumes the model at -m: it excludes --initial and --force")
    if model is not None:
        check_place(model, "the model", arguments.data)
        check_replaced(arguments)
    if arguments.predictions is not None:
        others = [path for path in (model, arguments.initial) if path is not None]
        check_place(arguments.predictions, "the predictions", [*arguments.data, *others])
    elif arguments.scores:
        raise ValueError("--scores needs --predictions FILE")
    if arguments.plot is not None:
        check_plot(arguments.plot, arguments.data)


def check_replaced(arguments: argparse.Namespace) -> None:
    """An existing model is replaced only with --force."""
    model, initial = arguments.model, arguments.initial
    same = initial is not None and os.path.abspath(initial) == os.path.abspath(model)
    if os.path.exists(model) and not (arguments.resume or arguments.force or same):
        raise ValueError(f"{model} already exists: --resume resumes it, --initial {model} starts from it with other "
                         "data, --force replaces it")  # fmt: skip


def can_be_locked(path: str) -> bool:
    """Whether a lock file can be created next to `path`: not next to a device, nor in a read-only folder."""
    folder = os.path.dirname(os.path.realpath(path))
    return not path.startswith("/dev/") and os.access(folder, os.W_OK)


def check_place(path: str, what: str, others: list[str]) -> None:
    """`path` can be written, and is not one of the other files."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise ValueError(f"there is no directory {folder} for {what}")
    if os.path.isdir(path):
        raise ValueError(f"{path} is a directory: {what} needs a file")
    for other in others:
        if os.path.isfile(path) and os.path.exists(other) and os.path.samefile(path, other):
            raise ValueError(f"{path} is an input: write {what} to another file")


def check_plot(path: str, data: list[str]) -> None:
    if os.path.splitext(path)[1].lower() not in (".png", ".svg", ".pdf", ".html"):
        raise ValueError(f"--plot: {path} must end in .png, .svg, .pdf or .html")
    check_place(path, "the picture", data)
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise ImportError("--plot needs matplotlib: pip install 'hinge[plots]'")


def check_follow(arguments: argparse.Namespace, passing: dict[str, Any]) -> None:
    """A followed log has no end, which excludes some options."""
    log, *more = arguments.data
    is_pipe = log == "-" or (os.path.exists(log) and not os.path.isfile(log))
    if more or is_pipe or log.lower().endswith(PACKED):
        raise ValueError("--follow reads one uncompressed file (a pipe does not need it)")
    for option, given in (
        ("--passes", passing.get("max_iter", 1) > 1), ("--shuffle", passing.get("shuffle")),
        ("--batch-tolerance", passing.get("batch_tolerance") is not None), ("--plot", arguments.plot is not None),
        ("--certificate", arguments.certificate),
    ):  # fmt: skip
        if given:
            raise ValueError(f"--follow reads a log without an end once: it excludes {option}")


def check_passes(arguments: argparse.Namespace, options: dict[str, Any], passing: dict[str, Any]) -> None:
    if arguments.follow:
        check_follow(arguments, passing)
    if passing.get("batch_tolerance") is not None:
        if options.get("step", (arguments.algorithm or "").partition(":")[0]) != "pa":
            raise ValueError("--batch-tolerance is N03's batch conversion: it needs --step pa")
        if passing.get("shuffle"):
            raise ValueError("--batch-tolerance visits the examples in order: it excludes --shuffle")
    if (
        "-" in arguments.data and _many(passing) and not passing.get("shuffle")
    ):  # before anything waits for input
        raise ValueError(ONCE.format("the standard input"))
    if not isinstance(passing.get("random_state", 0), int):
        raise ValueError("--random-state must be a whole number")


def check_read_again(stream: Stream, passing: dict[str, Any], resume: bool) -> None:
    """A pipe can be read only once."""
    if stream.can_be_read_again:
        return
    if _many(passing) and not passing.get("shuffle"):
        raise ValueError(ONCE.format(_pipe(stream)))
    if resume and passing.get("shuffle"):
        raise ValueError(f"--resume with --shuffle needs files: {_pipe(stream)} cannot be read again")


def _many(passing: dict[str, Any]) -> bool:
    return bool(passing.get("max_iter", 1) > 1 or passing.get("batch_tolerance") is not None)


def _pipe(stream: Stream) -> str:
    name = next(file.name for file in stream.files if not os.path.isfile(file.path))
    return "the standard input" if name == "<stdin>" else name


def passes_of(passing: dict[str, Any]) -> Passes:
    """`passing`: the options of passes that were given."""
    names = ("max_iter", "tol", "n_iter_no_change", "batch_tolerance", "max_updates")
    return Passes(*(passing.get(name, PASSES[name][0]) for name in names))


# ---- an existing model ------------------------------------------------------------------------------------------


def path_before(arguments: argparse.Namespace) -> str | None:
    """The file of the model to resume or to start from, if there is one."""
    resumes = arguments.resume and os.path.exists(arguments.model)
    path: str | None = arguments.model if resumes else arguments.initial
    return path


def check_before(
    study: Study | FleetStudy, path: str, arguments: argparse.Namespace, options: dict[str, Any]
) -> None:
    """The options must be those of the model. --initial may change some."""
    if arguments.task not in (None, study.task):
        raise ValueError(f"{path} is a model for {study.task}, not for {arguments.task}")
    if not isinstance(study, Study):
        return fleet_options.check_before(study, path, arguments, options)
    if arguments.key is not None:
        raise ValueError(f"{path} is one model for all examples, and not a fleet: --key is for new models")
    wanted = learner_options.options_for(study.task, arguments.algorithm, options)
    if study.learner.parameters.get("experts") is not None:
        learner_options.check_for_committee([name for name in wanted if name != "experts"])
    known = {**study.learner.parameters, "features": getattr(study.ranker, "features", None)}
    changed = {name: value for name, value in wanted.items() if known.get(name) != value}
    if changed and arguments.resume:
        name = next(iter(changed))
        raise ValueError(f"{path} has {name}={known.get(name)!r}: --resume cannot change it ({flag(name)} can change "
                         "with --initial)")  # fmt: skip
    if changed:
        study.learner.change(**changed)


def limits(
    before: Study | FleetStudy | None, options: dict[str, Any], task: str | None = None
) -> dict[str, Any]:
    """The options of the model that the formats need. (Those with keys need none of a fleet.)"""
    if before is not None and not isinstance(before, Study):
        return {}
    values = options if before is None else before.learner.parameters
    names = ("hash_bits", "max_features", "at_max_features")
    found = {name: values[name] for name in names if values.get(name) is not None}
    if before is not None and isinstance(before.learner, Learner) and before.ranker is None:
        known = before.learner.feature_names
        if known and isinstance(known[0], str):
            found["names"] = known
    task = task if before is None else before.task
    if task is not None and TASKS[task].has_feature_map:
        found["only_words"] = True
    return found


def new_position(stream: Stream, format_name: str, passing: dict[str, Any]) -> Position:
    position = Position([file.name for file in stream.files], format_name)
    if not isinstance(stream, Followed):  # a log has a `Place` instead
        position.begins, position.begins_with = _first_bytes(stream.files[0].path, FIRST_BYTES)
    position.seed = int(passing.get("random_state", 0)) if passing.get("shuffle") else None
    return position


def _first_bytes(path: str, most: int) -> tuple[int, str]:
    """The number of the first bytes of a file (at most `most`) and their digest; (0, "") for a pipe."""
    if not os.path.isfile(path):
        return 0, ""
    with open(path, "rb") as file:
        first = file.read(most)
    return len(first), digest(first)


def check_same_run(
    position: Position, now: Position, arguments: argparse.Namespace, kept: dict[str, Any] | None
) -> None:
    """--resume needs the same data, read in the same way. There may be more files after the others."""
    known, names = ([os.path.basename(name) for name in files] for files in (position.files, now.files))
    learned = ", ".join(position.files[:3]) + (", ..." if len(position.files) > 3 else "")
    other = f"the model learned from {learned}: --resume needs the same data, --initial takes other data"
    if known != names[: len(known)]:
        raise ValueError(other)
    if position.log is not None and not arguments.follow:
        raise ValueError(f"the model follows the log {position.files[0]}: --resume needs --follow")
    path = now.files[0]
    if position.begins and _first_bytes(path, position.begins) != (position.begins, position.begins_with):
        raise ValueError(f"{path} begins differently: {other}")
    if position.seed != now.seed:
        shuffled = f"with --shuffle --random-state {position.seed}"
        before = "without --shuffle" if position.seed is None else shuffled
        raise ValueError(f"the model was learned {before}: --resume cannot change this")
    known_options = (kept or {}).get("options", {})
    for option, value in reading.given_options(arguments).items():
        was = known_options.get(option, value)
        if was != value:
            raise ValueError(f"the data was read with {option}={was!r}: --resume cannot change this")
    position.files, position.begins, position.begins_with = now.files, now.begins, now.begins_with
