"""The grid worlds and the tree as jobs: seven regimes, the same PPO on a table.

Comes in: a `GridJob`. Goes out: a `Training`, or a cloned table where nothing is trained; lines for
the metrics; at the end how well it plays from the true start and from beside the demonstration.
Does not know: disks, screens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import torch

from backplay.curricula import Backplay, Curriculum, ReverseCurriculum, Standard, Uniform, Window
from backplay.learners import GAIL, PPO, Discriminator, GAILConfig, Pairs, clone
from backplay.learners.workers import Workers
from backplay.paper.grid_worlds.worlds import BATCH, FRAMES, TASKS, Task, table
from backplay.report.exhibit import Exhibit
from backplay.report.records import RunRecord
from backplay.train import MakeNetwork, Progress, Training
from backplay.train.acting import acting
from backplay.train.job import (
    Say,
    file_name,
    progress_line,
    require,
    require_one_of,
    require_whole,
)
from backplay.train.progress import by_steps_back

ENOUGH = 0.02  # a cloned policy's loss: it then follows the demonstration when sampled, too
WINDOW = 16  # steps; each window begins in the middle of the one before
ROUND, NEW_STATES = 4 * BATCH, 500  # of RCG with all frames; shorter rounds walk less
JUDGE = GAILConfig(learning_rate=3e-2, steps=8, minibatch_size=256)
EPISODES = 64  # of each measurement with sampled actions
SETTINGS = {"open": "open world", "bottlenecks": "bottlenecks", "basin": "basin", "tree": "tree"}


def backplay_windows(length: int, share: float) -> Backplay:
    """Windows of 16 steps, each until 90 % of its episodes succeed; then the true start.

    `share` is that of the world's full budget: each window stays for that share of a batch at
    least.
    """
    count = -(-2 * length // WINDOW)
    back = [(WINDOW // 2 * i, WINDOW // 2 * i + WINDOW) for i in range(count)] + [(length, length)]
    least = max(1, round(BATCH * share))
    windows = [Window(least * i, lo, hi) for i, (lo, hi) in enumerate(back)]
    return Backplay(windows, mastery=0.9)


def reverse(job: GridJob, length: int) -> ReverseCurriculum:
    """The paper's numbers for RCG, a tenth of them or so: these worlds have one maze, not 100."""
    return ReverseCurriculum.begin(
        [length], seed=job.seed, round_frames=max(1, round(ROUND * job.share)),
        new_states=max(1, round(NEW_STATES * job.share)), walk_steps=25, new_starts=100,
        old_starts=50, until=job.frames // 2,
    )  # fmt: skip


REGIMES: dict[str, Callable[[GridJob, int], Curriculum | None]] = {
    "standard": lambda job, length: Standard(),
    "uniform": lambda job, length: Uniform(until=job.frames // 2),
    "backplay": lambda job, length: backplay_windows(length, job.share),
    "rcg": reverse,
    "cloning": lambda job, length: None,
    "cloning + ppo": lambda job, length: Standard(),
    "gail": lambda job, length: Standard(),
}
"""From the job and the demonstration's length; None does not train with PPO."""


@dataclass(frozen=True, kw_only=True)
class GridJob:
    """One run in one world."""

    kind: ClassVar[str] = "grid_worlds"
    curve: ClassVar[tuple[str, ...]] = ("success", "optimal", "steps")
    measures: ClassVar[tuple[str, ...]] = (
        *curve, "beside", "beside_greedy", "fewer_than_demonstration", "more_than_shortest",
    )  # fmt: skip

    world: str
    """One of `grid_worlds.TASKS`."""
    regime: str
    """One of REGIMES; "cloning" trains nothing and has 0 frames."""
    seed: int = 1
    """Of the table, the starts and the learner. The settings were chosen with seed 0."""
    frames: int = 200_000
    """Budget; schedules are stretched to it."""
    apart: bool = False
    """Values without a part in common: see `grid_worlds.Table`."""

    def __post_init__(self) -> None:
        require_one_of("world", self.world, tuple(TASKS))
        require_one_of("regime", self.regime, tuple(REGIMES))
        require_whole(self, seed=0, frames=0)
        trains = self.regime != "cloning"
        require((self.frames > 0) == trains, "frames", "1 or more; of cloning 0", self.frames)
        require(isinstance(self.apart, bool), "apart", "True or False", self.apart)

    @property
    def name(self) -> str:
        """As `open-world-backplay-1`."""
        return file_name(self.setting, self.regime, self.seed)

    @property
    def share(self) -> float:
        """Of the world's full budget."""
        return self.frames / FRAMES[self.world]

    @property
    def setting(self) -> str:
        """The world, in words."""
        return SETTINGS[self.world] + (", values apart" if self.apart else "")

    @property
    def seconds(self) -> float:
        """Three for 200,000 frames."""
        return 1.0 + 15.0 * self.frames / 1_000_000

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> GridWork:
        """Makes the world, and clones the demonstration where the regime says so."""
        task, network = TASKS[self.world](), partial(table, common=not self.apart)
        curriculum = REGIMES[self.regime](self, task.length)
        start: dict[str, Any] = {}
        if self.regime.startswith("cloning"):
            cloned = cloned_table(task, network, self.seed)
            start["initial_weights"] = cloned.state_dict()
        if self.regime == "gail":
            start["learner"] = imitating(task, self.seed)
        if curriculum is None:
            return GridWork(task, PPO(cloned, task.spaces[1], seed=self.seed), None)
        made = task.training(
            curriculum, self.frames, self.seed, network=network, workers=workers, **start
        )
        return GridWork(task, made.learner, made)

    @classmethod
    def exhibit(cls, records: Sequence[RunRecord]) -> Exhibit:
        """Walks, as films."""
        from backplay.paper.films import films
        from backplay.paper.maze.exhibit import walk

        return Exhibit(films=films(records, "paths", walk))


JOB = GridJob


class GridWork:
    """A grid job in progress."""

    def __init__(self, task: Task, learner: PPO, training: Training | None) -> None:
        self.task, self.learner, self.training = task, learner, training

    def line(self, progress: Progress) -> dict[str, Any]:
        """What came of the update, and at evaluations from the true start."""
        line = progress_line(progress)
        line["by_steps_back"] = by_steps_back(progress.episodes, [self.task.length])
        if progress.evaluation is not None:
            line["evaluation"] = self.measured()
        return line

    def measured(self) -> dict[str, float]:
        """How well it plays from the true start: success when sampled, steps when greedy."""
        task = self.task
        sampled = task.from_start(acting(self.learner), episodes=EPISODES, seed=10_000)
        greedy = task.from_start(
            acting(self.learner, greedy=True), episodes=task.starts, seed=10_000
        )
        best = greedy.successes & (greedy.lengths == task.shortest)
        return {
            "success": sampled.success,
            "optimal": float(best.mean()),
            "steps": float(greedy.lengths.mean()),
        }

    def result(self) -> dict[str, Any]:
        """From the true start and from beside the demonstration, with one greedy walk."""
        task, found = self.task, self.measured()
        beside, greedy = (
            task.from_beside(acting(self.learner, greedy=g)).success for g in (False, True)
        )
        return {
            "measures": {
                **found, "beside": beside, "beside_greedy": greedy,
                "fewer_than_demonstration": task.length - found["steps"],
                "more_than_shortest": found["steps"] - task.shortest,
            },
            "demonstration": task.length, "shortest": task.shortest,
            "paths": task.walked(acting(self.learner, greedy=True)),
        }  # fmt: skip

    def state(self) -> dict[str, Any]:
        """Where it stands; where nothing is trained, what was cloned."""
        if self.training is not None:
            return self.training.state()
        weights = self.learner.network.state_dict()
        return {"learner": {"network": {k: v.numpy().copy() for k, v in weights.items()}}}

    def close(self) -> None:
        """Closes the envs."""
        if self.training is not None:
            self.training.close()


def imitating(task: Task, seed: int) -> Callable[..., PPO]:
    """Makes a learner that imitates the demonstration by GAIL, with a table to judge."""
    judge = Discriminator.for_spaces(*task.spaces, seed=seed + 1, network=table)
    return partial(GAIL, expert=Pairs(*task.pairs()), discriminator=judge, imitation=JUDGE)


def cloned_table(task: Task, network: MakeNetwork, seed: int) -> torch.nn.Module:
    """A table that does as the demonstration did."""
    net = network(*task.spaces, seed=seed)
    observations, actions = task.pairs()
    passes = clone(
        net, observations, actions, action_space=task.spaces[1], seed=seed,
        learning_rate=3e-2, agreement=float("inf"),
    )  # fmt: skip
    for progress in passes:
        if progress.loss < ENOUGH:
            break
    return net
