"""One advice and its check as a job: what `advise` says of a task, and what training takes.

    AdviceJob(task="maze-8", seed=0)

Comes in: the name of a task. Goes out: the regime that the advice names, and frames to 90 % success
under each. The runs that check it are no more than that check: they are made in one go, so a job
that is killed begins again. Does not know: disks, screens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from backplay.paper.experiment import FolderJob
from backplay.train.job import require_one_of, require_whole

FRAMES = {
    "maze-8": 60_000, "maze-12": 100_000, "maze-16": 200_000, "maze-24": 400_000,
    "open": 200_000, "bottlenecks": 200_000, "basin": 200_000, "tree": 100_000,
    "mountaincar": 300_000, "fourrooms": 100_000, "doorkey": 100_000,
}  # fmt: skip
"""The budget of each run, by task."""
REGIMES = {"Standard": "standard", "Uniform": "uniform", "Backplay": "default"}
"""By the advice's name for it: the regime that is run."""
_TABLES = 15.0  # seconds of a million frames, learned on a table
_NETWORKS = 80.0  # the same with a network
_LOOK = 30.0  # seconds of an advice at most


@dataclass(frozen=True, kw_only=True)
class AdviceJob(FolderJob):
    """An advice, and a run under each regime that it could name."""

    kind: ClassVar[str] = "advice"
    curve: ClassVar[tuple[str, ...]] = ()
    measures: ClassVar[tuple[str, ...]] = ("right", "sure", *REGIMES.values())

    task: str
    """One of FRAMES."""
    seed: int = 0
    """Of the advice and the runs."""
    frames: int = 60_000
    """Of each run, at most: one that has arrived is not trained further."""

    def __post_init__(self) -> None:
        require_one_of("task", self.task, tuple(FRAMES))
        require_whole(self, seed=0, frames=1)

    @property
    def regime(self) -> str:
        """There is one."""
        return "advice"

    @property
    def setting(self) -> str:
        """The task."""
        return self.task

    @property
    def seconds(self) -> float:
        """The look, and three runs."""
        a_million = _NETWORKS if self.task in ("mountaincar", "fourrooms", "doorkey") else _TABLES
        return _LOOK + len(REGIMES) * a_million * self.frames / 1_000_000


JOB = AdviceJob
