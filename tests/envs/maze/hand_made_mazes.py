"""A set of one maze, small enough to be checked by eye."""

from __future__ import annotations

from typing import Any

import numpy as np

from backplay.envs.maze import MazeSet


def by_hand(**changes: Any) -> MazeSet:
    """One maze of 2 rows and 3 columns: S#G over three free cells, and the way around."""
    fields: dict[str, Any] = {
        "walls": np.array([[[False, True, False], [False, False, False]]]),
        "starts": np.array([0]),
        "goals": np.array([2]),
        "distances": np.array([4]),
        "paths": (np.array([0, 0, 3, 4, 5, 2]),),
        "actions": (np.array([4, 2, 4, 4, 1]),),  # the first is blocked
    }
    return MazeSet(**{**fields, **changes})
