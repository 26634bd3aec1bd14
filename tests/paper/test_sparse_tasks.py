"""The tasks that regimes are compared on, and both trainers in them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import backplay as bp
from backplay.errors import BackplayError
from backplay.paper.regimes import REGIMES, curriculum
from backplay.paper.sparse_tasks.grid_person import LEFT
from backplay.paper.sparse_tasks.job import GymJob
from backplay.paper.sparse_tasks.tasks import TASKS
from backplay.runs import open_run
from backplay.runs.execute import carry_out, prepare

STEPS = {
    "mountaincar": 114, "mountaincar-continuous": 105, "acrobot": 65, "keycorridor": 51,
    "obstructed": 43, "fourrooms": 13, "doorkey": 14, "pointmaze": 339, "chain": 20,
    "slippery": 14,
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_a_demonstration_reaches_the_goal_and_restores_exactly(name: str) -> None:
    task = TASKS[name]
    demo = task.demonstrate()
    assert len(demo) == STEPS[name]
    assert demo.terminated
    assert bp.check(task.make(), demo, max_steps=3_000).exact


@pytest.mark.parametrize("name", ["keycorridor", "obstructed", "pointmaze", "chain", "slippery"])
def test_reward_comes_at_the_goal_alone(name: str) -> None:
    rewards = TASKS[name].demonstrate().rewards
    assert np.flatnonzero(rewards).tolist() == [len(rewards) - 1]


def test_the_continuous_task_costs_every_step() -> None:
    rewards = TASKS["mountaincar-continuous"].demonstrate().rewards
    assert np.allclose(rewards[:-1], -0.1)
    assert rewards[-1] == pytest.approx(99.9)


def test_a_view_has_one_kind_colour_and_state_in_every_cell() -> None:
    view = TASKS["keycorridor"].make()
    seen, _ = view.reset()
    assert seen in view.observation_space
    cells = seen[:-4].reshape(7, 7, 20)
    parts = np.split(cells, [11, 17], axis=2)
    assert [part.sum(axis=2).tolist() for part in parts] == [np.ones((7, 7)).tolist()] * 3
    image = np.moveaxis(view.unwrapped.gen_obs()["image"], 2, 0)
    for part, channel in zip(parts, image, strict=True):
        assert part.argmax(axis=2).tolist() == channel.tolist()
    assert seen[-4:].tolist() == np.eye(4)[view.unwrapped.agent_dir].tolist()


def test_every_episode_has_the_same_layout() -> None:
    view = TASKS["keycorridor"].make()
    first, _ = view.reset(seed=1)
    view.step(LEFT)
    assert view.reset(seed=2)[0].tolist() == first.tolist()


@pytest.mark.parametrize("regime", REGIMES)
def test_every_regime_is_a_curriculum_that_ends_at_the_true_start_or_not(regime: str) -> None:
    made = curriculum(regime, [30, 100], 10_000, seed=3)
    bp.check_curriculum(made, [30, 100])
    assert curriculum(regime, [30, 100], 10_000, seed=3) == made


def test_the_papers_windows_double_and_adjoin() -> None:
    made = curriculum("backplay", [60], 80_000)
    assert isinstance(made, bp.Backplay)
    assert [(w.frames, w.lo, w.hi) for w in made.windows] == [
        (0, 0, 4), (14_000, 4, 8), (28_000, 8, 16), (42_000, 16, 32), (56_000, 32, 64),
        (70_000, 64, 64),
    ]  # fmt: skip
    assert len(curriculum("backplay", [60], 1).windows) == 2


def test_an_unknown_regime_is_refused() -> None:
    with pytest.raises(BackplayError, match="uniform"):
        curriculum("magic", [10], 100)


SMALL = {
    "task": "chain", "trainer": "sb3", "seed": 3, "frames": 1_000, "num_envs": 4,
    "evaluations": 2, "final_episodes": 4,
}  # fmt: skip


@pytest.mark.parametrize("regime", ["default", "reverse", "standard"])
def test_stable_baselines3_stopped_after_every_update_ends_with_the_same_bytes(
    tmp_path: Path, regime: str
) -> None:
    job = GymJob(regime=regime, **SMALL)
    for name in ("alone", "stopped"):
        prepare(tmp_path / name, job)
    assert carry_out(tmp_path / "alone")
    before = torch.get_rng_state(), np.random.get_state()[1].tolist()  # noqa: NPY002
    stops = 0
    while not carry_out(tmp_path / "stopped", stop=lambda: True):
        stops += 1
        torch.manual_seed(stops)  # what others draw must not matter
        np.random.seed(stops)  # noqa: NPY002
        before = torch.get_rng_state(), np.random.get_state()[1].tolist()  # noqa: NPY002
    assert stops == (2 if regime == "reverse" else 3)  # walks take frames, too
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.random.get_state()[1].tolist() == before[1]  # noqa: NPY002
    for file in ("metrics.jsonl", "result.json"):
        assert (tmp_path / "alone" / file).read_bytes() == (
            tmp_path / "stopped" / file
        ).read_bytes()
    lines = [
        json.loads(line) for line in (tmp_path / "alone/metrics.jsonl").read_text().split("\n")[:-1]
    ]
    updates = [1, 3, 4] if regime == "reverse" else [1, 2, 3, 4]
    assert [line["frames"] // 256 for line in lines] == updates
    assert sum(tries for line in lines for _, tries, _ in line["by_steps_back"]) > 100
    assert lines[0]["learner"]["n_updates"] == 4
    assert set(lines[-1]["evaluation"]) == set(job.curve)
    assert set((open_run(tmp_path / "alone").result or {})["measures"]) == set(job.measures)


def test_measuring_does_not_change_what_stable_baselines3_learns() -> None:
    def learned(*, watched: bool) -> list[float]:
        work = GymJob(regime="uniform", **SMALL).begin()
        found = []
        for progress in work.training.run():
            if watched:
                work.result()
            found.append(progress.metrics["value_loss"])
        work.close()
        return found

    assert learned(watched=True) == learned(watched=False)


def test_a_state_of_another_task_is_refused() -> None:
    works = [
        GymJob(**{**SMALL, "task": task}, regime="uniform").begin()
        for task in ("chain", "mountaincar")
    ]
    with pytest.raises(BackplayError, match="another run"):
        works[1].training.load_state(works[0].training.state())


@pytest.mark.slow
def test_the_default_learns_what_standard_does_not() -> None:
    def success(regime: str) -> float:
        work = GymJob(task="slippery", regime=regime, seed=1, frames=80_000, evaluations=1).begin()
        list(work.training.run())
        found = work.result()["measures"]["success"]
        work.close()
        return float(found)

    best = TASKS["slippery"].best
    assert success("default") > 0.75 * best
    assert success("standard") < 0.05
