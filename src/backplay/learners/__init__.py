"""Learners: PPO, its networks and its advantages; imitation by cloning, DAgger and GAIL."""

# ruff: noqa: E402  # the clear error comes first

from backplay.extras import require

require("torch")

from backplay.learners.cloning import CloningProgress, Pairs, clone
from backplay.learners.config import PPOConfig, Teacher
from backplay.learners.dagger import DAgger
from backplay.learners.distributions import Distribution, distribution_for
from backplay.learners.gail import GAIL, Discriminator, GAILConfig
from backplay.learners.networks import load_weights, make_network
from backplay.learners.ppo import PPO
from backplay.learners.rollout import Rollout, estimate_advantages, successor_values
