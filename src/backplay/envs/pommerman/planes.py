"""What a network sees: 19 feature planes of 11 x 11 a frame, two frames stacked, the older first.

Comes in: a state row, a seat, a buffer. Goes out: the planes of that seat, written straight into
the buffer. Does not know: where rows and buffers come from.

The planes are those of the authors' code, unscaled but for the last: 0 blast strength of bombs,
1 their time left, 2 own position, 3 own ammo, 4 own blast strength, 5 can kick, 6 passage, 7 rigid,
8 wood, 9 flames, 10 extra bomb, 11 range, 12 kick, 13 nothing, 14 has a teammate, 15 to 17 the
other seats in ascending order, 18 step / 800. Planes 3, 4, 5, 14 and 18 are constant. In the team
game 15 and 16 are the enemies and 17 is the teammate. Fog is 0 in all planes but the constant ones.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel, reserve
from backplay.envs.pommerman import layout as at

PLANES = 19
FRAME = PLANES * at.CELLS

_BLAST, _LEFT, _OWN, _AMMO, _STRENGTH, _CAN_KICK = 0, 1, 2, 3, 4, 5
_HAS_TEAMMATE, _OTHERS, _STEP = 14, 15, 18
_NOT_SHOWN = 13  # the plane that is always 0: cells that belong to no plane are counted there, as 0
_CODES = at.AGENT + at.SEATS


@kernel
def stack(previous, s, seat, out):  # type: ignore[no-untyped-def]
    """Writes the frames of two rows, the older first, into `out` [38, 11, 11], float32."""
    flat = out.reshape(2 * FRAME)
    _write(previous, seat, flat, 0)
    _fill(flat, _STEP * at.CELLS, np.float32(previous[at.STEP] / at.MAX_STEPS))
    _write(s, seat, flat, FRAME)
    _fill(flat, FRAME + _STEP * at.CELLS, np.float32(s[at.STEP] / at.MAX_STEPS))


@kernel
def stack_many(first, last, previous, rows, seats, out):  # type: ignore[no-untyped-def]
    """The frames of the games first..last-1 into `out` [n, 38, 11, 11]."""
    for i in range(first, last):
        stack(previous[i], rows[i], seats[i], out[i])


@kernel
def _write(s, seat, flat, start):  # type: ignore[no-untyped-def]
    """Writes all planes but the last, which it empties, from `start` on."""
    for n in range(start, start + FRAME):
        flat[n] = 0
    agent = at.AGENTS + seat * at.AGENT_FIELDS
    top, bottom, left, right = 0, at.SIZE - 1, 0, at.SIZE - 1
    if s[at.VIEW] > 0:
        row, col, view = (
            at.ROW_OF[s[agent + at.AGENT_CELL]],
            at.COL_OF[s[agent + at.AGENT_CELL]],
            s[at.VIEW],
        )
        top, bottom = max(row - view, 0), min(row + view, at.SIZE - 1)
        left, right = max(col - view, 0), min(col + view, at.SIZE - 1)
    _write_board(s, seat, flat, start, top, bottom, left, right)
    for bomb in range(at.BOMBS, at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS):
        cell = s[bomb + at.BOMB_CELL]
        if top <= at.ROW_OF[cell] <= bottom and left <= at.COL_OF[cell] <= right:
            flat[start + _BLAST * at.CELLS + cell] = s[bomb + at.BOMB_BLAST]
            flat[start + _LEFT * at.CELLS + cell] = s[bomb + at.BOMB_LEFT]
    _fill(flat, start + _AMMO * at.CELLS, s[agent + at.AGENT_AMMO])
    _fill(flat, start + _STRENGTH * at.CELLS, s[agent + at.AGENT_BLAST])
    _fill(flat, start + _CAN_KICK * at.CELLS, s[agent + at.AGENT_KICK])
    if s[at.TEAM] != 0:
        _fill(flat, start + _HAS_TEAMMATE * at.CELLS, 1)


@kernel
def _fill(flat, start, value):  # type: ignore[no-untyped-def]
    for n in range(start, start + at.CELLS):
        flat[n] = value


@kernel
def _write_board(s, seat, flat, start, top, bottom, left, right):  # type: ignore[no-untyped-def]
    """One-hot planes of what the cells from row `top` to `bottom`, `left` to `right` show."""
    plane = reserve(_CODES)
    for code in range(_CODES):
        plane[code] = _NOT_SHOWN
    plane[at.PASSAGE], plane[at.RIGID], plane[at.WOOD], plane[at.FLAMES] = 6, 7, 8, 9
    plane[at.EXTRA_BOMB], plane[at.RANGE], plane[at.KICK] = 10, 11, 12
    plane[at.AGENT + seat] = _OWN
    for k in range(1, at.SEATS):
        other = (seat + k) % at.SEATS
        place = other if other < seat else other - 1
        if s[at.TEAM] != 0:
            place = at.SEATS - 2 if k == 2 else (1 if other > 1 else 0)
        plane[at.AGENT + other] = _OTHERS + place
    for row in range(top, bottom + 1):
        for cell in range(at.SIZE * row + left, at.SIZE * row + right + 1):
            flat[start + plane[s[at.BOARD + cell]] * at.CELLS + cell] = 1
    _fill(flat, start + _NOT_SHOWN * at.CELLS, 0)
