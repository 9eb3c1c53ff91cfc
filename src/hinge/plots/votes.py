"""The vote of a committee over a stream: the weights of its experts as bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..model.experts import Experts
from .style import INK, NAME_SIZE, dress, make_room, name_curves, new_figure, shortened, write, write_title

VoteHistory = Sequence[tuple[int, Experts]]  # after how many examples, and the experts at that time

# The bands of a vote: fill and ink. Dark and light ones alternate, so that they differ in black and white, too.
BANDS = (("#0072B2", "#0072B2"), ("#F2B880", "#9A5B16"), ("#00654F", "#00654F"), ("#C9DFF0", "#3F7196"),
         ("#A8417A", "#A8417A"), ("#F3E7A8", "#7D6A00"), ("#8A8A8A", "#595959"))  # fmt: skip
VOTE_HEIGHT, VOTE_GAP = 2.3, 0.4  # in inches: the panel of a vote, and the room above it
SMALL_SHARE = 0.02  # of the vote, of what is drawn with the others
MOST_MOMENTS = 150  # at which a vote is drawn


def plot_experts(history: VoteHistory, path: str | Path, *, title: str = "") -> None:
    """Draws how a committee's vote was shared over time into a file.

    `history` has pairs (number of examples, `model.experts_` at that time; of a `Learner`: its `experts`).
    """
    if len(history) < 2:
        raise ValueError("the history needs two or more entries: (number of examples, experts_)")
    write(experts_figure(history, title), Path(path))


def experts_figure(history: VoteHistory, title: str = "") -> Any:
    """The figure of `plot_experts`."""
    history = thinned(history)
    figure = new_figure()
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    bands = vote_bands(history)
    _draw_votes(axes, [at for at, _ in history], bands, "examples")
    gap = make_room(figure, axes, band_labels(bands), len(bands))
    name_curves(axes, band_labels(bands), gap=gap, size=NAME_SIZE)
    leader = max(history[-1][1], key=lambda expert: expert.weight)
    subtitle = f"Shares of the vote over {history[-1][0]:,} examples"
    write_title(
        figure, title or f"Leader: {leader.in_words}, {100 * leader.weight:.0f} % of the vote", subtitle
    )
    return figure


def vote_bands(history: VoteHistory, most: int = len(BANDS)) -> list[tuple[str, list[float]]]:
    """The shares of the vote over time, the largest at the end first: of each kind of experts, and of each expert of a
    kind that has most of the vote. Beyond `most`, and if they are small, they are 'others'."""
    if not history:
        return []
    kinds = _summed(history, {e.name: e.family for e in history[-1][1]})
    large = {kind for kind, shares in kinds.items() if sum(shares) > 0.5 * len(history)}
    shares = _summed(history, {e.name: e.in_words if e.family in large else e.family for e in history[-1][1]})
    order = sorted(shares, key=lambda name: -sum(shares[name]))
    seen = [name for name in order if max(sum(shares[name]) / len(history), shares[name][-1]) > SMALL_SHARE]
    kept = order if order == seen and len(order) <= most else seen[: most - 1]
    bands = sorted(((name, shares[name]) for name in kept), key=lambda band: -band[1][-1])
    if rest := [shares[name] for name in order if name not in kept]:
        bands.append(("others", [sum(its) for its in zip(*rest, strict=True)]))
    return bands


def _summed(history: VoteHistory, names: Mapping[str, str]) -> dict[str, list[float]]:
    """The shares of the vote over time, of the experts that have the same name in `names`."""
    shares = {name: [0.0] * len(history) for name in names.values()}
    for place, (_, experts) in enumerate(history):
        for expert in experts:
            shares[names[expert.name]][place] += expert.weight
    return shares


def thinned(history: VoteHistory) -> VoteHistory:
    """Without the entries that would be closer than a line is wide."""
    kept = list(history[:1])
    for entry in history[1:]:
        if entry[0] - kept[-1][0] >= history[-1][0] / MOST_MOMENTS or entry is history[-1]:
            kept.append(entry)
    return kept


def band_labels(bands: list[tuple[str, list[float]]]) -> list[tuple[float, str, str, bool]]:
    """The names of the bands, at the middles of their right ends."""
    labels: list[tuple[float, str, str, bool]] = []
    below = 0.0
    for (name, shares), (_, ink) in zip(bands, BANDS, strict=False):
        share = 100 * shares[-1]
        labels.append((below + share / 2, f"{shortened(name)}  {share:.0f} %", ink, not labels))
        below += share
    return labels


def _draw_votes(axes: Any, rounds: list[int], bands: list[tuple[str, list[float]]], x: str) -> None:
    below = [0.0] * len(rounds)
    for (_, shares), (fill, _) in zip(bands, BANDS, strict=False):
        above = [low + 100 * share for low, share in zip(below, shares, strict=True)]
        axes.fill_between(rounds, below, above, color=fill, linewidth=0, zorder=2)
        axes.plot(rounds, above, color="white", linewidth=0.7, zorder=3)
        below = above
    axes.set_ylim(0, 100)
    axes.set_xlim(rounds[0], rounds[-1])
    dress(axes, " %", x)


def add_votes(
    figure: Any, curves: Any, rounds: list[int], bands: list[tuple[str, list[float]]], x: str
) -> None:
    """A panel below the curves, with the same horizontal axis."""
    width, height = figure.get_size_inches()
    taller = height + VOTE_HEIGHT + VOTE_GAP
    at = curves.get_position()
    figure.set_size_inches(width, taller)
    up, scale = (VOTE_HEIGHT + VOTE_GAP) / taller, height / taller
    curves.set_position((at.x0, up + at.y0 * scale, at.width, at.height * scale))
    curves.xaxis.set_major_formatter(lambda value, _: "")
    axes = figure.add_axes((at.x0, at.y0 * scale, at.width, VOTE_HEIGHT / taller))
    axes.set_xscale(curves.get_xscale())
    _draw_votes(axes, rounds, bands, x)
    axes.set_xlim(curves.get_xlim())
    axes.set_title("Share of the vote", loc="left", fontsize=11, color=INK)
    name_curves(axes, band_labels(bands), gap=1.34 * NAME_SIZE / 72 / VOTE_HEIGHT, size=NAME_SIZE)
