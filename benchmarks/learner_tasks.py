"""Small tasks of different kinds, on which the learner's defaults are chosen.

Each has one demonstration and needs less than a minute of one core. Comes in: a name. Goes out: how
to make the env, and the demonstration.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
from learner_envs import KeyDoor, Pocket, SwingUp, around, plan, pump
from mistakes import Mistakes

import backplay as bp
from backplay.paper.sparse_tasks.classic import OURS, push, push_smoothly, swing
from backplay.paper.sparse_tasks.grid_person import OneLayout
from backplay.paper.sparse_tasks.minigrid import MINIGRID, demonstration, door_key, four_rooms
from backplay.paper.sparse_tasks.robotics import LARGE_MAZE, pointmaze
from backplay.paper.sparse_tasks.robotics import demonstration as steered
from backplay.paper.sparse_tasks.task import best_of_ten
from backplay.train.environments import make_env


def lake_policy(name: str) -> Callable[[Any], int]:
    """A good policy of slippery FrozenLake, by value iteration; later counts for less."""
    table = gym.make(name).unwrapped.P
    values = np.zeros(len(table))
    for _ in range(3_000):
        gains = np.array(
            [
                [sum(p * (r + 0.99 * values[s] * (not over)) for p, s, r, over in table[cell][a])
                 for a in range(4)]
                for cell in range(len(table))
            ]
        )  # fmt: skip
        if np.abs(values - gains.max(1)).max() < 1e-9:
            break
        values = gains.max(1)
    best = gains.argmax(1)
    return lambda seen: int(best[int(seen)])


@dataclass(frozen=True)
class Small:
    """One task."""

    make: Callable[[], gym.Env]
    demonstrate: Callable[[], bp.Demonstration]
    frames: int
    kind: str
    """What it stands for."""
    success: str | None = None
    best: float = 1.0
    """Success of the best policy from the true start, about."""


def scripted(make: Callable[[], gym.Env], script: Callable[[Any], Any], *rest: Any, **more: Any):
    return Small(make, partial(best_of_ten, make, script), *rest, **more)


def key_door(frames: int, kind: str, **arguments: Any) -> Small:
    make = partial(gym.wrappers.TimeLimit, max_episode_steps=10_000)
    return Small(
        lambda: make(KeyDoor(**arguments)),
        lambda: bp.record(make(KeyDoor(**arguments)), plan(KeyDoor(**arguments)), seed=0),
        frames, kind,
    )  # fmt: skip


def page_doors(frames: int, kind: str) -> Small:
    """The grid of docs/own-environment.md."""
    page = Path(__file__).parent.parent / "docs" / "own-environment.md"
    found = re.search(r"<!-- file: key_door.py -->\n```python\n(.*?)```", page.read_text(), re.S)
    assert found is not None
    space: dict[str, Any] = {"__name__": "key_door"}
    exec(found[1], space)
    return Small(
        space["KeyDoor"], lambda: bp.record(space["KeyDoor"](), space["player"], seed=0), frames,
        kind,
    )  # fmt: skip


def mistakes(prize: float, cost: float) -> Small:
    def make() -> gym.Env:
        return gym.wrappers.TimeLimit(Mistakes(prize, cost), 60)

    way = [(3 * place + 1) % 4 for place in range(12)]
    return Small(make, lambda: bp.record(make(), way, seed=0), 40_000, "mistakes cost most")


def paid(task: Small, times: float, kind: str) -> Small:
    """The same with other units of rewards."""

    def make() -> gym.Env:
        return gym.wrappers.TransformReward(task.make(), lambda reward: times * reward)

    def demonstrate() -> bp.Demonstration:
        return bp.record(make(), list(task.demonstrate().actions), seed=0)

    return replace(task, make=make, demonstrate=demonstrate, kind=kind)


def minigrid(name: str, layout: int, play: Any, frames: int, kind: str) -> Small:
    def make():
        return OneLayout(make_env(name, None), layout)

    return Small(make, lambda: demonstration(make, play), frames, kind)


def classic(name: str, script: Any, frames: int, kind: str, **more: Any) -> Small:
    return scripted(partial(gym.make, name), script, frames, kind, **more)


CHOOSE = {
    "mountaincar": classic("MountainCar-v0", push, 150_000, "vector, discrete, costs"),
    "acrobot": classic("Acrobot-v1", swing, 60_000, "vector, discrete, costs"),
    "car-continuous": classic(
        "MountainCarContinuous-v0", push_smoothly, 80_000, "vector, continuous, costs and reward"
    ),
    "pocket": scripted(Pocket, around, 120_000, "unbounded vector, continuous, sparse"),
    "pocket-units": scripted(
        partial(Pocket, 50.0), partial(around, most=50.0), 120_000,
        "unbounded vector, continuous in units of 50, sparse",
    ),
    "swing-up": Small(
        SwingUp, lambda: bp.record(SwingUp(), pump, seed=0), 300_000,
        "vector, continuous, costs alone",
    ),
    "doorkey": minigrid(
        "MiniGrid-DoorKey-8x8-v0", 3, door_key, 40_000, "Dict with image of categories, sparse"
    ),
    "keydoor": key_door(300_000, "raw coordinates, sparse"),
    "doors-page": page_doors(200_000, "raw coordinates, sparse, a key to be picked up"),
    "keydoor-cost": key_door(150_000, "raw coordinates, cost per step", size=11, cost=0.01),
    "keydoor-dict": key_door(120_000, "Dict of vectors and numbers, sparse", size=9, seen="dict"),
    "keydoor-planes": key_door(60_000, "image of planes, sparse", size=9, seen="planes"),
    "lake": Small(
        partial(gym.make, "FrozenLake8x8-v1"),
        lambda: best_of_ten(partial(gym.make, "FrozenLake8x8-v1"), lake_policy("FrozenLake8x8-v1")),
        150_000, "discrete observation, slippery, sparse", best=0.85,
    ),
    "point-large": Small(
        partial(pointmaze, *LARGE_MAZE), partial(steered, *LARGE_MAZE), 400_000,
        "unbounded vector, continuous, sparse, long",
    ),
}  # fmt: skip
CHOOSE |= {
    "doors-cents": paid(CHOOSE["doors-page"], 0.01, "raw coordinates, a reward of 0.01"),
    "planes-hundred": paid(CHOOSE["keydoor-planes"], 100.0, "image of planes, a reward of 100"),
    "mistakes-cents": mistakes(0.01, -1.0),
    "mistakes-free": mistakes(0.0, -100.0),
}
"""To choose on, with two seeds; reported on others."""


def descend(observation: np.ndarray) -> int:
    """LunarLander: Gymnasium's own rules of thumb."""
    from gymnasium.envs.box2d.lunar_lander import heuristic

    discrete = SimpleNamespace(unwrapped=SimpleNamespace(continuous=False))
    return int(heuristic(discrete, observation))


UMAZE = ("PointMaze_UMaze-v3", (1, 1), (3, 1))

UNSEEN = {
    "fourrooms": minigrid(
        "MiniGrid-FourRooms-v0", 3, four_rooms, 100_000, "Dict with image of categories, sparse"
    ),
    "umaze": Small(
        partial(pointmaze, *UMAZE), partial(steered, *UMAZE), 80_000,
        "unbounded vector, continuous, sparse",
    ),
    "keycorridor": Small(
        MINIGRID["keycorridor"].make, MINIGRID["keycorridor"].demonstrate, 300_000,
        "vector of zeros and ones, sparse, long",
    ),
    "chain": Small(
        OURS["chain"].make, OURS["chain"].demonstrate, 150_000, "discrete, a trap that pays",
    ),
    "keydoor-large": key_door(400_000, "raw coordinates, sparse", size=19),
    "lander": classic(
        "LunarLander-v3", descend, 200_000, "vector, discrete, dense", success="return>=150"
    ),
}  # fmt: skip
"""To report on alone."""

TASKS = {**CHOOSE, **UNSEEN}
