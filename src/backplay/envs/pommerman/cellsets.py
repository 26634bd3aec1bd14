"""Sets of cells as two 64-bit words: cell c is bit c of `low`, or bit c - 64 of `high`.

A step from every cell of a set at once is a handful of shifts, so a search over the board costs a
few nanoseconds a level. What the sets mean is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from backplay.envs.kernels import kernel
from backplay.envs.pommerman.layout import CELLS, SIZE

_0, _1, _11, _53, _63 = (np.uint64(n) for n in (0, 1, 11, 53, 63))


def cell_sets(belongs: Callable[[int, int, int, int], bool]) -> np.ndarray:
    """For every cell (row, col) the set of (r, c) with belongs(row, col, r, c); uint64[121, 2]."""
    table = np.zeros((CELLS, 2), np.uint64)
    for cell in range(CELLS):
        for other in range(CELLS):
            if belongs(*divmod(cell, SIZE), *divmod(other, SIZE)):
                table[cell, other // 64] |= _1 << np.uint64(other % 64)
    return table


_NOT_FIRST_COL = cell_sets(lambda row, col, r, c: c > 0)[0]
_NOT_LAST_COL = cell_sets(lambda row, col, r, c: c < SIZE - 1)[0]
_FIRST_LOW, _FIRST_HIGH = (np.uint64(word) for word in _NOT_FIRST_COL)
_LAST_LOW, _LAST_HIGH = (np.uint64(word) for word in _NOT_LAST_COL)


@kernel
def only(cell):  # type: ignore[no-untyped-def]
    """The set of this cell alone."""
    if cell < 64:
        return _1 << np.uint64(cell), _0
    return _0, _1 << np.uint64(cell - 64)


@kernel
def having(board, codes):  # type: ignore[no-untyped-def]
    """The cells whose code is one of `codes` (bit k: code k)."""
    low, high = _0, _0
    for cell in range(64):
        low |= np.uint64((codes >> board[cell]) & 1) << np.uint64(cell)
    for cell in range(CELLS - 64):
        high |= np.uint64((codes >> board[cell + 64]) & 1) << np.uint64(cell)
    return low, high


@kernel
def spread(low, high):  # type: ignore[no-untyped-def]
    """The neighbours of a set's cells; bits beyond cell 120 are noise for the caller to mask."""
    west_low, west_high = low & _FIRST_LOW, high & _FIRST_HIGH
    east_low, east_high = low & _LAST_LOW, high & _LAST_HIGH
    return (
        (low >> _11)
        | (high << _53)
        | (low << _11)
        | (west_low >> _1)
        | (west_high << _63)
        | (east_low << _1)
    ), (
        (high >> _11)
        | (high << _11)
        | (low >> _53)
        | (west_high >> _1)
        | (east_high << _1)
        | (east_low >> _63)
    )


@kernel
def size(low, high):  # type: ignore[no-untyped-def]
    """How many cells a set has; as slow as it has cells."""
    count = 0
    while low != _0:
        low &= low - _1
        count += 1
    while high != _0:
        high &= high - _1
        count += 1
    return count
