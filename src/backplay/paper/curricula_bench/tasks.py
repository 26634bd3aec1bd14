"""What curricula are compared on: tasks of all kinds, small enough for a minute or two a run.

Comes in: a regime, a seed, a scale. Goes out: jobs of the kinds that exist. The tasks of `CHOOSE`
are looked at when a default is chosen, those of `REPORT` only to report on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from backplay.paper.experiment import scaled
from backplay.paper.grid_worlds.job import FRAMES as GRID_FRAMES
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.maze.job import MazeJob
from backplay.paper.pommerman.job import PommermanJob
from backplay.paper.sparse_tasks.job import GymJob
from backplay.paper.sparse_tasks.tasks import TASKS
from backplay.train.job import Job

ENOUGH = 0.9  # of the best policy's success


class Bench(Protocol):
    """One task of the bench."""

    @property
    def best(self) -> float:
        """Success of the best policy from the true start."""

    @property
    def measure(self) -> str:
        """What counts, of those that its jobs measure: success with drawn actions."""

    @property
    def rivals(self) -> bool:
        """Whether all curricula are run on it, or the default, the windows and Uniform alone."""

    def job(self, regime: str, seed: int, scale: float = 1.0) -> Job:
        """One run of it."""


@dataclass(frozen=True)
class Mazes:
    """A hundred mazes of 12 x 12 cells, with all gradient steps of our preset."""

    extra: int
    """Steps that demonstrations waste."""
    frames: int = 400_000
    best: float = 1.0
    measure: str = "sampled_success"
    rivals: bool = False

    def job(self, regime: str, seed: int, scale: float = 1.0) -> Job:
        """One run; the mazes are the same for all."""
        return MazeJob(
            regime=regime, extra=self.extra, seed=seed, frames=scaled(self.frames, scale), size=12,
            held_out=0, evaluations=20,
        )  # fmt: skip


@dataclass(frozen=True)
class World:
    """One of the paper's grid worlds, or its tree."""

    name: str
    best: float = 1.0
    measure: str = "success"
    rivals: bool = True

    def job(self, regime: str, seed: int, scale: float = 1.0) -> Job:
        """One run."""
        frames = scaled(GRID_FRAMES[self.name], scale)
        return GridJob(world=self.name, regime=regime, seed=seed, frames=frames)


@dataclass(frozen=True)
class Sparse:
    """A task with one scripted demonstration."""

    name: str
    frames: int
    trainer: str = "ours"
    evaluations: int = 20
    final_episodes: int = 100
    measure: str = "success"
    rivals: bool = True

    @property
    def best(self) -> float:
        """As the task says."""
        return TASKS[self.name].best

    def job(self, regime: str, seed: int, scale: float = 1.0) -> Job:
        """One run."""
        return GymJob(
            task=self.name, trainer=self.trainer, regime=regime, seed=seed,
            frames=scaled(self.frames, scale), evaluations=self.evaluations,
            final_episodes=self.final_episodes,
        )  # fmt: skip


@dataclass(frozen=True)
class Games:
    """Pommerman on four maps against three FSMTS agents, sparse rewards."""

    frames: int = 5_120_000
    best: float = 1.0
    measure: str = "success"
    rivals: bool = False

    def job(self, regime: str, seed: int, scale: float = 1.0) -> Job:
        """One run; its windows, if any, are those of the paper for four maps."""
        return PommermanJob(
            regime=regime, seed=seed, frames=scaled(self.frames, scale), held_out=0,
            final_games=100,
        )  # fmt: skip


# Where an episode that fails takes hundreds of steps, measuring would cost more than training, and
# all rivals together would take days.
_LONG: dict[str, Any] = {"evaluations": 10, "final_episodes": 20, "rivals": False}

CHOOSE: tuple[Bench, ...] = (
    Mazes(5),
    World("open"),
    World("tree"),
    Sparse("chain", 150_000),
    Sparse("doorkey", 60_000),
    Sparse("mountaincar", 300_000),
    Sparse("mountaincar-continuous", 200_000),
    Sparse("chain", 150_000, trainer="sb3"),
)
"""Tasks to choose a default on."""
REPORT: tuple[Bench, ...] = (
    Mazes(0),
    Mazes(10),
    World("bottlenecks"),
    World("basin"),
    Sparse("slippery", 150_000),
    Sparse("keycorridor", 400_000, **_LONG),
    Sparse("obstructed", 500_000, **_LONG),
    Sparse("pointmaze", 400_000, **_LONG),
    Sparse("acrobot", 150_000),
    Sparse("slippery", 150_000, trainer="sb3"),
    Sparse("mountaincar", 300_000, trainer="sb3", rivals=False),
    Sparse("keycorridor", 400_000, trainer="sb3", **_LONG),
    Games(),
)
"""Tasks to report on."""
