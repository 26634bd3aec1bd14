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

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from backplay.envs.maze.rules import DOWN, LEFT, RIGHT, UP, offsets
from backplay.envs.maze.sets import MazeSet
from backplay.envs.maze.solve import distances_from, shortest_path
from backplay.errors import BackplayError, ensure, show

ARROWS = {"^": UP, "v": DOWN, "<": LEFT, ">": RIGHT}

WORLDS = {
    "open": "no walls, and a demonstration with detours",
    "bottlenecks": "three chambers behind each other, and at the fork in the second one a door to a"
    " large chamber on the right from which no other way leads; the demonstration is a shortest"
    " path",
    "basin": "the demonstration winds through the basin in the middle; outside it, the shortest"
    " path goes along the bottom and up the right side, and the way up the left side is a little"
    " longer",
}
"""What the files in `maps` show, by their names."""


def world(name: str, *, max_steps: int = 100) -> MazeSet:
    """The grid world of this name, with the rewards of the Maze."""
    ensure(name in WORLDS, "world", f"one of {', '.join(WORLDS)}", name)
    return from_map(drawing(name), max_steps=max_steps)


def drawing(name: str) -> str:
    """The map of this name."""
    return (files("backplay.envs.maze") / "maps" / f"{name}.txt").read_text(encoding="utf-8")


def from_map(board: str, *, max_steps: int = 200) -> MazeSet:
    """The maze of a map and the demonstration on it, as a set of one."""
    rows = board.split()
    ensure(rows and len({len(row) for row in rows}) == 1, "map", "rows of one length", board)
    signs = "".join(rows)
    strange = set(signs) - {"#", ".", "S", "G", *ARROWS}
    if strange or signs.count("S") != 1 or signs.count("G") != 1:
        raise BackplayError(
            "map", expected="'#', '.', arrows, one S and one G", got=show(sorted(signs))
        )
    walls = np.array([[sign == "#" for sign in row] for row in rows])
    start, goal, actions = signs.index("S"), signs.index("G"), _follow(signs, len(rows[0]))
    away = distances_from(walls, goal)
    return MazeSet(
        walls[None], np.array([start]), np.array([goal]), away[[start]],
        (_cells(start, actions, len(rows[0])),), (np.array(actions, np.int8),), max_steps,
    )  # fmt: skip


def _follow(signs: str, width: int) -> list[int]:
    """The actions that the arrows of a map say, from S to G."""
    moves = offsets(width).tolist()
    arrows = {cell: ARROWS[sign] for cell, sign in enumerate(signs) if sign in ARROWS}
    pointed_at = {cell + moves[action] for cell, action in arrows.items()}
    first = [cell for cell in arrows if cell not in pointed_at]
    cell = signs.index("S")
    actions = [action for action in ARROWS.values() if first == [cell + moves[action]]]
    cell = first[0] if actions else cell
    while cell in arrows:
        actions.append(arrows[cell])
        cell += moves[arrows[cell]]
    ensure(
        cell == signs.index("G") and len(actions) == len(arrows) + 1, "map",
        f"{len(arrows)} arrows on one way from S to G", got=f"a way of {len(actions)} steps",
    )  # fmt: skip
    return actions


def _cells(start: int, actions: list[int], width: int) -> NDArray[np.int32]:
    """The cells of a way on which no move is blocked, [T + 1]."""
    moves = offsets(width)[np.array(actions, np.int64)]
    return np.cumsum([start, *moves], dtype=np.int32)


def beside(mazes: MazeSet, steps: int = 1) -> MazeSet:
    """A set of one maze, begun at each cell off its demonstration but so many steps near it.

    The demonstration of each is a shortest path from there.
    """
    ensure(mazes.num_mazes == 1, "mazes", "a set of one maze", mazes)
    walls, goal, path = mazes.walls[0], int(mazes.goals[0]), mazes.paths[0]
    near = np.zeros(mazes.cells, np.bool_)
    for cell in path.tolist():
        away = distances_from(walls, cell)
        near |= (away >= 0) & (away <= steps)
    near[path] = False
    starts = np.flatnonzero(near).astype(np.int32)
    ways = [shortest_path(walls, int(start), goal) for start in starts]
    paths = tuple(way for way in ways if way is not None)
    actions = tuple(_actions(way, mazes.width) for way in paths)
    return MazeSet(
        np.repeat(mazes.walls, len(starts), 0), starts, np.full(len(starts), goal),
        np.array([len(way) for way in actions]), paths, actions,
        mazes.max_steps, mazes.step_reward, mazes.goal_reward,
    )  # fmt: skip


def _actions(path: NDArray[np.int32], width: int) -> NDArray[np.int8]:
    """The actions of a way on which every step moves, [T]."""
    action_of = {move: action for action, move in enumerate(offsets(width).tolist())}
    return np.array([action_of[move] for move in np.diff(path).tolist()], np.int8)
