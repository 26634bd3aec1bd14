"""What runs of the Maze came to, as plain data: means and intervals over seeds, the table.

Comes in: what each run measured, and the paper's numbers. Goes out: rows, curves and counts. Does
not know: who trained, or how any of it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Summary = Mapping[str, float | None]
"""What `Played.summary` says: success, optimal, within_5, extra_mean, extra_std …"""
Paper = Mapping[tuple[str, int], Summary]
"""The paper's rows by regime and extra steps."""

MEASURES = {
    "success": "success", "optimal": "optimal", "within_5": "within 5",
    "extra_mean": "extra steps, mean", "extra_std": "extra steps, std",
}  # fmt: skip
SHARES = ("success", "optimal", "within_5")

# Student's t at 97.5 %, for 1 to 20 degrees of freedom.
_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
)  # fmt: skip


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
    def set_name(self) -> str:
        """The paper's name of its set of mazes."""
        return set_name(self.first.extra)

    @property
    def seconds(self) -> float:
        """Mean wall time of the runs that have ended; of all if none has."""
        ended = [run for run in self.runs if run.measured] or self.runs
        return float(np.mean([run.seconds for run in ended]))


class Estimate(NamedTuple):
    """A mean over seeds."""

    mean: float
    low: float | None
    """Of its 95 % interval; None with a single seed."""
    high: float | None


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
    mean, n = float(np.mean(values)), len(values)
    if n == 1:
        return Estimate(mean, None, None)
    t = _T[n - 2] if n - 2 < len(_T) else 2.04
    half = t * float(np.std(values, ddof=1)) / n**0.5
    low, high = mean - half, mean + half
    return Estimate(mean, max(0.0, low), min(1.0, high)) if share else Estimate(mean, low, high)


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
    text = _number(ours.mean, share)
    if ours.low is not None and ours.high is not None:
        low, high = (_number(bound, share).rstrip("%") for bound in (ours.low, ours.high))
        text += f" [{low}, {high}]"
    if with_paper:
        theirs = row.paper.get(name) if row.paper else None
        text += " (–)" if theirs is None else f" ({_number(theirs, share)})"
    return text


def _number(value: float, share: bool) -> str:
    return f"{value:.0%}" if share else f"{value:.2f}"


def mean_curve(group: Group, name: str) -> tuple[list[int], list[Estimate]]:
    """Frames, and the mean of a measure over seeds at each; as far as every seed has come."""
    runs = [run for run in group.runs if run.curve]
    if not runs:
        return [], []
    last = min(run.curve[-1][0] for run in runs)
    frames = [at for at, _ in runs[0].curve if at <= last]
    curves = [
        np.interp(
            frames, [at for at, _ in run.curve], [float(one[name] or 0) for _, one in run.curve]
        )
        for run in runs
    ]
    return frames, [estimate(list(column), share=True) for column in np.stack(curves, 1)]


def start_counts(group: Group, *, most: int = 60, width: int = 4) -> tuple[FloatArray, FloatArray]:
    """Episodes and successes over all seeds: [columns over frames, bins of steps back] each.

    The columns span `last_frame`; each is as wide as an update, so that none stays empty, but
    there are at most `most`.
    """
    total = last_frame(group)
    updates = [sorted({frames for frames, *_ in run.starts}) for run in group.runs if run.starts]
    wanted = max((total * len(ends) / ends[-1] for ends in updates), default=1.0)
    columns = max(1, min(most, round(wanted)))
    found = [one for run in group.runs for one in run.starts]
    bins = max((back // width for _, back, _, _ in found), default=0) + 1
    episodes, successes = np.zeros((2, columns, bins))
    for frames, back, tries, wins in found:
        column = min(columns - 1, max(0, frames - 1) * columns // total)
        episodes[column, back // width] += tries
        successes[column, back // width] += wins
    return episodes, successes


def last_frame(group: Group) -> int:
    """Where the axis of frames ends: a run's budget, or a little more if it went beyond."""
    return max(group.first.frames, *(at for run in group.runs for at, *_ in run.starts), 1)
