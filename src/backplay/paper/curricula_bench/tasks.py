"""What curricula are compared on: tasks of all kinds, small enough for a minute or two a run.

Comes in: a regime, a seed, a scale. Goes out: jobs of the kinds that exist. The tasks of `CHOOSE`
are looked at when a default is chosen, those of `REPORT` only to report on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from backplay.paper.experiment import scaled
from backplay.paper.grid_worlds.job import FRAMES as GRID_FRAMES
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.maze.job import MazeJob
from backplay.paper.pommerman.job import PommermanJob
from backplay.paper.sparse_tasks.job import GymJob
from backplay.train.job import Job

ENOUGH = 0.9  # of the best policy's success


@dataclass(frozen=True)
class Bench:
    """One task of the bench."""

    like: MazeJob | GridJob | GymJob | PommermanJob
    """A run of it: the others differ in regime, seed and frames."""
    best: float = 1.0
    """Success of the best policy from the true start."""
    measure: str = "success"
    """What counts, of those that its jobs measure: success with drawn actions."""
    rivals: bool = True
    """Whether all curricula are run on it, or the default, the windows and Uniform alone."""

    def job(self, regime: str, seed: int, scale: float = 1.0) -> Job:
        """One run of it."""
        return replace(self.like, regime=regime, seed=seed, frames=scaled(self.like.frames, scale))


def mazes(extra: int, *, rivals: bool = False) -> Bench:
    """A hundred mazes of 12 x 12 cells, the same for all; demonstrations waste `extra` steps."""
    run = MazeJob(
        regime="default", extra=extra, frames=400_000, size=12, held_out=0, evaluations=20,
    )  # fmt: skip
    return Bench(run, measure="sampled_success", rivals=rivals)


def world(name: str) -> Bench:
    """One of the paper's grid worlds, or its tree."""
    return Bench(GridJob(world=name, regime="default", frames=GRID_FRAMES[name]))


def sparse(
    task: str, frames: int, trainer: str = "ours", *, long: bool = False, rivals: bool = True
) -> Bench:
    """A task with one scripted demonstration.

    Where an episode that fails is `long`, hundreds of steps, measuring would cost more than
    training, and all rivals together would take days.
    """
    run = GymJob(
        task=task, trainer=trainer, regime="default", frames=frames,
        evaluations=10 if long else 20, final_episodes=20 if long else 100,
    )  # fmt: skip
    return Bench(run, best=run.about.best, rivals=rivals and not long)


POMMERMAN = Bench(
    PommermanJob(regime="default", frames=5_120_000, held_out=0, final_games=100), rivals=False
)
"""Four maps against three FSMTS agents, sparse rewards."""

CHOOSE = (
    mazes(5),
    world("open"),
    world("tree"),
    sparse("chain", 150_000),
    sparse("doorkey", 60_000),
    sparse("mountaincar", 300_000),
    sparse("mountaincar-continuous", 200_000),
    sparse("chain", 150_000, "sb3"),
)
"""Tasks to choose a default on."""
MAZES = mazes(0, rivals=True)
CORRIDOR = sparse("keycorridor", 400_000, long=True)
CAR = sparse("mountaincar", 300_000, "sb3", rivals=False)
SHORT = (MAZES, world("bottlenecks"), world("basin"), sparse("slippery", 150_000))
"""Tasks to report on, short enough to run all rules on them twice."""
LATE = (MAZES, CORRIDOR, CAR)
"""Tasks to report on whose frames are too few for Uniform."""
REPORT = (
    *SHORT,
    mazes(10),
    CORRIDOR,
    CAR,
    sparse("obstructed", 500_000, long=True),
    sparse("pointmaze", 400_000, long=True),
    sparse("acrobot", 150_000),
    sparse("slippery", 150_000, "sb3"),
    sparse("keycorridor", 400_000, "sb3", long=True),
    POMMERMAN,
)
"""Tasks to report on."""
