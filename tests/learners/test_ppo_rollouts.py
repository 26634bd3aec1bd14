"""PPO's rollouts of any observation, and of batched environments with their own network."""

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import probes
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from probe_learners import CONFIG, learner_for
from torch import Tensor, nn

from backplay.errors import BackplayError
from backplay.learners import PPO, PPOConfig, make_network

torch.set_num_threads(1)


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(2, start=3),
        spaces.MultiDiscrete([2, 3]),
        spaces.MultiBinary(4),
        spaces.Box(0, 255, (7, 7, 3), np.uint8),
        spaces.Box(0, 255, (4, 84, 84), np.uint8),
        spaces.Box(-1, 1, (3,), np.float64),
        spaces.Dict(
            image=spaces.Box(0, 10, (5, 5, 2), np.int64),
            mission=spaces.Text(10),
            nested=spaces.Dict(direction=spaces.Discrete(4)),
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "actions", [spaces.Discrete(3, start=2), spaces.Box(-1, 1, (2, 2))], ids=str
)
def test_rollouts_keep_any_observation(space: Any, actions: Any) -> None:
    class Random(gym.Env[Any, Any]):
        observation_space = space
        action_space = actions
        clock = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
            super().reset(seed=seed)
            if seed is not None:
                self.observation_space = copy.deepcopy(space)
                self.observation_space.seed(seed)
            self.clock = 0
            return self.observation_space.sample(), {}

        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            assert self.action_space.contains(action)
            self.clock += 1
            return self.observation_space.sample(), 1.0, False, self.clock == 3, {}

    envs = probes.vector(Random, envs=2)
    network = make_network(space, actions, seed=0)
    learner = PPO(network, actions, PPOConfig(num_steps=5, minibatch_size=5, passes=1), seed=0)
    observations, _ = envs.reset(seed=0)
    rollout = learner.collect(envs, observations)
    metrics = learner.update(rollout)
    assert all(np.isfinite(number) for number in metrics.values())
    assert rollout.frames == 10
    assert rollout.truncated.sum() == 2
    assert [step for step, _ in rollout.final_infos] == [2]

    def compare(stored: Any, given: Any) -> None:
        if isinstance(stored, dict):
            assert "mission" not in stored
            for key in stored:
                compare(stored[key], given[key])
        else:
            np.testing.assert_array_equal(stored[0], given)
            assert stored.numpy().dtype == given.dtype

    compare(rollout.observations, observations)


class CellNetwork(nn.Module):
    """A table over compact integer observations (maze, cell), as a user might bring."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(2, 3, 3))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        maze, cell = observations.long().unbind(-1)
        row = self.table[maze, cell]
        return row[:, :2], row[:, 2]


class BatchedCells(VectorEnv[Any, Any, Any]):
    """A native batched env: one step, pays maze · cell; truncated, with batched final_obs."""

    def __init__(self, *, with_final: bool = True) -> None:
        self.num_envs = 6
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self.single_action_space = spaces.Discrete(2)
        self.cells = np.array([[m, c] for m in range(2) for c in range(3)], np.int16)
        self.with_final = with_final

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return self.cells, {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        rewards = self.cells.prod(1).astype(np.float64)
        ended = np.ones(6, np.bool_)
        final = np.zeros_like(self.cells)  # maze 0, cell 0: its value is 0 / (1 - γ)
        infos = {"final_obs": final, "_final_obs": ended} if self.with_final else {}
        return self.cells, rewards, ~ended, ended, infos


def test_a_native_batched_env_with_its_own_network() -> None:
    envs = BatchedCells()
    config = PPOConfig(**(CONFIG | {"learning_rate": 0.05}))
    learner = PPO(CellNetwork(), envs.single_action_space, config, seed=0)
    observations, _ = envs.reset()
    for update in range(50):
        rollout = learner.collect(envs, observations)
        assert rollout.observations.numpy().dtype == np.int16
        learner.update(rollout, progress=update / 50)
    np.testing.assert_allclose(learner.values(envs.cells), [0, 0, 0, 0, 1, 2], atol=0.05)


def test_missing_final_observations_are_named() -> None:
    envs = BatchedCells(with_final=False)
    learner = PPO(CellNetwork(), envs.single_action_space, PPOConfig(num_steps=2), seed=0)
    with pytest.raises(BackplayError, match="final_obs"):
        learner.collect(envs, envs.reset()[0])


def test_next_step_autoreset_is_refused() -> None:
    envs = SyncVectorEnv([probes.ConstantReward])
    with pytest.raises(BackplayError, match="SAME_STEP"):
        learner_for(envs).collect(envs, envs.reset(seed=0)[0])
