"""PPO learners of probe environments, and what they came to."""

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import probes
from gymnasium.vector import VectorEnv

from backplay.learners import PPO, PPOConfig, make_network

GAMMA = 0.8
CONFIG = {
    "num_steps": 16,
    "minibatch_size": 64,
    "passes": 8,
    "learning_rate": 0.01,
    "final_learning_rate": 0.0,
    "gamma": GAMMA,
    "entropy_coefficient": 0.0,
}


def learner_for(envs: VectorEnv[Any, Any, Any], seed: int = 0, **options: Any) -> PPO:
    network = make_network(
        envs.single_observation_space, envs.single_action_space, seed=seed, hidden=(16, 16)
    )
    return PPO(network, envs.single_action_space, PPOConfig(**(CONFIG | options)), seed=seed)


def train(make: Callable[[], gym.Env[Any, Any]], updates: int = 50, **options: Any) -> PPO:
    envs = probes.vector(make)
    learner = learner_for(envs, **options)
    observations, _ = envs.reset(seed=0)
    for update in range(updates):
        rollout = learner.collect(envs, observations)
        learner.update(rollout, progress=update / updates)
        observations = rollout.last_observations
    return learner


def value(learner: PPO, seen: float) -> float:
    return float(learner.values(np.array([[seen]], np.float32))[0])


def greedy(learner: PPO, seen: float) -> Any:
    return learner.act(np.array([[seen]], np.float32), greedy=True)[0]


def probability(learner: PPO, seen: float, action: int) -> float:
    """Share of an action among many sampled ones."""
    actions = learner.act(np.full((2000, 1), seen, np.float32))
    return float((actions == action).mean())
