"""How the state-machine agent searches: its budget, and the oddities of the original that it keeps.

The defaults play like the original. Each switch turned off gives what its author must have meant.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from backplay.errors import ensure

# Places in the row that kernels read, in the order of the fields below.
SIMULATIONS, OWNER_SHIFT, UNKNOWN_BOMBS_INVISIBLE, ROW0_FREEZE, ROW0_TARGET_SCORES_100 = range(5)
FROZEN_REPLY, STALE_ROLLOUT_POSITION, DUPLICATE_FLOOD, RESET_ON_EPISODE = range(5, 9)
FROZEN_SUPPLIES = 9


@dataclass(frozen=True, kw_only=True)
class FsmtsOptions:
    """Budget and oddities of the state-machine agent."""

    simulations: int = 50
    """Simulations of one search; the original stops at 250 or after 95 ms, in practice near 50."""
    owner_shift: bool = True
    """Bombs are credited to the seat below: seat 0's belong to nobody, and no search sees them."""
    unknown_bombs_invisible: bool = True
    """A search sees only bombs whose laying was observed."""
    row0_freeze: bool = True
    """In random steps whoever stands in the top row neither moves nor burns."""
    row0_target_scores_100: bool = True
    """A target in the top row scores as if it were dead."""
    frozen_reply: bool = True
    """The others' answer to a move is drawn once per search, not once per simulation."""
    stale_rollout_position: bool = True
    """In random steps my moves are those open at the place where the simulation began."""
    duplicate_flood: bool = True
    """The cells around a target count once for every path to them."""
    reset_on_episode: bool = False
    """Forget everything at step 0 of a game."""
    frozen_supplies: bool = True
    """Believe to have the ammo and the blast strength of the first decision for ever."""

    def __post_init__(self) -> None:
        """Refuse a budget that is no number of simulations."""
        ensure(
            1 <= self.simulations <= 1_000_000, "simulations", "1 to 1,000,000",
            got=self.simulations, do="Write simulations=50, or 250 for the original's upper limit.",
        )  # fmt: skip

    def row(self) -> np.ndarray:
        """The options as the int32 row that kernels read."""
        return np.array([int(value) for value in astuple(self)], np.int32)
