"""What a network sees: 19 feature planes of 11 x 11 a frame, two frames stacked, the older first.

Comes in: a state row, a seat, a buffer. Goes out: the planes of that seat, written straight into
the buffer. Does not know: where rows and buffers come from.

The planes are those of the authors' code, unscaled but for the last: 0 blast strength of bombs,
1 their time left, 2 own position, 3 own ammo, 4 own blast strength, 5 can kick, 6 passage, 7 rigid,
8 wood, 9 flames, 10 extra bomb, 11 range, 12 kick, 13 nothing, 14 has a teammate, 15 to 17 the
other seats in ascending order, 18 step / 800. Planes 3, 4, 5, 14 and 18 are constant. In the team
game 15 and 16 are the enemies and 17 is the teammate. Fog is 0 in all planes but the constant ones.

The compact form is uint8 instead of float32, a quarter of the memory. Its last plane holds the step
in its first two cells, high byte and low byte, so nothing is lost.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel, reserve
from backplay.envs.pommerman.layout import (
    AGENT,
    AGENT_AMMO,
    AGENT_BLAST,
    AGENT_CELL,
    AGENT_FIELDS,
    AGENT_KICK,
    AGENTS,
    BOARD,
    BOMB_BLAST,
    BOMB_CELL,
    BOMB_COUNT,
    BOMB_FIELDS,
    BOMB_LEFT,
    BOMBS,
    CELLS,
    COL_OF,
    EXTRA_BOMB,
    FLAMES,
    KICK,
    MAX_STEPS,
    PASSAGE,
    RANGE,
    RIGID,
    ROW_OF,
    SEATS,
    SIZE,
    STEP,
    TEAM,
    VIEW,
    WOOD,
)

PLANES = 19
FRAME = PLANES * CELLS

_BLAST, _LEFT, _OWN, _AMMO, _STRENGTH, _CAN_KICK = 0, 1, 2, 3, 4, 5
_HAS_TEAMMATE, _OTHERS, _STEP = 14, 15, 18
_NOT_SHOWN = 13  # the plane that is always 0: cells that belong to no plane are counted there, as 0
_CODES = AGENT + SEATS


@kernel
def planes_into(s, seat, out):  # type: ignore[no-untyped-def]
    """Writes one frame of a seat into `out` [19, 11, 11], float32."""
    flat = out.reshape(FRAME)
    _write(s, seat, flat, 0)
    _fill(flat, _STEP * CELLS, np.float32(s[STEP] / MAX_STEPS))


@kernel
def stack(previous, s, seat, out):  # type: ignore[no-untyped-def]
    """Writes the frames of two rows, the older first, into `out` [38, 11, 11], float32."""
    flat = out.reshape(2 * FRAME)
    _write(previous, seat, flat, 0)
    _fill(flat, _STEP * CELLS, np.float32(previous[STEP] / MAX_STEPS))
    _write(s, seat, flat, FRAME)
    _fill(flat, FRAME + _STEP * CELLS, np.float32(s[STEP] / MAX_STEPS))


@kernel
def planes_many(states, seats, out, fresh):  # type: ignore[no-untyped-def]
    """The stacked planes of n games, next to those of the step before.

    `out` [n, 38, 11, 11] holds the planes of the step before; its newer frame becomes the older.
    Where `fresh` [n] is not 0 a game has just begun or been restored, and both frames are the same.
    """
    for i in range(states.shape[0]):
        flat = out[i].reshape(2 * FRAME)
        if fresh[i] == 0:
            for n in range(FRAME):
                flat[n] = flat[FRAME + n]
        _write(states[i], seats[i], flat, FRAME)
        _fill(flat, FRAME + _STEP * CELLS, np.float32(states[i, STEP] / MAX_STEPS))
        if fresh[i] != 0:
            for n in range(FRAME):
                flat[n] = flat[FRAME + n]


@kernel
def compact_into(s, seat, out):  # type: ignore[no-untyped-def]
    """Writes one frame of a seat into `out` [19, 11, 11], uint8, in the compact form."""
    flat = out.reshape(FRAME)
    _write(s, seat, flat, 0)
    flat[_STEP * CELLS] = s[STEP] >> 8
    flat[_STEP * CELLS + 1] = s[STEP] & 255


@kernel
def expand(compact, out):  # type: ignore[no-untyped-def]
    """The float32 planes `out` of the compact planes of the same shape [frames * 19, 11, 11]."""
    small, flat = compact.reshape(compact.size), out.reshape(out.size)
    for n in range(flat.size):
        flat[n] = small[n]
    for step in range(_STEP * CELLS, flat.size, FRAME):
        _fill(flat, step, np.float32((small[step] * 256 + small[step + 1]) / MAX_STEPS))


@kernel
def _write(s, seat, flat, start):  # type: ignore[no-untyped-def]
    """Writes all planes but the last, which it empties, from `start` on."""
    for n in range(start, start + FRAME):
        flat[n] = 0
    agent = AGENTS + seat * AGENT_FIELDS
    top, bottom, left, right = 0, SIZE - 1, 0, SIZE - 1
    if s[VIEW] > 0:
        row, col, view = ROW_OF[s[agent + AGENT_CELL]], COL_OF[s[agent + AGENT_CELL]], s[VIEW]
        top, bottom = max(row - view, 0), min(row + view, SIZE - 1)
        left, right = max(col - view, 0), min(col + view, SIZE - 1)
    _write_board(s, seat, flat, start, top, bottom, left, right)
    for bomb in range(BOMBS, BOMBS + s[BOMB_COUNT] * BOMB_FIELDS, BOMB_FIELDS):
        cell = s[bomb + BOMB_CELL]
        if top <= ROW_OF[cell] <= bottom and left <= COL_OF[cell] <= right:
            flat[start + _BLAST * CELLS + cell] = s[bomb + BOMB_BLAST]
            flat[start + _LEFT * CELLS + cell] = s[bomb + BOMB_LEFT]
    _fill(flat, start + _AMMO * CELLS, s[agent + AGENT_AMMO])
    _fill(flat, start + _STRENGTH * CELLS, s[agent + AGENT_BLAST])
    _fill(flat, start + _CAN_KICK * CELLS, s[agent + AGENT_KICK])
    if s[TEAM] != 0:
        _fill(flat, start + _HAS_TEAMMATE * CELLS, 1)


@kernel
def _fill(flat, start, value):  # type: ignore[no-untyped-def]
    for n in range(start, start + CELLS):
        flat[n] = value


@kernel
def _write_board(s, seat, flat, start, top, bottom, left, right):  # type: ignore[no-untyped-def]
    """One-hot planes of what the cells from row `top` to `bottom`, `left` to `right` show."""
    plane = reserve(_CODES)
    for code in range(_CODES):
        plane[code] = _NOT_SHOWN
    plane[PASSAGE], plane[RIGID], plane[WOOD], plane[FLAMES] = 6, 7, 8, 9
    plane[EXTRA_BOMB], plane[RANGE], plane[KICK] = 10, 11, 12
    plane[AGENT + seat] = _OWN
    for k in range(1, SEATS):
        other = (seat + k) % SEATS
        place = other if other < seat else other - 1
        if s[TEAM] != 0:
            place = SEATS - 2 if k == 2 else (1 if other > 1 else 0)
        plane[AGENT + other] = _OTHERS + place
    for row in range(top, bottom + 1):
        for cell in range(SIZE * row + left, SIZE * row + right + 1):
            flat[start + plane[s[BOARD + cell]] * CELLS + cell] = 1
    _fill(flat, start + _NOT_SHOWN * CELLS, 0)
