"""The output of `hinge demo`. The runs are in `demo_runs`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from .. import __version__, plots
from ..theory import Guarantee
from . import demo_runs
from .console import new_console, new_table, percent, say, show_table, watch
from .demo_runs import LEARNERS, OtherTask, Run

SNIPPET = """\
from hinge import PAClassifier
model = PAClassifier().learn_one({"free": 1, "money": 2}, "spam")
model.learn_one({"meeting": 1, "monday": True}, "ham")
print(model.predict_one({"money": 1}))  # spam
"""


def run(plot: Path | None, *, seed: int = 0, insist: bool = False) -> int:
    """Runs the demonstration and returns the exit code. `insist`: fail if the picture cannot be drawn."""
    console = new_console()
    stream, which = demo_runs.digits(seed)
    console.print(Text(f"hinge {__version__}: online margin learning", style="bold"))
    console.print()
    say(
        console,
        f"{len(stream.y):,} handwritten digits arrive one at a time: odd or even? Each learner predicts, "
        "gets the true label, and updates its weights just enough. It sees every digit once.",
    )
    console.print()
    with watch(console, LEARNERS, len(stream.y)) as watching:
        runs, hindsight = demo_runs.classify(stream, watching)
    others = [demo_runs.regress(seed), demo_runs.one_class(stream, which)]

    _show_results(console, runs, hindsight)
    _show_others(console, others)
    kept = _show_guarantees(console, runs, others)
    drawn = plot is None or _draw(console, plot, runs, hindsight)
    _show_next_steps(console)
    return 0 if kept and (drawn or not insist) else 1


def _show_results(console: Console, runs: list[Run], hindsight: float) -> None:
    numbers = ("C", "error", "mistakes", "updates", "us/event")
    table = new_table("learner", *numbers, right=numbers)
    best = min(runs, key=lambda run: run.error)
    for one in runs:
        table.add_row(
            one.name,
            str(LEARNERS[one.name].get("C", "")),
            percent(one.error),
            f"{one.mistakes:,}",
            f"{one.updates:,}",
            f"{one.microseconds:.1f}",
            style="bold" if one is best else "",
        )
    console.print()
    show_table(console, table)
    console.print()
    say(
        console,
        "error: progressive, each digit is predicted before it is learned. us/event: microseconds to predict and "
        "learn one dict of 64 named pixels. The committee needs no option: it is a vote of 24 "
        "learners. The C of the others were chosen with knowledge of the stream. For comparison: the best of several "
        "LinearSVC, fitted to all digits "
        f"at once and tested on the same digits, errs on {percent(hindsight)}.",
    )


def _show_others(console: Console, others: list[OtherTask]) -> None:
    table = new_table("other task", "stream", "result")
    for other in others:
        table.add_row(other.name, other.stream, other.result)
    console.print()
    show_table(console, table)


def _show_guarantees(console: Console, runs: list[Run], others: list[OtherTask]) -> bool:
    """Prints the guarantees and returns whether all of them hold."""
    rows = [(one.name, guarantee) for one in runs for guarantee in one.guarantees]
    rows += [(other.name, guarantee) for other in others for guarantee in other.guarantees]
    table = new_table("learner", "theorem", "suffered <= guaranteed")
    before = ""
    for name, guarantee in rows:
        table.add_row(name if name != before else "", guarantee.theorem, _in_words(guarantee))
        before = name
    console.print()
    show_table(console, table)
    console.print()
    say(
        console,
        "guaranteed: proved for every stream in every order, against the best predictor that a batch solver found "
        "in hindsight (committee: against its experts, and 'expected' by the weights of the vote). "
        "J06: Crammer et al., JMLR 2006. N03: Crammer et al., NIPS 2003. "
        "AROW: Crammer et al., NIPS 2009, with a full covariance.",
    )
    return all(guarantee.holds for _, guarantee in rows)


def _in_words(guarantee: Guarantee) -> Text:
    if not guarantee.applicable:
        return Text(f"not applicable: {guarantee.reason}", style="dim")
    words = f"{guarantee.quantity} {_number(guarantee.suffered)}"
    if not guarantee.holds:
        return Text(f"{words} > {_number(guarantee.guaranteed)}: VIOLATED, please report", style="bold red")
    return Text(f"{words} <= {_number(guarantee.guaranteed)}", style="green")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _draw(console: Console, plot: Path, runs: list[Run], hindsight: float) -> bool:
    """Draws the picture and prints its path, or why it cannot be written. Returns whether that is all right."""
    first = next(run for run in runs if run.name == "perceptron")
    best = min(runs, key=lambda run: run.error)
    console.print()
    try:
        plots.error_curves(
            plot,
            {one.name: one.curve for one in runs},
            title=f"Odd or even, seen once: {best.name} errs on {percent(best.error)}, "
            f"the {first.name} on {percent(first.error)}",
            subtitle=f"Error so far on {first.rounds:,} handwritten digits, each predicted, then learned",
            reference=("LinearSVC in hindsight", hindsight),
        )
    except plots.MatplotlibMissing as missing:
        console.print(f"No picture: {missing}", soft_wrap=True)
        return True  # matplotlib is optional
    except OSError as error:
        why = error.strerror or error
        console.print(f"No picture: {plot} cannot be written ({why}). Try --plot PATH.", soft_wrap=True)
        return False
    console.print(f"The error curves are in {plot}", soft_wrap=True)
    return True


def _show_next_steps(console: Console) -> None:
    console.print("\nTry it, one event at a time:\n")
    for line in SNIPPET.splitlines():
        console.print(f"    {line}", soft_wrap=True)
    console.print()
    say(
        console,
        "PAClassifier, PARegressor, PAOneClass, PAMultilabel, PAOrdinal, PARanker, PASequence and PAStructured "
        "are also scikit-learn estimators, with fit, partial_fit and predict.",
    )
