"""Episodes that finished, as arrays until somebody asks for them.

Comes in: a few ends at a time, as arrays. Goes out: `Episode`s, or all of it as plain data.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.data.arrays import checked_array
from backplay.records import Episode, Start

_DTYPES = {
    "demo": np.int64, "step": np.int64, "total_reward": np.float64, "length": np.int64,
    "success": np.bool_, "back": np.int64, "par": np.float64,
}  # fmt: skip


class Finished:
    """The last `most` episodes, oldest first."""

    def __init__(self, most: int = 100_000) -> None:
        self._most, self._count = most, 0
        self._blocks: deque[tuple[NDArray[Any], ...]] = deque()

    def add(self, *block: NDArray[Any]) -> None:
        """Keeps k episodes: demo, step, total reward, length, success, back and par, [k]."""
        self._blocks.append(block)
        self._count += len(block[0])
        while self._count - len(self._blocks[0][0]) >= self._most:
            self._count -= len(self._blocks.popleft()[0])

    def take(self) -> list[Episode]:
        """The episodes, which are then forgotten."""
        columns = [column.tolist() for column in self.get_state().values()]
        self._blocks.clear()
        self._count = 0
        return [
            Episode(Start(demo, step), *rest) for demo, step, *rest in zip(*columns, strict=True)
        ]

    def get_state(self) -> dict[str, NDArray[Any]]:
        """The episodes as arrays."""
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in _DTYPES}
        for block in self._blocks:
            for name, column in zip(_DTYPES, block, strict=True):
                parts[name].append(column)
        return {
            name: np.concatenate([np.zeros(0, dtype), *parts[name]])[-self._most :]
            for name, dtype in _DTYPES.items()
        }

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Keeps what `get_state` returned instead."""
        count = len(state["demo"])
        block: tuple[NDArray[Any], ...] = tuple(
            checked_array(name, state[name], dtype, (count,)).copy()
            for name, dtype in _DTYPES.items()
        )
        self._blocks.clear()
        self._count = 0
        self.add(*block)
