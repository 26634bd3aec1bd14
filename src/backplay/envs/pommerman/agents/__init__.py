"""The players that come with the game, one kernel for all kinds.

A player is a kind (a number), a row of memory and a random stream. What it carries from one
decision to the next lies in its memory row alone, all zero for one that has seen nothing: a game
saved with these rows and streams plays on exactly.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel
from backplay.envs.pommerman.agents import fsmts, random, simple
from backplay.envs.pommerman.layout import STOP

OUTSIDE, RANDOM, SIMPLE, FSMTS = -1, 0, 1, 2

MEMORY = 256  # int16, whatever the kind
SCRATCH = max(
    simple.SCRATCH_NEEDED, fsmts.SCRATCH_NEEDED
)  # int16; nothing in it outlives a decision


@kernel
def decide(kind, s, seat, memory, streams, i, options, scratch):  # type: ignore[no-untyped-def]
    """The action of this kind of player in this seat; STOP where the action comes from outside."""
    if kind == FSMTS:
        return np.int64(fsmts.decide(s, seat, memory, streams, i, options, scratch))
    if kind == SIMPLE:
        return np.int64(simple.decide(s, seat, memory, streams, i, scratch))
    if kind == RANDOM:
        return np.int64(random.decide(s, seat, memory, streams, i, scratch))
    return np.int64(STOP)


@kernel
def forget(memory):  # type: ignore[no-untyped-def]
    """Make a memory row that of a player who has seen nothing."""
    memory[:] = 0
