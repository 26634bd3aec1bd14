"""What the simple agent walks to: the nearest enemy, item or wood, and the first step there.

The agent keeps one shortest way to every cell. Within three steps such a way never turns back, so
a cell has at most two cells before it, and which of the two is kept is a fair coin: one bit of
`coins` for each cell, so that all rules of one decision see the same ways.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel
from backplay.envs.pommerman.agents.simple_bombs import steps_apart
from backplay.envs.pommerman.layout import (
    AGENT,
    AGENT_CELL,
    AGENT_FIELDS,
    AGENTS,
    COL_OF,
    DOWN,
    EXTRA_BOMB,
    KICK,
    LEFT,
    NEXT,
    RANGE,
    RIGHT,
    ROW_OF,
    SEATS,
    STOP,
    TEAM,
    UP,
)

ITEMS = (1 << EXTRA_BOMB) | (1 << RANGE) | (1 << KICK)
ENEMY_REACH = 3
NOWHERE = 99  # the distance of what is out of reach
BACK = (STOP, DOWN, UP, RIGHT, LEFT)  # the step that undoes a step

# The cells two steps off, row-major.
TWO_STEPS = (
    (UP, UP),
    (UP, LEFT),
    (UP, RIGHT),
    (LEFT, LEFT),
    (RIGHT, RIGHT),
    (DOWN, LEFT),
    (DOWN, RIGHT),
    (DOWN, DOWN),
)


@kernel
def is_enemy(team, seat, other):  # type: ignore[no-untyped-def]
    """Whether two seats play against each other."""
    return other != seat and (team == 0 or (other - seat) % 2 != 0)


@kernel
def nearest_enemy(s, board, passable, me, seat, coins):  # type: ignore[no-untyped-def]
    """Distance of the nearest enemy within three steps, and the step to it; of several the last."""
    distance, towards = NOWHERE, STOP
    for other in range(SEATS):
        cell = np.int64(s[AGENTS + other * AGENT_FIELDS + AGENT_CELL])
        if not is_enemy(s[TEAM], seat, other) or board[cell] != AGENT + other:
            continue
        apart = steps_apart(me, cell)
        if apart <= min(distance, ENEMY_REACH):
            step = first_step(board, passable, me, cell, coins)
            if step != STOP:
                distance, towards = apart, step
    return distance, towards


@kernel
def nearest(board, passable, me, codes, coins):  # type: ignore[no-untyped-def]
    """Distance of the nearest cell of these codes within two steps, and the step to it.

    Of several equally near: the highest code, then the last one row-major.
    """
    best, towards = -1, STOP
    for step in (UP, LEFT, RIGHT, DOWN):
        cell = NEXT[me, step]
        if cell >= 0 and (codes >> board[cell]) & 1 and board[cell] >= best:
            best, towards = int(board[cell]), step
    if towards != STOP:
        return 1, towards
    for step, then in TWO_STEPS:
        cell = NEXT[me, step]
        cell = NEXT[cell, then] if cell >= 0 else cell
        if cell >= 0 and (codes >> board[cell]) & 1 and board[cell] >= best:
            first = first_step(board, passable, me, cell, coins)
            if first != STOP:
                best, towards = int(board[cell]), first
    return 2 if towards != STOP else NOWHERE, towards


@kernel
def first_step(board, passable, me, cell, coins):  # type: ignore[no-untyped-def]
    """The first step of the way kept to a cell one to three steps off; STOP: no way is so short."""
    vertical, horizontal = steps_to(me, cell)
    if steps_apart(me, cell) <= 2:
        return first_of_two(board, passable, me, cell, coins)
    one, other = STOP, STOP
    if vertical != STOP:
        before = NEXT[cell, BACK[vertical]]
        if (passable >> board[before]) & 1:
            one = first_of_two(board, passable, me, before, coins)
    if horizontal != STOP:
        before = NEXT[cell, BACK[horizontal]]
        if (passable >> board[before]) & 1:
            other = first_of_two(board, passable, me, before, coins)
    return keep(one, other, cell, coins)


@kernel
def first_of_two(board, passable, me, cell, coins):  # type: ignore[no-untyped-def]
    """`first_step` for a cell one or two steps off."""
    vertical, horizontal = steps_to(me, cell)
    if steps_apart(me, cell) == 1:
        return vertical + horizontal
    one, other = STOP, STOP
    if vertical != STOP and (passable >> board[NEXT[me, vertical]]) & 1:
        one = vertical
    if horizontal != STOP and (passable >> board[NEXT[me, horizontal]]) & 1:
        other = horizontal
    return keep(one, other, cell, coins)


@kernel
def steps_to(me, cell):  # type: ignore[no-untyped-def]
    """The vertical and the horizontal step towards a cell, STOP where it is level."""
    down, right = ROW_OF[cell] - ROW_OF[me], COL_OF[cell] - COL_OF[me]
    vertical = DOWN if down > 0 else (UP if down < 0 else STOP)
    horizontal = RIGHT if right > 0 else (LEFT if right < 0 else STOP)
    return vertical, horizontal


@kernel
def keep(one, other, cell, coins):  # type: ignore[no-untyped-def]
    """Of two steps the one that the cell's coin keeps; where one is STOP, the other."""
    if one == STOP or other == STOP:
        return one + other
    # Cells within three steps of one place are never 64 apart, so each has its own bit.
    return one if (coins >> np.uint64(cell & 63)) & np.uint64(1) else other
