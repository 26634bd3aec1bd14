"""Walks in mazes as plain data: what a result keeps so that somebody can draw them later.

Comes in: mazes, and one episode played in each. Goes out: boards, demonstrations and paths as
cells. Does not know: who walked, or how it is drawn.
"""

from __future__ import annotations

from typing import Any

from backplay.envs.maze.evaluate import Played
from backplay.envs.maze.sets import MazeSet


def drawn(mazes: MazeSet, played: Played) -> list[dict[str, Any]]:
    """Boards with the demonstration and the path walked, all as cells: enough for a picture."""
    walls = mazes.walls.reshape(len(mazes), -1)
    return [
        {
            "height": mazes.height, "width": mazes.width,
            "walls": [int(cell) for cell in walls[i].nonzero()[0]],
            "start": int(mazes.starts[i]), "goal": int(mazes.goals[i]),
            "shortest": int(mazes.distances[i]),
            "demonstration": [int(cell) for cell in mazes.paths[i]],
            "path": [int(cell) for cell in played.paths[i]],
        }
        for i in range(len(mazes))
    ]  # fmt: skip
