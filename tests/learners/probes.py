"""Probe environments: tiny tasks whose values and best actions are known exactly.

When a learner fails one of them, the probe's name says which part is wrong.
"""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import Tensor

Observation = npt.NDArray[np.float32]


class Probe(gym.Env[Observation, Any]):
    """A vector observation of one number and two actions, unless a probe says otherwise."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1, 1, (1,), np.float32)
        self.action_space: spaces.Space[Any] = spaces.Discrete(2)
        self.seen = 0.0
        self.clock = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        self.clock = 0
        self.seen = self.first()
        return self.observe(), {}

    def observe(self) -> Observation:
        return np.array([self.seen], np.float32)

    def first(self) -> float:
        return 0.0

    def coin(self) -> float:
        return float(self.np_random.choice([-1.0, 1.0]))


class ConstantReward(Probe):
    """One step, always 1: the value is 1. Tests the value loss alone."""

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        return self.observe(), 1.0, True, False, {}


class ObservedReward(Probe):
    """One step that pays what was seen, -1 or 1: the value is the observation."""

    def first(self) -> float:
        return self.coin()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        return self.observe(), self.seen, True, False, {}


class DelayedReward(Probe):
    """Two steps, the second pays 1: values γ and 1. Tests discounting."""

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self.clock += 1
        self.seen = 1.0
        return self.observe(), float(self.clock == 2), self.clock == 2, False, {}


class ActionReward(Probe):
    """One step that pays 1 for action 1 and -1 for action 0. Tests the policy loss alone."""

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        return self.observe(), 1.0 if action == 1 else -1.0, True, False, {}


class MatchReward(Probe):
    """One step that pays 1 when the action matches the sign seen, else -1."""

    def first(self) -> float:
        return self.coin()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        return self.observe(), 1.0 if (action == 1) == (self.seen > 0) else -1.0, True, False, {}


class EndlessReward(Probe):
    """Reward 1 at each step, stopped after `limit` steps: by truncation, or by termination.

    The clock cannot be seen. Truncated, the value is 1 / (1 - γ); terminated, it is the mean over
    the clock's positions of what is left.
    """

    def __init__(self, limit: int, *, terminates: bool) -> None:
        super().__init__()
        self.limit = limit
        self.terminates = terminates

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self.clock += 1
        stop = self.clock == self.limit
        return self.observe(), 1.0, stop and self.terminates, stop and not self.terminates, {}


class FinalObservation(Probe):
    """One free step, truncated in a state worth 1 / (1 - γ): the start's value is γ / (1 - γ).

    An episode starts in either state: -1 leads to 1 for nothing and is cut there; from 1 on each
    step pays 1. A learner that bootstraps from the next episode's first observation gets it wrong.
    """

    def first(self) -> float:
        return self.coin()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        self.clock += 1
        reward = float(self.seen > 0)
        cut = self.seen < 0 or self.clock == 3
        self.seen = 1.0
        return self.observe(), reward, False, cut, {}


class TargetAction(Probe):
    """One step with two continuous actions in [-1, 1], paying minus the distance squared.

    The target is (0.5 seen, 2): the second lies beyond the bounds, where the action is clipped.
    """

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def first(self) -> float:
        return self.coin()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        distance = float((action[0] - 0.5 * self.seen) ** 2 + (action[1] - 2.0) ** 2)
        return self.observe(), -distance, True, False, {}


class TwoChoices(Probe):
    """One step with two choices (of 2 and of 3): right are the sign seen, and number 5."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.MultiDiscrete([2, 3], start=[0, 4])

    def first(self) -> float:
        return self.coin()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        assert self.action_space.contains(action)
        reward = 0.5 * ((action[0] == 1) == (self.seen > 0)) + 0.5 * (action[1] == 5)
        return self.observe(), float(reward), True, False, {}


def vector(make: Callable[[], gym.Env[Any, Any]], envs: int = 8) -> SyncVectorEnv:
    """So many copies of an env, reset in the step an episode ends."""
    return SyncVectorEnv([make] * envs, autoreset_mode=AutoresetMode.SAME_STEP)


def train(learner: Any, make: Callable[[], gym.Env[Any, Any]], updates: int) -> dict[str, float]:
    """So many updates of a learner in eight such envs; what it says of the last."""
    envs = vector(make)
    observations, _ = envs.reset(seed=0)
    for _ in range(updates):
        rollout = learner.collect(envs, observations)
        metrics: dict[str, float] = learner.update(rollout)
        observations = rollout.last_observations
    return metrics


def same(left: Any, right: Any) -> bool:
    """Whether two states of a learner are equal to the bit."""
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return torch.equal(left, right) if isinstance(left, Tensor) else bool(left == right)
