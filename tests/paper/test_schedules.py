"""Schedules stretch with the scale in every experiment, and at full scale are what they were."""

from __future__ import annotations

import numpy as np
import pytest

from backplay.curricula import Backplay, Curriculum, Frontier, ReverseCurriculum, Until, Waiting
from backplay.paper import regimes
from backplay.paper.catalogue import experiments
from backplay.paper.experiment import Experiment
from backplay.paper.grid_worlds import job as grid_jobs
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.maze import regimes as maze
from backplay.paper.maze.job import MazeJob
from backplay.paper.pommerman import work as pommerman_jobs
from backplay.paper.pommerman.job import PommermanJob
from backplay.paper.sparse_tasks.job import GymJob
from backplay.train.job import Job

EXPERIMENTS = {one.name: one for one in experiments()}
# No schedules, or kinds with their own.
WITHOUT = ("theory", "maze-cloning", "pommerman-imitation", "advise", "demo")
WITH_CURRICULA = [one for one in EXPERIMENTS.values() if one.name not in WITHOUT]
LENGTH = 60


def curriculum(job: Job) -> Curriculum | None:
    if isinstance(job, MazeJob):
        return maze.curriculum(job, np.array([36, LENGTH]))
    if isinstance(job, GridJob):
        return grid_jobs.curriculum(job, LENGTH)
    if isinstance(job, GymJob):
        return regimes.curriculum(job.regime, [LENGTH], job.frames, seed=job.seed)
    assert isinstance(job, PommermanJob)
    return pommerman_jobs.curriculum(job)


def times(found: Curriculum | None) -> list[int]:
    """Everything in a curriculum that is counted in frames."""
    if isinstance(found, Backplay):
        return [window.frames for window in found.windows]
    if isinstance(found, Until):
        return [found.at]
    if isinstance(found, Waiting):
        return times(found.inner)
    if isinstance(found, ReverseCurriculum):
        return [found.round_frames, found.new_states, found.until or 0]
    return []


@pytest.mark.parametrize("experiment", WITH_CURRICULA, ids=lambda one: one.name)
def test_windows_stretch_with_the_scale(experiment: Experiment) -> None:
    compared = 0
    # Of runs so short that a round of walks has its least states, nothing could be said.
    scale = 1.0 if experiment.name in ("imitation", "maze-reverse") else 0.05
    for half, whole in zip(experiment.jobs(scale / 2, 1), experiment.jobs(scale, 1), strict=True):
        few = (job.frames < maze.FEW_FRAMES for job in (half, whole))
        if isinstance(half, MazeJob) and len(set(few)) > 1:
            continue  # our preset has other windows below that
        short, long = times(curriculum(half)), times(curriculum(whole))
        if isinstance(half, MazeJob) and half.regime == "florensa":
            short, long = short[-1:], long[-1:]  # a round is as long as judging its starts takes
        np.testing.assert_allclose(2 * np.array(short), long, rtol=0.03, atol=2)
        assert not long or max(long) <= whole.frames or isinstance(whole, GridJob)
        # The default curriculum has no schedule.
        compared += bool(long) or isinstance(curriculum(whole), Frontier)
    assert compared


@pytest.mark.parametrize(("world", "frames"), [("open", 200_000), ("tree", 100_000)])
def test_grid_worlds_at_full_scale_are_as_in_their_results(world: str, frames: int) -> None:
    job = GridJob(world=world, regime="backplay", frames=frames)
    assert times(curriculum(job))[:3] == [0, 1_024, 2_048]
    rcg = GridJob(world=world, regime="rcg", frames=frames)
    assert times(curriculum(rcg)) == [4_096, 500, frames // 2]


def test_the_shortest_grid_run_has_a_schedule() -> None:
    for regime in ("backplay", "rcg", "uniform"):
        assert curriculum(GridJob(world="basin", regime=regime, frames=1)) is not None
