"""What vector envs that draw their own starts share: who draws them, and that all are one worker.

Comes in: a curriculum, which an env knows only as someone who draws starts, or nobody. Goes out:
starts. Does not know: what is played.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.errors import BackplayError, show
from backplay.records import DrawsStarts


class InitialStates:
    """Every episode in the initial state of some demonstration, as long as the env allows."""

    patience: float | None = None

    def sample(
        self, lengths: Any, n: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`n` starts: demo [n], step [n]."""
        return rng.integers(len(lengths), size=n), np.zeros(n, np.int64)


class OneWorker:
    """A vector env whose envs are one worker to `bp.advance`."""

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """One attribute, or what one method returns."""
        found = getattr(self, name)
        return (found(*args, **kwargs) if callable(found) else found,)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """As `call`."""
        return self.call(name)


def require_curriculum(curriculum: DrawsStarts) -> None:
    """Refuses what draws no starts."""
    if isinstance(curriculum, type) or not isinstance(curriculum, DrawsStarts):
        raise BackplayError(
            "curriculum", expected="a curriculum such as bp.Uniform()", got=show(curriculum)
        )
