"""The Maze of the paper's first experiment: sets of mazes with demonstrations, and the envs.

    from backplay.envs.maze import Maze, MazeVector, generate, load_mazes

What is named here is imported when it is first asked for, but for `generate`, whose module has the
same name: the function must be there first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backplay.envs.maze.generate import generate, generate_set
from backplay.extras import lazily

if TYPE_CHECKING:
    from backplay.envs.maze.draw import picture
    from backplay.envs.maze.env import Maze, demonstrations
    from backplay.envs.maze.evaluate import Played, play
    from backplay.envs.maze.sets import MazeLibrary, MazeSet, load_mazes
    from backplay.envs.maze.solve import distances_to_goals, shortest_path
    from backplay.envs.maze.vector import MazeVector

__getattr__ = lazily(
    __name__,
    {
        "draw": "picture",
        "env": "Maze demonstrations",
        "evaluate": "Played play",
        "sets": "MazeLibrary MazeSet load_mazes",
        "solve": "distances_to_goals shortest_path",
        "vector": "MazeVector",
    },
)
