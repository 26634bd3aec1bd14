"""One advice and its check as a job: what `advise` says of a task, and what training takes.

    AdviceJob(task="maze-8", seed=0)

Comes in: the name of a task. Goes out: the regime that the advice names, and frames to 90 % success
under each. The runs that check it are no more than that check: they are made in one go, so a job
that is killed begins again. Does not know: disks, screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from backplay.train.job import Say, file_name, require_one_of, require_whole

if TYPE_CHECKING:
    from backplay.learners.workers import Workers
    from backplay.paper.advice.work import AdviceWork
    from backplay.report.exhibit import Exhibit
    from backplay.report.records import RunRecord

FRAMES = {
    "maze-8": 60_000, "maze-12": 100_000, "maze-16": 200_000, "maze-24": 400_000,
    "open": 200_000, "bottlenecks": 200_000, "basin": 200_000, "tree": 100_000,
    "mountaincar": 300_000, "fourrooms": 100_000, "doorkey": 100_000,
}  # fmt: skip
"""The budget of each run, by task."""
REGIMES = {"Standard": "standard", "Uniform": "uniform", "Backplay": "default"}
"""By the advice's name for it: the regime that is run."""
_TABLES = 15.0  # seconds of a million frames, learned on a table
_NETWORKS = 300.0  # the same with a network
_LOOK = 30.0  # seconds of an advice at most


@dataclass(frozen=True, kw_only=True)
class AdviceJob:
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
    def name(self) -> str:
        """As `maze-8-advice-0`."""
        return file_name(self.setting, self.regime, self.seed)

    @property
    def setting(self) -> str:
        """The task."""
        return self.task

    @property
    def seconds(self) -> float:
        """The look, and three runs."""
        a_million = _NETWORKS if self.task in ("mountaincar", "fourrooms", "doorkey") else _TABLES
        return _LOOK + len(REGIMES) * a_million * self.frames / 1_000_000

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> AdviceWork:
        """Nothing yet: all of it is done when the result is asked for."""
        from backplay.paper.advice.work import AdviceWork

        return AdviceWork(self, on_progress or (lambda _: None))

    @classmethod
    def exhibit(cls, records: Sequence[RunRecord]) -> Exhibit:
        """Nothing."""
        from backplay.report.exhibit import Exhibit

        return Exhibit()


JOB = AdviceJob
