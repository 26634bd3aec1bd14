"""The catalogue: its jobs as data, what they cost, and claims that its runs can answer."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from backplay.curricula import Backplay
from backplay.errors import BackplayError
from backplay.paper.catalogue import FOLDERS, experiments
from backplay.paper.experiment import Experiment
from backplay.paper.maze.job import MazeJob
from backplay.paper.pommerman import work as pommerman_jobs
from backplay.paper.pommerman.job import PommermanJob
from backplay.paper.theory.job import TheoryJob
from backplay.report.claims import Final, FramesTo, parts_of
from backplay.report.exhibit import FIGURES
from backplay.train.job import Job, from_json, to_json

EXPERIMENTS = {one.name: one for one in experiments()}
ALL = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda one: one.name)


def by_default(experiment: Experiment) -> list[Job]:
    return experiment.jobs(experiment.scale, experiment.seeds)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_catalogue_names_what_a_folder_has(folder: str) -> None:
    module = importlib.import_module(f"backplay.paper.{folder}.experiments")
    assert {one.name for one in module.EXPERIMENTS} == set(FOLDERS[folder])


def test_no_name_is_there_twice() -> None:
    assert len(EXPERIMENTS) == sum(map(len, FOLDERS.values()))


def test_listing_them_imports_nothing_heavy() -> None:
    code = (
        "import sys; from backplay.paper.catalogue import experiments;"
        " [one.jobs(one.scale, one.seeds) for one in experiments()];"
        " print({name.partition('.')[0] for name in sys.modules}"
        " & {'torch', 'numba', 'scipy', 'matplotlib', 'networkx', 'stable_baselines3', 'minigrid',"
        " 'gymnasium_robotics'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_one_experiment_imports_its_own_folder() -> None:
    code = (
        "import sys; from backplay.paper.catalogue import experiment, job_class;"
        " experiment('theory'), job_class('theory');"
        " print([name for name in sys.modules if name.startswith('backplay.paper.')"
        " and name.count('.') == 2])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = {"catalogue", "experiment", "theory"}
    assert set(ast.literal_eval(done.stdout)) == {f"backplay.paper.{name}" for name in found}


@ALL
@pytest.mark.parametrize("scale", [None, 0.01, 1.0])
def test_jobs_are_data_with_names_of_their_own(experiment: Experiment, scale: float | None) -> None:
    jobs = experiment.jobs(scale or experiment.scale, 2)
    for job in jobs:
        assert from_json(json.loads(json.dumps(to_json(job)))) == job
        assert re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,100}", job.name)
    assert len({job.name for job in jobs}) == len(jobs)
    counts = Counter((job.setting, job.regime, job.frames) for job in jobs)
    assert set(counts.values()) == {2}  # they differ by the seed alone
    assert experiment.claims
    assert set(experiment.figures) <= set(FIGURES)


@pytest.mark.parametrize("scale", [0.01, 0.05])
def test_jobs_of_one_name_in_one_folder_are_the_same(scale: float) -> None:
    found: dict[tuple[str, str], Job] = {}
    for experiment in EXPERIMENTS.values():
        for job in experiment.jobs(scale, 2):
            assert found.setdefault((experiment.folder, job.name), job) == job
    assert EXPERIMENTS["maze-table"].folder == EXPERIMENTS["maze-curves"].folder
    assert EXPERIMENTS["maze-table"].jobs(scale, 2) == EXPERIMENTS["maze-curves"].jobs(scale, 2)


def test_the_mazes_table_by_hand() -> None:
    jobs = EXPERIMENTS["maze-table"].jobs(0.05, 5)
    assert len(jobs) == 4 * 3 * 5
    assert {job.frames for job in jobs} == {10_240_000}
    assert {job.setting for job in jobs} == {"Optimal", "5-Optimal", "10-Optimal"}
    assert {job.regime for job in jobs} == {"backplay", "uniform", "florensa", "standard"}
    assert {job.seed for job in jobs} == set(range(5))
    assert all(isinstance(job, MazeJob) and job.effort == 1.0 for job in jobs)
    assert {job.frames for job in EXPERIMENTS["maze-table"].jobs(1.0, 1)} == {204_800_000}
    tiny = EXPERIMENTS["maze-table"].jobs(0.01, 2)
    assert len(tiny) == 24
    assert {job.frames for job in tiny} == {2_048_000}
    assert all(isinstance(job, MazeJob) and job.effort == pytest.approx(0.04) for job in tiny)


def test_frames_by_hand() -> None:
    frames = {name: sorted({j.frames for j in e.jobs(0.05, 1)}) for name, e in EXPERIMENTS.items()}
    assert frames["maze-cloning"] == [0, 10_240_000]
    assert frames["maze-budget"] == [
        1_024_000, 1_500_000, 2_000_000, 3_000_000, 5_000_000, 10_240_000,
    ]  # fmt: skip
    assert frames["grid-worlds"] == [0, 5_000, 10_000]
    assert frames["theory"] == [0]
    assert frames["pommerman-4"] == [2_560_000]  # 500 epochs of 102,400 at full scale
    assert frames["pommerman-100"] == [4_352_000]  # 850
    assert frames["mountaincar"] == [15_000]


def test_networks_of_facts_learn_in_bfloat16() -> None:
    for name in ("pommerman-4", "pommerman-100", "pommerman-dense", "pommerman-paper"):
        jobs = EXPERIMENTS[name].jobs(0.05, 1)
        assert {job.precision for job in jobs} == {"bfloat16"}


@pytest.mark.parametrize(("maps", "full"), [(4, 51_200_000), (100, 87_040_000)])
@pytest.mark.parametrize("share", [1.0, 0.05])
def test_pommermans_windows_are_the_papers(maps: int, full: int, share: float) -> None:
    job = PommermanJob(regime="backplay", maps=maps, frames=round(full * share))
    found = pommerman_jobs.curriculum(job)
    assert isinstance(found, Backplay)
    every = (50 if maps == 4 else 85) * 102_400 * share
    assert [window.frames for window in found.windows] == [round(k * every) for k in range(7)]
    assert (found.windows[1].lo, found.windows[1].hi) == (24, 64)


@cache
def finals_of_study(study: str) -> frozenset[str]:
    return frozenset(TheoryJob(study=study, quick=True).begin().result()["measures"])


@ALL
def test_claims_are_about_what_the_jobs_measure(experiment: Experiment) -> None:
    jobs = {(job.setting, job.regime): job for job in by_default(experiment)}
    for claim in experiment.claims:
        for part in parts_of(claim.quantity):
            job = jobs[part.setting, part.regime]
            if isinstance(part, FramesTo):
                assert part.measure in job.curve, claim.text
            elif isinstance(job, TheoryJob):
                assert part.measure in finals_of_study(job.study), claim.text
            else:
                assert part.measure in job.measures, claim.text
    texts = [claim.text for claim in experiment.claims]
    assert len(set(texts)) == len(texts)


def test_table_2_is_claimed_number_by_number() -> None:
    found = {
        (c.quantity.setting, c.quantity.regime, c.quantity.measure): c.paper
        for c in EXPERIMENTS["maze-table"].claims
        if isinstance(c.quantity, Final)
    }
    assert found["Optimal", "backplay", "optimal"] == 0.31
    assert found["5-Optimal", "uniform", "within_5"] == 0.98
    assert found["10-Optimal", "backplay", "extra_mean"] == 0.37
    assert found["10-Optimal", "standard", "within_5"] == 0.0


@ALL
def test_costs_grow_with_runs_and_frames(experiment: Experiment) -> None:
    one, two = (experiment.jobs(experiment.scale, seeds) for seeds in (1, 2))
    assert experiment.seconds(two) == pytest.approx(2 * experiment.seconds(one))
    smaller = experiment.seconds(experiment.jobs(experiment.scale / 5, 1))
    assert smaller > 0
    if experiment.name != "theory":
        assert smaller < experiment.seconds(one)


def test_costs_of_the_maze_are_those_measured() -> None:
    table = EXPERIMENTS["maze-table"]
    tiny = table.jobs(0.01, 1)
    assert table.seconds(tiny) / len(tiny) == pytest.approx(35, rel=0.15)
    shortest = table.jobs(0.0005, 1)[0]
    assert table.seconds([shortest]) > 2  # mazes are made before the first frame
    full = table.jobs(0.05, 1)[0]
    assert table.seconds([full]) == pytest.approx(390, rel=0.05)


def test_the_papers_pommerman_says_what_it_costs() -> None:
    experiment = EXPERIMENTS["pommerman-paper"]
    jobs = by_default(experiment)
    assert all(isinstance(job, PommermanJob) and job.preset == "paper-learner" for job in jobs)
    assert {job.frames for job in jobs} == {51_200_000, 87_040_000}
    assert {job.setting.split(",")[1] for job in jobs} == {" 4 maps", " 100 maps"}
    assert max(experiment.seconds([job]) for job in jobs) < 2 * 3_600
    weeks = PommermanJob(regime="backplay", preset="paper", frames=51_200_000).seconds / 604_800
    assert weeks > 2
    assert "weeks" in experiment.about


@ALL
def test_no_scale_and_no_seeds_are_refused(experiment: Experiment) -> None:
    for scale, seeds in ((0.0, 1), (-1.0, 1), (float("nan"), 1), (1.0, 0), (1.0, True)):
        with pytest.raises(BackplayError):
            experiment.jobs(scale, seeds)
