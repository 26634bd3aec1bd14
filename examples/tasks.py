"""The tasks of compare.py: each an env, one scripted demonstration of it, and a budget.

MountainCar: push in the direction of the motion. KeyCorridor (MiniGrid): fetch the key, open the
locked door, fetch the ball behind it. ObstructedMaze (MiniGrid): the same, with a ball before the
door and the key in a box. PointMaze (Gymnasium-Robotics): follow the shortest way.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

import backplay as bp
from backplay.learners import PPOConfig


@dataclass(frozen=True)
class Task:
    """An env, a demonstration of it, a budget, and what the trainers and the wrapper are told."""

    make: Callable[[], gym.Env]
    demonstrate: Callable[[], bp.Demonstration]
    frames: int
    sb3: dict[str, Any] = field(default_factory=dict)
    """Hyperparameters of Stable-Baselines3's PPO other than its defaults."""
    ours: PPOConfig = field(default_factory=PPOConfig)
    wrapper: dict[str, Any] = field(default_factory=dict)
    """Options of BackplayEnv other than its defaults."""
    episodes: int = 200
    """Episodes of each evaluation."""


# MountainCar


def mountaincar() -> gym.Env:
    return gym.make("MountainCar-v0")


def demonstrate_mountaincar() -> bp.Demonstration:
    """Push in the direction of the motion; the shortest of ten episodes, 114 steps."""
    episodes = [bp.record(mountaincar(), _push, seed=seed) for seed in range(10)]
    return min(episodes, key=len)


def _push(observation: np.ndarray) -> int:
    return 2 if observation[1] >= 0 else 0


# MiniGrid

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE = range(6)
PARTS = (11, 6, 3)  # kinds, colours and states of a cell
AHEAD = ((1, 0), (0, 1), (-1, 0), (0, -1))


class View(gym.ObservationWrapper):
    """The 7 x 7 cells that the agent sees, each one-hot in kind, colour and state, and its look."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0.0, 1.0, (7 * 7 * sum(PARTS) + 4,), np.float32)
        self.rows = np.arange(49)[:, None] * sum(PARTS) + np.cumsum((0, *PARTS[:2]))

    def observation(self, observation: dict) -> np.ndarray:
        view = np.zeros(self.observation_space.shape, np.float32)
        view[(self.rows + observation["image"].reshape(49, 3)).ravel()] = 1.0
        view[observation["direction"] - 4] = 1.0
        return view


class OneLayout(gym.Wrapper):
    """Every episode on the layout of one seed, as a level of a game."""

    def __init__(self, env: gym.Env, layout: int) -> None:
        super().__init__(env)
        self.layout = layout

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        return self.env.reset(seed=self.layout, options=options)


def minigrid(name: str, layout: int) -> gym.Env:
    import minigrid  # noqa: F401  # registers its envs

    return View(OneLayout(gym.make(name), layout))


def demonstrate_corridor(name: str, layout: int) -> bp.Demonstration:
    """Fetch the key, open the locked door, drop the key, fetch the ball."""
    person = Person(minigrid(name, layout))
    person.fetch(a("key"))
    person.open(a("door", is_locked=True))
    person.fetch(a("ball"))
    return bp.record(minigrid(name, layout), person.actions, seed=0)


def demonstrate_obstructed(
    name: str, layout: int, *, door: tuple[int, int], blocked_by: tuple[int, int]
) -> bp.Demonstration:
    """Move the ball before this door, take its key from a box, open it, fetch the blue ball."""
    person = Person(minigrid(name, layout))
    locked, obstacle = person.at(*door), person.at(*blocked_by)
    person.fetch(lambda thing: thing is obstacle)
    person.do(RIGHT)  # or it would be put where it was
    person.put_down()
    person.go_to(lambda thing: thing.type == "box" and thing.contains.color == locked.color)
    person.do(TOGGLE)  # the key lies where the box was
    person.do(PICK_UP)
    person.open(lambda thing: thing is locked)
    person.fetch(a("ball", color="blue"))
    return bp.record(minigrid(name, layout), person.actions, seed=0)


def a(kind: str, **state: Any) -> Callable[[Any], bool]:
    """Whether a thing is of this kind and in this state."""
    return lambda thing: (
        thing.type == kind and all(getattr(thing, name) == state[name] for name in state)
    )


class Person:
    """Walks through a MiniGrid and keeps the actions that did it."""

    def __init__(self, env: gym.Env) -> None:
        env.reset()
        self.env, self.grid, self.actions = env, env.unwrapped, []

    def do(self, action: int) -> None:
        self.env.step(action)
        self.actions.append(action)

    def at(self, x: int, y: int) -> Any:
        return self.grid.grid.get(int(x), int(y))

    def in_front(self) -> Any:
        return self.at(*self.grid.front_pos)

    def fetch(self, fits: Callable[[Any], bool]) -> None:
        self.go_to(fits)
        self.do(PICK_UP)

    def open(self, fits: Callable[[Any], bool]) -> None:
        """With the key in hand, which is put down then."""
        self.go_to(fits)
        self.do(TOGGLE)
        self.put_down()

    def put_down(self) -> None:
        while self.in_front() is not None:
            self.do(RIGHT)
        self.do(DROP)

    def go_to(self, fits: Callable[[Any], bool]) -> None:
        """Until a thing that fits is in front; closed doors on the way are opened."""
        for action in self._way(fits):
            front = self.in_front()
            closed = front is not None and front.type == "door" and not front.is_open
            if action == FORWARD and closed:
                self.do(TOGGLE)
            self.do(action)

    def _way(self, fits: Callable[[Any], bool]) -> list[int]:
        """The cheapest turns and steps: a search over cells and directions."""
        x, y = (int(n) for n in self.grid.agent_pos)
        ways: list[tuple[int, int, tuple, list[int]]] = [
            (0, 0, (x, y, int(self.grid.agent_dir)), [])
        ]
        seen, count = set(), 0
        while ways:
            cost, _, (x, y, look), way = heapq.heappop(ways)
            if (x, y, look) in seen:
                continue
            seen.add((x, y, look))
            ahead = (x + AHEAD[look][0], y + AHEAD[look][1])
            thing = self.at(*ahead)
            if thing is not None and fits(thing):
                return way
            steps = [(LEFT, (x, y, (look - 1) % 4)), (RIGHT, (x, y, (look + 1) % 4))]
            door = thing is not None and thing.type == "door" and not thing.is_locked
            if thing is None or thing.can_overlap() or door:
                steps.append((FORWARD, (*ahead, look)))
            for action, place in steps:
                count += 1
                heapq.heappush(ways, (cost + 1, count, place, [*way, action]))
        raise SystemExit("no way to what was asked for")


# PointMaze


class FixedGoal(gym.ObservationWrapper):
    """From one cell to another (each up to a quarter of a cell off), all seen as one vector."""

    def __init__(self, env: gym.Env, start: tuple[int, int], goal: tuple[int, int]) -> None:
        super().__init__(env)
        self.cells = {"reset_cell": np.array(start), "goal_cell": np.array(goal)}
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        observation, info = self.env.reset(seed=seed, options=self.cells)
        return self.observation(observation), info

    def observation(self, observation: dict) -> np.ndarray:
        parts = (observation["observation"], observation["desired_goal"])
        return np.concatenate(parts).astype(np.float32)


def pointmaze(name: str, start: tuple[int, int], goal: tuple[int, int]) -> gym.Env:
    import gymnasium_robotics

    gym.register_envs(gymnasium_robotics)
    return FixedGoal(gym.make(name, continuing_task=False), start, goal)


def demonstrate_pointmaze(
    name: str, start: tuple[int, int], goal: tuple[int, int]
) -> bp.Demonstration:
    """Steer for the next cell on the shortest way; slow down when close."""
    env = pointmaze(name, start, goal)
    maze = env.unwrapped.maze
    way = [maze.cell_rowcol_to_xy(np.array(cell)) for cell in _cells(maze.maze_map, start, goal)]

    def steer(observation: np.ndarray) -> np.ndarray:
        position, velocity, end = observation[:2], observation[2:4], observation[4:]
        while len(way) > 1 and np.linalg.norm(way[0] - position) < 0.5:
            way.pop(0)
        target = way[0] if len(way) > 1 else end
        return np.clip(10 * (target - position) - velocity, -1, 1).astype(np.float32)

    return bp.record(env, steer, seed=0)


def _cells(rows: list, start: tuple[int, int], goal: tuple[int, int]) -> list[tuple[int, int]]:
    came, cells = {start: start}, [start]
    for row, col in cells:
        for cell in ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)):
            if cell not in came and rows[cell[0]][cell[1]] != 1:
                came[cell] = (row, col)
                cells.append(cell)
    way = [goal]
    while way[-1] != start:
        way.append(came[way[-1]])
    return way[::-1]


CORRIDOR = ("MiniGrid-KeyCorridorS6R3-v0", 1)
OBSTRUCTED = ("MiniGrid-ObstructedMaze-Full-v1", 0)
LARGE_MAZE = ("PointMaze_Large-v3", (7, 1), (1, 10))
# The same settings for both trainers.
SB3 = {"n_steps": 256, "batch_size": 128, "n_epochs": 6}
OURS = PPOConfig(num_steps=256, minibatch_size=128, passes=6)

TASKS = {
    "mountaincar": Task(mountaincar, demonstrate_mountaincar, 300_000),
    "keycorridor": Task(
        partial(minigrid, *CORRIDOR),
        partial(demonstrate_corridor, *CORRIDOR),
        400_000,
        sb3={**SB3, "ent_coef": 0.01},
        ours=replace(OURS, entropy_coefficient=0.01),
        wrapper={"patience": 4.0},
        episodes=100,
    ),
    "obstructed": Task(
        partial(minigrid, *OBSTRUCTED),
        partial(demonstrate_obstructed, *OBSTRUCTED, door=(10, 14), blocked_by=(9, 14)),
        800_000,
        sb3={**SB3, "ent_coef": 0.01},
        ours=replace(OURS, entropy_coefficient=0.01),
        wrapper={"patience": 4.0},
        episodes=25,  # of 3,600 steps where it fails
    ),
    "pointmaze": Task(
        partial(pointmaze, *LARGE_MAZE),
        partial(demonstrate_pointmaze, *LARGE_MAZE),
        400_000,
        sb3={**SB3, "gamma": 0.997},
        ours=replace(OURS, entropy_coefficient=0.0, gamma=0.997),
        wrapper={"patience": 2.0},
        episodes=100,
    ),
}
