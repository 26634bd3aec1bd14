"""Numbers that are none: the run stops, names where they came from, and what was saved is sound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import backplay as bp
from backplay.errors import BackplayError
from backplay.learners import PPOConfig
from backplay.runs import create
from backplay.runs.execute import drive
from backplay.train import TrainConfig, Training
from backplay.train.job import progress_line
from backplay.train.progress import Progress


class Breaks(gym.Wrapper[Any, Any, Any, Any]):
    """Answers NaN or an infinity in every so many steps of all its copies together."""

    steps = 0

    def __init__(self, env: gym.Env[Any, Any], field: str, every: int) -> None:
        super().__init__(env)
        self._field, self._every = field, every

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        Breaks.steps += 1
        if Breaks.steps % self._every == 0:
            if self._field == "reward":
                reward = float("inf")
            else:
                observation = np.array(observation)
                observation[2] = np.nan
        return observation, reward, *rest


class Trained:
    """The work of a run that keeps what every run keeps."""

    def __init__(self, training: Training) -> None:
        self.training = training

    def line(self, progress: Progress) -> dict[str, Any]:
        return progress_line(progress)


def training(field: str, every: int, **ppo: Any) -> Training:
    def make() -> gym.Env[Any, Any]:
        return Breaks(gym.make("CartPole-v1"), field, every)

    config = TrainConfig(
        frames=2048, num_envs=4, evaluate_every=0, exact_resume=False, final_episodes=1,
        ppo=PPOConfig(num_steps=32, **ppo),
    )  # fmt: skip
    demo = bp.record(make(), [0, 1] * 5, seed=1)
    made = Training(make, [demo], bp.Uniform(), config)
    Breaks.steps = 0
    return made


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("observation", r"(final )?observation\[2\] of env [0-3], step \d+ of the rollout, after"),
        ("reward", r"reward of env [0-3], step \d+ of the rollout, after"),
    ],
)
def test_a_run_stops_where_an_env_answers_no_number(tmp_path: Path, field: str, words: str) -> None:
    """In 0.2 % of the steps, as was seen; the last checkpoint before it is sound."""
    run = create(tmp_path / "run", {"job": {}, "threads": 1})
    work: Any = Trained(training(field, 500))
    with pytest.raises(BackplayError, match=words) as raised:
        drive(run, work, save_seconds=0)
    assert raised.value.got in ("nan", "inf")
    loaded = run.load()
    assert 0 < loaded.state["frames"] < 1000
    network = loaded.state["learner"]["network"]
    assert all(np.isfinite(weights).all() for weights in network.values())
    assert run.result is None


def test_a_run_stops_where_learning_leaves_the_numbers() -> None:
    wild = training("reward", 10**9, learning_rate=1e38)
    with pytest.raises(BackplayError, match=r"left the numbers, after .*finite losses and weights"):
        list(wild.run())


def test_weights_that_are_no_numbers_are_not_loaded() -> None:
    made = training("reward", 10**9)
    state = made.state()
    name, _ = next(made.learner.network.named_parameters())
    state["learner"]["network"][name].reshape(-1)[0] = np.nan
    with pytest.raises(BackplayError, match="another run"):
        made.load_state(state)
