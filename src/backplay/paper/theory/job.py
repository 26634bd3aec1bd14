"""A study of the paper's analysis (section 3.1) as a job: nothing is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from backplay.errors import ensure
from backplay.paper.experiment import FolderJob
from backplay.train.job import require_one_of, require_whole

STUDIES = ("gap", "trials", "horizons", "windows", "ratio", "graphs", "trees")
"""Names of `theory.studies.STUDIES`, in its order."""


@dataclass(frozen=True, kw_only=True)
class TheoryJob(FolderJob):
    """One study."""

    kind: ClassVar[str] = "theory"
    curve: ClassVar[tuple[str, ...]] = ()
    measures: ClassVar[tuple[str, ...]] = ()
    """What a study finds is known when it is done: `case(finding)` for each."""

    study: str
    """One of STUDIES."""
    seed: int = 0
    """Of what is simulated."""
    quick: bool = False
    """Sizes for a few seconds."""
    frames: int = 0
    """None are trained."""
    regime: str = "theory"
    """All regimes are compared within a study."""

    def __post_init__(self) -> None:
        require_one_of("study", self.study, STUDIES)
        require_whole(self, seed=0, frames=0)
        ensure(self.frames == 0, "frames", "0", self.frames)
        require_one_of("regime", self.regime, ("theory",))
        ensure(isinstance(self.quick, bool), "quick", "True or False", self.quick)

    @property
    def setting(self) -> str:
        """The study's name."""
        return self.study

    @property
    def seconds(self) -> float:
        """Of the slower studies; the others take less."""
        return 8.0


JOB = TheoryJob
