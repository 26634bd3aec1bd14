"""The paper's three grid worlds (figure 2), drawn as maps: one maze, one demonstration each.

    mazes = world("basin")
    env = gymnasium.make("Backplay/Maze-v0", mazes=mazes)

Comes in: a name, or a map of your own. Goes out: a set of one maze, so that `Maze`, `MazeVector`
and the networks work on it. Does not know: who learns there. The paper shows pictures without
measures; the maps here follow its words (section 3.2).

On a map, '#' is a wall, '.' is free, and arrows are the demonstration, each pointing at the next
cell. It goes from S to the one arrow that no other points at, and ends at G.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backplay.envs.maze.rules import DOWN, LEFT, RIGHT, UP, offsets
from backplay.envs.maze.sets import MazeSet
from backplay.envs.maze.solve import distances_from, shortest_path
from backplay.errors import BackplayError, show

__all__ = ["WORLDS", "beside", "from_map", "world"]

ARROWS = {"^": UP, "v": DOWN, "<": LEFT, ">": RIGHT}

# No walls, and a demonstration with detours.
OPEN = """
....................
....................
....................
................G<..
.................^..
...>>>>>>>>v.....^..
...^.......v.....^..
...^.......v.....^..
...^.......v.....^..
...^.......v.....^..
...^.......>>>>>>^..
...^................
...^<<<<<...........
........^...........
........^...........
........^...........
........^...........
..S>>>>>^...........
....................
....................
"""

# Three chambers behind each other, and at the fork in the second one a door to a large chamber on
# the right from which no other way leads. The demonstration is a shortest path.
BOTTLENECKS = """
......#...........
.>>>G.#...........
.^....#...........
.^....#...........
.^....#...........
#^#####...........
.^....#...........
.^....#...........
.^................
.^<<<.#...........
....^.#...........
####^##...........
....^.#...........
....^.#...........
....^.#...........
....^.#...........
.S>>^.#...........
......#...........
"""

# The demonstration winds through the basin in the middle. Outside it, the shortest path goes along
# the bottom and up the right side; the way up the left side is a little longer.
BASIN = """
.....>G........
.####^########.
.#...^<<<....#.
.#......^<<<<#.
.#..........^#.
.###########^#.
.#.......>>v^#.
.#>>>v...^.>^#.
.#^..>>>>^...#.
.#^###########.
.#^..........#.
.#^...v<<<...#.
.#^<<<<..^...#.
.########^####.
.........S.....
"""

WORLDS = {"open": OPEN, "bottlenecks": BOTTLENECKS, "basin": BASIN}


def world(name: str, *, max_steps: int = 200) -> MazeSet:
    """The grid world of this name, with the rewards of the Maze."""
    if name not in WORLDS:
        raise BackplayError("world", expected=f"one of {', '.join(WORLDS)}", got=show(name))
    return from_map(WORLDS[name], max_steps=max_steps)


def from_map(drawing: str, *, max_steps: int = 200) -> MazeSet:
    """The maze of a map and the demonstration on it, as a set of one."""
    rows = drawing.split()
    if not rows or len({len(row) for row in rows}) != 1:
        raise BackplayError("map", expected="rows of one length", got=show(drawing))
    signs = "".join(rows)
    strange = set(signs) - {"#", ".", "S", "G", *ARROWS}
    if strange or signs.count("S") != 1 or signs.count("G") != 1:
        raise BackplayError(
            "map", expected="'#', '.', arrows, one S and one G", got=show(sorted(signs))
        )
    walls = np.array([[sign == "#" for sign in row] for row in rows])
    actions = _follow(signs, len(rows[0]))
    return _with_starts(walls, signs.index("G"), [(signs.index("S"), actions)], max_steps)


def _follow(signs: str, width: int) -> list[int]:
    """The actions that the arrows of a map say, from S to G."""
    arrows = {cell: ARROWS[sign] for cell, sign in enumerate(signs) if sign in ARROWS}
    moves = offsets(width).tolist()
    targets = {cell + moves[action] for cell, action in arrows.items()}
    first = [cell for cell in arrows if cell not in targets]
    if len(first) != 1:
        raise BackplayError("map", expected="one arrow that none points at", got=len(first))
    start, cell = signs.index("S"), first[0]
    begin = [action for action in ARROWS.values() if start + moves[action] == cell]
    actions = [*begin, *(arrows[cell := step] for step in _walk(arrows, moves, cell))]
    if not begin or len(actions) != len(arrows) + 1 or cell + moves[actions[-1]] != (
        signs.index("G")
    ):
        raise BackplayError(
            "map", expected="all arrows on one way from S to G",
            got=f"a way of {len(actions)} of {len(arrows) + 1} steps",
        )  # fmt: skip
    return actions
