"""How well somebody plays: one episode from the initial state of every maze, or from given cells.

Comes in: a set of mazes and a function from (maze, cell) to actions. Goes out: what came of each
episode. Does not know: who acts, or how it was trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs.maze.rules import ACTIONS, offsets
from backplay.envs.maze.sets import MazeSet
from backplay.errors import BackplayError, ensure, show

Act = Callable[[NDArray[np.int32]], Any]

_NEAR = 5  # the paper counts paths within 5 steps of the shortest


@dataclass(frozen=True, eq=False)
class Played:
    """One episode in each of n mazes."""

    successes: NDArray[np.bool_]
    """[n]"""
    lengths: NDArray[np.int64]
    """Steps taken, [n]; the full time where the goal was not reached."""
    extra: NDArray[np.int64]
    """Steps beyond the shortest path, [n]."""
    paths: tuple[NDArray[np.int32], ...]
    """The cells visited, [lengths[i] + 1] for maze i."""

    def summary(self) -> dict[str, float | None]:
        """Shares of all mazes, and mean and standard deviation of the extra steps.

        A failure counts with its full time, as in the paper's table 2; the last two numbers are
        over successes alone, None if there are none.
        """
        reached = self.extra[self.successes]
        within = {
            name: float((self.successes & (self.extra <= most)).mean())
            for name, most in (("optimal", 0), ("within_5", _NEAR))
        }
        return {
            "success": float(self.successes.mean()),
            **within,
            "extra_mean": float(self.extra.mean()),
            "extra_std": float(self.extra.std()),
            "success_extra_mean": float(reached.mean()) if len(reached) else None,
            "success_extra_std": float(reached.std()) if len(reached) else None,
        }


def play(mazes: MazeSet, act: Act) -> Played:
    """Plays every maze once from its initial state.

    Args:
        mazes: at least one.
        act: from (maze, cell) of the k episodes that still go on, int32 [k, 2], to actions [k].
    """
    n = mazes.num_mazes
    ensure(n, "mazes", "at least one maze", got="an empty set")
    trail, lengths = walk(mazes, np.arange(n), mazes.starts, act)
    paths = tuple(trail[i, : length + 1].copy() for i, length in enumerate(lengths))
    return Played(trail[:, -1] == mazes.goals, lengths, lengths - mazes.distances, paths)


def reached_from(
    mazes: MazeSet, where: NDArray[np.int64], cells: NDArray[np.int32], act: Act
) -> NDArray[np.bool_]:
    """Whether the goal is reached in the full time from each of cells [k] of mazes where [k]."""
    if not len(where):
        return np.zeros(0, np.bool_)
    reached: NDArray[np.bool_] = walk(mazes, where, cells, act)[0][:, -1] == mazes.goals[where]
    return reached


def walk(
    mazes: MazeSet, where: NDArray[np.int64], starts: NDArray[np.int32], act: Act
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The cells of k episodes, [k, steps + 1], at rest after their ends; and their lengths [k]."""
    cells, lengths, moves = starts.copy(), np.zeros(len(where), np.int64), offsets(mazes.width)
    visited = [cells.copy()]
    going = np.arange(len(where))
    for _ in range(mazes.max_steps):
        maze, here = where[going], cells[going]
        actions = _checked(act(np.stack([maze, here], 1).astype(np.int32)), len(going))
        moved = (mazes.exits[maze, here] >> actions) & 1
        cells[going] = here + moves[actions] * moved
        lengths[going] += 1
        visited.append(cells.copy())
        going = going[cells[going] != mazes.goals[maze]]
        if not len(going):
            break
    return np.stack(visited, 1), lengths


def _checked(actions: Any, k: int) -> NDArray[np.int64]:
    given = np.asarray(actions)
    if (
        given.shape == (k,)
        and given.dtype.kind in "iu"
        and ((given >= 0) & (given < ACTIONS)).all()
    ):
        return given.astype(np.int64)
    raise BackplayError("actions", expected=f"{k} of 0 to 4", got=show(actions))


def drawn(mazes: MazeSet, played: Played) -> list[dict[str, Any]]:
    """Boards with the demonstration and the path walked, all as cells: enough for a picture."""
    walls = mazes.walls.reshape(len(mazes), -1)
    return [
        {
            "height": mazes.height, "width": mazes.width,
            "walls": [int(cell) for cell in walls[i].nonzero()[0]],
            "start": int(mazes.starts[i]), "goal": int(mazes.goals[i]),
            "shortest": int(mazes.distances[i]),
            "demonstration": [int(cell) for cell in mazes.paths[i]],
            "path": [int(cell) for cell in played.paths[i]],
        }
        for i in range(len(mazes))
    ]  # fmt: skip
