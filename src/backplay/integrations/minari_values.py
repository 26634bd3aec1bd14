"""Values of a space as Minari keeps them, and back.

Comes in: observations and actions of any Gymnasium space. Goes out: one array or list for each leaf
of the space, as Minari's formats want it. Does not know: episodes and datasets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from minari.dataset.minari_storage import is_image_space


def columns(space: gym.Space[Any], values: Sequence[Any]) -> Any:
    """Values of a space as Minari keeps them: one array or list for each of the space's leaves."""
    if isinstance(space, spaces.Dict):
        return {name: columns(sub, [v[name] for v in values]) for name, sub in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(columns(sub, [v[i] for v in values]) for i, sub in enumerate(space.spaces))
    if isinstance(space, spaces.Text):
        return [str(value) for value in values]
    return np.array([np.asarray(value) for value in values], space.dtype)


def value(space: gym.Space[Any], columns: Any, step: int) -> Any:
    """The value at `step` of what `columns` made."""
    if isinstance(space, spaces.Dict):
        return {name: value(sub, columns[name], step) for name, sub in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(value(sub, columns[i], step) for i, sub in enumerate(space.spaces))
    if isinstance(space, spaces.Text):
        return str(columns[step])
    if isinstance(space, spaces.Discrete):
        return int(columns[step])
    return np.array(columns[step], space.dtype)


def comparable(space: gym.Space[Any], columns: Any, step: int, lossy: bool) -> Any:
    """As `value`, without the images that the dataset keeps only roughly, as JPEG."""
    if isinstance(space, spaces.Dict):
        return {k: comparable(sub, columns[k], step, lossy) for k, sub in space.items()}
    if isinstance(space, spaces.Tuple):
        subspaces = enumerate(space.spaces)
        return tuple(comparable(sub, columns[i], step, lossy) for i, sub in subspaces)
    return None if lossy and is_image_space(space) else value(space, columns, step)


def plain(value: Any) -> Any:
    """Options as they were before HDF5 made numpy scalars of them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value
