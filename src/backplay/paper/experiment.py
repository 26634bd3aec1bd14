"""An experiment: jobs to run, and claims that their results can hold up or refute.

Comes in: data. Goes out: the same, checked; and what the jobs of all folders have in common. Does
not know: how jobs are run, or judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from backplay.errors import BackplayError, show, whole
from backplay.report.claims import Claim
from backplay.report.exhibit import FIGURES, Exhibit
from backplay.train.job import Job, Say, file_name

if TYPE_CHECKING:
    from backplay.learners.workers import Workers
    from backplay.report.records import RunRecord


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One of the paper's tables or figures, or one of ours."""

    name: str
    """As the command line knows it."""
    title: str
    """In a few words."""
    where: str
    """In the paper: "Table 2"; "ours" if it is not there."""
    about: str
    """What is compared, and how, in a few sentences."""
    scale: float
    """Share of the full number of frames, unless somebody asks for another."""
    seeds: int
    """Runs of each kind, unless somebody asks for another number."""
    jobs: Callable[[float, int], list[Job]]
    """From a scale and a number of seeds to the jobs."""
    claims: tuple[Claim, ...]
    figures: tuple[str, ...] = FIGURES
    """Which of `report.exhibit.FIGURES` its page shows."""
    exhibit: Callable[[Sequence[RunRecord]], Exhibit] | None = None
    """What its runs show together, besides what those of each kind do."""
    shares: str = ""
    """The folder of its runs, where other experiments have runs in common with it."""

    @property
    def folder(self) -> str:
        """The folder of its runs: jobs of the same name there are the same."""
        return self.shares or self.name

    def seconds(self, jobs: Sequence[Job]) -> float:
        """What these jobs take on one core, roughly."""
        return sum(job.seconds for job in jobs)


class FolderJob:
    """What jobs have in common: what is heavy in their folder is imported when it is asked for."""

    kind: ClassVar[str]

    @property
    def name(self: Job) -> str:
        """As `optimal-backplay-0`."""
        return file_name(self.setting, self.regime, self.seed)

    def begin(
        self: Job,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> Any:
        """The run at its beginning: what `begun` of the folder's `work` makes of it."""
        work: Any = import_module(f"backplay.paper.{self.kind}.work")
        return work.begun(self, on_progress, workers, files)

    @classmethod
    def exhibit(cls, records: Sequence[RunRecord]) -> Exhibit:
        """What the function of this name says that its folder has in a module of this name."""
        module = f"backplay.paper.{cls.kind}.exhibit"
        found: Any = import_module(module) if find_spec(module) else None
        return found.exhibit(records) if found else Exhibit()


def scaled(frames: int, scale: float) -> int:
    """A share of the full number of frames."""
    if not isinstance(scale, int | float) or not isfinite(scale) or scale <= 0:
        raise BackplayError("scale", expected="a number above 0", got=show(scale))
    return max(1, round(frames * scale))


def seeds_from(first: int, seeds: int) -> range:
    """So many seeds."""
    return range(first, first + whole("seeds", seeds, 1))
