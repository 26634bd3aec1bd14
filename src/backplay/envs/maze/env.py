"""`Backplay/Maze-v0`: one agent on its way to the goal of a maze.

    env = gymnasium.make("Backplay/Maze-v0", mazes="mazes.npz", maze=3)

Comes in: a set of mazes, or the measures of random ones. Goes out: four planes, a reward of -0.03 a
step and +1 at the goal. An episode is terminated at the goal and truncated when its time is over.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from backplay.data.arrays import checked_array
from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.envs import chance
from backplay.envs.maze import draw
from backplay.envs.maze.generate import MazePlan, draw_maze
from backplay.envs.maze.rules import ACTIONS, NAMES, after, find_exits, offsets
from backplay.envs.maze.sets import MazeLibrary, MazeSet, training_mazes
from backplay.errors import BackplayError, ensure, refusing, show
from backplay.restore import RESTORERS

State = dict[str, Any]
PLANES = 4
AGENT, GOAL, PASSAGES, WALLS = range(PLANES)


class Maze(gym.Env[NDArray[np.uint8], np.int64]):
    """One agent in a maze. Actions: 0 pass, 1 up, 2 down, 3 left, 4 right; a blocked move stays.

    Args:
        mazes: a set, or a library or its file, for the training part; None: every reset draws a
            maze.
        maze: always this maze of the set; None draws one of them at every reset.
        size, walls, min_distance, max_steps: of mazes that are drawn, see `MazePlan`; a set has its
            own.
        render_mode: `"rgb_array"` or `"ansi"`.

    What is seen are four planes, uint8 [4, height, width] of 0 and 1: the agent, the goal, the
    passages (but for these two cells) and the walls. `reset(options={"maze": i})` chooses the maze
    for one episode.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 8}  # noqa: RUF012

    def __init__(
        self,
        mazes: MazeSet | MazeLibrary | str | Path | None = None,
        *,
        maze: int | None = None,
        size: int = 24,
        walls: int = 120,
        min_distance: int | None = None,
        max_steps: int = 200,
        render_mode: str | None = None,
    ) -> None:
        self.mazes = None if mazes is None else training_mazes(mazes)
        self._recipe = MazePlan(
            size=size, walls=walls, min_length=1, min_distance=min_distance, max_steps=max_steps
        )
        self._wanted = self._checked("maze", maze)
        known = self.mazes
        height, width = (known.height, known.width) if known else (size, size)
        self.max_steps = known.max_steps if known else max_steps
        self._rewards = (known.step_reward, known.goal_reward) if known else (-0.03, 1.0)
        self.observation_space = spaces.Box(0, 1, (PLANES, height, width), np.uint8)
        self.action_space = spaces.Discrete(ACTIONS)
        self.render_mode = render_mode
        self.walls = np.zeros((height, width), np.bool_)
        self.start = self.goal = self.cell = 0
        self.maze: int | None = None
        """The maze's index in the set; None for a maze that was drawn."""
        self.step_count = 0
        self._exits, self._offsets = np.zeros(height * width, np.uint8), offsets(width)
        self._board = np.zeros((PLANES, height, width), np.uint8)  # with no agent on it
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """The initial state of a maze: the one asked for, or any."""
        super().reset(seed=seed)
        asked = self._checked('options["maze"]', (options or {}).get("maze"))
        self.maze = self._wanted if asked is None else asked
        if self.mazes is None:
            self._enter(*draw_maze(self._recipe, chance.drawn_from(self.np_random)))
        else:
            if self.maze is None:
                self.maze = int(self.np_random.integers(self.mazes.num_mazes))
            at = self.maze
            self._enter(self.mazes.walls[at], int(self.mazes.starts[at]), int(self.mazes.goals[at]))
        self.cell, self.step_count, self._over = self.start, 0, False
        return self._observe(), self._info()

    def _enter(self, walls: NDArray[np.bool_], start: int, goal: int) -> None:
        self.walls, self.start, self.goal = walls.copy(), start, goal
        find_exits(self.walls.reshape(-1), *self.walls.shape, self._exits)
        planes = self._board.reshape(PLANES, -1)
        planes[WALLS] = self.walls.reshape(-1)
        planes[PASSAGES] = 1 - planes[WALLS]
        planes[GOAL] = 0
        planes[GOAL, goal], planes[PASSAGES, goal] = 1, 0

    def step(self, action: Any) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """One action, which is a step even if nothing moves."""
        ensure(action in range(ACTIONS), "action", "0 to 4", action)
        ensure(not self._over, "The episode is over", do="Call reset.")
        self.cell = int(after(self._exits, self._offsets, self.cell, int(action)))
        self.step_count += 1
        terminated = self.cell == self.goal
        truncated = not terminated and self.step_count >= self.max_steps
        self._over = terminated or truncated
        step_reward, goal_reward = self._rewards
        reward = goal_reward + step_reward if terminated else step_reward
        info = self._info()
        if self._over:
            info["is_success"] = terminated
        return self._observe(), reward, terminated, truncated, info

    def _info(self) -> dict[str, Any]:
        return {"maze": -1 if self.maze is None else self.maze, "cell": self.cell}

    def _observe(self) -> NDArray[np.uint8]:
        planes = self._board.copy()
        flat = planes.reshape(PLANES, -1)
        flat[AGENT, self.cell], flat[PASSAGES, self.cell] = 1, 0
        return planes

    def get_action_meanings(self) -> tuple[str, ...]:
        """The names of the actions 0 to 4."""
        return NAMES

    def render(self) -> Any:
        """Pixels or coloured text."""
        return draw.render(self.render_mode, self.walls, self.start, self.goal, self.cell)

    def get_state(self) -> State:
        """The maze and where the agent is in it, as plain data."""
        return {
            "walls": self.walls.copy(), "start": self.start, "goal": self.goal,
            "cell": self.cell, "maze": self.maze, "step_count": self.step_count,
        }  # fmt: skip

    def set_state(self, state: State) -> None:
        """Puts the agent where `get_state` found it, in the maze of that time."""
        with refusing("state", f"what get_state of a maze of {self.walls.shape} cells said"):
            walls = checked_array("walls", state["walls"], np.bool_, self.walls.shape)
            start, goal, cell, count = (state[k] for k in ("start", "goal", "cell", "step_count"))
            cells = all(type(x) is int and 0 <= x < walls.size for x in (start, goal, cell))
            if not cells or walls.flat[[start, goal, cell]].any():
                raise ValueError("cells that are not free")
            if type(count) is not int or not 0 <= count <= self.max_steps:
                raise ValueError(f"step {count} of {self.max_steps}")
            maze = state["maze"]
            if maze is not None and (type(maze) is not int or maze < 0):
                raise ValueError(f"maze {show(maze)}")
        self._enter(walls, start, goal)
        self.maze, self.cell, self.step_count = maze, cell, count
        self._over = cell == goal or count >= self.max_steps

    def _checked(self, name: str, maze: Any) -> int | None:
        known = self.mazes.num_mazes if self.mazes is not None else 0
        if maze is None and (self.mazes is None or known):
            return None
        if isinstance(maze, int | np.integer) and not isinstance(maze, bool) and 0 <= maze < known:
            return int(maze)
        raise BackplayError(
            name, expected=f"a maze from 0 to {known - 1}" if known else "a set of mazes",
            got=show(maze), do="Make the env with mazes=, and choose one of them.",
        )  # fmt: skip


def demonstrations(
    mazes: MazeSet | MazeLibrary | str | Path, indices: Iterable[int] | None = None
) -> list[Demonstration]:
    """The demonstrations of these mazes, by default of all, recorded in `Maze(mazes)`."""
    known = training_mazes(mazes)
    env, own = Maze(known), RESTORERS["own"]()
    return [
        record(env, known.actions[i].tolist(), options={"maze": int(i)}, restorer=own)
        for i in (range(known.num_mazes) if indices is None else indices)
    ]
