"""What the simple agent makes of bombs: which sides are in danger, where there is a way out.

`board` is the board as seen, `passable` a set of cell codes (bit k: code k). Walls do not shield:
what counts is the same row or column, and how far it is.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel
from backplay.envs.pommerman.cellsets import cell_sets, having, only, spread
from backplay.envs.pommerman.layout import (
    BOMB_BLAST,
    BOMB_CELL,
    BOMB_COUNT,
    BOMB_FIELDS,
    BOMBS,
    COL_OF,
    DOWN,
    FOG,
    LEFT,
    NEXT,
    PASSAGE,
    RIGHT,
    ROW_OF,
    STOP,
    UP,
)

# How far the agent's search looks; downwards and to the right one row and one column less.
HORIZON = 10
HORIZONS = cell_sets(
    lambda row, col, r, c: (
        abs(row - r) + abs(col - c) <= HORIZON and r < row + HORIZON and c < col + HORIZON
    )
)
OFF_LINES = cell_sets(lambda row, col, r, c: row != r and col != c)


@kernel
def find_danger(s, board, passable, me, danger):  # type: ignore[no-untyped-def]
    """Fill danger[step] with the largest blast of the bombs on that side, danger[STOP] underfoot.

    A bomb counts when the walk to it is no longer than its blast. Returns whether any does.
    """
    danger[:] = 0
    found = False
    for bomb in range(BOMBS, BOMBS + s[BOMB_COUNT] * BOMB_FIELDS, BOMB_FIELDS):
        cell, blast = np.int64(s[bomb + BOMB_CELL]), s[bomb + BOMB_BLAST]
        side = side_of(me, cell)
        if side < 0 or blast <= danger[side] or board[cell] == FOG:
            continue
        if is_within(board, passable, me, cell, blast):
            danger[side] = blast
            found = True
    return found


@kernel
def side_of(me, cell):  # type: ignore[no-untyped-def]
    """The direction of a cell in the same row or column, STOP for `me` itself, -1 for others."""
    if cell == me:
        return STOP
    if ROW_OF[cell] == ROW_OF[me]:
        return LEFT if cell < me else RIGHT
    if COL_OF[cell] == COL_OF[me]:
        return UP if cell < me else DOWN
    return -1


@kernel
def steps_apart(a, b):  # type: ignore[no-untyped-def]
    """Rows plus columns between two cells."""
    return abs(ROW_OF[a] - ROW_OF[b]) + abs(COL_OF[a] - COL_OF[b])


@kernel
def is_within(board, passable, me, goal, limit):  # type: ignore[no-untyped-def]
    """Whether at most `limit` steps lead from `me` to `goal`, which need not be passable itself."""
    apart = steps_apart(me, goal)
    if apart <= 1 or apart > limit:
        return apart <= 1
    seen_low, seen_high = HORIZONS[me, 0], HORIZONS[me, 1]
    goal_low, goal_high = only(goal)
    goal_low, goal_high = goal_low & seen_low, goal_high & seen_high
    open_low, open_high = having(board, passable)
    open_low, open_high = open_low & seen_low, open_high & seen_high
    low, high = only(me)
    for _ in range(limit):
        open_low, open_high = open_low & ~low, open_high & ~high
        low, high = spread(low, high)
        if (low & goal_low) | (high & goal_high):
            return True
        low, high = low & open_low, high & open_high
        if not (low | high):
            return False
    return False


@kernel
def break_out(board, passable, me, danger):  # type: ignore[no-untyped-def]
    """With danger on all sides: the first that is no dead end, in the order they became unsafe.

    Row-major, the bombs above and to the left come before one underfoot, which adds the sides
    still missing as right, left, up, down; those to the right and below come last.
    """
    if danger[UP] and is_way_out(board, passable, me, UP, danger):
        return UP
    if danger[LEFT] and is_way_out(board, passable, me, LEFT, danger):
        return LEFT
    for step in (RIGHT, LEFT, UP, DOWN):
        if is_way_out(board, passable, me, step, danger):
            return step
    return STOP


@kernel
def is_way_out(board, passable, me, step, danger):  # type: ignore[no-untyped-def]
    """Whether the next cell leads to one off its row and column, or farther from it than the blast.

    The blast is the largest of the bombs that make this step unsafe.
    """
    start = NEXT[me, step]
    if start < 0 or not (passable >> board[start]) & 1:
        return False
    blast = max(danger[step], danger[STOP])
    low, high = only(me)
    open_low, open_high = having(board, passable)
    open_low, open_high = open_low & ~low, open_high & ~high
    low, high = only(start)
    for _ in range(blast + 1):  # as long as the walk keeps to the lines, its steps are the distance
        open_low, open_high = open_low & ~low, open_high & ~high
        low, high = spread(low, high)
        low, high = low & open_low, high & open_high
        if (low & OFF_LINES[start, 0]) | (high & OFF_LINES[start, 1]):
            return True
        if not (low | high):
            return False
    return True


@kernel
def leaves_a_way_out(board, passable, me, blast):  # type: ignore[no-untyped-def]
    """Whether a passage off the lines of a bomb laid here, or beyond its blast, can be reached."""
    open_low, open_high = having(board, passable)
    open_low, open_high = open_low & HORIZONS[me, 0], open_high & HORIZONS[me, 1]
    passage_low, passage_high = having(board, 1 << PASSAGE)
    away_low, away_high = passage_low & OFF_LINES[me, 0], passage_high & OFF_LINES[me, 1]
    low, high = only(me)
    steps = 0
    while low | high:
        open_low, open_high = open_low & ~low, open_high & ~high
        low, high = spread(low, high)
        low, high = low & open_low, high & open_high
        if (low & away_low) | (high & away_high):
            return True
        steps += 1
        if steps > blast and (low & passage_low) | (high & passage_high):
            return True
    return False


@kernel
def is_safe(s, board, cell):  # type: ignore[no-untyped-def]
    """Whether no bomb in sight is in the cell's row or column within its blast."""
    for bomb in range(BOMBS, BOMBS + s[BOMB_COUNT] * BOMB_FIELDS, BOMB_FIELDS):
        at = np.int64(s[bomb + BOMB_CELL])
        in_line = board[at] != FOG and side_of(cell, at) >= 0
        if in_line and steps_apart(cell, at) <= s[bomb + BOMB_BLAST]:
            return False
    return True
