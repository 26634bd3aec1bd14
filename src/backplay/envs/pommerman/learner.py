"""A learner's side of a game: its seat and opponents, its reward, when its episode is over and how.

Comes in: settings; a game before and after a step. Does not know: how a game is shown, or files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.players import LEARNER, Names, Player, players
from backplay.errors import BackplayError, show, whole

MOST_STEPS = 8000  # the plane that shows the step stays below 10, like all others
Result = Literal["win", "loss", "tie"]


@dataclass(frozen=True)
class EpisodeRules:
    """What an episode is: against whom, from where, for what."""

    opponents: tuple[Player, ...]
    """Three of them, for the other seats in ascending order."""
    seat: int | None
    """The learner's seat; None: drawn at every reset."""
    item_reward: float
    """Added when the learner picks up an item and lives."""
    max_steps: int
    """The step at which the game is over."""

    def around(self, seat: int) -> list[Player]:
        """Who sits where, with the learner in `seat`."""
        others = list(self.opponents)
        return [*others[:seat], LEARNER, *others[seat:]]

    def begin(self, games: Games, i: int, rng: np.random.Generator, seat: int | None = None) -> int:
        """Starts game `i` afresh; the learner's seat: `seat`, or its own, or one that is drawn.

        The draw takes place whether it is needed or not, so that a seed means the same board for
        all seats.
        """
        drawn = int(rng.integers(at.SEATS))
        taken = next(k for k in (seat, self.seat, drawn) if k is not None)
        games.seat(i, self.around(taken))
        games.begin(i, rng, self.max_steps)
        return taken


def episode_rules(
    opponents: Names,
    seat: int | None,
    simulations: int,
    item_reward: float,
    max_steps: int,
) -> EpisodeRules:
    """What an episode is, from the arguments of an env, checked."""
    if seat is not None and (isinstance(seat, bool) or seat not in range(at.SEATS)):
        raise BackplayError("seat", expected="0, 1, 2, 3 or None", got=show(seat))
    whole("max_steps", max_steps, 1, MOST_STEPS)
    if not isinstance(item_reward, int | float) or not np.isfinite(item_reward):
        raise BackplayError("item_reward", expected="a number", got=show(item_reward))
    three = players(opponents, at.SEATS - 1, simulations)
    return EpisodeRules(tuple(three), seat, float(item_reward), max_steps)


@kernel
def picks_up(before, after, seat):  # type: ignore[no-untyped-def]
    """Whether the agent took an item in this step and lives.

    An item may lie open, or appear in this very step where fire goes out: whoever enters a burning
    cell and lives entered it after its fire.
    """
    agent = at.AGENTS + at.AGENT_FIELDS * seat
    cell = after[agent + at.AGENT_CELL]
    if after[agent + at.AGENT_ALIVE] == 0 or before[agent + at.AGENT_CELL] == cell:
        return False
    shown = before[at.BOARD + cell]
    return at.EXTRA_BOMB <= shown <= at.KICK or (
        shown == at.FLAMES and before[at.ITEMS + cell] != 0
    )


@kernel
def is_over(s, seat, done):  # type: ignore[no-untyped-def]
    """Whether the seat's episode is over: with the game, or with its agent's death."""
    return done != 0 or s[at.AGENTS + at.AGENT_FIELDS * seat + at.AGENT_ALIVE] == 0


def survivors(row: NDArray[np.int16]) -> list[int]:
    """The seats of those who live."""
    return [k for k in range(at.SEATS) if row[at.AGENTS + at.AGENT_FIELDS * k + at.AGENT_ALIVE]]


def result(row: NDArray[np.int16], seat: int) -> Result:
    """How an episode ended for this seat; a tie if nobody lives, or if it lives when time is up."""
    living = survivors(row)
    if living == [seat]:
        return "win"
    return "tie" if not living or seat in living else "loss"
