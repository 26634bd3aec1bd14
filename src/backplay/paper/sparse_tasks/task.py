"""A task: an env, one demonstration of it, and what the trainers are told.

Comes in: functions that make the env and the demonstration. Goes out: a value that jobs name.
Nothing is made, and no env's package imported, before somebody calls one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.restore.rollout import AnyEnv, roll

Script = Callable[[NDArray[Any]], Any]
"""From an observation to an action."""

TRIES = 10  # episodes of a script, of which the best is the demonstration


@dataclass(frozen=True, kw_only=True)
class Task:
    """An env, and somebody who plays it well enough to be learned from."""

    title: str
    """What a page calls it."""
    make: Callable[..., AnyEnv]
    """The plain env; `render_mode` may be given."""
    demonstrate: Callable[[], Demonstration]
    """Plays one episode of it."""
    frames: int
    """Its own budget."""
    best: float = 1.0
    """Success of the best policy from the true start."""
    patience: float | None = None
    """Of training episodes; Standard has the env's own time limit, the default its own."""
    ours: Mapping[str, Any] = field(default_factory=dict)
    """Settings of our PPO other than its defaults, see `PPOConfig`."""
    sb3: Mapping[str, Any] = field(default_factory=dict)
    """Settings of Stable-Baselines3's PPO other than its defaults."""
    episodes: int = 200
    """Episodes of each measurement at the end."""
    on_the_way: int = 20
    """Episodes of a measurement on the way."""
    seconds: float = 250.0
    """What a million frames take one core, roughly."""


def best_of_ten(make: Callable[..., AnyEnv], script: Script) -> Demonstration:
    """What a script plays: the episode of ten with the highest return."""
    env = make()
    best = max(range(TRIES), key=lambda seed: earned(env, script, seed))
    return record(env, script, seed=best)


def earned(env: AnyEnv, script: Script, seed: int) -> float:
    """The sum of rewards of one episode."""
    played = roll(env, lambda seen: script(np.asarray(seen)), seed=seed)
    return float(sum(played.rewards.tolist()))
