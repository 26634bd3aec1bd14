"""The paper's environments and two of ours, fast and exact. None needs another.

Importing this registers their ids with Gymnasium by name: what they need is imported when one is
made.
"""

from __future__ import annotations

import gymnasium as gym

CHAIN = "Backplay/Chain-v0"
MAZE = "Backplay/Maze-v0"
POMMERMAN_FFA = "Backplay/PommermanFFA-v0"
SLIPPERY = "Backplay/Slippery-v0"
TREE = "Backplay/Tree-v0"

for _id, _place, _vector in (
    (CHAIN, "chain:Chain", None),
    (MAZE, "maze.env:Maze", "maze.vector:MazeVector"),
    (POMMERMAN_FFA, "pommerman.env:PommermanFFA", "pommerman.vector:PommermanVector"),
    (SLIPPERY, "slippery:Slippery", None),
    (TREE, "tree:Tree", None),
):
    if _id not in gym.registry:
        gym.register(
            _id,
            entry_point=f"{__name__}.{_place}",
            vector_entry_point=f"{__name__}.{_vector}" if _vector else None,
        )
