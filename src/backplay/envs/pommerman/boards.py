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
from backplay.envs.pommerman.cellsets import having, only, size, spread
from backplay.envs.pommerman.layout import (
    AGENT,
    AGENT_ALIVE,
    AGENT_AMMO,
    AGENT_BLAST,
    AGENT_CELL,
    AGENT_FIELDS,
    AGENTS,
    BOARD,
    CELLS,
    EXTRA_BOMB,
    FLAME,
    ITEMS,
    LIMIT,
    MAX_BLAST,
    MAX_STEPS,
    PASSAGE,
    RIGID,
    SEATS,
    SIZE,
    START_AMMO,
    START_BLAST,
    START_CELLS,
    WOOD,
)

RIGID_PAIRS, WOOD_PAIRS, HIDDEN = 18, 12, 20
MOST_UNREACHED = 4
"""More passages than these that no agent can reach, and the board is drawn again."""


def _fixed_wood() -> np.ndarray:
    """The 12 cells between neighbouring corners that always are wood."""
    cells = []
    for i in (4, 5, 6):
        cells += [(1, i), (10 - i, 1), (9, 10 - i), (10 - i, 9)]
    return np.array([SIZE * row + col for row, col in cells], np.int16)


def _pairs() -> np.ndarray:
    """The 40 cells above the diagonal that may become walls together with their mirror cells."""
    free = set(START_CELLS) | {int(cell) for cell in _fixed_wood()}
    for i in (2, 3):
        for row, col in ((1, i), (9, 10 - i), (1, 10 - i), (i, 9)):
            free |= {SIZE * row + col, SIZE * col + row}
    return np.array(
        [
            SIZE * row + col
            for row in range(SIZE)
            for col in range(row + 1, SIZE)
            if SIZE * row + col not in free
        ],
        np.int16,
    )


FIXED_WOOD = _fixed_wood()
PAIRS = _pairs()


@kernel
def generate(s, streams, i):  # type: ignore[no-untyped-def]
    """Writes a fresh board and four agents at their starts into row `s`, from stream `i`."""
    s[:] = 0
    s[LIMIT] = MAX_STEPS
    s[MAX_BLAST] = 10
    work = s[FLAME:]  # a fresh row has no flames yet: room to work in, emptied again
    while True:
        _draw_walls(s, streams, i, work)
        if _unreached(s) <= MOST_UNREACHED:
            break
    _hide_items(s, streams, i, work)
    for seat in range(SEATS):
        agent = AGENTS + seat * AGENT_FIELDS
        s[agent + AGENT_CELL] = START_CELLS[seat]
        s[agent + AGENT_ALIVE] = 1
        s[agent + AGENT_AMMO] = START_AMMO
        s[agent + AGENT_BLAST] = START_BLAST


@kernel
def generate_many(states, streams):  # type: ignore[no-untyped-def]
    """`generate` for every row of states [n, ROW], row i from stream i."""
    for i in range(states.shape[0]):
        generate(states[i], streams, i)


@kernel
def _draw_walls(s, streams, i, work):  # type: ignore[no-untyped-def]
    s[BOARD : BOARD + CELLS] = PASSAGE
    for seat in range(SEATS):
        s[BOARD + START_CELLS[seat]] = AGENT + seat
    for n in range(FIXED_WOOD.shape[0]):
        s[BOARD + FIXED_WOOD[n]] = WOOD
    pairs = PAIRS.shape[0]
    for n in range(pairs):
        work[n] = PAIRS[n]
    for n in range(RIGID_PAIRS + WOOD_PAIRS):
        cell = _take(work, n, pairs, streams, i)
        wall = RIGID if n < RIGID_PAIRS else WOOD
        s[BOARD + cell] = wall
        s[BOARD + SIZE * (cell % SIZE) + cell // SIZE] = wall
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
    board = s[BOARD : BOARD + CELLS]
    open_low, open_high = having(board, ~(1 << RIGID))
    low, high = only(START_CELLS[2])
    more = True
    while more:
        next_low, next_high = spread(low, high)
        next_low, next_high = low | (next_low & open_low), high | (next_high & open_high)
        more = next_low != low or next_high != high
        low, high = next_low, next_high
    passage_low, passage_high = having(board, 1 << PASSAGE)
    return size(passage_low & ~low, passage_high & ~high)


@kernel
def _hide_items(s, streams, i, work):  # type: ignore[no-untyped-def]
    woods = 0
    for cell in range(CELLS):
        if s[BOARD + cell] == WOOD:
            work[woods] = cell
            woods += 1
    for n in range(HIDDEN):
        cell = _take(work, n, woods, streams, i)
        s[ITEMS + cell] = EXTRA_BOMB + below(streams, i, 3)
    work[:woods] = 0
