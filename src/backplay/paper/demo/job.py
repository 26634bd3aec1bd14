"""The demo's runs: MountainCar with a reward at the flag only, from one scripted demonstration.

Comes in: a `DemoJob`. Goes out: the work of the same task among the sparse ones. Does not know:
disks, screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from backplay.paper.experiment import FolderJob
from backplay.paper.sparse_tasks.job import GymJob
from backplay.paper.sparse_tasks.tasks import TASKS
from backplay.train.job import Say, file_name, require_one_of, require_whole

if TYPE_CHECKING:
    from backplay.learners.workers import Workers
    from backplay.train.env_job import EnvWork

TASK = TASKS["flag"]
SETTING = TASK.title
REGIMES = ("backplay", "uniform", "standard")


@dataclass(frozen=True, kw_only=True)
class DemoJob(FolderJob):
    """One run of our PPO."""

    kind: ClassVar[str] = "demo"
    curve: ClassVar[tuple[str, ...]] = GymJob.curve
    measures: ClassVar[tuple[str, ...]] = GymJob.measures

    regime: str
    """One of REGIMES."""
    seed: int = 0
    """Of the network, the envs and the learner."""
    frames: int = TASK.frames
    """Budget; schedules are stretched to it."""
    episodes: int = TASK.episodes
    """Episodes from the true start that judge the agent at the end."""

    def __post_init__(self) -> None:
        require_one_of("regime", self.regime, REGIMES)
        require_whole(self, seed=0, frames=1, episodes=1)

    @property
    def name(self) -> str:
        """As `backplay-0`."""
        return file_name(self.regime, self.seed)

    @property
    def setting(self) -> str:
        """The task."""
        return SETTING

    @property
    def seconds(self) -> float:
        """Three regimes of three seeds took 90 s on two cores."""
        return 3.0 + TASK.seconds * self.frames / 1_000_000

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> EnvWork:
        """As the sparse task; who watches the demo calls the library's default Backplay."""
        regime = "default" if self.regime == "backplay" else self.regime
        same = GymJob(
            task="flag", regime=regime, seed=self.seed, frames=self.frames, evaluations=25,
            final_episodes=self.episodes,
        )  # fmt: skip
        return same.begin(on_progress, workers)


JOB = DemoJob
