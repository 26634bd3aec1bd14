"""Flames and explosions: what burns down, what goes off, what burns.

Comes in: a state row, before anybody moves (`age_flames`) or after (`tick`). Goes out: the row with
its flames aged, or its bombs ticked, exploded in chains and drawn. Does not know: who moves, dies.
"""

from __future__ import annotations

from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at

BURST = -1  # time left of a bomb that has exploded in this step, until it is off the list
_MARK = 32  # added to a cell of the board while it is known to burn in this step
_CELL = _MARK - 1  # what the cell shows, without the mark
_OWNER = 2 * _MARK  # times two for each seat: whose bombs reach it, where agents are shielded


@kernel
def age_flames(s):  # type: ignore[no-untyped-def]
    """Flames lose a step of life; spent ones leave the item hidden there, or a passage."""
    for flame in range(at.FLAME, at.FLAME + s[at.FLAME_COUNT] * at.FLAME_FIELDS, at.FLAME_FIELDS):
        s[flame + at.FLAME_LEFT] -= 1
        if s[flame + at.FLAME_LEFT] < 0:
            cell = s[flame + at.FLAME_CELL]
            s[at.BOARD + cell] = s[at.ITEMS + cell]
            s[at.ITEMS + cell] = 0
    drop_spent(s)


@kernel
def drop_spent(s):  # type: ignore[no-untyped-def]
    """Takes flames without life off the list, keeps the order and draws the others."""
    kept = at.FLAME
    end = at.FLAME + s[at.FLAME_COUNT] * at.FLAME_FIELDS
    for flame in range(at.FLAME, end, at.FLAME_FIELDS):
        cell, left = s[flame + at.FLAME_CELL], s[flame + at.FLAME_LEFT]
        if left >= 0:
            s[kept + at.FLAME_CELL] = cell
            s[kept + at.FLAME_LEFT] = left
            s[at.BOARD + cell] = at.FLAMES
            kept += at.FLAME_FIELDS
    for i in range(kept, end):
        s[i] = 0
    s[at.FLAME_COUNT] = (kept - at.FLAME) // at.FLAME_FIELDS


@kernel
def tick(s):  # type: ignore[no-untyped-def]
    """Bombs lose a step of life; those without any and those in flames explode. Draws the rest."""
    explode = False
    end = at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS
    for bomb in range(at.BOMBS, end, at.BOMB_FIELDS):
        s[bomb + at.BOMB_LEFT] -= 1
        if s[at.BOARD + s[bomb + at.BOMB_CELL]] == at.FLAMES:
            s[bomb + at.BOMB_LEFT] = 0
        explode = explode or s[bomb + at.BOMB_LEFT] <= 0
    if explode:
        _explode(s)
        end = at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS
    for bomb in range(at.BOMBS, end, at.BOMB_FIELDS):
        s[at.BOARD + s[bomb + at.BOMB_CELL]] = at.BOMB


@kernel
def _explode(s):  # type: ignore[no-untyped-def]
    """Explodes all bombs without life and, in rounds, those they reach; then their cells burn.

    The board keeps its wood until the last round, so wood shields what is behind it from all bombs.
    """
    first, last = at.CELLS, -1  # the marked cells lie between
    shield = s[at.SHIELD] != 0 and s[at.RADIO] == 0
    end = at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS
    more = True
    while more:
        more = False
        for bomb in range(at.BOMBS, end, at.BOMB_FIELDS):
            if s[bomb + at.BOMB_LEFT] == 0 or (
                s[bomb + at.BOMB_LEFT] > 0 and s[at.BOARD + s[bomb + at.BOMB_CELL]] & _MARK
            ):
                s[bomb + at.BOMB_LEFT] = BURST
                return_ammo(s, s[bomb + at.BOMB_OWNER])
                mark = _MARK | (_OWNER << s[bomb + at.BOMB_OWNER] if shield else 0)
                low, high = _mark_rays(s, s[bomb + at.BOMB_CELL], s[bomb + at.BOMB_BLAST], mark)
                first, last = min(first, low), max(last, high)
                more = True
    drop_burst(s)
    if shield:
        _spare_owners(s)
    _burn(s, first, last)


@kernel
def _spare_owners(s):  # type: ignore[no-untyped-def]
    """Takes the marks off the cells of those whose own bombs made them, and owners off the rest."""
    for seat in range(at.SEATS):
        agent = at.AGENTS + seat * at.AGENT_FIELDS
        cell = at.BOARD + s[agent + at.AGENT_CELL]
        if s[agent + at.AGENT_ALIVE] != 0 and s[cell] & (_OWNER << seat):
            s[cell] &= _CELL
    for cell in range(at.CELLS):
        s[at.BOARD + cell] &= _MARK | _CELL


@kernel
def _mark_rays(s, centre, blast, mark):  # type: ignore[no-untyped-def]
    """Marks the cells a bomb reaches; returns the first and the last of them."""
    s[at.BOARD + centre] |= mark
    low = high = centre
    for direction in range(1, 5):
        cell = centre
        for _ in range(blast - 1):
            cell = at.NEXT[cell, direction]
            if cell < 0 or s[at.BOARD + cell] & _CELL == at.RIGID:
                break
            s[at.BOARD + cell] |= mark
            low, high = min(low, cell), max(high, cell)
            if s[at.BOARD + cell] & _CELL == at.WOOD:
                break
    return low, high


@kernel
def _burn(s, first, last):  # type: ignore[no-untyped-def]
    """Turns marks into new flames, row by row."""
    end = at.FLAME + s[at.FLAME_COUNT] * at.FLAME_FIELDS
    for cell in range(first, last + 1):
        if s[at.BOARD + cell] & _MARK:
            s[at.BOARD + cell] = at.FLAMES
            s[end + at.FLAME_CELL] = cell
            s[end + at.FLAME_LEFT] = at.FLAME_LIFE
            end += at.FLAME_FIELDS
    s[at.FLAME_COUNT] = (end - at.FLAME) // at.FLAME_FIELDS


@kernel
def return_ammo(s, owner):  # type: ignore[no-untyped-def]
    """Gives the owner its bomb back."""
    ammo = at.AGENTS + owner * at.AGENT_FIELDS + at.AGENT_AMMO
    s[ammo] = min(s[ammo] + 1, at.MAX_AMMO)


@kernel
def drop_burst(s):  # type: ignore[no-untyped-def]
    """Takes burst bombs off the list and keeps the order."""
    kept = at.BOMBS
    end = at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS
    for bomb in range(at.BOMBS, end, at.BOMB_FIELDS):
        if s[bomb + at.BOMB_LEFT] != BURST:
            if kept != bomb:
                for field in range(at.BOMB_FIELDS):
                    s[kept + field] = s[bomb + field]
            kept += at.BOMB_FIELDS
    for i in range(kept, end):
        s[i] = 0
    s[at.BOMB_COUNT] = (kept - at.BOMBS) // at.BOMB_FIELDS
