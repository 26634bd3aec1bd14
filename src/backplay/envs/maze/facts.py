"""What an agent sees of its maze from where it stands, as facts: kernels.

A fact is a number; the facts of a state are the walls within some cells of the agent, how near the
board's edges are, and where the goal lies: what the four planes say, up to the walls out of sight.
The board is turned so that the goal lies ahead (to the right) and, if not straight ahead, below, no
farther than ahead: eight boards that are one another's mirror images have the same facts.

Comes in: walls [mazes, cells], goals, places (maze, cell). Goes out: facts [n, most], -1 behind the
last, and how each board was turned. Does not know: networks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backplay.envs.kernels import kernel
from backplay.envs.maze.rules import ACTIONS, DOWN, LEFT, PASS, RIGHT, UP

FAR = 32  # cells ahead and aside that are told apart
TURNS = 8


def number_of_facts(sight: int) -> int:
    """How many facts there are for who sees so many cells in each direction."""
    return (2 * sight + 1) ** 2 + 4 * (sight + 1) + 2 * FAR + (sight + 1) ** 2


def most_facts(sight: int) -> int:
    """How many can hold at once."""
    return (2 * sight + 1) ** 2 + 4 + 3


def turned_actions() -> NDArray[np.int64]:
    """What each action is on a board turned so, [turns, actions]."""
    found = np.zeros((TURNS, ACTIONS), np.int64)
    moves = {UP: (-1, 0), DOWN: (1, 0), LEFT: (0, -1), RIGHT: (0, 1), PASS: (0, 0)}
    named = {move: action for action, move in moves.items()}
    for turn in range(TURNS):
        for action, (y, x) in moves.items():
            y, x = (-y if turn & 1 else y), (-x if turn & 2 else x)
            found[turn, action] = named[(x, y) if turn & 4 else (y, x)]
    return found


@kernel
def find_facts(walls, goals, height, width, sight, places, facts, turns):  # type: ignore[no-untyped-def]
    """Fills facts [n, most] and turns [n] of places [n, 2]."""
    side = 2 * sight + 1
    edges = side * side
    ahead = edges + 4 * (sight + 1)
    near = ahead + 2 * FAR
    for i in range(places.shape[0]):
        maze, cell = places[i, 0], places[i, 1]
        y, x = cell // width, cell % width
        down, right = goals[maze] // width - y, goals[maze] % width - x
        up_y, up_x = -1 if down < 0 else 1, -1 if right < 0 else 1
        down, right = abs(down), abs(right)
        swap = down > right
        turns[i] = (1 if up_y < 0 else 0) | (2 if up_x < 0 else 0) | (4 if swap else 0)
        count, board = 0, walls[maze]
        for a in range(-sight, sight + 1):
            for b in range(-sight, sight + 1):
                v, h = (b, a) if swap else (a, b)  # a and b are down and right as turned
                v, h = y + v * up_y, x + h * up_x
                if 0 <= v < height and 0 <= h < width and board[v * width + h]:
                    facts[i, count] = (a + sight) * side + b + sight
                    count += 1
        # Cells to the edge: above, below, behind, ahead, as turned.
        above, below = (y, height - 1 - y) if up_y > 0 else (height - 1 - y, y)
        behind, before = (x, width - 1 - x) if up_x > 0 else (width - 1 - x, x)
        if swap:
            above, below, behind, before = behind, before, above, below
            down, right = right, down
        facts[i, count] = edges + min(above, sight)
        facts[i, count + 1] = edges + sight + 1 + min(below, sight)
        facts[i, count + 2] = edges + 2 * (sight + 1) + min(behind, sight)
        facts[i, count + 3] = edges + 3 * (sight + 1) + min(before, sight)
        facts[i, count + 4] = ahead + min(right, FAR - 1)
        facts[i, count + 5] = ahead + FAR + min(down, FAR - 1)
        count += 6
        if right <= sight:
            facts[i, count] = near + right * (sight + 1) + down
            count += 1
        if count < facts.shape[1]:
            facts[i, count] = -1
