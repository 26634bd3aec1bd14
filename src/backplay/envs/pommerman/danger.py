"""What bombs will do: when cells burn, and which moves can be survived.

Comes in: a state row, of which only what a frame shows is read: the board, bombs with their time
left and blast. Goes out: for each cell the step in which it begins to burn; for each move whether
there is a way to live on. Does not know: who moves where, which bombs roll, how old flames are.

Others are taken to let us pass, bombs to lie still, flames to be new.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.cellsets import having, only, spread

NEVER = 99
"""When a cell burns that no bomb reaches."""
BURNING = at.FLAME_LIFE + 1
"""Steps that an explosion burns."""
AHEAD = at.BOMB_LIFE + BURNING
"""After so many steps everything that lies now has burned."""
_CLOSED, _FLAMES = 1 << at.RIGID | 1 << at.WOOD | 1 << at.BOMB, 1 << at.FLAMES


@kernel
def burning_times(s, place, blast, times):  # type: ignore[no-untyped-def]
    """Writes into `times` [CELLS] in how many steps each cell begins to burn, chains included.

    With a `blast`, as if a bomb of it were laid at `place` in the next step.
    """
    for cell in range(at.CELLS):
        times[cell] = NEVER
    end = at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS
    more = end > at.BOMBS or blast > 0
    while more:  # a bomb in the rays of an earlier one goes off with it
        more = False
        for bomb in range(at.BOMBS, end, at.BOMB_FIELDS):
            cell = s[bomb + at.BOMB_CELL]
            left = min(s[bomb + at.BOMB_LEFT], times[cell])
            if s[at.BOARD + cell] == at.FLAMES:
                left = 1
            more |= _burn_rays(s, cell, s[bomb + at.BOMB_BLAST], left, times)
        if blast > 0:
            more |= _burn_rays(s, place, blast, min(at.BOMB_LIFE, times[place]), times)


@kernel
def _burn_rays(s, centre, blast, when, times):  # type: ignore[no-untyped-def]
    """Says of the cells that a bomb reaches that they burn by then; whether that was news."""
    news = times[centre] > when
    times[centre] = min(times[centre], when)
    for direction in range(1, 5):
        cell = centre
        for _ in range(blast - 1):
            cell = at.NEXT[cell, direction]
            if cell < 0 or s[at.BOARD + cell] == at.RIGID:
                break
            news |= times[cell] > when
            times[cell] = min(times[cell], when)
            if s[at.BOARD + cell] == at.WOOD:
                break
    return news


@kernel
def survivable(s, place, blast, times, moves):  # type: ignore[no-untyped-def]
    """Writes into `moves` [5] whether each is closed (0), deadly (1) or can be survived (2).

    Of who stands at `place`, where with a `blast` a bomb is laid in this step; `times` are those of
    `burning_times` for both. Who stands on a bomb may stay there, and not come back.
    """
    board = s[at.BOARD : at.BOARD + at.CELLS]
    end = at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS
    own_low, own_high = only(place)
    free_low, free_high = having(board, ~_CLOSED)
    free_low, free_high = free_low | own_low, free_high | own_high
    flames_low, flames_high = having(board, _FLAMES)
    on_bomb, latest = blast > 0, np.int64(times[place]) if blast > 0 else 1
    for bomb in range(at.BOMBS, end, at.BOMB_FIELDS):
        on_bomb |= s[bomb + at.BOMB_CELL] == place
        latest = max(latest, times[s[bomb + at.BOMB_CELL]])
    low, high = free_low, free_high  # from where there is a way to live on
    for t in range(latest, 0, -1):  # from the last explosion back: who outlives it can stay there
        stays_low, stays_high = low & own_low, high & own_high
        if on_bomb:  # nobody comes back
            low, high = low & ~own_low, high & ~own_high
        near_low, near_high = spread(low, high)
        low = (low | near_low | stays_low) & free_low
        high = (high | near_high | stays_high) & free_high
        if t < BURNING:
            low, high = low & ~flames_low, high & ~flames_high
        if blast > 0 and times[place] <= t < times[place] + BURNING:
            low, high = _unburned(s, place, blast, low, high)
        for bomb in range(at.BOMBS, end, at.BOMB_FIELDS):
            cell = s[bomb + at.BOMB_CELL]
            if times[cell] <= t < times[cell] + BURNING:
                low, high = _unburned(s, cell, s[bomb + at.BOMB_BLAST], low, high)
    for move in range(5):
        onto = at.NEXT[place, move]
        moves[move] = 0
        if onto >= 0:
            onto_low, onto_high = only(onto)
            if (onto_low & free_low) | (onto_high & free_high):
                moves[move] = 2 if (onto_low & low) | (onto_high & high) else 1


@kernel
def _unburned(s, centre, blast, low, high):  # type: ignore[no-untyped-def]
    """A set of cells without those that a bomb burns."""
    for direction in range(5):
        cell = np.int64(centre)
        for _ in range(1 if direction == 0 else blast - 1):
            cell = np.int64(at.NEXT[cell, direction])
            if cell < 0 or s[at.BOARD + cell] == at.RIGID:
                break
            burned_low, burned_high = only(cell)
            low, high = low & ~burned_low, high & ~burned_high
            if s[at.BOARD + cell] == at.WOOD:
                break
    return low, high
