"""Envs of the tasks on which the learner's defaults are chosen, and how each is played.

Written as a newcomer would write them: plain coordinates, nothing scaled.
"""

from collections import deque
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

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
