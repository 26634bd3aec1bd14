"""Learners: PPO, its networks and its advantages; behavioural cloning."""

from backplay.learners.advantages import estimate_advantages, successor_values
from backplay.learners.cloning import CloningProgress, clone
from backplay.learners.config import PPOConfig
from backplay.learners.distributions import Distribution, distribution_for
from backplay.learners.networks import load_weights, make_network
from backplay.learners.ppo import PPO
from backplay.learners.rollout import Rollout
from backplay.learners.teaching import Teacher

__all__ = [
    "PPO",
    "CloningProgress",
    "Distribution",
    "PPOConfig",
    "Rollout",
    "Teacher",
    "clone",
    "distribution_for",
    "estimate_advantages",
    "load_weights",
    "make_network",
    "successor_values",
]
