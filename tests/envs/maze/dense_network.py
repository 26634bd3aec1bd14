"""The paper's Maze network with all of its arithmetic: what the fast one is compared with.

It makes the four planes of each observation and runs every layer in plain PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from backplay.envs.maze.network import MazeNetwork
from backplay.envs.maze.patterns import PLANES


class DenseMazeNetwork(MazeNetwork):
    """The network in plain PyTorch: weights load from it into the fast one and back."""

    static: Tensor

    def __init__(
        self, walls: NDArray[np.bool_], goals: NDArray[np.integer[Any]], *, seed: int
    ) -> None:
        super().__init__(walls, goals, seed=seed)
        mazes, cells = len(walls), self.height * self.width
        static = np.zeros((mazes, PLANES, cells), np.float32)
        static[:, 3] = walls.reshape(mazes, cells)
        static[np.arange(mazes), 1, goals] = 1
        static[:, 2] = 1 - static[:, 3] - static[:, 1]
        self.register_buffer("static", torch.from_numpy(static), persistent=False)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, 5] and values [n] of observations (maze, cell) [n, 2]."""
        maze, cell = observations.long().unbind(-1)
        planes = self.static[maze]
        rows = torch.arange(len(maze))
        planes[rows, 0, cell] = 1
        planes[rows, 2, cell] = 0
        return self.on_planes(planes.view(-1, PLANES, self.height, self.width))

    def on_planes(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, 5] and values [n] of planes [n, 4, height, width]."""
        planes = planes.to(self.third.dtype).contiguous(memory_format=torch.channels_last)
        seen = functional.relu(self.second(functional.relu(self.first(planes))))
        flat = seen.permute(0, 2, 3, 1).reshape(len(planes), -1)
        return self.heads(torch.addmm(self.third_bias, flat, self.third))
