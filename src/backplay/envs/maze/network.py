"""The paper's Maze network in plain PyTorch, and the parameters that every form of it shares.

    network = DenseMazeNetwork(mazes.walls, mazes.goals, seed=0)
    logits, values = network(observations)          # [n, 2]: maze, cell of the agent

It makes the four planes of each observation and does all the arithmetic: the reference.
`fast_network` gives the same numbers; weights load from one into the other.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from backplay.envs.maze.network_kernels import CHANNELS, HIDDEN
from backplay.envs.maze.patterns import PLANES
from backplay.products import multiply

ACTIONS = 5


class MazeNetwork(nn.Module):
    """The parameters: two 3 x 3 convolutions, two full layers of 128, a policy and a value head.

    `third` is [cells * channels, 128], cells row by row: the weights of one cell lie together.
    """

    def __init__(
        self, walls: NDArray[np.bool_], goals: NDArray[np.integer[Any]], *, seed: int
    ) -> None:
        """A network for mazes with these walls [mazes, height, width] and goal cells [mazes]."""
        super().__init__()
        _, self.height, self.width = walls.shape
        generator = torch.Generator().manual_seed(seed)
        self.first = nn.Conv2d(PLANES, CHANNELS, 3, padding=1)
        self.second = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
        self.third = nn.Parameter(torch.empty(self.height * self.width * CHANNELS, HIDDEN))
        self.third_bias = nn.Parameter(torch.zeros(HIDDEN))
        self.fourth = nn.Linear(HIDDEN, HIDDEN)
        self.policy = nn.Linear(HIDDEN, ACTIONS)
        self.value = nn.Linear(HIDDEN, 1)
        with torch.no_grad():
            for layer in (self.first, self.second, self.fourth, self.policy, self.value):
                gain = 1.0 if layer in (self.policy, self.value) else sqrt(2)
                nn.init.orthogonal_(layer.weight, gain, generator=generator)
                nn.init.constant_(layer.bias, 0.0)  # type: ignore[arg-type]  # it has one
            nn.init.orthogonal_(self.third.T, sqrt(2), generator=generator)

    def heads(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, 5] and values [n] from the third layer before its ReLU."""
        fourth = multiply(functional.relu(hidden), self.fourth.weight, self.fourth.bias)
        features = functional.relu(fourth)
        return self.policy(features), self.value(features).squeeze(-1)


class DenseMazeNetwork(MazeNetwork):
    """The network in plain PyTorch; the reference, and the one for planes from elsewhere."""

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
