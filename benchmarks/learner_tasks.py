"""Small tasks of different kinds, on which the learner's defaults are chosen.

Each has one demonstration and needs less than a minute of one core. Comes in: a name. Goes out: how
to make the env, and the demonstration. Our own envs are written as a newcomer would write them:
plain coordinates, nothing scaled.
"""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from mistakes import Mistakes

import backplay as bp
from backplay.paper.sparse_tasks.classic import OURS, push, push_smoothly, swing
from backplay.paper.sparse_tasks.grid_person import OneLayout
from backplay.paper.sparse_tasks.minigrid import MINIGRID, demonstration, door_key, four_rooms
from backplay.paper.sparse_tasks.robotics import LARGE_MAZE, pointmaze
from backplay.paper.sparse_tasks.robotics import demonstration as steered
from backplay.paper.sparse_tasks.task import best_of_ten
from backplay.train.environments import make_env

MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))


class KeyDoor(gym.Env):
    """Fetch the key, open the door in the wall, reach the far corner; a reward there alone.

    Actions: up, down, left, right, use (pick the key up, open the door beside the agent).

    Args:
        size: cells along each side.
        seen: "vector" (row, column, key, door), "planes" (an image of zeros and ones) or "dict".
        cost: what a step costs.
    """

    def __init__(self, size: int = 15, seen: str = "vector", cost: float = 0.0) -> None:
        self.size, self.seen, self.cost, self.limit = size, seen, cost, 20 * size
        self.wall, self.door, self.key = size // 2, (size - 2, size // 2), (1, 1)
        self.goal = (0, size - 1)
        self.action_space = spaces.Discrete(5)
        place = spaces.Box(0, size - 1, (2,), np.float32)
        self.observation_space = {
            "vector": spaces.Box(0, size - 1, (4,), np.float32),
            "planes": spaces.Box(0, 1, (size, size, 4), np.uint8),
            "dict": spaces.Dict(
                agent=place, door=place, has_key=spaces.Discrete(2), open=spaces.MultiBinary(1)
            ),
        }[seen]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.has_key, self.open, self.steps = (self.size - 1, 0), 0, 0, 0
        return self.look(), {}

    def step(self, action):
        row, column = self.at
        if action == 4:
            near = abs(row - self.door[0]) + abs(column - self.door[1]) == 1
            self.open = int(self.open or (self.has_key and near))
            self.has_key = int(self.has_key or self.at == self.key)
        else:
            there = (row + MOVES[action][0], column + MOVES[action][1])
            inside = all(0 <= x < self.size for x in there)
            if inside and (there[1] != self.wall or (there == self.door and self.open)):
                self.at = there
        self.steps += 1
        won = self.at == self.goal
        return self.look(), float(won) - self.cost, won, self.steps >= self.limit, {}

    def look(self):
        if self.seen == "vector":
            return np.array([*self.at, self.has_key, self.open], np.float32)
        if self.seen == "dict":
            return {
                "agent": np.array(self.at, np.float32), "door": np.array(self.door, np.float32),
                "has_key": np.int64(self.has_key), "open": np.array([self.open], np.int8),
            }  # fmt: skip
        planes = np.zeros((self.size, self.size, 4), np.uint8)
        planes[self.at][0] = planes[self.goal][3] = 1
        planes[:, self.wall, 1] = 1
        planes[self.door][1] = 1 - self.open
        planes[self.key][2] = 1 - self.has_key
        return planes


def plan(env: KeyDoor) -> list[int]:
    """The fewest actions to the goal, found by search."""
    env.reset()
    first = (env.at, env.has_key, env.open)
    came: dict[Any, list[int]] = {first: []}
    queue = deque([first])
    while queue:
        state = queue.popleft()
        for action in range(5):
            env.at, env.has_key, env.open = state
            env.step(action)
            after = (env.at, env.has_key, env.open)
            if after not in came:
                came[after] = [*came[state], action]
                queue.append(after)
            if env.at == env.goal:
                return came[after]
    raise AssertionError("no way")


class Pocket(gym.Env):
    """A point that is pushed around a wall into a pocket: continuous, far from the origin.

    Seen: place in metres (0 to 10), speed; actions: force in two directions. A reward in the
    pocket alone.

    Args:
        most: the largest force in the units of actions.
    """

    def __init__(self, most: float = 1.0) -> None:
        self.most = most
        self.observation_space = spaces.Box(-np.inf, np.inf, (4,), np.float32)
        self.action_space = spaces.Box(-most, most, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = np.array([1.0, 1.0]) + self.np_random.uniform(-0.2, 0.2, 2)
        self.speed, self.steps = np.zeros(2), 0
        return self.look(), {}

    def look(self):
        return np.concatenate([self.place, self.speed]).astype(np.float32)

    def step(self, action):
        self.speed = 0.8 * self.speed + 0.1 * np.clip(np.asarray(action, float) / self.most, -1, 1)
        there = np.clip(self.place + self.speed, 0, 10)
        crosses = (self.place[0] < 5) != (there[0] < 5)
        if crosses and there[1] < 7:  # the wall at x = 5 has its gap above y = 7
            there[0], self.speed = self.place[0], np.zeros(2)
        self.place, self.steps = there, self.steps + 1
        won = bool(np.linalg.norm(self.place - (9.0, 1.0)) < 0.7)
        return self.look(), float(won), won, self.steps >= 300, {}


def around(observation: np.ndarray, most: float = 1.0) -> np.ndarray:
    """Pocket: up, through the gap, down, with half of the force."""
    place = observation[:2]
    aim = (4.0, 8.5) if place[0] < 3.9 and place[1] < 8.4 else (6.5, 8.5)
    if place[0] > 6.2:
        aim = (9.0, 1.0)
    return most * np.clip(np.array(aim) - place, -0.5, 0.5).astype(np.float32)


class SwingUp(gym.Env):
    """A pole is swung up by a motor too weak to lift it, and caught: a cost per step, no prize."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-10, 10, (3,), np.float32)
        self.action_space = spaces.Box(-2, 2, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.angle, self.speed = np.pi + self.np_random.uniform(-0.1, 0.1), 0.0
        self.steps = 0
        return self.look(), {}

    def look(self):
        return np.array([np.cos(self.angle), np.sin(self.angle), self.speed], np.float32)

    def step(self, action):
        pull = 4.9 * np.sin(self.angle) + float(np.clip(action[0], -2, 2))
        self.speed = float(np.clip(self.speed + 0.05 * pull, -8, 8))
        self.angle = (self.angle + 0.05 * self.speed + np.pi) % (2 * np.pi) - np.pi
        self.steps += 1
        up = bool(abs(self.angle) < 0.15 and abs(self.speed) < 1)
        return self.look(), -1.0, up, self.steps >= 300, {}


def pump(observation: np.ndarray) -> np.ndarray:
    """SwingUp: adds energy until there is enough, takes what is too much, catches the pole."""
    height, side, speed = (float(x) for x in observation)
    if height > 0.9 and abs(speed) < 3:
        force = -20 * np.arctan2(side, height) - 6 * speed
    else:
        missing = 0.5 * speed**2 + 4.9 * height < 4.9
        way = np.sign(speed) if abs(speed) > 1e-3 else 1.0
        force = 2 * way if missing else -2 * way
    return np.array([np.clip(force, -2, 2)], np.float32)


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
