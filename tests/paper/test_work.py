"""A tiny job of each kind runs to its result, and measuring it changes nothing."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from backplay.envs.maze.rules import offsets
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.grid_worlds.work import GridWork
from backplay.paper.maze import regimes as maze
from backplay.paper.maze.job import MazeJob
from backplay.paper.maze.work import MazeWork
from backplay.paper.sparse_tasks.job import GymJob
from backplay.paper.theory.job import TheoryJob
from backplay.theory.studies import run_studies
from backplay.theory.study import Sizes
from backplay.train.job import Job, Work

TINY_MAZES = {"mazes": 4, "held_out": 2, "size": 8, "evaluations": 2, "effort": 0.1}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def carried_out(job: Job) -> tuple[list[dict[str, Any]], dict[str, Any], Work]:
    """The lines and the result of a job, as JSON gives them back."""
    work = job.begin()
    lines = [plain(work.line(progress)) for progress in work.training.run()]
    result = plain(work.result())
    work.close()
    return lines, result, work


def plain(value: Any) -> Any:
    again = json.loads(json.dumps(value, allow_nan=False))
    assert again == value
    return again


def check(job: Job, lines: list[dict[str, Any]], result: dict[str, Any]) -> None:
    """What contract every kind has."""
    for line in lines:
        assert {"frames", "starts", "train_success", "learner"} <= line.keys()
        assert "seconds" not in line
        assert all(wins <= tries for _, tries, wins in line["by_steps_back"])
    measured = [line["evaluation"] for line in lines if "evaluation" in line]
    assert measured
    assert all(set(evaluation) == set(job.curve) for evaluation in measured)
    assert "evaluation" in lines[-1]
    assert lines[-1]["frames"] >= job.frames
    assert set(result["measures"]) == set(job.measures)


def test_a_maze_job() -> None:
    job = MazeJob(regime="backplay", frames=15_360, **TINY_MAZES)
    lines, result, work = carried_out(job)
    check(job, lines, result)
    assert isinstance(work, MazeWork)
    measured = maze.measure(work.network, work.library.training)
    assert result["training"] == measured
    assert result["measures"]["success"] == measured["greedy"]["success"]
    assert result["measures"]["sampled_success"] == measured["sampled"]["success"]
    held_out = maze.measure(work.network, work.library.held_out)
    assert result["measures"]["held_out_success"] == held_out["greedy"]["success"]
    last = lines[-1]["evaluation"]
    assert last["success"] == measured["greedy"]["success"]
    assert last["extra_mean"] == measured["greedy"]["extra_mean"]
    tries = sum(tries for line in lines for _, tries, _ in line["by_steps_back"])
    assert tries > 100


def test_paths_of_a_maze_job_are_walks_on_its_boards() -> None:
    job = MazeJob(regime="cloned", frames=0, **TINY_MAZES)
    work = job.begin()
    result = plain(work.result())
    assert set(result["measures"]) == set(job.measures)
    assert result["measures"]["success"] == 1.0
    assert len(result["paths"]) == 4
    for i, shown in enumerate(result["paths"]):
        mazes = job.library().training
        assert shown["walls"] == np.flatnonzero(mazes.walls[i]).tolist()
        assert shown["path"] == shown["demonstration"] == mazes.paths[i].tolist()  # it was cloned
        assert (shown["path"][0], shown["path"][-1]) == (shown["start"], shown["goal"])
        assert set(np.diff(shown["path"])) <= set(offsets(8).tolist())
        assert not set(shown["path"]) & set(shown["walls"])
        filmed = list(work.scenes().play(i, 2, greedy=True, seed=0))
        assert (len(filmed), filmed[-1].success) == (len(shown["path"]) - 2, True)
    weights = work.state()["learner"]["network"]
    assert all(isinstance(part, np.ndarray) for part in weights.values())
    assert weights.keys() == work.network.state_dict().keys()


def test_a_maze_job_without_mazes_held_out() -> None:
    job = MazeJob(regime="standard", frames=5_120, **{**TINY_MAZES, "held_out": 0})
    lines, result, _ = carried_out(job)
    check(job, lines, result)
    assert result["held_out"] is None
    assert result["measures"]["held_out_success"] is None


def test_measuring_does_not_change_what_a_maze_job_learns() -> None:
    job = MazeJob(regime="backplay", frames=15_360, **TINY_MAZES)
    watched, alone = job.begin(), job.begin()
    seen = []
    for progress in watched.training.run():
        watched.line(progress)
        if progress.evaluation is not None:
            watched.result()
        seen.append(progress.metrics)
    assert seen == [progress.metrics for progress in alone.training.run()]


@pytest.mark.parametrize("regime", ["backplay", "rcg"])
def test_a_grid_job(regime: str) -> None:
    job = GridJob(world="bottlenecks", regime=regime, frames=6_000)
    lines, result, work = carried_out(job)
    check(job, lines, result)
    assert isinstance(work, GridWork)
    found = result["measures"]
    assert found["fewer_than_demonstration"] == 36 - found["steps"]
    assert found["more_than_shortest"] == found["steps"] - 36
    assert lines[-1]["evaluation"] == {name: found[name] for name in job.curve}
    (walk,) = result["paths"]
    assert len(walk["path"]) == found["steps"] + 1
    assert (walk["path"][0], walk["start"]) == (walk["demonstration"][0],) * 2
    assert len(walk["demonstration"]) == 36 + 1
    assert (walk["path"][-1] == walk["goal"]) == (found["optimal"] == 1.0)  # 36 is the shortest


def test_a_cloned_table_follows_the_demonstration() -> None:
    job = GridJob(world="basin", regime="cloning", frames=0)
    work = job.begin()
    assert work.training is None
    result = work.result()
    assert set(result["measures"]) == set(job.measures)
    assert result["measures"]["steps"] == result["demonstration"] == 63
    assert result["measures"]["more_than_shortest"] == 63 - 35
    assert work.state()["learner"]["network"].keys() == work.learner.network.state_dict().keys()


def test_values_apart_have_nothing_in_common() -> None:
    for apart in (False, True):
        job = GridJob(world="tree", regime="standard", frames=1_024, apart=apart)
        work = job.begin()
        list(work.training.run())
        assert work.result()["paths"] == []  # a tree has no board
        common = dict(work.learner.network.named_parameters())["in_common"]
        assert (float(common.detach()) == 0.0) == apart


@pytest.mark.parametrize("regime", ["backplay", "reverse"])
def test_a_gym_job(regime: str) -> None:
    job = GymJob(
        task="cartpole", regime=regime, frames=1_024, num_envs=2, evaluations=2, final_episodes=4
    )
    lines, result, _ = carried_out(job)
    check(job, lines, result)
    assert result["demonstrations"] == [500]  # the script balances to the end
    assert result["measures"]["return"] == result["measures"]["steps"]  # 1 a step
    kept = result["episode"]
    env = gym.make("CartPole-v1")
    env.reset(seed=kept["seed"])
    ended = [env.step(action)[2] for action in kept["actions"]]
    assert kept["return"] == len(ended)
    assert ended == [False] * (len(ended) - 1) + [True]  # the pole falls where it fell


def test_a_theory_job_finds_what_the_study_finds() -> None:
    job = TheoryJob(study="trials", seed=3, quick=True)
    work = job.begin()
    assert work.training is None
    result = plain(work.result())
    study = next(s for s in run_studies(Sizes.quick(), seed=3) if s.name == "trials")
    assert result["study"] == study.as_json()
    for finding in study.findings:
        assert result["measures"][f"{finding.claim} | {finding.where}"] == finding.measured
    words = [finding.verdict for finding in study.findings]
    assert result["measures"]["holds"] == words.count("holds")
    assert work.state() == {}
