"""The options of a fleet on the command line: --key, those of the table, and those of learners that fleets have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..fleet.files import LIMITS
from ..options import table
from ..options.classes import CLASSES
from . import learner_options
from .options import OF_FLEETS, OF_THE_LEARNER, add_parameters, flag, given

if TYPE_CHECKING:
    from ..streams.fleets import FleetStudy

# Why a fleet does not have an option of learners, and what is nearest to it.
_REASONS = {
    "experts": "its experts would be kept for every key; one learner for all keys is chosen with --step and --C",
    "kernel": "a key keeps weights of features; --interactions makes products of fields features",
    "budget": "a budget is for kernels; --max-features and --at-max-features limit the features of a key",
    "hash_bits": "it hashes the names into 32 bits by itself",
    "max_weights": "a fleet has --max-keys, --max-features and --memory",
    "scaling": "scale the columns before, or use --step pa2 --geometry diagonal, which adapts to each feature",
    "selection": "with many labels it corrects the largest violation, as --selection max does",
    "class_weight": "--weight names a field with the weight of each example",
}
TASKS = "A fleet is for classification and regression"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_parameters(parser.add_argument_group("the fleet (with --key)"), OF_FLEETS)


def is_wanted(arguments: argparse.Namespace, before: Any = None) -> bool:
    """Whether a fleet is to be learned: `before` is one, or --key is given. Options that only fleets have need that."""
    if arguments.key is not None or hasattr(before, "fleet"):
        return True
    if names := given(arguments, OF_FLEETS):
        raise ValueError(f"{flag(next(iter(names)))} is for fleets: --key FIELD names the field with the key")
    return False


def fleet_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the fleet that were given, without those of the algorithm."""
    options = given(arguments, (*OF_THE_LEARNER, *OF_FLEETS))
    check_names(options)
    spec = arguments.algorithm
    if spec is not None and spec.partition(":")[0] == learner_options.COMMITTEE:
        raise ValueError(f"a fleet (--key) has no {learner_options.COMMITTEE}: {_REASONS['experts']}")
    for name, reason in (
        ("certificate", "it needs all examples at once: in Python, fleet.certificate(keys, X, y)"),
        (
            "batch_tolerance",
            "the batch conversion presents rows of svmlight and VW; --passes and --tol repeat passes",
        ),
    ):
        if getattr(arguments, name, None) not in (None, False):
            raise ValueError(f"{flag(name)} is not for fleets (--key): {reason}")
    return options


def check_names(options: dict[str, Any]) -> None:
    """Raises ValueError for an option that fleets do not have."""
    for name in options:
        if name not in CLASSES["Fleet"].rows:
            why = _REASONS.get(name)
            having = ", ".join(flag(one) for one in CLASSES["Fleet"].rows if one not in OF_FLEETS)
            raise ValueError(f"{flag(name)} is not for fleets (--key): {why or f'they have {having}'}")


def new_fleet_study(task: str, spec: str | None, options: dict[str, Any]) -> FleetStudy:
    from ..fleet import Fleet
    from ..streams.fleets import FleetStudy

    return FleetStudy(Fleet(check_task(task), **with_algorithm(task, spec, options)))


def check_task(task: str) -> str:
    from ..fleet.settings import TASKS as POSSIBLE

    if task == "uniclass":
        raise ValueError(f"{TASKS}, and the examples have no labels: --label names the field with the label")
    if task not in POSSIBLE:
        raise ValueError(f"{TASKS}, not for {task}: --task sets the task")
    return task


def with_algorithm(task: str, spec: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """All options of the fleet: those of the algorithm, and those given."""
    if spec is None:
        return options
    own = {name: value for name, value in options.items() if name in OF_FLEETS}
    others = {name: value for name, value in options.items() if name not in OF_FLEETS}
    made = learner_options.options_for(task, spec, others)
    made = {name: value for name, value in made.items() if name in others or value != table.default(name)}
    check_names(made)
    return {**made, **own}


def check_before(
    study: FleetStudy, path: str, arguments: argparse.Namespace, options: dict[str, Any]
) -> None:
    """Of the options of a fleet only its limits can change, and its data needs a key."""
    wanted, known = with_algorithm(study.task, arguments.algorithm, options), study.fleet.parameters
    changed = {name: value for name, value in wanted.items() if known.get(name) != value}
    if fixed := [name for name in changed if name not in LIMITS]:
        name = fixed[0]
        raise ValueError(f"{path} has {name}={known.get(name)!r}, and only the limits of a fleet can change: leave out "
                         f"{flag(name)}, or learn a new fleet")  # fmt: skip
    if changed:
        from ..fleet import Fleet

        study.fleet = Fleet.load(path, **changed)
    check_key(study, path, arguments)


def check_key(study: Any, path: str, arguments: argparse.Namespace) -> None:
    """The examples of a fleet have keys, and those of other models have none."""
    settings = (study.notes.get("stream") or {}).get("settings") or {}
    if not hasattr(study, "fleet"):
        if arguments.key is not None:
            raise ValueError(f"{path} is one model for all examples, and not a fleet: leave out --key")
    elif arguments.key is None and "key" not in settings.get("options", {}):
        raise ValueError(f"{path} is a fleet: --key FIELD names the field with the key of an example")


def in_words(study: FleetStudy) -> str:
    """The step of a fleet and its options that differ from the defaults: shared + personal 0.5, pa1, C=1."""
    p, defaults = study.fleet.parameters, CLASSES["Fleet"].completed({})
    form = f"shared + personal {p['personal']:g}" if p["shared"] else "per key"
    shown = ("C", "step", "shared", "personal", "classes")
    others = [f"{name}={value}" for name, value in p.items() if name not in shown and value != defaults[name]]
    capped = () if p["step"] in ("pa", "perceptron") else (f"C={p['C']:g}",)
    return ", ".join([form, p["step"], *capped, *others])
