"""Encoders: modules that turn a space's observations into float features [batch, size].

They take observations as the environment gives them (uint8 images, integer categories), so the
rollout keeps the compact form. Parameters are initialised from a generator that is handed in.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor, nn

from backplay.errors import BackplayError

EMBEDDING_SIZE = 8
LARGE_SIDE = 64
"""Images from this side on get Nature DQN's convolutions."""
LARGEST_GRID = 16
"""Integer images up to this side are read as grids of categories, larger ones as pictures."""
FARTHEST = 3.0
"""A number of the examples is at most so many deviations from their mean after scaling."""
LIMIT = 10.0
"""The largest scaled number: what lies farther from the examples is seen as lying there."""
CONSTANT = 1e-5
"""Numbers that vary by less than this share of their size are not scaled: of the float32 in which
a network sees them, some hundred steps."""
FARTHEST_BOUND = 1e5
"""Those that do not vary at all are scaled by their space's bounds where these lie farther than the
limit, so that all that can be seen is told apart; farther than this, bounds say nothing."""
FEWEST, MOST = 3, 64
"""Values of a whole number that is also seen as a category, see `Whole`,"""
MOST_CATEGORIES = 4096
"""and of all such numbers of a vector together."""


class Vector(nn.Module):
    """Numbers of any shape, flattened; scaled to mean 0, deviation 1 in the examples, if any.

    What does not vary in them may be scaled by how far from it the bounds of the space are. The
    scale is kept with the weights, and is not trained.
    """

    scale: Tensor
    shift: Tensor
    limit: Tensor

    def __init__(
        self,
        size: int,
        examples: npt.NDArray[Any] | None = None,
        bounds: tuple[npt.ArrayLike, npt.ArrayLike] = (-np.inf, np.inf),
    ) -> None:
        super().__init__()
        self.size = size
        scale, shift, limit = np.ones(size), np.zeros(size), np.inf
        if examples is not None:
            rows = examples.reshape(-1, size).astype(np.float64)
            mean = rows.mean(0)
            away = np.abs(rows - mean).max(0)
            spread = np.maximum(rows.std(0), away / FARTHEST)
            varies = away > CONSTANT * np.abs(rows).max(0)
            far = np.maximum(bounds[1] - mean, mean - bounds[0])
            bounded = (away == 0) & (far > LIMIT) & (far < FARTHEST_BOUND)
            far = np.where(bounded, far / FARTHEST, 1.0)
            scale = 1 / np.where(varies, spread, far)
            shift, limit = -mean * scale, LIMIT
        for name, value in (("scale", scale), ("shift", shift), ("limit", limit)):
            self.register_buffer(name, torch.as_tensor(value, dtype=torch.float32))

    def forward(self, observations: Tensor) -> Tensor:
        rows = observations.reshape(-1, self.size).float()
        scaled = torch.addcmul(self.shift, rows, self.scale)
        return torch.clamp(scaled, -self.limit, self.limit)


class OneHot(nn.Module):
    """Categories, each a one-hot vector, side by side."""

    offsets: Tensor

    def __init__(self, choices: list[int], first: list[int]) -> None:
        super().__init__()
        self.size = sum(choices)
        starts = np.cumsum([0, *choices[:-1]]) - np.asarray(first)
        self.register_buffer("offsets", torch.as_tensor(starts), persistent=False)

    def forward(self, observations: Tensor) -> Tensor:
        index = observations.reshape(-1, len(self.offsets)).long() + self.offsets
        return torch.zeros(len(index), self.size).scatter_(1, index, 1.0)


class Whole(nn.Module):
    """A vector, and beside it those of its numbers that are whole, each as a one-hot vector.

    Rows, counts and kinds are steps, not magnitudes: what is right in row 4 may be wrong in row 5,
    and a smooth function of the number learns that slowly.
    """

    low: Tensor
    last: Tensor

    def __init__(self, numbers: Vector, low: Sequence[int], last: Sequence[int]) -> None:
        """Number i is whole where last[i] > 0: low[i], low[i] + 1 and so on, last[i] steps."""
        super().__init__()
        self.numbers = numbers
        self.which = [i for i, steps in enumerate(last) if steps]
        for name, values in (("low", low), ("last", last)):
            told = torch.as_tensor([values[i] for i in self.which])
            self.register_buffer(name, told, persistent=False)
        self.one_hot = OneHot([last[i] + 1 for i in self.which], [0] * len(self.which))
        self.size = numbers.size + self.one_hot.size

    def forward(self, observations: Tensor) -> Tensor:
        rows = observations.reshape(-1, self.numbers.size)
        # In float64, which every type of an observation fits, and cut there: not all fits int64.
        steps = (rows[:, self.which].double() - self.low).round().nan_to_num()
        near = torch.minimum(steps.clamp(min=0), self.last)
        return torch.cat([self.numbers(rows), self.one_hot(near)], 1)


class Parts(nn.Module):
    """A Dict space's entries, encoded one by one and concatenated."""

    def __init__(self, parts: dict[str, nn.Module]) -> None:
        super().__init__()
        self.keys = list(parts)
        # A list, not a ModuleDict: that one refuses keys such as "type" or names with dots.
        self.parts = nn.ModuleList(parts.values())
        self.size = sum(size_of(part) for part in parts.values())

    def forward(self, observations: dict[str, Any]) -> Tensor:
        return torch.cat(
            [part(observations[key]) for key, part in zip(self.keys, self.parts, strict=True)], 1
        )


class Image(nn.Module):
    """Convolutions over an image, flattened: Nature DQN's from 64 pixels on, 3×3 ones on grids."""

    def __init__(
        self,
        space: spaces.Box,
        generator: torch.Generator,
        *,
        categorical: bool | None = None,
        channels_last: bool | None = None,
    ) -> None:
        super().__init__()
        self.channels_last = (
            is_channels_last(space.shape) if channels_last is None else channels_last
        )
        channels, *sides = np.roll(space.shape, 1) if self.channels_last else space.shape
        if categorical is None:
            categorical = is_categorical(space, sides)
        self.categories = Categories(space, int(channels), generator) if categorical else None
        high = float(space.high.max())
        self.scale = 1 / high if 1 < high < np.inf else 1.0
        inputs = EMBEDDING_SIZE if self.categories else int(channels)
        self.is_large = min(sides) >= LARGE_SIDE
        self.convolutions = convolutions(inputs, min(sides), generator, grid=categorical)
        with torch.no_grad():
            self.size = self.convolutions(torch.zeros(1, inputs, *map(int, sides))).numel()

    def forward(self, observations: Tensor) -> Tensor:
        images = observations
        if self.channels_last:
            images = images.permute(0, 3, 1, 2)
        images = self.categories(images) if self.categories else images.float() * self.scale
        return self.convolutions(images).flatten(1)  # type: ignore[no-any-return]  # nn.Module


class Categories(nn.Module):
    """A grid of small integers: a learned vector per channel and category, summed by cell.

    The numbers of a MiniGrid cell (object, colour, state) are names, not magnitudes.
    """

    def __init__(self, space: spaces.Box, channels: int, generator: torch.Generator) -> None:
        super().__init__()
        self.low, high = int(space.low.min()), int(space.high.max())
        self.count = high - self.low + 1
        table = torch.randn(channels * self.count, EMBEDDING_SIZE, generator=generator)
        self.table = nn.Parameter(table / sqrt(channels))

    def forward(self, images: Tensor) -> Tensor:
        """Grids [batch, channels, height, width] to [batch, features, height, width]."""
        batch, _, height, width = images.shape
        # The gradient of this is 2.7 times as fast as an embedding's, but only with 64-bit indices.
        first, *others = (
            self.table.index_select(0, channel.flatten().long() + (i * self.count - self.low))
            for i, channel in enumerate(images.unbind(1))
        )
        return sum(others, first).view(batch, height, width, -1).permute(0, 3, 1, 2)


def make_encoder(
    space: spaces.Space[Any],
    generator: torch.Generator,
    *,
    categorical: bool | None = None,
    channels_last: bool | None = None,
    examples: Sequence[Any] | None = None,
) -> nn.Module:
    """The encoder of an observation space; its `size` is the number of features.

    Vectors are scaled by `examples`, observations of the space; numbers that are whole in all of
    them, within small bounds, are seen as categories, too.
    """
    match space:
        case spaces.Box() if len(space.shape) == 3:
            return Image(space, generator, categorical=categorical, channels_last=channels_last)
        case spaces.Box():
            return vector(space, examples)
        case spaces.MultiBinary():
            return Vector(int(np.prod(space.shape)))
        case spaces.Discrete():
            return OneHot([int(space.n)], [int(space.start)])
        case spaces.MultiDiscrete():
            return OneHot(
                [int(n) for n in space.nvec.flat], [int(n) for n in np.asarray(space.start).flat]
            )
        case spaces.Dict():
            return Parts(
                {
                    key: make_encoder(
                        part, generator, categorical=categorical, channels_last=channels_last,
                        examples=[one[key] for one in examples] if examples else None,
                    )
                    for key, part in space.items()
                    if not isinstance(part, spaces.Text)
                }
            )  # fmt: skip
        case _:
            raise BackplayError(
                "observation space",
                expected="Box, Discrete, MultiDiscrete, MultiBinary or a Dict of these",
                got=space,
                do="Wrap the environment, or hand PPO a network of your own.",
            )


def vector(space: spaces.Box, examples: Sequence[Any] | None) -> nn.Module:
    """The encoder of numbers: scaled by examples, and whole where all examples are."""
    size = int(np.prod(space.shape))
    if not examples:
        return Vector(size)
    seen = np.stack([np.asarray(one) for one in examples]).reshape(-1, size)
    low, high = (bound.reshape(-1).astype(np.float64) for bound in (space.low, space.high))
    with np.errstate(invalid="ignore", over="ignore"):  # inf - inf, and more than float64 has
        steps = high - low
    whole = (seen == np.round(seen)).all(0) & (low == np.round(low))
    whole &= (steps + 1 >= FEWEST) & (steps + 1 <= MOST)
    last = np.where(whole, steps, 0).astype(int)
    if not 0 < (last + 1)[whole].sum() <= MOST_CATEGORIES:
        return Vector(size, seen, (low, high))
    first = np.where(whole, low, 0).astype(int)
    return Whole(Vector(size, seen, (low, high)), first.tolist(), last.tolist())


def size_of(encoder: nn.Module) -> int:
    """Number of features an encoder gives."""
    size = encoder.size
    assert isinstance(size, int)
    return size


def is_channels_last(shape: tuple[int, ...]) -> bool:
    """Whether an image's shape reads as [height, width, channels] rather than channels first."""
    first, middle, last = shape
    if (first == middle) != (middle == last):
        return first == middle
    return last <= first


def is_categorical(space: spaces.Box, sides: list[int]) -> bool:
    """Whether an image is a grid of categories: small integers, or bytes on a small grid.

    MiniGrid declares bytes up to 255 and uses the first dozen, so the bound alone does not tell.
    """
    if not np.issubdtype(space.dtype, np.integer):
        return False
    count = int(space.high.max()) - int(space.low.min())
    return 1 < count < 32 or (count < 256 and max(sides) <= LARGEST_GRID)


def convolutions(
    channels: int, side: int, generator: torch.Generator, *, grid: bool = False
) -> nn.Module:
    """Convolutions with ReLU for images, or grids of categories, whose shorter side is `side`."""
    if side >= LARGE_SIDE:
        layers = [(32, 8, 4, 0), (64, 4, 2, 0), (64, 3, 1, 0)]
    elif side > LARGEST_GRID and not grid:
        layers = [(16, 4, 2, 0), (32, 4, 2, 0)]
    else:
        padding = 0 if side >= 7 else 1
        layers = [(16, 3, 1, padding), (32, 3, 1 if side <= LARGEST_GRID else 2, padding)]
    modules: list[nn.Module] = []
    for outputs, kernel, stride, padding in layers:
        convolution = nn.utils.skip_init(  # type: ignore[no-untyped-call]  # torch leaves it untyped
            nn.Conv2d, channels, outputs, kernel, stride=stride, padding=padding
        )
        modules += [initialise(convolution, sqrt(2), generator), nn.ReLU()]
        channels = outputs
    return nn.Sequential(*modules)


def linear(inputs: int, outputs: int, gain: float, generator: torch.Generator) -> nn.Linear:
    """A linear layer with orthogonal weights and zero bias."""
    # Skipping PyTorch's own initialisation also keeps its global generator out of the result.
    layer = nn.utils.skip_init(  # type: ignore[no-untyped-call]  # torch leaves it untyped
        nn.Linear, inputs, outputs
    )
    initialise(layer, gain, generator)
    return layer  # type: ignore[no-any-return]


def initialise(layer: nn.Module, gain: float, generator: torch.Generator) -> nn.Module:
    """The layer with orthogonal weights and zero bias."""
    assert isinstance(layer.weight, Tensor)
    assert isinstance(layer.bias, Tensor)
    nn.init.orthogonal_(layer.weight, gain, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer
