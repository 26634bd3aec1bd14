"""Whole games between agents inside, many of them, in threads; tournaments: who wins how often.

Comes in: four players, a seed and the games' numbers. Goes out: how each game went, the same
whatever the number of threads; counts with Wilson's intervals, at any time, so that a tournament
that is stopped still says what is known. Does not know: what the games are for.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from backplay.envs.pommerman.games import Games, Kept
from backplay.envs.pommerman.layout import SEATS, SHIELD, STEP
from backplay.envs.pommerman.learner import survivors
from backplay.envs.pommerman.players import Names, Player, players
from backplay.rates import wilson

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


@dataclass(frozen=True)
class Score:
    """Wins out of games."""

    wins: int
    games: int

    def __str__(self) -> str:
        low, high = wilson(self.wins, self.games)
        share = self.wins / self.games if self.games else 0.0
        return f"{self.wins} of {self.games}, {share:.1%} [{low:.1%}, {high:.1%}]"


@dataclass
class Standings:
    """The results of games so far."""

    agents: tuple[str, ...]
    """Names of the four players; in game g player k sits in seat (k + g) mod 4."""
    games: int = 0
    steps: int = 0
    timeouts: int = 0
    """Ties because time was up."""
    deaths: int = 0
    """Ties because the last died together."""
    wins: list[list[int]] = field(default_factory=lambda: [[0] * SEATS for _ in range(SEATS)])
    """By player and seat."""
    starts: list[list[int]] = field(default_factory=lambda: [[0] * SEATS for _ in range(SEATS)])
    """Games by player and seat."""

    def add(self, match: Match) -> None:
        """Counts one game."""
        self.games += 1
        self.steps += match.steps
        for player in range(SEATS):
            self.starts[player][seat_of(player, match.number)] += 1
        if match.winner is not None:
            player = (match.winner - match.number) % SEATS
            self.wins[player][match.winner] += 1
        elif survivors(match.last):
            self.timeouts += 1
        else:
            self.deaths += 1

    @property
    def names(self) -> list[str]:
        """The different names, in their order."""
        return list(dict.fromkeys(self.agents))

    @property
    def mean_length(self) -> float:
        """Steps of a game."""
        return self.steps / self.games if self.games else math.nan

    def score(self, name: str) -> Score:
        """Games won by a player of this name, out of all."""
        return Score(sum(sum(self.wins[k]) for k in self._players(name)), self.games)

    def seat_score(self, name: str, seat: int) -> Score:
        """Wins of players of this name in this seat, out of their games there."""
        mine = self._players(name)
        return Score(sum(self.wins[k][seat] for k in mine), sum(self.starts[k][seat] for k in mine))

    def _players(self, name: str) -> list[int]:
        return [k for k, agent in enumerate(self.agents) if agent == name]


def seat_of(player: int, game: int) -> int:
    """Where player k sits in a game: one seat further each time."""
    return (player + game) % SEATS


def tournament(
    agents: Names,
    games: int,
    *,
    seed: int = 0,
    simulations: int = 50,
    jobs: int = 1,
    shield: bool = False,
) -> Iterator[Standings]:
    """Plays `games` games, each on its own board; yields the standings after every one.

    With a `shield` nobody is burned by the explosion of an own bomb.
    """
    four = players(agents, SEATS, simulations)
    standings = Standings(tuple(player.name for player in four))

    def work(number: int) -> Match:
        seated = [four[(seat - number) % SEATS] for seat in range(SEATS)]
        return play_match(seated, seed, number, shield=shield)

    for match in in_order(work, jobs=jobs, total=games):
        standings.add(match)
        yield standings
