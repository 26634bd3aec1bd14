"""Tasks of Gymnasium, each with a script of one line that plays it, and of our own environments.

Ours are a chain with a trap, and a bridge on which steps slip.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from backplay.demos import Demonstration
from backplay.demos.check import check
from backplay.demos.record import record
from backplay.envs import CHAIN, SLIPPERY, chain, slippery
from backplay.paper.sparse_tasks.task import Script, Task, best_of_ten
from backplay.restore.rollout import AnyEnv


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


class GoalReward(gym.Wrapper[Any, Any, Any, Any]):
    """1 for reaching the goal and 0 else, instead of a cost for every step.

    A cost for every step is a hint: where the agent has been often looks worse than where it has
    not, so that an eager enough PPO is driven up the hill without ever having seen the flag.
    """

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, terminated, truncated, info = self.env.step(action)
        return observation, float(terminated), terminated, truncated, info


def flag(**options: Any) -> AnyEnv:
    """MountainCar, with a reward at the flag only."""
    return GoalReward(gym.make("MountainCar-v0", **options))


def drive() -> Demonstration:
    """Push the way the car rolls; checked."""
    env = flag()
    try:
        made = record(env, push, seed=7)
        check(env, made)
    finally:
        env.close()
    return made


FLAG = {
    "flag": Task(
        title="MountainCar-v0, a reward at the flag only", make=flag, demonstrate=drive,
        frames=200_000, episodes=100, seconds=90.0,
        ours={
            "learning_rate": 2e-3, "passes": 8,
            # Advantages as they are: scaled to deviation 1 they are mere noise as long as no reward
            # came, and now and then that noise alone drives plain PPO up the hill.
            "normalise_advantages": "none",
            "entropy_coefficient": 0.001, "value_lambda": None,
        },
    ),
}  # fmt: skip
"""What `backplay demo` trains on, by name."""


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
