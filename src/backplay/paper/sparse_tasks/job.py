"""A task with one scripted demonstration as a job: ours, not the paper's.

    GymJob(task="mountaincar", trainer="sb3", regime="default", frames=300_000)

Comes in: the names of a task, a trainer and a regime. Goes out: a training run, lines for the
metrics, success from the true start. Does not know: disks, screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from backplay.curricula import Patience
from backplay.errors import ensure
from backplay.paper.experiment import FolderJob
from backplay.paper.regimes import ALL, curriculum
from backplay.paper.sparse_tasks.task import Task
from backplay.paper.sparse_tasks.tasks import TASKS
from backplay.train.job import Say, require_one_of, require_whole

if TYPE_CHECKING:
    from backplay.learners.workers import Workers
    from backplay.train.env_job import EnvWork

TRAINERS = {"ours": "", "sb3": "Stable-Baselines3", "gail": "GAIL"}
"""By name: how a setting is called that is trained so."""


@dataclass(frozen=True, kw_only=True)
class GymJob(FolderJob):
    """One run of PPO, ours or Stable-Baselines3's, or of GAIL on ours, with the task's settings."""

    kind: ClassVar[str] = "sparse_tasks"
    curve: ClassVar[tuple[str, ...]] = ("success", "return", "steps")
    measures: ClassVar[tuple[str, ...]] = (*curve, "greedy_success", "greedy_return")

    task: str
    """One of TASKS."""
    regime: str
    """One of `paper.regimes.ALL`."""
    trainer: str = "ours"
    """One of TRAINERS."""
    seed: int = 0
    """Of the network, the envs and the learner."""
    frames: int = 300_000
    """Budget; schedules are stretched to it."""
    num_envs: int = 8
    """Environments side by side."""
    evaluations: int = 15
    """How often success from the true start is measured on the way."""
    final_episodes: int = 0
    """Episodes of each measurement at the end; 0: as many as the task says."""

    def __post_init__(self) -> None:
        require_one_of("task", self.task, tuple(TASKS))
        require_one_of("regime", self.regime, tuple(ALL))
        require_one_of("trainer", self.trainer, tuple(TRAINERS))
        require_whole(self, seed=0, frames=1, num_envs=1, evaluations=1, final_episodes=0)

    @property
    def setting(self) -> str:
        """The task, and who trains if not we."""
        trainer = TRAINERS[self.trainer]
        return self.about.title + (f", {trainer}" if trainer else "")

    @property
    def about(self) -> Task:
        """The task itself."""
        return TASKS[self.task]

    @property
    def seconds(self) -> float:
        """What it takes on one core, roughly."""
        return 5.0 + self.about.seconds * self.frames / 1_000_000

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> EnvWork:
        """Plays the demonstration and makes the envs."""
        from backplay.learners import PPO, PPOConfig
        from backplay.train import TrainConfig, Training
        from backplay.train.env_job import EnvWork, gail

        if on_progress:
            on_progress(f"playing {self.setting} for a demonstration")
        task, demo = self.about, self.about.demonstrate()
        starts = curriculum(self.regime, [len(demo)], self.frames, seed=self.seed)
        if task.patience is not None and self.regime not in ("standard", "default"):
            starts = Patience(starts, task.patience)
        config = TrainConfig(
            frames=self.frames, num_envs=self.num_envs, seed=self.seed,
            evaluate_every=max(1, self.frames // self.evaluations),
            evaluation_episodes=task.on_the_way,
            final_episodes=self.final_episodes or task.episodes,
            ppo=PPOConfig(**task.ours),
        )  # fmt: skip
        if self.trainer != "sb3":
            learner = gail(task.make, [demo], self.seed) if self.trainer == "gail" else PPO
            ours = Training(task.make, [demo], starts, config, learner=learner, workers=workers)
            return EnvWork(ours, [demo], task.make)
        from backplay.paper.sparse_tasks.sb3 import SB3Training

        ensure(workers is None or workers.size == 1, "workers", "one with sb3", workers)
        theirs: Any = SB3Training(task.make, [demo], starts, config, task.sb3)
        return EnvWork(theirs, [demo], task.make)  # it has the names of `Training` that are used


JOB = GymJob
