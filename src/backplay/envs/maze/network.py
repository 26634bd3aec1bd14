"""The parameters of the paper's Maze network, and its last layers; `fast_network` is the rest.

Comes in: the size of the mazes, a seed. Goes out: weights drawn from it.
Does not know: how the layers before the last are computed.
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
