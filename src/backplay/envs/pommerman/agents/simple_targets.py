"""What the simple agent walks to: the nearest enemy, item or wood, and the first step there.

The agent keeps one shortest way to every cell. Within three steps such a way never turns back, so
a cell has at most two cells before it, and which of the two is kept is a fair coin: one bit of
`coins` for each cell, so that all rules of one decision see the same ways.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents.simple_bombs import steps_apart

ITEMS = (1 << at.EXTRA_BOMB) | (1 << at.RANGE) | (1 << at.KICK)
ENEMY_REACH = 3
NOWHERE = 99  # the distance of what is out of reach
BACK = (at.STOP, at.DOWN, at.UP, at.RIGHT, at.LEFT)  # the step that undoes a step

# The cells two steps off, row-major.
TWO_STEPS = (
    (at.UP, at.UP),
    (at.UP, at.LEFT),
    (at.UP, at.RIGHT),
    (at.LEFT, at.LEFT),
    (at.RIGHT, at.RIGHT),
    (at.DOWN, at.LEFT),
    (at.DOWN, at.RIGHT),
    (at.DOWN, at.DOWN),
)


@kernel
def is_enemy(team, seat, other):  # type: ignore[no-untyped-def]
    """Whether two seats play against each other."""
    return other != seat and (team == 0 or (other - seat) % 2 != 0)


@kernel
def nearest_enemy(s, board, passable, me, seat, coins):  # type: ignore[no-untyped-def]
    """Distance of the nearest enemy within three steps, and the step to it; of several the last."""
    distance, towards = NOWHERE, at.STOP
    for other in range(at.SEATS):
        cell = np.int64(s[at.AGENTS + other * at.AGENT_FIELDS + at.AGENT_CELL])
        if not is_enemy(s[at.TEAM], seat, other) or board[cell] != at.AGENT + other:
            continue
        apart = steps_apart(me, cell)
        if apart <= min(distance, ENEMY_REACH):
            step = first_step(board, passable, me, cell, coins)
            if step != at.STOP:
                distance, towards = apart, step
    return distance, towards


@kernel
def nearest(board, passable, me, codes, coins):  # type: ignore[no-untyped-def]
    """Distance of the nearest cell of these codes within two steps, and the step to it.

    Of several equally near: the highest code, then the last one row-major.
    """
    best, towards = -1, at.STOP
    for step in (at.UP, at.LEFT, at.RIGHT, at.DOWN):
        cell = at.NEXT[me, step]
        if cell >= 0 and (codes >> board[cell]) & 1 and board[cell] >= best:
            best, towards = int(board[cell]), step
    if towards != at.STOP:
        return 1, towards
    for step, then in TWO_STEPS:
        cell = at.NEXT[me, step]
        cell = at.NEXT[cell, then] if cell >= 0 else cell
        if cell >= 0 and (codes >> board[cell]) & 1 and board[cell] >= best:
            first = first_step(board, passable, me, cell, coins)
            if first != at.STOP:
                best, towards = int(board[cell]), first
    return 2 if towards != at.STOP else NOWHERE, towards


@kernel
def first_step(board, passable, me, cell, coins):  # type: ignore[no-untyped-def]
    """The first step of the way kept to a cell one to three steps off; STOP: no way is so short."""
    vertical, horizontal = steps_to(me, cell)
    if steps_apart(me, cell) <= 2:
        return first_of_two(board, passable, me, cell, coins)
    one, other = at.STOP, at.STOP
    if vertical != at.STOP:
        before = at.NEXT[cell, BACK[vertical]]
        if (passable >> board[before]) & 1:
            one = first_of_two(board, passable, me, before, coins)
    if horizontal != at.STOP:
        before = at.NEXT[cell, BACK[horizontal]]
        if (passable >> board[before]) & 1:
            other = first_of_two(board, passable, me, before, coins)
    return keep(one, other, cell, coins)


@kernel
def first_of_two(board, passable, me, cell, coins):  # type: ignore[no-untyped-def]
    """`first_step` for a cell one or two steps off."""
    vertical, horizontal = steps_to(me, cell)
    if steps_apart(me, cell) == 1:
        return vertical + horizontal
    one, other = at.STOP, at.STOP
    if vertical != at.STOP and (passable >> board[at.NEXT[me, vertical]]) & 1:
        one = vertical
    if horizontal != at.STOP and (passable >> board[at.NEXT[me, horizontal]]) & 1:
        other = horizontal
    return keep(one, other, cell, coins)


@kernel
def steps_to(me, cell):  # type: ignore[no-untyped-def]
    """The vertical and the horizontal step towards a cell, STOP where it is level."""
    down, right = at.ROW_OF[cell] - at.ROW_OF[me], at.COL_OF[cell] - at.COL_OF[me]
    vertical = at.DOWN if down > 0 else (at.UP if down < 0 else at.STOP)
    horizontal = at.RIGHT if right > 0 else (at.LEFT if right < 0 else at.STOP)
    return vertical, horizontal


@kernel
def keep(one, other, cell, coins):  # type: ignore[no-untyped-def]
    """Of two steps the one that the cell's coin keeps; where one is STOP, the other."""
    if one == at.STOP or other == at.STOP:
        return one + other
    # Cells within three steps of one place are never 64 apart, so each has its own bit.
    return one if (coins >> np.uint64(cell & 63)) & np.uint64(1) else other
