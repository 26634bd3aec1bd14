"""What runs of the Maze came to, as plain data: means and intervals over seeds, the table.

Comes in: what each run measured, and the paper's numbers. Goes out: rows, and records to draw. Does
not know: who trained, or how any of it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from backplay.report import records
from backplay.report.records import RunRecord
from backplay.report.statistics import Estimate, student_interval

Summary = Mapping[str, float | None]
"""What `Played.summary` says: success, optimal, within_5, extra_mean, extra_std …"""
Paper = Mapping[tuple[str, int], Summary]
"""The paper's rows by regime and extra steps."""

MEASURES = {
    "success": "success", "optimal": "optimal", "within_5": "within 5",
    "extra_mean": "extra steps, mean", "extra_std": "extra steps, std",
}  # fmt: skip
SHARES = ("success", "optimal", "within_5")


@dataclass(frozen=True, kw_only=True)
class MazeResult:
    """One run."""

    regime: str
    preset: str
    extra: int
    """Steps that the demonstrations take more than needed."""
    mazes: str = ""
    """The set of mazes: the same for the same."""
    frames: int
    """Its budget."""
    seed: int
    seconds: float
    curve: list[tuple[int, Summary]] = field(default_factory=list)
    """Frames and what came of every maze, greedy, at each evaluation."""
    starts: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Frames, steps back from the end (a bin's least), episodes and successes."""
    measured: dict[str, Summary] = field(default_factory=dict)
    """At the end, by "greedy", "sampled", "held-out greedy", "held-out sampled"; empty before."""


@dataclass(frozen=True)
class Group:
    """Runs that differ in nothing but their seed."""

    runs: list[MazeResult]

    @property
    def first(self) -> MazeResult:
        """Of the lowest seed."""
        return self.runs[0]

    @property
    def name(self) -> str:
        """In a figure of one set of mazes."""
        run = self.first
        return run.regime if run.preset == "ours" else f"{run.regime} ({run.preset})"

    @property
    def drawn(self) -> records.Group:
        """The same as records, for figures."""
        return records.Group([self._record(run) for run in self.runs])

    def _record(self, run: MazeResult) -> RunRecord:
        return RunRecord(
            path="", kind="maze", setting=self.set_name, regime=self.name, seed=run.seed,
            frames=0 if run.regime == records.UNTRAINED else run.frames,
            seconds=run.seconds, finished=bool(run.measured),
            curve=[(at, _numbers(measured)) for at, measured in run.curve],
            starts=run.starts, measures=dict(run.measured.get("greedy", {})),
        )  # fmt: skip

    @property
    def set_name(self) -> str:
        """The paper's name of its set of mazes."""
        return set_name(self.first.extra)

    @property
    def seconds(self) -> float:
        """Mean wall time of the runs that have ended; of all if none has."""
        ended = [run for run in self.runs if run.measured] or self.runs
        return float(np.mean([run.seconds for run in ended]))


def set_name(extra: int) -> str:
    """Optimal, 5-Optimal, 10-Optimal."""
    return f"{extra}-Optimal" if extra else "Optimal"


def grouped(results: Sequence[MazeResult]) -> list[Group]:
    """Runs by set, regime, preset and frames; sets in order, the rest as first seen."""
    found: dict[tuple[int, str, str, str, int], list[MazeResult]] = {}
    for run in results:
        key = (run.extra, run.mazes, run.regime, run.preset, run.frames)
        found.setdefault(key, []).append(run)
    groups = [Group(sorted(runs, key=lambda run: run.seed)) for runs in found.values()]
    return sorted(groups, key=lambda group: group.first.extra)


def estimate(values: Sequence[float], *, share: bool = False) -> Estimate:
    """Mean and Student's 95 % interval; of a share, within 0 and 1."""
    found = student_interval(values)
    return found.within(0.0, 1.0) if share else found


class Row(NamedTuple):
    """One line of the table."""

    group: Group
    seeds: int
    """Runs that have ended."""
    ours: dict[str, Estimate]
    """By the names of MEASURES."""
    paper: Summary | None


def table(groups: Sequence[Group], which: str = "greedy", paper: Paper | None = None) -> list[Row]:
    """A row for each group with a run that has ended and was measured so."""
    rows = []
    for group in groups:
        ended = [run.measured[which] for run in group.runs if which in run.measured]
        if ended:
            ours = {
                name: estimate([float(one[name] or 0.0) for one in ended], share=name in SHARES)
                for name in MEASURES
            }
            theirs = paper.get((group.first.regime, group.first.extra)) if paper else None
            rows.append(Row(group, len(ended), ours, theirs))
    return rows


def table_text(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The table as cells, a head first; the paper's numbers in brackets behind ours."""
    with_paper = any(row.paper for row in rows)
    head = ("set", "regime", "seeds", "frames", *MEASURES.values(), "minutes")
    if with_paper:
        titles = [
            title if name == "success" else f"{title} (paper)" for name, title in MEASURES.items()
        ]
        head = (*head[:4], *titles, head[-1])
    cells = [head]
    for row in rows:
        run = row.group.first
        frames = "–" if run.regime == "cloned" else f"{run.frames / 1e6:.3g} M"
        numbers = [_cell(row, name, with_paper and name != "success") for name in MEASURES]
        minutes = f"{row.group.seconds / 60:.1f}"
        cells.append(
            (row.group.set_name, row.group.name, f"{row.seeds}", frames, *numbers, minutes)
        )
    return cells


def _cell(row: Row, name: str, with_paper: bool) -> str:
    """`76% [70, 82] (31%)`: mean, interval, the paper's."""
    share = name in SHARES
    ours = row.ours[name]
    text = _number(ours.value, share)
    if ours.low is not None and ours.high is not None:
        low, high = (_number(bound, share).rstrip("%") for bound in (ours.low, ours.high))
        text += f" [{low}, {high}]"
    if with_paper:
        theirs = row.paper.get(name) if row.paper else None
        text += " (–)" if theirs is None else f" ({_number(theirs, share)})"
    return text


def _numbers(summary: Summary) -> dict[str, float]:
    return {name: float(value) for name, value in summary.items() if value is not None}


def _number(value: float, share: bool) -> str:
    return f"{value:.0%}" if share else f"{value:.2f}"
