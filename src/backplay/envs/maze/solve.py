"""Ways through a maze: distances, A*, and a walker that follows A* but now and then errs.

Comes in: a board's exits (see `rules`) and its goal. Goes out: distances, actions and paths. A*
breaks ties as the paper's code does: of the cells with the least cost + heuristic, the one with the
lowest row and then column is looked at first. Kernels own no memory: see `Desk`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs import chance
from backplay.envs.kernels import kernel
from backplay.envs.maze.rules import ACTIONS, DOWN, LEFT, RIGHT, UP, after, find_exits, offsets

if TYPE_CHECKING:
    from backplay.envs.maze.sets import MazeSet

UNREACHABLE = -1
_ORDER = (DOWN, UP, RIGHT, LEFT)  # in which A* looks at the neighbours of a cell


@kernel
def spread(exits, offsets, source, stop, queue, distances):  # type: ignore[no-untyped-def]
    """Fills distances [cells] from `source`, -1 where no way leads; the distance of `stop`.

    It may end as soon as `stop` is reached; with stop = -1 it goes everywhere.
    """
    distances[:] = UNREACHABLE
    distances[source] = 0
    queue[0] = source
    read, write = 0, 1
    while read < write:
        cell = queue[read]
        read += 1
        if cell == stop:
            return distances[stop]
        for action in range(UP, ACTIONS):
            if (exits[cell] >> action) & 1:
                other = cell + offsets[action]
                if distances[other] == UNREACHABLE:
                    distances[other] = distances[cell] + 1
                    queue[write] = other
                    write += 1
    return UNREACHABLE


@kernel
def guess(goal, height, width, guesses):  # type: ignore[no-untyped-def]
    """Fills guesses [cells] with A*'s heuristic, the Manhattan distance to the goal."""
    down, right = goal // width, goal % width
    for y in range(height):
        for x in range(width):
            guesses[y * width + x] = abs(y - down) + abs(x - right)


@kernel
def _push(heap, size, key):  # type: ignore[no-untyped-def]
    """Adds a key to a heap of `size` keys."""
    at = size
    while at > 0 and heap[(at - 1) >> 1] > key:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = key


@kernel
def _pop(heap, size):  # type: ignore[no-untyped-def]
    """Takes the least key from a heap of `size` keys."""
    least, key, at = heap[0], heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = key
    return least


@kernel
def plan(exits, offsets, guesses, start, goal, heap, costs, arrivals):  # type: ignore[no-untyped-def]
    """A* from `start`: fills arrivals [cells], the action by which each cell was entered.

    Returns the length of the path found, -1 if there is none.
    """
    cells = costs.shape[0]
    costs[:] = UNREACHABLE
    costs[start] = 0
    heap[0] = guesses[start] * cells + start
    size = 1
    while size > 0:
        key = _pop(heap, size)
        size -= 1
        cell = key % cells
        if cell == goal:
            return costs[goal]
        if key // cells > costs[cell] + guesses[cell]:
            continue  # a shorter way to this cell was found since
        cost = costs[cell] + 1
        for action in _ORDER:
            if (exits[cell] >> action) & 1:
                other = cell + offsets[action]
                if costs[other] == UNREACHABLE or cost < costs[other]:
                    costs[other] = cost
                    arrivals[other] = action
                    _push(heap, size, (cost + guesses[other]) * cells + other)
                    size += 1
    return UNREACHABLE


@kernel
def first_action(offsets, start, goal, arrivals):  # type: ignore[no-untyped-def]
    """The first action of the path that `plan` found."""
    cell, action = goal, 0
    while cell != start:
        action = arrivals[cell]
        cell -= offsets[action]
    return action


@kernel
def walk(  # type: ignore[no-untyped-def]
    exits, offsets, guesses, distances, start, goal, follow, extra,
    stream, heap, costs, arrivals, cells, actions,
):  # fmt: skip
    """Walks from `start` to the goal in exactly `extra` steps more than needed; the steps, or -1.

    At every step A* plans anew; its action is taken with probability `follow`, else one of the
    other four. A walk that has lost more than `extra` steps is given up: it cannot get them back.
    """
    cell, shortest, t = start, distances[start], 0
    cells[0] = start
    while cell != goal:
        plan(exits, offsets, guesses, cell, goal, heap, costs, arrivals)
        action = first_action(offsets, cell, goal, arrivals)
        if follow < 1.0 and chance.uniform(stream, 0) >= follow:
            action = (action + 1 + chance.below(stream, 0, ACTIONS - 1)) % ACTIONS
        cell = after(exits, offsets, cell, action)
        actions[t] = action
        t += 1
        if t + distances[cell] > shortest + extra:
            return UNREACHABLE
        cells[t] = cell
    return t if t == shortest + extra else UNREACHABLE


@dataclass(frozen=True, eq=False)
class Desk:
    """Room for the kernels to work in, for one board at a time."""

    heap: NDArray[np.int32]
    costs: NDArray[np.int32]
    arrivals: NDArray[np.int8]
    guesses: NDArray[np.int32]
    queue: NDArray[np.int32]
    distances: NDArray[np.int32]

    @classmethod
    def of(cls, cells: int) -> Desk:
        """Room for boards of so many cells. Each cell has four ways in, so four places in line."""
        numbers = [np.zeros(size, np.int32) for size in (4 * cells + 1, *[cells] * 4)]
        heap, costs, guesses, queue, distances = numbers
        return cls(heap, costs, np.zeros(cells, np.int8), guesses, queue, distances)


def distances_from(walls: NDArray[np.bool_], cell: int) -> NDArray[np.int32]:
    """The distance of every cell of walls [height, width] from `cell`, -1 if none: [cells]."""
    height, width = walls.shape
    desk, exits = Desk.of(walls.size), np.zeros(walls.size, np.uint8)
    find_exits(np.ascontiguousarray(walls).reshape(-1), height, width, exits)
    spread(exits, offsets(width), cell, UNREACHABLE, desk.queue, desk.distances)
    return desk.distances


def shortest_path(walls: NDArray[np.bool_], start: int, goal: int) -> NDArray[np.int32] | None:
    """The cells of A*'s path from `start` to `goal`, both included; None if there is none."""
    height, width = walls.shape
    desk, exits = Desk.of(walls.size), np.zeros(walls.size, np.uint8)
    find_exits(np.ascontiguousarray(walls).reshape(-1), height, width, exits)
    guess(goal, height, width, desk.guesses)
    moves = offsets(width)
    length = int(
        plan(exits, moves, desk.guesses, start, goal, desk.heap, desk.costs, desk.arrivals)
    )
    if length == UNREACHABLE:
        return None
    path = np.full(length + 1, goal, np.int32)
    for t in range(length, 0, -1):
        path[t - 1] = path[t] - moves[desk.arrivals[path[t]]]
    return path


@kernel
def _spread_all(exits, offsets, goals, queue, distances):  # type: ignore[no-untyped-def]
    for i in range(goals.shape[0]):
        spread(exits[i], offsets, goals[i], UNREACHABLE, queue, distances[i])


def distances_to_goals(mazes: MazeSet) -> NDArray[np.int32]:
    """The distance of every cell to the goal of its maze, -1 if no way leads there: [n, cells]."""
    distances = np.zeros((mazes.num_mazes, mazes.cells), np.int32)
    queue = np.zeros(mazes.cells, np.int32)
    _spread_all(mazes.exits, offsets(mazes.width), mazes.goals, queue, distances)
    return distances


@kernel
def _first_all(exits, offsets, goals, height, width, places, heap, costs, arrivals, guesses, found):  # type: ignore[no-untyped-def]
    for i in range(places.shape[0]):
        maze, cell = places[i, 0], places[i, 1]
        goal = goals[maze]
        guess(goal, height, width, guesses)
        found[i] = 0
        if plan(exits[maze], offsets, guesses, cell, goal, heap, costs, arrivals) > 0:
            found[i] = first_action(offsets, cell, goal, arrivals)


def planned_actions(mazes: MazeSet, places: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """What A* does first from each of places [k, 2] (maze, cell); Pass where no way leads: [k]."""
    desk, found = Desk.of(mazes.cells), np.zeros(len(places), np.int64)
    _first_all(
        mazes.exits, offsets(mazes.width), mazes.goals, mazes.height, mazes.width,
        np.ascontiguousarray(places, np.int64), desk.heap, desk.costs, desk.arrivals, desk.guesses,
        found,
    )  # fmt: skip
    return found


def cells_off(mazes: MazeSet, steps: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """All cells exactly so many steps off their maze's demonstration: mazes [k], cells [k]."""
    where, cells = [], []
    for maze, path in enumerate(mazes.paths):
        away = np.stack([distances_from(mazes.walls[maze], int(cell)) for cell in np.unique(path)])
        off = np.where(away == UNREACHABLE, mazes.cells, away).min(0)
        found = np.flatnonzero(off == steps)
        where.append(np.full(len(found), maze, np.int64))
        cells.append(found.astype(np.int32))
    return np.concatenate(where), np.concatenate(cells)
