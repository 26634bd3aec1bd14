"""Tasks in environments of our own: a chain with a trap, a bridge on which steps slip."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym

from backplay.demos import Demonstration
from backplay.envs import CHAIN, SLIPPERY, chain, slippery
from backplay.paper.sparse_tasks.task import Task
from backplay.restore.rollout import AnyEnv

LENGTH, SLIP = 10, 0.08  # of the bridge
# The same settings for both trainers.
_OURS = {
    "num_steps": 64, "minibatch_size": 128, "passes": 4, "learning_rate": 1e-3,
    "entropy_coefficient": 0.01, "value_lambda": None,
}  # fmt: skip
_SB3 = {"n_steps": 64, "batch_size": 128, "n_epochs": 4, "learning_rate": 1e-3, "ent_coef": 0.01}


def task(env: str, demonstrate: Callable[[AnyEnv], Demonstration], **more: Any) -> Task:
    """A task of ours by its id."""
    make = partial(gym.make, env, disable_env_checker=True)
    return Task(title=env, make=make, demonstrate=lambda: demonstrate(make()), **more)


OURS = {
    "chain": task(CHAIN, chain.demonstration, frames=150_000, ours=_OURS, sb3=_SB3, seconds=250.0),
    "slippery": task(
        SLIPPERY, slippery.demonstration, frames=150_000, ours=_OURS, sb3=_SB3, seconds=250.0,
        best=slippery.best(LENGTH, SLIP), episodes=400,
    ),
}  # fmt: skip
"""By name."""
