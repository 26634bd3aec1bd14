"""What a comparison of regimes came to, as plain data, and the numbers drawn from it.

Comes in: what runs measured. Goes out: means over seeds, intervals, frames to a success rate.
Does not know: who trained, or how any of it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from backplay.rates import wilson
from backplay.report import statistics
from backplay.report.statistics import FloatArray


@dataclass(frozen=True)
class StartCounts:
    """Where episodes started and how many reached the goal, counted in cells of time × place."""

    total_frames: int
    """Frames that all columns together span."""
    demo_length: int
    """Steps of the demonstration that all rows together span."""
    episodes: list[list[int]]
    """Episodes begun in each cell, [columns over frames][rows over steps, 0 the true start]."""
    successes: list[list[int]]
    """How many of them reached the goal, same shape."""

    @classmethod
    def empty(
        cls, total_frames: int, demo_length: int, *, columns: int = 40, rows: int = 30
    ) -> StartCounts:
        """No episode yet; never more rows than steps."""
        rows = min(rows, demo_length)
        episodes, successes = ([[0] * rows for _ in range(columns)] for _ in range(2))
        return cls(total_frames, demo_length, episodes, successes)

    def add(self, frames: int, step: int, success: bool) -> None:
        """Counts an episode that ended at `frames` and had started at `step`."""
        columns, rows = len(self.episodes), len(self.episodes[0])
        column = min(columns - 1, max(0, frames - 1) * columns // self.total_frames)
        row = min(rows - 1, step * rows // self.demo_length)
        self.episodes[column][row] += 1
        self.successes[column][row] += success


@dataclass(frozen=True, kw_only=True)
class Run:
    """One training run."""

    regime: str
    """The name of the way its episodes start."""
    seed: int
    """Its seed."""
    seconds: float
    """How long it took, evaluations included."""
    frames: list[int]
    """Frames at each evaluation from the true start, increasing."""
    success: list[float]
    """Success from the true start at each, 0 to 1."""
    successes: int
    """Successes of the last evaluation."""
    episodes: int
    """Episodes of the last evaluation."""
    starts: StartCounts
    """Where its episodes started, and what came of them."""
    positions: list[float]
    """One episode of the trained agent from the demonstration's initial state: its positions."""
    reached_goal: bool
    """Whether that episode reached the goal."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several regimes, each trained for the same frames with the same seeds and settings."""

    env_id: str
    """The environment."""
    task: str
    """What makes it hard, in a sentence."""
    frames: int
    """Frames of each run."""
    demo_positions: list[float]
    """The demonstration's positions, one for each of its states."""
    runs: list[Run]
    """All runs, in any order."""
    command: str
    """What to type to get this again."""
    settings: dict[str, str] = field(default_factory=dict)
    """What else was chosen, in words."""
    versions: dict[str, str] = field(default_factory=dict)
    """Versions of what it ran on."""
    seconds: float = 0.0
    """How long all of it took."""

    @property
    def demo_length(self) -> int:
        """Steps of the demonstration."""
        return len(self.demo_positions) - 1

    @property
    def regimes(self) -> list[str]:
        """The regimes in the order in which they first appear."""
        return list(dict.fromkeys(run.regime for run in self.runs))

    def runs_of(self, regime: str) -> list[Run]:
        """The runs of one regime, by seed."""
        return sorted((run for run in self.runs if run.regime == regime), key=lambda run: run.seed)

    def shown_run(self, regime: str) -> Run:
        """The run whose episode is shown: the first seed's, however it did."""
        return self.runs_of(regime)[0]

    def mean_curve(self, regime: str) -> tuple[list[int], list[float]]:
        """Frames and mean success over the seeds."""
        runs = self.runs_of(regime)
        frames = runs[0].frames
        curves = [np.interp(frames, run.frames, run.success) for run in runs]
        return frames, [float(value) for value in np.mean(curves, axis=0)]

    def start_counts(self, regime: str) -> tuple[FloatArray, FloatArray]:
        """Episodes by start and how many succeeded, over all seeds: [columns, rows] each."""
        runs = self.runs_of(regime)
        episodes = sum(np.array(run.starts.episodes, dtype=np.float64) for run in runs)
        successes = sum(np.array(run.starts.successes, dtype=np.float64) for run in runs)
        return np.asarray(episodes), np.asarray(successes)


@dataclass(frozen=True)
class Summary:
    """One row of the table."""

    regime: str
    success: float
    """Success from the true start at the end, over the episodes of all seeds."""
    interval: tuple[float, float]
    """Wilson's 95 % interval over those episodes. Of these agents: other seeds may differ."""
    by_seed: list[float]
    """The same for each seed."""
    frames_to_half: int | None
    """First evaluation at 50 % or more, median over seeds; None if that is never."""
    frames_to_most: int | None
    """The same for 90 %."""
    seconds: float
    """Mean seconds of a run."""


def summarise(comparison: Comparison) -> list[Summary]:
    """The table: one row for each regime."""
    rows = []
    for regime in comparison.regimes:
        runs = comparison.runs_of(regime)
        successes = sum(run.successes for run in runs)
        episodes = sum(run.episodes for run in runs)
        rows.append(
            Summary(
                regime,
                successes / episodes,
                wilson(successes, episodes),
                [run.successes / run.episodes for run in runs],
                _median_frames([frames_to(run, 0.5) for run in runs]),
                _median_frames([frames_to(run, 0.9) for run in runs]),
                float(np.mean([run.seconds for run in runs])),
            )
        )
    return rows


def frames_to(run: Run, success: float) -> int | None:
    """Frames at the first evaluation with at least this success; None if there was none."""
    return statistics.frames_to(list(zip(run.frames, run.success, strict=True)), success)


def _median_frames(frames: Sequence[int | None]) -> int | None:
    """The median, with "never" larger than any number."""
    ordered = median([float("inf") if value is None else value for value in frames])
    return None if ordered == float("inf") else round(ordered)
