"""The bench of curricula: two halves that share neither tasks nor seeds, claims on each task."""

from __future__ import annotations

import pytest

from backplay.paper.catalogue import experiment
from backplay.paper.curricula_bench.tasks import CHOOSE, REPORT
from backplay.paper.regimes import REGIMES
from backplay.report.claims import FramesTo, parts_of


def test_what_chooses_does_not_report() -> None:
    report, choose = (experiment(name).jobs(1.0, 5) for name in ("curricula", "curricula-choose"))
    assert not {job.setting for job in report} & {job.setting for job in choose}
    assert not {job.seed for job in report} & {job.seed for job in choose}
    assert len({job.setting for job in report}) == len(REPORT)
    assert len({job.setting for job in choose}) == len(CHOOSE)
    assert len(REPORT) + len(CHOOSE) >= 10


@pytest.mark.parametrize("name", ["curricula", "curricula-choose"])
def test_every_curriculum_is_run_on_every_task(name: str) -> None:
    jobs = experiment(name).jobs(1.0, 2)
    settings = {job.setting for job in jobs}
    for setting in settings:
        run = [job.regime for job in jobs if job.setting == setting]
        assert sorted(run) == sorted(2 * [one for one in REGIMES if one != "reverse"])


def test_frames_are_counted_to_what_can_be_reached() -> None:
    thresholds = {
        part.setting: part.threshold
        for claim in experiment("curricula").claims
        for part in parts_of(claim.quantity)
        if isinstance(part, FramesTo)
    }
    assert thresholds["bottlenecks"] == 0.9
    assert thresholds["Backplay/Slippery-v0"] == round(0.9 * 0.92**10, 3)


@pytest.mark.parametrize("task", [*CHOOSE, *REPORT], ids=lambda one: one.job("default", 0).name)
def test_claims_are_about_a_measure_of_the_curve(task: object) -> None:
    job = task.job("default", 0)  # type: ignore[attr-defined]
    assert task.measure in job.curve  # type: ignore[attr-defined]
    assert task.measure in job.measures  # type: ignore[attr-defined]
    assert job.seconds > 0
