"""The simple agent: the public baseline's seven rules in their order.

Comes in: a game, a seat, what the seat remembers, a random stream. Goes out: an action, and the
memory changed. Does not know: what the seat's observation does not show.

`passable` is a set of cell codes (bit k: code k): a mate can be walked through, an enemy cannot.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.chance import below, draw
from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents import simple_bombs as bombs
from backplay.envs.pommerman.agents import simple_targets as targets

# Memory: the last step towards an enemy (0: none yet), and the last six cells from which rule 7 set
# out, oldest first, each as cell + 1 (0: none yet).
STEP_TO_ENEMY = 0
VISITED, VISITS = 1, 6

# Scratch: the board as seen, then the danger on each side.
SEEN, DANGER = 0, at.CELLS
SCRATCH_NEEDED = DANGER + 5

ALL_SIDES = 0b11110  # bits UP, DOWN, LEFT, RIGHT


@kernel
def decide(s, seat, memory, streams, i, scratch):  # type: ignore[no-untyped-def]
    """The action of this seat; a dead one stops, draws nothing and keeps its memory."""
    agent = at.AGENTS + seat * at.AGENT_FIELDS
    if not s[agent + at.AGENT_ALIVE]:
        return at.STOP
    me = np.int64(s[agent + at.AGENT_CELL])
    board = s[at.BOARD : at.BOARD + at.CELLS]
    if s[at.VIEW]:
        board = scratch[SEEN : SEEN + at.CELLS]
        look(s, me, board)
    passable = passable_codes(s[at.TEAM], seat)

    danger = scratch[DANGER : DANGER + 5]
    if bombs.find_danger(s, board, passable, me, danger):
        return flee(board, passable, me, danger, streams, i)

    ammo, blast = s[agent + at.AGENT_AMMO], s[agent + at.AGENT_BLAST]
    coins = draw(streams, i)
    distance, step = targets.nearest_enemy(s, board, passable, me, seat, coins)
    if distance == 1 and ammo > 0 and bombs.leaves_a_way_out(board, passable, me, blast):
        return at.LAY
    if step != at.STOP and (step != memory[STEP_TO_ENEMY] or below(streams, i, 2) == 0):
        memory[STEP_TO_ENEMY] = step
        return step

    distance, step = targets.nearest(board, passable, me, targets.ITEMS, coins)
    if step != at.STOP:
        return step

    distance, step = targets.nearest(board, passable, me, 1 << at.WOOD, coins)
    if distance == 1:
        can_bomb = ammo > 0 and bombs.leaves_a_way_out(board, passable, me, blast)
        return at.LAY if can_bomb else at.STOP
    if distance == 2 and bombs.is_safe(s, board, at.NEXT[me, step]):
        return step

    return wander(s, board, passable, me, memory, streams, i)


@kernel
def look(s, me, seen):  # type: ignore[no-untyped-def]
    """Fill `seen` with the board as the agent at `me` sees it: what is beyond its view is fog."""
    for cell in range(at.CELLS):
        rows, cols = abs(at.ROW_OF[cell] - at.ROW_OF[me]), abs(at.COL_OF[cell] - at.COL_OF[me])
        seen[cell] = at.FOG if max(rows, cols) > s[at.VIEW] else s[at.BOARD + cell]


@kernel
def passable_codes(team, seat):  # type: ignore[no-untyped-def]
    """What the agent can walk through: passages, items, itself and a mate."""
    codes = (1 << at.PASSAGE) | targets.ITEMS
    for other in range(at.SEATS):
        if not targets.is_enemy(team, seat, other):
            codes |= 1 << (at.AGENT + other)
    return codes


@kernel
def flee(board, passable, me, danger, streams, i):  # type: ignore[no-untyped-def]
    """Rule 1: a step to a side without bombs if one is open, else to any side with one."""
    sides = 0
    for step in range(at.UP, at.RIGHT + 1):
        sides |= (danger[step] > 0) << step
    if danger[at.STOP] or sides == ALL_SIDES:
        return bombs.break_out(board, passable, me, danger)
    steps = 0
    for step in range(at.UP, at.RIGHT + 1):
        cell = at.NEXT[me, step]
        if not danger[step] and cell >= 0 and (passable >> board[cell]) & 1:
            steps |= 1 << step
    return choose(steps if steps else sides, streams, i)


@kernel
def wander(s, board, passable, me, memory, streams, i):  # type: ignore[no-untyped-def]
    """Rule 7: a safe step to a cell not visited of late, else any safe step, else STOP."""
    safe, fresh = 0, 0
    for step in range(at.STOP, at.RIGHT + 1):
        cell = at.NEXT[me, step]
        if cell >= 0 and (passable >> board[cell]) & 1 and bombs.is_safe(s, board, cell):
            safe |= 1 << step
            fresh |= (not is_remembered(memory, cell)) << step
    remember(memory, me)
    steps = fresh if fresh else safe
    if steps & ALL_SIDES:
        steps &= ALL_SIDES  # STOP only if nothing else is left
    return choose(steps, streams, i) if steps else at.STOP


@kernel
def is_remembered(memory, cell):  # type: ignore[no-untyped-def]
    """Whether rule 7 set out from this cell of late."""
    found = False
    for k in range(VISITED, VISITED + VISITS):
        found |= memory[k] == cell + 1
    return found


@kernel
def remember(memory, cell):  # type: ignore[no-untyped-def]
    """Note that rule 7 set out from this cell; forget the oldest."""
    for k in range(VISITED, VISITED + VISITS - 1):
        memory[k] = memory[k + 1]
    memory[VISITED + VISITS - 1] = cell + 1


@kernel
def choose(steps, streams, i):  # type: ignore[no-untyped-def]
    """One of a set of steps (bit k: step k), each as likely; draws only when there is a choice."""
    n = 0
    for step in range(at.STOP, at.RIGHT + 1):
        n += (steps >> step) & 1
    left = below(streams, i, n) if n > 1 else 0
    for step in range(at.STOP, at.RIGHT + 1):
        if (steps >> step) & 1:
            if left == 0:
                return step
            left -= 1
    return at.STOP
