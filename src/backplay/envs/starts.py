"""Where episodes start if nobody says: in the initial state of some demonstration.

Comes in: the lengths of demonstrations. Goes out: starts. Stands in for a curriculum, which an env
knows only as someone who draws starts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class InitialStates:
    """Every episode in the initial state of some demonstration, as long as the env allows."""

    patience: float | None = None

    def sample(
        self, lengths: Any, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`n` starts: demo [n], step [n]."""
        return rng.integers(len(lengths), size=n), np.zeros(n, np.int64)
