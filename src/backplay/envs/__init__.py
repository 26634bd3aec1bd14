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

if MAZE not in gym.registry:
    gym.register(
        MAZE,
        entry_point="backplay.envs.maze.env:Maze",
        vector_entry_point="backplay.envs.maze.vector:MazeVector",
    )

if POMMERMAN_FFA not in gym.registry:
    gym.register(
        POMMERMAN_FFA,
        entry_point="backplay.envs.pommerman.env:PommermanFFA",
        vector_entry_point="backplay.envs.pommerman.vector:PommermanVector",
    )

if TREE not in gym.registry:
    gym.register(TREE, entry_point="backplay.envs.tree:Tree")

if CHAIN not in gym.registry:
    gym.register(CHAIN, entry_point="backplay.envs.chain:Chain")

if SLIPPERY not in gym.registry:
    gym.register(SLIPPERY, entry_point="backplay.envs.slippery:Slippery")
