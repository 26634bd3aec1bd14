"""Gymnasium's own tasks, each with a script of one line that plays it."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from backplay.paper.sparse_tasks.task import Script, Task, best_of_ten


def push(observation: NDArray[Any]) -> int:
    """MountainCar: push in the direction of the motion."""
    return 2 if observation[1] >= 0 else 0


def push_smoothly(observation: NDArray[Any]) -> NDArray[np.float32]:
    """MountainCarContinuous: the same with full force, which costs 0.1 a step."""
    return np.array([1.0 if observation[1] >= 0 else -1.0], np.float32)


def balance(observation: NDArray[Any]) -> int:
    """CartPole: push to where the pole falls."""
    return int(observation[2] + observation[3] > 0)


def swing(observation: NDArray[Any]) -> int:
    """Acrobot: torque in the direction in which the lower joint turns."""
    return 2 if observation[5] >= 0 else 0


def classic(env: str, script: Script, **more: Any) -> Task:
    """A task of Gymnasium by its id."""
    make = partial(gym.make, env)
    return Task(title=env, make=make, demonstrate=partial(best_of_ten, make, script), **more)


CLASSIC = {
    "mountaincar": classic("MountainCar-v0", push, frames=300_000),
    "mountaincar-continuous": classic(
        "MountainCarContinuous-v0", push_smoothly, frames=200_000,
    ),
    "cartpole": classic("CartPole-v1", balance, frames=200_000),
    "acrobot": classic("Acrobot-v1", swing, frames=200_000),
}  # fmt: skip
"""By name."""
