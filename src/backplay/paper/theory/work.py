"""A study of the paper's analysis, made when its result is asked for.

Comes in: a `TheoryJob`. Goes out: what the study found, each finding as a measure. Does not know:
disks, screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from backplay.learners.workers import Workers
from backplay.paper.theory.job import STUDIES, TheoryJob
from backplay.theory import studies
from backplay.theory.study import Finding, Sizes
from backplay.train.job import Say, Work


def begun(
    job: TheoryJob, on_progress: Say | None, workers: Workers | None, files: Sequence[Path]
) -> TheoryWork:
    """Computes nothing yet; there is nothing to share with workers."""
    return TheoryWork(job)


class TheoryWork(Work):
    """A study that is made when its result is asked for."""

    def __init__(self, job: TheoryJob) -> None:
        self.job = job

    def result(self) -> dict[str, Any]:
        """The study, and what it measured in each case."""
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


def case(finding: Finding) -> str:
    """The name of a finding's measure: what was predicted, and where."""
    return f"{finding.claim} | {finding.where}"
