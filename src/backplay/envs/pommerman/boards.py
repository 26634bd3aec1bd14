"""Fresh boards, drawn as the public game draws them.

Comes in: a row to fill and a random stream. Goes out: the row at step 0 of a free for all.
Does not know: rules, seeds.

Walls mirror across the main diagonal, which has none; every board leaves at most 4 passages that no
agent can ever reach.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.chance import below
from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.cellsets import having, only, size, spread

RIGID_PAIRS, WOOD_PAIRS, HIDDEN = 18, 12, 20
MOST_UNREACHED = 4
"""More passages than these that no agent can reach, and the board is drawn again."""


def _fixed_wood() -> np.ndarray:
    """The 12 cells between neighbouring corners that always are wood."""
    cells = []
    for i in (4, 5, 6):
        cells += [(1, i), (10 - i, 1), (9, 10 - i), (10 - i, 9)]
    return np.array([at.SIZE * row + col for row, col in cells], np.int16)


def _pairs() -> np.ndarray:
    """The 40 cells above the diagonal that may become walls together with their mirror cells."""
    free = set(at.START_CELLS) | {int(cell) for cell in _fixed_wood()}
    for i in (2, 3):
        for row, col in ((1, i), (9, 10 - i), (1, 10 - i), (i, 9)):
            free |= {at.SIZE * row + col, at.SIZE * col + row}
    return np.array(
        [
            at.SIZE * row + col
            for row in range(at.SIZE)
            for col in range(row + 1, at.SIZE)
            if at.SIZE * row + col not in free
        ],
        np.int16,
    )


FIXED_WOOD = _fixed_wood()
PAIRS = _pairs()


@kernel
def generate(s, streams, i):  # type: ignore[no-untyped-def]
    """Writes a fresh board and four agents at their starts into row `s`, from stream `i`."""
    s[:] = 0
    s[at.LIMIT] = at.MAX_STEPS
    s[at.MAX_BLAST] = 10
    work = s[at.FLAME :]  # a fresh row has no flames yet: room to work in, emptied again
    while True:
        _draw_walls(s, streams, i, work)
        if _unreached(s) <= MOST_UNREACHED:
            break
    _hide_items(s, streams, i, work)
    for seat in range(at.SEATS):
        agent = at.AGENTS + seat * at.AGENT_FIELDS
        s[agent + at.AGENT_CELL] = at.START_CELLS[seat]
        s[agent + at.AGENT_ALIVE] = 1
        s[agent + at.AGENT_AMMO] = at.START_AMMO
        s[agent + at.AGENT_BLAST] = at.START_BLAST


@kernel
def generate_many(states, streams):  # type: ignore[no-untyped-def]
    """`generate` for every row of states [n, ROW], row i from stream i."""
    for i in range(states.shape[0]):
        generate(states[i], streams, i)


@kernel
def _draw_walls(s, streams, i, work):  # type: ignore[no-untyped-def]
    s[at.BOARD : at.BOARD + at.CELLS] = at.PASSAGE
    for seat in range(at.SEATS):
        s[at.BOARD + at.START_CELLS[seat]] = at.AGENT + seat
    for n in range(FIXED_WOOD.shape[0]):
        s[at.BOARD + FIXED_WOOD[n]] = at.WOOD
    pairs = PAIRS.shape[0]
    for n in range(pairs):
        work[n] = PAIRS[n]
    for n in range(RIGID_PAIRS + WOOD_PAIRS):
        cell = _take(work, n, pairs, streams, i)
        wall = at.RIGID if n < RIGID_PAIRS else at.WOOD
        s[at.BOARD + cell] = wall
        s[at.BOARD + at.SIZE * (cell % at.SIZE) + cell // at.SIZE] = wall
    work[:pairs] = 0


@kernel
def _take(cards, n, count, streams, i):  # type: ignore[no-untyped-def]
    """Draws one of cards[n:count], puts it at place n and returns it."""
    other = n + below(streams, i, count - n)
    card = cards[other]
    cards[other] = cards[n]
    cards[n] = card
    return np.int64(card)


@kernel
def _unreached(s):  # type: ignore[no-untyped-def]
    """Passages that no way leads to from agent 2's corner, through all but rigid walls."""
    board = s[at.BOARD : at.BOARD + at.CELLS]
    open_low, open_high = having(board, ~(1 << at.RIGID))
    low, high = only(at.START_CELLS[2])
    more = True
    while more:
        next_low, next_high = spread(low, high)
        next_low, next_high = low | (next_low & open_low), high | (next_high & open_high)
        more = next_low != low or next_high != high
        low, high = next_low, next_high
    passage_low, passage_high = having(board, 1 << at.PASSAGE)
    return size(passage_low & ~low, passage_high & ~high)


@kernel
def _hide_items(s, streams, i, work):  # type: ignore[no-untyped-def]
    woods = 0
    for cell in range(at.CELLS):
        if s[at.BOARD + cell] == at.WOOD:
            work[woods] = cell
            woods += 1
    for n in range(HIDDEN):
        cell = _take(work, n, woods, streams, i)
        s[at.ITEMS + cell] = at.EXTRA_BOMB + below(streams, i, 3)
    work[:woods] = 0
