"""Flames and explosions: what burns down, what goes off, what burns.

Comes in: a state row, before anybody moves (`age_flames`) or after (`tick`). Goes out: the row with
its flames aged, or its bombs ticked, exploded in chains and drawn. Does not know: who moves, dies.
"""

from __future__ import annotations

from backplay.envs.kernels import kernel
from backplay.envs.pommerman.layout import (
    AGENT_AMMO,
    AGENT_FIELDS,
    AGENTS,
    BOARD,
    BOMB,
    BOMB_BLAST,
    BOMB_CELL,
    BOMB_COUNT,
    BOMB_FIELDS,
    BOMB_LEFT,
    BOMB_OWNER,
    BOMBS,
    CELLS,
    FLAME,
    FLAME_CELL,
    FLAME_COUNT,
    FLAME_FIELDS,
    FLAME_LEFT,
    FLAME_LIFE,
    FLAMES,
    ITEMS,
    MAX_AMMO,
    NEXT,
    RIGID,
    WOOD,
)

BURST = -1  # time left of a bomb that has exploded in this step, until it is off the list
_MARK = 32  # added to a cell of the board while it is known to burn in this step
_CELL = _MARK - 1  # what the cell shows, without the mark


@kernel
def age_flames(s):  # type: ignore[no-untyped-def]
    """Flames lose a step of life; spent ones leave the item hidden there, or a passage."""
    for flame in range(FLAME, FLAME + s[FLAME_COUNT] * FLAME_FIELDS, FLAME_FIELDS):
        s[flame + FLAME_LEFT] -= 1
        if s[flame + FLAME_LEFT] < 0:
            cell = s[flame + FLAME_CELL]
            s[BOARD + cell] = s[ITEMS + cell]
            s[ITEMS + cell] = 0
    drop_spent(s)


@kernel
def drop_spent(s):  # type: ignore[no-untyped-def]
    """Takes flames without life off the list, keeps the order and draws the others."""
    kept = FLAME
    end = FLAME + s[FLAME_COUNT] * FLAME_FIELDS
    for flame in range(FLAME, end, FLAME_FIELDS):
        cell, left = s[flame + FLAME_CELL], s[flame + FLAME_LEFT]
        if left >= 0:
            s[kept + FLAME_CELL] = cell
            s[kept + FLAME_LEFT] = left
            s[BOARD + cell] = FLAMES
            kept += FLAME_FIELDS
    for i in range(kept, end):
        s[i] = 0
    s[FLAME_COUNT] = (kept - FLAME) // FLAME_FIELDS


@kernel
def tick(s):  # type: ignore[no-untyped-def]
    """Bombs lose a step of life; those without any and those in flames explode. Draws the rest."""
    explode = False
    end = BOMBS + s[BOMB_COUNT] * BOMB_FIELDS
    for bomb in range(BOMBS, end, BOMB_FIELDS):
        s[bomb + BOMB_LEFT] -= 1
        if s[BOARD + s[bomb + BOMB_CELL]] == FLAMES:
            s[bomb + BOMB_LEFT] = 0
        explode = explode or s[bomb + BOMB_LEFT] <= 0
    if explode:
        _explode(s)
        end = BOMBS + s[BOMB_COUNT] * BOMB_FIELDS
    for bomb in range(BOMBS, end, BOMB_FIELDS):
        s[BOARD + s[bomb + BOMB_CELL]] = BOMB


@kernel
def _explode(s):  # type: ignore[no-untyped-def]
    """Explodes all bombs without life and, in rounds, those they reach; then their cells burn.

    The board keeps its wood until the last round, so wood shields what is behind it from all bombs.
    """
    first, last = CELLS, -1  # the marked cells lie between
    end = BOMBS + s[BOMB_COUNT] * BOMB_FIELDS
    more = True
    while more:
        more = False
        for bomb in range(BOMBS, end, BOMB_FIELDS):
            if s[bomb + BOMB_LEFT] == 0 or (
                s[bomb + BOMB_LEFT] > 0 and s[BOARD + s[bomb + BOMB_CELL]] & _MARK
            ):
                s[bomb + BOMB_LEFT] = BURST
                return_ammo(s, s[bomb + BOMB_OWNER])
                low, high = _mark_rays(s, s[bomb + BOMB_CELL], s[bomb + BOMB_BLAST])
                first, last = min(first, low), max(last, high)
                more = True
    drop_burst(s)
    _burn(s, first, last)


@kernel
def _mark_rays(s, centre, blast):  # type: ignore[no-untyped-def]
    """Marks the cells a bomb reaches; returns the first and the last of them."""
    s[BOARD + centre] |= _MARK
    low = high = centre
    for direction in range(1, 5):
        cell = centre
        for _ in range(blast - 1):
            cell = NEXT[cell, direction]
            if cell < 0 or s[BOARD + cell] & _CELL == RIGID:
                break
            s[BOARD + cell] |= _MARK
            low, high = min(low, cell), max(high, cell)
            if s[BOARD + cell] & _CELL == WOOD:
                break
    return low, high


@kernel
def _burn(s, first, last):  # type: ignore[no-untyped-def]
    """Turns marks into new flames, row by row."""
    end = FLAME + s[FLAME_COUNT] * FLAME_FIELDS
    for cell in range(first, last + 1):
        if s[BOARD + cell] & _MARK:
            s[BOARD + cell] = FLAMES
            s[end + FLAME_CELL] = cell
            s[end + FLAME_LEFT] = FLAME_LIFE
            end += FLAME_FIELDS
    s[FLAME_COUNT] = (end - FLAME) // FLAME_FIELDS


@kernel
def return_ammo(s, owner):  # type: ignore[no-untyped-def]
    """Gives the owner its bomb back."""
    ammo = AGENTS + owner * AGENT_FIELDS + AGENT_AMMO
    s[ammo] = min(s[ammo] + 1, MAX_AMMO)


@kernel
def drop_burst(s):  # type: ignore[no-untyped-def]
    """Takes burst bombs off the list and keeps the order."""
    kept = BOMBS
    end = BOMBS + s[BOMB_COUNT] * BOMB_FIELDS
    for bomb in range(BOMBS, end, BOMB_FIELDS):
        if s[bomb + BOMB_LEFT] != BURST:
            if kept != bomb:
                for field in range(BOMB_FIELDS):
                    s[kept + field] = s[bomb + field]
            kept += BOMB_FIELDS
    for i in range(kept, end):
        s[i] = 0
    s[BOMB_COUNT] = (kept - BOMBS) // BOMB_FIELDS
