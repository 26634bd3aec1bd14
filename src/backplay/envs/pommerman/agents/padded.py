"""The board with a rim of rigid cells, so that a step or a ray never leaves the array.

A padded cell is 13 * (row + 1) + col + 1: row-major order is kept, a neighbour is an addition, and
what is off the board reads as rigid, which is how every rule that uses this treats it.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel
from backplay.envs.pommerman.layout import CELLS, LAY, SIZE

WIDTH = SIZE + 2
PADDED = WIDTH * WIDTH
ORIGIN = WIDTH + 1  # cell (0, 0)
ROW_1 = 2 * WIDTH  # cells below this one lie in row 0

PAD = np.array([WIDTH * (c // SIZE + 1) + c % SIZE + 1 for c in range(CELLS)], np.int16)
FLAT = np.zeros(PADDED, np.int16)
FLAT[PAD] = np.arange(CELLS)

# By action: where it leads. The last one, laying a bomb, leads nowhere.
STEPS = np.array([0, -WIDTH, WIDTH, -1, 1, 0], np.int16)


@kernel
def nth_move(moves, n, otherwise):  # type: ignore[no-untyped-def]
    """The n-th of a set of moves (bit a: action a), counted from 0; `otherwise` if it has fewer."""
    for move in range(LAY):
        if moves >> move & 1:
            if n == 0:
                return move
            n -= 1
    return otherwise
