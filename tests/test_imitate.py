"""GAIL on recorded demonstrations: pairs of any observations, and runs that go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces

import backplay as bp
from backplay.curricula import Standard, Uniform
from backplay.demos import Demonstration
from backplay.errors import BackplayError
from backplay.learners import GAIL, PPOConfig
from backplay.paper.sparse_tasks.job import GymJob
from backplay.train import TrainConfig
from backplay.train.env_job import EnvJob, gail, pairs

torch.set_num_threads(1)


class Worded(gym.Env[Any, Any]):
    """Three steps seen as a number, a place and a text."""

    def __init__(self) -> None:
        number, place = spaces.Box(-1, 9, (2,), np.float32), spaces.Discrete(4)
        self.observation_space = spaces.Dict({"n": number, "at": place, "say": spaces.Text(9)})
        self.action_space = spaces.Discrete(3)
        self.clock = 0

    def _seen(self) -> dict[str, Any]:
        return {"n": np.full(2, self.clock, np.float32), "at": np.int64(self.clock), "say": "go"}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.clock = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.clock += 1
        return self._seen(), 1.0, self.clock == 3, False, {}


def test_pairs_leave_out_texts_and_the_end() -> None:
    demo = bp.record(Worded(), [2, 0, 1], seed=0)
    seen, done = pairs([demo, demo])
    assert set(seen) == {"n", "at"}
    assert seen["n"].shape == (6, 2)
    assert seen["at"].tolist() == [0, 1, 2] * 2
    assert done.tolist() == [2, 0, 1] * 2
    learner = gail(Worded, [demo], seed=0)
    assert learner.func is GAIL


def test_who_has_no_actions_cannot_be_imitated() -> None:
    demo = bp.record(Worded(), [2, 0, 1], seed=0)
    states_alone = Demonstration(
        demo.observations, demo.rewards, demo.terminations, demo.truncations, None, demo.states,
        demo.restorer,
    )  # fmt: skip
    with pytest.raises(BackplayError, match="actions"):
        pairs([states_alone])


def test_actions_of_several_forms_are_refused() -> None:
    demo = bp.record(gym.make("CartPole-v1"), [0, 1, 0], seed=1)
    demo.actions[1] = [1, 2]
    with pytest.raises(BackplayError, match="What is imitated"):
        pairs([demo])


@pytest.mark.parametrize("env", ["CartPole-v1", "MountainCarContinuous-v0"])
def test_a_run_goes_on_as_if_it_had_not_stopped(env: str, tmp_path: Path) -> None:
    made = gym.make(env, max_episode_steps=60)
    made.action_space.seed(0)
    demo = bp.record(made, lambda seen: made.action_space.sample(), seed=0)
    demo.save(tmp_path / "demo.npz")
    ppo = PPOConfig(num_steps=32, minibatch_size=64, passes=1)
    config = TrainConfig(frames=512, num_envs=4, evaluate_every=0, final_episodes=1, ppo=ppo)
    starts = Uniform() if env == "CartPole-v1" else Standard()
    job = EnvJob.of(env, starts, config, {"max_episode_steps": 60}, "gail")
    assert job.setting == f"{env}, max_episode_steps=60"  # other arguments, another setting
    assert job.regime == f"gail+{type(starts).__name__.lower()}"

    def begun() -> Any:
        return job.begin(files=[tmp_path / "demo.npz"]).training

    whole, half, again = begun(), begun(), begun()
    lines = [(p.frames, p.metrics) for p in whole.run()]
    some = [(p.frames, p.metrics) for _, p in zip(range(2), half.run(), strict=False)]
    again.load_state(half.state())
    some += [(p.frames, p.metrics) for p in again.run()]
    assert some == lines
    assert "expert_recognised" in lines[-1][1]
    for a, b in zip(
        whole.learner.discriminator.parameters(), again.learner.discriminator.parameters(),
        strict=True,
    ):  # fmt: skip
        assert torch.equal(a, b)


def test_a_task_with_a_scripted_demonstration_is_imitated() -> None:
    job = GymJob(task="mountaincar", trainer="gail", regime="uniform", frames=2_048)
    assert job.setting == "MountainCar-v0, GAIL"
    training = job.begin().training
    assert isinstance(training.learner, GAIL)
    assert "discriminator_loss" in next(training.run()).metrics


def test_only_known_learners() -> None:
    with pytest.raises(BackplayError, match="learner"):
        EnvJob.of("CartPole-v1", Standard(), TrainConfig(), None, "magic")
