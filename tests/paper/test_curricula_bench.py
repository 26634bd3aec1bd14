"""The bench of curricula: two halves that share neither tasks nor seeds, claims on each task."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from backplay.paper.catalogue import experiment
from backplay.paper.curricula_bench.exhibit import TASKS, exhibit
from backplay.paper.curricula_bench.experiments import ALWAYS
from backplay.paper.curricula_bench.observed import fell_and_rose, recovery
from backplay.paper.curricula_bench.tasks import CHOOSE, REPORT, SHORT, Bench
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.regimes import REGIMES, SWEEPS, curriculum
from backplay.report.claims import FramesTo, parts_of
from backplay.report.records import RunRecord


def test_what_chooses_does_not_report() -> None:
    report, choose = (experiment(name).jobs(1.0, 5) for name in ("curricula", "curricula-choose"))
    assert not {job.setting for job in report} & {job.setting for job in choose}
    assert not {job.seed for job in report} & {job.seed for job in choose}
    assert len({job.setting for job in report}) == len(REPORT)
    assert len({job.setting for job in choose}) == len(CHOOSE)
    assert len(REPORT) + len(CHOOSE) >= 10


@pytest.mark.parametrize(("name", "tasks"), [("curricula", REPORT), ("curricula-choose", CHOOSE)])
def test_every_curriculum_is_run_where_runs_are_short_and_three_everywhere(
    name: str, tasks: Sequence[Bench]
) -> None:
    jobs = experiment(name).jobs(1.0, 2)
    rivals = [one for one in REGIMES if one != "reverse"]
    assert sum(task.rivals for task in tasks) >= len(tasks) / 3
    for task in tasks:
        setting = task.job("default", 0).setting
        run = [job.regime for job in jobs if job.setting == setting]
        assert sorted(run) == sorted(2 * (rivals if task.rivals else list(ALWAYS)))


def test_the_cut_goes_around_rules_that_have_none_and_away_from_those_that_have_one() -> None:
    jobs = experiment("curricula-cut").jobs(1.0, 1)
    assert {job.setting for job in jobs} == {task.job("default", 0).setting for task in SHORT}
    patience = {job.regime: curriculum(job.regime, [30], 1_000).patience for job in jobs}
    own = patience.pop("default")
    rules = ["uniform", "backplay", "backward", "reverse-forward", "learnability", "failure",
             "bisection"]  # fmt: skip
    cut = {f"{rule} (cut)": own for rule in ("staircase", *rules)}
    assert patience == {
        **dict.fromkeys(rules), **cut, "default (no cut)": 1e9, "staircase (no cut)": 1e9,
    }  # fmt: skip
    inside = curriculum("failure (cut)", [30], 1_000)
    assert inside.inner == curriculum("failure", [30], 1_000)


def test_uniform_has_twice_the_frames_where_it_is_late() -> None:
    jobs = experiment("curricula-longer").jobs(1.0, 2)
    frames = {(job.setting, job.regime): job.frames for job in jobs}
    bench = {job.setting: job.frames for job in experiment("curricula").jobs(1.0, 1)}
    assert len(frames) == 6
    for (setting, regime), count in frames.items():
        assert count == bench[setting] * (2 if regime == "uniform" else 1)
    claims = experiment("curricula-longer").claims
    assert {part.setting for one in claims for part in parts_of(one.quantity)} == {
        setting for setting, _ in frames
    }


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
    job = task.job("default", 0)
    assert task.measure in job.curve
    assert task.measure in job.measures
    assert job.seconds > 0


def run_of(setting: str, regime: str, seed: int, values: list[float]) -> RunRecord:
    """A finished run with these successes at even shares of its frames."""
    measure = TASKS[setting].measure
    curve = [(100 * (k + 1), {measure: value}) for k, value in enumerate(values)]
    return RunRecord(
        path=f"{setting}-{regime}-{seed}", kind="sparse_tasks", setting=setting, regime=regime,
        seed=seed, frames=100 * len(values), finished=True, curve=curve,
        measures={measure: values[-1]},
    )  # fmt: skip


def test_the_picture_and_the_tables_say_who_is_ahead() -> None:
    slippery = 0.92**10
    records = [
        run_of(setting, regime, seed, [share * best for share in shares])
        for setting, best in (("bottlenecks", 1.0), ("Backplay/Slippery-v0", slippery))
        for regime, shares in (("default", [0.5, 1.0]), ("uniform", [0.0, 0.5]))
        for seed in (0, 1)
    ]
    alone = run_of("basin", "default", 0, [0.0, 0.0])  # no other has it
    shown = exhibit([*records, alone])
    assert list(shown.figures) == ["All tasks together"]
    overall, frames = (table.cells for table in shown.tables)
    assert [row[:4] for row in overall[1:]] == [
        ("default", "2", "4", "100% [100, 100]"),
        ("uniform", "2", "4", "50% [50, 50]"),
    ]
    assert overall[1][5].startswith("100%")  # beats Uniform
    assert overall[2][5] == "–"
    assert frames[1:] == [
        ("bottlenecks", "0", "–"), ("Backplay/Slippery-v0", "0", "–"), ("basin", "–", ""),
    ]  # fmt: skip


def test_a_regime_alone_is_not_compared() -> None:
    assert not exhibit([run_of("bottlenecks", "default", 0, [1.0])]).tables


@pytest.mark.parametrize(
    ("rates", "found"),
    [
        ([0.1, 0.6, 0.9], (False, False)),
        ([0.0, 0.6, 0.01, 0.2], (True, False)),
        ([0.6, 0.0, 0.3, 0.5], (True, True)),
    ],
)
def test_recovery_is_success_that_went_and_came_back(
    rates: list[float], found: tuple[bool, bool]
) -> None:
    assert fell_and_rose(rates) == found


def test_runs_that_went_to_zero_are_counted_from_look_to_look() -> None:
    def trained(seed: int, rates: list[float]) -> RunRecord:
        """Two updates before each of four looks, the first without a success."""
        starts = [
            (50 * at + late, 3, 10, round(20 * rate) if late == 50 else 0)
            for at, rate in enumerate(rates)
            for late in (25, 50)
        ]
        return RunRecord(
            path=f"r{seed}", kind="grid_worlds", setting="basin", regime="backplay", seed=seed,
            frames=1_000, seconds=1.0, finished=True, starts=starts,
            curve=[(50 * at, {"success": 0.0}) for at in range(1, 5)],
        )  # fmt: skip

    runs = [
        trained(0, [0.4, 0.5, 0.0, 0.5]),
        trained(1, [0.5, 0.0, 0.1, 0.1]),
        trained(2, [0.5] * 4),
    ]
    (table,) = recovery(runs).tables
    assert table.cells[1:] == [("basin", "backplay", "3", "2", "1")]
    assert recovery(runs[2:]).tables == ()


def test_what_was_observed_is_swept_on_two_tasks() -> None:
    jobs = experiment("curricula-observed").jobs(1.0, 2)
    assert len({job.setting for job in jobs}) == 2
    assert {job.regime for job in jobs} == set(SWEEPS)
    fast, slow = (curriculum(f"pace {pace}", [40], 1_000) for pace in (0.05, 0.95))
    assert fast.update([], 50).weights(0, 40)[0] == 1.0
    assert slow.update([], 50).weights(0, 40)[0] == 0.0


def test_the_default_finds_the_way_through_a_bottleneck() -> None:
    """With all starts beyond where success falls, this seed stays at 12 of 36 steps."""
    work = GridJob(world="bottlenecks", regime="default", seed=3, frames=100_000).begin()
    list(work.training.run())
    assert work.measured()["success"] > 0.9
    work.close()
