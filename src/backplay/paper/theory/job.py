"""A study of the paper's analysis (section 3.1) as a job: nothing is trained.

Comes in: a `TheoryJob`. Goes out: what the study found, each finding as a measure. Does not know:
disks, screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from backplay.train.job import Say, file_name, require, require_one_of, require_whole
from backplay.train.progress import Progress

if TYPE_CHECKING:
    from backplay.learners.workers import Workers
    from backplay.report.exhibit import Exhibit
    from backplay.report.records import RunRecord
    from backplay.theory.study import Finding

STUDIES = ("gap", "trials", "horizons", "windows", "ratio", "graphs", "trees")
"""Names of `theory.studies.STUDIES`, in its order."""


@dataclass(frozen=True, kw_only=True)
class TheoryJob:
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
        require(self.frames == 0, "frames", "0", self.frames)
        require_one_of("regime", self.regime, ("theory",))
        require(isinstance(self.quick, bool), "quick", "True or False", self.quick)

    @property
    def name(self) -> str:
        """As `gap-theory-0`."""
        return file_name(self.setting, self.regime, self.seed)

    @property
    def setting(self) -> str:
        """The study's name."""
        return self.study

    @property
    def seconds(self) -> float:
        """Of the slower studies; the others take less."""
        return 8.0

    def begin(
        self,
        on_progress: Say | None = None,
        workers: Workers | None = None,
        files: Sequence[Path] = (),
    ) -> TheoryWork:
        """Computes nothing yet; there is nothing to share with workers."""
        return TheoryWork(self)

    @classmethod
    def exhibit(cls, records: Sequence[RunRecord]) -> Exhibit:
        """The panels of each study, of its first seed, and what was predicted and measured."""
        from backplay.paper.theory.figures import study_figure, study_tables
        from backplay.report.exhibit import Exhibit

        studies = [
            run.result["study"] for run in records if isinstance(run.result.get("study"), dict)
        ]
        first = {study["title"]: study for study in reversed(studies)}  # the others are as good
        shown = list(reversed(first.values()))
        drawn = {study["title"]: study_figure(study) for study in shown}
        return Exhibit(
            figures={title: one for title, one in drawn.items() if one is not None},
            words={study["title"]: study["words"] for study in shown},
            tables=study_tables(shown) if shown else (),
        )


JOB = TheoryJob


class TheoryWork:
    """A study that is made when its result is asked for."""

    training = None

    def __init__(self, job: TheoryJob) -> None:
        self.job = job

    def line(self, progress: Progress) -> dict[str, Any]:
        """Nothing is trained, so there is no update to tell of."""
        raise AssertionError("a study has no updates")

    def result(self) -> dict[str, Any]:
        """The study, and what it measured in each case."""
        from backplay.theory import studies
        from backplay.theory.study import Sizes

        job = self.job
        # The stream of each study as `run_studies` gives it.
        rng = np.random.default_rng([job.seed, STUDIES.index(job.study)])
        study = studies.STUDIES[job.study](Sizes.quick() if job.quick else Sizes(), rng)
        measures = {
            case(finding): finding.measured if isfinite(finding.measured) else None
            for finding in study.findings
        }
        verdicts = [finding.verdict for finding in study.findings]
        counts = {word: verdicts.count(word) for word in ("holds", "fails", "open")}
        return {
            "measures": measures | {name: float(count) for name, count in counts.items()},
            "study": study.as_json(),
        }

    def state(self) -> dict[str, Any]:
        """There is nothing to keep but the result."""
        return {}

    def close(self) -> None:
        """Holds nothing."""


def case(finding: Finding) -> str:
    """The name of a finding's measure: what was predicted, and where."""
    return f"{finding.claim} | {finding.where}"
