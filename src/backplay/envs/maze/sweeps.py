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

from functools import partial
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
    # In one stretch, which is fast; what it writes on the edge is mended.
    above, mine, below = before[1:], before[row + 1 :], before[2 * row + 1 :]
    left, right = before[row:], before[row + 2 :]
    own, to = worth[row + 1 :], after[row + 1 :]
    for i in range(height * row - 2):
        near = above[i] + below[i] + left[i] + right[i]
        base = here * mine[i] + aside * near
        best = stay * mine[i] + around * near
        for q in (
            base + ahead * above[i] + behind * below[i],
            base + ahead * below[i] + behind * above[i],
            base + ahead * left[i] + behind * right[i],
            base + ahead * right[i] + behind * left[i],
        ):
            best = q if q > best else best
        to[i] = own[i] + discount * best
    for y in range(1, height + 1):
        after[y * row] = after[y * row + width + 1] = model[WALL]


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
            room[k, x] = room[k, (height + 1) * row + x] = model[WALL]
    for y in range(1, height + 1):
        room[0, y * row] = room[0, y * row + width + 1] = model[WALL]
    for k in range(1, last):
        _sweep(room[last], model, height, width, room[k - 1], room[k])


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
        spare: zeros, [3, padded and two rows more].
        out: what is added to, in float64.
    """
    row = width + 2
    slope, best = spare[0], spare[1]
    total = spare[2]
    for n in range(which.shape[0]):
        board = kinds[which[n]]
        _sweeps(board, model, height, width, room)
        for i in range(board.shape[0]):
            total[i], slope[row + i] = 0, slopes[n, i]
        for k in range(room.shape[0] - 2, 0, -1):
            inner, chosen = slope[row:], best[row:]
            out[WALL] += _take_edge(inner, height, row)
            for i in range(board.shape[0]):
                total[i] += inner[i]
            _choose(room[k - 1], model, height, row, chosen)
            _add_sums(room[k - 1], model, height, row, inner, chosen, out)
            _before(model, row, slope, best, slopes[n])
            for i in range(board.shape[0]):
                inner[i] = slopes[n, i]
        out[WALL] += _take_edge(slope[row:], height, row)
        for i in range(board.shape[0]):
            out[board[i]] += total[i]


@kernel
def _take_edge(slope, height, row):  # type: ignore[no-untyped-def]
    """The sum over the edge around a board, which is then 0."""
    total = 0.0
    for x in range(row):
        last = (height + 1) * row + x
        total += slope[x] + slope[last]
        slope[x] = slope[last] = 0
    for y in range(1, height + 1):
        total += slope[y * row] + slope[y * row + row - 1]
        slope[y * row] = slope[y * row + row - 1] = 0
    return total


@kernel
def _choose(before, model, height, row, chosen):  # type: ignore[no-untyped-def]
    """The best action of each cell; the edge has some, too."""
    aside, here, one = model[6], model[5], model.dtype.type(1)
    ahead, behind, stay, around = model[4] - aside, model[7] - aside, model[8], model[9]
    found = chosen[row + 1 :]
    above, below, mine = before[1:], before[2 * row + 1 :], before[row + 1 :]
    to_left, to_right = before[row:], before[row + 2 :]
    for i in range(height * row - 2):
        up, down, left, right = above[i], below[i], to_left[i], to_right[i]
        near = up + down + left + right
        base = here * mine[i] + aside * near
        best, action = stay * mine[i] + around * near, one - one
        q = base + ahead * up + behind * down
        action = one if q > best else action
        best = q if q > best else best
        q = base + ahead * down + behind * up
        action = one + one if q > best else action
        best = q if q > best else best
        q = base + ahead * left + behind * right
        action = one + one + one if q > best else action
        best = q if q > best else best
        q = base + ahead * right + behind * left
        action = one + one + one + one if q > best else action
        found[i] = action


@partial(kernel, fastmath={"reassoc", "nsz", "contract"})
def _add_sums(before, model, height, row, slope, chosen, out):  # type: ignore[no-untyped-def]
    """Adds to the gradients of the discount and of the weights of an action's cells."""
    none = model[0] - model[0]
    fronts, backs, heres, nears, stays, arounds = none, none, none, none, none, none
    slopes, actions = slope[row + 1 :], chosen[row + 1 :]
    above, below, mine = before[1:], before[2 * row + 1 :], before[row + 1 :]
    to_left, to_right = before[row:], before[row + 2 :]
    for i in range(height * row - 2):
        up, down, left, right = above[i], below[i], to_left[i], to_right[i]
        action, g, near = actions[i], slopes[i], up + down + left + right
        tall, wide = (up if action == 1 else down), (left if action == 3 else right)
        low, thin = (down if action == 1 else up), (right if action == 3 else left)
        moved = none if action == 0 else g
        fronts += moved * (tall if action < 3 else wide)
        backs += moved * (low if action < 3 else thin)
        heres += moved * mine[i]
        nears += moved * near
        stays += (g - moved) * mine[i]
        arounds += (g - moved) * near
    asides = nears - fronts - backs
    out[3] += model[4] * fronts + model[5] * heres + model[6] * asides + model[7] * backs
    out[3] += model[8] * stays + model[9] * arounds
    out[4] += model[3] * fronts
    out[5] += model[3] * heres
    out[6] += model[3] * asides
    out[7] += model[3] * backs
    out[8] += model[3] * stays
    out[9] += model[3] * arounds


@kernel
def _before(model, row, slope, best, to):  # type: ignore[no-untyped-def]
    """Fills to [padded], the slope of the sweep before: each cell of a best action has its share.

    `slope` and `best` have a row more at either end.
    """
    ahead, here, aside, behind = model[4], model[5], model[6], model[7]
    stay, around, discount = model[8], model[9], model[3]
    own, up, down = slope[row:], slope, slope[2 * row :]
    left, right = slope[row - 1 :], slope[row + 1 :]
    here_best, up_best, down_best = best[row:], best, best[2 * row :]
    left_best, right_best = best[row - 1 :], best[row + 1 :]
    for i in range(to.shape[0]):
        # A cell is ahead of who goes up from below it, behind who goes up from above it, and so on.
        mine = own[i] * (stay if here_best[i] == 0 else here)
        a = down_best[i]
        near = down[i] * (ahead if a == 1 else behind if a == 2 else around if a == 0 else aside)
        a = up_best[i]
        near += up[i] * (ahead if a == 2 else behind if a == 1 else around if a == 0 else aside)
        a = right_best[i]
        near += right[i] * (ahead if a == 3 else behind if a == 4 else around if a == 0 else aside)
        a = left_best[i]
        near += left[i] * (ahead if a == 4 else behind if a == 3 else around if a == 0 else aside)
        to[i] = discount * (mine + near)
