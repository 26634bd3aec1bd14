"""Who goes where when wishes meet: agents and rolling bombs that want the same cells.

Comes in: a state row in the middle of a step, after bombs were laid and with the agents' cells
emptied, and the actions. Goes out: the row with agents and bombs in their new cells and items
picked up. Does not know: explosions, rewards.

Counts of how many want a cell only ever grow: a contested cell stays contested in that step, and
whoever follows bounces too.
"""

from __future__ import annotations

import numpy as np

from backplay.envs.kernels import kernel, reserve
from backplay.envs.pommerman import layout as at

# Work space of `settle`, by offset.
AGENTS_IN = 0  # how many agents want, or ever wanted, each cell
BOMBS_IN = at.CELLS  # how many bombs do
AGENT_TO = 2 * at.CELLS  # where each agent goes; negative for a dead one
KICKED = AGENT_TO + at.SEATS  # the bomb each agent kicks, or -1
BOMB_TO = KICKED + at.SEATS  # where each bomb goes
LATER = BOMB_TO + at.MAX_BOMBS  # where a bomb goes once all bombs were looked at, or -1
WORK = LATER + at.MAX_BOMBS


@kernel
def wish(s, seat, action):  # type: ignore[no-untyped-def]
    """The cell an agent wants to be in; of a dead one a negative number that nobody shares."""
    agent = at.AGENTS + seat * at.AGENT_FIELDS
    to = np.int64(-1 - seat)
    if s[agent + at.AGENT_ALIVE] != 0:
        to = np.int64(s[agent + at.AGENT_CELL])
        if at.UP <= action <= at.RIGHT:
            cell = at.NEXT[to, action]
            if cell >= 0 and s[at.BOARD + cell] != at.RIGID and s[at.BOARD + cell] != at.WOOD:
                to = np.int64(cell)
    return to


@kernel
def step_onto(s, seat, cell):  # type: ignore[no-untyped-def]
    """The agent enters a cell and picks up the item there."""
    agent = at.AGENTS + seat * at.AGENT_FIELDS
    s[agent + at.AGENT_CELL] = cell
    item = s[at.BOARD + cell]
    if item == at.EXTRA_BOMB:
        s[agent + at.AGENT_AMMO] = min(s[agent + at.AGENT_AMMO] + 1, at.MAX_AMMO)
    elif item == at.RANGE:
        s[agent + at.AGENT_BLAST] = min(s[agent + at.AGENT_BLAST] + 1, s[at.MAX_BLAST])
    elif item == at.KICK:
        s[agent + at.AGENT_KICK] = 1


@kernel
def settle(s, actions):  # type: ignore[no-untyped-def]
    """Decides all meetings of a step and moves agents and bombs."""
    work = reserve(WORK)
    _wishes(s, actions, work)
    _uncross(s, actions, work)
    _count(s, work)
    _bounce(s, work)
    if _kick(s, actions, work):
        _bounce_late(s, work)
    for b in range(s[at.BOMB_COUNT]):
        bomb = at.BOMBS + b * at.BOMB_FIELDS
        if work[BOMB_TO + b] == s[bomb + at.BOMB_CELL] and _kicker(b, work) < 0:
            s[bomb + at.BOMB_DIRECTION] = at.STOP
        s[bomb + at.BOMB_CELL] = work[BOMB_TO + b]
    for seat in range(at.SEATS):
        to = work[AGENT_TO + seat]
        if to >= 0 and to != _agent_cell(s, seat):
            step_onto(s, seat, to)


@kernel
def _agent_cell(s, seat):  # type: ignore[no-untyped-def]
    return s[at.AGENTS + seat * at.AGENT_FIELDS + at.AGENT_CELL]


@kernel
def _bomb_cell(s, b):  # type: ignore[no-untyped-def]
    return s[at.BOMBS + b * at.BOMB_FIELDS + at.BOMB_CELL]


@kernel
def _kicker(b, work):  # type: ignore[no-untyped-def]
    """The seat that kicks bomb `b` in this step, or -1."""
    for seat in range(at.SEATS):
        if work[KICKED + seat] == b:
            return seat
    return -1


@kernel
def _blocks_bomb(shown):  # type: ignore[no-untyped-def]
    """Whether a bomb cannot roll onto what a cell shows: walls and items."""
    return shown in (at.RIGID, at.WOOD) or at.EXTRA_BOMB <= shown <= at.KICK


@kernel
def _wishes(s, actions, work):  # type: ignore[no-untyped-def]
    """Where everybody wants to go; empties the bombs' cells on the board."""
    for seat in range(at.SEATS):
        work[AGENT_TO + seat] = wish(s, seat, actions[seat])
        work[KICKED + seat] = -1
    for b in range(s[at.BOMB_COUNT]):
        s[at.BOARD + _bomb_cell(s, b)] = at.PASSAGE
    for b in range(s[at.BOMB_COUNT]):
        cell = _bomb_cell(s, b)
        to = at.NEXT[cell, s[at.BOMBS + b * at.BOMB_FIELDS + at.BOMB_DIRECTION]]
        blocked = to < 0 or _blocks_bomb(s[at.BOARD + to])
        work[BOMB_TO + b] = cell if blocked else to
        work[LATER + b] = -1


@kernel
def _same_edge(a, to_a, b, to_b):  # type: ignore[no-untyped-def]
    """Whether two ways lead over the same edge between cells, in whichever direction."""
    return (a == to_b and b == to_a) or (a == b and to_a == to_b)


@kernel
def _uncross(s, actions, work):  # type: ignore[no-untyped-def]
    """Nobody changes places: agents stay, bombs stay; of an agent and a bomb only the bomb."""
    # Compared with what agents wished at first, whoever has been sent back meanwhile.
    for seat in range(at.SEATS):
        here, to = _agent_cell(s, seat), wish(s, seat, actions[seat])
        if to < 0 or to == here:
            continue
        for other in range(at.SEATS):
            if _agent_cell(s, other) == to and wish(s, other, actions[other]) == here:
                work[AGENT_TO + seat] = here
        for b in range(s[at.BOMB_COUNT]):
            there = _bomb_cell(s, b)
            if work[BOMB_TO + b] != there and _same_edge(here, to, there, work[BOMB_TO + b]):
                work[BOMB_TO + b] = there
    for b in range(s[at.BOMB_COUNT]):
        for other in range(b):
            here, there = _bomb_cell(s, b), _bomb_cell(s, other)
            if work[BOMB_TO + b] == there and work[BOMB_TO + other] == here:
                work[BOMB_TO + b] = here
                work[BOMB_TO + other] = there


@kernel
def _count(s, work):  # type: ignore[no-untyped-def]
    for cell in range(2 * at.CELLS):
        work[AGENTS_IN + cell] = 0
    for seat in range(at.SEATS):
        if work[AGENT_TO + seat] >= 0:
            work[AGENTS_IN + work[AGENT_TO + seat]] += 1
    for b in range(s[at.BOMB_COUNT]):
        work[BOMBS_IN + work[BOMB_TO + b]] += 1


@kernel
def _send_back_agent(s, seat, work):  # type: ignore[no-untyped-def]
    here = _agent_cell(s, seat)
    work[AGENT_TO + seat] = here
    work[AGENTS_IN + here] += 1


@kernel
def _send_back_bomb(s, b, work):  # type: ignore[no-untyped-def]
    here = _bomb_cell(s, b)
    work[BOMB_TO + b] = here
    work[BOMBS_IN + here] += 1


@kernel
def _bounce(s, work):  # type: ignore[no-untyped-def]
    """Whoever wants a cell that two agents or two bombs want stays, until nothing changes."""
    change = True
    while change:
        change = False
        for seat in range(at.SEATS):
            to = work[AGENT_TO + seat]
            if to >= 0 and to != _agent_cell(s, seat) and _crowded(to, work):
                _send_back_agent(s, seat, work)
                change = True
        for b in range(s[at.BOMB_COUNT]):
            to = work[BOMB_TO + b]
            if to != _bomb_cell(s, b) and _crowded(to, work):
                _send_back_bomb(s, b, work)
                change = True


@kernel
def _crowded(cell, work):  # type: ignore[no-untyped-def]
    return work[AGENTS_IN + cell] > 1 or work[BOMBS_IN + cell] > 1


@kernel
def _kick(s, actions, work):  # type: ignore[no-untyped-def]
    """Bombs that an agent meets are kicked or stop both. Returns whether anything changes.

    What follows from one bomb takes effect only after all bombs were looked at.
    """
    change = False
    back = 0  # the agents that stay, as bits
    for b in range(s[at.BOMB_COUNT]):
        to = work[BOMB_TO + b]
        seat = _agent_wanting(to, work)
        if seat < 0:
            continue
        if to == _agent_cell(s, seat):
            if to == _bomb_cell(s, b):
                continue
            work[LATER + b] = _bomb_cell(s, b)
        else:
            target = _kick_target(s, seat, to, actions[seat], work)
            if target >= 0:
                work[BOMBS_IN + to] = 0
                work[LATER + b] = target
                work[KICKED + seat] = b
                s[at.BOMBS + b * at.BOMB_FIELDS + at.BOMB_DIRECTION] = actions[seat]
            else:
                work[LATER + b] = _bomb_cell(s, b)
                back |= 1 << seat
        change = True
    if change:
        _apply_kicks(s, back, work)
    return change


@kernel
def _apply_kicks(s, back, work):  # type: ignore[no-untyped-def]
    for b in range(s[at.BOMB_COUNT]):
        if work[LATER + b] >= 0:
            work[BOMB_TO + b] = work[LATER + b]
            work[BOMBS_IN + work[LATER + b]] += 1
    for seat in range(at.SEATS):
        if back >> seat & 1:
            _send_back_agent(s, seat, work)


@kernel
def _agent_wanting(cell, work):  # type: ignore[no-untyped-def]
    """The seat of the agent that goes to a cell, or -1."""
    for seat in range(at.SEATS):
        if work[AGENT_TO + seat] == cell:
            return seat
    return -1


@kernel
def _kick_target(s, seat, cell, action, work):  # type: ignore[no-untyped-def]
    """Where a kick of the agent sends the bomb that it meets in `cell`, or -1 if it cannot."""
    if s[at.AGENTS + seat * at.AGENT_FIELDS + at.AGENT_KICK] == 0:
        return -1
    target = at.NEXT[cell, action]
    if target < 0 or _blocks_bomb(s[at.BOARD + target]):
        return -1
    if work[AGENTS_IN + target] != 0 or work[BOMBS_IN + target] != 0:
        return -1
    return target


@kernel
def _bounce_late(s, work):  # type: ignore[no-untyped-def]
    """What kicks set off: whoever is in the way of those sent back stays, and undoes its kick."""
    change = True
    while change:
        change = False
        for seat in range(at.SEATS):
            to = work[AGENT_TO + seat]
            if to < 0 or to == _agent_cell(s, seat):
                continue
            if work[AGENTS_IN + to] > 1 or work[BOMBS_IN + to] != 0:
                if work[KICKED + seat] >= 0:
                    _send_back_bomb(s, work[KICKED + seat], work)
                    work[KICKED + seat] = -1
                _send_back_agent(s, seat, work)
                change = True
        for b in range(s[at.BOMB_COUNT]):
            to, seat = work[BOMB_TO + b], _kicker(b, work)
            if to == _bomb_cell(s, b) and seat < 0:
                continue
            if work[BOMBS_IN + to] > 1 or work[AGENTS_IN + to] != 0:
                _send_back_bomb(s, b, work)
                if seat >= 0:
                    _send_back_agent(s, seat, work)
                    work[KICKED + seat] = -1
                change = True
