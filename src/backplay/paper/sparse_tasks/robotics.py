"""Gymnasium-Robotics' PointMaze: a ball is steered through a maze, reward at the goal alone."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.paper.sparse_tasks.task import Task
from backplay.restore.rollout import AnyEnv

Cell = tuple[int, int]
"""Row and column."""


class FixedGoal(gym.ObservationWrapper[Any, Any, Any]):
    """From one cell to another (each up to a quarter of a cell off), all seen as one vector."""

    def __init__(self, env: AnyEnv, start: Cell, goal: Cell) -> None:
        super().__init__(env)
        self.cells = {"reset_cell": np.array(start), "goal_cell": np.array(goal)}
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (6,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """The same two cells, whatever is asked for."""
        observation, info = self.env.reset(seed=seed, options=self.cells)
        return self.observation(observation), info

    def observation(self, observation: dict[str, Any]) -> NDArray[np.float32]:
        """Position, velocity and goal."""
        parts = (observation["observation"], observation["desired_goal"])
        return np.concatenate(parts).astype(np.float32)


def pointmaze(name: str, start: Cell, goal: Cell, *, render_mode: str | None = None) -> AnyEnv:
    """A maze of Gymnasium-Robotics, from one cell to another."""
    import gymnasium_robotics

    gym.register_envs(gymnasium_robotics)
    return FixedGoal(gym.make(name, continuing_task=False, render_mode=render_mode), start, goal)


def demonstration(name: str, start: Cell, goal: Cell) -> Demonstration:
    """Steer for the next cell on the shortest way; slow down when close."""
    env = pointmaze(name, start, goal)
    maze: Any = env.get_wrapper_attr("maze")
    way = [maze.cell_rowcol_to_xy(np.array(cell)) for cell in cells(maze.maze_map, start, goal)]

    def steer(observation: NDArray[Any]) -> NDArray[np.float32]:
        position, velocity, end = observation[:2], observation[2:4], observation[4:]
        while len(way) > 1 and np.linalg.norm(way[0] - position) < 0.5:
            way.pop(0)
        target = way[0] if len(way) > 1 else end
        force = 10 * (target - position) - velocity
        return np.asarray(np.clip(force, -1, 1), np.float32)

    return record(env, steer, seed=0)


def cells(rows: list[list[Any]], start: Cell, goal: Cell) -> list[Cell]:
    """The shortest way between two cells, both included."""
    came, found = {start: start}, [start]
    for row, col in found:
        for cell in ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)):
            if cell not in came and rows[cell[0]][cell[1]] != 1:
                came[cell] = (row, col)
                found.append(cell)
    way = [goal]
    while way[-1] != start:
        way.append(came[way[-1]])
    return way[::-1]


LARGE_MAZE = ("PointMaze_Large-v3", (7, 1), (1, 10))

ROBOTICS = {
    "pointmaze": Task(
        title="PointMaze_Large-v3",
        make=partial(pointmaze, *LARGE_MAZE), demonstrate=partial(demonstration, *LARGE_MAZE),
        frames=400_000, patience=2.0, episodes=100, on_the_way=10, seconds=500.0,
        ours={"num_steps": 512},  # of 339 steps: a batch of 2,048 holds a handful of episodes
        sb3={"n_steps": 256, "batch_size": 128, "n_epochs": 6, "gamma": 0.997},
    ),
}  # fmt: skip
"""By name."""
