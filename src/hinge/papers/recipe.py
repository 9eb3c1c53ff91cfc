"""What an experiment is, what it needs, and what comes out of it."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from ..writing import write_whole

SIZES = ("full", "quick", "tiny")

_Choice = TypeVar("_Choice")


@dataclass(frozen=True)
class Setting:
    """How an experiment is run: the folder with the data (None: there is none), how much of it, whom to tell."""

    data: Path | None
    size: str = "full"  # 'quick': minutes; 'tiny': seconds, for tests
    say: Callable[[str], None] = lambda text: None

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise ValueError(f"size must be one of {', '.join(map(repr, SIZES))}, not {self.size!r}")

    def pick(self, full: _Choice, quick: _Choice, tiny: _Choice) -> _Choice:
        return {"full": full, "quick": quick, "tiny": tiny}[self.size]

    def file(self, name: str) -> Path | None:
        """A file of the data, if it is there."""
        place = None if self.data is None else self.data / name
        return place if place is not None and place.exists() else None


@dataclass(frozen=True)
class Line:
    """One number of the table: what the paper has (if it says), and ours."""

    what: str
    paper: str
    ours: str
    note: str = ""


@dataclass(frozen=True)
class Criterion:
    """What must be so for the experiment to count as reproduced, and what was seen."""

    text: str
    met: bool
    seen: str = ""


@dataclass(frozen=True)
class Series:
    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False  # a reference
    points: bool = False  # marks without a line
    labels: Sequence[str] = ()  # beside the marks


@dataclass(frozen=True)
class Panel:
    """One plot of the figure, with the paper's axes."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False
    ticks: Sequence[str] = ()  # what x = 0, 1, ... are called


@dataclass
class Outcome:
    """What came out: a table, criteria, and a figure to draw."""

    data: str  # what it ran on; if that is a substitute, it says so
    lines: list[Line] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    substitute: bool = False  # the paper's data was not there
    size: str = "full"  # of the run, see `Setting`
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        """The criteria are about the paper's data, all of it: a run on anything else is not judged by them."""
        if self.substitute:
            return "no data"
        if self.size != "full":
            return "not judged"
        return "reproduced" if all(criterion.met for criterion in self.criteria) else "not reproduced"

    @property
    def judged(self) -> bool:
        return self.verdict in ("reproduced", "not reproduced")

    def mark(self, criterion: Criterion) -> str:
        if not self.judged:
            return "not judged"
        return "met" if criterion.met else "not met"

    def table(self) -> str:
        """As CSV: the numbers, then the criteria and remarks."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["kind", "what", "paper", "ours", "note"])
        for line in self.lines:
            writer.writerow(["value", line.what, line.paper, line.ours, line.note])
        for criterion in self.criteria:
            writer.writerow(["criterion", criterion.text, "", self.mark(criterion), criterion.seen])
        for remark in self.remarks:
            writer.writerow(["remark", remark, "", "", ""])
        return text.getvalue()

    def write(self, folder: Path, name: str, claim: str = "") -> list[Path]:
        """The table and the figure, into a folder; returns the files."""
        from .pictures import draw

        folder.mkdir(parents=True, exist_ok=True)
        table, figure = folder / f"{name}.csv", folder / f"{name}.png"
        write_whole(table, self.table().encode())
        if not self.panels:
            return [table]
        title = f"{name} ({self.verdict}): {claim}" if claim else name
        draw(figure, self.panels, title=title, subtitle=self.data)
        return [table, figure]


@dataclass(frozen=True)
class Recipe:
    """An experiment of a paper: `body` runs it."""

    name: str  # E1 ...
    paper: str  # J06 ...
    figure: str  # what it was in the paper
    claim: str  # in one sentence
    body: Callable[[Setting], Outcome]
    needs: tuple[str, ...] = ()  # files of the data folder; () if it makes its own data
    substitute: str = "none needed"  # what runs without them

    def run(self, setting: Setting) -> Outcome:
        start = time.perf_counter()
        outcome = self.body(setting)
        outcome.size = setting.size
        outcome.seconds = time.perf_counter() - start
        return outcome
