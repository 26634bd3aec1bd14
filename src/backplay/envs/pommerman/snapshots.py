"""Complete games from outside, checked before a kernel reads them: kernels trust what they are
given.

Comes in: what a file or a caller says is a game's state. Goes out: the same, or an error that says
what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.data.arrays import checked_array
from backplay.envs.pommerman import states
from backplay.envs.pommerman.agents import FSMTS, MEMORY, SIMPLE, simple
from backplay.envs.pommerman.agents import fsmts_memory as fsmts
from backplay.envs.pommerman.games import STREAMS
from backplay.envs.pommerman.layout import ACTIONS, CELLS, MAX_AMMO, SEATS
from backplay.errors import BackplayError, ensure, show

MOST_BLAST = 10
FIELDS = ("row", "previous", "memories", "streams", "seat")


def _most(*parts: tuple[int, int, int]) -> NDArray[np.int16]:
    """The largest value at each place of a memory row, from (place, how many, value)."""
    row = np.zeros(MEMORY, np.int16)
    for place, length, value in parts:
        row[place : place + length] = value
    return row


# Memories never hold less than 0; cells and seats are kept plus one.
_MOST = {
    SIMPLE: _most((simple.STEP_TO_ENEMY, 1, ACTIONS), (simple.VISITED, simple.VISITS, CELLS)),
    FSMTS: _most(
        (fsmts.OWNERS, CELLS, 6),
        (fsmts.VISITS, CELLS, fsmts.MANY_VISITS),
        (fsmts.RECENT, fsmts.RECENT_CELLS, CELLS),
        (fsmts.GOAL, 1, CELLS),
        (fsmts.BEFORE, 1, ACTIONS),
        (fsmts.PLACE_BEFORE, 1, CELLS),
        (fsmts.TARGET, 1, SEATS),
        (fsmts.BELIEVED_AMMO, 1, MAX_AMMO + 1),
        (fsmts.BELIEVED_BLAST, 1, MOST_BLAST),
    ),
}


def check_state(state: Any) -> dict[str, Any]:
    """A state as the env's `get_state` returns it; BackplayError if it is none.

    Its memories are checked by `check_memories`, when it is known whose they are.
    """
    if not isinstance(state, dict) or state.keys() != {*FIELDS}:
        got = sorted(map(str, state)) if isinstance(state, dict) else show(state)
        raise BackplayError("state", expected=f"a dict of {', '.join(FIELDS)}", got=got)
    states.validate(state["row"])
    states.validate(state["previous"])
    check_streams(state["streams"])
    seat = state["seat"]
    ensure(type(seat) is int and seat in range(SEATS), "seat", "0, 1, 2 or 3", seat)
    return state


def check_streams(streams: Any, steps: int | None = None) -> None:
    """Random streams [5], or [steps, 5]."""
    checked_array("streams", streams, np.uint64, (*_times(steps), STREAMS))


def check_memories(memories: Any, kinds: Sequence[int], steps: int | None = None) -> None:
    """Memories of agents of these four kinds, [4, MEMORY] or [steps, 4, MEMORY]."""
    checked_array("memories", memories, np.int16, (*_times(steps), SEATS, MEMORY))
    for seat, kind in enumerate(kinds):
        if kind in _MOST:
            held = memories[..., seat, :]
            what = f"what seat {seat} remembers"
            checked_array(what, held, np.int16, held.shape, low=0, high=_MOST[kind])


def _times(steps: int | None) -> tuple[int, ...]:
    return () if steps is None else (steps,)
