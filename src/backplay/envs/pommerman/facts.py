"""What a network with a sparse first layer sees: the numbers of the facts that hold.

Comes in: a state row, the row before it, a seat, a buffer. Goes out: the facts' numbers in the
buffer, -1 behind them. Does not know: where rows and buffers come from, or who adds them up.

The facts say what the two frames of `planes` show in a free for all without fog, no more and no
less; `tests` derive each from the other. Some say what follows from others by the rules: when a
cell near by burns, which actions can be survived. A table and two layers would have to find that
out, walls and chains included; four convolutions over the board see it.

Near things stand where they are seen from the own cell, as offsets (from the middle of the board,
if the own agent is dead). Absolute cells complete them.
The frame before is told by what differs from what would be expected of it: everybody stayed in
place, whoever moved came from a passage, bombs had a step more left. Most of it costs no fact.

With `turn` k the board is shown after k quarter turns clockwise, and enemies are counted from the
own seat on. Seat k shown so begins top left, with seat k + 1 below it, as seat 0 does unturned.
Not `centred`, everything stands where it is as seen from the middle of the board, and things that
matter together are left to be found out.
"""

from __future__ import annotations

from typing import Any

from backplay.envs.kernels import kernel, reserve
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.danger import NEVER, burning_times, survivable
from backplay.envs.pommerman.turns import MIDDLE, SHOWN, TURNED

NEAR = 5
"""Walls stand as offsets up to here, as cells beyond."""
_SEATS, _CELLS, _MOVES = at.SEATS, at.CELLS, at.LAY  # `reserve` takes names, no attributes
SPAN, OFFSETS = 2 * at.SIZE - 1, (2 * at.SIZE - 1) ** 2
WINDOW = (2 * NEAR + 1) ** 2
BLASTS = 10
PERIOD = 25
"""Steps are told as step // PERIOD and step % PERIOD."""
PERIODS = 321  # up to step 8,024
REACH = 4
"""When cells burn is told up to so far from the own one."""
SOON = (2 * REACH + 1) ** 2
MOST = 384
"""Facts that may hold at once. No game has so many; hand-made states could, and are refused."""

# Kinds of facts: the number of the first of each, in the order of `_SIZES`.
_SIZES: dict[str, int] = {
    # Now, by offset.
    "flames": OFFSETS, "items": 3 * OFFSETS, "enemies": 3 * OFFSETS,
    "bomb_left": at.BOMB_LIFE * OFFSETS, "bomb_blast": BLASTS * OFFSETS,
    "near_rigid": WINDOW, "near_wood": WINDOW,
    # Now, by cell.
    "far_rigid": at.CELLS, "far_wood": at.CELLS, "own": at.CELLS, "enemy_cells": 3 * at.CELLS,
    # Numbers.
    "ammo": at.MAX_AMMO + 1, "blast": BLASTS + 1, "kick": 2, "living": 8, "period": PERIODS,
    "in_period": PERIOD,
    # The frame before: whether it is this one; else where it is not what would be expected.
    "same": 1, "flames_before": OFFSETS, "enemies_before": 3 * OFFSETS, "bomb_before": OFFSETS,
    "cells_before": 8 * at.CELLS, "bomb_left_before": (at.BOMB_LIFE + 1) * at.CELLS,
    "bomb_blast_before": BLASTS * at.CELLS, "ammo_before": at.MAX_AMMO + 1,
    "blast_before": BLASTS + 1, "kick_before": 2,
    # Now, as seen from the own cell, things that matter together: which of the eight cells around
    # are closed, when cells near by burn, and what becomes of each action.
    "closed": 256, "burns": at.BOMB_LIFE * SOON, "ways": 3 * at.ACTIONS,
}  # fmt: skip


def _starts() -> dict[str, int]:
    starts, total = {}, 0
    for name, size in _SIZES.items():
        starts[name] = total
        total += size
    return starts


AT: dict[str, int] = _starts()
"""The number of the first fact of each kind."""
FACTS = sum(_SIZES.values())
"""How many facts there are."""

_FLAMES, _ITEMS, _ENEMIES = AT["flames"], AT["items"], AT["enemies"]
_LEFT, _BLAST = AT["bomb_left"], AT["bomb_blast"]
_NEAR_RIGID, _NEAR_WOOD = AT["near_rigid"], AT["near_wood"]
_FAR_RIGID, _FAR_WOOD, _OWN, _ENEMY_CELLS = (
    AT[name] for name in ("far_rigid", "far_wood", "own", "enemy_cells")
)
_AMMO, _STRENGTH, _KICK, _LIVING = AT["ammo"], AT["blast"], AT["kick"], AT["living"]
_PERIOD, _IN_PERIOD, _SAME = AT["period"], AT["in_period"], AT["same"]
_FLAMES_BEFORE, _ENEMIES_BEFORE = AT["flames_before"], AT["enemies_before"]
_BOMB_BEFORE, _CELLS_BEFORE = AT["bomb_before"], AT["cells_before"]
_LEFT_BEFORE, _BLAST_BEFORE = AT["bomb_left_before"], AT["bomb_blast_before"]
_AMMO_BEFORE, _STRENGTH_BEFORE = AT["ammo_before"], AT["blast_before"]
_KICK_BEFORE = AT["kick_before"]
_CLOSED, _BURNS, _WAYS = AT["closed"], AT["burns"], AT["ways"]

OTHER_CODES: tuple[int, ...] = (
    at.PASSAGE,
    at.RIGID,
    at.WOOD,
    at.BOMB,
    at.EXTRA_BOMB,
    at.RANGE,
    at.KICK,
)
"""What cells before may show, other than flames and agents; an own agent is the last, 7."""
_OWN_BEFORE = 7


@kernel
def facts_many(first, last, previous, rows, seats, turns, centred, out):  # type: ignore[no-untyped-def]
    """The facts of the games first..last-1 into `out` [n, MOST]; the most that hold in a game."""
    most = 0
    for i in range(first, last):
        most = max(most, facts_into(previous[i], rows[i], seats[i], turns[i], centred, out[i]))
    return most


@kernel
def facts_into(previous, s, seat, turn, centred, out):  # type: ignore[no-untyped-def]
    """Writes the facts of a seat into `out` [MOST]; returns how many hold, were they too many.

    `previous` is the row of the step before, or of the same step.
    """
    place, cells = -1, TURNED[turn]
    for cell in range(at.CELLS):
        if s[at.BOARD + cell] == at.AGENT + seat:
            place = cell
    own = cells[place] if place >= 0 else -1
    centre = own if centred and own >= 0 else MIDDLE
    n = _numbers(s, seat, turn, own, out)
    n = _board(s, seat, turn, centre, out, n)
    for bomb in range(at.BOMBS, at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS):
        offset = _offset(cells[s[bomb + at.BOMB_CELL]], centre)
        n = _add(out, n, _LEFT + (s[bomb + at.BOMB_LEFT] - 1) * OFFSETS + offset)
        n = _add(out, n, _BLAST + (s[bomb + at.BOMB_BLAST] - 1) * OFFSETS + offset)
    if centred and own >= 0:
        n = _together(s, seat, turn, place, out, n)
    if previous[at.STEP] == s[at.STEP]:
        n = _add(out, n, _SAME)
    else:
        n = _board_before(previous, s, seat, turn, centre, out, n)
        n = _bombs_before(previous, s, turn, centre, out, n)
        n = _numbers_before(previous, s, seat, out, n)
    for k in range(n, MOST):
        out[k] = -1
    return n


@kernel
def _add(out, n, fact):  # type: ignore[no-untyped-def]
    if n < MOST:
        out[n] = fact
    return n + 1


@kernel
def _offset(cell, centre):  # type: ignore[no-untyped-def]
    """Where a cell is as seen from another, 0..OFFSETS-1."""
    down = cell // at.SIZE - centre // at.SIZE + at.SIZE - 1
    return down * SPAN + cell % at.SIZE - centre % at.SIZE + at.SIZE - 1


@kernel
def _enemy(code, seat, turn):  # type: ignore[no-untyped-def]
    """Which of the three others an agent is: by its number, as in the planes; turned, from us."""
    other = code - at.AGENT
    if turn:
        return (other - seat) % at.SEATS - 1
    return other if other < seat else other - 1


@kernel
def _numbers(s, seat, turn, own, out):  # type: ignore[no-untyped-def]
    agent, n, living = at.AGENTS + seat * at.AGENT_FIELDS, 0, 0
    for cell in range(at.CELLS):
        code = s[at.BOARD + cell]
        if code >= at.AGENT and code != at.AGENT + seat:
            living |= 1 << _enemy(code, seat, turn)
    if own >= 0:
        n = _add(out, n, _OWN + own)
    n = _add(out, n, _AMMO + s[agent + at.AGENT_AMMO])
    n = _add(out, n, _STRENGTH + s[agent + at.AGENT_BLAST])
    n = _add(out, n, _KICK + s[agent + at.AGENT_KICK])
    n = _add(out, n, _LIVING + living)
    n = _add(out, n, _PERIOD + s[at.STEP] // PERIOD)
    return _add(out, n, _IN_PERIOD + s[at.STEP] % PERIOD)


@kernel
def _board(s, seat, turn, centre, out, n):  # type: ignore[no-untyped-def]
    """What the cells show now."""
    row, col = centre // at.SIZE, centre % at.SIZE
    for place in range(at.CELLS):
        code = s[at.BOARD + place]
        if code in (at.PASSAGE, at.BOMB, at.AGENT + seat):
            continue
        cell = TURNED[turn, place]
        if code in (at.RIGID, at.WOOD):
            down, right = cell // at.SIZE - row, cell % at.SIZE - col
            if abs(down) <= NEAR and abs(right) <= NEAR:
                near = (down + NEAR) * (2 * NEAR + 1) + right + NEAR
                n = _add(out, n, (_NEAR_RIGID if code == at.RIGID else _NEAR_WOOD) + near)
            else:
                n = _add(out, n, (_FAR_RIGID if code == at.RIGID else _FAR_WOOD) + cell)
        elif code == at.FLAMES:
            n = _add(out, n, _FLAMES + _offset(cell, centre))
        elif code >= at.AGENT:
            enemy = _enemy(code, seat, turn)
            n = _add(out, n, _ENEMIES + enemy * OFFSETS + _offset(cell, centre))
            n = _add(out, n, _ENEMY_CELLS + enemy * at.CELLS + cell)
        else:
            n = _add(out, n, _ITEMS + (code - at.EXTRA_BOMB) * OFFSETS + _offset(cell, centre))
    return n


@kernel
def _together(s, seat, turn, own, out, n):  # type: ignore[no-untyped-def]
    """Which cells around nobody can enter now, which cells burn when, and what actions lead to."""
    shown = TURNED[turn, own]
    row, col, closed = shown // at.SIZE, shown % at.SIZE, 255  # beyond the board all is closed
    times = reserve(_CELLS)
    burning_times(s, own, 0, times)
    for place in range(at.CELLS):
        cell, code = TURNED[turn, place], s[at.BOARD + place]
        down, right = cell // at.SIZE - row, cell % at.SIZE - col
        is_open = code == at.PASSAGE or at.EXTRA_BOMB <= code <= at.KICK
        if is_open and abs(down) <= 1 and abs(right) <= 1:  # the own cell is not open
            around = 3 * down + right + 4
            closed ^= 1 << (around if around < 4 else around - 1)
        if times[place] < NEVER and abs(down) <= REACH and abs(right) <= REACH:
            near = (down + REACH) * (2 * REACH + 1) + right + REACH
            n = _add(out, n, _BURNS + (times[place] - 1) * SOON + near)
    return _ways(s, seat, turn, own, times, out, _add(out, n, _CLOSED + closed))


@kernel
def _ways(s, seat, turn, own, times, out, n):  # type: ignore[no-untyped-def]
    """Whether each action is closed, deadly, or can be survived."""
    moves, agent = reserve(_MOVES), at.AGENTS + seat * at.AGENT_FIELDS
    survivable(s, own, 0, times, moves)
    for move in range(at.LAY):
        n = _add(out, n, _WAYS + 3 * SHOWN[turn, move] + moves[move])
    lays = s[agent + at.AGENT_AMMO] > 0
    for bomb in range(at.BOMBS, at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS):
        lays = lays and s[bomb + at.BOMB_CELL] != own
    if lays:
        burning_times(s, own, s[agent + at.AGENT_BLAST], times)
        survivable(s, own, s[agent + at.AGENT_BLAST], times, moves)
    return _add(out, n, _WAYS + 3 * at.LAY + (moves[at.STOP] if lays else 0))


@kernel
def _board_before(previous, s, seat, turn, centre, out, n):  # type: ignore[no-untyped-def]
    """Where the board before was not what this one lets expect."""
    moved = reserve(_SEATS)  # who was somewhere else
    for k in range(at.SEATS):
        moved[k] = 0
    for cell in range(at.CELLS):
        code = previous[at.BOARD + cell]
        if code >= at.AGENT and code != s[at.BOARD + cell]:
            moved[code - at.AGENT] = 1
    for place in range(at.CELLS):
        code, now = previous[at.BOARD + place], s[at.BOARD + place]
        if now >= at.AGENT and moved[now - at.AGENT]:
            now = at.PASSAGE
        if code == now:
            continue
        cell = TURNED[turn, place]
        if code == at.FLAMES:
            n = _add(out, n, _FLAMES_BEFORE + _offset(cell, centre))
        elif code == at.AGENT + seat:
            n = _add(out, n, _CELLS_BEFORE + _OWN_BEFORE * at.CELLS + cell)
        elif code >= at.AGENT:
            enemy = _enemy(code, seat, turn)
            n = _add(out, n, _ENEMIES_BEFORE + enemy * OFFSETS + _offset(cell, centre))
        else:
            kind = code if code <= at.BOMB else code - 2  # as in OTHER_CODES
            n = _add(out, n, _CELLS_BEFORE + kind * at.CELLS + cell)
    return n


@kernel
def _bombs_before(previous, s, turn, centre, out, n):  # type: ignore[no-untyped-def]
    """Bombs that were not where, or not what, those of now let expect."""
    for bomb in range(
        at.BOMBS, at.BOMBS + previous[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS
    ):
        cell, left, blast = previous[bomb + at.BOMB_CELL], previous[bomb + at.BOMB_LEFT], 0
        for other in range(at.BOMBS, at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS):
            as_expected = left < at.BOMB_LIFE and s[other + at.BOMB_LEFT] == left - 1
            if s[other + at.BOMB_CELL] == cell and as_expected:
                blast = s[other + at.BOMB_BLAST]
        if blast != previous[bomb + at.BOMB_BLAST]:
            cell = TURNED[turn, cell]
            n = _add(out, n, _BOMB_BEFORE + _offset(cell, centre))
            n = _add(out, n, _LEFT_BEFORE + left * at.CELLS + cell)
            n = _add(out, n, _BLAST_BEFORE + (previous[bomb + at.BOMB_BLAST] - 1) * at.CELLS + cell)
    for bomb in range(at.BOMBS, at.BOMBS + s[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS):
        cell, found = (
            s[bomb + at.BOMB_CELL],
            s[bomb + at.BOMB_LEFT] >= at.BOMB_LIFE - 1,
        )  # just laid
        for other in range(
            at.BOMBS, at.BOMBS + previous[at.BOMB_COUNT] * at.BOMB_FIELDS, at.BOMB_FIELDS
        ):
            found = found or previous[other + at.BOMB_CELL] == cell
        if not found:  # it rolled here
            n = _add(out, n, _LEFT_BEFORE + TURNED[turn, cell])
    return n


@kernel
def _numbers_before(previous, s, seat, out, n):  # type: ignore[no-untyped-def]
    """Own numbers that were others."""
    agent = at.AGENTS + seat * at.AGENT_FIELDS
    if previous[agent + at.AGENT_AMMO] != s[agent + at.AGENT_AMMO]:
        n = _add(out, n, _AMMO_BEFORE + previous[agent + at.AGENT_AMMO])
    if previous[agent + at.AGENT_BLAST] != s[agent + at.AGENT_BLAST]:
        n = _add(out, n, _STRENGTH_BEFORE + previous[agent + at.AGENT_BLAST])
    if previous[agent + at.AGENT_KICK] != s[agent + at.AGENT_KICK]:
        n = _add(out, n, _KICK_BEFORE + previous[agent + at.AGENT_KICK])
    return n


def kind_of(fact: int) -> tuple[str, Any]:
    """The kind of a fact, and which of its kind it is."""
    name = next(name for name in reversed(AT) if AT[name] <= fact)
    return name, fact - AT[name]
