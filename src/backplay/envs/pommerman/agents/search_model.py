"""The game as the search imagines it: a short state and one step of it.

Every agent has one bomb of blast 2 and cannot kick, bombs lie still, flames never end, and no item
hides under wood. Otherwise a step follows the rules of the game the original agent was written for,
in which an agent that kicks a bomb stays where it is. Knows nothing of whom it serves.
"""

from __future__ import annotations

from backplay.envs.kernels import kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.agents.padded import PADDED, ROW_1, STEPS

# The imagined state: the padded board, then this.
PLACE = PADDED  # where each seat stands; the board tells whether it still does
AMMO = PLACE + at.SEATS
STRENGTH = AMMO + at.SEATS
KICKS = STRENGTH + at.SEATS
COUNT = KICKS + at.SEATS
FUSED = COUNT + 1  # bombs: cell, steps left, blast, owner's seat (-1: nobody's)
FUSED_FIELDS = 4
STATE = FUSED + FUSED_FIELDS * at.CELLS

# Working space of a step.
ACTION = 0  # by seat: what it does
WANT = ACTION + at.SEATS  # by seat: where it wants to be, 0 if it does not take part
CROWD = WANT + at.SEATS  # by cell: how many want to be there, 2 for a bomb; zero between steps
MARK = CROWD + PADDED  # by cell: whether it burns now; zero between steps
FIRE = MARK + PADDED  # the cells that burn now
FIRES = FIRE + PADDED  # their number
WORK = FIRES + 1
STRONGEST = 10


@kernel
def copy_state(a, b):  # type: ignore[no-untyped-def]
    """Make state `b` equal to state `a`."""
    for k in range(FUSED + FUSED_FIELDS * a[COUNT]):
        b[k] = a[k]


@kernel
def equip(m):  # type: ignore[no-untyped-def]
    """Give every seat what the search assumes of it."""
    for k in range(at.SEATS):
        m[AMMO + k] = at.START_AMMO
        m[STRENGTH + k] = at.START_BLAST
        m[KICKS + k] = 0


@kernel
def stands(m, k):  # type: ignore[no-untyped-def]
    """Whether seat `k` is on the board."""
    return m[m[PLACE + k]] == at.AGENT + k


@kernel
def takes_part(m, k, freeze):  # type: ignore[no-untyped-def]
    """Whether seat `k` acts: it lives, and if `freeze` it does not stand in row 0."""
    return stands(m, k) and not (freeze and m[PLACE + k] < ROW_1)


@kernel
def advance(m, work, freeze):  # type: ignore[no-untyped-def]
    """One step of state `m` with the actions in `work`."""
    _act(m, work, freeze)
    for k in range(m[COUNT]):
        m[m[FUSED + FUSED_FIELDS * k]] = at.PASSAGE
    if _conflict(m, work):
        _settle(m, work)
    _move(m, work)
    _tick(m, work)
    for k in range(m[COUNT]):
        m[m[FUSED + FUSED_FIELDS * k]] = at.BOMB
    _burn(m, work)
    for k in range(at.SEATS):
        if work[WANT + k] > 0 and m[m[PLACE + k]] != at.FLAMES:
            m[m[PLACE + k]] = at.AGENT + k


@kernel
def _act(m, work, freeze):  # type: ignore[no-untyped-def]
    for k in range(at.SEATS):
        work[WANT + k] = 0
        if not takes_part(m, k, freeze):
            continue
        place = m[PLACE + k]
        work[WANT + k] = place
        m[place] = at.PASSAGE
        if work[ACTION + k] == at.LAY:
            _lay(m, k, place)
        else:
            goal = place + STEPS[work[ACTION + k]]
            if m[goal] != at.RIGID and m[goal] != at.WOOD:
                work[WANT + k] = goal


@kernel
def bomb_at(m, cell):  # type: ignore[no-untyped-def]
    """The number of the bomb there, -1 for none."""
    for k in range(m[COUNT]):
        if m[FUSED + FUSED_FIELDS * k] == cell:
            return k
    return -1


@kernel
def add_bomb(m, cell, life, blast, owner):  # type: ignore[no-untyped-def]
    """Put a bomb at the end of the list."""
    bomb = FUSED + FUSED_FIELDS * m[COUNT]
    m[bomb] = cell
    m[bomb + 1] = life
    m[bomb + 2] = blast
    m[bomb + 3] = owner
    m[COUNT] += 1


@kernel
def _lay(m, k, place):  # type: ignore[no-untyped-def]
    if m[AMMO + k] > 0 and bomb_at(m, place) < 0:
        m[AMMO + k] -= 1
        add_bomb(m, place, at.BOMB_LIFE, m[STRENGTH + k], k)


@kernel
def _conflict(m, work):  # type: ignore[no-untyped-def]
    """Turn swaps back; whether anyone wants a cell that another wants or a bomb holds."""
    conflict = False
    for j in range(at.SEATS):
        goal = work[WANT + j]
        if goal == 0:
            continue
        for k in range(j):
            if work[WANT + k] == 0:
                continue
            if goal == m[PLACE + k] and work[WANT + k] == m[PLACE + j]:
                work[WANT + j] = m[PLACE + j]
                work[WANT + k] = m[PLACE + k]
                goal = m[PLACE + j]
        if goal != m[PLACE + j] and bomb_at(m, goal) >= 0:
            conflict = True
    for j in range(1, at.SEATS):
        for k in range(j):
            if work[WANT + j] > 0 and work[WANT + j] == work[WANT + k]:
                conflict = True
    return conflict


@kernel
def _settle(m, work):  # type: ignore[no-untyped-def]
    """Send back whoever cannot get where it wants, and whoever is in the way of those.

    A wish once made counts to the end, so a cell that two wanted stays closed to a third.
    """
    for k in range(at.SEATS):
        if work[WANT + k] > 0:
            work[CROWD + work[WANT + k]] += 1
    _send_back(m, work)
    for k in range(m[COUNT]):
        work[CROWD + m[FUSED + FUSED_FIELDS * k]] += 2
    for k in range(at.SEATS):
        if m[KICKS + k] and _moves(m, work, k):
            _kick(m, work, k)
    _send_back(m, work)
    _disperse(m, work)


@kernel
def _disperse(m, work):  # type: ignore[no-untyped-def]
    for k in range(at.SEATS):
        if work[WANT + k] > 0:
            work[CROWD + m[PLACE + k]] = 0
            work[CROWD + m[PLACE + k] + STEPS[work[ACTION + k]]] = 0
    for k in range(m[COUNT]):
        work[CROWD + m[FUSED + FUSED_FIELDS * k]] = 0


@kernel
def _moves(m, work, k):  # type: ignore[no-untyped-def]
    return work[WANT + k] > 0 and work[WANT + k] != m[PLACE + k]


@kernel
def _send_back(m, work):  # type: ignore[no-untyped-def]
    changed = True
    while changed:
        changed = False
        for k in range(at.SEATS):
            if _moves(m, work, k) and work[CROWD + work[WANT + k]] > 1:
                work[WANT + k] = m[PLACE + k]
                work[CROWD + m[PLACE + k]] += 1
                changed = True


@kernel
def _kick(m, work, k):  # type: ignore[no-untyped-def]
    bomb = bomb_at(m, work[WANT + k])
    target = work[WANT + k] + STEPS[work[ACTION + k]]
    wall = m[target] == at.RIGID or m[target] == at.WOOD
    item = at.EXTRA_BOMB <= m[target] <= at.KICK
    if bomb >= 0 and work[CROWD + target] == 0 and not wall and not item:
        m[FUSED + FUSED_FIELDS * bomb] = target
        work[CROWD + target] = 2


@kernel
def _move(m, work):  # type: ignore[no-untyped-def]
    for k in range(at.SEATS):
        if not _moves(m, work, k):
            continue
        goal = work[WANT + k]
        m[PLACE + k] = goal
        if m[goal] == at.EXTRA_BOMB:
            m[AMMO + k] = min(m[AMMO + k] + 1, at.MAX_AMMO)
        elif m[goal] == at.RANGE:
            m[STRENGTH + k] = min(m[STRENGTH + k] + 1, STRONGEST)
        elif m[goal] == at.KICK:
            m[KICKS + k] = 1


@kernel
def _tick(m, work):  # type: ignore[no-untyped-def]
    """Bombs grow older; those whose time has come explode, with all they reach.

    Leaves the burning cells in FIRE.
    """
    due = 0
    for k in range(m[COUNT]):
        bomb = FUSED + FUSED_FIELDS * k
        m[bomb + 1] -= 1
        if m[m[bomb]] == at.FLAMES:
            m[bomb + 1] = 0
        due += m[bomb + 1] <= 0
    work[FIRES] = 0
    while due > 0:
        due = 0
        kept = 0
        for k in range(m[COUNT]):
            bomb = FUSED + FUSED_FIELDS * k
            if m[bomb + 1] <= 0:
                _explode(m, work, bomb)
                continue
            for field in range(FUSED_FIELDS):
                m[FUSED + FUSED_FIELDS * kept + field] = m[bomb + field]
            kept += 1
        m[COUNT] = kept
        for k in range(kept):
            bomb = FUSED + FUSED_FIELDS * k
            if work[MARK + m[bomb]]:
                m[bomb + 1] = 0
                due += 1


@kernel
def _explode(m, work, bomb):  # type: ignore[no-untyped-def]
    if m[bomb + 3] >= 0:
        m[AMMO + m[bomb + 3]] += 1
    _ignite(work, m[bomb])
    for move in (at.UP, at.DOWN, at.LEFT, at.RIGHT):
        cell = m[bomb]
        for _ in range(m[bomb + 2] - 1):
            cell += STEPS[move]
            if m[cell] == at.RIGID:
                break
            _ignite(work, cell)
            if m[cell] == at.WOOD:
                break


@kernel
def _ignite(work, cell):  # type: ignore[no-untyped-def]
    if work[MARK + cell] == 0:
        work[MARK + cell] = 1
        work[FIRE + work[FIRES]] = cell
        work[FIRES] += 1


@kernel
def _burn(m, work):  # type: ignore[no-untyped-def]
    for k in range(work[FIRES]):
        m[work[FIRE + k]] = at.FLAMES
        work[MARK + work[FIRE + k]] = 0
