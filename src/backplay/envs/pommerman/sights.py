"""What learners see of many games: planes or facts, in one array that kernels write.

Comes in: rows, the rows before them, seats. Goes out: an array [n, ...] that is overwritten by the
next look. Does not know: who plays or learns.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from backplay.envs.kernels import kernel
from backplay.envs.pommerman.env import observation_space
from backplay.envs.pommerman.facts import FACTS, MOST, facts_many
from backplay.envs.pommerman.planes import stack
from backplay.errors import BackplayError, show


class Sight(Protocol):
    """A way to see games."""

    @property
    def space(self) -> spaces.Box:
        """Of what is seen of one game."""

    @property
    def seen(self) -> NDArray[Any]:
        """What was seen last, [n, ...]."""

    def look(
        self,
        first: int,
        last: int,
        previous: NDArray[np.int16],
        rows: NDArray[np.int16],
        seats: NDArray[np.int64],
    ) -> None:
        """Sees the games first..last-1 anew, each from its seat."""


def sight(name: str, n: int) -> Sight:
    """The sight of this name, of `n` games."""
    if name == "planes":
        return Planes(n)
    if name == "facts":
        return Facts(n)
    raise BackplayError("observation", expected="'planes' or 'facts'", got=show(name))


class Planes:
    """Two frames of 19 planes, the older first, [n, 38, 11, 11]."""

    def __init__(self, n: int) -> None:
        space = observation_space("planes")
        assert isinstance(space, spaces.Box)
        self.space = space
        self.seen = np.zeros((n, *space.shape), np.float32)

    def look(
        self,
        first: int,
        last: int,
        previous: NDArray[np.int16],
        rows: NDArray[np.int16],
        seats: NDArray[np.int64],
    ) -> None:
        _stack_many(first, last, previous, rows, seats, self.seen)


class Facts:
    """The numbers of the facts that hold, -1 behind the last, [n, MOST]."""

    def __init__(self, n: int) -> None:
        self.space = spaces.Box(-1, FACTS - 1, (MOST,), np.int32)
        self.seen = np.full((n, MOST), -1, np.int32)

    def look(
        self,
        first: int,
        last: int,
        previous: NDArray[np.int16],
        rows: NDArray[np.int16],
        seats: NDArray[np.int64],
    ) -> None:
        most = facts_many(first, last, previous, rows, seats, self.seen)
        if most > MOST:
            raise BackplayError(
                "state", expected=f"at most {MOST} facts, more than any game has", got=most
            )


@kernel
def _stack_many(first, last, previous, rows, seats, out):  # type: ignore[no-untyped-def]
    """The planes of the games first..last-1."""
    for i in range(first, last):
        stack(previous[i], rows[i], seats[i], out[i])
