"""How well somebody plays: one episode from the initial state of every maze, all at once.

Comes in: a set of mazes and a function from (maze, cell) to actions. Goes out: what came of each
maze. Does not know: who acts, or how it was trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs.maze.rules import ACTIONS, offsets
from backplay.envs.maze.sets import MazeSet
from backplay.errors import BackplayError, show

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
    n, moves = mazes.num_mazes, offsets(mazes.width)
    if not n:
        raise BackplayError("mazes", expected="at least one maze", got="an empty set")
    cells, lengths = mazes.starts.copy(), np.zeros(n, np.int64)
    visited = [cells.copy()]
    going = np.arange(n)
    for _ in range(mazes.max_steps):
        here = cells[going]
        actions = _checked(act(np.stack([going, here], 1).astype(np.int32)), len(going))
        moved = (mazes.exits[going, here] >> actions) & 1
        cells[going] = here + moves[actions] * moved
        lengths[going] += 1
        visited.append(cells.copy())
        going = going[cells[going] != mazes.goals[going]]
        if not len(going):
            break
    trail = np.stack(visited, 1)
    paths = tuple(trail[i, : length + 1].copy() for i, length in enumerate(lengths))
    return Played(cells == mazes.goals, lengths, lengths - mazes.distances, paths)


def _checked(actions: Any, k: int) -> NDArray[np.int64]:
    given = np.asarray(actions)
    if (
        given.shape == (k,)
        and given.dtype.kind in "iu"
        and ((given >= 0) & (given < ACTIONS)).all()
    ):
        return given.astype(np.int64)
    raise BackplayError("actions", expected=f"{k} of 0 to 4", got=show(actions))
