"""When an imagined state is won, and what it is worth otherwise.

Two purposes: to trap a target, and to walk to a cell alive. A value lies between -100 and 125; a
won state is worth 100.
"""

from __future__ import annotations

from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents import search_model as model
from backplay.envs.pommerman.agents.padded import FLAT, PADDED, ROW_1, STEPS, WIDTH

WON, DEAD = 100.0, -100.0
RINGS = 3  # how far around the target free cells are counted

# Working space: maps over the padded board, and the cells around the target.
DANGER = 0
RING = DANGER + PADDED
PATHS = RING + PADDED
AROUND = PATHS + PADDED
SCORE_WORK = AROUND + PADDED


@kernel
def alive(m, seat):  # type: ignore[no-untyped-def]
    """Whether some agent shows where this seat stands; the original does not ask which."""
    return m[m[model.PLACE + seat]] >= at.AGENT


@kernel
def _closed(code):  # type: ignore[no-untyped-def]
    return at.RIGID <= code <= at.BOMB or code >= at.AGENT


@kernel
def trapped(m, seat, target):  # type: ignore[no-untyped-def]
    """Whether the target cannot move, or is gone while I am not. Flames are no obstacle."""
    if not model.stands(m, target):
        return alive(m, seat)
    place = m[model.PLACE + target]
    return (
        _closed(m[place - WIDTH])
        and _closed(m[place + WIDTH])
        and _closed(m[place - 1])
        and _closed(m[place + 1])
    )


@kernel
def attack_score(m, seat, target, row0, repeat, work):  # type: ignore[no-untyped-def]
    """Less the more room the target has, more the closer I am.

    With `row0` a target in the top row scores as if it were gone; with `repeat` a cell counts once
    for every path to it.
    """
    if not alive(m, seat):
        return DEAD
    place = m[model.PLACE + target]
    if not model.stands(m, target) or (row0 and place < ROW_1):
        return WON
    score = 100 - 4 * _room(m, place, repeat, work)
    apart = _apart(m[model.PLACE + seat], place)
    if apart > 0:
        score += 25 // apart
    return float(score)


@kernel
def _apart(p, q):  # type: ignore[no-untyped-def]
    return abs(p // WIDTH - q // WIDTH) + abs(p % WIDTH - q % WIDTH)


@kernel
def _room(m, start, repeat, work):  # type: ignore[no-untyped-def]
    """The cells within three steps of the start that no bomb reaches."""
    _endanger(m, work)
    for p in range(PADDED):
        work[RING + p] = 0
    work[RING + start] = 1
    work[PATHS + start] = 1
    work[AROUND] = start
    room = 1 - work[DANGER + start]
    head, tail = 0, 1
    for ring in range(1, RINGS + 1):
        end = tail
        while head < end:
            p = work[AROUND + head]
            head += 1
            for move in (at.LEFT, at.RIGHT, at.UP, at.DOWN):
                q = p + STEPS[move]
                if _closed(m[q]):
                    continue
                if work[RING + q] == 0:
                    work[RING + q] = ring + 1
                    work[PATHS + q] = work[PATHS + p]
                    work[AROUND + tail] = q
                    tail += 1
                elif work[RING + q] == ring + 1 and repeat:
                    work[PATHS + q] += work[PATHS + p]
        for k in range(end, tail):
            q = work[AROUND + k]
            if not work[DANGER + q]:
                room += work[PATHS + q] if repeat else 1
    return room


@kernel
def _endanger(m, work):  # type: ignore[no-untyped-def]
    """Mark what lies within the blast of a bomb, up to and including the first wall."""
    for p in range(PADDED):
        work[DANGER + p] = 0
    for k in range(m[model.COUNT]):
        bomb = model.FUSED + model.FUSED_FIELDS * k
        work[DANGER + m[bomb]] = 1
        for move in (at.UP, at.DOWN, at.LEFT, at.RIGHT):
            q = m[bomb]
            for _ in range(m[bomb + 2]):
                q += STEPS[move]
                work[DANGER + q] = 1
                if m[q] == at.RIGID or m[q] == at.WOOD:
                    break


@kernel
def evade_score(m, seat):  # type: ignore[no-untyped-def]
    """Less for a bomb under me, and for bombs that reach me, the sooner they go off."""
    if not alive(m, seat):
        return DEAD
    place = m[model.PLACE + seat]
    score = 100.0
    for k in range(m[model.COUNT]):
        bomb = model.FUSED + model.FUSED_FIELDS * k
        if m[bomb] == place:
            score -= 100.0
        if m[bomb + 1] < at.BOMB_LIFE and _reaches(m, m[bomb], m[bomb + 2], place):
            score -= 2.5 * (11 - m[bomb + 1])
    return score


@kernel
def _reaches(m, bomb, blast, place):  # type: ignore[no-untyped-def]
    """Whether neither wall nor flame keeps a bomb in line from a cell within its blast."""
    apart = FLAT[place] - FLAT[bomb]
    if bomb // WIDTH == place // WIDTH:
        step, steps = 1, abs(apart)
    elif bomb % WIDTH == place % WIDTH:
        step, steps = WIDTH, abs(apart) // at.SIZE
    else:
        return False
    step = step if apart > 0 else -step
    for k in range(1, steps):
        code = m[bomb + k * step]
        if code in (at.RIGID, at.WOOD, at.FLAMES):
            return False
    return steps <= blast
