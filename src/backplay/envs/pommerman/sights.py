"""What learners see of many games: planes or facts, in one array that kernels write.

Comes in: rows, the rows before them, seats. Goes out: an array [n, ...] that is overwritten by the
next look. Does not know: who plays or learns.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from backplay.envs.pommerman.env import observation_space
from backplay.envs.pommerman.facts import FACTS, MOST, facts_many
from backplay.envs.pommerman.planes import stack_many
from backplay.envs.pommerman.turns import SHOWN
from backplay.errors import BackplayError, ensure, show

Sees = Literal["planes", "facts", "turned facts", "absolute facts"]
"""What a learner is shown."""


class Sight:
    """A way to see games."""

    space: spaces.Box
    """Of what is seen of one game."""
    seen: NDArray[Any]
    """What was seen last, [n, ...]."""

    def look(self, first: int, last: int, *games: NDArray[Any]) -> None:
        """Sees the games first..last-1 anew: by the rows before, the rows, and the seats, [n]."""
        raise NotImplementedError

    def meant(self, actions: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions [n] on the boards themselves, where `actions` are on what is seen of them."""
        return actions


def sight(name: str, n: int) -> Sight:
    """The sight of this name, of `n` games."""
    if name == "planes":
        return Planes(n)
    if name in ("facts", "absolute facts"):
        return Facts(n, centred=name == "facts")
    if name == "turned facts":
        return TurnedFacts(n)
    raise BackplayError(
        "observation", expected=f"one of {', '.join(get_args(Sees))}", got=show(name)
    )


class Planes(Sight):
    """Two frames of 19 planes, the older first, [n, 38, 11, 11]."""

    def __init__(self, n: int) -> None:
        space = observation_space("planes")
        assert isinstance(space, spaces.Box)
        self.space, self.seen = space, np.zeros((n, *space.shape), np.float32)

    def look(self, first: int, last: int, *games: NDArray[Any]) -> None:
        stack_many(first, last, *games, self.seen)


class Facts(Sight):
    """The numbers of the facts that hold, -1 behind the last, [n, MOST].

    As seen from the own cell, or, not `centred`, from the middle of the board.
    """

    def __init__(self, n: int, *, centred: bool = True) -> None:
        self._centred, self._turns = centred, np.zeros(n, np.int64)
        self.space = spaces.Box(-1, FACTS - 1, (MOST,), np.int32)
        self.seen = np.full((n, MOST), -1, np.int32)

    def look(self, first: int, last: int, *games: NDArray[Any]) -> None:
        most = facts_many(first, last, *games, self._turns, self._centred, self.seen)
        ensure(most <= MOST, "state", f"at most {MOST} facts, more than any game has", got=most)


class TurnedFacts(Facts):
    """As facts, of the board turned so that whoever looks began top left."""

    def look(self, first: int, last: int, *games: NDArray[Any]) -> None:
        self._turns[first:last] = games[-1][first:last]
        super().look(first, last, *games)

    def meant(self, actions: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.int64]:
        return _MEANT[seats, actions]


_MEANT = SHOWN.argsort(axis=1)
"""What each action on a board after 0 to 3 quarter turns does on the board itself, [4, 6]."""
