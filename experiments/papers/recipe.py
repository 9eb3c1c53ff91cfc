"""What an experiment is, what it needs, and its outcome."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from hinge.model.file import whole_file

SIZES = ("full", "quick", "tiny")

_Choice = TypeVar("_Choice")


@dataclass(frozen=True)
class Setting:
    """How an experiment is run: the folder with the data (None: none), its size, and where messages go."""

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
    """One number of the table: the paper's (if it has one), and ours."""

    what: str
    paper: str
    ours: str
    note: str = ""


@dataclass(frozen=True)
class Criterion:
    """A condition for the experiment to count as reproduced, and what was observed."""

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
    hollow: bool = False  # marks that are the paper's
    colour: int | None = None  # one of `plots.COLOURS`; None: the next one


@dataclass(frozen=True)
class Panel:
    """One plot of a figure."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False
    rows: Sequence[str] = ()  # the names of y = 0, 1, ..., from the top: all series are points then
    reference: float | None = None  # where a line is drawn: of y, or of x if there are rows
    limits: tuple[float, float] | None = (
        None  # of x, if there are rows: what is beyond is an arrow with a number
    )


@dataclass(frozen=True)
class Picture:
    """A figure: the title states the result, `reading` explains how to read it."""

    title: str
    reading: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Table:
    """The content of a table on disk: enough to draw the figure again."""

    data: str
    verdict: str
    lines: Sequence[Line]

    @classmethod
    def read(cls, path: Path) -> Table:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        about = [row for row in rows if row["kind"] == "data"]
        if not about:
            raise ValueError(f"{path} does not name its data: run the experiment again")
        values = [row for row in rows if row["kind"] == "value"]
        lines = [Line(row["what"], row["paper"], row["ours"], row["note"]) for row in values]
        return cls(about[0]["what"], about[0]["ours"], lines)


@dataclass
class Outcome:
    """The outcome: a table, criteria, and a figure to draw."""

    data: str  # what it ran on; if that is a substitute, it says so
    lines: list[Line] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)  # of a recipe that does not draw its table
    picture: Picture | None = None
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
        """As CSV: what it ran on and the verdict, the numbers, then the criteria and remarks."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["kind", "what", "paper", "ours", "note"])
        writer.writerow(["data", self.data, "", self.verdict, ""])
        for line in self.lines:
            writer.writerow(["value", line.what, line.paper, line.ours, line.note])
        for criterion in self.criteria:
            writer.writerow(["criterion", criterion.text, "", self.mark(criterion), criterion.seen])
        for remark in self.remarks:
            writer.writerow(["remark", remark, "", "", ""])
        return text.getvalue()

    def write(self, folder: Path, name: str) -> list[Path]:
        """The table and the figure, into a folder; returns the files."""
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / f"{name}.csv"
        with whole_file(table) as file:
            file.write(self.table().encode())
        if self.picture is None:
            return [table]
        return [table, _draw(folder, name, self.picture, self.data, self.verdict)]


def _draw(folder: Path, name: str, picture: Picture, data: str, verdict: str) -> Path:
    from .pictures import draw

    figure = folder / f"{name}.png"
    draw(figure, picture, f"{name} ({verdict}): {data}.")
    return figure


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
    picture: Callable[[Sequence[Line]], Picture] | None = None  # drawn from the table alone: see `redraw`

    def run(self, setting: Setting) -> Outcome:
        start = time.perf_counter()
        outcome = self.body(setting)
        outcome.size = setting.size
        if self.picture:
            outcome.picture = self.picture(outcome.lines)
        elif outcome.panels:  # what is claimed is what one sees, if it was reproduced
            seen = "" if outcome.verdict == "reproduced" else "The claim: "
            outcome.picture = Picture(seen + self.claim.rstrip("."), "", outcome.panels)
        outcome.seconds = time.perf_counter() - start
        return outcome

    def redraw(self, folder: Path) -> Path:
        """The figure, from the table that is kept in a folder, without running anything."""
        if self.picture is None:
            raise ValueError(f"the figure of {self.name} is not drawn from its table: run it again")
        table = Table.read(folder / f"{self.name}.csv")
        return _draw(folder, self.name, self.picture(table.lines), table.data, table.verdict)
