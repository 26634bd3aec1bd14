"""Two demonstrations of one small corridor, and BackplayEnv on them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import backplay as bp
import envs_for_tests as envs

LENGTH = 4
SHORT, LONG = [1] * 4, [0, 1, 0, 1, 1, 1, 1]
WORKERS = 2
EPISODES = 250
CURRICULA = {
    "Backplay": bp.TrueStarts(
        bp.Backplay((bp.Window(0, 1, 4), bp.Window(1000, 3, 6))), 0.25, by_frames=False
    ),
    "Uniform": bp.Until(bp.Uniform(), at=1000),
    "Standard": bp.Standard(),
}


@functools.cache
def demos() -> list[bp.Demonstration]:
    """Two of different lengths; what is seen tells which one it is, and which step."""
    return [bp.record(envs.Corridor(LENGTH), actions, seed=1) for actions in (SHORT, LONG)]


def make(curriculum: Any, **kwargs: Any) -> bp.BackplayEnv:
    return bp.BackplayEnv(envs.Corridor(LENGTH), demos(), curriculum, **kwargs)


def luck(env: Any, n: int = 12) -> list[float]:
    """Where an always-right walk goes: on a slippery env, a matter of luck."""
    places = []
    for _ in range(n):
        observation, _, terminated, truncated, _ = env.step(1)
        places.append(float(np.asarray(observation).ravel()[0]))
        if terminated or truncated:
            break
    return places
