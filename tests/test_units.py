"""Actions without bounds: their size is the demonstration's, and nobody else says it."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import backplay as bp
from backplay.demos.doubts import BackplayWarning
from backplay.train import TrainConfig, Training


class Pushed(gym.Env[Any, Any]):
    observation_space = spaces.Box(-np.inf, np.inf, (1,))

    def __init__(self, low: float, high: float) -> None:
        self.action_space = spaces.Box(low, high, (2,), np.float32)

    def get_state(self) -> float:
        return self.place

    def set_state(self, state: float) -> None:
        self.place = state

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.place = 0.0
        return np.array([self.place], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place += float(action[0])
        ended = self.place > 100
        return np.array([self.place], np.float32), float(ended), ended, False, {}


@pytest.mark.parametrize(
    ("low", "high", "push", "warned"),
    [
        (-np.inf, np.inf, 40.0, True),
        (0.0, np.inf, 40.0, True),
        (-np.inf, np.inf, 3.0, False),
        (-50.0, 50.0, 40.0, False),
    ],
)
def test_actions_of_another_size_than_they_are_learned_in_are_said(
    low: float, high: float, push: float, warned: bool
) -> None:
    def make() -> gym.Env[Any, Any]:
        return gym.wrappers.TimeLimit(Pushed(low, high), 60)

    demo = bp.record(make(), lambda _: np.array([push, 0], np.float32), seed=0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        Training(make, [demo], bp.Uniform(), TrainConfig(num_envs=1, frames=64)).close()
    found = [str(one.message) for one in said if one.category is BackplayWarning]
    assert bool(found) == warned
    assert all("up to 40" in one for one in found)
