"""Value iteration over a maze with a model of numbers to be learned: kernels, forwards and back.

A sweep gives every cell the worth of being there: what its kind is worth, plus the best of what the
five actions lead to by the sweep before. What an action leads to is a weighted sum over the cell
and its four neighbours, turned with the action. The rules are not in it: which kinds are good,
where an action leads and how much the future counts are the model's numbers, in this order:

    passage, wall, goal            worth of a kind; the board's edge counts as wall
    discount                       how much of what comes next counts
    ahead, here, aside, behind     weights of a move's cells, as seen in its direction
    stay, around                   weights of Pass: the cell, each neighbour

Comes in: kinds of cells with an edge around the board, [mazes, padded]. Goes out: worths, and the
gradient of the model. Does not know: networks, learners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs.kernels import kernel

PASSAGE, WALL, GOAL = range(3)
NUMBERS = 10
"""Of a model."""


def kinds_of(walls: NDArray[np.bool_], goals: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """The kind of every cell with an edge around the board, [mazes, height + 2, width + 2]."""
    mazes, height, width = walls.shape
    kinds = np.full((mazes, height + 2, width + 2), WALL, np.uint8)
    inside = kinds[:, 1:-1, 1:-1]
    inside[:] = np.where(walls, WALL, PASSAGE)
    inside[np.arange(mazes), goals // width, goals % width] = GOAL
    return kinds


@kernel
def _sweep(worth, model, height, width, before, after):  # type: ignore[no-untyped-def]
    """One sweep over the inner cells of a padded board."""
    row, discount = width + 2, model[3]
    aside, here = model[6], model[5]
    ahead, behind, stay, around = model[4] - aside, model[7] - aside, model[8], model[9]
    for y in range(height):
        first = y * row + 1
        above, mine, below = before[first:], before[first + row :], before[first + 2 * row :]
        left, right = before[first + row - 1 :], before[first + row + 1 :]
        own, to = worth[first + row :], after[first + row :]
        for x in range(width):
            near = above[x] + below[x] + left[x] + right[x]
            base = here * mine[x] + aside * near
            best = stay * mine[x] + around * near
            for q in (
                base + ahead * above[x] + behind * below[x],
                base + ahead * below[x] + behind * above[x],
                base + ahead * left[x] + behind * right[x],
                base + ahead * right[x] + behind * left[x],
            ):
                best = q if q > best else best
            to[x] = own[x] + discount * best


@kernel
def plan(kinds, which, model, height, width, room, worths):  # type: ignore[no-untyped-def]
    """Fills worths [n, padded] of the mazes which [n]; room is [sweeps + 2, padded]."""
    sweeps = room.shape[0] - 2
    for n in range(which.shape[0]):
        board = kinds[which[n]]
        _sweeps(board, model, height, width, room)
        for i in range(board.shape[0]):
            worths[n, i] = room[sweeps, i]


@kernel
def _sweeps(board, model, height, width, room):  # type: ignore[no-untyped-def]
    """Fills room: nothing, then sweep after sweep, last what each cell's kind is worth."""
    last = room.shape[0] - 1
    for i in range(board.shape[0]):
        room[0, i] = 0
        room[last, i] = model[board[i]]
    row = width + 2
    for k in range(last):
        for x in range(row):
            room[k, x] = model[WALL]
            room[k, (height + 1) * row + x] = model[WALL]
        for y in range(height + 2):
            room[k, y * row] = model[WALL]
            room[k, y * row + width + 1] = model[WALL]
    for k in range(1, last):
        _sweep(room[last], model, height, width, room[k - 1], room[k])


@kernel
def _on_edge(slope, height, row):  # type: ignore[no-untyped-def]
    """The sum over the edge around a board."""
    total = 0.0
    for x in range(row):
        total += slope[x] + slope[(height + 1) * row + x]
    for y in range(1, height + 1):
        total += slope[y * row] + slope[y * row + row - 1]
    return total


@kernel
def plan_gradient(kinds, which, model, height, width, room, slopes, spare, out):  # type: ignore[no-untyped-def]
    """Adds to out [numbers] the gradient of the model, given that of the worths, [n, padded].

    Args:
        kinds: of all mazes, [mazes, padded].
        which: mazes, [n].
        model: its numbers.
        height: of the board.
        width: of the board.
        room: for the sweeps, [sweeps + 2, padded].
        slopes: gradient of the worths, [n, padded]; is overwritten.
        spare: [padded].
        out: what is added to, in float64.
    """
    row, discount = width + 2, model[3]
    ahead, here, aside, behind = model[4], model[5], model[6], model[7]
    stay, around = model[8], model[9]
    for n in range(which.shape[0]):
        board = kinds[which[n]]
        _sweeps(board, model, height, width, room)
        slope, below = slopes[n], spare
        out[WALL] += _on_edge(slope, height, row)
        for k in range(room.shape[0] - 2, 0, -1):
            before = room[k - 1]
            for i in range(board.shape[0]):
                below[i] = 0
            for y in range(1, height + 1):
                for i in range(y * row + 1, y * row + width + 1):
                    g = slope[i]
                    if g == 0:
                        continue
                    up, down = before[i - row], before[i + row]
                    left, right, mine = before[i - 1], before[i + 1], before[i]
                    near = up + down + left + right
                    out[board[i]] += g
                    # The best action, as (the cell ahead, the cell behind); 0: Pass.
                    front, back, best = 0, 0, stay * mine + around * near
                    base, f, b = here * mine + aside * near, ahead - aside, behind - aside
                    if base + f * up + b * down > best:
                        front, back, best = -row, row, base + f * up + b * down
                    if base + f * down + b * up > best:
                        front, back, best = row, -row, base + f * down + b * up
                    if base + f * left + b * right > best:
                        front, back, best = -1, 1, base + f * left + b * right
                    if base + f * right + b * left > best:
                        front, back, best = 1, -1, base + f * right + b * left
                    out[3] += g * best
                    g *= discount
                    if front == 0:
                        out[8] += g * mine
                        out[9] += g * near
                        below[i] += g * stay
                        for j in (-row, row, -1, 1):
                            below[i + j] += g * around
                        continue
                    out[4] += g * before[i + front]
                    out[5] += g * mine
                    out[6] += g * (near - before[i + front] - before[i + back])
                    out[7] += g * before[i + back]
                    below[i] += g * here
                    below[i + front] += g * ahead
                    below[i + back] += g * behind
                    beside = 1 if (front == row or front == -row) else row
                    below[i + beside] += g * aside
                    below[i - beside] += g * aside
            out[WALL] += _on_edge(below, height, row)
            for i in range(board.shape[0]):
                slope[i] = below[i]
