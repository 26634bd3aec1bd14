"""Networks for Pommerman's planes: the paper's, and one that two cores can train.

Comes in: observations [n, 38, 11, 11], two frames of 19 planes, not scaled. Goes out: logits [n, 6]
and values [n]. Does not know: the game, or who learns.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt
from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor, nn

from backplay.learners.encoders import initialise, linear


@dataclass(frozen=True)
class Shape:
    """How large a network is."""

    convolutions: tuple[int, ...]
    """Channels of each 3 x 3 convolution, which keeps the board's size."""
    hidden: tuple[int, ...]
    """Sizes of the linear layers behind them."""


SHAPES = {
    # Appendix A.6: 256 million multiplications for a frame, about 0.1 s of one core to learn it.
    "paper": Shape((256, 256, 256, 256), (1024, 512)),
    # The paper's network for the Maze (appendix A.3) on Pommerman's planes: 3 million, so that one
    # core learns some hundred frames a second. It was not tuned.
    "convolution": Shape((32, 32), (128, 128)),
}


class BoardNetwork(nn.Module):
    """Convolutions that keep the board's size, linear layers, two heads; ReLU after each layer."""

    def __init__(self, planes: tuple[int, int, int], actions: int, shape: Shape, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        channels, sides = planes[0], planes[1:]
        layers: list[nn.Module] = []
        for outputs in shape.convolutions:
            convolution = nn.utils.skip_init(  # type: ignore[no-untyped-call]  # torch leaves it untyped
                nn.Conv2d, channels, outputs, 3, padding=1
            )
            layers += [initialise(convolution, sqrt(2), generator), nn.ReLU()]
            channels = outputs
        layers.append(nn.Flatten())
        features = channels * prod(sides)
        for outputs in shape.hidden:
            layers += [linear(features, outputs, sqrt(2), generator), nn.ReLU()]
            features = outputs
        self.body = nn.Sequential(*layers)
        self.policy = linear(features, actions, 1.0, generator)
        self.value = linear(features, 1, 1.0, generator)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, actions] and values [n]."""
        features = self.body(observations)
        return self.policy(features), self.value(features).squeeze(-1)


def board_network(
    observation_space: spaces.Space[Any], action_space: spaces.Space[Any], *, seed: int, preset: str
) -> nn.Module:
    """The network of a preset for the spaces of `PommermanVector`."""
    assert isinstance(observation_space, spaces.Box)
    assert isinstance(action_space, spaces.Discrete)
    channels, height, width = observation_space.shape
    return BoardNetwork((channels, height, width), int(action_space.n), SHAPES[preset], seed)
