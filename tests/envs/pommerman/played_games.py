"""What the tests of the interfaces share: games played once, actions of a learner."""

from __future__ import annotations

from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

from backplay.demos import Demonstration
from backplay.envs.pommerman.demonstrations import Library, make_games
from backplay.envs.pommerman.recordings import Perspective

ENV = "Backplay/PommermanFFA-v0"


@cache
def library() -> Library:
    """Four games to train on, one held out."""
    return make_games(4, held_out=1, seed=5)


@cache
def perspectives(name: Any = "winner") -> list[Perspective]:
    """The games to train on, from the winner's or the runner-up's seat."""
    return [game.seen_by(name) for game in library().training]


@cache
def demonstrations() -> list[Demonstration]:
    """The same as demonstrations of the env."""
    env = gym.make(ENV)
    return [perspective.record(env) for perspective in perspectives()]


def walks(steps: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Random actions [steps, ...]; one in twenty is a bomb, so that learners live a while."""
    rng = np.random.default_rng(seed)
    moves = rng.integers(5, size=(steps, *shape))
    return np.where(rng.random((steps, *shape)) < 0.05, 5, moves)
