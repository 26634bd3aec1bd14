"""Tournaments: who wins how often, with seats that rotate.

Comes in: four agents' names and a number of games. Goes out: counts with Wilson's intervals, at any
time, so that a tournament that is stopped still says what is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from backplay.envs.pommerman.layout import SEATS
from backplay.envs.pommerman.learner import survivors
from backplay.envs.pommerman.matches import Match, in_order, play_match
from backplay.envs.pommerman.players import Names, players
from backplay.rates import wilson


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
