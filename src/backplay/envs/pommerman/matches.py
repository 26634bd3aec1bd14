"""Whole games between agents inside, many of them, in threads.

Comes in: four players, a seed and the game's number. Goes out: how each game went, the same
whatever the number of threads. Does not know: what the games are for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from backplay.envs.pommerman.games import Games, Kept
from backplay.envs.pommerman.layout import SEATS, SHIELD, STEP
from backplay.envs.pommerman.learner import survivors
from backplay.envs.pommerman.players import Player

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Match:
    """A game from its beginning to its end, T steps."""

    number: int
    first: NDArray[np.int16]
    """The row it began with."""
    last: NDArray[np.int16]
    """The row it ended with."""
    steps: int
    kept: Kept | None = None
    """What was done and remembered, if it was to be kept."""

    @property
    def winner(self) -> int | None:
        """The only survivor's seat, if there is one."""
        living = survivors(self.last)
        return living[0] if len(living) == 1 else None


def play_match(
    players: Sequence[Player], seed: int, number: int, keep: bool = False, shield: bool = False
) -> Match:
    """Game `number` of this seed; with `keep`, all that was done and remembered.

    With a `shield` nobody is burned by the explosion of an own bomb.
    """
    games = Games(1)
    games.seat(0, players)
    games.begin(0, np.random.default_rng([seed, number]))
    games.rows[0, SHIELD] = games.previous[0, SHIELD] = shield
    first = games.rows[0].copy()
    kept = games.play(0, keep=keep)
    last = games.rows[0].copy()
    return Match(number, first, last, int(last[STEP]), kept)


def in_order(work: Callable[[int], T], *, jobs: int, total: int | None = None) -> Iterator[T]:
    """work(0), work(1), ... in this order, made by `jobs` threads; without `total`, without end.

    Whoever stops asking, or presses Ctrl-C, waits only for what has begun.
    """
    numbers = iter(count() if total is None else range(total))
    ahead: deque[Future[T]] = deque()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while True:
                while len(ahead) < 2 * jobs and (number := next(numbers, None)) is not None:
                    ahead.append(pool.submit(work, number))
                if not ahead:
                    return
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


def follow(players: Sequence[Player], seed: int, number: int = 0) -> Iterator[NDArray[np.int16]]:
    """The rows of a match, one by one as it is played; the same match that `play_match` plays."""
    games = Games(1)
    games.seat(0, players)
    games.begin(0, np.random.default_rng([seed, number]))
    nobody = np.zeros((1, SEATS), np.int64)
    yield games.rows[0].copy()
    while not games.dones[0]:
        games.advance(nobody)
        yield games.rows[0].copy()
