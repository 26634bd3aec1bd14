"""What the cells of mazes see around them, as a few kinds.

The first convolution sees 3 x 3 cells, each off the board, a passage, a wall or the goal. Of the
100 x 576 surroundings of a hundred mazes few differ, so it is computed once for each kind. An agent
next to a cell makes another kind of it: a pair (kind, where the agent is).

Comes in: walls and goals. Goes out: the kind of every cell, the planes each kind stands for, and
the pairs. Knows nothing of networks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

OFF, PASSAGE, WALL, GOAL = range(4)
AGENT_PLANE, GOAL_PLANE, PASSAGE_PLANE, WALL_PLANE = range(4)
PLANES = 4
AROUND = 9


@dataclass(frozen=True, eq=False)
class Patterns:
    """The kinds of cells of some mazes."""

    width: int
    kinds: NDArray[np.int32]
    """Kind of every cell, [mazes, cells]."""
    inputs: NDArray[np.float32]
    """What each kind's surroundings are as planes, [kinds, 4 * 9]; then each pair's, below them."""
    pairs: NDArray[np.int32]
    """Row of a kind with the agent at a position around it, [kinds, 9]; -1 where it cannot be."""
    kind_of_pair: NDArray[np.int64]
    """The kind that each pair is without its agent, [pairs]."""

    @property
    def num_kinds(self) -> int:
        return len(self.pairs)

    @property
    def num_mazes(self) -> int:
        return len(self.kinds)

    @property
    def cells(self) -> int:
        return int(self.kinds.shape[1])


def find_patterns(walls: NDArray[np.bool_], goals: NDArray[np.integer]) -> Patterns:
    """The patterns of mazes with these walls [mazes, height, width] and goal cells [mazes]."""
    mazes, height, width = walls.shape
    types = np.where(walls, WALL, PASSAGE).astype(np.int32).reshape(mazes, -1)
    types[np.arange(mazes), goals] = GOAL
    padded = np.zeros((mazes, height + 2, width + 2), np.int32)
    padded[:, 1:-1, 1:-1] = types.reshape(mazes, height, width)
    codes = np.zeros((mazes, height, width), np.int32)
    for i in range(AROUND):
        dy, dx = divmod(i, 3)
        codes += padded[:, dy : dy + height, dx : dx + width] << (2 * i)
    used: NDArray[np.int64] = np.flatnonzero(np.bincount(codes.ravel(), minlength=4**AROUND))
    kind_of_code = np.zeros(4**AROUND, np.int32)
    kind_of_code[used] = np.arange(len(used))
    seen = used[:, None] >> (2 * np.arange(AROUND)) & 3  # [kinds, 9]: the types around
    # An agent may stand wherever a passage or the goal is.
    kind, position = np.nonzero((seen == PASSAGE) | (seen == GOAL))
    pairs = np.full((len(used), AROUND), -1, np.int32)
    pairs[kind, position] = np.arange(len(kind))
    planes = np.stack([np.zeros_like(seen), seen == GOAL, seen == PASSAGE, seen == WALL], axis=1)
    with_agent = planes[kind]
    rows = np.arange(len(kind))
    with_agent[rows, AGENT_PLANE, position] = 1
    with_agent[rows, PASSAGE_PLANE, position] = 0
    inputs = np.concatenate([planes, with_agent]).reshape(-1, PLANES * AROUND)
    return Patterns(
        width=width,
        kinds=kind_of_code[codes].reshape(mazes, -1),
        inputs=inputs.astype(np.float32),
        pairs=pairs,
        kind_of_pair=kind.astype(np.int64),
    )
