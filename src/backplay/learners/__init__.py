"""Learners: PPO, its networks and its advantages."""

from backplay.learners.advantages import estimate_advantages, successor_values
from backplay.learners.config import PPOConfig
from backplay.learners.distributions import Distribution, distribution_for
from backplay.learners.networks import make_network
from backplay.learners.ppo import PPO
from backplay.learners.rollout import Rollout

__all__ = [
    "PPO",
    "Distribution",
    "PPOConfig",
    "Rollout",
    "distribution_for",
    "estimate_advantages",
    "make_network",
    "successor_values",
]
