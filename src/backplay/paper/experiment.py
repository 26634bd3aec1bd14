"""An experiment: jobs to run, and claims that their results can hold up or refute.

Comes in: data. Goes out: the same, checked. Does not know: how jobs are run, or judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from backplay.errors import BackplayError, show
from backplay.report.claims import Claim
from backplay.report.exhibit import FIGURES
from backplay.train.job import Job

if TYPE_CHECKING:
    from backplay.report.exhibit import Exhibit
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


def scaled(frames: int, scale: float) -> int:
    """A share of the full number of frames."""
    if not isinstance(scale, int | float) or not isfinite(scale) or scale <= 0:
        raise BackplayError("scale", expected="a number above 0", got=show(scale))
    return max(1, round(frames * scale))


def seeds_from(first: int, seeds: int) -> range:
    """So many seeds."""
    if type(seeds) is not int or seeds < 1:
        raise BackplayError("seeds", expected="a whole number from 1 on", got=show(seeds))
    return range(first, first + seeds)
