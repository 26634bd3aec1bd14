"""The board after quarter turns clockwise: where cells come to lie, and what actions look like.

Seat k after k turns begins top left, with seat k + 1 below it, as seat 0 does unturned.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.pommerman import layout as at

MIDDLE = at.CELLS // 2


def _turned() -> np.ndarray:
    """Where each cell is after 0 to 3 quarter turns clockwise, [4, CELLS]."""
    cells = np.arange(at.CELLS).reshape(at.SIZE, at.SIZE)
    return np.stack([np.rot90(cells, k).ravel() for k in range(4)])


TURNED = _turned()


def _shown() -> np.ndarray:
    """As what each action on the board shows after 0 to 3 quarter turns clockwise, [4, ACTIONS]."""
    shown = np.tile(np.arange(at.ACTIONS), (4, 1))
    for turn in range(4):
        for action in range(at.UP, at.LAY):
            onto = TURNED[turn, at.NEXT[MIDDLE, action]]
            shown[turn, action] = at.NEXT[MIDDLE].tolist().index(onto)
    return shown


SHOWN = _shown()
